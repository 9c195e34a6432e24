//! Checks everything that can be rendered against the rules of providers, independently of the renderer.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::base::frozen::List;
use crate::schema::dialect::{ANTHROPIC, Dialect, GEMINI, Nulls};
use crate::schema::shape::read::read;
use crate::schema::shape::render::{render_input, render_output};
use crate::schema::shape::{
    Def, Discriminator, Extra, Field, Kind, ObjectRules, Shape, UnionMode, UnionRules, arbitrary,
};

/// Calls `visit` with every subschema and its location.
fn visit_schemas(schema: &Value, location: &str, visit: &mut dyn FnMut(&Value, &str)) {
    visit(schema, location);
    let Value::Object(fields) = schema else { return };
    for (keyword, value) in fields {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(schemas)) => {
                schemas.iter().for_each(|(name, schema)| {
                    visit_schemas(schema, &format!("{location}/{keyword}/{name}"), visit);
                });
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas
                    .iter()
                    .for_each(|schema| visit_schemas(schema, &format!("{location}/{keyword}"), visit));
            }
            ("items" | "additionalProperties", schema) => {
                visit_schemas(schema, &format!("{location}/{keyword}"), visit);
            }
            _ => {}
        }
    }
}

/// Returns OpenAI's error message for an array without `items`.
fn check_array_items(schema: &Value) -> Result<(), String> {
    let mut result = Ok(());
    visit_schemas(schema, "", &mut |schema, location| {
        let types = &schema["type"];
        let is_array =
            *types == "array" || types.as_array().is_some_and(|types| types.contains(&json!("array")));
        if is_array && schema.get("items").is_none() {
            result = Err(format!("In context={location}, array schema missing items."));
        }
    });
    result
}

fn check_root(schema: &Value, allows_composition: bool) -> Result<(), String> {
    if schema["type"] != "object" || schema.get("properties").is_none() && !allows_composition {
        return Err(format!("root: {schema}"));
    }
    let is_composed =
        ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"].iter().any(|k| schema.get(k).is_some());
    if is_composed && !allows_composition { Err(format!("composed root: {schema}")) } else { Ok(()) }
}

/// Whether a schema has only these keywords, which are separated by spaces.
fn check_keywords(schema: &Value, keywords: &str) -> Result<(), String> {
    let mut result = Ok(());
    visit_schemas(schema, "", &mut |schema, location| match schema {
        Value::Object(fields) => {
            for keyword in fields.keys().filter(|key| !keywords.split(' ').any(|keyword| keyword == **key)) {
                result = Err(format!("{keyword} at {location}"));
            }
        }
        other => result = Err(format!("{other} at {location}")),
    });
    result
}

fn check_strict(schema: &Value) -> Result<(), String> {
    check_root(schema, false)?;
    let keywords = "type description properties required additionalProperties items anyOf enum const \
        $ref $defs format pattern minimum maximum \
        exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems";
    check_keywords(schema, keywords).or_else(|error| {
        if error.starts_with("false at") && error.ends_with("additionalProperties") {
            Ok(())
        } else {
            Err(error)
        }
    })?;
    let mut result = Ok(());
    visit_schemas(schema, "", &mut |schema, location| {
        if schema.get("$ref").is_some() && schema.as_object().is_some_and(|fields| fields.len() > 1) {
            result = Err(format!("$ref has siblings at {location}"));
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let names: Vec<Value> = properties.keys().map(|name| name.as_str().into()).collect();
            let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            if names != required || schema["additionalProperties"] != false {
                result = Err(format!("open or optional at {location}: {schema}"));
            }
        }
        let formats = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
        if let Some(Value::String(format)) = schema.get("format")
            && !formats.contains(&format.as_str())
        {
            result = Err(format!("format {format} at {location}"));
        }
        let has_type =
            ["type", "anyOf", "$ref", "enum", "const"].iter().any(|keyword| schema.get(keyword).is_some());
        if !has_type && !schema.is_boolean() {
            result = Err(format!("no type at {location}: {schema}"));
        }
    });
    result
}

fn check_gemini(schema: &Value) -> Result<(), String> {
    check_root(schema, false)?;
    let keywords = "type format description nullable items minItems maxItems enum properties required \
        minProperties maxProperties minLength maxLength minimum maximum pattern anyOf";
    check_keywords(schema, keywords)?;
    let mut result = Ok(());
    visit_schemas(schema, "", &mut |schema, location| {
        let Some(fields) = schema.as_object() else { return };
        match (fields.get("type"), fields.get("anyOf")) {
            (Some(Value::String(_)), None) => {}
            (None, Some(_)) if fields.len() == 1 => {}
            _ => result = Err(format!("not one type, not anyOf alone at {location}: {schema}")),
        }
        if let Some(values) = fields.get("enum").and_then(Value::as_array)
            && (fields["type"] != "string" || !values.iter().all(Value::is_string))
        {
            result = Err(format!("enum of other than texts at {location}"));
        }
        if fields.get("enum").and_then(Value::as_array).is_some_and(|values| values.contains(&"".into())) {
            result = Err(format!("an empty text in enum at {location}"));
        }
        if fields.get("type") == Some(&"object".into())
            && fields.get("properties").and_then(Value::as_object).is_none_or(|p| p.is_empty())
            && !location.is_empty()
        {
            result = Err(format!("no properties at {location}"));
        }
        for name in fields.get("properties").and_then(Value::as_object).into_iter().flat_map(|p| p.keys()) {
            if !GEMINI.keys.accepts(name) {
                result = Err(format!("key {name} at {location}"));
            }
        }
    });
    result
}

/// Checks the rules in the row of a dialect.
fn check_dialect(dialect: &Dialect, schema: &Value) -> Result<(), String> {
    let always = "type description properties required items enum anyOf $ref $defs nullable";
    let mut result = Ok(());
    visit_schemas(schema, "", &mut |schema, location| {
        let Value::Object(fields) = schema else { return };
        let mut fail = |what: &str| result = Err(format!("{what} at {location}: {schema}"));
        let has = |keyword: &str| fields.contains_key(keyword);
        if let Some(other) = fields
            .keys()
            .find(|key| !always.split(' ').any(|keyword| keyword == *key) && !dialect.accepts(key))
        {
            fail(other);
        }
        let keys: Vec<&String> =
            fields.get("properties").and_then(Value::as_object).into_iter().flat_map(|p| p.keys()).collect();
        let is_object = fields.get("type").is_some_and(|type_value| {
            *type_value == "object" || type_value.to_string().contains("\"object\"")
        });
        if is_object
            && !dialect.open_objects
            && (fields.get("additionalProperties") != Some(&false.into()) || !has("properties"))
        {
            fail("open");
        }
        let required = fields.get("required").and_then(Value::as_array).map_or(0, Vec::len);
        if !dialect.optional_fields && required != keys.len() {
            fail("optional");
        }
        if !dialect.empty_objects && is_object && keys.is_empty() && !location.is_empty() {
            fail("empty");
        }
        if keys.iter().any(|key| !dialect.keys.accepts(key)) {
            fail("key");
        }
        if dialect.ref_alone
            && has("$ref")
            && fields.keys().any(|key| !["$ref", "$defs"].contains(&key.as_str()))
        {
            fail("next to $ref");
        }
        if !dialect.untyped && !["type", "anyOf", "$ref", "enum", "const"].iter().any(|keyword| has(keyword))
        {
            fail("untyped");
        }
        let text = |keyword: &str| fields.get(keyword).and_then(Value::as_str);
        if text("pattern").is_some_and(|pattern| !dialect.patterns.accepts(pattern)) {
            fail("pattern");
        }
        if text("format").is_some_and(|format| !dialect.accepts_format(format)) {
            fail("format");
        }
        let min = fields.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        if dialect.min_items.is_some_and(|max| min > max) {
            fail("minItems");
        }
        if dialect.nulls == Nulls::AnyOf
            && fields.get("type").is_some_and(|type_value| type_value.to_string().contains("null\"]"))
        {
            fail("list of types");
        }
    });
    result?;
    if dialect.recursion { Ok(()) } else { check_acyclic(schema) }
}

fn check_acyclic(schema: &Value) -> Result<(), String> {
    let by_name = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let targets = |schema: &Value| {
        let mut names = Vec::new();
        visit_schemas(schema, "", &mut |schema, _| {
            names.extend(
                schema
                    .get("$ref")
                    .and_then(Value::as_str)
                    .and_then(crate::schema::shape::pointer::referenced),
            );
        });
        names
    };
    for start in by_name.keys() {
        let mut seen: Vec<String> = Vec::new();
        let mut pending = targets(&by_name[start]);
        while let Some(name) = pending.pop() {
            if name == *start {
                return Err(format!("{start} leads to itself: {schema}"));
            }
            if !seen.contains(&name) {
                pending.extend(by_name.get(&name).map(targets).unwrap_or_default());
                seen.push(name);
            }
        }
    }
    Ok(())
}

fn check_vendor(dialect: &Dialect, schema: &Value) -> Result<(), String> {
    check_array_items(schema)?;
    check_dialect(dialect, schema)?;
    match dialect.name {
        "json-schema" => check_root(schema, true)?,
        "openai-strict" => check_strict(schema)?,
        "gemini" => return check_gemini(schema),
        _ => check_root(schema, false)?,
    }
    if jsonschema::meta::is_valid(schema) { Ok(()) } else { Err(format!("not a JSON Schema: {schema}")) }
}

fn arguments(shape: Shape) -> Shape {
    let rules = ObjectRules {
        fields: vec![Field { name: "v".into(), shape, ..Field::OPTIONAL }].into(),
        extra: Extra::Closed,
        ..ObjectRules::ANY
    };
    Shape::of(Kind::Object(rules))
}

fn named_defs(shapes: Vec<Shape>) -> List<Def> {
    let names = ["a", "b", "c"];
    names
        .into_iter()
        .zip(shapes)
        .map(|(name, shape)| Def { name: name.into(), schema: shape.into() })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rendered_schemas_satisfy_vendor_rules(shape in arbitrary::shape(), others in vec(arbitrary::shape(), 3)) {
        let defs = named_defs(others);
        for dialect in Dialect::ALL {
            for shape in [arguments(shape.clone()), shape.clone()] {
                let Ok(rendered) = render_input(&shape, &defs, dialect) else { continue };
                let result = check_vendor(dialect, &rendered.schema);
                prop_assert_eq!(result, Ok(()), "{} {}", dialect.name, rendered.schema);
                prop_assert_eq!(render_input(&shape, &defs, dialect).unwrap(), rendered);
            }
            if let Ok(rendered) = render_output(&shape, &defs, dialect) {
                prop_assert_eq!(check_array_items(&rendered.schema), Ok(()));
            }
        }
    }
}

#[test]
fn array_without_items_cannot_be_rendered() {
    let schema = json!({"type": "object", "properties": {"requirements": {"type": "array"}}});
    let error = check_array_items(&schema).unwrap_err();
    assert!(error.ends_with("array schema missing items."), "{error}");
    let mut problems = Vec::new();
    let shape = read(&schema, &mut problems);
    for dialect in Dialect::ALL {
        let rendered = render_input(&shape, &List::EMPTY, dialect).unwrap();
        assert_eq!(check_vendor(dialect, &rendered.schema), Ok(()), "{}", dialect.name);
    }
}

#[test]
fn discriminator_uses_the_renamed_key() {
    let cat = |schema: &Value| {
        let variant = Shape::of(Kind::Ref("Cat".into()));
        let discriminator = Discriminator {
            property: "pet kind".into(),
            mapping: vec![("cat".into(), "Cat".into())].into(),
            default_variant: None,
        };
        let rules = UnionRules {
            mode: UnionMode::Any,
            variants: vec![variant].into(),
            discriminator: Some(discriminator),
        };
        let target = read(schema, &mut Vec::new());
        let defs = List::from(vec![Def { name: "Cat".into(), schema: target.into() }]);
        let rendered = render_input(&arguments(Shape::of(Kind::Union(rules))), &defs, &ANTHROPIC);
        let rendered = rendered.unwrap();
        assert_eq!(check_vendor(&ANTHROPIC, &rendered.schema), Ok(()));
        rendered.schema["properties"]["v"]["anyOf"][0]["properties"].clone()
    };
    let with_field =
        json!({"type": "object", "properties": {"pet kind": {"type": "string"}}, "required": ["pet kind"]});
    assert_eq!(cat(&with_field), json!({"pet_kind": {"const": "cat"}}));
    // A key that is not a field and that the dialect rejects cannot be required.
    assert_eq!(cat(&json!({"type": "object"})), json!(null));
}
