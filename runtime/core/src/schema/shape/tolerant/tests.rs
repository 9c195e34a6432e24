//! An independent validator accepts every conformed value under the schema that is published.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::base::frozen::List;
use crate::schema::shape::arbitrary;
use crate::schema::shape::read::read_document;
use crate::schema::shape::{Def, Shape};
use crate::spec::ToolSpec;

fn tool(output: Shape, defs: List<Def>) -> ToolSpec {
    ToolSpec { output: Some(output.into()), defs, output_may_differ: true, ..ToolSpec::EMPTY }
}

fn read(schema: &Value) -> ToolSpec {
    let (shape, defs) = read_document(schema, &mut Vec::new());
    tool(shape, defs)
}

/// Returns the structured content of a result and the messages about what was left out. Every published schema
/// accepts the content.
fn conformed(spec: &ToolSpec, value: &Value) -> Option<(Value, Vec<String>)> {
    let output = spec.structured_output()?;
    let (content, omitted) = output.conform(value.clone());
    for max_bytes in [usize::MAX, 400, 150, 60] {
        if let Some(schema) = spec.structured_output().and_then(|output| output.published(max_bytes)) {
            assert_eq!(schema["type"], "object", "{schema}");
            let validator = jsonschema::draft202012::new(&schema).unwrap();
            assert!(validator.is_valid(&content), "{content} from {value}\n{schema}");
        }
    }
    Some((content, omitted))
}

proptest! {
    #[test]
    fn conformed_value_matches_the_published_schema(
        root in arbitrary::shape(),
        (a, b) in (arbitrary::shape(), arbitrary::shape()),
        values in proptest::collection::vec(arbitrary::json(), 1..6),
    ) {
        let def = |name: &str, shape: Shape| Def { name: name.to_owned().into(), schema: shape.into() };
        let spec = tool(root, vec![def("a", a), def("b", b)].into());
        for value in &values {
            conformed(&spec, value);
        }
    }

    /// A value that deviates nowhere is unchanged.
    #[test]
    fn matching_value_is_unchanged(root in arbitrary::shape(), value in arbitrary::json()) {
        let spec = tool(root, List::EMPTY);
        if let Some(output) = spec.structured_output()
            && let Some(schema) = spec.structured_output().and_then(|output| output.published(usize::MAX))
            && jsonschema::draft202012::is_valid(&schema, &output.as_object(value.clone()))
        {
            prop_assert_eq!(output.conform(value.clone()), (output.as_object(value), Vec::new()));
        }
    }
}

#[test]
fn alternative_that_keeps_the_largest_part_is_chosen() {
    let spec = read(&json!({"type": "object", "properties": {"pet": {"oneOf": [
        {"type": "object", "required": ["name"], "properties": {"name": {"type": "integer"}, "age": {"type": "string"}}},
        {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}},
        {"type": "string"},
    ]}}}));
    let pet = json!({"pet": {"name": "Rex", "age": 3}});
    assert_eq!(conformed(&spec, &pet), Some((pet, Vec::new())));
    let (content, omitted) = conformed(&spec, &json!({"pet": {"name": 1, "age": 3}})).unwrap();
    assert_eq!(content, json!({"pet": {"name": 1}}));
    assert_eq!(omitted, ["/pet/age: expected a string, got a number"]);
    let (content, omitted) = conformed(&spec, &json!({"pet": true, "x": 1})).unwrap();
    assert_eq!(content, json!({"x": 1}));
    assert_eq!(omitted, ["/pet: expected a string or an object, got a boolean"]);
}

#[test]
fn parts_of_an_object_are_one_object() {
    let spec = read(&json!({"allOf": [
        {"$ref": "#/$defs/Base"},
        {"type": "object", "properties": {"size": {"type": "integer"}}},
        {"oneOf": [
            {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}, "kind": {"type": "string"}}},
            {"type": "object", "required": ["b"], "properties": {"b": {"type": "string"}, "kind": {"type": "integer"}}},
        ]},
    ], "$defs": {"Base": {"type": "object", "properties": {"id": {"type": "integer"}}}}}));
    let schema = spec.structured_output().and_then(|output| output.published(usize::MAX)).unwrap();
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["id", "size", "a", "kind", "b"]);
    assert_eq!(schema["properties"]["kind"], json!({}));
    let (content, omitted) = conformed(&spec, &json!({"id": "x", "size": 1, "kind": 2, "b": "y"})).unwrap();
    assert_eq!(content, json!({"size": 1, "kind": 2, "b": "y"}));
    assert_eq!(omitted, ["/id: expected an integer, got a string"]);
}

/// Nested unions of a recursive shape are not tried in all combinations.
#[test]
fn recursive_union_takes_linear_time() {
    let block = |name: &str| {
        json!({"type": "object", "required": [name], "properties": {
            name: {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/Block"}}}})
    };
    let variants: Vec<Value> = (0..20).map(|number| block(&format!("kind{number}"))).collect();
    let spec = read(&json!({"type": "object", "properties": {"root": {"$ref": "#/$defs/Block"}},
                            "$defs": {"Block": {"oneOf": variants}}}));
    let mut value = json!({"kind3": 7});
    for _ in 0..40 {
        value = json!({"kind5": "x", "children": [value.clone(), value["kind3"].clone()]});
    }
    let (_, omitted) = conformed(&spec, &json!({"root": value})).unwrap();
    assert!(omitted.len() <= 1, "{omitted:?}");
}

/// Parts that contain themselves end after some levels.
#[test]
fn recursive_parts_have_a_finite_schema() {
    let spec = read(&json!({"$ref": "#/$defs/A", "$defs": {
        "A": {"type": "object", "properties": {"next": {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]},
                                               "list": {"$ref": "#/$defs/L"}}},
        "B": {"type": "object", "properties": {"more": {"allOf": [{"$ref": "#/$defs/B"}, {"$ref": "#/$defs/A"}]}}},
        "L": {"type": "array", "items": {"allOf": [{"$ref": "#/$defs/L"}, {"type": "array"}]}},
    }}));
    let value = json!({"next": {"next": {"more": {"next": 5, "list": [[[7]]]}}}});
    let (content, omitted) = conformed(&spec, &value).unwrap();
    assert_eq!(content, json!({"next": {"next": {"more": {"list": [[[null]]]}}}}));
    assert_eq!(omitted.len(), 2);
}
