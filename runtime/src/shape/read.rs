//! JSON Schema to [`Shape`](super::Shape).
use super::Shape;
use serde_json::Value;

/// A problem met while reading a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadProblem {
    /// Where in the schema, as a JSON pointer.
    pub pointer: String,
    /// What is wrong and what was done about it.
    pub message: String,
}

/// Reads a JSON Schema 2020-12 whose references are `#/$defs/NAME`.
#[must_use]
pub fn read(schema: &Value, problems: &mut Vec<ReadProblem>) -> Shape {
    let _ = (schema, problems);
    Shape::ANY
}

/// Reads the text form that generated code holds; what it does not understand becomes raw.
#[must_use]
pub fn read_canonical(schema: &Value) -> Shape {
    read(schema, &mut Vec::new())
}
