//! Compares validation with an independent validator, for valid and invalid values of every keyword.

use serde_json::{Value, json};
use toolgen_test_support::rows;

use super::decoded;
use crate::schema::dialect::JSON_SCHEMA;
use crate::schema::shape::read::read_document;
use crate::schema::shape::render::render_input;

/// A keyword, the schema of an argument `v`, valid values, and invalid values.
type Case = (Value, Value, Value, Value);

fn cases() -> Vec<Case> {
    let value_cases = rows! {
        "type", {"type": "string"}, ["a"], [1, null, {}];
        "type", {"type": ["string", "null"]}, ["a", null], [1];
        "enum", {"enum": ["a", 1, null]}, ["a", 1, null], ["b", 2];
        "const", {"const": {"a": [1]}}, [{"a": [1]}], [{"a": [2]}, "a"];
        "minimum", {"type": "number", "minimum": 2}, [2, 2.5], [1.9];
        "maximum", {"type": "number", "maximum": 2}, [2], [2.1];
        "exclusiveMinimum", {"type": "number", "exclusiveMinimum": 2}, [3], [2];
        "exclusiveMaximum", {"type": "number", "exclusiveMaximum": 2}, [1], [2];
        "multipleOf", {"type": "integer", "multipleOf": 3}, [6, 0], [7];
        "minLength", {"type": "string", "minLength": 2}, ["ßß"], ["ß"];
        "maxLength", {"type": "string", "maxLength": 2}, ["ßß"], ["abc"];
        "pattern", {"type": "string", "pattern": "^a+$"}, ["aa"], ["ab"];
        "items", {"type": "array", "items": {"type": "integer"}}, [[], [1]], [["a"]];
        "prefixItems", {"type": "array", "prefixItems": [{"type": "integer"}], "items": false}, [[], [1]],
            [["a"], [1, 2]];
        "minItems", {"type": "array", "minItems": 1}, [[1]], [[]];
        "maxItems", {"type": "array", "maxItems": 1}, [[1]], [[1, 2]];
        "uniqueItems", {"type": "array", "uniqueItems": true}, [[1, 2]], [[1, 1.0]];
        "uniqueItems of places", {"type": "array", "prefixItems": [{}, {}], "uniqueItems": true}, [[1, 2]], [[1, 1]];
        "contains", {"type": "array", "contains": {"const": 1}}, [[1], [2, 1]], [[], [2]];
        "minContains", {"type": "array", "contains": {"minimum": 5}, "minContains": 2}, [[5, 6], ["a", "b"]],
            [[5], [1, 2, 5]];
        "minContains of none", {"type": "array", "contains": {"const": 1}, "minContains": 0}, [[], [2]], [];
        "maxContains", {"type": "array", "contains": {"type": "integer"}, "maxContains": 1}, [[1], ["a", 1]],
            [[1, 2], []];
        "properties", {"properties": {"a": {"type": "string"}}}, [{"a": "x"}], [{"a": 1}];
        "patternProperties", {"type": "object", "patternProperties": {"^x": {"type": "integer"}}},
            [{"x1": 1, "y": "a"}], [{"x1": "a"}];
        "propertyNames", {"type": "object", "propertyNames": {"pattern": "^[a-z]+$", "maxLength": 3}},
            [{"abc": 1}, {}], [{"A": 1}, {"abcd": 1}];
        "allOf", {"allOf": [{"type": "integer"}, {"minimum": 2}]}, [2], [1];
        "anyOf", {"anyOf": [{"type": "integer"}, {"const": "a"}]}, [2, "a"], ["b"];
        "oneOf", {"oneOf": [{"type": "integer"}, {"type": "string"}]}, [2, "a"], [true, null];
        "not", {"not": {"type": "string"}}, [1, null], ["a"];
        "not of values", {"type": "string", "not": {"enum": ["a", "b"]}}, ["c"], ["a"];
        "not with a pattern", {"type": "string", "not": {"pattern": "^a"}}, ["c"], ["ab"];
        "not of not", {"not": {"not": {"type": "integer"}}}, [1], ["a"];
        "$ref in not", {"not": {"$ref": "#/$defs/Named"}}, ["other", 1], ["name"];
    };
    // For objects with the fields `a`, `b` and `c`.
    let object_cases = rows! {
        "required", {"required": ["a"]}, [{"a": 1}], [{}];
        "additionalProperties", {"additionalProperties": false}, [{"a": 1}], [{"d": 1}];
        "minProperties", {"minProperties": 1}, [{"a": 1}], [{}];
        "maxProperties", {"maxProperties": 1}, [{"a": 1}], [{"a": 1, "b": 1}];
        "dependentRequired", {"dependentRequired": {"a": ["b", "c"]}}, [{}, {"b": 1}, {"a": 1, "b": 1, "c": 1}],
            [{"a": 1}, {"a": 1, "b": 1}];
        "dependentSchemas", {"dependentSchemas": {"a": {"required": ["b"], "properties": {"b": {"const": 2}}}}},
            [{}, {"b": 1}, {"a": 1, "b": 2}], [{"a": 1}, {"a": 1, "b": 1}];
        "dependencies", {"dependencies": {"a": ["b"], "b": {"required": ["c"]}}},
            [{}, {"c": 1}, {"a": 1, "b": 1, "c": 1}], [{"a": 1}, {"b": 1}, {"a": 1, "b": 1}];
        "not of keys", {"not": {"required": ["a", "b"]}}, [{}, {"a": 1}, {"b": 1, "c": 1}], [{"a": 1, "b": 1}];
        "not of exactly one", {"not": {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}},
            [{}, {"a": 1, "b": 1}], [{"a": 1}, {"b": 1}];
        "if, then, else",
            { "if": {"required": ["a"], "properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}, "else": {"properties": {"c": {"type": "string"}}}},
            [{"a": 1, "b": 2}, {}, {"a": 2, "c": "x"}, {"a": 1, "b": 2, "c": 3}],
            [{"a": 1}, {"c": 1}, {"a": 2, "c": 3}];
        "if without required", {"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}},
            [{"a": 2}, {"a": 1, "b": 1}], [{}, {"a": 1}];
        "if in allOf",
            {"allOf": [ {"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"if": {"required": ["b"]}, "then": {"not": {"required": ["c"]}}, "else": true}]},
            [{}, {"c": 1}, {"a": 1, "b": 1}], [{"a": 1}, {"b": 1, "c": 1}];
    };
    let object_cases = object_cases.map(|(keyword, more, valid, invalid)| {
        let mut schema = json!({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}});
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        (keyword, schema, valid, invalid)
    });
    value_cases.into_iter().chain(object_cases).collect()
}

#[test]
fn every_keyword_agrees_with_a_validator() {
    for (keyword, schema, valid, invalid) in cases() {
        let root = json!({"type": "object", "properties": {"v": schema}, "required": ["v"],
            "$defs": {"Named": {"const": "name"}}});
        let validator = jsonschema::draft202012::new(&root).unwrap();
        let published = {
            let (shape, defs) = read_document(&root, &mut Vec::new());
            render_input(&shape, &defs, &JSON_SCHEMA).unwrap()
        };
        assert_eq!(published.losses, [], "{keyword}");
        let validator_of_rendered = jsonschema::draft202012::new(&published.schema).unwrap();
        for (values, expected) in [(valid, true), (invalid, false)] {
            for value in values.as_array().unwrap() {
                let arguments = json!({ "v": value });
                let decoded = decoded(&root, &arguments, &JSON_SCHEMA);
                assert_eq!(decoded.is_ok(), expected, "{keyword}: {arguments} {decoded:?}");
                // `dependencies` is from an earlier draft, which the validator does not support.
                if keyword != "dependencies" {
                    assert_eq!(validator.is_valid(&arguments), expected, "{keyword}: {arguments}");
                    assert_eq!(
                        validator_of_rendered.is_valid(&arguments),
                        expected,
                        "{keyword}: {arguments} {}",
                        published.schema
                    );
                }
            }
        }
    }
}

#[test]
fn unknown_rules_reject_nothing() {
    let object = |rule: Value| super::object(&json!({ "v": rule }));
    let long = "b".repeat(5_000);
    let cases = [
        // An invalid pattern, and one that is not matched against such a long string.
        (object(json!({"type": "string", "not": {"pattern": "["}})), json!("x")),
        (object(json!({"type": "string", "not": {"pattern": r"^(b+)(b+)(b+)\1\2\3c"}})), json!(long)),
        (
            object(
                json!({"type": "string", "if": {"pattern": "["}, "then": {"maxLength": 1}, "else": {"minLength": 9}}),
            ),
            json!("xx"),
        ),
        (object(json!({"type": "array", "contains": {"pattern": "["}, "maxContains": 1})), json!(["a", "b"])),
    ];
    for (schema, value) in cases {
        let decoded = super::decode(
            &json!({ "v": value }),
            &read_document(&schema, &mut Vec::new()).0,
            &crate::base::frozen::List::EMPTY,
            &JSON_SCHEMA,
        );
        assert!(decoded.is_ok(), "{schema} {decoded:?}");
    }
}

#[test]
fn self_referential_conditions_terminate() {
    let schema = json!({"type": "object", "properties": {"v": {"$ref": "#/$defs/A"}}, "$defs": {
        "A": {"not": {"$ref": "#/$defs/A"}},
    }});
    assert!(decoded(&schema, &json!({"v": 1}), &JSON_SCHEMA).is_ok());
    // Each level checks the next one twice.
    let twice = |inner: Value| json!({"properties": {"n": inner}, "not": {"not": {"$ref": "#/$defs/B"}}});
    let schema = json!({"type": "object", "properties": {"v": {"$ref": "#/$defs/B"}}, "$defs": {
        "B": twice(json!({"$ref": "#/$defs/B"})),
    }});
    let deep = (0..60).fold(json!({}), |inner, _| json!({ "n": inner }));
    let _ = decoded(&schema, &json!({ "v": deep }), &JSON_SCHEMA);
    let many: Vec<Value> = (0..5_000).map(Value::from).collect();
    let schema = super::object(
        &json!({"v": {"type": "array", "contains": {"contains": {"const": 1}, "not": {"const": 2}}}}),
    );
    assert!(decoded(&schema, &json!({ "v": many }), &JSON_SCHEMA).is_ok());
}
