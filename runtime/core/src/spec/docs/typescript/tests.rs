use serde_json::{Value, json};

use super::*;
use crate::schema::shape::read::read_canonical as read;

/// Returns the type of a schema with these named schemas, after the types that it refers to.
fn types(schema: &Value, named_schemas: &Value) -> String {
    let mut defs: Vec<Def> = named_schemas
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, schema)| Def { name: name.clone().into(), schema: read(schema).into() })
        .collect();
    defs.sort_by(|left, right| left.name.cmp(&right.name));
    let (shape, defs) = (read(schema), List::from(defs));
    let mut types = Types::of([(&shape, &defs, false)]);
    let root = types.root(&shape, &defs, false);
    let declared = types.into_declarations().into_iter().map(|(name, text)| format!("{name} = {text}; "));
    declared.collect::<String>() + &root
}

#[test]
fn every_kind_has_a_typescript_type() {
    let no_schemas = json!({});
    for (schema, expected) in [
        (json!({}), "unknown"),
        (json!(false), "never"),
        (json!({"type": ["string", "null"]}), "string | null"),
        (json!({"enum": ["a", 1, null, "x\"y"]}), r#""a" | 1 | "x\"y" | null"#),
        (json!({"type": "array", "items": {"type": ["integer", "null"]}}), "(number | null)[]"),
        (json!({"type": "object", "additionalProperties": {"type": "boolean"}}), "Record<string, boolean>"),
        (json!({"type": "object", "additionalProperties": false}), "{}"),
        (json!({"type": "object", "properties": {"a-b": {}}}), r#"{ "a-b"?: unknown }"#),
        (
            json!({"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": {"type": "null"}}),
            "{ a: unknown } & Record<string, null>",
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}, {}], "minItems": 1}),
            "[string, unknown?, ...unknown[]]",
        ),
        (
            json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}}),
            "(string | null)[]",
        ),
        (json!({"type": "string", "format": "a*/b"}), "string"),
        (json!({"type": "string", "format": "uuid"}), "string /* uuid */"),
    ] {
        assert_eq!(types(&schema, &no_schemas), expected, "{schema}");
    }
    let many: Vec<String> = (0..60).map(|index| format!("v{index}")).collect();
    let text = types(&json!({"enum": many}), &no_schemas);
    assert!(text.ends_with("\"v49\" | string /* one of 60 */"), "{text}");
}

#[test]
fn named_type_is_declared_unless_short_or_used_once() {
    let reference = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
    let pair_of = |name: &str| json!({"type": "array", "prefixItems": [reference(name), reference(name)], "items": false, "minItems": 2});
    let named_schemas = json!({
        "once": {"type": "object", "properties": {"a": {"type": "string"}}},
        "word": {"type": "integer"},
        "class": {"type": "object", "properties": {"next": reference("class")}},
        "map": {"type": ["object", "null"], "additionalProperties": reference("map")},
        "9 b": {"type": "array", "items": reference("9 b")},
        "loop": {"anyOf": [reference("other"), {"type": "string"}]},
        "other": {"anyOf": [reference("loop"), {"type": "integer"}]},
        "alias": reference("class"),
    });
    for (schema, expected) in [
        (reference("once"), "{ a?: string }"),
        (pair_of("once"), "once = { a?: string }; [once, once]"),
        (pair_of("word"), "[number, number]"),
        (pair_of("class"), "class_ = { next?: class_ }; [class_, class_]"),
        (pair_of("map"), "map = { [key: string]: map } | null; [map, map]"),
        (pair_of("9 b"), "_9_b = _9_b[]; [_9_b, _9_b]"),
        (pair_of("alias"), "class_ = { next?: class_ }; [class_, class_]"),
        (pair_of("loop"), "loop = unknown; [loop, loop]"),
        (reference("gone"), "unknown"),
    ] {
        assert_eq!(types(&schema, &named_schemas), expected, "{schema}");
    }
}
