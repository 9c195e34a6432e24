//! Unions, and several rules in one schema.

use serde_json::Value;

use super::types::is_bare;
use super::{Builder, Object};
use crate::base::frozen::{List, Text};
use crate::schema::shape::{Discriminator, Kind, Literal, Shape, UnionMode, UnionRules, pointer};

impl Builder<'_> {
    pub(super) fn unions(&mut self, schema: &Object, parts: &mut Vec<Shape>) {
        let count = ["anyOf", "oneOf"].iter().filter(|keyword| schema.contains_key(**keyword)).count();
        for (keyword, mode) in [("anyOf", UnionMode::Any), ("oneOf", UnionMode::One)] {
            if !schema.contains_key(keyword) {
                continue;
            }
            let variants = self.schemas(schema, keyword);
            // With two unions it is unclear which one the discriminator belongs to.
            let discriminator = if count == 1 { Self::discriminator(schema) } else { None };
            parts.extend(union(mode, variants, discriminator));
        }
    }

    pub(super) fn discriminator(schema: &Object) -> Option<Discriminator> {
        let value = schema.get("discriminator")?;
        let property = value.get("propertyName")?.as_str()?.to_owned().into();
        let mapping = value.get("mapping").and_then(Value::as_object).into_iter().flatten();
        let mapping: List<(Text, Text)> = mapping
            .filter_map(|(value, target)| {
                Some((value.clone().into(), pointer::referenced(target.as_str()?)?.into()))
            })
            .collect();
        let by_default = value.get("defaultMapping").and_then(|target| pointer::referenced(target.as_str()?));
        Some(Discriminator { property, mapping, by_default: by_default.map(Into::into) })
    }
}

/// Returns the simplest form of a union: `null` is removed, and a single variant replaces the union.
pub(in crate::schema::shape::read) fn union(
    mode: UnionMode,
    mut variants: Vec<Shape>,
    discriminator: Option<Discriminator>,
) -> Option<Shape> {
    if variants.is_empty() {
        return None;
    }
    let all = variants.len();
    variants.retain(|variant| !matches!(variant.kind, Kind::Null));
    let nullable = variants.len() < all;
    match variants.pop() {
        None => Some(Shape::of(Kind::Null)),
        Some(only) if variants.is_empty() => Some(Shape { nullable: nullable || only.nullable, ..only }),
        Some(last) => {
            variants.push(last);
            let rules = UnionRules { mode, variants: variants.into(), discriminator };
            Some(Shape { nullable, ..Shape::of(Kind::Union(rules)) })
        }
    }
}

/// Combines the annotations of a schema and its parts, all of which apply, into one shape.
pub(super) fn combine(mut shape: Shape, mut parts: Vec<Shape>) -> Shape {
    // A part that allows everything only adds annotations: `allOf: [{$ref}, {description}]`.
    parts.retain(|part| {
        let only_remarks = matches!(part.kind, Kind::Any);
        if only_remarks {
            shape.nullable |= part.nullable;
            shape.adopt(part);
        }
        !only_remarks
    });
    drop_implied(&mut parts);
    match parts.len() {
        0 => {}
        1 => {
            for part in parts {
                shape.nullable |= part.nullable;
                shape.adopt(&part);
                shape.kind = part.kind;
            }
        }
        _ => shape.kind = Kind::All(parts.into()),
    }
    shape
}

/// Removes a `type: object` that only repeats what `allOf` or `oneOf` says.
fn drop_implied(parts: &mut Vec<Shape>) {
    let bare = parts.iter().position(|part| is_bare(&part.kind) && part.description.is_empty());
    let Some(index) = bare else { return };
    if parts.len() < 2 {
        return;
    }
    let kind = parts[index].kind.clone();
    let implied = parts.iter().enumerate().any(|(other, part)| other != index && implies(part, &kind));
    if implied {
        parts.remove(index);
    }
}

/// Whether every value that fits the shape has the type of the bare kind. A reference is assumed to.
fn implies(shape: &Shape, bare: &Kind) -> bool {
    match &shape.kind {
        Kind::Ref(_) => true,
        Kind::All(parts) => parts.iter().any(|part| implies(part, bare)),
        Kind::Union(rules) => rules.variants.iter().all(|variant| implies(variant, bare)),
        Kind::Enum(values) => match bare {
            Kind::String(_) => values.iter().all(|value| matches!(value, Literal::String(_))),
            Kind::Boolean => values.iter().all(|value| matches!(value, Literal::Bool(_))),
            Kind::Number(_) => values.iter().all(|value| matches!(value, Literal::Number(_))),
            _ => false,
        },
        Kind::Integer(_) => matches!(bare, Kind::Integer(_) | Kind::Number(_)),
        Kind::Tuple(_) => matches!(bare, Kind::Array(_)),
        kind => std::mem::discriminant(kind) == std::mem::discriminant(bare),
    }
}

/// Whether a list of shapes under `allOf`, `anyOf` or `oneOf` of canonical text reads back as the same list.
pub(in crate::schema::shape) fn is_natural_union(variants: &List<Shape>) -> bool {
    variants.len() > 1 && !variants.iter().any(|variant| matches!(variant.kind, Kind::Null))
}

/// As [`is_natural_union`], for `allOf`.
pub(in crate::schema::shape) fn is_natural_all(parts: &List<Shape>) -> bool {
    let fixed = |part: &Shape| !matches!(part.kind, Kind::Any) && !is_bare(&part.kind);
    parts.len() > 1 && parts.iter().all(fixed)
}
