//! The sources of schemas: the rules of their format, and what a document knows about its references.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::ReadProblem;

/// The version of the format of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaVersion {
    /// Strict JSON Schema 2020-12; the keywords of earlier drafts are accepted. References point to `$defs`.
    JsonSchema,
    /// Swagger 2.0: like OpenAPI 3.0, with `x-nullable` and the type `file`.
    Swagger2,
    /// OpenAPI 3.0: `nullable` and `example`; next to a reference, only annotations apply.
    OpenApi30,
    /// OpenAPI 3.1 and later.
    OpenApi31,
}

impl SchemaVersion {
    /// Whether this is the format of an API description. Such documents mix versions and have small errors, such as
    /// numbers written as strings, or empty arrays for empty objects. Obvious intentions are accepted silently,
    /// `allOf` is merged, and examples, defaults and titles are kept if they help a model.
    pub(super) fn is_openapi(self) -> bool {
        self != SchemaVersion::JsonSchema
    }
}

/// The nesting of the schema that is being read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Nesting {
    /// The number of enclosing schemas.
    pub schemas: usize,
    /// The number of nested fields that are being merged.
    pub merges: usize,
}

/// The location of a schema.
#[derive(Clone, Debug, Default)]
pub struct SchemaLocation {
    /// Its JSON pointer, which is the prefix of the pointers of problems.
    pub pointer: String,
    /// The nesting around it.
    pub nesting: Nesting,
}

/// A document with schemas. It provides the information about the document that reading a schema requires. A source
/// of plain JSON Schema only reports problems.
pub trait Source<'a> {
    /// Returns the version of the schemas' format.
    fn rules(&self) -> SchemaVersion {
        SchemaVersion::JsonSchema
    }

    /// Reports a problem.
    fn report(&mut self, problem: ReadProblem);

    /// Returns the source text of a number or a boolean at a location, if it differs from the formatted value: `1.10`
    /// for the number 1.1.
    fn written(&self, value: &Value, pointer: &str) -> Option<String> {
        let _ = (value, pointer);
        None
    }

    /// Returns the name under `$defs` of a reference's target. If there is none, reports a problem and returns
    /// `None`.
    fn name_of(&mut self, reference: &'a str, pointer: &str) -> Option<String> {
        let _ = (reference, pointer);
        None
    }

    /// Returns the normal form of a named schema, to be merged with its extensions. `None` if it is being read, is
    /// not an object, or would be nested too deeply.
    fn named_schema(&mut self, name: &str, nesting: Nesting) -> Option<Map<String, Value>> {
        let _ = (name, nesting);
        None
    }

    /// Returns `readOnly` or `writeOnly` if a named schema declares it: it also applies to references to the schema.
    fn access_keyword(&self, name: &str) -> Option<&'static str> {
        let _ = name;
        None
    }

    /// Whether the schema at a location is one of the variants that replace references to its base. A reference to
    /// the base from such a schema means the base itself, not its variants.
    fn is_heir(&self, pointer: &str) -> bool {
        let _ = pointer;
        false
    }

    /// Returns the types of a named schema's values, if they are known without reading the schema.
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
    /// are in the schema at a location.
    fn discriminator(
        &mut self,
        discriminator: &'a Value,
        union: &'a [Value],
        variants: &[Value],
        pointer: &str,
    ) -> Option<Value> {
        let _ = (discriminator, union, variants, pointer);
        None
    }

    /// Returns the keys that a model sees for the keys of an object, if some of them differ. A renamed field keeps
    /// its original key as `x-wire`.
    fn keys<'k>(&self, keys: &mut dyn Iterator<Item = &'k str>) -> BTreeMap<&'k str, String> {
        let _ = keys;
        BTreeMap::new()
    }
}

/// A schema without a document.
pub(super) struct Plain<'p> {
    pub(super) problems: &'p mut Vec<ReadProblem>,
}

impl Source<'_> for Plain<'_> {
    fn report(&mut self, problem: ReadProblem) {
        self.problems.push(problem);
    }
}
