//! Numbers and booleans where only a string is possible: `operationId: 42`, `name: 1.10`, `required: [id, 5]`.
//!
//! Without quotes, YAML reads a number or a boolean, but the intended value is the source text.

use std::borrow::Cow;

use serde_json::Value;

use super::Files;
use crate::source::{Pointer, Written};

/// The keys whose value is a string.
const STRING_KEYS: [&str; 8] =
    ["name", "operationId", "propertyName", "title", "summary", "description", "url", "basePath"];

/// The keys whose items are strings.
const STRING_ARRAY_KEYS: [&str; 2] = ["required", "tags"];

/// The keys of example data, which may have arbitrary keys.
const DATA_KEYS: [&str; 8] =
    ["example", "examples", "default", "enum", "const", "value", "dataValue", "x-example"];

/// The keys of objects whose keys are names.
const NAME_MAP_KEYS: [&str; 10] = [
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
    pub(in super::super) fn source_text(&self, value: &Value, pointer: &Pointer) -> Option<&str> {
        let (_, inner) = self.source_location(pointer)?;
        self.all.get(self.index_of(pointer))?.written.at(value, &inner)
    }

    /// Whether a scalar whose source text prints differently is at or below a location.
    pub(in super::super) fn has_source_text(&self, pointer: &Pointer) -> bool {
        let file = self.source_location(pointer).zip(self.all.get(self.index_of(pointer)));
        file.is_some_and(|((_, inner), file)| file.written.part(&inner).is_some())
    }
}

/// Replaces numbers and booleans that must be strings by their source text.
pub(super) fn with_source_texts<'d>(mut root: Cow<'d, Value>, written: &Written) -> Cow<'d, Value> {
    let mut pointers = Vec::new();
    collect(&root, &Pointer::ROOT, false, &mut pointers);
    for pointer in pointers {
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
fn is_number_or_boolean(value: &Value) -> bool {
    value.is_number() || value.is_boolean()
}

/// Collects the locations of numbers and booleans that must be strings.
fn collect(value: &Value, pointer: &Pointer, has_names: bool, pointers: &mut Vec<Pointer>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let is_keyword = !has_names;
                match member {
                    Value::Object(_) | Value::Array(_) => {
                        if is_keyword && (DATA_KEYS.contains(&key.as_str()) || key.starts_with("x-")) {
                            continue;
                        }
                        let pointer = pointer.child(key);
                        if let (Value::Array(items), true) =
                            (member, STRING_ARRAY_KEYS.contains(&key.as_str()))
                        {
                            let scalars =
                                items.iter().enumerate().filter(|(_, item)| is_number_or_boolean(item));
                            pointers.extend(scalars.map(|(index, _)| pointer.item(index)));
                        }
                        collect(
                            member,
                            &pointer,
                            is_keyword && NAME_MAP_KEYS.contains(&key.as_str()),
                            pointers,
                        );
                    }
                    member
                        if is_keyword
                            && is_number_or_boolean(member)
                            && STRING_KEYS.contains(&key.as_str()) =>
                    {
                        pointers.push(pointer.child(key));
                    }
                    _ => {}
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in
                items.iter().enumerate().filter(|(_, item)| item.is_object() || item.is_array())
            {
                collect(item, &pointer.item(index), false, pointers);
            }
        }
        _ => {}
    }
}
