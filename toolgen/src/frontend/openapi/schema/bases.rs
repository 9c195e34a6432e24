//! Handles bases that list their own extensions: `Pet: {properties, oneOf: [Cat, Dog]}` where `Cat` and `Dog` are
//! `allOf: [Pet, …]`. Each extension repeats the base, so the base can be reduced to the union.

use std::collections::BTreeMap;

use toolgen_core::Shape;
use toolgen_core::schema::shape::{Extra, Field, Kind, ObjectRules};

/// Reduces bases to their unions, if each variant repeats the fields of the base.
pub(super) fn drop_repeated(shapes: &mut BTreeMap<String, Shape>) {
    let unions = shapes.iter().filter_map(|(name, shape)| Some((name.clone(), bare_union(shape, shapes)?)));
    for (name, union) in unions.collect::<Vec<_>>() {
        if let Some(shape) = shapes.get_mut(&name) {
            shape.kind = union;
        }
    }
}

/// Returns the union of a base whose own fields add nothing to its variants.
fn bare_union(base: &Shape, shapes: &BTreeMap<String, Shape>) -> Option<Kind> {
    let Kind::All(parts) = &base.kind else { return None };
    let [Shape { kind: Kind::Object(rules), .. }, union] = &**parts else { return None };
    let Kind::Union(variants) = &union.kind else { return None };
    let is_redundant = rules.extra == Extra::Open
        && variants.variants.iter().all(|variant| match &variant.kind {
            Kind::Ref(name) => shapes.get(name.as_str()).is_some_and(|target| extends(target, rules)),
            _ => false,
        });
    is_redundant.then(|| union.kind.clone())
}

/// Whether a variant repeats all fields of a base.
fn extends(variant: &Shape, base: &ObjectRules) -> bool {
    let Kind::Object(rules) = &variant.kind else { return false };
    base.fields.iter().all(|base_field| {
        let field = rules.fields.iter().find(|field| field.name == base_field.name);
        field.is_some_and(|field| repeats(field, base_field) && (field.required || !base_field.required))
    })
}

/// Whether a variant's field repeats the field of the base, or is the discriminating property: it lists values, which
/// the base does not do.
fn repeats(field: &Field, base_field: &Field) -> bool {
    matches!(field.shape.kind, Kind::Enum(_)) || field.shape == base_field.shape
}
