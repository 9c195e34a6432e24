use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::schema::shape::arbitrary;
use crate::schema::shape::render::canonical;
use crate::schema::shape::{Access, ArrayRules, Extra, Kind, Literal, NumberRules, StringRules};
use toolgen_test_support::cpu_time;

fn assert_round_trips(shape: &Shape) {
    let text = canonical(shape);
    let value = serde_json::from_str(&text).unwrap();
    assert_eq!(&read_canonical(&value), shape, "{text}");
}

/// Reads a malformed schema. Returns its canonical text and the problems.
fn degraded(schema: &Value) -> (String, Vec<(String, String)>) {
    let mut problems = Vec::new();
    let shape = read(schema, &mut problems);
    assert_round_trips(&shape);
    (canonical(&shape), problems.into_iter().map(|problem| (problem.pointer, problem.message)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn canonical_text_round_trips(shape in arbitrary::shape()) {
        let text = canonical(&shape);
        let value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read_canonical(&value), shape, "{}", text);
    }

    #[test]
    fn every_parsed_schema_has_a_canonical_text(schema in odd_schema()) {
        let shape = read(&schema, &mut Vec::new());
        let text = canonical(&shape);
        let value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read_canonical(&value), shape, "{}", text);
    }
}

/// Keywords with arbitrary values, valid or invalid, nested.
fn odd_schema() -> impl Strategy<Value = Value> {
    const KEYWORDS: &str = "type enum const properties required items prefixItems additionalProperties allOf anyOf oneOf \
        not if then $ref minimum exclusiveMinimum minLength pattern format nullable default description uniqueItems \
        contains minContains unevaluatedProperties discriminator x-wire x-raw title example examples readOnly";
    let keyword = || proptest::sample::select(KEYWORDS.split(' ').collect::<Vec<_>>());
    let values = json!([
        "string", "object", "integer", "null", ["string", "null"], ["object", "array"], "#/$defs/a", "#/definitions/b%20c",
        [{"type": "null"}], {"$ref": "#/$defs/a"}, {"propertyName": "a", "mapping": {"b": "#/$defs/b"}},
    ]);
    let value = prop_oneof![arbitrary::json(), proptest::sample::select(values.as_array().unwrap().clone())];
    let leaf = proptest::collection::vec((keyword(), value), 0..5).prop_map(object);
    leaf.prop_recursive(3, 20, 4, move |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
        let map = inner.clone().prop_map(|schema| json!({"a": schema, "b c": true}));
        let value = prop_oneof![inner, list, map];
        proptest::collection::vec((keyword(), value), 0..5).prop_map(object)
    })
}

fn object(pairs: Vec<(&str, Value)>) -> Value {
    Value::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

#[test]
fn annotations_belong_to_the_shape() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "string", "readOnly": true, "deprecated": true, "default": "x", "x-wire": "a[]"},
        "b": {"type": "array", "writeOnly": true, "x-aliases": ["c"]},
    }});
    let shape = read(&schema, &mut Vec::new());
    let Kind::Object(rules) = &shape.kind else { panic!("{shape:?}") };
    assert_eq!(rules.extra, Extra::Open);
    let [a, b] = &*rules.fields else { panic!("{rules:?}") };
    assert_eq!((a.wire_name(), a.access, a.shape.deprecated), ("a[]", Access::ReadOnly, true));
    assert_eq!(a.shape.default, Some(Literal::String("x".into())));
    assert_eq!((&*b.aliases, b.access), (["c".into()].as_slice(), Access::WriteOnly));
    assert_eq!(b.shape.kind, Kind::Array(ArrayRules::ANY));
}

#[test]
fn deep_and_absurd_schemas_are_bounded() {
    let mut deep = json!({"type": "string"});
    for _ in 0..500 {
        deep = json!({ "items": deep });
    }
    let (text, problems) = degraded(&deep);
    assert!(text.len() < 2_000 && problems.len() == 1, "{problems:?}");
    let mut deep = json!({});
    for _ in 0..500 {
        deep = json!({"not": {"allOf": [deep]}});
    }
    assert_eq!(degraded(&deep).1.len(), 1);
    let huge: Value =
        serde_json::from_str(r#"{"type":"integer","maximum":100000000000000000000000000000}"#).unwrap();
    let rules = NumberRules {
        maximum: Some(super::super::Number::Int(99999999999999991433150857216)),
        ..NumberRules::ANY
    };
    assert_eq!(read(&huge, &mut Vec::new()).kind, Kind::Integer(rules));
}

#[test]
fn document_provides_its_named_schemas() {
    let schema = json!({"$ref": "#/$defs/B", "$defs": {"B": {"type": "string"}, "A": true},
        "definitions": {"B": {"type": "integer"}, "C": false}});
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    assert_eq!(shape.kind, Kind::Ref("B".into()));
    let names: Vec<&str> = defs.iter().map(|def| def.name.as_str()).collect();
    assert_eq!(names, ["A", "B", "C"]);
    assert_eq!(defs[1].schema.kind, Kind::String(StringRules::ANY));
}

/// Schemas of unknown servers can be read, too.
#[test]
fn long_lists_are_parsed_in_linear_time() {
    let names = |from: usize| json!({"required": (from..from + 60_000).map(|at| format!("k{at}")).collect::<Vec<_>>()});
    let part =
        |at: usize| json!({"properties": {format!("k{at}"): {}}, "required": [format!("k{at}"), "k0"]});
    let objects: Vec<Value> = (0..60_000).map(|at| json!({ "k": at })).collect();
    let texts =
        |from: usize| json!({"enum": (from..from + 60_000).map(|at| format!("v{at}")).collect::<Vec<_>>()});
    for schema in [
        names(0),
        json!({"allOf": [names(0), names(30_000)]}),
        json!({ "enum": objects }),
        json!({"allOf": [texts(0), texts(30_000)]}),
        json!({"allOf": (0..10_000).map(part).collect::<Vec<_>>()}),
    ] {
        let (_, spent) = cpu_time(|| read(&schema, &mut Vec::new()));
        assert!(spent.as_secs() < 10, "{spent:?}: {}", &schema.to_string()[..40]);
    }
}

#[test]
fn excess_keys_are_dropped() {
    let names: Vec<String> = (0..30_000).map(|at| format!("k{at}")).collect();
    let properties: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({}))).collect();
    for schema in [json!({ "required": names }), json!({ "properties": properties })] {
        let mut problems = Vec::new();
        let Kind::Object(rules) = read(&schema, &mut problems).kind else { panic!("no object") };
        assert_eq!(rules.fields.len(), 20_000);
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!(problem.message, "names 30000 keys, but only the first 20000 are read");
    }
}
