//! Rewrites schemas of descriptors so that every reference names one of the schema's own `$defs`.
//!
//! Servers refer to any part of a schema, such as `#/properties/from`, and each tool names its schemas as if it were
//! the only tool.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::base::canonical::canonical;
use crate::base::sha256::sha256;
use crate::schema::shape::pointer::{child, percent_decode, token_of};

/// The keys that contain named schemas.
const DEFS: [&str; 2] = ["$defs", "definitions"];
/// The keys whose values are maps of schemas; the keys of these maps are not keywords.
const SCHEMA_MAPS: [&str; 5] =
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];
/// The keys whose values are data, not schemas.
const DATA: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// A schema, and the named schemas that it refers to.
#[derive(Debug)]
pub(super) struct BundledSchema {
    root: Value,
    defs: BTreeMap<String, Value>,
}

impl BundledSchema {
    /// Moves the targets of references to `$defs`. References that are dangling, or leave the schema, are not changed.
    pub(super) fn of(schema: &Value) -> BundledSchema {
        let mut names = Names::default();
        for key in DEFS {
            for name in schema.get(key).and_then(Value::as_object).into_iter().flat_map(Map::keys) {
                names.name_for(&child(&format!("/{key}"), name));
            }
        }
        let root = names.rewrite(&without_defs(schema), schema);
        let mut defs = BTreeMap::new();
        // A rewritten schema may contain more references.
        while let Some((pointer, name)) = names.pending.pop() {
            let target = schema.pointer(&pointer).map(without_defs).unwrap_or_default();
            defs.insert(name, names.rewrite(&target, schema));
        }
        BundledSchema { root, defs }
    }

    /// Returns the schema as one document.
    pub(super) fn into_document(self) -> Value {
        let mut root = self.root;
        if let (Value::Object(members), false) = (&mut root, self.defs.is_empty()) {
            members.insert("$defs".to_owned(), Value::Object(self.defs.into_iter().collect()));
        }
        root
    }

    fn rename(&mut self, names: &BTreeMap<String, String>) {
        let new_name = |name: &str| names.get(name).map_or(name, String::as_str).to_owned();
        let rewrite = |value: &Value| {
            map_references(value, &mut |text| {
                Some(format!("#/$defs/{}", new_name(text.strip_prefix("#/$defs/")?)))
            })
        };
        self.root = rewrite(&self.root);
        self.defs = self.defs.iter().map(|(name, value)| (new_name(name), rewrite(value))).collect();
    }
}

/// Renames schemas so that named schemas with equal names are equal. Each bundled schema comes with a string that is
/// unique to it.
pub(super) fn rename_conflicts(schemas: &mut [(String, BundledSchema)]) {
    let mut first_texts: BTreeMap<String, String> = BTreeMap::new();
    let mut conflicting: BTreeSet<String> = BTreeSet::new();
    for (name, schema) in schemas.iter().flat_map(|(_, bundle)| &bundle.defs) {
        let text = canonical(schema);
        if first_texts.entry(name.clone()).or_insert_with(|| text.clone()) != &text {
            conflicting.insert(name.clone());
        }
    }
    // Equal schemas that refer to different schemas are different as well. Each name is visited once, because a server
    // controls the length of the chain.
    let mut referrers: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (name, schema) in schemas.iter().flat_map(|(_, bundle)| &bundle.defs) {
        for text in references(schema) {
            if let Some(target) = text.strip_prefix("#/$defs/") {
                referrers.entry(target.to_owned()).or_default().insert(name);
            }
        }
    }
    let mut pending: Vec<String> = conflicting.iter().cloned().collect();
    while let Some(name) = pending.pop() {
        for referrer in referrers.get(&name).into_iter().flatten() {
            if conflicting.insert((*referrer).to_owned()) {
                pending.push((*referrer).to_owned());
            }
        }
    }
    for (owner, bundle) in schemas {
        let conflicts = bundle.defs.keys().filter(|name| conflicting.contains(*name));
        let names = conflicts.map(|name| (name.clone(), with_hash(name, owner))).collect();
        bundle.rename(&names);
    }
}

/// The names of the locations that a schema refers to.
#[derive(Default)]
struct Names {
    /// The names, by JSON pointer.
    names: BTreeMap<String, String>,
    used: BTreeSet<String>,
    /// The names whose schemas are not rewritten yet.
    pending: Vec<(String, String)>,
}

impl Names {
    fn name_for(&mut self, pointer: &str) -> String {
        if let Some(name) = self.names.get(pointer) {
            return name.clone();
        }
        let tokens = pointer.split('/').skip(1).map(token_of);
        let is_name = |token: &String| !matches!(token.as_str(), "properties" | "$defs" | "definitions");
        let text = tokens.filter(is_name).collect::<Vec<_>>().join("_");
        let to_legal =
            |char: char| if char.is_ascii_alphanumeric() || "_.-".contains(char) { char } else { '_' };
        let mut name: String = text.chars().map(to_legal).take(64).collect();
        if name.is_empty() {
            name.push_str("arguments");
        }
        if !self.used.insert(name.clone()) {
            name = with_hash(&name, pointer);
            self.used.insert(name.clone());
        }
        self.names.insert(pointer.to_owned(), name.clone());
        self.pending.push((pointer.to_owned(), name.clone()));
        name
    }

    fn rewrite(&mut self, part: &Value, document: &Value) -> Value {
        map_references(part, &mut |text| {
            let pointer = normalize(&percent_decode(text.strip_prefix('#')?)?);
            document.pointer(&pointer).map(|_| format!("#/$defs/{}", self.name_for(&pointer)))
        })
    }
}

/// Returns a schema with its references replaced, where `map` returns a replacement.
fn map_references(schema: &Value, map: &mut dyn FnMut(&str) -> Option<String>) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(|item| map_references(item, map)).collect(),
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                let value = match value {
                    Value::String(text) if key == "$ref" => {
                        map(text).map_or_else(|| value.clone(), Value::from)
                    }
                    Value::Object(by_name) if SCHEMA_MAPS.contains(&key.as_str()) => {
                        let by_name =
                            by_name.iter().map(|(name, schema)| (name.clone(), map_references(schema, map)));
                        Value::Object(by_name.collect())
                    }
                    _ if DATA.contains(&key.as_str()) => value.clone(),
                    _ => map_references(value, map),
                };
                (key.clone(), value)
            };
            Value::Object(members.iter().map(member).collect())
        }
        other => other.clone(),
    }
}

/// Returns the dangling references of a schema, with their locations, which start with `prefix`.
pub(super) fn dangling_references(schema: &Value, prefix: &str) -> Vec<(String, String)> {
    let mut dangling = Vec::new();
    let mut pending = vec![(prefix.to_owned(), schema)];
    while let Some((pointer, part)) = pending.pop() {
        match part {
            Value::Array(items) => {
                pending.extend(
                    items.iter().enumerate().map(|(index, item)| (format!("{pointer}/{index}"), item)),
                );
            }
            Value::Object(members) => {
                for (key, value) in members {
                    let pointer = child(&pointer, key);
                    match value {
                        Value::String(text) if key == "$ref" => {
                            let target = text.strip_prefix('#').map(|target| {
                                normalize(&percent_decode(target).unwrap_or_else(|| target.to_owned()))
                            });
                            if target.is_some_and(|target| schema.pointer(&target).is_none()) {
                                dangling.push((pointer, text.clone()));
                            }
                        }
                        Value::Object(by_name) if SCHEMA_MAPS.contains(&key.as_str()) => {
                            pending
                                .extend(by_name.iter().map(|(name, schema)| (child(&pointer, name), schema)));
                        }
                        _ if DATA.contains(&key.as_str()) => {}
                        _ => pending.push((pointer, value)),
                    }
                }
            }
            _ => {}
        }
    }
    dangling.sort();
    dangling
}

fn references(schema: &Value) -> Vec<String> {
    let mut references = Vec::new();
    map_references(schema, &mut |text| {
        references.push(text.to_owned());
        None
    });
    references
}

fn without_defs(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(members) = &mut schema {
        DEFS.iter().for_each(|key| drop(members.shift_remove(*key)));
    }
    schema
}

fn with_hash(name: &str, seed: &str) -> String {
    let digest = sha256(seed.as_bytes());
    format!("{name}_{}", digest.get(..8).unwrap_or(&digest))
}

/// Returns the normal form of a pointer. Without it, a server could refer to one key with many `~`, each escaped or
/// not, by any number of pointers, each of which would be a separate schema.
fn normalize(pointer: &str) -> String {
    let Some(tokens) = pointer.strip_prefix('/') else { return pointer.to_owned() };
    tokens.split('/').fold(String::new(), |normal, token| child(&normal, &token_of(token)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_referenced_location_gets_a_name() {
        let schema = json!({
            "type": "object",
            "properties": {
                "from": {"type": "object", "properties": {"x": {"type": "integer"}}},
                "to": {"$ref": "#/properties/from"},
                "next": {"$ref": "#"},
                "pair": {"$ref": "#/$defs/Pair%3Cint%3E"},
                "out": {"$ref": "https://example.com/schema"},
                "nowhere": {"$ref": "#/$defs/Nothing"},
                "default": {"$ref": "#/properties/from"},
            },
            "$defs": {"Pair<int>": {"items": {"$ref": "#/properties/from/properties/x"}, "default": {"$ref": "#"}}},
        });
        let document = BundledSchema::of(&schema).into_document();
        let properties = &document["properties"];
        assert_eq!(properties["to"], json!({"$ref": "#/$defs/from"}));
        assert_eq!(properties["next"], json!({"$ref": "#/$defs/arguments"}));
        assert_eq!(properties["pair"], json!({"$ref": "#/$defs/Pair_int_"}));
        assert_eq!(properties["default"], json!({"$ref": "#/$defs/from"}));
        assert_eq!(properties["out"], json!({"$ref": "https://example.com/schema"}));
        assert_eq!(properties["nowhere"], json!({"$ref": "#/$defs/Nothing"}));
        let defs = document["$defs"].as_object().unwrap();
        assert_eq!(defs.keys().collect::<Vec<_>>(), ["Pair_int_", "arguments", "from", "from_x"]);
        assert_eq!(defs["Pair_int_"], json!({"items": {"$ref": "#/$defs/from_x"}, "default": {"$ref": "#"}}));
        assert_eq!(defs["arguments"]["properties"]["next"], json!({"$ref": "#/$defs/arguments"}));
    }

    #[test]
    fn different_schemas_of_one_name_get_separate_names() {
        let bundle = |size: i32| {
            let defs = json!({
                "Same": {"type": "string"}, "Page": {"maximum": size}, "List": {"items": {"$ref": "#/$defs/Page"}}
            });
            BundledSchema::of(&json!({"$ref": "#/$defs/List", "$defs": defs}))
        };
        let mut schemas = vec![("a".to_owned(), bundle(1)), ("b".to_owned(), bundle(2))];
        rename_conflicts(&mut schemas);
        let names = |index: usize| schemas[index].1.defs.keys().cloned().collect::<Vec<_>>();
        let shared: Vec<String> = names(0).into_iter().filter(|name| names(1).contains(name)).collect();
        assert_eq!(shared, ["Same"]);
        let (list, page) = (with_hash("List", "a"), with_hash("Page", "a"));
        assert_eq!(schemas[0].1.root, json!({"$ref": format!("#/$defs/{list}")}));
        assert_eq!(schemas[0].1.defs[&list], json!({"items": {"$ref": format!("#/$defs/{page}")}}));
    }

    #[test]
    fn equivalent_pointers_share_a_name() {
        let schema = json!({
            "properties": {"~~": {"type": "string"}, "a": {"$ref": "#/properties/~~"}, "b": {"$ref": "#/properties/~0~"},
                           "c": {"$ref": "#/properties/~0~0"}},
        });
        let bundle = BundledSchema::of(&schema);
        assert_eq!(bundle.defs.len(), 1, "{:?}", bundle.defs);
        assert_eq!(bundle.root["properties"]["a"], bundle.root["properties"]["c"]);
    }

    #[test]
    fn late_difference_is_found_quickly() {
        // In the order of their names, each schema is found to be different after the one before it.
        let bundle = |leaf: &str| {
            let chain = (0..3000)
                .map(|index| (format!("c{index:04}"), json!({"$ref": format!("#/$defs/c{:04}", index + 1)})));
            let mut defs: Map<String, Value> = chain.collect();
            defs.insert("c3000".to_owned(), json!({"type": leaf}));
            BundledSchema::of(&json!({"$ref": "#/$defs/c0000", "$defs": defs}))
        };
        let mut schemas = vec![("a".to_owned(), bundle("string")), ("b".to_owned(), bundle("integer"))];
        let started = std::time::Instant::now();
        rename_conflicts(&mut schemas);
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
        assert!(schemas[0].1.defs.keys().all(|name| !schemas[1].1.defs.contains_key(name)));
    }
}
