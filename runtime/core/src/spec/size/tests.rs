//! Tests of the reductions that bring a tool under its ceiling.

use std::collections::BTreeSet;

use proptest::prelude::ProptestConfig;
use serde_json::{Value, json};

use super::*;
use crate::schema::dialect::{ANTHROPIC, GEMINI, JSON_SCHEMA, OPENAI};
use crate::schema::shape::read::read;
use crate::schema::shape::slim::{DEFAULT_CEILING_BYTES, DescriptionLimit};
use crate::schema::shape::{Def, Field, Kind, ObjectRules, Shape, arbitrary};

fn spec(input: &Value) -> ToolSpec {
    ToolSpec { input: read(input, &mut Vec::new()).into(), ..ToolSpec::EMPTY }
}

/// Returns an object with many fields, each with a long description.
fn large(fields: usize, schema: &Value) -> Value {
    let field = |number: usize| {
        let mut field = schema.clone();
        field["description"] = format!("Field {number}. {}", "It is of use to many. ".repeat(10)).into();
        (format!("field_{number}"), field)
    };
    let properties: serde_json::Map<String, Value> = (0..fields).map(field).collect();
    json!({"type": "object", "properties": properties})
}

#[test]
fn oversized_tool_is_slimmed_until_it_fits() {
    let deep = large(60, &large(20, &json!({"type": "integer"})));
    let spec = spec(&deep);
    for dialect in [&JSON_SCHEMA, &OPENAI, &ANTHROPIC, &GEMINI] {
        let full = spec.schema_with(dialect, &Slim::NONE).unwrap();
        assert!(full.bytes() > 10 * DEFAULT_CEILING_BYTES && full.trims.is_empty());
        let rendered = spec.schema(dialect).unwrap();
        assert!(rendered.bytes() <= DEFAULT_CEILING_BYTES, "{}: {}", dialect.name, rendered.bytes());
        assert_eq!(rendered.schema["properties"].as_object().unwrap().len(), 60, "every argument is present");
        assert!(rendered.trims.iter().any(|trim| trim.lever == TrimKind::Depth));
        assert_eq!(rendered, spec.schema(dialect).unwrap());
    }
    let small = self::spec(&large(3, &json!({"type": "integer"})));
    assert_eq!(small.schema(&OPENAI), small.schema_with(&OPENAI, &Slim::NONE));
}

#[test]
fn levers_without_effect_are_detected() {
    let small = spec(&large(3, &json!({"type": "integer"})));
    let forms = Forms::of(&small);
    let is_equivalent = |slim| forms.untold(slim).leave_the_same(&forms);
    assert!(
        is_equivalent(Slim::NONE)
            && is_equivalent(Slim { drop_examples: true, nested: DescriptionLimit::None, ..Slim::NONE })
    );
    assert!(
        !is_equivalent(Slim::COMPACT)
            && !is_equivalent(Slim { parameters: DescriptionLimit::Characters(9), ..Slim::NONE })
    );
}

#[test]
fn optional_arguments_are_dropped_from_the_last() {
    let mut schema = large(2_000, &json!({"type": "integer"}));
    schema["required"] = json!(["field_1999"]);
    let spec = spec(&schema);
    let rendered = spec.schema(&OPENAI).unwrap();
    let names: Vec<&String> = rendered.schema["properties"].as_object().unwrap().keys().collect();
    assert!(rendered.bytes() <= DEFAULT_CEILING_BYTES && names.len() > 200, "{}", names.len());
    assert_eq!((names[0].as_str(), names[names.len() - 1].as_str()), ("field_0", "field_1999"));
}

/// Collects the locations of all fields of a schema, with references resolved.
fn collect_locations(schema: &Value, root: &Value, location: &str, locations: &mut BTreeSet<String>) {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let schema = reference.and_then(|target| root.pointer(target.trim_start_matches('#'))).unwrap_or(schema);
    for (keyword, part) in schema.as_object().into_iter().flatten().filter(|_| location.len() < 200) {
        match (keyword.as_str(), part) {
            ("properties", Value::Object(fields)) => {
                for (name, field) in fields {
                    let location = format!("{location}/{name}");
                    collect_locations(field, root, &location, locations);
                    locations.insert(location);
                }
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(parts)) => {
                parts.iter().for_each(|part| collect_locations(part, root, location, locations));
            }
            ("items" | "additionalProperties", part) => {
                collect_locations(part, root, &format!("{location}/*"), locations);
            }
            _ => {}
        }
    }
}

fn render_under(spec: &ToolSpec, ceiling: usize) -> (usize, BTreeSet<String>) {
    let slim = Slim { ceiling: Some(ceiling), ..Slim::NONE };
    let rendered = spec.schema_with(&JSON_SCHEMA, &slim).unwrap();
    assert_eq!(rendered.schema, spec.schema_with(&JSON_SCHEMA, &slim).unwrap().schema);
    let is_above = rendered.trims.last().is_some_and(|trim| trim.lever == TrimKind::Ceiling);
    assert!(rendered.bytes() <= ceiling || is_above, "{} {:?}", rendered.bytes(), rendered.trims);
    let mut locations = BTreeSet::new();
    collect_locations(&rendered.schema, &rendered.schema, "", &mut locations);
    (rendered.bytes(), locations)
}

proptest::proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn larger_budget_shows_more(
        shapes in proptest::collection::vec(arbitrary::shape(), 1..12),
        low in 0..100usize,
        more in 1..100usize,
    ) {
        let field = |(index, shape): (usize, Shape)| Field {
            name: format!("field_{index}").into(), shape, required: index % 3 == 0, ..Field::OPTIONAL
        };
        let fields = shapes.into_iter().enumerate().map(field).collect();
        let input = Shape::of(Kind::Object(ObjectRules { fields, ..ObjectRules::ANY }));
        let spec = ToolSpec { input: input.into(), ..ToolSpec::EMPTY };
        let Ok(full) = spec.schema_with(&JSON_SCHEMA, &Slim::NONE) else { return Ok(()) };
        let full = full.bytes();
        let (smaller, larger) = (render_under(&spec, full * low / 100), render_under(&spec, full * (low + more) / 100));
        proptest::prop_assert!(smaller.1.is_subset(&larger.1), "{:?}", smaller.1.difference(&larger.1));
    }
}

/// Checks that a tool above its ceiling uses most of it, in dialects that accept open objects.
fn assert_uses_budget(input: &Value) {
    let spec = spec(input);
    for dialect in [&JSON_SCHEMA, &GEMINI] {
        let full = spec.schema_with(dialect, &Slim::NONE).unwrap().bytes();
        assert!(full > DEFAULT_CEILING_BYTES, "{full}");
        let rendered = spec.schema(dialect).unwrap();
        let used = rendered.bytes() * 100 / DEFAULT_CEILING_BYTES;
        assert!((80..=100).contains(&used), "{}: {used} %, {:?}", dialect.name, rendered.trims);
        assert_eq!(rendered, spec.schema(dialect).unwrap());
    }
}

#[test]
fn slimmed_tool_uses_most_of_its_budget() {
    // Alternatives, each of which is small.
    let inner = |number: usize| large(4, &large(1 + number, &json!({"type": "string"})));
    let variants: Vec<Value> = (0..20).map(inner).collect();
    let results = json!({"type": "array", "items": {"oneOf": variants}});
    assert_uses_budget(&json!({"type": "object", "properties": {"results": results}}));
    // Parts of very different sizes.
    let fields = (0..20)
        .map(|index| (format!("part_{index}"), large(index, &large(index, &json!({"type": "integer"})))));
    assert_uses_budget(&json!({"type": "object", "properties": fields.collect::<serde_json::Map<_, _>>()}));
    // One part with more fields than there is room for.
    let body = large(900, &json!({"type": "integer"}));
    assert_uses_budget(&json!({"type": "object", "properties": {"body": body}}));
    // Few large objects, one inside another.
    let nest = |inner: Value, _| large(12, &inner);
    assert_uses_budget(&(0..3).fold(json!({"type": "integer"}), nest));
    // Much text in few places.
    let text = "It is of use to many who know what they want. ".repeat(600);
    let described = json!({"type": "object", "properties": {"a": {"type": "string", "description": text}}});
    assert_uses_budget(&json!({"type": "object", "properties": {"body": described}}));
}

#[test]
fn truncated_variants_keep_their_discriminator() {
    let pet = |name: &str, tag: &str| {
        let mut pet = large(400, &json!({"type": "integer"}));
        pet["properties"]["kind"] = json!({"type": "string"});
        pet["description"] = format!("{name} {tag}").into();
        pet
    };
    let pets = json!({
        "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
        "discriminator": {"propertyName": "kind", "mapping": {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog"}},
    });
    let mut spec = spec(&json!({"type": "object", "properties": {"pet": pets}}));
    let def = |name: &'static str, tag: &str| Def {
        name: name.into(),
        schema: read(&pet(name, tag), &mut Vec::new()).into(),
    };
    spec.defs = vec![def("Cat", "cat"), def("Dog", "dog")].into();
    let slim = Slim { ceiling: Some(2_500), ..Slim::NONE };
    let rendered = spec.schema_with(&JSON_SCHEMA, &slim).unwrap();
    let text = rendered.schema.to_string();
    for tag in ["cat", "dog"] {
        assert!(
            text.contains(&format!("\"const\":\"{tag}\"")) || text.contains(&format!("\"enum\":[\"{tag}\"]")),
            "{text}"
        );
    }
}

#[test]
fn tool_that_cannot_fit_is_reported() {
    let mut schema = large(2_000, &json!({"type": "integer"}));
    schema["required"] = (0..2_000).map(|number| format!("field_{number}")).collect::<Vec<_>>().into();
    let spec = spec(&schema);
    let rendered = spec.schema(&OPENAI).unwrap();
    assert_eq!(rendered.trims.last().map(|trim| trim.lever), Some(TrimKind::Ceiling));
    assert_eq!(rendered.schema["required"].as_array().unwrap().len(), 2_000);
}
