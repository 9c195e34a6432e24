mod keywords;
mod limits;
pub(in crate::schema::shape) mod oracle;

use serde_json::{Value, json};

use super::transform::{completed, to_wire_names};
use super::{ArgumentProblemKind, decode};
use crate::schema::dialect::{Dialect, JSON_SCHEMA, OPENAI_STRICT};
use crate::schema::shape::read::read_document;
use toolgen_test_support::cpu_time;

fn decoded(schema: &Value, arguments: &Value, dialect: &Dialect) -> Result<Value, Vec<String>> {
    let mut problems = Vec::new();
    let (shape, defs) = read_document(schema, &mut problems);
    assert_eq!(problems, []);
    let describe = |problem: super::ArgumentProblem| format!("{}: {}", problem.pointer, problem.message);
    decode(arguments, &shape, &defs, dialect).map_err(|problems| problems.into_iter().map(describe).collect())
}

#[track_caller]
fn assert_decodes(schema: &Value, arguments: &Value, expected: &Value) {
    let decoded = decoded(schema, arguments, &JSON_SCHEMA);
    assert_eq!(decoded.map(|value| value.to_string()), Ok(expected.to_string()));
}

/// A closed object of these properties, all optional.
fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

#[test]
fn shown_arguments_use_schema_names() {
    let schema = object(&json!({
        "top": {"type": "integer", "x-wire": "$top", "default": 20},
        "to": {"type": "string", "x-aliases": ["recipient"]},
        "note": {"type": "string", "default": null},
        "wrong": {"type": "integer", "default": "many"},
        "shown": {"type": "string", "readOnly": true, "default": "later"},
        "how": {"$ref": "#/$defs/How"},
        "else": {"$ref": "#/$defs/How", "default": {"fast": true}},
        "or": {"oneOf": [{"type": "string"}, {"$ref": "#/$defs/How"}]},
    }));
    let how = object(&json!({"fast": {"type": "boolean"}, "tries": {"type": "integer", "default": 3}}));
    let mut schema = schema;
    schema["$defs"] = json!({ "How": how });
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    let input = json!({"recipient": "Ada", "how": {"fast": null}, "or": {"tries": 1.0}, "note": null});
    let expected = json!({"to": "Ada", "how": {"tries": 3}, "or": {"tries": 1}, "top": 20,
        "else": {"fast": true, "tries": 3}});
    assert_eq!(completed(&input, &shape, &defs, &OPENAI_STRICT), Ok(expected.clone()));
    assert_eq!(
        completed(&expected, &shape, &defs, &JSON_SCHEMA),
        Ok(expected.clone()),
        "completion is idempotent"
    );
    let mut wire = expected.clone();
    wire["$top"] = wire.as_object_mut().unwrap().remove("top").unwrap();
    assert_eq!(to_wire_names(&expected, &shape, &defs), Ok(wire));
    // One of the two, and both have a default.
    let either = json!({"type": "object", "maxProperties": 1, "properties": {
        "a": {"type": "integer", "default": 1}, "b": {"type": "integer", "default": 2}}});
    let (shape, defs) = read_document(&either, &mut Vec::new());
    assert_eq!(completed(&json!({"b": 5.0}), &shape, &defs, &JSON_SCHEMA), Ok(json!({"b": 5})));
}

#[test]
fn cyclic_and_multiplied_unions_terminate() {
    let circle = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {
        "A": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}, "B": {"allOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}}});
    let _ = decoded(&circle, &json!({"a": 5}), &JSON_SCHEMA);
    // Without the cache, the work would be two to the power of the depth.
    let list = json!({"type": "array", "items": {"$ref": "#/$defs/A"}});
    let doubled = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"anyOf": [list, {"type": "array", "minItems": 0, "items": {"$ref": "#/$defs/A"}}, {"type": "string"}]}}});
    let mut deep = json!(5);
    for _ in 0..60 {
        deep = json!([deep]);
    }
    let (outcome, spent) = cpu_time(|| decoded(&doubled, &json!({ "a": deep }), &JSON_SCHEMA));
    assert!(outcome.is_err() && spent.as_secs() < 5, "{spent:?}");
    // Deeper than any JSON parser allows.
    for _ in 0..400 {
        deep = Value::Array(vec![deep]);
    }
    let arguments = Value::Object([(String::from("a"), deep)].into_iter().collect());
    assert!(decoded(&doubled, &arguments, &JSON_SCHEMA).is_err());
}

#[test]
fn problems_have_a_kind() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}, "b": {"type": "string"}},
        "required": ["b"], "additionalProperties": false});
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    let problems = decode(&json!({"a": "x", "c": 1}), &shape, &defs, &JSON_SCHEMA).unwrap_err();
    let kinds: Vec<ArgumentProblemKind> = problems.iter().map(|problem| problem.kind).collect();
    use ArgumentProblemKind::{Missing, Type, Unknown, Value};
    assert_eq!(kinds, [Type, Unknown, Missing]);
    let problems = decode(&json!({"a": 0, "b": ""}), &shape, &defs, &JSON_SCHEMA).unwrap_err();
    assert_eq!(problems[0].kind, Value);
}

#[test]
fn result_problems_give_the_model_no_advice() {
    let schema = json!({
        "type": "object", "additionalProperties": false, "required": ["count", "name", "sort"],
        "properties": {
            "count": {"type": "integer"},
            "name": {"type": "string"},
            "note": {"type": "string"},
            "sort": {"enum": ["ascending", "descending"]},
            "either": {"anyOf": [{"type": "integer"}, {"enum": ["all", "none"]}]},
            "deep": {"type": "object", "additionalProperties": false, "properties": {"text": {"type": "string"}}},
        },
    });
    let result = json!({
        "count": "7", "nmae": "x", "note": null, "sort": "ascendign", "either": "nnoe", "deep": {"txet": 1},
    });
    let mut problems = Vec::new();
    let (shape, defs) = read_document(&schema, &mut problems);
    let problems = super::result_problems(&result, &shape, &defs);
    let messages: Vec<String> = problems.iter().map(super::ArgumentProblem::of_result).collect();
    assert_eq!(
        messages,
        [
            "/count: expected an integer, got the string \"7\"",
            "/nmae: unknown field `nmae`; known: `count`, `name`, `note`, `sort`, `either`, `deep`",
            "/note: expected a string, got null",
            "/sort: expected one of \"ascending\", \"descending\", got the string \"ascendign\"",
            "/either: expected one of \"all\", \"none\" or an integer, got the string \"nnoe\"",
            "/deep/txet: unknown field `txet`; known: `text`",
            "/name: missing: expected a string",
        ]
    );
    let array_problems = super::result_problems(&json!([1]), &shape, &defs);
    assert_eq!(array_problems[0].of_result(), "the result: expected an object, got an array of 1 item");
}
