//! Applies the projection of a call to the result of its tool.

use std::collections::BTreeSet;

use serde_json::Value;
use toolgen_core::internal::rounded_integers;

use crate::base::frozen::Text;
use crate::call::control::Control;
use crate::call::result::{Content, ToolResult};
use crate::call::structured::Structured;
use crate::spec::ToolSpec;
use crate::spec::projection::{Projected, closest_path, project};

/// The maximum number of paths that a note lists.
const MAX_LISTED: usize = 5;

/// Removes the argument of the projection from arguments, and returns its paths. Without paths, the result stays whole.
pub(super) fn take_paths(spec: &ToolSpec, arguments: &mut Value) -> Option<Vec<Text>> {
    let members = arguments.as_object_mut()?;
    // Records and messages show the arguments in their order.
    let paths = members.shift_remove(spec.projection.as_str())?;
    let paths: Vec<Text> = paths.as_array()?.iter().filter_map(Value::as_str).map(Text::copy_of).collect();
    Some(paths).filter(|paths| !paths.is_empty())
}

/// Makes a whole result an error if it does not match the output schema of a tool whose results must.
pub(super) fn enforce(result: &mut ToolResult, spec: &ToolSpec) {
    if !spec.output_may_differ
        && let Some(mut declared) = spec.structured_output()
    {
        declared.may_differ = false;
        result.enforce_output_schema(&declared);
    }
}

/// Removes the fields that no path selects from a successful result. Adds a note if a path selects nothing, or if the
/// result has no fields. If no path selects anything, the result stays whole: the call may have had an effect, and cannot
/// be repeated to see it.
pub(super) fn apply(result: &mut ToolResult, spec: &ToolSpec, paths: &[Text]) {
    if result.is_error() || !matches!(result.control, Control::Continue) {
        return;
    }
    let names: Vec<&str> = paths.iter().map(Text::as_str).collect();
    let mut found = Found::default();
    let texts: Vec<Option<String>> = result
        .content
        .iter()
        .map(|content| match content {
            Content::Text(text) => found.project_text(text, &names),
            _ => None,
        })
        .collect();
    let structured = match &result.structured {
        Structured::Json(text) => parse(text).ok().map(|value| found.project(&value, &names).to_string()),
        _ => None,
    };
    let details = details_to_project(result, spec).map(|value| found.project(&value, &names));
    match found.unmatched {
        None => {
            let reason = found.reason.unwrap_or("it is not JSON");
            let note = format!(
                "[The result is whole, because `{}` could not be applied: {reason}.]",
                spec.projection
            );
            result.content.push(Content::Text(note));
        }
        Some(unmatched) if !found.has_parts => {
            let mut note = String::from("[The result is whole, because it has none of the fields.]");
            if !unmatched.is_empty() {
                note = format!("{note}\n{}", unmatched_note(spec, &names, &unmatched));
            }
            result.content.push(Content::Text(note));
        }
        Some(unmatched) => {
            for (content, text) in result.content.iter_mut().zip(texts) {
                if let Some(text) = text {
                    *content = Content::Text(text);
                }
            }
            if let Some(json) = structured {
                result.structured = Structured::Json(json.into());
            }
            if let Some(details) = details {
                set_details(result, details);
            }
            result.selected = paths.to_vec();
            if !unmatched.is_empty() {
                result.content.push(Content::Text(unmatched_note(spec, &names, &unmatched)));
            }
        }
    }
}

/// Returns the structured value in the details, if they are the result.
fn details_to_project(result: &ToolResult, spec: &ToolSpec) -> Option<Value> {
    if !matches!(result.structured, Structured::Details | Structured::DetailsWithout(_)) {
        return None;
    }
    let value = result.structured().ok()?.into_owned();
    let is_text = |content: &Content| match content {
        Content::Text(text) => parse(text).is_ok_and(|text| text == value),
        _ => false,
    };
    let is_result = spec.output.is_some() || result.content.iter().any(is_text);
    (is_result && (value.is_object() || value.is_array())).then_some(value)
}

/// Replaces the structured value in the details. Members that were added for the program remain.
fn set_details(result: &mut ToolResult, mut value: Value) {
    if let (Structured::DetailsWithout(added), Value::Object(members)) = (&result.structured, &mut value) {
        for name in added {
            if let Some(member) = result.details.get(name.as_str()) {
                members.insert(name.to_string(), member.clone());
            }
        }
    }
    result.details = value;
}

/// What the paths select in all parts of a result.
#[derive(Default)]
struct Found {
    /// The paths that select nothing in any part; `None` if no part is JSON.
    unmatched: Option<BTreeSet<String>>,
    /// Whether a path selects anything in any part.
    has_parts: bool,
    /// Why a part is not projected.
    reason: Option<&'static str>,
}

impl Found {
    /// Projects a value.
    fn project(&mut self, value: &Value, paths: &[&str]) -> Value {
        let Projected { value, unmatched, has_parts } = project(value, paths);
        self.has_parts |= has_parts;
        let unmatched: BTreeSet<String> = unmatched.into_iter().collect();
        self.unmatched = Some(match self.unmatched.take() {
            None => unmatched,
            Some(known) => known.intersection(&unmatched).cloned().collect(),
        });
        value
    }

    /// Projects the JSON in a text: all of it, or the part after the first empty line, as in a response with its status
    /// line. Returns `None` if there is none.
    fn project_text(&mut self, text: &str, paths: &[&str]) -> Option<String> {
        let starts = [Some(0), text.find("\n\n").map(|at| at + 2)];
        for start in starts.into_iter().flatten() {
            let (head, json) = text.split_at(start);
            match parse(json) {
                Ok(value) => return Some(format!("{head}{}", self.project(&value, paths))),
                Err(reason) => self.reason = reason.or(self.reason),
            }
        }
        None
    }
}

/// Parses an object or an array.
///
/// # Errors
///
/// Returns the reason if the JSON has a number that would change.
fn parse(text: &str) -> Result<Value, Option<&'static str>> {
    if !text.trim_start().starts_with(['{', '[']) {
        return Err(None);
    }
    let value: Value = serde_json::from_str(text).map_err(|_| None)?;
    let is_exact = rounded_integers(text, &value).is_empty();
    if is_exact { Ok(value) } else { Err(Some("it has an integer outside the 64-bit range")) }
}

fn unmatched_note(spec: &ToolSpec, paths: &[&str], unmatched: &BTreeSet<String>) -> String {
    let unmatched = paths.iter().filter(|path| unmatched.contains(**path));
    let described = |path: &&str| match closest_path(spec, path).filter(|closest| closest != path) {
        Some(closest) => format!("`{path}` (did you mean `{closest}`?)"),
        None => format!("`{path}`"),
    };
    let mut listed: Vec<String> = unmatched.map(described).collect();
    let more = listed.len().saturating_sub(MAX_LISTED);
    listed.truncate(MAX_LISTED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("[Not in the result: {}{more}.]", listed.join(", "))
}
