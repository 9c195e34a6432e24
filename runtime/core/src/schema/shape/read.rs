//! Reads JSON Schema into a [`Shape`].
//!
//! Reading has two steps:
//!
//! 1. **Normal form** ([`normal_form`]): a schema as its author wrote it becomes JSON Schema 2020-12 with known
//!    keywords and well-formed values. All tolerance is in this step, and so are the rules of document formats
//!    ([`SchemaVersion`]). Malformed parts are dropped with a [`ReadProblem`].
//! 2. **Shape** ([`read_normal_form`]): the normal form becomes the tree. The canonical text in generated code is
//!    also in normal form.
//!
//! Details:
//!
//! - `type` arrays, `anyOf [X, null]`, `null` in `enum` and OpenAPI's `nullable: true` all become
//!   [`Shape::nullable`].
//! - Obvious intentions count: `properties` without `type` describe an object, `minLength` a string, and so on.
//! - Annotations next to `$ref`, `allOf` and unions belong to the shape as a whole; rules next to them become
//!   [`Kind::All`](super::Kind::All). A keyword that the tree cannot represent is kept as
//!   [`Kind::Raw`](super::Kind::Raw).
//! - `title` replaces a missing `description` if it has more than one word and is not just the name of the field;
//!   most titles are generated and add nothing.
//! - `title` is also kept in the shape ([`Title`](super::Title)): it may name the type of the values, and is not
//!   shown.
//! - `x-enum-varnames` and similar are kept as [`Choices`](super::Choices), and the description states the meanings
//!   of the values.
//! - Hidden characters are removed from descriptions; those of OpenAPI documents become plain Markdown ([`plain_markdown`]).
//! - `$schema`, `$id`, `$comment`, `xml`, unknown keywords and `x-…` are ignored, except `x-wire` and `x-aliases`,
//!   see [`Field`](super::Field).

mod build;
mod description;
mod normal;
mod source;

use serde_json::Value;

pub(super) use build::{is_natural_all, is_natural_raw, is_natural_union, raw_keyword_is_well_formed};
pub use description::plain_markdown;
pub use normal::{examples, name_values, normal_form, types_taken};
pub use source::{Nesting, SchemaLocation, SchemaVersion, Source};

use super::{Def, Shape};
use crate::base::frozen::List;

/// The key of a title in the normal form of OpenAPI documents. Titles describe only variants there.
const TITLE: &str = "x-title";

/// The key of the names of values in the normal form of OpenAPI documents:
/// `{name, values: [{value, name, description}]}`.
const CHOICES: &str = "x-choices";

/// Maximum nesting of schemas, and of values in a schema. No document in use comes near it, and the canonical text of
/// a shape must stay within the 128 levels of JSON parsers.
const MAX_DEPTH: usize = 40;

/// A problem in a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadProblem {
    /// The JSON pointer to the malformed keyword.
    pub pointer: String,
    /// The kind of problem.
    pub kind: ReadProblemKind,
    /// What is wrong, and how the schema is read.
    pub message: String,
}

/// The kinds of [`ReadProblem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadProblemKind {
    /// A value is in the place of a schema and is not a schema.
    NotASchema,
    /// A keyword has an invalid or unsupported value.
    Keyword,
    /// A keyword has the form of an earlier draft, and is read accordingly.
    Draft,
    /// `type` names an unknown type.
    Type,
    /// A pattern is not a regular expression, and is dropped.
    Pattern,
    /// A pattern is a regular expression of another dialect than ECMA-262. It is shown, but not checked.
    PatternDialect,
    /// A pattern repeats too much to be matched. It is shown, but not checked.
    PatternUnchecked,
    /// A default is invalid under its schema.
    Default,
    /// A reference does not name a schema under `$defs`.
    Reference,
    /// Enumerated values and the rules next to them contradict each other.
    Values,
    /// Names or meanings do not match the enumerated values. They are ignored.
    Names,
    /// Schemas or values are nested too deep.
    Depth,
}

/// Reads a JSON Schema 2020-12 whose references are `#/$defs/NAME` (`#/definitions/NAME` is also accepted).
///
/// Never fails: malformed parts are ignored with a problem, and unknown rules are kept as
/// [`Kind::Raw`](super::Kind::Raw).
#[must_use]
pub fn read(schema: &Value, problems: &mut Vec<ReadProblem>) -> Shape {
    read_at(schema, String::new(), problems)
}

fn read_at(schema: &Value, pointer: String, problems: &mut Vec<ReadProblem>) -> Shape {
    let location = SchemaLocation { pointer, ..SchemaLocation::default() };
    let normal = normal_form(schema, location.clone(), &mut source::Plain { problems });
    build::shape(&normal, location.pointer, "", problems)
}

/// Reads a whole document: a schema, and the named schemas in its `$defs` and `definitions`, sorted by name. If both
/// contain a name, the schema in `$defs` is used.
#[must_use]
pub fn read_document(schema: &Value, problems: &mut Vec<ReadProblem>) -> (Shape, List<Def>) {
    let shape = read(schema, problems);
    let mut defs: Vec<Def> = Vec::new();
    for keyword in ["$defs", "definitions"] {
        let Some(Value::Object(by_name)) = schema.get(keyword) else { continue };
        for (name, schema) in by_name {
            let mut pointer = format!("/{keyword}");
            super::pointer::push(&mut pointer, name);
            let shape = read_at(schema, pointer, problems);
            defs.push(Def { name: name.clone().into(), schema: shape.into() });
        }
    }
    defs.sort_by(|a, b| a.name.cmp(&b.name));
    defs.dedup_by(|later, first| later.name == first.name);
    (shape, defs.into())
}

/// Builds the shape of a schema in normal form, as [`normal_form`] returns it. `name` is the name of the field that
/// it describes, or empty. The remaining problems result from combining schemas: values that no part allows, and
/// nesting that became too deep.
#[must_use]
pub fn read_normal_form(schema: &Value, name: &str, problems: &mut Vec<ReadProblem>) -> Shape {
    build::shape(schema, String::new(), name, problems)
}

/// Returns the shape of the values that at least one of the shapes allows, in its simplest form: `null` is not a
/// variant, and a single shape is not a union. `None` if there are no shapes.
#[must_use]
pub fn any_of(shapes: Vec<Shape>) -> Option<Shape> {
    build::union(super::UnionMode::Any, shapes, None)
}

/// Reads the canonical text that generated code contains and `render::canonical` writes.
#[must_use]
pub fn read_canonical(schema: &Value) -> Shape {
    build::canonical(schema)
}

/// Reads a schema of a [`Kind::Raw`](super::Kind::Raw) literally: without `type`, it allows values of every type that
/// its keywords do not apply to.
#[must_use]
pub(super) fn read_condition(schema: &Value) -> Shape {
    build::condition(schema)
}

/// Whether a value is nested at most as deep as a limit.
fn within_depth(value: &Value, limit: usize) -> bool {
    match value {
        Value::Array(items) => limit > 0 && items.iter().all(|item| within_depth(item, limit - 1)),
        Value::Object(fields) => limit > 0 && fields.values().all(|field| within_depth(field, limit - 1)),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
