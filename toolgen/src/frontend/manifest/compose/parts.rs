//! Compares the parts of a value that a step passes with the schema of its tool: items of arrays, members of objects,
//! and denied patterns of strings.

use toolgen_core::schema::shape::Kind;
use toolgen_core::spec::template::Reference;

use crate::frontend::manifest::codes;
use crate::frontend::manifest::context::Context;
use crate::frontend::manifest::typed_value::{Class, Step, TypedValue};
use crate::source::Pointer;

/// Maximum depth to which values are compared: schemas may refer to themselves.
const MAX_DEPTH: usize = 8;

/// The error in a part of a value, with its keys; `[]` stands for the items of an array.
enum Misfit {
    /// It has another type.
    Kind(String, Class, Class),
    /// It has no member of this name.
    Lacks(String, String),
    /// It may be a string that the tool denies.
    Looser(String),
}

impl Context<'_> {
    /// Reports parts of another type, and strings of the model that the called tool denies and this one does not.
    pub(super) fn check_parts(
        &mut self,
        given: &TypedValue,
        expected: &TypedValue,
        (tool, path, reference): (&str, &str, &Reference),
        at: &Pointer,
    ) {
        let mut found = Vec::new();
        misfits(given, expected, "", 0, &mut found);
        for misfit in found {
            match misfit {
                Misfit::Kind(part, was, is) => {
                    let (was, is) = (was.name(), is.name());
                    let message =
                        format!("`{path}{part}` of `{tool}` is {is}, and `{{{reference}}}{part}` is {was}");
                    self.report(codes::STEP_ARGUMENT, at, message, "pass a value of that type");
                }
                Misfit::Lacks(part, name) => {
                    let message = format!(
                        "`{path}{part}` of `{tool}` needs `{name}`, which `{{{reference}}}{part}` does not have"
                    );
                    let help = "add it to the schema of that value, or pass the members one by one";
                    self.report(codes::STEP_ARGUMENT, at, message, help);
                }
                Misfit::Looser(part) => {
                    let message = format!(
                        "`{path}{part}` of `{tool}` accepts fewer strings than `{{{reference}}}{part}`: the model \
                         only sees this when the step fails"
                    );
                    let help = "give the argument of this tool the same `path: true` or `deny_pattern`";
                    self.report(codes::STEP_LOOSER, at, message, help);
                }
            }
        }
    }
}

/// Finds the parts that do not match. The values themselves have the same type.
fn misfits(given: &TypedValue, expected: &TypedValue, at: &str, depth: usize, found: &mut Vec<Misfit>) {
    let (Some(was), Some(is)) = (given.shape(), expected.shape()) else { return };
    match (&was.kind, &is.kind) {
        _ if depth > MAX_DEPTH => {}
        (Kind::String(was), Kind::String(is)) => {
            // Its own pattern may have the same effect.
            let is_looser = was.deny != is.deny && was.pattern.is_empty() && !is.deny.is_empty();
            if given.of_model && is_looser {
                found.push(Misfit::Looser(at.to_owned()));
            }
        }
        (Kind::Array(_), Kind::Array(_)) => {
            if let (Some(given), Some(expected)) = (given.item(), expected.item()) {
                part(&given, &expected, format!("{at}[]"), depth, found);
            }
        }
        (Kind::Object(_), Kind::Object(rules)) => {
            for field in rules.fields.iter() {
                match (given.step(&field.name), expected.step(&field.name)) {
                    (Step::To(given), Step::To(expected)) => {
                        part(&given, &expected, format!("{at}.{}", field.name), depth, found);
                    }
                    (Step::Nowhere(_), _) if field.required && field.shape.default.is_none() => {
                        found.push(Misfit::Lacks(at.to_owned(), field.name.to_string()));
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn part(given: &TypedValue, expected: &TypedValue, at: String, depth: usize, found: &mut Vec<Misfit>) {
    match (given.class(), expected.class()) {
        (was, is) if was != is && was != Class::Mixed && is != Class::Mixed => {
            found.push(Misfit::Kind(at, was, is));
        }
        _ => misfits(given, expected, &at, depth + 1, found),
    }
}
