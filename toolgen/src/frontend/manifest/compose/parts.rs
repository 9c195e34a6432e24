//! Compares the parts of a value that a step passes with the schema of the called tool: array items, object members,
//! and denied patterns of strings.

use toolgen_core::schema::shape::Kind;
use toolgen_core::spec::template::Reference;

use crate::frontend::manifest::codes;
use crate::frontend::manifest::context::Context;
use crate::frontend::manifest::typed_value::{Class, Lookup, TypedValue};
use crate::source::Pointer;

/// Maximum depth to which values are compared, since schemas may refer to themselves.
const MAX_DEPTH: usize = 8;

/// A part of a value that does not match, with its path; `[]` stands for the items of an array.
enum Mismatch {
    /// The part has another type.
    Kind(String, Class, Class),
    /// The part lacks the member with this name.
    MissingMember(String, String),
    /// The part may be a string that the tool denies.
    LooserPattern(String),
}

impl Context<'_> {
    /// Reports parts of another type, and strings from the model that the called tool denies but this tool accepts.
    pub(super) fn check_parts(
        &mut self,
        value: &TypedValue,
        expected: &TypedValue,
        (tool, path, reference): (&str, &str, &Reference),
        pointer: &Pointer,
    ) {
        let mut mismatches = Vec::new();
        find_mismatches(value, expected, "", 0, &mut mismatches);
        for mismatch in mismatches {
            match mismatch {
                Mismatch::Kind(part, actual, accepted) => {
                    let (actual, accepted) = (actual.name(), accepted.name());
                    let message = format!(
                        "`{path}{part}` of `{tool}` is {accepted}, and `{{{reference}}}{part}` is {actual}"
                    );
                    self.report(codes::STEP_ARGUMENT, pointer, message, "pass a value of that type");
                }
                Mismatch::MissingMember(part, name) => {
                    let message = format!(
                        "`{path}{part}` of `{tool}` needs `{name}`, which `{{{reference}}}{part}` does not have"
                    );
                    let help = "add it to the schema of that value, or pass the members one by one";
                    self.report(codes::STEP_ARGUMENT, pointer, message, help);
                }
                Mismatch::LooserPattern(part) => {
                    let message = format!(
                        "`{path}{part}` of `{tool}` accepts fewer strings than `{{{reference}}}{part}`: the model \
                         only sees this when the step fails"
                    );
                    let help = "give the argument of this tool the same `path: true` or `deny_pattern`";
                    self.report(codes::STEP_LOOSER, pointer, message, help);
                }
            }
        }
    }
}

/// Finds the parts that do not match. The values themselves have the same type.
fn find_mismatches(
    value: &TypedValue,
    expected: &TypedValue,
    path: &str,
    depth: usize,
    mismatches: &mut Vec<Mismatch>,
) {
    let (Some(actual), Some(accepted)) = (value.shape(), expected.shape()) else { return };
    match (&actual.kind, &accepted.kind) {
        _ if depth > MAX_DEPTH => {}
        (Kind::String(actual), Kind::String(accepted)) => {
            // The `pattern` of the value may have the same effect.
            let is_looser =
                actual.deny != accepted.deny && actual.pattern.is_empty() && !accepted.deny.is_empty();
            if value.from_model && is_looser {
                mismatches.push(Mismatch::LooserPattern(path.to_owned()));
            }
        }
        (Kind::Array(_), Kind::Array(_)) => {
            if let (Some(value), Some(expected)) = (value.item(), expected.item()) {
                compare_part(&value, &expected, format!("{path}[]"), depth, mismatches);
            }
        }
        (Kind::Object(_), Kind::Object(rules)) => {
            for field in rules.fields.iter() {
                match (value.member(&field.name), expected.member(&field.name)) {
                    (Lookup::Found(value), Lookup::Found(expected)) => {
                        compare_part(&value, &expected, format!("{path}.{}", field.name), depth, mismatches);
                    }
                    (Lookup::Missing(_), _) if field.required && field.shape.default.is_none() => {
                        mismatches.push(Mismatch::MissingMember(path.to_owned(), field.name.to_string()));
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn compare_part(
    value: &TypedValue,
    expected: &TypedValue,
    path: String,
    depth: usize,
    mismatches: &mut Vec<Mismatch>,
) {
    match (value.class(), expected.class()) {
        (actual, accepted) if actual != accepted && actual != Class::Mixed && accepted != Class::Mixed => {
            mismatches.push(Mismatch::Kind(path, actual, accepted));
        }
        _ => find_mismatches(value, expected, &path, depth + 1, mismatches),
    }
}
