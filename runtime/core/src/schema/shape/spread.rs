//! Flattens arguments that have several variants to one object with the fields of all variants.
//!
//! Models, command lines and generated types need named arguments. A schema may declare them in variants, in
//! conditional rules, or behind references. Here the fields move to the root, and the other rules refer to them only
//! by name: `{properties: {id, name}, anyOf: [{required: [id]}, {required: [name]}]}`.

use serde_json::Value;

use super::render::unite;
use super::{Def, Extra, Field, Kind, ObjectRules, Shape, UnionRules, read};
use crate::base::frozen::List;

/// Maximum depth to which references are followed: they may be cyclic.
const MAX_DEPTH: usize = 16;

/// Returns the same values as one object with the fields of all variants, next to the rules about them. `None` if no
/// fields are known.
pub(crate) fn spread(shape: &Shape, defs: &[Def]) -> Option<Shape> {
    let fields = declared_fields(shape, defs, 0).filter(|fields| !fields.is_empty())?;
    let parts = match &shape.kind {
        Kind::All(parts) => &**parts,
        _ => std::slice::from_ref(shape),
    };
    let first = parts.iter().find_map(|part| match &part.kind {
        Kind::Object(rules) => Some((part, rules)),
        _ => None,
    });
    let mut object_rules = match first {
        Some((_, rules)) => rules.clone(),
        None => ObjectRules { extra: combined_extra(shape, defs, 0), ..ObjectRules::ANY },
    };
    let outer = std::mem::replace(&mut object_rules.fields, fields.into());
    let spread = Spread { all: &object_rules.fields, outer: &outer, defs };
    let is_first = |part: &Shape| first.is_some_and(|(first, _)| std::ptr::eq(first, part));
    let others =
        parts.iter().filter(|part| !is_first(part)).filter_map(|part| spread.remaining_rules(part, 0));
    let others: Vec<Shape> = others.filter(|part| part.kind != Kind::Any).collect();
    let object = Shape::of(Kind::Object(object_rules.clone()));
    let kind = match others.as_slice() {
        [] => object.kind,
        _ => Kind::All(std::iter::once(object).chain(others).collect()),
    };
    Some(Shape { nullable: false, kind, ..shape.clone() })
}

/// Returns the fields of the objects of a shape. `None` if it has no objects.
fn declared_fields(shape: &Shape, defs: &[Def], depth: usize) -> Option<Vec<Field>> {
    let recurse = |shape: &Shape| declared_fields(shape, defs, depth + 1);
    match &shape.kind {
        _ if depth > MAX_DEPTH => None,
        Kind::Object(rules) => Some(rules.fields.to_vec()),
        Kind::Ref(name) => recurse(find_named(defs, name)?),
        Kind::Any => Some(Vec::new()),
        Kind::Raw(text) => {
            Some(conditional_shapes(text).iter().filter_map(recurse).flatten().map(optional).collect())
        }
        Kind::Union(rules) => {
            let variants: Vec<Vec<Field>> = rules.variants.iter().filter_map(recurse).collect();
            (!variants.is_empty()).then(|| unite(&variants))
        }
        Kind::All(parts) => {
            let mut fields: Vec<Field> = Vec::new();
            for field in parts.iter().map(recurse).collect::<Option<Vec<_>>>()?.into_iter().flatten() {
                match fields.iter_mut().find(|existing| existing.name == field.name) {
                    Some(existing) => {
                        existing.required |= field.required;
                        if existing.shape.kind == Kind::Any {
                            existing.shape.kind = field.shape.kind.clone();
                            existing.shape.nullable = field.shape.nullable;
                            existing.shape.adopt(&field.shape);
                        }
                    }
                    None => fields.push(field),
                }
            }
            Some(fields)
        }
        _ => None,
    }
}

/// Returns the shapes in conditional rules.
fn conditional_shapes(text: &str) -> Vec<Shape> {
    let Ok(Value::Object(raw)) = serde_json::from_str(text) else { return Vec::new() };
    let branches = ["then", "else"].into_iter().filter_map(|keyword| raw.get(keyword));
    let dependent = raw.get("dependentSchemas").and_then(Value::as_object);
    branches
        .chain(dependent.into_iter().flat_map(|schemas| schemas.values()))
        .map(read::read_canonical)
        .collect()
}

fn optional(field: Field) -> Field {
    Field { required: false, ..field }
}

fn find_named<'a>(defs: &'a [Def], name: &str) -> Option<&'a Shape> {
    defs.iter().find(|def| def.name == *name).map(|def| def.schema.shape())
}

/// Returns whether objects of any variant may have additional fields.
fn combined_extra(shape: &Shape, defs: &[Def], depth: usize) -> Extra {
    let is_closed = match &shape.kind {
        _ if depth > MAX_DEPTH => false,
        Kind::Object(rules) => rules.extra == Extra::Closed && rules.patterns.is_empty(),
        Kind::Ref(name) => find_named(defs, name)
            .is_some_and(|target| combined_extra(target, defs, depth + 1) == Extra::Closed),
        Kind::Union(rules) => {
            rules.variants.iter().all(|variant| combined_extra(variant, defs, depth + 1) == Extra::Closed)
        }
        _ => false,
    };
    if is_closed { Extra::Closed } else { Extra::Open }
}

struct Spread<'a> {
    /// The fields of all variants.
    all: &'a [Field],
    /// The fields that are next to the variants.
    outer: &'a [Field],
    defs: &'a [Def],
}

impl Spread<'_> {
    /// Returns the rules of a shape other than its fields. `None` if it has no objects.
    fn remaining_rules(&self, shape: &Shape, depth: usize) -> Option<Shape> {
        let recurse = |shape: &Shape| self.remaining_rules(shape, depth + 1);
        let kind = match &shape.kind {
            _ if depth > MAX_DEPTH => return None,
            Kind::Object(rules) => self.remaining_object(rules),
            Kind::Ref(name) => return recurse(find_named(self.defs, name)?),
            Kind::Any | Kind::Raw(_) => shape.kind.clone(),
            // Its variants are selected by name.
            Kind::Union(rules) if rules.discriminator.is_some() => shape.kind.clone(),
            Kind::Union(rules) => {
                let variants: Vec<Shape> = rules.variants.iter().filter_map(recurse).collect();
                match variants.as_slice() {
                    [] => return None,
                    [only] => only.kind.clone(),
                    several if several.iter().any(|variant| variant.kind == Kind::Any) => Kind::Any,
                    _ => Kind::Union(UnionRules { variants: variants.into(), ..rules.clone() }),
                }
            }
            Kind::All(parts) => {
                let mut parts = parts.iter().map(recurse).collect::<Option<Vec<Shape>>>()?;
                parts.retain(|part| part.kind != Kind::Any);
                match parts.len() {
                    0 => Kind::Any,
                    1 => parts.swap_remove(0).kind,
                    _ => Kind::All(parts.into()),
                }
            }
            _ => return None,
        };
        Some(Shape { kind, nullable: false, ..shape.clone() })
    }

    fn remaining_object(&self, rules: &ObjectRules) -> Kind {
        let is_closed = rules.extra != Extra::Open || !rules.patterns.is_empty();
        let mut fields: Vec<Field> = Vec::new();
        for field in &rules.fields {
            let merged = self.all.iter().find(|merged| merged.name == field.name);
            let is_same = merged.is_some_and(|merged| {
                merged.shape.kind == field.shape.kind && merged.shape.nullable == field.shape.nullable
            });
            let has_other_shape = !is_same && field.shape.kind != Kind::Any;
            let is_newly_required = field.required && merged.is_none_or(|merged| !merged.required);
            if is_closed || has_other_shape || is_newly_required {
                let shape = if has_other_shape { field.shape.clone() } else { Shape::ANY };
                fields.push(Field { shape, ..field.clone() });
            }
        }
        if is_closed {
            // Fields next to the variants belong to each variant.
            let added =
                self.outer.iter().filter(|outer| rules.fields.iter().all(|field| field.name != outer.name));
            fields.extend(added.map(|field| Field { required: false, shape: Shape::ANY, ..field.clone() }));
        }
        let remaining = ObjectRules { fields: List::from(fields), ..rules.clone() };
        if remaining == ObjectRules::ANY { Kind::Any } else { Kind::Object(remaining) }
    }
}
