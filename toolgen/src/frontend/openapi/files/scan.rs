//! Scans the tree of a file for references.

use std::collections::BTreeSet;

use serde_json::Value;

use super::uri;
use crate::source::Pointer;

/// The references of a tree to other files, and its identifiers.
#[derive(Default)]
pub(in super::super) struct FileReferences {
    /// The strings that name other files.
    pub(in super::super) references: BTreeSet<String>,
    /// The locations of schemas with an `$id`, the outer ones first.
    pub(in super::super) ids: Vec<(Pointer, String)>,
}

/// Scans a tree at a location.
pub(in super::super) fn scan(root: &Value, pointer: &Pointer) -> FileReferences {
    let mut found = FileReferences::default();
    let mut has_ids = false;
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(object) => {
                let texts =
                    object.get("$ref").into_iter().chain(mapping(object)).chain(external_value(object));
                for text in texts.filter_map(Value::as_str) {
                    let (name, _) = uri::split(text);
                    if !name.is_empty() && !found.references.contains(name) {
                        found.references.insert(name.to_owned());
                    }
                }
                has_ids |= object.get("$id").is_some_and(Value::is_string);
                open.extend(object.values().filter(|value| value.is_object() || value.is_array()));
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    if has_ids {
        add_ids(root, pointer, &mut found.ids);
    }
    found
}

/// Adds the locations of schemas with an `$id`, outer ones first.
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
    let mapping = discriminator.and_then(|one| one.get("mapping")).and_then(Value::as_object);
    let by_default = discriminator.and_then(|one| one.get("defaultMapping"));
    mapping.into_iter().flat_map(serde_json::Map::values).chain(by_default)
}

/// Returns the file of an example object, which is recognised by having only the keys of an example.
fn external_value(object: &serde_json::Map<String, Value>) -> Option<&Value> {
    const REMARKS: [&str; 2] = ["summary", "description"];
    let file = object.get("externalValue")?;
    let is_remark = |key: &String| REMARKS.contains(&key.as_str()) || key.starts_with("x-");
    object.keys().all(|key| key == "externalValue" || is_remark(key)).then_some(file)
}

/// Replaces references by the content of text files, if they refer to one.
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
