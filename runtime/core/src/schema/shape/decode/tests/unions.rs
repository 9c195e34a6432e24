//! What a model reads about a union: the problems of the variant that was meant, or all variants if none was.

use std::time::Duration;

use serde_json::{Value, json};
use toolgen_test_support::rows;

use super::{JSON_SCHEMA, OPENAI_STRICT, cpu_time, decoded, object, refused};

/// A closed object with one property, as serde writes a variant with contents.
fn holding(name: &str, what: &Value) -> Value {
    json!({"type": "object", "properties": {name: what}, "required": [name], "additionalProperties": false})
}

/// An object of a variant that a property names.
fn tagged(tag: &Value, fields: &[&str]) -> Value {
    let mut variant = json!({"type": "object", "properties": {"type": tag}, "required": ["type"]});
    for field in fields {
        variant["properties"][*field] = json!({"type": "string"});
        variant["required"].as_array_mut().unwrap().push(json!(field));
    }
    variant
}

fn delivery() -> Value {
    let before = json!({"type": "integer", "minimum": 0, "maximum": 255});
    let next_day = json!({"type": "object", "properties": {"before": before}, "required": ["before"]});
    json!({"oneOf": [
        {"const": "normal"},
        holding("next_day", &next_day),
        holding("courier", &json!({"type": "string"})),
    ]})
}

#[test]
fn the_variant_is_the_one_with_the_key() {
    let mut schema = object(&json!({"e": delivery(), "same": {"$ref": "#/$defs/E"}}));
    schema["$defs"] = json!({"E": delivery()});
    let cases = rows! {
        {"next_day": {"before": 300}}, "/next_day/before: must be at most 255, got 300";
        {"next_day": {}}, "/next_day/before: missing: expected an integer";
        {"courier": 5}, "/courier: expected a text, got the number 5";
        "next_day",
            ": expected \"normal\" or an object with one of `next_day`, `courier`, got the text \"next_day\"; send the object {\"next_day\": …}";
        "norml",
            ": expected \"normal\" or an object with one of `next_day`, `courier`, got the text \"norml\"; did you mean \"normal\"?";
        "xyz", ": expected \"normal\" or an object with one of `next_day`, `courier`, got the text \"xyz\"";
        5, ": expected \"normal\" or an object with one of `next_day`, `courier`, got the number 5";
        {"normal": null},
            ": expected \"normal\" or an object with one of `next_day`, `courier`, got an object; send the text \"normal\"";
    };
    for (value, expected) in cases {
        let expected = expected.as_str().unwrap();
        for place in ["e", "same"] {
            refused(&schema, &json!({ place: value }), &[&format!("/{place}{expected}")]);
        }
    }
}

#[test]
fn all_variants_are_told_if_no_key_is_one() {
    let text = json!({"type": "string"});
    let many = json!({"type": "object", "properties": {"x": text, "y": text}});
    let schema = object(&json!({"e": {"oneOf": [holding("alpha", &many), holding("beta", &text)]}}));
    refused(&schema, &json!({"e": {"c": {}}}), &["/e/c: unknown field `c`; known: `alpha`, `beta`"]);
    refused(
        &schema,
        &json!({"e": {"alhpa": {}}}),
        &["/e/alhpa: unknown field `alhpa` (did you mean `alpha`?); known: `alpha`, `beta`"],
    );
    refused(
        &schema,
        &json!({"e": {}}),
        &["/e: expected an object with one of `alpha`, `beta`, got an empty object, or leave `e` out"],
    );
    refused(
        &schema,
        &json!({"e": {"alpha": {}, "beta": "x"}}),
        &["/e: expected an object with one of `alpha`, `beta`, got several of them"],
    );
    refused(
        &schema,
        &json!({"e": {"alpha": {"x": 1, "y": 2}}}),
        &["/e/alpha/x: expected a text, got the number 1", "/e/alpha/y: expected a text, got the number 2"],
    );
}

#[test]
fn a_valid_tag_is_not_called_wrong() {
    let kinds = json!({"type": "string", "enum": ["afterpay_default", "card", "ideal", "paypal"]});
    let other = tagged(&kinds, &["bank"]);
    let apple = tagged(&json!({"type": "string", "enum": ["applepay"]}), &["applePayToken"]);
    for ways in [json!([other, apple]), json!([apple, other])] {
        let schema = object(&json!({"way": {"oneOf": ways}}));
        refused(
            &schema,
            &json!({"way": {"type": "applepay", "bank": "x"}}),
            &["/way/applePayToken: missing: expected a text"],
        );
        refused(
            &schema,
            &json!({"way": {"type": "ideal", "applePayToken": "x"}}),
            &["/way/bank: missing: expected a text"],
        );
    }
}

#[test]
fn all_tags_are_told_if_none_is_given() {
    let of = |tag: &str, fields: &[&str]| tagged(&json!({ "const": tag }), fields);
    let mut schema =
        object(&json!({"way": {"oneOf": [of("cash", &[]), of("card", &["number"]), {"$ref": "#/$defs/B"}]}}));
    schema["$defs"] = json!({"B": {"allOf": [of("bank", &["iban"]), {"type": "object"}]}});
    let told = "one of \"cash\", \"card\", \"bank\"";
    let cases = [
        (json!({"type": "gold"}), format!("expected {told}, got the text \"gold\"")),
        (
            json!({"type": "bnak", "iban": "x"}),
            format!("expected {told}, got the text \"bnak\"; did you mean \"bank\"?"),
        ),
        (json!({"type": 5}), format!("expected {told}, got the number 5")),
        (json!({}), format!("missing: expected {told}, or leave `way` out")),
        (json!({"iban": "x"}), "missing: expected \"bank\"".to_owned()),
    ];
    for (value, expected) in cases {
        refused(&schema, &json!({ "way": value }), &[&format!("/way/type: {expected}")]);
    }
    let many: Vec<Value> = (0..40).map(|tag| of(&format!("t{tag}"), &[])).collect();
    let problems =
        decoded(&object(&json!({"way": {"oneOf": many}})), &json!({"way": {"type": "gold"}}), &JSON_SCHEMA);
    let told = problems.unwrap_err();
    assert!(told[0].contains("\"t29\", …, got the text"), "{told:?}");
}

#[test]
fn json_in_a_text_is_told_so_and_the_variants_are_bounded() {
    let names: Vec<String> = (0..13).map(|number| format!("Rule{number}")).collect();
    let variants: Vec<Value> = names.iter().map(|name| json!({"$ref": format!("#/$defs/{name}")})).collect();
    let mut schema = object(&json!({"body": {"oneOf": variants}}));
    schema["$defs"] =
        names.iter().map(|name| (name.clone(), tagged(&json!({"type": "string"}), &[name]))).collect();
    let told = "expected a Rule0 or a Rule1 or a Rule2 or a Rule3 or a Rule4 or one of 8 other forms";
    refused(
        &schema,
        &json!({"body": "{\"Rule3\":\"x\"}"}),
        &[&format!(
            "/body: {told}, got the text \"{{\\\"Rule3\\\":\\\"x\\\"}}\"; send it as JSON, without the quotes"
        )],
    );
    refused(&schema, &json!({"body": "[]"}), &[&format!("/body: {told}, got the text \"[]\"")]);
    refused(&schema, &json!({"body": 5}), &[&format!("/body: {told}, got the number 5")]);
}

#[test]
fn texts_beside_other_types_are_all_told() {
    let schema = object(&json!({"a": {"anyOf": [{"enum": ["low", "high"]}, {"type": "integer"}]}}));
    refused(
        &schema,
        &json!({"a": "hgih"}),
        &[
            "/a: expected one of \"low\", \"high\" or an integer, got the text \"hgih\"; did you mean \"high\"?",
        ],
    );
    refused(
        &schema,
        &json!({"a": "5"}),
        &[
            "/a: expected one of \"low\", \"high\" or an integer, got the text \"5\"; send it as JSON, without the quotes",
        ],
    );
}

#[test]
fn an_optional_value_is_left_out_rather_than_null() {
    let schema = json!({"type": "object", "properties": {
        "limit": {"type": "integer"}, "sort": {"enum": ["asc"]}, "page": {"$ref": "#/$defs/P"}, "id": {"type": "integer"},
        "way": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
    }, "required": ["id"], "$defs": {"P": {"type": "integer"}}});
    refused(
        &schema,
        &json!({"limit": null, "sort": null, "page": null, "id": null, "way": null}),
        &[
            "/limit: expected an integer, got null; leave it out instead",
            "/sort: expected \"asc\", got null; leave it out instead",
            "/page: expected an integer, got null; leave it out instead",
            "/id: expected an integer, got null",
            "/way: expected an integer or true or false, got null; leave it out instead",
        ],
    );
}

#[test]
fn what_the_meant_variant_holds_is_read_as_the_dialect_writes_it() {
    let tags = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let before = json!({"type": "integer", "maximum": 255});
    let next_day = json!({"type": "object", "properties": {"before": before, "tags": tags}, "required": ["before", "tags"]});
    let schema = object(&json!({"e": {"oneOf": [{"const": "normal"}, holding("next_day", &next_day)]}}));
    let written =
        |before: i64| json!({"e": {"next_day": {"before": before, "tags": [{"key": "a", "value": "b"}]}}});
    let read = json!({"e": {"next_day": {"before": 200, "tags": {"a": "b"}}}});
    assert_eq!(decoded(&schema, &written(200), &OPENAI_STRICT), Ok(read));
    let told = "/e/next_day/before: must be at most 255, got 300".to_owned();
    assert_eq!(decoded(&schema, &written(300), &OPENAI_STRICT), Err(vec![told]));
}

#[test]
fn other_names_of_a_tag_and_circles_are_no_trouble() {
    let of = |tag: &str| json!({"type": "object", "properties": {"kind": {"const": tag, "x-wire": "$kind"}, tag: {}}, "required": ["kind"]});
    let mut schema = object(&json!({"a": {"oneOf": [{"$ref": "#/$defs/X"}, {"$ref": "#/$defs/Y"}]}}));
    let circle = json!({"$ref": "#/$defs/X"});
    schema["$defs"] = json!({"X": {"allOf": [circle, circle, of("x")]}, "Y": {"anyOf": [of("y"), of("z")]}});
    for key in ["kind", "$kind"] {
        refused(
            &schema,
            &json!({"a": {key: "q"}}),
            &["/a/kind: expected one of \"x\", \"y\", \"z\", got the text \"q\""],
        );
    }
}

#[test]
fn many_keys_and_many_variants_take_little_time() {
    let fields: serde_json::Map<String, Value> =
        (0..50).map(|field| (format!("f{field}"), json!({}))).collect();
    let required: Vec<&String> = fields.keys().collect();
    let variant = json!({"type": "object", "properties": fields, "required": required});
    let variants: Vec<Value> = (0..40).map(|_| variant.clone()).collect();
    let schema = object(&json!({"a": {"anyOf": variants}}));
    let keys: serde_json::Map<String, Value> = (0..5_000).map(|key| (format!("k{key}"), json!(1))).collect();
    let (decoded, time) = cpu_time(|| decoded(&schema, &json!({ "a": keys }), &JSON_SCHEMA));
    assert!(decoded.is_err());
    assert!(time < Duration::from_secs(10), "{time:?}");
}
