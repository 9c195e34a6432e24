//! Writes the canonical text of a shape.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::schema::shape::read::{is_natural_all, is_natural_raw, is_natural_union};
use crate::schema::shape::rules::StatedRule;
use crate::schema::shape::{
    Access, ArrayRules, Extra, Field, Kind, Literal, Number, ObjectRules, Shape, TupleRules, UnionMode,
    UnionRules, pointer,
};

type Object = Map<String, Value>;

/// Returns the canonical text of a shape for generated code: JSON Schema 2020-12, compact, in a fixed order.
///
/// In addition to JSON Schema, it uses `x-wire` and `x-aliases` of fields, OpenAPI's `nullable` and `discriminator`,
/// and `x-enum`, `x-all`, `x-anyOf`, `x-oneOf` and `x-raw` for shapes that reading would simplify.
/// [`read_canonical`](crate::schema::shape::read::read_canonical) returns the same shape.
#[must_use]
pub fn canonical(shape: &Shape) -> String {
    value(shape).to_string()
}

/// Returns the canonical JSON Schema of a shape as a tree.
pub(crate) fn value(shape: &Shape) -> Value {
    if matches!(shape.kind, Kind::Never) && *shape == Shape::of(Kind::Never) {
        return Value::Bool(false);
    }
    Value::Object(schema_object(shape))
}

fn schema_object(shape: &Shape) -> Object {
    let mut out = Object::new();
    let null_is_allowed = write_type(shape, &mut out);
    write_text(&mut out, "description", &shape.description);
    write_kind(shape, &mut out);
    if let Some(default) = &shape.default {
        out.insert("default".into(), default.to_json());
    }
    if !shape.examples.is_empty() {
        out.insert("examples".into(), shape.examples.iter().map(Literal::to_json).collect());
    }
    write_flag(&mut out, "deprecated", shape.deprecated);
    write_flag(&mut out, "nullable", shape.nullable && !null_is_allowed);
    out
}

/// Writes the keywords of the kind. Returns whether they already allow `null`.
fn write_type(shape: &Shape, out: &mut Object) -> bool {
    let name = match &shape.kind {
        Kind::Boolean => "boolean",
        Kind::Integer(_) => "integer",
        Kind::Number(_) => "number",
        Kind::String(_) => "string",
        Kind::Array(_) | Kind::Tuple(_) => "array",
        Kind::Object(_) => "object",
        Kind::Enum(values) => return write_enum(values, shape.nullable, out),
        other => {
            match other {
                Kind::Null => out.insert("type".into(), "null".into()),
                Kind::Ref(name) => out.insert("$ref".into(), pointer::reference(name).into()),
                _ => None,
            };
            return false;
        }
    };
    let value = if shape.nullable { Value::from(vec![name, "null"]) } else { name.into() };
    out.insert("type".into(), value);
    true
}

fn write_enum(values: &[Literal], nullable: bool, out: &mut Object) -> bool {
    let json_values = values.iter().map(Literal::to_json);
    if values.is_empty() || values.contains(&Literal::Null) || has_duplicates(values) {
        out.insert("x-enum".into(), json_values.collect());
        return false;
    }
    if let ([only], false) = (values, nullable) {
        out.insert("const".into(), only.to_json());
    } else {
        out.insert("enum".into(), json_values.chain(nullable.then_some(Value::Null)).collect());
    }
    true
}

fn has_duplicates(values: &[Literal]) -> bool {
    let is_integral_float = |value: &Literal| match value {
        Literal::Number(Number::Float(float)) => float.fract() == 0.0,
        _ => false,
    };
    // There may be tens of thousands of values, too many for pairwise comparisons.
    let mut seen = BTreeSet::new();
    values.iter().any(is_integral_float)
        || !values.iter().all(|value| seen.insert(value.to_json().to_string()))
}

fn write_kind(shape: &Shape, out: &mut Object) {
    match &shape.kind {
        Kind::Any | Kind::Null | Kind::Boolean | Kind::Enum(_) | Kind::Ref(_) => {}
        Kind::Never => {
            out.insert("not".into(), Value::Object(Object::new()));
        }
        Kind::Integer(rules) | Kind::Number(rules) => write_rules(rules.stated_rules(), out),
        Kind::String(rules) => write_rules(rules.stated_rules(), out),
        Kind::Array(rules) => write_array(rules, out),
        Kind::Tuple(rules) => write_tuple(rules, out),
        Kind::Object(rules) => write_object(rules, out),
        Kind::Union(rules) => write_union(rules, out),
        Kind::All(parts) => {
            let keyword = if is_natural_all(parts) { "allOf" } else { "x-all" };
            out.insert(keyword.into(), parts.iter().map(value).collect());
        }
        Kind::Raw(text) => match is_natural_raw(text) {
            Some(raw) => out.extend(raw),
            None => {
                out.insert("x-raw".into(), text.as_str().into());
            }
        },
    }
}

fn write_rules(rules: Vec<StatedRule>, out: &mut Object) {
    out.extend(rules.into_iter().map(|rule| (rule.keyword.to_owned(), rule.value)));
}

fn write_array(rules: &ArrayRules, out: &mut Object) {
    write_rules(rules.stated_rules(), out);
    if *rules.items != Shape::ANY {
        out.insert("items".into(), value(&rules.items));
    }
}

fn write_tuple(rules: &TupleRules, out: &mut Object) {
    write_rules(rules.stated_rules(), out);
    out.insert("prefixItems".into(), rules.items.iter().map(value).collect());
    write_extra(out, "items", &rules.rest);
}

fn write_object(rules: &ObjectRules, out: &mut Object) {
    if !rules.fields.is_empty() {
        let properties: Object = rules.fields.iter().map(field_entry).collect();
        out.insert("properties".into(), Value::Object(properties));
    }
    let required: Vec<&str> =
        rules.fields.iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
    if !required.is_empty() {
        out.insert("required".into(), required.into());
    }
    if !rules.patterns.is_empty() {
        let patterns: Object =
            rules.patterns.iter().map(|field| (field.pattern.to_string(), value(&field.shape))).collect();
        out.insert("patternProperties".into(), Value::Object(patterns));
    }
    write_extra(out, "additionalProperties", &rules.extra);
    write_rules(rules.stated_rules(), out);
}

fn field_entry(field: &Field) -> (String, Value) {
    let mut out = schema_object(&field.shape);
    write_flag(&mut out, "readOnly", field.access == Access::ReadOnly);
    write_flag(&mut out, "writeOnly", field.access == Access::WriteOnly);
    write_text(&mut out, "x-wire", &field.wire);
    if !field.aliases.is_empty() {
        out.insert("x-aliases".into(), field.aliases.iter().map(|alias| alias.as_str()).collect());
    }
    (field.name.to_string(), Value::Object(out))
}

fn write_extra(out: &mut Object, keyword: &str, extra: &Extra) {
    match extra {
        Extra::Open => {}
        Extra::Closed => {
            out.insert(keyword.into(), false.into());
        }
        // Always an object: `true` and `false` represent the other two cases.
        Extra::Of(shape) => {
            out.insert(keyword.into(), Value::Object(schema_object(shape)));
        }
    }
}

fn write_union(rules: &UnionRules, out: &mut Object) {
    let keyword = match (rules.mode, is_natural_union(&rules.variants)) {
        (UnionMode::Any, true) => "anyOf",
        (UnionMode::One, true) => "oneOf",
        (UnionMode::Any, false) => "x-anyOf",
        (UnionMode::One, false) => "x-oneOf",
    };
    out.insert(keyword.into(), rules.variants.iter().map(value).collect());
    let Some(discriminator) = &rules.discriminator else { return };
    let mut object = Object::new();
    object.insert("propertyName".into(), discriminator.property.as_str().into());
    if !discriminator.mapping.is_empty() {
        let pair = |(value, name): &(crate::base::frozen::Text, crate::base::frozen::Text)| {
            (value.to_string(), pointer::reference(name).into())
        };
        object.insert("mapping".into(), Value::Object(discriminator.mapping.iter().map(pair).collect()));
    }
    if let Some(name) = &discriminator.default_variant {
        object.insert("defaultMapping".into(), pointer::reference(name).into());
    }
    out.insert("discriminator".into(), Value::Object(object));
}

fn write_text(out: &mut Object, keyword: &str, text: &str) {
    if !text.is_empty() {
        out.insert(keyword.into(), text.into());
    }
}

fn write_flag(out: &mut Object, keyword: &str, flag: bool) {
    if flag {
        out.insert(keyword.into(), true.into());
    }
}
