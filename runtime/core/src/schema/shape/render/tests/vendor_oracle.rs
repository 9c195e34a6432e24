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

/// Calls `see` with every subschema and its location.
fn each(schema: &Value, location: &str, see: &mut dyn FnMut(&Value, &str)) {
    see(schema, location);
    let Value::Object(fields) = schema else { return };
    for (keyword, value) in fields {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(schemas)) => {
                schemas
                    .iter()
                    .for_each(|(name, schema)| each(schema, &format!("{location}/{keyword}/{name}"), see));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter().for_each(|schema| each(schema, &format!("{location}/{keyword}"), see));
            }
            ("items" | "additionalProperties", schema) => each(schema, &format!("{location}/{keyword}"), see),
            _ => {}
        }
    }
}

/// Returns OpenAI's error message for an array without `items`.
fn arrays_have_items(schema: &Value) -> Result<(), String> {
    let mut missing = Ok(());
    each(schema, "", &mut |schema, location| {
        let types = &schema["type"];
        let array =
            *types == "array" || types.as_array().is_some_and(|types| types.contains(&json!("array")));
        if array && schema.get("items").is_none() {
            missing = Err(format!("In context={location}, array schema missing items."));
        }
    });
    missing
}

fn root_is_an_object(schema: &Value, composition: bool) -> Result<(), String> {
    if schema["type"] != "object" || schema.get("properties").is_none() && !composition {
        return Err(format!("root: {schema}"));
    }
    let composed =
        ["anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"].iter().any(|k| schema.get(k).is_some());
    if composed && !composition { Err(format!("composed root: {schema}")) } else { Ok(()) }
}

/// Whether a schema has only these keywords, which are separated by spaces.
fn only(schema: &Value, keywords: &str) -> Result<(), String> {
    let mut found = Ok(());
    each(schema, "", &mut |schema, location| match schema {
        Value::Object(fields) => {
            for keyword in fields.keys().filter(|one| !keywords.split(' ').any(|keyword| keyword == **one)) {
                found = Err(format!("{keyword} at {location}"));
            }
        }
        other => found = Err(format!("{other} at {location}")),
    });
    found
}

fn strict(schema: &Value) -> Result<(), String> {
    root_is_an_object(schema, false)?;
    let keywords = "type description properties required additionalProperties items anyOf enum const \
        $ref $defs format pattern minimum maximum \
        exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems";
    only(schema, keywords).or_else(|found| {
        if found.starts_with("false at") && found.ends_with("additionalProperties") {
            Ok(())
        } else {
            Err(found)
        }
    })?;
    let mut wrong = Ok(());
    each(schema, "", &mut |schema, location| {
        if schema.get("$ref").is_some() && schema.as_object().is_some_and(|fields| fields.len() > 1) {
            wrong = Err(format!("$ref has siblings at {location}"));
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let names: Vec<Value> = properties.keys().map(|name| name.as_str().into()).collect();
            let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            if names != required || schema["additionalProperties"] != false {
                wrong = Err(format!("open or optional at {location}: {schema}"));
            }
        }
        let formats = ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
        if let Some(Value::String(format)) = schema.get("format")
            && !formats.contains(&format.as_str())
        {
            wrong = Err(format!("format {format} at {location}"));
        }
        let says =
            ["type", "anyOf", "$ref", "enum", "const"].iter().any(|keyword| schema.get(keyword).is_some());
        if !says && !schema.is_boolean() {
            wrong = Err(format!("no type at {location}: {schema}"));
        }
    });
    wrong
}

fn gemini(schema: &Value) -> Result<(), String> {
    root_is_an_object(schema, false)?;
    let keywords = "type format description nullable items minItems maxItems enum properties required \
        minProperties maxProperties minLength maxLength minimum maximum pattern anyOf";
    only(schema, keywords)?;
    let mut wrong = Ok(());
    each(schema, "", &mut |schema, location| {
        let Some(fields) = schema.as_object() else { return };
        match (fields.get("type"), fields.get("anyOf")) {
            (Some(Value::String(_)), None) => {}
            (None, Some(_)) if fields.len() == 1 => {}
            _ => wrong = Err(format!("not one type, not anyOf alone at {location}: {schema}")),
        }
        if let Some(values) = fields.get("enum").and_then(Value::as_array)
            && (fields["type"] != "string" || !values.iter().all(Value::is_string))
        {
            wrong = Err(format!("enum of other than texts at {location}"));
        }
        if fields.get("enum").and_then(Value::as_array).is_some_and(|values| values.contains(&"".into())) {
            wrong = Err(format!("an empty text in enum at {location}"));
        }
        if fields.get("type") == Some(&"object".into())
            && fields.get("properties").and_then(Value::as_object).is_none_or(|p| p.is_empty())
            && !location.is_empty()
        {
            wrong = Err(format!("no properties at {location}"));
        }
        for name in fields.get("properties").and_then(Value::as_object).into_iter().flat_map(|p| p.keys()) {
            if !GEMINI.keys.accepts(name) {
                wrong = Err(format!("key {name} at {location}"));
            }
        }
    });
    wrong
}

/// Checks the rules in the row of a dialect.
fn row(dialect: &Dialect, schema: &Value) -> Result<(), String> {
    let always = "type description properties required items enum anyOf $ref $defs nullable";
    let mut wrong = Ok(());
    each(schema, "", &mut |schema, location| {
        let Value::Object(fields) = schema else { return };
        let mut refuse = |what: &str| wrong = Err(format!("{what} at {location}: {schema}"));
        let has = |keyword: &str| fields.contains_key(keyword);
        if let Some(other) =
            fields.keys().find(|key| !always.split(' ').any(|one| one == *key) && !dialect.accepts(key))
        {
            refuse(other);
        }
        let keys: Vec<&String> =
            fields.get("properties").and_then(Value::as_object).into_iter().flat_map(|p| p.keys()).collect();
        let is_object =
            fields.get("type").is_some_and(|of| *of == "object" || of.to_string().contains("\"object\""));
        if is_object
            && !dialect.open_objects
            && (fields.get("additionalProperties") != Some(&false.into()) || !has("properties"))
        {
            refuse("open");
        }
        let required = fields.get("required").and_then(Value::as_array).map_or(0, Vec::len);
        if !dialect.optional_fields && required != keys.len() {
            refuse("optional");
        }
        if !dialect.empty_objects && is_object && keys.is_empty() && !location.is_empty() {
            refuse("empty");
        }
        if keys.iter().any(|key| !dialect.keys.accepts(key)) {
            refuse("key");
        }
        if dialect.ref_alone
            && has("$ref")
            && fields.keys().any(|key| !["$ref", "$defs"].contains(&key.as_str()))
        {
            refuse("beside $ref");
        }
        if !dialect.untyped && !["type", "anyOf", "$ref", "enum", "const"].iter().any(|keyword| has(keyword))
        {
            refuse("untyped");
        }
        let text = |keyword: &str| fields.get(keyword).and_then(Value::as_str);
        if text("pattern").is_some_and(|pattern| !dialect.patterns.accepts(pattern)) {
            refuse("pattern");
        }
        if text("format").is_some_and(|format| !dialect.accepts_format(format)) {
            refuse("format");
        }
        let least = fields.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        if dialect.min_items.is_some_and(|max| least > max) {
            refuse("minItems");
        }
        if dialect.nulls == Nulls::AnyOf
            && fields.get("type").is_some_and(|of| of.to_string().contains("null\"]"))
        {
            refuse("list of types");
        }
    });
    wrong?;
    if dialect.recursion { Ok(()) } else { no_circle(schema) }
}

fn no_circle(schema: &Value) -> Result<(), String> {
    let by_name = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let targets = |schema: &Value| {
        let mut found = Vec::new();
        each(schema, "", &mut |schema, _| {
            found.extend(
                schema
                    .get("$ref")
                    .and_then(Value::as_str)
                    .and_then(crate::schema::shape::pointer::referenced),
            );
        });
        found
    };
    for start in by_name.keys() {
        let mut seen: Vec<String> = Vec::new();
        let mut open = targets(&by_name[start]);
        while let Some(name) = open.pop() {
            if name == *start {
                return Err(format!("{start} leads to itself: {schema}"));
            }
            if !seen.contains(&name) {
                open.extend(by_name.get(&name).map(targets).unwrap_or_default());
                seen.push(name);
            }
        }
    }
    Ok(())
}

fn gate(dialect: &Dialect, schema: &Value) -> Result<(), String> {
    arrays_have_items(schema)?;
    row(dialect, schema)?;
    match dialect.name {
        "json-schema" => root_is_an_object(schema, true)?,
        "openai-strict" => strict(schema)?,
        "gemini" => return gemini(schema),
        _ => root_is_an_object(schema, false)?,
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

fn named(shapes: Vec<Shape>) -> List<Def> {
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
        let defs = named(others);
        for dialect in Dialect::ALL {
            for shape in [arguments(shape.clone()), shape.clone()] {
                let Ok(rendered) = render_input(&shape, &defs, dialect) else { continue };
                let passed = gate(dialect, &rendered.schema);
                prop_assert_eq!(passed, Ok(()), "{} {}", dialect.name, rendered.schema);
                prop_assert_eq!(render_input(&shape, &defs, dialect).unwrap(), rendered);
            }
            if let Ok(rendered) = render_output(&shape, &defs, dialect) {
                prop_assert_eq!(arrays_have_items(&rendered.schema), Ok(()));
            }
        }
    }
}

#[test]
fn array_without_items_cannot_be_rendered() {
    let lost = json!({"type": "object", "properties": {"requirements": {"type": "array"}}});
    let complaint = arrays_have_items(&lost).unwrap_err();
    assert!(complaint.ends_with("array schema missing items."), "{complaint}");
    let mut problems = Vec::new();
    let shape = read(&lost, &mut problems);
    for dialect in Dialect::ALL {
        let rendered = render_input(&shape, &List::EMPTY, dialect).unwrap();
        assert_eq!(gate(dialect, &rendered.schema), Ok(()), "{}", dialect.name);
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
        assert_eq!(gate(&ANTHROPIC, &rendered.schema), Ok(()));
        rendered.schema["properties"]["v"]["anyOf"][0]["properties"].clone()
    };
    let with =
        json!({"type": "object", "properties": {"pet kind": {"type": "string"}}, "required": ["pet kind"]});
    assert_eq!(cat(&with), json!({"pet_kind": {"const": "cat"}}));
    // A key that is not a field and that the dialect rejects cannot be required.
    assert_eq!(cat(&json!({"type": "object"})), json!(null));
}
