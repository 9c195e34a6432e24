//! Reads JSON Schema into a [`Shape`].
//!
//! Reading has two steps, each with one job:
//!
//! 1. **Normal form** ([`normal_form`]): a schema as its author wrote it becomes JSON Schema 2020-12 with known
//!    keywords and values of the right kind. All tolerance is here, and so are the rules of the formats that schemas
//!    come in ([`SchemaVersion`]). Malformed parts are left out with a [`ReadProblem`].
//! 2. **Shape** ([`read_normal_form`]): the normal form becomes the tree. The canonical text that generated code holds
//!    is in normal form, too.
//!
//! Rules worth knowing:
//!
//! - `type` lists, `anyOf [X, null]`, `null` in `enum` and OpenAPI's `nullable: true` all become [`Shape::nullable`].
//! - What authors plainly mean counts as written: `properties` without `type` describe an object, `minLength` a text,
//!   and so on.
//! - Annotations next to `$ref`, `allOf` and unions belong to the shape as a whole; rules next to them become
//!   [`Kind::All`](super::Kind::All). A keyword the tree has no form for is kept as [`Kind::Raw`](super::Kind::Raw).
//! - `title` stands in for a missing `description` if it is more than one word and not merely the name of the field;
//!   most titles are generated and say nothing.
//! - `title` is kept next to the shape ([`Title`](super::Title)): it may name the type of the values, and is not shown.
//! - `x-enum-varnames` and the like are kept as [`Choices`](super::Choices), and what values mean is said in the
//!   description.
//! - Descriptions lose hidden characters; those of OpenAPI documents become plain Markdown, too ([`description()`]).
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

/// The key of a title in the normal form of OpenAPI documents, whose titles describe nothing but variants.
const TITLE: &str = "x-title";

/// The key of the names of values in the normal form of OpenAPI documents:
/// `{name, values: [{value, name, description}]}`.
const CHOICES: &str = "x-choices";

/// The maximum nesting, both of schemas and of values in a schema. No document in use comes near it, and the canonical
/// text of a shape must stay within the 128 levels that JSON readers allow.
const MAX_DEPTH: usize = 40;

/// A problem found while reading a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadProblem {
    /// The place, as a JSON pointer to the malformed keyword, if there is one.
    pub pointer: String,
    /// The kind of problem.
    pub kind: ReadProblemKind,
    /// What is wrong and what was done about it.
    pub message: String,
}

/// The kinds of [`ReadProblem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadProblemKind {
    /// A value that is not a schema is in the place of one.
    NotASchema,
    /// A keyword has a value it cannot have, or one that cannot be followed.
    Keyword,
    /// A keyword has the form of an earlier draft, and is read as it is meant there.
    Draft,
    /// `type` names an unknown type.
    Type,
    /// A pattern is not a regular expression, and is left out.
    Pattern,
    /// A pattern is a regular expression of a dialect other than ECMA-262: it is shown, but not checked.
    PatternDialect,
    /// A pattern repeats too much to be tried on texts: it is shown, but not checked.
    PatternUntried,
    /// A default is not a value the schema allows.
    Default,
    /// A reference does not name a schema under `$defs`.
    Reference,
    /// Listed values and the rules next to them contradict one another.
    Values,
    /// The names or meanings of values do not fit the values; the values' own names are used.
    Names,
    /// Schemas or values are nested too deep.
    Depth,
}

/// Reads a JSON Schema 2020-12 whose references are `#/$defs/NAME` (`#/definitions/NAME` is understood too).
///
/// Never fails: malformed parts are ignored with a problem, unknown rules are kept as [`Kind::Raw`](super::Kind::Raw).
#[must_use]
pub fn read(schema: &Value, problems: &mut Vec<ReadProblem>) -> Shape {
    read_at(schema, String::new(), problems)
}

fn read_at(schema: &Value, pointer: String, problems: &mut Vec<ReadProblem>) -> Shape {
    let location = SchemaLocation { pointer, ..SchemaLocation::default() };
    let normal = normal_form(schema, location.clone(), &mut source::Plain { problems });
    build::shape(&normal, location.pointer, "", problems)
}

/// Reads a whole document: a schema and the named schemas in its `$defs` and `definitions`, sorted by name.
/// A name in both is read from `$defs`.
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

/// Builds the shape of a schema in normal form, as [`normal_form`] returns it. `name` is that of the field it
/// describes, or empty. Remaining problems come from combining schemas: values that no part allows, and nesting that
/// became too deep.
#[must_use]
pub fn read_normal_form(schema: &Value, name: &str, problems: &mut Vec<ReadProblem>) -> Shape {
    build::shape(schema, String::new(), name, problems)
}

/// Returns the shape of the values that at least one of the shapes allows, in its simplest form: `null` is not a
/// variant, and a single shape is itself. `None` without shapes.
#[must_use]
pub fn any_of(shapes: Vec<Shape>) -> Option<Shape> {
    build::union(super::UnionMode::Any, shapes, None)
}

/// Reads the text form that generated code holds, as [`canonical`](super::render::canonical) writes it.
#[must_use]
pub fn read_canonical(schema: &Value) -> Shape {
    build::canonical(schema)
}

/// Reads a schema of a [`Kind::Raw`](super::Kind::Raw), to the letter: without `type` it allows values of every type
/// that its other keywords do not apply to.
#[must_use]
pub(super) fn read_condition(schema: &Value) -> Shape {
    build::condition(schema)
}

/// Whether a value is nested no deeper than a limit.
fn within_depth(value: &Value, limit: usize) -> bool {
    match value {
        Value::Array(items) => limit > 0 && items.iter().all(|item| within_depth(item, limit - 1)),
        Value::Object(fields) => limit > 0 && fields.values().all(|field| within_depth(field, limit - 1)),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
