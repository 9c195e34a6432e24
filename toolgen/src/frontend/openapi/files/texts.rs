//! Numbers and booleans where only a string is possible: `operationId: 42`, `name: 1.10`, `required: [id, 5]`.
//!
//! YAML reads them as such without quotes, but the intended value is the source text.

use std::borrow::Cow;

use serde_json::Value;

use super::Files;
use crate::source::{Pointer, Written};

/// The keys whose value is a string.
const TEXTS: [&str; 8] =
    ["name", "operationId", "propertyName", "title", "summary", "description", "url", "basePath"];

/// The keys whose items are strings.
const LISTS: [&str; 2] = ["required", "tags"];

/// The keys of data, which may have arbitrary keys.
const DATA: [&str; 8] =
    ["example", "examples", "default", "enum", "const", "value", "dataValue", "x-example"];

/// The keys of objects whose own keys are names.
const NAMED: [&str; 10] = [
    "properties",
    "patternProperties",
    "definitions",
    "$defs",
    "schemas",
    "parameters",
    "responses",
    "requestBodies",
    "headers",
    "paths",
];

impl Files<'_> {
    /// Returns the source text of a number or a boolean at a location, if its value prints differently.
    pub(in super::super) fn written(&self, value: &Value, pointer: &Pointer) -> Option<&str> {
        let (_, inner) = self.place(pointer)?;
        self.all.get(self.index_of(pointer))?.written.at(value, &inner)
    }

    /// Whether such a scalar is at or below a location.
    pub(in super::super) fn has_written(&self, pointer: &Pointer) -> bool {
        let found = self.place(pointer).zip(self.all.get(self.index_of(pointer)));
        found.is_some_and(|((_, inner), file)| file.written.part(&inner).is_some())
    }
}

/// Returns the tree of a file in which these scalars are strings with their source text.
pub(super) fn named<'d>(mut root: Cow<'d, Value>, written: &Written) -> Cow<'d, Value> {
    let mut found = Vec::new();
    collect(&root, &Pointer::ROOT, false, &mut found);
    for pointer in found {
        let Some(text) = pointer.resolve(&root).and_then(|value| written.text_of(value, &pointer)) else {
            continue;
        };
        let text = Value::String(text.into_owned());
        if let Some(value) = root.to_mut().pointer_mut(pointer.as_str()) {
            *value = text;
        }
    }
    root
}

/// Whether a value is a number or a boolean.
fn is_bare(value: &Value) -> bool {
    value.is_number() || value.is_boolean()
}

/// Collects the locations of these scalars.
fn collect(value: &Value, at: &Pointer, has_names: bool, found: &mut Vec<Pointer>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let is_keyword = !has_names;
                match member {
                    Value::Object(_) | Value::Array(_) => {
                        if is_keyword && (DATA.contains(&key.as_str()) || key.starts_with("x-")) {
                            continue;
                        }
                        let at = at.child(key);
                        if let (Value::Array(items), true) = (member, LISTS.contains(&key.as_str())) {
                            let bare = items.iter().enumerate().filter(|(_, item)| is_bare(item));
                            found.extend(bare.map(|(index, _)| at.item(index)));
                        }
                        collect(member, &at, is_keyword && NAMED.contains(&key.as_str()), found);
                    }
                    member if is_keyword && is_bare(member) && TEXTS.contains(&key.as_str()) => {
                        found.push(at.child(key));
                    }
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in
                items.iter().enumerate().filter(|(_, item)| item.is_object() || item.is_array())
            {
                collect(item, &at.item(index), false, found);
            }
        }
        _ => {}
    }
}
