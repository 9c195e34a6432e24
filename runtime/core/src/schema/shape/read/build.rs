//! Builds the shape of a schema in normal form.
//!
//! Malformed parts were left out and reported before; here they are skipped silently.

mod arrays;
mod combine;
mod enums;
mod extensions;
mod objects;
mod raw;
mod types;

use serde_json::{Map, Value};

pub(super) use combine::union;
pub(in crate::schema::shape) use combine::{is_natural_all, is_natural_union};
pub(in crate::schema::shape) use raw::{
    is_natural as is_natural_raw, well_formed as raw_keyword_is_well_formed,
};

use super::{CHOICES, MAX_DEPTH, ReadProblem, ReadProblemKind, TITLE};
use crate::schema::shape::rules::{flag, text};
use crate::schema::shape::{Choice, Choices, Kind, Literal, Shape, Title, pointer};

type Object = Map<String, Value>;

/// Builds the shape of a schema in normal form at this place.
pub(super) fn shape(schema: &Value, place: String, name: &str, problems: &mut Vec<ReadProblem>) -> Shape {
    Builder { problems, path: place, depth: 0, limit: MAX_DEPTH, literal: false }.shape(schema, name)
}

/// Builds the shape of canonical text. Its depth is not limited: the text's reader has done that.
pub(super) fn canonical(schema: &Value) -> Shape {
    unlimited(&mut Vec::new(), false).shape(schema, "")
}

/// Builds the shape of a schema that other rules ask about, to the letter.
pub(super) fn condition(schema: &Value) -> Shape {
    unlimited(&mut Vec::new(), true).shape(schema, "")
}

fn unlimited(problems: &mut Vec<ReadProblem>, literal: bool) -> Builder<'_> {
    Builder { problems, path: String::new(), depth: 0, limit: usize::MAX, literal }
}

struct Builder<'p> {
    problems: &'p mut Vec<ReadProblem>,
    path: String,
    depth: usize,
    limit: usize,
    /// Whether keywords imply no type: types that they do not apply to are allowed.
    literal: bool,
}

impl Builder<'_> {
    fn problem(&mut self, kind: ReadProblemKind, message: impl Into<String>) {
        self.problems.push(ReadProblem { pointer: self.path.clone(), kind, message: message.into() });
    }

    fn at<T>(&mut self, token: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        pointer::push(&mut self.path, token);
        let result = read(self);
        self.path.truncate(length);
        result
    }

    /// Builds the shape of any schema. `name` is the field it describes, or empty.
    fn shape(&mut self, schema: &Value, name: &str) -> Shape {
        match schema {
            Value::Bool(false) => Shape::of(Kind::Never),
            Value::Object(schema) if schema.is_empty() => Shape::ANY,
            Value::Object(_) if self.depth >= self.limit => {
                let message = format!("nested more than {MAX_DEPTH} schemas deep, so any value is allowed");
                self.problem(ReadProblemKind::Depth, message);
                Shape::ANY
            }
            Value::Object(schema) => {
                self.depth += 1;
                let shape = self.object_schema(schema, name);
                self.depth -= 1;
                shape
            }
            _ => Shape::ANY,
        }
    }

    fn object_schema(&mut self, schema: &Object, name: &str) -> Shape {
        let mut shape = annotations(schema, name);
        if let Some(kind) = self.extension(schema) {
            shape.kind = kind;
            return shape;
        }
        let mut parts: Vec<Shape> = schema.get("$ref").and_then(reference).into_iter().collect();
        parts.append(&mut self.schemas(schema, "allOf"));
        self.own_kind(schema, &mut parts);
        self.unions(schema, &mut parts);
        self.raw(schema, &mut parts);
        combine::combine(shape, parts)
    }

    /// A list of schemas.
    fn schemas(&mut self, schema: &Object, keyword: &str) -> Vec<Shape> {
        let Some(Value::Array(schemas)) = schema.get(keyword) else { return Vec::new() };
        self.at(keyword, |builder| {
            let shape = |(index, schema): (usize, &Value)| {
                builder.at(&index.to_string(), |builder| builder.shape(schema, ""))
            };
            schemas.iter().enumerate().map(shape).collect()
        })
    }
}

/// Returns a shape with everything but its kind.
fn annotations(schema: &Object, name: &str) -> Shape {
    let mut description = text(schema, "description");
    let title = text(schema, "title");
    if description.trim().is_empty() && title_says_something(&title, name) {
        description = title.clone();
    }
    let choices = choices(schema);
    let examples = schema.get("examples").and_then(Value::as_array);
    Shape {
        kind: Kind::Any,
        nullable: flag(schema, "nullable"),
        description: if choices.is_none() { description } else { choices.explain(&description).into() },
        default: schema.get("default").map(Literal::of),
        examples: examples.into_iter().flatten().map(Literal::of).collect(),
        deprecated: flag(schema, "deprecated"),
        title: Title::new(schema.get(TITLE).and_then(Value::as_str).unwrap_or(&title)),
        choices,
    }
}

/// Returns the names of the values of a list.
fn choices(schema: &Object) -> Choices {
    let Some(Value::Object(told)) = schema.get(CHOICES) else { return Choices::NONE };
    let values = told.get("values").and_then(Value::as_array);
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let choice = |told: &Value| Choice {
        value: Literal::of(told.get("value").unwrap_or_default()),
        name: text(told, "name"),
        description: text(told, "description"),
    };
    Choices::new(
        &text(&Value::Object(told.clone()), "name"),
        values.into_iter().flatten().map(choice).collect(),
    )
}

fn reference(reference: &Value) -> Option<Shape> {
    let text = reference.as_str()?;
    Some(Shape::of(match pointer::referenced(text) {
        Some(name) => Kind::Ref(name.into()),
        None => {
            let raw = Object::from_iter([("$ref".to_owned(), reference.clone())]);
            Kind::Raw(Value::Object(raw).to_string().into())
        }
    }))
}

/// Whether a title says more than the name it belongs to.
pub(super) fn title_says_something(title: &str, name: &str) -> bool {
    let letters = |text: &str| -> String {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    title.trim().contains(char::is_whitespace) && letters(title) != letters(name)
}
