//! Tests of difficult shapes: `null` with two meanings, and nested unions.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::base::frozen::List;
use crate::schema::dialect::{JSON_SCHEMA, OPENAI_STRICT};
use crate::schema::shape::decode::decode;
use crate::schema::shape::decode::tests::oracle::arguments;
use crate::schema::shape::read::read_document;
use crate::schema::shape::render::render_input;
use crate::schema::shape::{Field, Kind, ObjectRules, Shape, StringRules, UnionMode, UnionRules, encode};
use toolgen_test_support::cpu_time;

#[test]
fn deny_pattern_does_not_exclude_null() {
    let rules = StringRules { deny: "^b".into(), ..StringRules::ANY };
    let string = Shape { nullable: true, ..Shape::of(Kind::String(rules)) };
    let message = render_input(&arguments(string), &List::EMPTY, &JSON_SCHEMA).unwrap().schema;
    assert_eq!(message["properties"]["v"]["not"], json!({"pattern": "^b", "type": "string"}), "{message}");
}

/// Nested unions with `deep` levels, in three variants.
fn nested(deep: usize, level: impl Fn(&Value) -> Value) -> Value {
    let mut defs = serde_json::Map::new();
    for index in 0..deep {
        let mut next = String::from("#/$defs/");
        let _ = write!(next, "U{}", index + 1);
        defs.insert(format!("U{index}"), level(&json!({ "$ref": next })));
    }
    let leaf = json!({"type": "object", "required": ["k"], "properties": {"k": {"const": 1}, "m": {"type": "object", "additionalProperties": {"type": "integer"}}}});
    defs.insert(format!("U{deep}"), leaf);
    json!({"type": "object", "properties": {"v": {"$ref": "#/$defs/U0"}}, "$defs": defs})
}

#[test]
fn unions_of_unions_are_encoded_quickly() {
    let list = |of: &Value| json!({"type": "array", "items": of});
    let map = |of: &Value| json!({"type": "object", "additionalProperties": of});
    let shapes = [
        nested(14, |next| json!({"anyOf": [next, next, next]})),
        nested(14, |next| json!({"anyOf": [next, list(next), map(next)]})),
        nested(
            14,
            |next| json!({"oneOf": [{"type": "array", "prefixItems": [next, next]}, list(next), next]}),
        ),
        nested(12, |next| json!({"allOf": [{"anyOf": [next, list(next)]}, {"anyOf": [next, map(next)]}]})),
    ];
    let mut deep = json!({"k": 1, "m": {"a": 1}});
    for _ in 0..14 {
        deep = json!([deep]);
    }
    let value = json!({ "v": deep });
    for (number, schema) in shapes.iter().enumerate() {
        let (shape, defs) = read_document(schema, &mut Vec::new());
        let ((), spent) = cpu_time(|| {
            let _ = render_input(&shape, &defs, &OPENAI_STRICT);
            let _ = encode(&value, &shape, &defs, &OPENAI_STRICT);
            let _ = decode(&value, &shape, &defs, &OPENAI_STRICT);
        });
        assert!(spent < Duration::from_secs(10), "{number} {spent:?}");
    }
}

#[test]
fn null_in_an_any_value_is_encoded_as_a_string() {
    let rule = Shape::of(Kind::Raw(r#"{"contains":{},"minContains":0}"#.into()));
    let all = Shape { nullable: true, ..Shape::of(Kind::All(vec![rule].into())) };
    let union = UnionRules { mode: UnionMode::Any, variants: vec![all.clone()].into(), discriminator: None };
    for shape in [all, Shape::of(Kind::Union(union))] {
        let fields = vec![Field { name: "v".into(), shape, ..Field::REQUIRED }];
        let shape = Shape::of(Kind::Object(ObjectRules { fields: fields.into(), ..ObjectRules::ANY }));
        let arguments = json!({ "v": null });
        let encoded = encode(&arguments, &shape, &List::EMPTY, &OPENAI_STRICT);
        assert_eq!(encoded, json!({ "v": "null" }));
        let schema = render_input(&shape, &List::EMPTY, &OPENAI_STRICT).unwrap().schema;
        assert!(jsonschema::is_valid(&schema, &encoded), "{schema}");
        assert_eq!(decode(&encoded, &shape, &List::EMPTY, &OPENAI_STRICT), Ok(arguments));
    }
}

#[test]
fn null_of_an_undeclared_key_is_a_value() {
    let rule = Shape::of(Kind::Raw(r#"{"dependentRequired":{"a":["d"]}}"#.into()));
    let fields = vec![Field { name: "v".into(), shape: rule, ..Field::REQUIRED }];
    let shape = Shape::of(Kind::Object(ObjectRules { fields: fields.into(), ..ObjectRules::ANY }));
    let arguments = json!({ "v": {"d": null, "a": false} });
    let encoded = encode(&arguments, &shape, &List::EMPTY, &OPENAI_STRICT);
    assert_eq!(decode(&encoded, &shape, &List::EMPTY, &OPENAI_STRICT), Ok(arguments));
}
