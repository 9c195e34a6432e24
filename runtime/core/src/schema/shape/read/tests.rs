use proptest::prelude::*;
use serde_json::json;
use toolgen_test_support::rows;

use super::*;
use crate::schema::shape::arbitrary;
use crate::schema::shape::render::canonical;
use crate::schema::shape::{Access, ArrayRules, Extra, Kind, Literal, NumberRules, StringRules, UnionMode};
use toolgen_test_support::cpu_time;

/// Reads a schema and returns the canonical text, which says everything about a shape.
fn text(schema: &Value) -> String {
    let mut problems = Vec::new();
    let shape = read(schema, &mut problems);
    assert_eq!(problems, [], "{schema}");
    again(&shape);
    canonical(&shape)
}

fn again(shape: &Shape) {
    let text = canonical(shape);
    let value = serde_json::from_str(&text).unwrap();
    assert_eq!(&read_canonical(&value), shape, "{text}");
}

/// Reads a malformed schema: its canonical text and what is said about it.
fn degraded(schema: &Value) -> (String, Vec<(String, String)>) {
    let mut problems = Vec::new();
    let shape = read(schema, &mut problems);
    again(&shape);
    (canonical(&shape), problems.into_iter().map(|problem| (problem.pointer, problem.message)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn canonical_text_gives_the_shape_back(shape in arbitrary::shape()) {
        let text = canonical(&shape);
        let value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read_canonical(&value), shape, "{}", text);
    }

    #[test]
    fn whatever_is_read_has_a_canonical_text(schema in odd_schema()) {
        let shape = read(&schema, &mut Vec::new());
        let text = canonical(&shape);
        let value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read_canonical(&value), shape, "{}", text);
    }
}

/// Keywords with any value, right or wrong, nested.
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
fn plain_schemas_read_as_they_are_written() {
    let same = [
        json!({}),
        json!(false),
        json!({"type": "string", "description": "A name.", "minLength": 1, "maxLength": 64, "pattern": "^a"}),
        json!({"type": ["string", "null"]}),
        json!({"type": "integer", "format": "int64", "minimum": 0, "exclusiveMaximum": 10, "multipleOf": 2}),
        json!({"enum": ["a", "b", null]}),
        json!({"const": 5}),
        json!({"type": "array", "minItems": 1, "uniqueItems": true, "items": {"type": "string"}}),
        json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false}),
        json!({"type": "object", "properties": {"b": {"type": "string"}, "a": {}}, "required": ["a"],
            "additionalProperties": false}),
        json!({"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": {"type": "string"}}),
        json!({"$ref": "#/$defs/Pet", "description": "The pet."}),
        json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        json!({"oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
            "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/$defs/Cat"}}}),
        json!({"not": {"type": "string"}}),
        json!({"allOf": [{"$ref": "#/$defs/A"}, {"type": "object", "properties": {"b": {}}}]}),
    ];
    for schema in same {
        assert_eq!(text(&schema), schema.to_string());
    }
}

#[test]
fn what_authors_mean_is_read() {
    let cases = rows! {
        {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}, {"$ref": "#/$defs/A", "nullable": true};
        {"allOf": [{"$ref": "#/definitions/A"}], "description": "x"}, {"$ref": "#/$defs/A", "description": "x"};
        {"allOf": [{"$ref": "#/$defs/A"}, {"description": "x"}]}, {"$ref": "#/$defs/A", "description": "x"};
        {"type": "object", "allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]},
            {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]};
        {"$ref": "#/$defs/A", "minLength": 2}, {"allOf": [{"$ref": "#/$defs/A"}, {"type": "string", "minLength": 2}]};
        {"properties": {"a": {"type": "string"}}}, {"type": "object", "properties": {"a": {"type": "string"}}};
        {"type": "object", "required": ["a"]}, {"type": "object", "properties": {"a": {}}, "required": ["a"]};
        {"type": "string", "enum": ["a", "bb"], "maxLength": 5}, {"enum": ["a", "bb"]};
        {"type": ["string", "integer", "null"], "minLength": 1},
            {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer"}], "nullable": true};
        {"type": ["string", "number", "boolean", "object", "array", "null"]}, {};
        {"enum": [null]}, {"type": "null"};
        {"minimum": 5, "exclusiveMinimum": true, "type": "number"}, {"type": "number", "exclusiveMinimum": 5};
        {"type": "number", "maximum": 1e3, "multipleOf": 0.01},
            {"type": "number", "maximum": 1000, "multipleOf": 0.01};
        {"type": "object", "properties": {"a": {}}, "unevaluatedProperties": false},
            {"type": "object", "properties": {"a": {}}, "additionalProperties": false};
        {"type": "array", "items": [{"type": "string"}], "additionalItems": false},
            {"type": "array", "prefixItems": [{"type": "string"}], "items": false};
        {"type": "object", "properties": {"a": {}}, "not": {"required": ["b"]}},
            {"allOf": [{"type": "object", "properties": {"a": {}}}, {"not": {"required": ["b"]}}]};
        {"type": "string", "title": "Two words"}, {"type": "string", "description": "Two words"};
        {"type": "object", "properties": {"user_id": {"type": "string", "title": "User Id"}}},
            {"type": "object", "properties": {"user_id": {"type": "string"}}};
        {"type": "string", "example": "x", "x-y": 1, "xml": {}}, {"type": "string", "examples": ["x"]};
    };
    for (schema, expected) in cases {
        assert_eq!(text(&schema), expected.to_string(), "{schema}");
    }
}

#[test]
fn a_flag_of_a_property_says_that_it_must_be_given_and_is_told() {
    let a = |schema: Value| json!({"type": "object", "properties": {"a": schema, "b": {}}});
    for flag in [json!(true), json!("true"), json!(" True "), json!("yes")] {
        for schema in [
            json!({"type": "string", "required": flag}),
            json!({"type": "object", "required": flag}),
            json!({"required": flag}),
            json!({"$ref": "#/$defs/A", "required": flag}),
            json!({"type": "object", "properties": {"c": {}}, "required": flag}),
            json!({"oneOf": [{"type": "string"}, {"type": "integer"}], "required": flag}),
        ] {
            let (text, problems) = degraded(&a(schema.clone()));
            assert!(text.contains(r#""required":["a"]"#), "{schema}: {text}");
            assert!(
                problems.len() == 1
                    && problems[0].0 == "/properties/a/required"
                    && problems[0].1.contains("draft 3"),
                "{schema}: {problems:?}"
            );
        }
    }
    // Nothing is said by `false`, and nothing more where the object lists the property itself.
    let mut listed = a(json!({"type": "string", "required": true}));
    listed["required"] = json!(["a"]);
    for (schema, required) in [
        (a(json!({"type": "string", "required": false})), false),
        (a(json!({"type": "object", "required": "false"})), false),
        (listed, true),
    ] {
        let (text, problems) = degraded(&schema);
        assert_eq!(text.contains(r#""required":["a"]"#), required, "{schema}: {text}");
        assert_eq!(problems, [], "{schema}");
    }
    // What is no property has no object that could require it.
    let (_, problems) = degraded(&json!({"type": "array", "items": {"type": "object", "required": true}}));
    assert_eq!(problems[0].0, "/items/required");
    // A property of that name is meant.
    let (text, problems) =
        degraded(&a(json!({"type": "object", "properties": {"yes": {}}, "required": "yes"})));
    assert!(!text.contains(r#""required":["a"]"#) && problems.len() == 1, "{text}: {problems:?}");
}

#[test]
fn malformed_keywords_are_told_and_ignored() {
    let cases = rows! {
        {"type": "string", "minLength": "3"}, {"type": "string"}, "/minLength";
        {"type": "string", "minLength": -3}, {"type": "string"}, "/minLength";
        {"type": "object", "required": true}, {"type": "object"}, "/required";
        {"type": "object", "properties": []}, {"type": "object"}, "/properties";
        {"type": "array", "items": "string"}, {"type": "array"}, "/items";
        {"type": "text"}, {"type": "string"}, "/type";
        {"type": "any"}, {}, "/type";
        {"type": "string", "enum": [1, true]}, {"enum": ["1", "true"]}, "/enum";
        {"type": "string", "enum": []}, {"type": "string"}, "/enum";
        {"$ref": "other.json"}, {"x-raw": "{\"$ref\":\"other.json\"}"}, "/$ref";
        {"properties": {"a": 5}}, {"type": "object", "properties": {"a": {}}}, "/properties/a";
        {"oneOf": {}}, {}, "/oneOf";
        {"not": 5}, {}, "/not";
        7, {}, "";
    };
    for (schema, expected, pointer) in cases {
        let (text, problems) = degraded(&schema);
        assert_eq!(text, expected.to_string(), "{schema}");
        let pointers: Vec<&str> = problems.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(json!(pointers), json!([pointer]), "{schema} {problems:?}");
    }
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
fn defaults_and_examples_that_do_not_fit_are_left_out() {
    let cases = rows! {
        {"type": "integer", "default": "ten"}, "/default", "default \"ten\"", "expected an integer";
        {"type": "integer", "minimum": 2, "default": 1}, "/default", "default 1", "must be at least 2";
        {"type": "string", "maxLength": 1, "examples": ["ab"]}, "/examples", "example \"ab\"", "must have";
        {"properties": {"n": {"type": "integer"}}, "default": {"n": "x"}}, "/default", "default {\"n\":\"x\"}",
            "at /n, expected an integer";
        {"items": {"enum": ["a"]}, "default": ["b"]}, "/default", "default [\"b\"]", "at /0, expected \"a\"";
        {"properties": {"n": {"items": {"default": 5, "type": "string"}}}}, "/properties/n/items/default",
            "default 5", "expected a text";
        {"type": "string", "not": {"const": "x"}, "default": "x"}, "/default", "default \"x\"", "must not be";
    };
    for (schema, place, what, why) in cases {
        let (text, told) = degraded(&schema);
        let [(at, message)] = told.as_slice() else { panic!("{schema} {told:?}") };
        assert_eq!(place, at.as_str(), "{schema}");
        let [what, why] = [what, why].map(|text| text.as_str().unwrap().to_owned());
        assert!(message.starts_with(&format!("the {what} does not fit: {why}")), "{message}");
        assert!(!text.contains("default") && !text.contains("examples"), "{text}");
    }
    // What a null says is that there is none.
    assert_eq!(text(&json!({"type": "string", "default": null})), text(&json!({"type": "string"})));
    assert!(text(&json!({"type": ["string", "null"], "default": null})).contains("default"));
}

#[test]
fn a_document_brings_its_named_schemas() {
    let schema = json!({"$ref": "#/$defs/B", "$defs": {"B": {"type": "string"}, "A": true},
        "definitions": {"B": {"type": "integer"}, "C": false}});
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    assert_eq!(shape.kind, Kind::Ref("B".into()));
    let names: Vec<&str> = defs.iter().map(|def| def.name.as_str()).collect();
    assert_eq!(names, ["A", "B", "C"]);
    assert_eq!(defs[1].schema.kind, Kind::String(StringRules::ANY));
}

#[test]
fn a_union_of_null_only_is_null() {
    assert_eq!(text(&json!({"oneOf": [{"type": "null"}]})), r#"{"type":"null"}"#);
    let shape =
        read(&json!({"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}), &mut Vec::new());
    assert!(shape.nullable);
    let Kind::Union(rules) = &shape.kind else { panic!("{shape:?}") };
    assert_eq!((rules.mode, rules.variants.len()), (UnionMode::One, 2));
}

#[test]
fn problems_tell_their_kind_and_place() {
    use ReadProblemKind::{Depth, Keyword, NoSchema, Reference, Type, Values};
    let cases = [
        (json!({"type": "date"}), json!({"type": "string", "format": "date"}), Type, "/type"),
        (
            json!({"properties": {"a": {}}, "if": {"required": ["a"]}, "unevaluatedProperties": false}),
            json!({"allOf": [{"type": "object", "properties": {"a": {}}}, {"if": {"required": ["a"]}}]}),
            Keyword,
            "/unevaluatedProperties",
        ),
        (
            json!({"prefixItems": [{"type": "string"}], "contains": {"type": "integer"}, "unevaluatedItems": false}),
            json!({"allOf": [{"type": "array", "prefixItems": [{"type": "string"}]}, {"contains": {"type": "integer"}}]}),
            Keyword,
            "/unevaluatedItems",
        ),
        (json!({"items": 5}), json!({"type": "array"}), NoSchema, "/items"),
        (json!({"const": "5", "type": "integer"}), json!({"const": 5}), Values, "/const"),
        (json!({"enum": [1, "a"], "type": "integer"}), json!({"const": 1}), Values, "/enum"),
        (
            json!({"oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}],
                "discriminator": {"propertyName": "k", "mapping": {"a": "A"}}}),
            json!({"oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}],
                "discriminator": {"propertyName": "k"}}),
            Reference,
            "/discriminator/mapping/a",
        ),
        (
            serde_json::from_str(&format!("{{\"default\":{}{}}}", "[".repeat(41), "]".repeat(41))).unwrap(),
            json!({}),
            Depth,
            "/default",
        ),
    ];
    for (schema, expected, kind, pointer) in cases {
        let mut problems = Vec::new();
        let shape = read(&schema, &mut problems);
        again(&shape);
        let told: Vec<_> = problems.iter().map(|problem| (problem.kind, problem.pointer.as_str())).collect();
        assert_eq!((canonical(&shape), told), (expected.to_string(), vec![(kind, pointer)]), "{schema}");
    }
}

#[test]
fn what_nothing_else_evaluates_is_additional() {
    let cases = rows! {
        {"type": "object", "properties": {"a": {}}, "not": {"required": ["b"]}, "unevaluatedProperties": false},
            {"allOf": [{"type": "object", "properties": {"a": {}}, "additionalProperties": false}, {"not": {"required": ["b"]}}]};
        {"prefixItems": [{"type": "string"}], "unevaluatedItems": false},
            {"type": "array", "prefixItems": [{"type": "string"}], "items": false};
        {"type": "object", "additionalProperties": true, "unevaluatedProperties": false}, {"type": "object"};
        {"not": {"$ref": "#/definitions/A"}}, {"not": {"$ref": "#/$defs/A"}};
    };
    for (schema, expected) in cases {
        assert_eq!(text(&schema), expected.to_string(), "{schema}");
    }
}

/// What a stranger's server sends is read, too.
#[test]
fn long_lists_take_time_that_grows_with_their_length() {
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
fn of_more_keys_than_anybody_reads_the_first_are_read() {
    let names: Vec<String> = (0..30_000).map(|at| format!("k{at}")).collect();
    let properties: serde_json::Map<String, Value> =
        names.iter().map(|name| (name.clone(), json!({}))).collect();
    for schema in [json!({ "required": names }), json!({ "properties": properties })] {
        let mut problems = Vec::new();
        let Kind::Object(rules) = read(&schema, &mut problems).kind else { panic!("no object") };
        assert_eq!(rules.fields.len(), 20_000);
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!(problem.message, "names 30000 keys, of which only the first 20000 are read");
    }
}
