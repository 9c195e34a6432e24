//! Determines the kind of a shape's values, through references and `allOf`.

use toolgen_core::schema::shape::{Extra, Field, Kind, Literal, ObjectRules, find_def};
use toolgen_core::{Def, List, Shape};

use super::raw;
use crate::source::unescape;

/// The maximum nesting of shapes that is followed.
pub(super) const MAX_NESTING: usize = 24;

/// Returns the rules of an object, with the parts of an `allOf` combined, or `None` if it is not just an object.
pub(super) fn object_of(defs: &List<Def>, shape: &Shape, nesting: usize) -> Option<ObjectRules> {
    if nesting > MAX_NESTING {
        return None;
    }
    match &shape.kind {
        Kind::Object(rules) => Some(rules.clone()),
        Kind::Ref(name) => object_of(defs, find_def(defs, name)?, nesting + 1),
        Kind::All(parts) => {
            let mut fields: Vec<Field> = Vec::new();
            let mut merged = ObjectRules { extra: Extra::Open, ..ObjectRules::ANY };
            for part in parts {
                if raw::restricts(part) || restricts_presence(part, &fields) {
                    continue;
                }
                let rules = object_of(defs, part, nesting + 1)?;
                for field in &rules.fields {
                    merge(&mut fields, field);
                }
                if rules.extra != Extra::Open {
                    merged.extra = rules.extra;
                }
            }
            merged.fields = fields.into();
            Some(merged)
        }
        _ => None,
    }
}

/// Whether a part of an `allOf` only restricts which of the existing fields are set.
fn restricts_presence(part: &Shape, existing: &[Field]) -> bool {
    let exists = |field: &Field| existing.iter().any(|existing| existing.name == field.name);
    match &part.kind {
        Kind::Object(rules) => rules.fields.iter().all(exists),
        Kind::Union(rules) => rules.variants.iter().all(|variant| restricts_presence(variant, existing)),
        _ => false,
    }
}

/// Merges a field of several parts of an `allOf`: the later part is more specific, but may only tighten.
fn merge(fields: &mut Vec<Field>, field: &Field) {
    let Some(existing) = fields.iter_mut().find(|existing| existing.wire_name() == field.wire_name()) else {
        fields.push(field.clone());
        return;
    };
    let required = existing.required || field.required;
    if field.shape.kind != Kind::Any {
        *existing = field.clone();
    }
    existing.required = required;
}

/// Returns the variant of `serde_json::Value` that all values of a shape have.
pub(super) fn json_type(defs: &List<Def>, shape: &Shape, nesting: usize) -> Option<&'static str> {
    if shape.nullable || nesting > 8 {
        return None;
    }
    match &shape.kind {
        Kind::Boolean => Some("Bool"),
        Kind::Integer(_) | Kind::Number(_) => Some("Number"),
        Kind::String(_) => Some("String"),
        Kind::Enum(list) => {
            let all = |is: fn(&Literal) -> bool| !list.is_empty() && list.iter().all(is);
            let numbers = all(|value| matches!(value, Literal::Number(_))).then_some("Number");
            all(|value| matches!(value, Literal::String(_))).then_some("String").or(numbers)
        }
        Kind::Union(rules) => {
            let mut types = rules.variants.iter().map(|variant| json_type(defs, variant, nesting + 1));
            let first = types.next().flatten()?;
            types.all(|other| other == Some(first)).then_some(first)
        }
        Kind::Array(_) | Kind::Tuple(_) => Some("Array"),
        Kind::Object(_) => Some("Object"),
        Kind::Ref(name) => json_type(defs, find_def(defs, name)?, nesting + 1),
        _ => None,
    }
}

/// Returns the part with a name in an `allOf` of scalars of one JSON type, or else the first part.
pub(super) fn scalar<'s>(defs: &List<Def>, parts: &'s [Shape]) -> Option<&'s Shape> {
    let first = parts.first()?;
    let ty = json_type(defs, first, 0).filter(|name| !["Object", "Array"].contains(name))?;
    let are_same = parts.iter().all(|part| json_type(defs, part, 0) == Some(ty));
    are_same.then(|| parts.iter().find(|part| matches!(part.kind, Kind::Ref(_))).unwrap_or(first))
}

/// Returns whether a shape allows `null`, as a variant or inside one, and the only other variant if there is just
/// one.
pub(super) fn without_null(shape: &Shape) -> (bool, Option<&Shape>) {
    let Kind::Union(rules) = &shape.kind else { return (shape.nullable, None) };
    let mut others = rules.variants.iter().filter(|variant| variant.kind != Kind::Null);
    let allows_null = |variant: &Shape| variant.nullable || matches!(variant.kind, Kind::Null | Kind::Any);
    let nullable = shape.nullable || rules.variants.iter().any(allows_null);
    match (others.next(), others.next()) {
        (Some(only), None) => (nullable, Some(only)),
        _ => (nullable, None),
    }
}

/// Whether all values of a shape are strings.
pub(super) fn is_string(shape: &Shape) -> bool {
    match &shape.kind {
        Kind::String(_) => true,
        Kind::Enum(list) => list.iter().all(|value| matches!(value, Literal::String(_))),
        _ => false,
    }
}

/// Returns the items of the list at a pointer into a value.
pub(super) fn item_at(defs: &List<Def>, shape: &Shape, pointer: &str) -> Option<Shape> {
    let mut shape = shape.clone();
    for token in pointer.split('/').skip(1) {
        let key = unescape(token);
        let rules = object_of(defs, without_null(&shape).1.unwrap_or(&shape), 0)?;
        shape = rules.fields.iter().find(|field| field.wire_name() == key)?.shape.clone();
    }
    items_of(defs, &shape, 0)
}

/// Returns the items of a list, even if the list is a reference, may be `null`, or is part of an `allOf`.
fn items_of(defs: &List<Def>, shape: &Shape, nesting: usize) -> Option<Shape> {
    if nesting > MAX_NESTING {
        return None;
    }
    match &shape.kind {
        Kind::Array(rules) => Some((*rules.items).clone()),
        Kind::Ref(name) => items_of(defs, find_def(defs, name)?, nesting + 1),
        Kind::All(parts) => parts.iter().find_map(|part| items_of(defs, part, nesting + 1)),
        _ => items_of(defs, without_null(shape).1?, nesting + 1),
    }
}
