//! Every keyword that allows or refuses values, with a value of each, as an independent validator sees them.

use serde_json::{Value, json};

use super::{decoded, refused};
use crate::schema::dialect::{Dialect, JSON_SCHEMA, OPENAI_STRICT};
use crate::schema::shape::read::read_document;
use crate::schema::shape::render::render_input;

/// A keyword, the schema of an argument `v`, values that fit it and values that do not.
type Case = (&'static str, Value, Value, Value);

fn of_values() -> Vec<Case> {
    vec![
        ("type", json!({"type": "string"}), json!(["a"]), json!([1, null, {}])),
        ("type", json!({"type": ["string", "null"]}), json!(["a", null]), json!([1])),
        ("enum", json!({"enum": ["a", 1, null]}), json!(["a", 1, null]), json!(["b", 2])),
        ("const", json!({"const": {"a": [1]}}), json!([{"a": [1]}]), json!([{"a": [2]}, "a"])),
        ("minimum", json!({"type": "number", "minimum": 2}), json!([2, 2.5]), json!([1.9])),
        ("maximum", json!({"type": "number", "maximum": 2}), json!([2]), json!([2.1])),
        ("exclusiveMinimum", json!({"type": "number", "exclusiveMinimum": 2}), json!([3]), json!([2])),
        ("exclusiveMaximum", json!({"type": "number", "exclusiveMaximum": 2}), json!([1]), json!([2])),
        ("multipleOf", json!({"type": "integer", "multipleOf": 3}), json!([6, 0]), json!([7])),
        ("minLength", json!({"type": "string", "minLength": 2}), json!(["ßß"]), json!(["ß"])),
        ("maxLength", json!({"type": "string", "maxLength": 2}), json!(["ßß"]), json!(["abc"])),
        ("pattern", json!({"type": "string", "pattern": "^a+$"}), json!(["aa"]), json!(["ab"])),
        ("items", json!({"type": "array", "items": {"type": "integer"}}), json!([[], [1]]), json!([["a"]])),
        (
            "prefixItems",
            json!({"type": "array", "prefixItems": [{"type": "integer"}], "items": false}),
            json!([[], [1]]),
            json!([["a"], [1, 2]]),
        ),
        ("minItems", json!({"type": "array", "minItems": 1}), json!([[1]]), json!([[]])),
        ("maxItems", json!({"type": "array", "maxItems": 1}), json!([[1]]), json!([[1, 2]])),
        ("uniqueItems", json!({"type": "array", "uniqueItems": true}), json!([[1, 2]]), json!([[1, 1.0]])),
        (
            "uniqueItems of places",
            json!({"type": "array", "prefixItems": [{}, {}], "uniqueItems": true}),
            json!([[1, 2]]),
            json!([[1, 1]]),
        ),
        (
            "contains",
            json!({"type": "array", "contains": {"const": 1}}),
            json!([[1], [2, 1]]),
            json!([[], [2]]),
        ),
        (
            "minContains",
            json!({"type": "array", "contains": {"minimum": 5}, "minContains": 2}),
            json!([[5, 6], ["a", "b"]]),
            json!([[5], [1, 2, 5]]),
        ),
        (
            "minContains of none",
            json!({"type": "array", "contains": {"const": 1}, "minContains": 0}),
            json!([[], [2]]),
            json!([]),
        ),
        (
            "maxContains",
            json!({"type": "array", "contains": {"type": "integer"}, "maxContains": 1}),
            json!([[1], ["a", 1]]),
            json!([[1, 2], []]),
        ),
    ]
}

fn of_objects() -> Vec<Case> {
    let fields = json!({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}});
    let with = |keyword: &str, value: Value| {
        let mut schema = fields.clone();
        schema[keyword] = value;
        schema
    };
    vec![
        (
            "properties",
            json!({"properties": {"a": {"type": "string"}}}),
            json!([{"a": "x"}]),
            json!([{"a": 1}]),
        ),
        ("required", with("required", json!(["a"])), json!([{"a": 1}]), json!([{}])),
        (
            "additionalProperties",
            with("additionalProperties", json!(false)),
            json!([{"a": 1}]),
            json!([{"d": 1}]),
        ),
        (
            "patternProperties",
            json!({"type": "object", "patternProperties": {"^x": {"type": "integer"}}}),
            json!([{"x1": 1, "y": "a"}]),
            json!([{"x1": "a"}]),
        ),
        ("minProperties", with("minProperties", json!(1)), json!([{"a": 1}]), json!([{}])),
        ("maxProperties", with("maxProperties", json!(1)), json!([{"a": 1}]), json!([{"a": 1, "b": 1}])),
        (
            "propertyNames",
            json!({"type": "object", "propertyNames": {"pattern": "^[a-z]+$", "maxLength": 3}}),
            json!([{"abc": 1}, {}]),
            json!([{"A": 1}, {"abcd": 1}]),
        ),
        (
            "dependentRequired",
            with("dependentRequired", json!({"a": ["b", "c"]})),
            json!([{}, {"b": 1}, {"a": 1, "b": 1, "c": 1}]),
            json!([{"a": 1}, {"a": 1, "b": 1}]),
        ),
        (
            "dependentSchemas",
            with("dependentSchemas", json!({"a": {"required": ["b"], "properties": {"b": {"const": 2}}}})),
            json!([{}, {"b": 1}, {"a": 1, "b": 2}]),
            json!([{"a": 1}, {"a": 1, "b": 1}]),
        ),
        (
            "dependencies",
            with("dependencies", json!({"a": ["b"], "b": {"required": ["c"]}})),
            json!([{}, {"c": 1}, {"a": 1, "b": 1, "c": 1}]),
            json!([{"a": 1}, {"b": 1}, {"a": 1, "b": 1}]),
        ),
    ]
}

fn of_schemas() -> Vec<Case> {
    let fields = json!({"type": "object", "properties": {"a": {}, "b": {}, "c": {}}});
    let and = |more: Value| {
        let mut schema = fields.clone();
        schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        schema
    };
    vec![
        ("allOf", json!({"allOf": [{"type": "integer"}, {"minimum": 2}]}), json!([2]), json!([1])),
        ("anyOf", json!({"anyOf": [{"type": "integer"}, {"const": "a"}]}), json!([2, "a"]), json!(["b"])),
        (
            "oneOf",
            json!({"oneOf": [{"type": "integer"}, {"type": "string"}]}),
            json!([2, "a"]),
            json!([true, null]),
        ),
        ("not", json!({"not": {"type": "string"}}), json!([1, null]), json!(["a"])),
        ("not of values", json!({"type": "string", "not": {"enum": ["a", "b"]}}), json!(["c"]), json!(["a"])),
        ("not of texts", json!({"type": "string", "not": {"pattern": "^a"}}), json!(["c"]), json!(["ab"])),
        (
            "not of keys",
            and(json!({"not": {"required": ["a", "b"]}})),
            json!([{}, {"a": 1}, {"b": 1, "c": 1}]),
            json!([{"a": 1, "b": 1}]),
        ),
        (
            "not of exactly one",
            and(json!({"not": {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}})),
            json!([{}, {"a": 1, "b": 1}]),
            json!([{"a": 1}, {"b": 1}]),
        ),
        ("not of not", json!({"not": {"not": {"type": "integer"}}}), json!([1]), json!(["a"])),
        (
            "if, then, else",
            and(json!({
                "if": {"required": ["a"], "properties": {"a": {"const": 1}}},
                "then": {"required": ["b"]},
                "else": {"properties": {"c": {"type": "string"}}},
            })),
            json!([{"a": 1, "b": 2}, {}, {"a": 2, "c": "x"}, {"a": 1, "b": 2, "c": 3}]),
            json!([{"a": 1}, {"c": 1}, {"a": 2, "c": 3}]),
        ),
        (
            "if without required",
            and(json!({"if": {"properties": {"a": {"const": 1}}}, "then": {"required": ["b"]}})),
            json!([{"a": 2}, {"a": 1, "b": 1}]),
            json!([{}, {"a": 1}]),
        ),
        (
            "if in allOf",
            and(json!({"allOf": [
                {"if": {"required": ["a"]}, "then": {"required": ["b"]}},
                {"if": {"required": ["b"]}, "then": {"not": {"required": ["c"]}}, "else": true},
            ]})),
            json!([{}, {"c": 1}, {"a": 1, "b": 1}]),
            json!([{"a": 1}, {"b": 1, "c": 1}]),
        ),
        ("$ref in not", json!({"not": {"$ref": "#/$defs/Named"}}), json!(["other", 1]), json!(["name"])),
    ]
}

#[test]
fn every_keyword_is_checked_as_a_validator_checks_it() {
    for (keyword, schema, right, wrong) in of_values().into_iter().chain(of_objects()).chain(of_schemas()) {
        let whole = json!({"type": "object", "properties": {"v": schema}, "required": ["v"],
            "$defs": {"Named": {"const": "name"}}});
        let validator = jsonschema::draft202012::new(&whole).unwrap();
        let published = {
            let (shape, defs) = read_document(&whole, &mut Vec::new());
            render_input(&shape, &defs, &JSON_SCHEMA).unwrap()
        };
        assert_eq!(published.losses, [], "{keyword}");
        let told = jsonschema::draft202012::new(&published.schema).unwrap();
        for (values, fits) in [(right, true), (wrong, false)] {
            for value in values.as_array().unwrap() {
                let arguments = json!({ "v": value });
                let decoded = decoded(&whole, &arguments, &JSON_SCHEMA);
                assert_eq!(decoded.is_ok(), fits, "{keyword}: {arguments} {decoded:?}");
                // `dependencies` is of an earlier draft, which the validator does not read as one.
                if keyword != "dependencies" {
                    assert_eq!(validator.is_valid(&arguments), fits, "{keyword}: {arguments}");
                    assert_eq!(
                        told.is_valid(&arguments),
                        fits,
                        "{keyword}: {arguments} {}",
                        published.schema
                    );
                }
            }
        }
    }
}

#[test]
fn what_a_condition_wants_is_told_with_its_reason() {
    let fields = json!({"card": {"type": "string"}, "kind": {"type": "string"}, "cvc": {"type": "string"}});
    let with = |rule: Value| {
        let mut schema = super::object(&fields);
        schema.as_object_mut().unwrap().extend(rule.as_object().unwrap().clone());
        schema
    };
    let pays = json!({"if": {"properties": {"kind": {"const": "card"}}, "required": ["kind"]}, "then": {"required": ["cvc"]}});
    let cases = [
        (
            with(pays),
            json!({"kind": "card"}),
            "/cvc: missing: expected a value; asked because the object has `kind` that is \"card\"",
        ),
        (
            with(json!({"not": {"required": ["card", "cvc"]}})),
            json!({"card": "x", "cvc": "y"}),
            ": must not be so that the object has `card` and has `cvc`; leave one of them out",
        ),
        (
            with(json!({"dependentRequired": {"card": ["cvc"]}})),
            json!({"card": "x"}),
            "/cvc: missing: asked because `card` is given; give both or leave `card` out",
        ),
        (
            with(json!({"dependentSchemas": {"card": {"properties": {"cvc": {"minLength": 3}}}}})),
            json!({"card": "x", "cvc": "y"}),
            "/cvc: must have at least 3 characters, got 1; asked because `card` is given",
        ),
        (
            super::object(&json!({"l": {"type": "array", "contains": {"const": 1}, "maxContains": 1}})),
            json!({"l": [1, 1]}),
            "/l: must have at most 1 item of which each is 1, got 2",
        ),
        (
            super::object(&json!({"m": {"type": "object", "propertyNames": {"maxLength": 2}}})),
            json!({"m": {"abc": 1}}),
            "/m/abc: the key is not allowed: must have at most 2 characters, got 3; use another key",
        ),
        (
            super::object(&json!({"s": {"not": {"enum": ["root", "admin"]}}})),
            json!({"s": "root"}),
            "/s: must not be so that the value is one of \"root\", \"admin\"; send something else",
        ),
    ];
    for (schema, arguments, told) in cases {
        refused(&schema, &arguments, &[told]);
    }
}

#[test]
fn what_a_model_leaves_out_as_null_is_not_given() {
    let schema = json!({"type": "object", "properties": {
        "a": {"type": "string"}, "b": {"type": "string"}, "$top": {"type": "integer"},
    }, "additionalProperties": false, "dependentRequired": {"a": ["b"]}, "not": {"required": ["a", "b", "$top"]}});
    let decoded = |arguments: Value, dialect: &Dialect| decoded(&schema, &arguments, dialect).is_ok();
    assert!(decoded(json!({"a": null, "b": null, "$top": 1}), &OPENAI_STRICT));
    assert!(decoded(json!({"a": "x", "b": "y", "$top": null}), &OPENAI_STRICT));
    assert!(!decoded(json!({"a": "x", "b": null, "$top": null}), &OPENAI_STRICT));
    assert!(!decoded(json!({"a": "x", "b": "y", "$top": 1}), &OPENAI_STRICT));
}

#[test]
fn what_is_not_known_for_sure_refuses_nothing() {
    let object = |rule: Value| super::object(&json!({ "v": rule }));
    let long = "b".repeat(5_000);
    let cases = [
        // A pattern that is none, and one that is not tried on so long a text.
        (object(json!({"type": "string", "not": {"pattern": "["}})), json!("x")),
        (object(json!({"type": "string", "not": {"pattern": r"^(.+)\1$"}})), json!(long)),
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
fn conditions_that_lead_to_themselves_end() {
    let schema = json!({"type": "object", "properties": {"v": {"$ref": "#/$defs/A"}}, "$defs": {
        "A": {"not": {"$ref": "#/$defs/A"}},
    }});
    assert!(decoded(&schema, &json!({"v": 1}), &JSON_SCHEMA).is_ok());
    // Each level asks twice about the next.
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
