//! The named schemas of tools. Equal schemas are shared, and each is written once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::base::canonical::canonical;
use crate::base::frozen::List;
use crate::schema::shape::Def;
use crate::schema::shape::pointer::referenced;
use crate::schema::shape::read::read_canonical;
use crate::schema::shape::render::canonical::value;

/// A named schema, and the names that it refers to.
#[derive(Debug)]
pub(super) struct NamedSchema {
    pub(super) schema: Value,
    pub(super) names: Vec<String>,
}

/// Named schemas by their names.
pub(super) type Reached = BTreeMap<String, Arc<NamedSchema>>;

/// The named schemas of lists that tools share. Each list is rendered once. Lists are identified by their addresses,
/// so they are borrowed.
#[derive(Default)]
pub(super) struct Lists<'a> {
    cache: Vec<(&'a [Def], Arc<Reached>)>,
}

impl<'a> Lists<'a> {
    /// Returns the schemas of a list.
    pub(super) fn of(&mut self, defs: &'a List<Def>) -> Arc<Reached> {
        // Consecutive tools usually belong to the same document.
        if let Some((_, known)) = self.cache.iter().rev().find(|(list, _)| std::ptr::eq(*list, &**defs)) {
            return Arc::clone(known);
        }
        let all = defs.iter().map(|def| (def.name.to_string(), named(value(&def.schema))));
        let all: Arc<Reached> = Arc::new(all.collect());
        self.cache.push((defs, Arc::clone(&all)));
        all
    }
}

/// Parses named schemas.
pub(super) fn read(members: &Map<String, Value>) -> Reached {
    members.iter().map(|(name, schema)| (name.clone(), named(schema.clone()))).collect()
}

fn named(schema: Value) -> Arc<NamedSchema> {
    let mut names = Vec::new();
    references(&schema, &mut names);
    names.sort();
    names.dedup();
    Arc::new(NamedSchema { schema, names })
}

/// Collects the names that a schema refers to, including references in a schema that is stored as a string. False
/// positives are harmless.
pub(super) fn references(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(text) => names.extend(referenced(text)),
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        Value::Object(members) => {
            for (key, value) in members {
                match value.as_str().filter(|_| key == "x-raw").map(serde_json::from_str::<Value>) {
                    Some(Ok(raw)) => references(&raw, names),
                    _ => references(value, names),
                }
            }
        }
        _ => {}
    }
}

/// Returns the schemas that a value refers to, directly or indirectly.
pub(super) fn reached(value: &Value, all: &Reached) -> Reached {
    followed(value, all).0
}

/// Returns the names that a value refers to, directly or indirectly, and that no schema has.
pub(super) fn missing(value: &Value, all: &Reached) -> BTreeSet<String> {
    followed(value, all).1
}

fn followed(value: &Value, all: &Reached) -> (Reached, BTreeSet<String>) {
    let (mut reached, mut missing) = (Reached::new(), BTreeSet::new());
    let mut open = Vec::new();
    references(value, &mut open);
    while let Some(name) = open.pop() {
        match all.get(&name) {
            None => drop(missing.insert(name)),
            Some(_) if reached.contains_key(&name) => {}
            Some(found) => {
                open.extend(found.names.iter().cloned());
                reached.insert(name, Arc::clone(found));
            }
        }
    }
    (reached, missing)
}

pub(super) fn same(left: &Arc<NamedSchema>, right: &Arc<NamedSchema>) -> bool {
    Arc::ptr_eq(left, right) || left.schema == right.schema
}

/// Returns the shared schemas of all tools. Of different schemas with the same name, the one that most tools use is
/// chosen; if several are used equally often, the one whose JSON sorts first.
pub(super) fn shared<'a>(all: impl Iterator<Item = &'a Reached>) -> Reached {
    let mut versions: BTreeMap<&str, Vec<(&Arc<NamedSchema>, usize)>> = BTreeMap::new();
    for (name, schema) in all.flatten() {
        let known = versions.entry(name).or_default();
        match known.iter_mut().find(|(one, _)| same(one, schema)) {
            Some((_, count)) => *count += 1,
            None => known.push((schema, 1)),
        }
    }
    let max = |mut versions: Vec<(&Arc<NamedSchema>, usize)>| {
        if versions.len() > 1 {
            versions.sort_by_cached_key(|(one, count)| (usize::MAX - count, canonical(&one.schema)));
        }
        versions.into_iter().next().map(|(one, _)| Arc::clone(one))
    };
    versions.into_iter().filter_map(|(name, versions)| Some((name.to_owned(), max(versions)?))).collect()
}

/// Returns the schemas of a tool that differ from the shared ones.
pub(super) fn unshared(by_name: &Reached, shared: &Reached) -> Reached {
    let is_shared = |name: &str, schema| shared.get(name).is_some_and(|one| same(one, schema));
    let own = by_name.iter().filter(|(name, schema)| !is_shared(name, schema));
    own.map(|(name, schema)| (name.clone(), Arc::clone(schema))).collect()
}

/// Returns the schemas as an object.
pub(super) fn written(by_name: &Reached) -> Value {
    by_name.iter().map(|(name, one)| (name.clone(), one.schema.clone())).collect()
}

/// Returns the schemas as shapes.
pub(super) fn defs(by_name: &Reached) -> List<Def> {
    let def = |(name, one): (&String, &Arc<NamedSchema>)| Def {
        name: name.clone().into(),
        schema: read_canonical(&one.schema).into(),
    };
    by_name.iter().map(def).collect()
}
