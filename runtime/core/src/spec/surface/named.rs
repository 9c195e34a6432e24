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
pub(super) type NamedSchemas = BTreeMap<String, Arc<NamedSchema>>;

/// The named schemas of lists that tools share, each rendered once. Lists are identified by their addresses, so they
/// are borrowed.
#[derive(Default)]
pub(super) struct SchemaCache<'a> {
    cache: Vec<(&'a [Def], Arc<NamedSchemas>)>,
}

impl<'a> SchemaCache<'a> {
    /// Returns the schemas of a list.
    pub(super) fn of(&mut self, defs: &'a List<Def>) -> Arc<NamedSchemas> {
        // Consecutive tools usually belong to the same document.
        if let Some((_, schemas)) = self.cache.iter().rev().find(|(list, _)| std::ptr::eq(*list, &**defs)) {
            return Arc::clone(schemas);
        }
        let schemas = defs.iter().map(|def| (def.name.to_string(), named_schema(value(&def.schema))));
        let schemas: Arc<NamedSchemas> = Arc::new(schemas.collect());
        self.cache.push((defs, Arc::clone(&schemas)));
        schemas
    }
}

/// Parses named schemas.
pub(super) fn read(members: &Map<String, Value>) -> NamedSchemas {
    members.iter().map(|(name, schema)| (name.clone(), named_schema(schema.clone()))).collect()
}

fn named_schema(schema: Value) -> Arc<NamedSchema> {
    let mut names = Vec::new();
    collect_references(&schema, &mut names);
    names.sort();
    names.dedup();
    Arc::new(NamedSchema { schema, names })
}

/// Collects the names that a schema refers to, including references in a schema that is stored as a string. False
/// positives are harmless.
pub(super) fn collect_references(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::String(text) => names.extend(referenced(text)),
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, names)),
        Value::Object(members) => {
            for (key, value) in members {
                match value.as_str().filter(|_| key == "x-raw").map(serde_json::from_str::<Value>) {
                    Some(Ok(raw)) => collect_references(&raw, names),
                    _ => collect_references(value, names),
                }
            }
        }
        _ => {}
    }
}

/// Returns the schemas that a value refers to, directly or indirectly.
pub(super) fn reachable_schemas(value: &Value, all: &NamedSchemas) -> NamedSchemas {
    follow_references(value, all).0
}

/// Returns the names without a schema that a value refers to, directly or indirectly.
pub(super) fn missing_names(value: &Value, all: &NamedSchemas) -> BTreeSet<String> {
    follow_references(value, all).1
}

fn follow_references(value: &Value, all: &NamedSchemas) -> (NamedSchemas, BTreeSet<String>) {
    let (mut reachable, mut missing) = (NamedSchemas::new(), BTreeSet::new());
    let mut pending = Vec::new();
    collect_references(value, &mut pending);
    while let Some(name) = pending.pop() {
        match all.get(&name) {
            None => drop(missing.insert(name)),
            Some(_) if reachable.contains_key(&name) => {}
            Some(schema) => {
                pending.extend(schema.names.iter().cloned());
                reachable.insert(name, Arc::clone(schema));
            }
        }
    }
    (reachable, missing)
}

pub(super) fn is_same(left: &Arc<NamedSchema>, right: &Arc<NamedSchema>) -> bool {
    Arc::ptr_eq(left, right) || left.schema == right.schema
}

/// Returns the shared schemas of all tools. Of different schemas with the same name, it chooses the schema that most
/// tools use; if several are used equally often, it chooses the schema whose JSON sorts first.
pub(super) fn shared_schemas<'a>(named_schemas: impl Iterator<Item = &'a NamedSchemas>) -> NamedSchemas {
    let mut versions: BTreeMap<&str, Vec<(&Arc<NamedSchema>, usize)>> = BTreeMap::new();
    for (name, schema) in named_schemas.flatten() {
        let counts = versions.entry(name).or_default();
        match counts.iter_mut().find(|(version, _)| is_same(version, schema)) {
            Some((_, count)) => *count += 1,
            None => counts.push((schema, 1)),
        }
    }
    let most_used = |mut versions: Vec<(&Arc<NamedSchema>, usize)>| {
        if versions.len() > 1 {
            versions.sort_by_cached_key(|(version, count)| (usize::MAX - count, canonical(&version.schema)));
        }
        versions.into_iter().next().map(|(version, _)| Arc::clone(version))
    };
    versions
        .into_iter()
        .filter_map(|(name, versions)| Some((name.to_owned(), most_used(versions)?)))
        .collect()
}

/// Returns the schemas of a tool that differ from the shared ones.
pub(super) fn unshared_schemas(schemas: &NamedSchemas, shared: &NamedSchemas) -> NamedSchemas {
    let is_shared = |name: &str, schema| shared.get(name).is_some_and(|other| is_same(other, schema));
    let unshared = schemas.iter().filter(|(name, schema)| !is_shared(name, schema));
    unshared.map(|(name, schema)| (name.clone(), Arc::clone(schema))).collect()
}

/// Returns the schemas as an object.
pub(super) fn schemas_to_json(schemas: &NamedSchemas) -> Value {
    schemas.iter().map(|(name, named)| (name.clone(), named.schema.clone())).collect()
}

/// Returns the schemas as shapes.
pub(super) fn defs(schemas: &NamedSchemas) -> List<Def> {
    let def = |(name, named): (&String, &Arc<NamedSchema>)| Def {
        name: name.clone().into(),
        schema: read_canonical(&named.schema).into(),
    };
    schemas.iter().map(def).collect()
}
