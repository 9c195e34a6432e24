mod vendor_oracle;

use serde_json::{Value, json};

use super::*;
use crate::schema::dialect::{GEMINI, JSON_SCHEMA, OPENAI, OPENAI_STRICT};
use crate::schema::shape::read::read_document;

fn rendered(schema: &Value, dialect: &Dialect) -> Result<Value, Vec<String>> {
    let mut problems = Vec::new();
    let (shape, defs) = read_document(schema, &mut problems);
    assert_eq!(problems, []);
    render_input(&shape, &defs, dialect)
        .map(|rendered| rendered.schema)
        .map_err(|refusals| refusals.into_iter().map(|refusal| refusal.pointer).collect())
}

#[test]
fn empty_arguments_render_as_an_empty_object() {
    for dialect in Dialect::ALL {
        let rendered = render_input(&Shape::NO_ARGUMENTS, &List::EMPTY, dialect).unwrap();
        let expected = match dialect.name {
            "gemini" | "ollama" => json!({"type": "object", "properties": {}}),
            _ if !dialect.optional_fields => {
                json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
            }
            _ => json!({"type": "object", "properties": {}, "additionalProperties": false}),
        };
        assert_eq!(rendered.schema.to_string(), expected.to_string(), "{}", dialect.name);
        assert_eq!(rendered.losses, []);
    }
}

#[test]
fn schema_size_limits_are_checked() {
    let many: Value =
        (0..5_001).map(|i| (format!("p{i}"), json!({"type": "string"}))).collect::<Map<_, _>>().into();
    let (wide, _) = read_document(&json!({"type": "object", "properties": many}), &mut Vec::new());
    let refusals = render_input(&wide, &List::EMPTY, &OPENAI_STRICT).unwrap_err();
    assert!(refusals[0].reason.contains("at most 5000 properties, the schema has 5001"), "{refusals:?}");
    let mut deep = json!({"type": "string"});
    for _ in 0..11 {
        deep = json!({"type": "object", "properties": {"a": deep}});
    }
    let (deep, _) = read_document(&deep, &mut Vec::new());
    // Schemas that are nested too deeply become named schemas.
    let named = render_input(&deep, &List::EMPTY, &OPENAI_STRICT).unwrap().schema;
    assert_eq!(named["$defs"].as_object().unwrap().len(), 1);
    assert!(render_input(&deep, &List::EMPTY, &OPENAI).is_ok());
}

#[test]
fn inlining_is_bounded() {
    // Each name doubles the next one: two to the power of forty if inlined.
    let mut defs = Map::new();
    for i in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", i + 1)});
        defs.insert(format!("d{i}"), json!({"type": "object", "properties": {"a": next, "b": next}}));
    }
    defs.insert("d40".into(), json!({"type": "string"}));
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": defs});
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    let rendered = render_input(&shape, &defs, &GEMINI).unwrap();
    assert!(rendered.schema.to_string().len() < 1_000_000);
}

#[test]
fn write_only_and_read_only_fields_are_separated() {
    let schema = json!({"type": "object", "properties": {
        "id": {"type": "string", "readOnly": true}, "password": {"type": "string", "writeOnly": true}}});
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    let keys = |rendered: Rendered| {
        rendered.schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(keys(render_input(&shape, &defs, &JSON_SCHEMA).unwrap()), ["password"]);
    assert_eq!(keys(render_output(&shape, &defs, &JSON_SCHEMA).unwrap()), ["id"]);
    let (list, defs) = read_document(&json!({"type": "array", "items": {"type": "string"}}), &mut Vec::new());
    assert_eq!(render_output(&list, &defs, &JSON_SCHEMA).unwrap().schema["type"], "array");
}

#[test]
fn impossible_optional_fields_are_omitted() {
    let never = [
        json!({"not": {}}),
        json!(false),
        json!({"$ref": "#/$defs/Never"}),
        json!({"not": {}, "nullable": true}),
    ];
    for never in never {
        let first = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": never}, "additionalProperties": false});
        let second =
            json!({"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": false});
        for union in [
            json!({"oneOf": [first, second]}),
            json!({"oneOf": [first, second], "properties": {"b": {}}}),
            first.clone(),
        ] {
            let schema = json!({"type": "object", "properties": {"of": union}, "required": ["of"], "$defs": {"Never": {"not": {}}}});
            let result = rendered(&schema, &OPENAI_STRICT);
            assert!(result.is_ok(), "{schema}: {result:?}");
        }
    }
}
