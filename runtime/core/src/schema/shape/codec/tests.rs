use serde_json::{Value, json};

use super::*;
use crate::schema::dialect::{
    ANTHROPIC, ANTHROPIC_STRICT, DEEPSEEK_STRICT, Dialect, GEMINI, JSON_SCHEMA, OPENAI_STRICT, XAI,
};
use crate::schema::shape::decode::{decode, decode_owned};
use crate::schema::shape::encode;
use crate::schema::shape::read::read_document;
use crate::schema::shape::render::{Rendered, render_input};

mod odd;
mod random;

fn rendered(schema: &Value, dialect: &Dialect) -> Rendered {
    let (shape, defs) = read_document(schema, &mut Vec::new());
    render_input(&shape, &defs, dialect).unwrap()
}

fn sent_to(schema: &Value, arguments: &Value, dialect: &Dialect) -> Value {
    let (shape, defs) = read_document(schema, &mut Vec::new());
    let decoded = decode(arguments, &shape, &defs, dialect)
        .unwrap_or_else(|problems| panic!("{arguments}: {problems:?}"));
    assert_eq!(
        decode_owned(arguments.clone(), &shape, &defs, dialect, &mut Vec::new()).as_ref(),
        Ok(&decoded)
    );
    assert!(decode(&decoded, &shape, &defs, &JSON_SCHEMA).is_ok());
    decoded
}

fn sent(schema: &Value, arguments: &Value) -> Value {
    sent_to(schema, arguments, &GEMINI)
}

/// Checks that arguments are written this way, that the schema accepts that, and that they are read again.
#[track_caller]
fn both(schema: &Value, dialect: &Dialect, arguments: &Value, written: &Value) {
    let (shape, defs) = read_document(schema, &mut Vec::new());
    assert_eq!(encode(arguments, &shape, &defs, dialect), *written, "{}", dialect.name);
    let schema = render_input(&shape, &defs, dialect).unwrap().schema;
    assert!(jsonschema::is_valid(&schema, written), "{written} {schema}");
    assert_eq!(decode(written, &shape, &defs, dialect).as_ref(), Ok(arguments), "{}", dialect.name);
}

fn problems(schema: &Value, dialect: &Dialect, arguments: &Value) -> Vec<String> {
    let (shape, defs) = read_document(schema, &mut Vec::new());
    let problems = decode(arguments, &shape, &defs, dialect).unwrap_err();
    problems.into_iter().map(|problem| format!("{}: {}", problem.pointer, problem.message)).collect()
}

#[test]
fn texts_are_read_where_an_object_would_have_no_properties() {
    let schema = json!({"type": "object", "properties": {
        "map": {"type": "object", "additionalProperties": {"type": "integer"}},
        "any": {},
        "none": {"type": "object", "additionalProperties": false},
        "list": {"type": "array", "items": {"$ref": "#/$defs/Open"}},
        "either": {"anyOf": [{"type": "string", "maxLength": 3}, {"$ref": "#/$defs/Open"}]},
        "inner": {"type": "object", "properties": {"map": {"type": "object"}, "text": {"type": "string"}}},
    }, "$defs": {"Open": {"type": "object"}}});
    let cases = [
        (json!({"map": "{\"a\": 1}"}), json!({"map": {"a": 1}})),
        (json!({"map": {"a": 1}}), json!({"map": {"a": 1}})),
        (json!({"any": "[1, {\"b\": null}]"}), json!({"any": [1, {"b": null}]})),
        (json!({"any": "\"5\""}), json!({"any": "5"})),
        (json!({"any": "not JSON"}), json!({"any": "not JSON"})),
        (json!({"any": 5}), json!({"any": 5})),
        (json!({"none": "{}"}), json!({"none": {}})),
        (json!({"list": ["{\"a\": []}", {}]}), json!({"list": [{"a": []}, {}]})),
        // Where a text may stand for an object, every value is JSON text; one that is none is understood.
        (json!({"either": "\"{}\""}), json!({"either": "{}"})),
        (json!({"either": "{}"}), json!({"either": {}})),
        (json!({"either": "abc"}), json!({"either": "abc"})),
        (json!({"either": "{\"a\": 1}"}), json!({"either": {"a": 1}})),
        (json!({"inner": {"map": "{}", "text": "{}"}}), json!({"inner": {"map": {}, "text": "{}"}})),
    ];
    for (given, expected) in cases {
        assert_eq!(sent(&schema, &given), expected, "{given}");
    }
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    for wrong in [json!({"map": "{\"a\": \"x\"}"}), json!({"map": "[1]"}), json!({"none": "{\"a\": 1}"})] {
        assert!(decode(&wrong, &shape, &defs, &GEMINI).is_err(), "{wrong}");
        assert!(decode(&wrong, &shape, &defs, &JSON_SCHEMA).is_err(), "{wrong}");
    }
}

#[test]
fn arguments_without_names_are_the_text_of_one() {
    let schema = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    assert_eq!(rendered(&schema, &GEMINI).schema["properties"][WHOLE]["type"], "string");
    assert_eq!(sent(&schema, &json!({"arguments": "{\"a\": 1}"})), json!({"a": 1}));
    assert_eq!(sent(&schema, &json!({"arguments": 1})), json!({"arguments": 1}));
    both(&schema, &OPENAI_STRICT, &json!({"a": 1}), &json!({"arguments": [{"key": "a", "value": 1}]}));
}

#[test]
fn an_empty_text_among_listed_values_is_said_in_prose() {
    let schema =
        json!({"type": "object", "properties": {"sort": {"enum": ["", "up"], "description": "How."}}});
    let rendered = rendered(&schema, &GEMINI);
    let told = json!({"type": "string", "description": "How. (one of \"\", \"up\")"});
    assert_eq!(rendered.schema["properties"]["sort"], told);
    assert_eq!((rendered.losses[0].keyword, rendered.losses[0].in_prose), ("enum", true));
    assert_eq!(sent(&schema, &json!({"sort": ""})), json!({"sort": ""}));
}

#[test]
fn maps_are_lists_of_pairs() {
    let schema = json!({"type": "object", "required": ["labels"], "additionalProperties": false, "properties": {
        "labels": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}, "description": "Counts."},
        "more": {"type": "object", "properties": {"id": {"type": "string"}}, "additionalProperties": {"type": "boolean"}},
        "free": {"type": "object"},
    }});
    for dialect in [OPENAI_STRICT, ANTHROPIC_STRICT] {
        let told = rendered(&schema, &dialect);
        let labels = &told.schema["properties"]["labels"];
        assert_eq!(labels["type"], "array");
        assert_eq!(labels["items"]["required"], json!(["key", "value"]));
        assert_eq!(labels["items"]["properties"]["value"]["type"], "integer");
        // A list could have a key twice, which no object has.
        let once = told.losses.iter().find(|loss| loss.pointer == "/properties/labels").unwrap();
        assert_eq!((once.keyword, once.in_prose), ("uniqueItems", true));
        assert!(labels["description"].as_str().unwrap().contains("each key once"), "{labels}");
    }
    both(
        &schema,
        &OPENAI_STRICT,
        &json!({"labels": {"a": 1, "": 2}, "more": {"id": "x", "y": true}, "free": {"z": [null]}}),
        &json!({
            "labels": [{"key": "a", "value": 1}, {"key": "", "value": 2}],
            "more": {"id": "x", "additional_properties": [{"key": "y", "value": true}]},
            "free": "{\"z\":[null]}",
        }),
    );
    let empty = json!({"labels": [], "more": null, "free": null});
    both(&schema, &OPENAI_STRICT, &json!({"labels": {}}), &empty);
    both(&schema, &ANTHROPIC_STRICT, &json!({"labels": {}}), &json!({"labels": []}));
    // The plain form is understood.
    let plain = json!({"labels": {"a": 1}, "more": {"y": false}, "free": {}});
    assert_eq!(sent_to(&schema, &plain, &OPENAI_STRICT), plain);
}

#[test]
fn problems_are_where_the_model_wrote_the_value() {
    let schema = json!({"type": "object", "required": ["labels"], "additionalProperties": false, "properties": {
        "labels": {"type": "object", "additionalProperties": {"type": "integer"}},
        "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "items": false},
        "filter[x]": {"type": "integer"},
    }});
    let told = problems(
        &schema,
        &OPENAI_STRICT,
        &json!({
            "labels": [{"key": "a", "value": "1"}, {"key": "a", "value": 2}, {"k": "b"}],
            "pair": {"item_1": "x", "item_2": "y"},
        }),
    );
    assert_eq!(
        told,
        [
            "/labels/1/key: the key \"a\" is given twice; give each key once",
            "/labels/2: expected an object with `key` and `value`, got an object",
            "/labels/0/value: expected an integer, got the text \"1\"; send it as JSON, without the quotes",
            "/pair/item_2: expected an integer, got the text \"y\"",
        ]
    );
    assert_eq!(
        problems(&schema, &ANTHROPIC, &json!({"labels": {}, "filter_x": "y"})),
        ["/filter_x: expected an integer, got the text \"y\""]
    );
}

#[test]
fn tuples_are_objects_with_a_field_for_each_place() {
    let schema = json!({"type": "object", "required": ["at"], "additionalProperties": false, "properties": {
        "at": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "minItems": 2, "items": false},
        "row": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "string"}], "items": {"type": "integer"}},
    }});
    let written = json!({"at": {"item_1": 0.5, "item_2": "m"}, "row": {"item_1": "a", "item_2": "b", "more_items": [1, 2]}});
    both(&schema, &OPENAI_STRICT, &json!({"at": [0.5, "m"], "row": ["a", "b", 1, 2]}), &written);
    let short = json!({"at": {"item_1": 1, "item_2": "m"}, "row": {"item_1": "a", "item_2": null, "more_items": null}});
    both(&schema, &OPENAI_STRICT, &json!({"at": [1, "m"], "row": ["a"]}), &short);
    let plain = json!({"at": [1, "m"]});
    assert_eq!(sent_to(&schema, &plain, &ANTHROPIC_STRICT), plain);
}

#[test]
fn keys_are_changed_and_changed_back() {
    let schema = json!({"type": "object", "properties": {
        "filter[x]": {"type": "string", "description": "Which."}, "$select": {"type": "array", "items": {"type": "string"}},
        "in": {"type": "object", "properties": {"größe": {"type": "integer"}}}}});
    let arguments = json!({"filter[x]": "y", "$select": ["a"], "in": {"größe": 5}});
    for (dialect, inner) in [(ANTHROPIC, "gr__e"), (GEMINI, "gr__e"), (ANTHROPIC_STRICT, "gr__e")] {
        both(&schema, &dialect, &arguments, &json!({"filter_x": "y", "select": ["a"], "in": {inner: 5}}));
    }
    let told = rendered(&schema, &ANTHROPIC);
    assert_eq!(told.schema["properties"]["filter_x"]["description"], "Which. (for `filter[x]`)");
    assert_eq!(told.losses, []);
    assert_eq!(sent_to(&schema, &arguments, &ANTHROPIC), arguments);
}

#[test]
fn any_values_and_mixed_unions_are_json_text() {
    let schema = json!({"type": "object", "additionalProperties": false, "properties": {
        "any": {}, "one": {"anyOf": [{"type": "string"}, {"type": "object"}]},
        "listed": {"enum": ["a", {"b": 1}]},
        "tagged": {"oneOf": [
            {"type": "object", "properties": {"t": {"const": "m"}, "v": {"type": "object", "additionalProperties": {"type": "string"}}},
             "required": ["t", "v"], "additionalProperties": false},
            {"type": "object", "properties": {"t": {"const": "l"}, "v": {"type": "array", "items": {"type": "string"}}},
             "required": ["t", "v"], "additionalProperties": false}]},
    }});
    let written = json!({"any": "\"5\"", "one": "\"{}\"", "listed": "{\"b\":1}",
        "tagged": {"t": "m", "v": [{"key": "a", "value": "b"}]}});
    let arguments =
        json!({"any": "5", "one": "{}", "listed": {"b": 1}, "tagged": {"t": "m", "v": {"a": "b"}}});
    both(&schema, &OPENAI_STRICT, &arguments, &written);
    // `null` itself can be told from what is left out.
    let left_out =
        json!({"any": "null", "one": "{\"c\":2}", "listed": "\"a\"", "tagged": {"t": "l", "v": []}});
    let arguments = json!({"any": null, "one": {"c": 2}, "listed": "a", "tagged": {"t": "l", "v": []}});
    both(&schema, &OPENAI_STRICT, &arguments, &left_out);
}

#[test]
fn a_tuple_without_places_is_not_taken_for_an_object_without_members() {
    let schema = json!({"type": "object", "required": ["one"], "additionalProperties": false, "properties": {"one": {"oneOf": [
        {"type": "object", "properties": {"a": {"type": "null"}}, "additionalProperties": false},
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "boolean"}], "items": false}]}}});
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    for meant in [json!([]), json!(["x"]), json!({}), json!({"a": null})] {
        let arguments = json!({ "one": meant });
        let written = encode(&arguments, &shape, &defs, &ANTHROPIC_STRICT);
        assert_eq!(sent_to(&schema, &written, &ANTHROPIC_STRICT), arguments, "{written}");
    }
}

#[test]
fn a_key_that_is_read_only_is_one_of_the_other_keys() {
    let schema = json!({"type": "object", "required": ["v"], "properties": {"v": {"type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string", "readOnly": true}}}}});
    let arguments = json!({"v": {"b": "x"}});
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    let written = encode(&arguments, &shape, &defs, &ANTHROPIC_STRICT);
    assert_eq!(sent_to(&schema, &written, &ANTHROPIC_STRICT), arguments, "{written}");
}

#[test]
fn what_contains_itself_is_json_text_where_that_is_refused() {
    let schema = json!({"type": "object", "properties": {"tree": {"$ref": "#/$defs/Tree"}}, "required": ["tree"],
        "additionalProperties": false, "$defs": {"Tree": {"type": "object", "required": ["name"], "additionalProperties": false,
        "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}}});
    let arguments = json!({"tree": {"name": "a", "children": [{"name": "b"}]}});
    let plain = json!({"tree": {"name": "a", "children": [{"name": "b", "children": null}]}});
    both(&schema, &OPENAI_STRICT, &arguments, &plain);
    let cut = json!({"tree": {"name": "a", "children": ["{\"name\":\"b\"}"]}});
    for dialect in [ANTHROPIC_STRICT, XAI, DEEPSEEK_STRICT, GEMINI] {
        both(&schema, &dialect, &arguments, &cut);
    }
}

#[test]
fn arguments_that_are_one_of_several_objects_are_one_argument() {
    let schema = json!({"oneOf": [
        {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "additionalProperties": false},
        {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false}]});
    both(&schema, &OPENAI_STRICT, &json!({"name": "x"}), &json!({"arguments": {"name": "x"}}));
    assert_eq!(sent_to(&schema, &json!({"id": 1}), &OPENAI_STRICT), json!({"id": 1}));
    let told = problems(&schema, &OPENAI_STRICT, &json!({"arguments": {"id": "x"}}));
    assert_eq!(told, ["/arguments/id: expected an integer, got the text \"x\""]);
}

#[test]
fn nothing_is_invented_for_what_is_left_out() {
    let schema = json!({"type": "object", "additionalProperties": false, "properties": {
        "text": {"type": "string"}, "maybe": {"type": ["string", "null"]}, "list": {"type": "array", "items": {"type": "string"}},
        "object": {"type": "object", "properties": {"a": {"type": "string"}}}, "mode": {"enum": ["a", "b"], "default": "a"}}});
    let nothing = json!({"text": null, "maybe": null, "list": null, "object": null, "mode": null});
    both(&schema, &OPENAI_STRICT, &json!({}), &nothing);
    let told = rendered(&schema, &OPENAI_STRICT);
    let nullable: Vec<&str> = told
        .losses
        .iter()
        .filter(|loss| loss.keyword == "nullable")
        .map(|loss| loss.pointer.as_str())
        .collect();
    assert_eq!(nullable, ["/properties/maybe"]);
    both(&schema, &ANTHROPIC_STRICT, &json!({"maybe": null}), &json!({"maybe": null}));
}

#[test]
fn defaults_and_examples_are_told_as_they_are_written() {
    let schema = json!({"type": "object", "properties": {
        "labels": {"type": "object", "additionalProperties": {"type": "string"}, "default": {"a": "b"}}}});
    let told = rendered(&schema, &OPENAI_STRICT).schema["properties"]["labels"]["description"].to_string();
    assert!(told.contains(r#"default: [{\"key\":\"a\",\"value\":\"b\"}]"#), "{told}");
}

#[test]
fn schemas_that_are_too_deep_are_named() {
    let mut deep = json!({"type": "string"});
    for _ in 0..25 {
        deep = json!({"type": "object", "properties": {"a": deep}, "required": ["a"], "additionalProperties": false});
    }
    let (shape, defs) = read_document(&deep, &mut Vec::new());
    let told = render_input(&shape, &defs, &OPENAI_STRICT).unwrap();
    assert_eq!(told.schema["$defs"].as_object().unwrap().len(), 2);
    let mut value = json!("x");
    for _ in 0..25 {
        value = json!({ "a": value });
    }
    both(&deep, &OPENAI_STRICT, &value, &value);
}

#[test]
fn of_several_forms_that_fit_the_one_with_a_place_for_every_key_is_written() {
    let open = json!({"type": "object"});
    let one = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let schema = json!({"type": "object", "properties": {"v": {"anyOf": [one, open]}}, "required": ["v"]});
    both(&schema, &OPENAI_STRICT, &json!({"v": {"b": 1}}), &json!({"v": "{\"b\":1}"}));
    both(&schema, &OPENAI_STRICT, &json!({"v": {"a": 1}}), &json!({"v": {"a": 1}}));
}

fn keys(names: &[&'static str], rule: KeyRule) -> Vec<String> {
    let fields: Vec<Field> =
        names.iter().map(|name| Field { name: (*name).into(), ..Field::OPTIONAL }).collect();
    let fields: Vec<&Field> = fields.iter().collect();
    written(&fields, rule).into_iter().map(Cow::into_owned).collect()
}

#[test]
fn keys_that_are_not_taken_are_changed_without_a_collision() {
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
