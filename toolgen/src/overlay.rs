//! Applies Overlays of the `OpenAPI` Initiative (1.0 and 1.1) to documents.
//!
//! The actions of an overlay apply in order, each to the result of the previous ones. An invalid action changes
//! nothing and is an error; an action whose target matches nothing is a warning, because it is usually a typo.

mod json_path;
mod sources;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde_json::{Map, Value};

use self::json_path::JsonPath;
pub(crate) use self::sources::{Overlaid, overlaid};
use crate::problem::Problems;
use crate::problem::codes::{Code, overlay as codes};
use crate::selector::suggestion;
use crate::source::{Document, MAX_DEPTH, Pointer};

/// Maximum number of values that an overlay adds; a long string counts as several.
const MAX_ADDED_VALUES: usize = 1_000_000;

/// The keys of an overlay, and of its `info`.
const TOP_LEVEL_KEYS: [&str; 4] = ["overlay", "info", "extends", "actions"];
const INFO_KEYS: [&str; 3] = ["title", "version", "description"];

/// The keys of an action.
const ACTION_KEYS: [&str; 5] = ["target", "description", "update", "remove", "copy"];

impl Document {
    /// Returns the document with an overlay applied, as a new document. The problems are those of the overlay; an
    /// action with an error changes nothing.
    #[must_use]
    pub fn overlaid(&self, overlay: &Document, problems: &mut Problems) -> Document {
        let mut root = self.root.clone();
        apply(&mut root, overlay, problems);
        Document { source: Arc::clone(&self.source), root, written: self.written.clone() }
    }
}

/// Applies an overlay to the tree of a document.
fn apply(root: &mut Value, overlay: &Document, problems: &mut Problems) {
    problems.set_source(Arc::clone(&overlay.source));
    let mut cx = Context { problems, remaining_values: MAX_ADDED_VALUES };
    let top = &overlay.root;
    let version = top.get("overlay").map(|version| version.as_str().unwrap_or_default());
    match version {
        None => {
            let help = "an overlay starts with `overlay: 1.0.0`";
            return cx.report(codes::OVERLAY, &Pointer::ROOT, "this is not an overlay", help);
        }
        Some(version) if version.starts_with("1.") => {}
        Some(_) => {
            let message =
                "the version of an overlay must be a string such as `1.0.0`; later versions are unknown";
            return cx.report(
                codes::OVERLAY,
                &Pointer::ROOT.child("overlay"),
                message,
                "write `overlay: 1.0.0`",
            );
        }
    }
    cx.check_keys(top, &Pointer::ROOT, "an overlay", &TOP_LEVEL_KEYS);
    if let Some(info) = top.get("info") {
        cx.check_keys(info, &Pointer::ROOT.child("info"), "`info`", &INFO_KEYS);
    }
    let pointer = Pointer::ROOT.child("actions");
    match top.get("actions").and_then(Value::as_array) {
        Some(actions) if !actions.is_empty() => {
            for (index, action) in actions.iter().enumerate() {
                let action_pointer = pointer.item(index);
                if cx.check_action(action, &action_pointer) {
                    cx.apply_action(root, action, &action_pointer);
                }
            }
        }
        _ => {
            let help = "add an array of actions, such as `- {target: $.info, update: {title: Pets}}`";
            cx.report(
                codes::OVERLAY,
                &pointer,
                "an overlay needs `actions`, an array with at least one item",
                help,
            );
        }
    }
}

struct Context<'a> {
    problems: &'a mut Problems,
    /// The number of values that may still be added.
    remaining_values: usize,
}

/// What an action does to the values that its target matches.
enum Change<'a> {
    Remove,
    /// Merges a value into them. The pointer is the location of the value in the overlay.
    Merge(&'a Value, Pointer),
}

impl Context<'_> {
    fn report(&mut self, code: Code, pointer: &Pointer, message: impl Into<String>, help: impl Into<String>) {
        self.problems.report(code, pointer, message, help);
    }

    /// Reports the keys that an object must not have, and returns whether there are none.
    fn check_keys(&mut self, object: &Value, pointer: &Pointer, subject: &str, keys: &[&str]) -> bool {
        let mut is_valid = true;
        for key in object.as_object().into_iter().flat_map(Map::keys) {
            if keys.contains(&key.as_str()) || key.starts_with("x-") {
                continue;
            }
            let help = match suggestion(key, keys.iter().copied()) {
                Some(closest) => format!("did you mean `{closest}`?"),
                None => {
                    let allowed: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
                    format!("{subject} has {}", allowed.join(", "))
                }
            };
            let code = if keys.contains(&"target") { codes::ACTION } else { codes::OVERLAY };
            self.report(code, &pointer.child(key), format!("{subject} has no `{key}`"), help);
            is_valid = false;
        }
        is_valid
    }

    /// Reports keys that an action must not have: a misspelt key would keep something that should be removed.
    fn check_action(&mut self, action: &Value, pointer: &Pointer) -> bool {
        let mut is_valid = self.check_keys(action, pointer, "an action", &ACTION_KEYS);
        for (key, value) in action.as_object().into_iter().flatten() {
            if matches!(key.as_str(), "update" | "copy" | "target") && value.is_null() {
                let message = format!("`{key}` has no value");
                let help = match key.as_str() {
                    "update" => "write the values to add, or `remove: true`",
                    _ => "write a JSONPath, such as `$.paths['/pets'].get`",
                };
                self.report(codes::ACTION, &pointer.child(key), message, help);
                is_valid = false;
            }
            if key == "remove" && !value.is_boolean() {
                let message = "`remove` must be `true` or `false`";
                self.report(codes::ACTION, &pointer.child(key), message, "write `remove: true`");
                is_valid = false;
            }
        }
        if action.get("update").is_some() && action.get("copy").is_some() {
            let message = "an action does one thing, and this one has `update` and `copy`";
            self.report(
                codes::ACTION,
                pointer,
                message,
                "write an action for each; they apply in their order",
            );
            is_valid = false;
        }
        is_valid
    }

    fn apply_action(&mut self, root: &mut Value, action: &Value, pointer: &Pointer) {
        let Some(target) = self.query(action, "target", pointer) else { return };
        let removes = action.get("remove").is_some_and(|remove| *remove == Value::Bool(true));
        if removes && let Some(other) = ["update", "copy"].into_iter().find(|key| action.get(key).is_some()) {
            let message = format!("the action removes its target, so its `{other}` does nothing");
            self.report(codes::NO_CHANGE, pointer, message, "omit one of them");
        }
        let copied = match action.get("copy").filter(|_| !removes) {
            None => None,
            Some(_) => {
                let Some(path) = self.query(action, "copy", pointer) else { return };
                match path.select(root).as_slice() {
                    [only] => only.resolve(root).cloned(),
                    matches => {
                        let message = format!("`copy` must find one value, but finds {}", matches.len());
                        let help = "name the one value to copy";
                        return self.report(codes::ACTION, &pointer.child("copy"), message, help);
                    }
                }
            }
        };
        let change = match (removes, action.get("update"), &copied) {
            (true, ..) => Change::Remove,
            (false, Some(update), _) => Change::Merge(update, pointer.child("update")),
            (false, None, Some(copied)) => Change::Merge(copied, pointer.child("copy")),
            (false, None, None) => {
                let message =
                    "the action does nothing: it has neither `update` nor `remove: true` nor `copy`";
                return self.report(
                    codes::NO_CHANGE,
                    pointer,
                    message,
                    "add `update`, `remove: true` or `copy`",
                );
            }
        };
        let targets = target.select(root);
        if targets.is_empty() {
            let message = "the target is nowhere in the document, so the action does nothing";
            let help = "compare the target with the document; names are case-sensitive";
            return self.report(codes::NO_TARGET, &pointer.child("target"), message, help);
        }
        match change {
            Change::Remove if targets.iter().any(Pointer::is_root) => {
                let message = "the whole document cannot be removed";
                self.report(codes::ACTION, &pointer.child("target"), message, "name the part to remove");
            }
            Change::Remove => remove(root, targets),
            Change::Merge(update, update_pointer) => {
                if let Err(message) = self.count_added(update, &targets) {
                    let help = "change less at a time; `copy` may match a parent of its target";
                    return self.report(codes::ACTION, &update_pointer, message, help);
                }
                // An action applies completely or not at all.
                let mut changed = root.clone();
                for pointer in &targets {
                    let Some(target) = changed.pointer_mut(pointer.as_str()) else { continue };
                    if let Err(mismatch) = merge_at(target, update) {
                        let message = format!("the value does not fit the target at `{pointer}`: {mismatch}");
                        let help = "remove the target first, or change what contains it";
                        return self.report(codes::ACTION, &update_pointer, message, help);
                    }
                }
                *root = changed;
            }
        }
    }

    /// Counts the values that an action adds: a few actions that copy the whole document would double it each time.
    fn count_added(&mut self, update: &Value, targets: &[Pointer]) -> Result<(), String> {
        let (values, levels) = extent(update);
        let deepest = targets.iter().map(|pointer| pointer.tokens().count()).max().unwrap_or(0);
        if deepest + levels > MAX_DEPTH {
            return Err(format!("the document would be nested deeper than {MAX_DEPTH} levels"));
        }
        let remaining =
            values.checked_mul(targets.len()).and_then(|added| self.remaining_values.checked_sub(added));
        self.remaining_values =
            remaining.ok_or_else(|| format!("the overlay would add more than {MAX_ADDED_VALUES} values"))?;
        Ok(())
    }

    /// Parses the query of a key.
    fn query(&mut self, action: &Value, key: &str, pointer: &Pointer) -> Option<JsonPath> {
        let help = "write a JSONPath, such as `$.paths['/pets'].get`";
        let Some(text) = action.get(key).and_then(Value::as_str) else {
            let message = format!("the action needs `{key}`, a string");
            self.report(codes::ACTION, pointer, message, help);
            return None;
        };
        match JsonPath::parse(text) {
            Ok(path) => Some(path),
            Err(error) => {
                self.report(
                    codes::ACTION,
                    &pointer.child(key),
                    format!("`{key}` is not a JSONPath: {error}"),
                    help,
                );
                None
            }
        }
    }
}

/// Removes values. Items of an array are removed from its end, so that indices stay valid.
fn remove(root: &mut Value, mut pointers: Vec<Pointer>) {
    let key = |pointer: &Pointer| {
        pointer.tokens().map(|token| (token.parse::<usize>().ok(), token.into_owned())).collect::<Vec<_>>()
    };
    pointers.sort_by_cached_key(key);
    for pointer in pointers.into_iter().rev() {
        let (Some(parent), Some(last)) = (pointer.parent(), pointer.last()) else { continue };
        match root.pointer_mut(parent.as_str()) {
            Some(Value::Object(members)) => {
                members.shift_remove(&*last);
            }
            Some(Value::Array(items)) => {
                if let Some(index) = last.parse().ok().filter(|index| *index < items.len()) {
                    items.remove(index);
                }
            }
            _ => {}
        }
    }
}

/// Merges a value into a target. A value that is not an array is appended to a target that is one.
fn merge_at(target: &mut Value, update: &Value) -> Result<(), String> {
    match (target, update) {
        (Value::Array(items), update) if !update.is_array() => items.push(update.clone()),
        (target, update) => return merge(target, update),
    }
    Ok(())
}

fn merge(target: &mut Value, update: &Value) -> Result<(), String> {
    match (target, update) {
        (Value::Object(members), Value::Object(updates)) => merge_members(members, updates)?,
        (Value::Array(items), Value::Array(more)) => items.extend(more.iter().cloned()),
        (target, update) if is_primitive(target) && is_primitive(update) => *target = update.clone(),
        // In YAML `tags:` without a value is `null`; nothing is added.
        (_, Value::Null) => {}
        (target, update) => return Err(format!("it is {}, and the value {}", kind(target), kind(update))),
    }
    Ok(())
}

fn merge_members(members: &mut Map<String, Value>, updates: &Map<String, Value>) -> Result<(), String> {
    for (name, update) in updates {
        match members.get_mut(name) {
            Some(member) => merge(member, update).map_err(|error| format!("`{name}`: {error}"))?,
            None => {
                members.insert(name.clone(), update.clone());
            }
        }
    }
    Ok(())
}

/// Returns the number of values, where a long string counts as several, and the number of levels.
fn extent(value: &Value) -> (usize, usize) {
    let string_units = |text: &String| text.len() / 64;
    let add = |(values, levels): (usize, usize), inner: &Value| {
        let (inner_values, inner_levels) = extent(inner);
        (values + inner_values, levels.max(inner_levels + 1))
    };
    match value {
        Value::String(text) => (1 + string_units(text), 1),
        Value::Array(items) => items.iter().fold((1, 1), add),
        Value::Object(members) => members.iter().fold((1, 1), |(values, levels), (name, inner)| {
            add((values + string_units(name), levels), inner)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => (1, 1),
    }
}

fn is_primitive(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Object(_) => "an object",
        Value::Array(_) => "an array",
        _ => "a simple value",
    }
}
