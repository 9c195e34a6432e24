//! Handles bases that list their own extensions: `Pet: {properties, oneOf: [Cat, Dog]}` where `Cat` and `Dog` are
//! `allOf: [Pet, …]`. Each extension repeats the base, so the base can be the bare union.

use std::collections::BTreeMap;

use toolgen_core::Shape;
use toolgen_core::schema::shape::{Extra, Field, Kind, ObjectRules};

/// Removes from unions the fields that each of their variants also has.
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
    let says_no_more = rules.extra == Extra::Open
        && variants.variants.iter().all(|variant| match &variant.kind {
            Kind::Ref(name) => shapes.get(name.as_str()).is_some_and(|target| extends(target, rules)),
            _ => false,
        });
    says_no_more.then(|| union.kind.clone())
}

fn extends(variant: &Shape, base: &ObjectRules) -> bool {
    let Kind::Object(own) = &variant.kind else { return false };
    base.fields.iter().all(|shared| {
        let field = own.fields.iter().find(|field| field.name == shared.name);
        field.is_some_and(|field| repeats(field, shared) && (field.required || !shared.required))
    })
}

/// Whether the field of a variant repeats that of the base, or lists the values of the discriminating property, which
/// the base does not.
fn repeats(field: &Field, shared: &Field) -> bool {
    matches!(field.shape.kind, Kind::Enum(_)) || field.shape == shared.shape
}
