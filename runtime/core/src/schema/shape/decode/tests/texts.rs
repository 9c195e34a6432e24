//! Arguments that are sent as texts, written in another type.

use serde_json::{Value, json};

use super::object;
use crate::base::frozen::{List, Text};
use crate::schema::dialect::JSON_SCHEMA;
use crate::schema::shape::decode::decode;
use crate::schema::shape::decode::texts::read_texts;
use crate::schema::shape::read::read_document;

fn texts() -> List<Text> {
    vec![Text::from("v")].into()
}

/// Reads `v`, which is sent as a text, and checks it.
fn decoded(schema: &Value, given: &Value) -> Result<Value, Vec<String>> {
    let mut problems = Vec::new();
    let (shape, defs) = read_document(&object(&json!({"v": schema, "w": schema})), &mut problems);
    assert_eq!(problems, []);
    let read = read_texts(given, &shape, &defs, &texts());
    let again = read_texts(&read, &shape, &defs, &texts());
    assert_eq!(read, again, "what was read is read no further");
    decode(&read, &shape, &defs, &JSON_SCHEMA)
        .map_err(|problems| problems.into_iter().map(|one| one.message).collect())
}

#[test]
fn what_has_the_same_text_means_the_same() {
    let integer = json!({"type": "integer"});
    let text = json!({"type": "string"});
    let list = json!({"type": "array", "items": {"type": "integer"}});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let object =
        json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}}});
    for (schema, written, meant) in [
        (&integer, json!("7"), json!(7)),
        (&integer, json!("-7"), json!(-7)),
        (&integer, json!("18446744073709551615"), json!(u64::MAX)),
        (&json!({"type": "number"}), json!("7"), json!(7)),
        (&json!({"type": "number"}), json!("-0.50"), json!(-0.5)),
        (&json!({"type": "number"}), json!("7.0"), json!(7.0)),
        (&json!({"type": "boolean"}), json!("true"), json!(true)),
        (&text, json!(7), json!("7")),
        (&text, json!(false), json!("false")),
        (&json!({"enum": ["1", "2"]}), json!(2), json!("2")),
        (&json!({"enum": [1, 2]}), json!("2"), json!(2)),
        (&json!({"enum": [true, "all"]}), json!("true"), json!(true)),
        (&json!({"const": 5}), json!("5"), json!(5)),
        (&list, json!(7), json!([7])),
        (&list, json!("7"), json!([7])),
        (&list, json!(["7", 8]), json!([7, 8])),
        (&list, json!("[7, 8]"), json!([7, 8])),
        (&texts, json!("a b"), json!(["a b"])),
        (&texts, json!(7), json!(["7"])),
        (&texts, json!([7, "a", true]), json!(["7", "a", "true"])),
        (&texts, json!("[\"a,b\"]"), json!(["a,b"])),
        (&object, json!({"a": "7", "b": "false"}), json!({"a": 7, "b": false})),
        (&object, json!("{\"a\": 7}"), json!({"a": 7})),
        (&json!({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}), json!("7"), json!(7)),
        (&json!({"anyOf": [integer, list]}), json!("7"), json!(7)),
        (&json!({"type": ["integer", "null"]}), json!("7"), json!(7)),
        (&json!({"allOf": [{"type": "integer"}, {"minimum": 5}]}), json!("7"), json!(7)),
    ] {
        assert_eq!(
            decoded(schema, &json!({ "v": written })),
            Ok(json!({ "v": meant })),
            "{schema} {written}"
        );
        // What is not sent as a text stays exact.
        assert!(decoded(schema, &json!({ "w": written })).is_err(), "{schema} {written}");
    }
}

#[test]
fn what_may_mean_something_else_is_refused() {
    let integer = json!({"type": "integer"});
    let number = json!({"type": "number"});
    let texts = json!({"type": "array", "items": {"type": "string"}});
    for (schema, written) in [
        (&integer, json!("07")),
        (&integer, json!("+7")),
        (&integer, json!(" 7")),
        (&integer, json!("7.0")),
        (&integer, json!("1e3")),
        (&integer, json!("-0")),
        (&integer, json!("")),
        (&integer, json!(true)),
        (&integer, json!([7])),
        (&integer, json!("18446744073709551616")),
        (&number, json!("1e3")),
        (&number, json!(".5")),
        (&number, json!("NaN")),
        (&number, json!("0.12345678901234567890123")),
        (&json!({"type": "boolean"}), json!("True")),
        (&json!({"type": "boolean"}), json!(1)),
        (&json!({"type": "string"}), json!(1.5)),
        (&json!({"type": "string"}), json!({"a": 1})),
        (&json!({"enum": [1, "1"]}), json!(true)),
        (&texts, json!("a,b")),
        (&texts, json!("[a]")),
        (&texts, json!("")),
        (&texts, json!([["a"]])),
        (&json!({"type": "array", "items": {"type": "object"}}), json!({"a": 1})),
        (&json!({"anyOf": [{"type": "array", "items": integer}, texts]}), json!(7)),
    ] {
        assert!(decoded(schema, &json!({ "v": written })).is_err(), "{schema} {written}");
    }
}

#[test]
fn what_a_schema_allows_as_it_is_stays() {
    for (schema, written) in [
        (json!({"type": ["integer", "string"]}), json!("7")),
        (json!({"enum": [7, "7"]}), json!("7")),
        (json!({}), json!("7")),
        (json!({"type": "array", "items": {"type": ["integer", "string"]}}), json!(["7", 7])),
        (json!({"type": "array", "items": {"type": "object"}}), json!([{"a": "7"}])),
    ] {
        assert_eq!(decoded(&schema, &json!({ "v": written })), Ok(json!({ "v": written })), "{schema}");
    }
}

#[test]
fn rules_are_checked_after_the_reading() {
    let told = |schema: Value, written: Value| decoded(&schema, &json!({ "v": written })).unwrap_err();
    assert_eq!(told(json!({"type": "integer", "maximum": 9}), json!("10")), ["must be at most 9, got 10"]);
    assert_eq!(
        told(json!({"type": "string", "pattern": "^a"}), json!(7)),
        ["must match the pattern ^a, got the text \"7\""]
    );
    assert_eq!(told(json!({"enum": [1, 2]}), json!("3")), ["expected one of 1, 2, got the text \"3\""]);
    // The written type is allowed, so the text is meant.
    let either = json!({"anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^a"}]});
    assert_eq!(told(either, json!("7")).len(), 1);
}

#[test]
fn null_is_left_out_where_it_may_be_missing_and_cannot_be_sent() {
    let integer = json!({"type": "integer"});
    assert_eq!(decoded(&integer, &json!({"v": null})), Ok(json!({})));
    assert!(decoded(&integer, &json!({"w": null})).is_err());
    let nullable = json!({"type": ["integer", "null"]});
    assert_eq!(decoded(&nullable, &json!({"v": null})), Ok(json!({"v": null})));
    let required = json!({"type": "object", "properties": {"v": integer}, "required": ["v"]});
    let (shape, defs) = read_document(&required, &mut Vec::new());
    assert_eq!(*read_texts(&json!({"v": null}), &shape, &defs, &texts()), json!({"v": null}));
}

#[test]
fn an_argument_is_found_by_each_of_its_names() {
    let schema =
        object(&json!({"size": {"type": "integer", "x-wire": "page[size]", "x-aliases": ["limit"]}}));
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    let texts = [Text::from("page[size]")];
    for name in ["size", "page[size]", "limit"] {
        assert_eq!(*read_texts(&json!({ name: "7" }), &shape, &defs, &texts), json!({ name: 7 }));
    }
}
