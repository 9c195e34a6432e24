//! Scans the tree of a file for references.

use std::collections::BTreeSet;

use serde_json::Value;

use super::uri;
use crate::source::Pointer;

/// The references in a tree to other files, and the identifiers of its schemas.
#[derive(Default)]
pub(in super::super) struct FileReferences {
    /// The strings that name other files.
    pub(in super::super) references: BTreeSet<String>,
    /// The locations and the `$id`s of schemas; outer schemas precede inner ones.
    pub(in super::super) ids: Vec<(Pointer, String)>,
}

/// Scans the tree at a location.
pub(in super::super) fn scan(root: &Value, pointer: &Pointer) -> FileReferences {
    let mut result = FileReferences::default();
    let mut has_ids = false;
    let mut pending = vec![root];
    while let Some(value) = pending.pop() {
        match value {
            Value::Object(object) => {
                let references =
                    object.get("$ref").into_iter().chain(mapping(object)).chain(external_value(object));
                for reference in references.filter_map(Value::as_str) {
                    let (name, _) = uri::split(reference);
                    if !name.is_empty() && !result.references.contains(name) {
                        result.references.insert(name.to_owned());
                    }
                }
                has_ids |= object.get("$id").is_some_and(Value::is_string);
                pending.extend(object.values().filter(|value| value.is_object() || value.is_array()));
            }
            Value::Array(items) => pending.extend(items),
            _ => {}
        }
    }
    if has_ids {
        add_ids(root, pointer, &mut result.ids);
    }
    result
}

/// Appends the locations and the `$id`s of schemas; outer schemas precede inner ones.
fn add_ids(value: &Value, pointer: &Pointer, ids: &mut Vec<(Pointer, String)>) {
    match value {
        Value::Object(object) => {
            if let Some(id) = object.get("$id").and_then(Value::as_str) {
                ids.push((pointer.clone(), id.to_owned()));
            }
            object.iter().for_each(|(key, value)| add_ids(value, &pointer.child(key), ids));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| add_ids(item, &pointer.item(index), ids));
        }
        _ => {}
    }
}

/// Returns the targets of a discriminator.
fn mapping(object: &serde_json::Map<String, Value>) -> impl Iterator<Item = &Value> {
    let discriminator = object.get("discriminator");
    let mapping = discriminator.and_then(|object| object.get("mapping")).and_then(Value::as_object);
    let default_target = discriminator.and_then(|object| object.get("defaultMapping"));
    mapping.into_iter().flat_map(serde_json::Map::values).chain(default_target)
}

/// Returns the `externalValue` of an Example Object, which is recognised by its keys.
fn external_value(object: &serde_json::Map<String, Value>) -> Option<&Value> {
    const ANNOTATIONS: [&str; 2] = ["summary", "description"];
    let file = object.get("externalValue")?;
    let is_annotation = |key: &String| ANNOTATIONS.contains(&key.as_str()) || key.starts_with("x-");
    object.keys().all(|key| key == "externalValue" || is_annotation(key)).then_some(file)
}

/// Replaces references to text files by the content of the files.
pub(super) fn replace(value: &mut Value, text_of: &dyn Fn(&str) -> Option<String>) {
    match value {
        Value::Object(object) => {
            let text = object.get("$ref").and_then(Value::as_str).and_then(text_of);
            match text {
                Some(text) => *value = Value::String(text),
                None => object.values_mut().for_each(|value| replace(value, text_of)),
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, text_of)),
        _ => {}
    }
}
