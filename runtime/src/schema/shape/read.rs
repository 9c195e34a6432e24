//! JSON Schema to [`Shape`].
//!
//! Reading is tolerant and loses nothing: a keyword with a malformed value is ignored with a [`ReadProblem`], a
//! keyword the tree has no form for is kept as [`Kind::Raw`]. What authors plainly mean is taken for what they
//! wrote: `properties` without `type` describe an object, `minLength` a text, and so on.
//!
//! Rules worth knowing:
//!
//! - `type` lists, `anyOf [X, null]`, `null` in `enum` and OpenAPI's `nullable: true` all become [`Shape::nullable`].
//! - Annotations beside `$ref`, `allOf` and unions belong to the shape as a whole; rules beside them become
//!   [`Kind::All`].
//! - `title` stands in for a missing `description` if it is more than one word and not merely the name of the field;
//!   most titles are generated and say nothing.
//! - `$schema`, `$id`, `$comment`, `xml`, unknown keywords and `x-…` are ignored, except `x-wire` and `x-aliases`,
//!   see [`Field`](super::Field).

mod arrays;
mod combine;
mod enums;
mod exact;
mod objects;
mod raw;
mod scalars;
mod types;

use serde_json::{Map, Value};

pub(super) use combine::{is_natural_all, is_natural_union};
pub(super) use raw::{is_natural as is_natural_raw, well_formed as raw_keyword_is_well_formed};
pub(super) use scalars::number as number_of;

use super::{Def, Kind, Literal, Shape, pointer};
use crate::base::frozen::{List, Text};

/// Schemas nested deeper than this are not read. No document in use comes near, and the canonical text of a shape
/// must stay within the 128 levels that JSON readers allow.
const MAX_DEPTH: usize = 40;

/// JSON values in schemas (defaults, raw keywords) nested deeper than this are not kept.
const MAX_VALUE_DEPTH: usize = 32;

/// A problem met while reading a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadProblem {
    /// Where in the schema, as a JSON pointer.
    pub pointer: String,
    /// What is wrong and what was done about it.
    pub message: String,
}

/// Reads a JSON Schema 2020-12 whose references are `#/$defs/NAME` (`#/definitions/NAME` is understood too).
///
/// Never fails: what is malformed is ignored with a problem, what is not understood is kept as [`Kind::Raw`].
#[must_use]
pub fn read(schema: &Value, problems: &mut Vec<ReadProblem>) -> Shape {
    Reader { problems, path: String::new(), depth: 0, canonical: false }.shape(schema, "")
}

/// Reads a whole document: a schema and the named schemas in its `$defs` and `definitions`, sorted by name.
/// If a name stands in both, `$defs` wins.
#[must_use]
pub fn read_document(schema: &Value, problems: &mut Vec<ReadProblem>) -> (Shape, List<Def>) {
    let mut reader = Reader { problems, path: String::new(), depth: 0, canonical: false };
    let shape = reader.shape(schema, "");
    let mut defs: Vec<Def> = Vec::new();
    for keyword in ["$defs", "definitions"] {
        let Some(Value::Object(named)) = schema.get(keyword) else { continue };
        for (name, schema) in named {
            let shape = reader.at(keyword, |reader| reader.at(name, |reader| reader.shape(schema, "")));
            defs.push(Def { name: name.clone().into(), schema: shape.into() });
        }
    }
    defs.sort_by(|a, b| a.name.cmp(&b.name));
    defs.dedup_by(|later, first| later.name == first.name);
    (shape, defs.into())
}

/// Reads the text form that generated code holds, as [`canonical`](super::render::canonical) writes it. Any other
/// schema is read as [`read`] does, without telling the problems.
#[must_use]
pub fn read_canonical(schema: &Value) -> Shape {
    Reader { problems: &mut Vec::new(), path: String::new(), depth: 0, canonical: true }.shape(schema, "")
}

struct Reader<'p> {
    problems: &'p mut Vec<ReadProblem>,
    path: String,
    depth: usize,
    /// The `x-…` keywords of canonical text are understood, and depth is not limited: the text's reader did that.
    canonical: bool,
}

type Object = Map<String, Value>;

impl Reader<'_> {
    fn problem(&mut self, message: impl Into<String>) {
        self.problems.push(ReadProblem { pointer: self.path.clone(), message: message.into() });
    }

    fn problem_at(&mut self, keyword: &str, message: impl Into<String>) {
        self.at(keyword, |reader| reader.problem(message));
    }

    fn at<T>(&mut self, token: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        pointer::push(&mut self.path, token);
        let result = read(self);
        self.path.truncate(length);
        result
    }

    fn at_index<T>(&mut self, index: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        pointer::push_index(&mut self.path, index);
        let result = read(self);
        self.path.truncate(length);
        result
    }

    /// Reads any schema. `name` is the field it describes, or empty.
    fn shape(&mut self, schema: &Value, name: &str) -> Shape {
        match schema {
            Value::Bool(true) => Shape::ANY,
            Value::Bool(false) => Shape::of(Kind::Never),
            Value::Object(_) if self.depth >= MAX_DEPTH && !self.canonical => {
                self.problem(format!("nested more than {MAX_DEPTH} schemas deep, so any value is allowed"));
                Shape::ANY
            }
            Value::Object(schema) => {
                self.depth += 1;
                let shape = self.object_schema(schema, name);
                self.depth -= 1;
                shape
            }
            _ => {
                self.problem("not a schema, so any value is allowed");
                Shape::ANY
            }
        }
    }

    fn object_schema(&mut self, schema: &Object, name: &str) -> Shape {
        let mut shape = self.annotations(schema, name);
        if self.canonical
            && let Some(kind) = self.exact(schema)
        {
            shape.kind = kind;
            return shape;
        }
        let mut parts = Vec::new();
        self.reference(schema, &mut parts);
        self.all_of(schema, &mut parts);
        self.own_kind(schema, &mut parts);
        self.unions(schema, &mut parts);
        self.raw(schema, &mut parts);
        combine::combine(shape, parts)
    }

    /// The shape with everything but its kind.
    fn annotations(&mut self, schema: &Object, name: &str) -> Shape {
        let mut shape = Shape::ANY;
        if let Some(text) = self.text(schema, "description") {
            shape.description = text;
        }
        if shape.description.trim().is_empty()
            && let Some(Value::String(title)) = schema.get("title")
            && title_says_something(title, name)
        {
            shape.description = title.clone().into();
        }
        shape.default = schema.get("default").and_then(|value| self.at("default", |r| r.literal(value)));
        shape.examples = self.examples(schema);
        shape.deprecated = self.flag(schema, "deprecated");
        shape.nullable = self.flag(schema, "nullable");
        shape
    }

    fn examples(&mut self, schema: &Object) -> List<Literal> {
        match schema.get("examples") {
            Some(Value::Array(values)) => {
                return self.at("examples", |reader| {
                    let literal = |(index, value)| reader.at_index(index, |r| r.literal(value));
                    values.iter().enumerate().filter_map(literal).collect()
                });
            }
            Some(_) => self.problem_at("examples", "not a list, so ignored"),
            None => {}
        }
        let single = schema.get("example").and_then(|value| self.at("example", |r| r.literal(value)));
        single.into_iter().collect()
    }

    /// A text, unless it is missing or malformed.
    fn text(&mut self, schema: &Object, keyword: &str) -> Option<Text> {
        match schema.get(keyword)? {
            Value::String(text) => Some(text.clone().into()),
            _ => {
                self.problem_at(keyword, "not a text, so ignored");
                None
            }
        }
    }

    fn flag(&mut self, schema: &Object, keyword: &str) -> bool {
        match schema.get(keyword) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => {
                self.problem_at(keyword, "neither true nor false, so ignored");
                false
            }
        }
    }

    fn reference(&mut self, schema: &Object, parts: &mut Vec<Shape>) {
        let Some(value) = schema.get("$ref") else { return };
        let Value::String(reference) = value else {
            self.problem_at("$ref", "not a text, so ignored");
            return;
        };
        match pointer::referenced(reference) {
            Some(name) => parts.push(Shape::of(Kind::Ref(name.into()))),
            None => {
                self.problem_at("$ref", format!("`{reference}` does not name a schema under `#/$defs/`"));
                let raw = Value::Object([(String::from("$ref"), value.clone())].into_iter().collect());
                parts.push(Shape::of(Kind::Raw(raw.to_string().into())));
            }
        }
    }

    fn all_of(&mut self, schema: &Object, parts: &mut Vec<Shape>) {
        let mut own = self.schemas(schema, "allOf");
        parts.append(&mut own);
    }

    /// A list of schemas.
    fn schemas(&mut self, schema: &Object, keyword: &str) -> Vec<Shape> {
        match schema.get(keyword) {
            None => Vec::new(),
            Some(Value::Array(schemas)) => self.at(keyword, |reader| {
                let shape = |(index, schema)| reader.at_index(index, |r| r.shape(schema, ""));
                schemas.iter().enumerate().map(shape).collect()
            }),
            Some(_) => {
                self.problem_at(keyword, "not a list of schemas, so ignored");
                Vec::new()
            }
        }
    }

    /// A value of a schema, exactly.
    fn literal(&mut self, value: &Value) -> Option<Literal> {
        if !within_depth(value, MAX_VALUE_DEPTH) {
            self.problem(format!("nested more than {MAX_VALUE_DEPTH} levels deep, so ignored"));
            return None;
        }
        Some(Literal::of(value))
    }
}

impl Literal {
    /// A JSON value as a literal.
    #[must_use]
    pub fn of(value: &Value) -> Literal {
        match value {
            Value::Null => Literal::Null,
            Value::Bool(flag) => Literal::Bool(*flag),
            Value::Number(number) => scalars::number(number).map_or(Literal::Null, Literal::Number),
            Value::String(text) => Literal::String(text.clone().into()),
            Value::Array(_) | Value::Object(_) => Literal::Json(value.to_string().into()),
        }
    }
}

fn within_depth(value: &Value, limit: usize) -> bool {
    match value {
        Value::Array(items) => limit > 0 && items.iter().all(|item| within_depth(item, limit - 1)),
        Value::Object(fields) => limit > 0 && fields.values().all(|field| within_depth(field, limit - 1)),
        _ => true,
    }
}

fn title_says_something(title: &str, name: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    title.trim().contains(char::is_whitespace) && letters(title) != letters(name)
}

#[cfg(test)]
mod tests;
