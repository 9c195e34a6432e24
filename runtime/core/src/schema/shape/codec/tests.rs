use serde_json::{Value, json};

use super::*;
use crate::schema::dialect::{ANTHROPIC, Dialect, GEMINI, JSON_SCHEMA, OPENAI_STRICT};
use crate::schema::shape::decode::decode;
use crate::schema::shape::encode;
use crate::schema::shape::read::read_document;
use crate::schema::shape::render::render_input;

mod odd;
mod random;

/// Checks that arguments are written in this form, that the schema accepts it, and that it is read back.
#[track_caller]
fn assert_round_trip(schema: &Value, dialect: &Dialect, arguments: &Value, written: &Value) {
    let (shape, defs) = read_document(schema, &mut Vec::new());
    assert_eq!(encode(arguments, &shape, &defs, dialect), *written, "{}", dialect.name);
    let schema = render_input(&shape, &defs, dialect).unwrap().schema;
    assert!(jsonschema::is_valid(&schema, written), "{written} {schema}");
    assert_eq!(decode(written, &shape, &defs, dialect).as_ref(), Ok(arguments), "{}", dialect.name);
}

#[test]
fn too_deep_schema_is_split_into_named_parts() {
    let mut deep = json!({"type": "string"});
    for _ in 0..25 {
        deep = json!({"type": "object", "properties": {"a": deep}, "required": ["a"], "additionalProperties": false});
    }
    let (shape, defs) = read_document(&deep, &mut Vec::new());
    let message = render_input(&shape, &defs, &OPENAI_STRICT).unwrap();
    assert_eq!(message.schema["$defs"].as_object().unwrap().len(), 2);
    let mut value = json!("x");
    for _ in 0..25 {
        value = json!({ "a": value });
    }
    assert_round_trip(&deep, &OPENAI_STRICT, &value, &value);
}

fn keys(names: &[&'static str], rule: KeyRule) -> Vec<String> {
    let fields: Vec<Field> =
        names.iter().map(|name| Field { name: (*name).into(), ..Field::OPTIONAL }).collect();
    let fields: Vec<&Field> = fields.iter().collect();
    written_keys(&fields, rule).into_iter().map(Cow::into_owned).collect()
}

#[test]
fn unsupported_keys_are_renamed_without_collisions() {
    let names = ["filter[x]", "filter_x", "$select", "größe", "page-size", "$", "[]", "filter{x}"];
    assert_eq!(keys(&names, JSON_SCHEMA.keys), names);
    let anthropic =
        ["filter_x_2", "filter_x", "select", "gr__e", "page-size", "field", "field_2", "filter_x_3"];
    assert_eq!(keys(&names, ANTHROPIC.keys), anthropic);
    assert_eq!(keys(&["1st", "a-b", "a_b"], GEMINI.keys), ["_1st", "a_b_2", "a_b"]);
    let long: &'static str = Box::leak("x".repeat(70).into_boxed_str());
    let longer: &'static str = Box::leak("x".repeat(71).into_boxed_str());
    let cut = keys(&[long, longer], ANTHROPIC.keys);
    assert_eq!((cut[0].len(), cut[1].len(), cut[0] == cut[1]), (64, 64, false));
}
