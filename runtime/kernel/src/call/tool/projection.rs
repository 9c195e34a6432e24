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
    let whole = result.clone();
    let details = details_to_project(result, spec).map(|value| project(&value, &names));
    for content in &mut result.content {
        if let Content::Text(text) = content {
            found.project_text(text, &names);
        }
    }
    if let Structured::Json(text) = &mut result.structured
        && let Some((_, projected)) = parse(text).ok().map(|value| (text.len(), project(&value, &names)))
    {
        *text = projected.value.to_string().into();
        found.add(projected.unmatched, projected.has_parts);
    }
    if let Some(projected) = details {
        set_details(result, projected.value);
        found.add(projected.unmatched, projected.has_parts);
    }
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
            *result = whole;
            let mut note = String::from("[The result is whole, because it has none of the fields.]");
            if !unmatched.is_empty() {
                note = format!("{note}\n{}", unmatched_note(spec, &names, &unmatched));
            }
            result.content.push(Content::Text(note));
        }
        Some(unmatched) => {
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
    fn add(&mut self, unmatched: Vec<String>, has_parts: bool) {
        self.has_parts |= has_parts;
        let unmatched: BTreeSet<String> = unmatched.into_iter().collect();
        self.unmatched = Some(match self.unmatched.take() {
            None => unmatched,
            Some(known) => known.intersection(&unmatched).cloned().collect(),
        });
    }

    /// Projects the JSON in a text: all of it, or the part after the first empty line, as in a response with its status
    /// line.
    fn project_text(&mut self, text: &mut String, paths: &[&str]) {
        let starts = [Some(0), text.find("\n\n").map(|at| at + 2)];
        for start in starts.into_iter().flatten() {
            match parse(text.get(start..).unwrap_or_default()) {
                Ok(value) => {
                    let Projected { value, unmatched, has_parts } = project(&value, paths);
                    text.truncate(start);
                    text.push_str(&value.to_string());
                    self.add(unmatched, has_parts);
                    return;
                }
                Err(reason) => self.reason = reason.or(self.reason),
            }
        }
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
