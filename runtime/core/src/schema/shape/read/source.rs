//! The sources of schemas: the rules of their format, and what a document knows about its references.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::ReadProblem;

/// The rules a schema is written by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaVersion {
    /// Strict JSON Schema 2020-12, with the names of earlier drafts. References are to `$defs`.
    JsonSchema,
    /// Swagger 2.0: as OpenAPI 3.0, with `x-nullable` and the type `file`.
    Swagger2,
    /// OpenAPI 3.0: only annotations count next to a reference; `nullable`, `example`.
    OpenApi30,
    /// OpenAPI 3.1 and later.
    OpenApi31,
}

impl SchemaVersion {
    /// Whether these are the rules of API descriptions, which mix versions and have small mistakes: numbers written as
    /// texts, empty lists for empty objects. What is plainly meant is accepted silently,
    /// `allOf` is written out, and examples, defaults and titles are kept where they help a model.
    pub(super) fn is_openapi(self) -> bool {
        self != SchemaVersion::JsonSchema
    }
}

/// The nesting around the schema being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nesting {
    /// The number of open schemas, one inside another.
    pub schemas: usize,
    /// The number of nested fields being merged.
    pub merges: usize,
}

/// The place of a schema.
#[derive(Clone, Debug, Default)]
pub struct SchemaLocation {
    /// Its JSON pointer, the prefix of the pointers of problems.
    pub pointer: String,
    /// The nesting around it.
    pub nesting: Nesting,
}

/// A document of schemas, with everything that reading one of them needs from the whole. A source of plain JSON Schema
/// reports problems and leaves the rest unchanged.
pub trait Source<'a> {
    /// Returns the rules its schemas are written by.
    fn rules(&self) -> SchemaVersion {
        SchemaVersion::JsonSchema
    }

    /// Reports a problem.
    fn report(&mut self, problem: ReadProblem);

    /// Returns the text of a number or a boolean at a place as the document writes it, if its value prints otherwise:
    /// `1.10` for the number 1.1.
    fn written(&self, value: &Value, pointer: &str) -> Option<String> {
        let _ = (value, pointer);
        None
    }

    /// Returns the name under `$defs` of a reference's target, or `None` after reporting that there is none.
    fn name_of(&mut self, reference: &'a str, pointer: &str) -> Option<String> {
        let _ = (reference, pointer);
        None
    }

    /// Returns the normal form of a named schema, to be merged with its extensions, or `None` if it is being read, is
    /// not an object, or would nest too deep.
    fn named_schema(&mut self, name: &str, nesting: Nesting) -> Option<Map<String, Value>> {
        let _ = (name, nesting);
        None
    }

    /// Returns `readOnly` or `writeOnly` if a named schema says so itself: this applies to what refers to it, too.
    fn one_way(&self, name: &str) -> Option<&'static str> {
        let _ = name;
        None
    }

    /// Whether the schema at a place is one of those that a reference to its base stands for. If it refers to the base, the
    /// base itself is meant, and not any of them.
    fn is_heir(&self, pointer: &str) -> bool {
        let _ = pointer;
        false
    }

    /// Returns the types that the values of a named schema have, as far as it is known without reading it.
    fn types_of(&self, name: &str) -> Option<Vec<&'static str>> {
        let _ = name;
        None
    }

    /// Whether a named schema is being read.
    fn is_open(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// Returns the normal form of a discriminator for the union of these schemas, which have these normal forms and
    /// are in the schema at a place.
    fn discriminator(
        &mut self,
        given: &'a Value,
        union: &'a [Value],
        variants: &[Value],
        pointer: &str,
    ) -> Option<Value> {
        let _ = (given, union, variants, pointer);
        None
    }

    /// Returns the keys a model sees for the keys of an object, if some of them differ. A renamed field keeps its own
    /// key as `x-wire`.
    fn keys<'k>(&self, keys: &mut dyn Iterator<Item = &'k str>) -> BTreeMap<&'k str, String> {
        let _ = keys;
        BTreeMap::new()
    }
}

/// A schema on its own.
pub(super) struct Plain<'p> {
    pub(super) problems: &'p mut Vec<ReadProblem>,
}

impl Source<'_> for Plain<'_> {
    fn report(&mut self, problem: ReadProblem) {
        self.problems.push(problem);
    }
}
