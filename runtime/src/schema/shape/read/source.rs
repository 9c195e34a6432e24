//! Where schemas come from: the rules of their format, and what a document knows of its references.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::ReadProblem;

/// The rules a schema is written by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// JSON Schema 2020-12 by the letter, with what earlier drafts called otherwise. References are to `$defs`.
    JsonSchema,
    /// OpenAPI 3.0: nothing counts beside a reference but remarks; `nullable`, `example`.
    OpenApi30,
    /// OpenAPI 3.1 and later.
    OpenApi31,
}

impl Rules {
    /// Published API descriptions mix versions and err in small ways: numbers written as texts, `required: true` in a
    /// field, empty lists for empty objects. What is plainly meant is taken without a word, `allOf` is written out,
    /// and examples, defaults and titles are kept where they tell a model something.
    pub(super) fn is_openapi(self) -> bool {
        self != Rules::JsonSchema
    }
}

/// How much is being read around a schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nesting {
    /// Schemas that are open, one inside another.
    pub schemas: usize,
    /// Fields in fields that are being merged.
    pub merges: usize,
}

/// Where a schema stands.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// Its JSON pointer, to which those of problems are added.
    pub pointer: String,
    /// What is being read around it.
    pub nesting: Nesting,
}

/// A document of schemas: what reading one of them asks of the whole. A source of plain JSON Schema reports problems
/// and leaves the rest as it is.
pub trait Source<'a> {
    /// The rules its schemas are written by.
    fn rules(&self) -> Rules {
        Rules::JsonSchema
    }

    /// Takes a problem.
    fn report(&mut self, problem: ReadProblem);

    /// The name under `$defs` of what a reference leads to. Nothing, once it is reported, if it leads nowhere.
    fn name_of(&mut self, reference: &'a str, pointer: &str) -> Option<String> {
        let _ = (reference, pointer);
        None
    }

    /// The normal form of a named schema, to be merged with what extends it. Nothing if it is being read, is no
    /// object, or would nest too deep.
    fn named(&mut self, name: &str, nesting: Nesting) -> Option<Map<String, Value>> {
        let _ = (name, nesting);
        None
    }

    /// Whether a named schema is being read.
    fn is_open(&self, name: &str) -> bool {
        let _ = name;
        false
    }

    /// The normal form of a discriminator: of the union of these schemas, which have these normal forms.
    fn discriminator(&mut self, given: &'a Value, union: &'a [Value], variants: &[Value]) -> Option<Value> {
        let _ = (given, union, variants);
        None
    }

    /// The keys a model sees for the keys of an object, where some of them differ. A field under another key has its
    /// own as `x-wire`.
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
