mod gates;

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

#[track_caller]
fn check(dialect: &Dialect, schema: &Value, expected: &Value) {
    assert_eq!(rendered(schema, dialect).unwrap().to_string(), expected.to_string(), "{}", dialect.name);
}

#[test]
fn no_arguments_are_an_empty_object() {
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
fn values_that_a_named_schema_refuses_are_not_shown() {
    let schema = json!({"type": "object", "properties": {
            "a": {"$ref": "#/$defs/E", "default": "z", "examples": ["x", 7]},
        }, "additionalProperties": false, "$defs": {"E": {"type": "string", "enum": ["x", "y"]}}});
    check(
        &JSON_SCHEMA,
        &schema,
        &json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/E", "examples": ["x"]}},
            "additionalProperties": false, "$defs": {"E": {"type": "string", "enum": ["x", "y"]}}}),
    );
}

#[test]
fn forms_that_overlap_are_not_said_to_exclude_each_other() {
    let form =
        |name: &str| json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
    let schema = json!({"oneOf": [form("a"), form("b")]});
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    let rendered = render_input(&shape, &defs, &OPENAI).unwrap();
    let told = rendered.schema["description"].as_str().unwrap();
    assert_eq!(told, "(give at least one of these sets of fields: `a`, or `b`)");
    assert_eq!(rendered.losses[0].keyword, "anyOf");
}

#[test]
fn plain_json_schema_says_everything() {
    let schema = json!({"type": "object", "description": "Finds pets.", "properties": {
            "name": {"type": ["string", "null"], "description": "A name.", "maxLength": 64},
            "limit": {"type": "integer", "format": "int32", "minimum": 1, "default": 20},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
            "filter": {"$ref": "#/$defs/Filter"},
            "id": {"type": "string", "readOnly": true},
        }, "required": ["limit", "id"], "additionalProperties": false,
        "$defs": {"Filter": {"anyOf": [{"$ref": "#/$defs/Filter"}, {"type": "null"}]}, "Unused": {}}});
    check(
        &JSON_SCHEMA,
        &schema,
        &json!({"type": "object", "description": "Finds pets.", "properties": {
            "name": {"type": ["string", "null"], "description": "A name.", "maxLength": 64},
            "limit": {"type": "integer", "minimum": 1, "default": 20},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            "filter": {"$ref": "#/$defs/Filter"},
        }, "required": ["limit"], "additionalProperties": false,
        "$defs": {"Filter": {"anyOf": [{"$ref": "#/$defs/Filter"}, {"type": "null"}]}}}),
    );
}

#[test]
fn all_refusals_are_told_at_once() {
    let schema = json!({"type": "object", "required": ["a", "b"], "properties": {
        "a": false, "b": {"type": "array", "items": {"not": {}}},
    }});
    let pointers = rendered(&schema, &OPENAI_STRICT).unwrap_err();
    assert_eq!(pointers, ["/properties/a", "/properties/b/items"]);
}

#[test]
fn sizes_are_checked() {
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
    // What is nested more deeply gets a name.
    let named = render_input(&deep, &List::EMPTY, &OPENAI_STRICT).unwrap().schema;
    assert_eq!(named["$defs"].as_object().unwrap().len(), 1);
    assert!(render_input(&deep, &List::EMPTY, &OPENAI).is_ok());
}

#[test]
fn inlining_is_bounded() {
    // Each name doubles the next one: two to the power of forty when written out.
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
fn results_keep_what_arguments_leave_out() {
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
fn a_list_of_all_values_of_a_base_does_not_say_which_one_is_meant() {
    let kind = |field: &str| {
        json!({"type": "object", "required": ["kind"], "properties": {
            "kind": {"type": "string", "enum": ["disk", "box"]}, field: {"type": "integer"}}})
    };
    let schema = json!({"type": "object", "properties": {"job": {"$ref": "#/$defs/Job"}}, "$defs": {
        "Job": {"oneOf": [{"$ref": "#/$defs/DiskJob"}, {"$ref": "#/$defs/BoxJob"}], "discriminator": {
            "propertyName": "kind", "mapping": {"disk": "#/$defs/DiskJob", "box": "#/$defs/BoxJob"}}},
        "DiskJob": kind("disks"), "BoxJob": kind("boxes")}});
    let tagged = |name: &str, value: &str| json!({"$ref": format!("#/$defs/{name}"), "properties": {"kind": {"const": value}}, "required": ["kind"]});
    let found = rendered(&schema, &JSON_SCHEMA).unwrap();
    let expected = json!([tagged("DiskJob", "disk"), tagged("BoxJob", "box")]);
    assert_eq!(found["$defs"]["Job"]["oneOf"], expected, "{found}");
    let (shape, defs) = read_document(&schema, &mut Vec::new());
    let told = render_input(&shape, &defs, &OPENAI).unwrap().schema.to_string();
    assert!(told.contains(r#"`kind` is \"disk\" for DiskJob, \"box\" for BoxJob"#), "{told}");
}

#[test]
fn a_strict_dialect_tells_where_null_cannot_be_sent() {
    let field = |schema: Value| json!({"type": "object", "properties": {"due": schema}});
    let losses = |schema: &Value| -> Vec<String> {
        let (shape, defs) = read_document(schema, &mut Vec::new());
        let losses = render_input(&shape, &defs, &OPENAI_STRICT).unwrap().losses;
        losses.iter().filter(|loss| loss.withholds()).map(ToString::to_string).collect()
    };
    assert_eq!(
        losses(&field(json!({"type": ["string", "null"]}))),
        [
            "`nullable` at /properties/due is not said: a model writes `null` for a field that it leaves out, so `null` \
          itself cannot be sent"
        ]
    );
    assert!(losses(&field(json!({"type": "string"}))).is_empty());
    assert!(
        losses(&field(json!({"type": ["string", "null"], "default": null}))).is_empty(),
        "it says the same"
    );
    let mut required = field(json!({"type": ["string", "null"]}));
    required["required"] = json!(["due"]);
    assert!(losses(&required).is_empty());
}

#[test]
fn a_default_is_told_as_it_is() {
    let object = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "additionalProperties": false});
    for default in [json!({}), json!({"a": "x"})] {
        let mut of = object.clone();
        of["default"] = default.clone();
        let schema = rendered(&json!({"type": "object", "properties": {"of": of}}), &OPENAI_STRICT).unwrap();
        let told = schema.pointer("/properties/of").unwrap().to_string();
        let expected = json!(format!("(default: {default})")).to_string();
        assert!(told.contains(expected.trim_matches('"')), "{told}");
    }
}

#[test]
fn what_may_not_be_given_is_left_out_where_nothing_can_say_so() {
    let never = [
        json!({"not": {}}),
        json!(false),
        json!({"$ref": "#/$defs/Never"}),
        json!({"not": {}, "nullable": true}),
    ];
    for never in never {
        let one = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": never}, "additionalProperties": false});
        let two =
            json!({"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": false});
        for union in
            [json!({"oneOf": [one, two]}), json!({"oneOf": [one, two], "properties": {"b": {}}}), one.clone()]
        {
            let schema = json!({"type": "object", "properties": {"of": union}, "required": ["of"], "$defs": {"Never": {"not": {}}}});
            let seen = rendered(&schema, &OPENAI_STRICT);
            assert!(seen.is_ok(), "{schema}: {seen:?}");
        }
    }
}

#[test]
fn names_of_types_have_their_articles() {
    let map = |of: &str| json!({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": {"type": of}}}});
    for (of, told) in [("integer", "each with an integer"), ("string", "each with a string")] {
        let schema = rendered(&map(of), &GEMINI).unwrap().to_string();
        assert!(schema.contains(told), "{schema}");
    }
}
