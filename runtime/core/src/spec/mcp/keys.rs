//! Parses schemas of descriptors, with object keys that every vendor accepts.
//!
//! A field with a changed key keeps its original key for the wire, see [`Field`](crate::schema::shape::Field).

use std::cell::Cell;
use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::base::sha256::sha256;
use crate::schema::shape::pointer::referenced;
use crate::schema::shape::read::{
    ReadProblem, SchemaLocation, Source, normal_form, read_normal_form, types_taken,
};
use crate::schema::shape::{Def, Shape};

/// Maximum length of a key, in bytes.
const MAX_KEY: usize = 64;

/// Maximum number of schemas that are visited to find the types of a schema.
const MAX_VISITED: usize = 500;

/// A standalone schema whose keys are made portable.
struct Keys<'p, 'd> {
    problems: &'p mut Vec<ReadProblem>,
    /// The schemas in its `$defs`.
    defs: Option<&'d Map<String, Value>>,
}

impl Keys<'_, '_> {
    fn types_at(&self, name: &str, remaining: &Cell<usize>) -> Option<Vec<&'static str>> {
        let target = |text: &str| self.types_at(&referenced(text)?, remaining);
        types_taken(self.defs?.get(name)?, &target, remaining)
    }
}

impl Source<'_> for Keys<'_, '_> {
    fn types_of(&self, name: &str) -> Option<Vec<&'static str>> {
        self.types_at(name, &Cell::new(MAX_VISITED))
    }

    fn report(&mut self, problem: ReadProblem) {
        self.problems.push(problem);
    }

    fn keys<'k>(&self, keys: &mut dyn Iterator<Item = &'k str>) -> BTreeMap<&'k str, String> {
        portable_keys(&keys.collect::<Vec<_>>())
    }
}

/// Parses a schema and the schemas in its `$defs`. Locations start with `prefix`.
pub(super) fn read(schema: &Value, prefix: &str, problems: &mut Vec<ReadProblem>) -> (Shape, Vec<Def>) {
    let by_name = schema.get("$defs").and_then(Value::as_object);
    let mut read_shape = |schema: &Value, pointer: String| {
        let location = SchemaLocation { pointer, ..SchemaLocation::default() };
        let normal = normal_form(schema, location, &mut Keys { problems: &mut *problems, defs: by_name });
        read_normal_form(&normal, "", problems)
    };
    let root = read_shape(schema, prefix.to_owned());
    let by_name = by_name.into_iter().flat_map(Map::iter);
    let defs = by_name.map(|(name, schema)| Def {
        name: name.clone().into(),
        schema: read_shape(schema, format!("{prefix}/$defs/{name}")).into(),
    });
    (root, defs.collect())
}

/// Returns a key that every vendor accepts for each key of an object: `^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`. Valid keys are
/// not changed; if changed keys collide, digits distinguish them.
fn portable_keys<'k>(keys: &[&'k str]) -> BTreeMap<&'k str, String> {
    let identifiers: Vec<String> = keys.iter().map(|key| to_identifier(key)).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    identifiers.iter().for_each(|identifier| *counts.entry(identifier).or_default() += 1);
    let pairs = keys.iter().zip(&identifiers).map(|(key, identifier)| {
        let is_unique = counts.get(identifier.as_str()) == Some(&1);
        let is_valid = identifier.len() <= MAX_KEY && (is_unique || identifier == key);
        (*key, if is_valid { identifier.clone() } else { with_hash(identifier, key) })
    });
    pairs.collect()
}

fn to_identifier(key: &str) -> String {
    let mut identifier: String = key
        .chars()
        .map(|char| if char.is_ascii_alphanumeric() || char == '_' { char } else { '_' })
        .collect();
    if !identifier.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        identifier.insert(0, '_');
    }
    identifier
}

fn with_hash(identifier: &str, key: &str) -> String {
    let digest = sha256(key.as_bytes());
    let stem = identifier.get(..identifier.len().min(MAX_KEY - 9)).unwrap_or(identifier);
    format!("{stem}_{}", digest.get(..8).unwrap_or(&digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_valid_for_all_vendors() {
        let long = "x".repeat(70);
        let keys = portable_keys(&["id", "user-id", "a.b", "a b", "a_b", "2d", "", &long]);
        assert_eq!(
            (keys["id"].as_str(), keys["user-id"].as_str(), keys["a_b"].as_str()),
            ("id", "user_id", "a_b")
        );
        assert_eq!((keys["2d"].as_str(), keys[""].as_str(), keys[long.as_str()].len()), ("_2d", "_", 64));
        assert!(
            keys["a.b"].starts_with("a_b_") && keys["a b"].starts_with("a_b_") && keys["a.b"] != keys["a b"]
        );
    }

    #[test]
    fn many_keys_are_converted_quickly() {
        let keys: Vec<String> = (0..30_000).map(|index| format!("k.{index}")).collect();
        let started = std::time::Instant::now();
        assert_eq!(portable_keys(&keys.iter().map(String::as_str).collect::<Vec<_>>()).len(), keys.len());
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    }
}
