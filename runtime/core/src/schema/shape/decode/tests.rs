mod keywords;
mod limits;
pub(in crate::schema::shape) mod oracle;
mod texts;
mod unions;

use serde_json::{Value, json};
use toolgen_test_support::rows;

use super::transform::{completed, under_wire_names};
use super::{ArgumentProblemKind, decode};
use crate::schema::dialect::{Dialect, JSON_SCHEMA, OPENAI, OPENAI_STRICT};
use crate::schema::shape::read::read_document;
use toolgen_test_support::cpu_time;

fn decoded(schema: &Value, arguments: &Value, dialect: &Dialect) -> Result<Value, Vec<String>> {
    let mut problems = Vec::new();
    let (shape, defs) = read_document(schema, &mut problems);
    assert_eq!(problems, []);
    let told = |problem: super::ArgumentProblem| format!("{}: {}", problem.pointer, problem.message);
    decode(arguments, &shape, &defs, dialect).map_err(|problems| problems.into_iter().map(told).collect())
}

#[track_caller]
fn taken(schema: &Value, arguments: &Value, expected: &Value) {
    let decoded = decoded(schema, arguments, &JSON_SCHEMA);
    assert_eq!(decoded.map(|value| value.to_string()), Ok(expected.to_string()));
}

#[track_caller]
fn refused(schema: &Value, arguments: &Value, expected: &[&str]) {
    let problems = decoded(schema, arguments, &JSON_SCHEMA).unwrap_err();
    assert_eq!(problems, expected);
}

/// A closed object of these properties, all optional.
fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

#[test]
fn every_problem_is_told_at_once() {
    let schema = json!({"type": "object", "properties": {
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "status": {"type": "string", "enum": ["open", "closed"]},
        "name": {"type": "string", "maxLength": 3},
        "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
    }, "required": ["limit", "name"], "additionalProperties": false});
    let arguments = json!({"limit": "5", "status": "opne", "tags": ["a", 1, "a"], "nmae": "x"});
    refused(
        &schema,
        &arguments,
        &[
            "/limit: expected an integer, got the text \"5\"; send it as JSON, without the quotes",
            "/status: expected one of \"open\", \"closed\", got the text \"opne\"; did you mean \"open\"?",
            "/tags/1: expected a text, got the number 1",
            "/tags/2: no item may occur twice, got the text \"a\" again",
            "/nmae: unknown argument `nmae` (did you mean `name`?); known: `limit`, `status`, `name`, `tags`",
            "/name: missing: expected a text",
        ],
    );
}

#[test]
fn rules_of_values_are_checked() {
    let cases = rows! {
        {"type": "integer", "minimum": 1, "multipleOf": 2}, (-1), "must be at least 1 and a multiple of 2, got -1";
        {"type": "number", "exclusiveMaximum": 1}, 1.0, "must be less than 1, got 1.0";
        {"type": "integer"}, 1.5, "expected an integer, got the number 1.5";
        {"type": "string", "minLength": 2}, "ß", "must have at least 2 characters, got 1";
        {"type": "string", "pattern": "^[a-z]+$"}, "A", "must match the pattern ^[a-z]+$, got the text \"A\"";
        {"type": "string", "minLength": 1}, "", "must have at least 1 character, got 0";
        {"type": "array", "maxItems": 1}, [1, 2], "must have at most 1 item, got 2";
        {"type": ["boolean", "null"]}, "true",
            "expected true or false or null, got the text \"true\"; send it as JSON, without the quotes";
        {"const": 1}, 2, "expected 1, got the number 2";
        {"oneOf": [{"type": "string"}, {"type": "integer"}]}, [], "expected a text or an integer, got an empty list";
    };
    for (schema, value, expected) in cases {
        refused(
            &object(&json!({ "a": schema })),
            &json!({ "a": value }),
            &[&format!("/a: {}", expected.as_str().unwrap())],
        );
    }
}

#[test]
fn decimals_are_multiples_of_decimals() {
    let schema = object(&json!({"a": {"type": "number", "multipleOf": 0.1}}));
    for good in [json!(0.3), json!(1.1), json!(7), json!(123_456.7)] {
        assert!(decoded(&schema, &json!({ "a": good }), &JSON_SCHEMA).is_ok(), "{good}");
    }
    assert!(decoded(&schema, &json!({"a": 0.35}), &JSON_SCHEMA).is_err());
    let schema = object(&json!({"a": {"type": "integer", "multipleOf": 3}}));
    taken(&schema, &json!({"a": 9_007_199_254_740_993u64}), &json!({"a": 9_007_199_254_740_993u64}));
    assert!(decoded(&schema, &json!({"a": 9_007_199_254_740_994u64}), &JSON_SCHEMA).is_err());
}

#[test]
fn only_integers_are_coerced() {
    let schema = object(
        &json!({"a": {"type": "integer"}, "b": {"type": "number"}, "c": {"type": "array", "items": {"type": "integer"}},
        "d": {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "e": {"enum": [1, 2]}}),
    );
    taken(
        &schema,
        &json!({"a": 5.0, "b": 5.0, "c": [1.0, 2], "d": 3.0, "e": 1.0}),
        &json!({"a": 5, "b": 5.0, "c": [1, 2], "d": 3, "e": 1}),
    );
    for wrong in [json!("5"), json!(true), json!(null), json!([5])] {
        assert!(decoded(&schema, &json!({ "a": wrong }), &JSON_SCHEMA).is_err(), "{wrong}");
    }
}

#[test]
fn arguments_are_an_object() {
    for wrong in [json!(null), json!([]), json!("{}")] {
        let problems = decoded(&json!({}), &wrong, &JSON_SCHEMA).unwrap_err();
        assert!(problems[0].starts_with(": expected an object with the arguments, got"), "{problems:?}");
    }
}

#[test]
fn names_become_wire_names() {
    let field =
        json!({"type": "array", "items": {"type": "integer"}, "x-wire": "filter[x]", "x-aliases": ["flt"]});
    let schema = object(&json!({"filter": field,
        "nested": {"type": "object", "properties": {"top": {"type": "integer", "x-wire": "$top"}}, "required": ["top"]}}));
    let expected = json!({"filter[x]": [1]});
    for name in ["filter", "filter[x]", "flt"] {
        taken(&schema, &json!({ name: [1.0] }), &expected);
    }
    taken(&schema, &json!({"nested": {"top": 1, "other": 2}}), &json!({"nested": {"$top": 1, "other": 2}}));
    refused(
        &schema,
        &json!({"filter": [1], "flt": [2]}),
        &["/flt: given twice, as `filter`, `flt`; send only `filter`"],
    );
    refused(
        &schema,
        &json!({"nested": {}}),
        &["/nested/top: missing: expected an integer, or leave `nested` out"],
    );
}

#[test]
fn people_read_all_arguments_under_the_names_of_the_schema() {
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
    let sent = json!({"recipient": "Ada", "how": {"fast": null}, "or": {"tries": 1.0}, "note": null});
    let read = json!({"to": "Ada", "how": {"tries": 3}, "or": {"tries": 1}, "top": 20,
        "else": {"fast": true, "tries": 3}});
    assert_eq!(completed(&sent, &shape, &defs, &OPENAI_STRICT), Ok(read.clone()));
    assert_eq!(completed(&read, &shape, &defs, &JSON_SCHEMA), Ok(read.clone()), "once is enough");
    let mut wire = read.clone();
    wire["$top"] = wire.as_object_mut().unwrap().remove("top").unwrap();
    assert_eq!(under_wire_names(&read, &shape, &defs), Ok(wire));
    // One of the two, and both have a default.
    let either = json!({"type": "object", "maxProperties": 1, "properties": {
        "a": {"type": "integer", "default": 1}, "b": {"type": "integer", "default": 2}}});
    let (shape, defs) = read_document(&either, &mut Vec::new());
    assert_eq!(completed(&json!({"b": 5.0}), &shape, &defs, &JSON_SCHEMA), Ok(json!({"b": 5})));
}

#[test]
fn renames_reach_through_references_unions_and_conjunctions() {
    let named = json!({"type": "object", "properties": {"top": {"type": "integer", "x-wire": "$top"}}, "required": ["top"]});
    let schema = json!({"type": "object", "properties": {
            "a": {"$ref": "#/$defs/N"},
            "b": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/N"}}]},
            "c": {"allOf": [{"$ref": "#/$defs/N"}, {"type": "object", "properties": {"x": {"type": "string"}}}]},
        }, "$defs": {"N": named}});
    taken(
        &schema,
        &json!({"a": {"top": 1}, "b": [{"top": 2.0}], "c": {"top": 3.0, "x": "y"}}),
        &json!({"a": {"$top": 1}, "b": [{"$top": 2}], "c": {"$top": 3, "x": "y"}}),
    );
}

#[test]
fn strict_dialects_send_null_for_what_they_leave_out() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": ["string", "null"]}, "c": {"type": "integer"},
        "d": {"type": "object", "properties": {"e": {"type": "string"}}, "additionalProperties": false},
    }, "required": ["c"], "additionalProperties": false});
    let arguments = json!({"a": null, "b": null, "c": 1, "d": {"e": null}});
    // `null` is never more than nothing: a model that leaves a value alone must not erase it.
    let expected = json!({"c": 1, "d": {}});
    assert_eq!(decoded(&schema, &arguments, &OPENAI_STRICT), Ok(expected));
    assert_eq!(decoded(&schema, &arguments, &OPENAI).unwrap_err().len(), 2);
    // A required value is never left out.
    assert_eq!(decoded(&schema, &json!({"c": null}), &OPENAI_STRICT).unwrap_err().len(), 1);
}

#[test]
fn read_only_fields_are_unknown() {
    let schema = json!({"type": "object", "properties": {"id": {"type": "string", "readOnly": true}},
        "required": ["id"], "additionalProperties": false});
    taken(&schema, &json!({}), &json!({}));
    refused(&schema, &json!({"id": "x"}), &["/id: unknown argument `id`; there are no arguments"]);
}

fn pets(discriminator: &Value) -> Value {
    let mut schema = json!({"type": "object", "properties": {"pet": {"oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]}},
    "$defs": {
        "Cat": {"type": "object", "properties": {"kind": {"type": "string"}, "lives": {"type": "integer"}}, "required": ["kind", "lives"]},
        "Dog": {"type": "object", "properties": {"kind": {"type": "string"}, "bark": {"type": "boolean"}}, "required": ["kind"]},
    }});
    if !discriminator.is_null() {
        schema["properties"]["pet"]["discriminator"] = discriminator.clone();
    }
    schema
}

#[test]
fn a_discriminator_names_the_variant() {
    let schema = pets(&json!({"propertyName": "kind", "mapping": {"cat": "#/$defs/Cat"}}));
    refused(
        &schema,
        &json!({"pet": {"kind": "cat", "lives": "9"}}),
        &["/pet/lives: expected an integer, got the text \"9\"; send it as JSON, without the quotes"],
    );
    taken(&schema, &json!({"pet": {"kind": "Dog"}}), &json!({"pet": {"kind": "Dog"}}));
    refused(
        &schema,
        &json!({"pet": {"kind": "dgo"}}),
        &["/pet/kind: expected one of \"cat\", \"Dog\", got the text \"dgo\"; did you mean \"Dog\"?"],
    );
    refused(
        &schema,
        &json!({"pet": {"lives": 9}}),
        &["/pet/kind: missing: expected one of \"cat\", \"Dog\""],
    );
}

#[test]
fn a_discriminator_that_no_variant_requires_may_be_missing() {
    let variant = |mode: &str, field: &str| json!({"type": "object", "properties": {"mode": {"enum": [mode]}, field: {"type": "string"}}, "required": [field]});
    let mut schema = object(&json!({"auth": {
        "oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}], "discriminator": {"propertyName": "mode"}
    }}));
    schema["$defs"] = json!({"A": variant("a", "x"), "B": variant("b", "y")});
    taken(&schema, &json!({"auth": {"x": "1"}}), &json!({"auth": {"x": "1"}}));
    let missing = "/auth/mode: missing: expected one of \"a\", \"b\"";
    refused(&schema, &json!({"auth": {"x": "1", "y": "2"}}), &[missing]);
    refused(&schema, &json!({"auth": {}}), &[&format!("{missing}, or leave `auth` out")]);
    refused(&schema, &json!({"auth": {"mode": "b", "x": "1"}}), &["/auth/y: missing: expected a text"]);
}

#[test]
fn a_value_may_fit_several_alternatives() {
    let list = |of: &str| json!({"type": "array", "items": {"type": of}});
    let cases = [
        (
            json!([{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]),
            json!("2020-01-01"),
        ),
        (json!([{"type": "integer"}, {"type": "number"}]), json!(5)),
        (json!([{"enum": ["a", "b"]}, {"type": "string"}]), json!("a")),
        (json!([list("string"), list("integer")]), json!([])),
        (
            json!([{"type": "object", "properties": {"x": {}}}, {"type": "object", "properties": {"y": {}}}]),
            json!({}),
        ),
    ];
    for (alternatives, value) in cases {
        let schema = object(&json!({"a": {"oneOf": alternatives}}));
        taken(&schema, &json!({"a": value}), &json!({"a": value}));
    }
}

#[test]
fn of_several_that_fit_the_one_that_knows_the_keys_is_meant() {
    let variant = |key: &str, wire: &str| json!({"type": "object", "properties": {key: {"type": "integer", "x-wire": wire}}});
    let both = json!([variant("x", "$x"), variant("y", "$y")]);
    let schema = object(&json!({"a": {"oneOf": both}, "list": {"type": "array", "items": {"oneOf": both}}}));
    taken(
        &schema,
        &json!({"a": {"y": 1.0}, "list": [{"x": 2}, {"y": 3}]}),
        &json!({"a": {"$y": 1}, "list": [{"$x": 2}, {"$y": 3}]}),
    );
}

#[test]
fn without_one_the_nearest_variant_is_told() {
    refused(
        &pets(&Value::Null),
        &json!({"pet": {"kind": "x", "bark": 1}}),
        &["/pet/bark: expected true or false, got the number 1"],
    );
    let tagged = object(&json!({"a": {"anyOf": [
        {"type": "object", "properties": {"t": {"const": "x"}, "n": {"type": "integer"}}, "required": ["t", "n"]},
        {"type": "object", "properties": {"t": {"const": "y"}, "m": {"type": "integer"}, "k": {"type": "integer"}}, "required": ["t", "m", "k"]},
    ]}}));
    refused(
        &tagged,
        &json!({"a": {"t": "y"}}),
        &["/a/m: missing: expected an integer", "/a/k: missing: expected an integer"],
    );
}

#[test]
fn circles_and_multiplied_unions_end() {
    let circle = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {
        "A": {"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}, "B": {"allOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}}});
    let _ = decoded(&circle, &json!({"a": 5}), &JSON_SCHEMA);
    // Without remembering, two to the power of the depth.
    let list = json!({"type": "array", "items": {"$ref": "#/$defs/A"}});
    let doubled = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"anyOf": [list, {"type": "array", "minItems": 0, "items": {"$ref": "#/$defs/A"}}, {"type": "string"}]}}});
    let mut deep = json!(5);
    for _ in 0..60 {
        deep = json!([deep]);
    }
    let (outcome, spent) = cpu_time(|| decoded(&doubled, &json!({ "a": deep }), &JSON_SCHEMA));
    assert!(outcome.is_err() && spent.as_secs() < 5, "{spent:?}");
    // Deeper than any JSON reader gives it.
    for _ in 0..400 {
        deep = Value::Array(vec![deep]);
    }
    let arguments = Value::Object([(String::from("a"), deep)].into_iter().collect());
    assert!(decoded(&doubled, &arguments, &JSON_SCHEMA).is_err());
}

#[test]
fn a_missing_field_that_is_given_under_another_name_is_found() {
    let place = json!({"type": "object", "properties": {"street": {"type": "string"}, "zip": {"type": "string"}},
        "required": ["street"]});
    let schema = object(&json!({"to": place}));
    let missing = "/to/street: missing: expected a text";
    refused(
        &schema,
        &json!({"to": {"Street": "x"}}),
        &[&format!("{missing}; `Street` is given: send it under this name")],
    );
    refused(&schema, &json!({"to": {"zip": "x", "floor": "y"}}), &[missing]);
}

#[test]
fn kinds_of_problems_are_told() {
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
fn what_is_wrong_with_a_result_is_no_advice_to_the_model() {
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
    let told: Vec<String> = problems.iter().map(super::ArgumentProblem::of_result).collect();
    assert_eq!(
        told,
        [
            "/count: expected an integer, got the text \"7\"",
            "/nmae: unknown field `nmae`; known: `count`, `name`, `note`, `sort`, `either`, `deep`",
            "/note: expected a text, got null",
            "/sort: expected one of \"ascending\", \"descending\", got the text \"ascendign\"",
            "/either: expected one of \"all\", \"none\" or an integer, got the text \"nnoe\"",
            "/deep/txet: unknown field `txet`; known: `text`",
            "/name: missing: expected a text",
        ]
    );
    let whole = super::result_problems(&json!([1]), &shape, &defs);
    assert_eq!(whole[0].of_result(), "the result: expected an object, got a list of 1");
}
