use serde_json::{Value, json};

use super::*;
use crate::dialect::JSON_SCHEMA;
use crate::shape::read::read_document;

fn rendered(schema: &Value, dialect: &Dialect) -> Result<Value, Vec<String>> {
    let mut problems = Vec::new();
    let (shape, defs) = read_document(schema, &mut problems);
    assert_eq!(problems, []);
    render_input(&shape, &defs, dialect)
        .map(|rendered| rendered.schema)
        .map_err(|refusals| refusals.into_iter().map(|refusal| refusal.pointer).collect())
}

#[track_caller]
fn check(dialect: &Dialect, schema: &Value, expected: &Value) {
    assert_eq!(rendered(schema, dialect).unwrap().to_string(), expected.to_string(), "{}", dialect.name);
}

#[test]
fn no_arguments_are_an_empty_object() {
    for dialect in Dialect::ALL {
        let rendered = render_input(&Shape::NO_ARGUMENTS, &List::EMPTY, dialect).unwrap();
        let expected = match dialect.name {
            "gemini" => json!({"type": "object", "properties": {}}),
            _ => json!({"type": "object", "properties": {}, "additionalProperties": false}),
        };
        assert_eq!(rendered.schema.to_string(), expected.to_string(), "{}", dialect.name);
        assert_eq!(rendered.losses, []);
    }
}

#[test]
fn plain_json_schema_says_everything() {
    let schema = json!({"type": "object", "description": "Finds pets.", "properties": {
            "name": {"type": ["string", "null"], "description": "A name.", "maxLength": 64},
            "limit": {"type": "integer", "format": "int32", "minimum": 1, "default": 20},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
            "filter": {"$ref": "#/$defs/Filter"},
            "id": {"type": "string", "readOnly": true},
        }, "required": ["limit", "id"], "additionalProperties": false,
        "$defs": {"Filter": {"anyOf": [{"$ref": "#/$defs/Filter"}, {"type": "null"}]}, "Unused": {}}});
    check(
        &JSON_SCHEMA,
        &schema,
        &json!({"type": "object", "description": "Finds pets.", "properties": {
            "name": {"type": ["string", "null"], "description": "A name.", "maxLength": 64},
            "limit": {"type": "integer", "minimum": 1, "default": 20},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            "filter": {"$ref": "#/$defs/Filter"},
        }, "required": ["limit"], "additionalProperties": false,
        "$defs": {"Filter": {"anyOf": [{"$ref": "#/$defs/Filter"}, {"type": "null"}]}}}),
    );
}
