//! Tags of unions: the properties of their variants that distinguish them.

use std::collections::BTreeMap;

use super::super::idents::Names;
use super::model::{Body, Choice, Item, Presence, Struct, StructField, Ty, Union};

/// Maximum length of a chain of aliases that is followed.
const MAX_NAMES: usize = 16;

/// Adds a field for the tag to the variants of unions, if the tag has one of several strings or any string and the
/// document does not list the property, so that no string is lost.
pub(super) fn add_tag_fields(items: &mut [Item]) {
    let mut missing: Vec<(usize, String)> = Vec::new();
    for item in items.iter() {
        let Body::Union(union) = &item.body else { continue };
        let Choice::Tag { property, values, by_default } = &union.choice else { continue };
        for (index, variant) in union.variants.iter().enumerate() {
            let count = values.iter().filter(|(_, variant_struct)| *variant_struct == index).count();
            if (count > 1 || *by_default == Some(index))
                && let Some(variant_struct) = struct_of(items, &variant.ty)
            {
                missing.push((variant_struct, property.clone()));
            }
        }
    }
    for (index, property) in missing {
        let Some(Item { body: Body::Struct(body), .. }) = items.get_mut(index) else { continue };
        if body.extra.is_none() && !has_key(body, &property) {
            let used_names: Vec<&str> = body.fields.iter().map(|field| field.name.as_str()).collect();
            let name = Names::reserving(&used_names).take_field(&property);
            let doc = "Tells which variant of a union it is.".to_owned();
            let presence = Presence::Optional;
            body.fields.push(StructField { name, key: property, doc, presence, ty: Ty::Text });
        }
    }
}

/// Returns the string that is written for a variant whose value does not contain it.
pub(super) fn missing_tag<'u>(items: &[Item], union: &'u Union, index: usize) -> Option<(&'u str, &'u str)> {
    let Choice::Tag { property, values, by_default } = &union.choice else { return None };
    let mut texts = values.iter().filter(|(_, variant)| *variant == index).map(|(text, _)| text.as_str());
    let first = texts.next().filter(|_| *by_default != Some(index))?;
    let is_added = match struct_of(items, &union.variants.get(index)?.ty)
        .and_then(|struct_index| items.get(struct_index))
    {
        Some(Item { body: Body::Struct(body), .. }) => {
            let is_always_present =
                body.fields.iter().any(|field| field.key == *property && !field.is_optional());
            !is_always_present && !body.constants.iter().any(|(key, _)| key == property)
        }
        // A nested union, which may add more.
        _ => texts.next().is_none(),
    };
    is_added.then_some((property, first))
}

/// Returns the tag, and its string, of each struct that is one variant of every union that contains it and always has
/// the tag as a field: no program has to set `"dog"` for a `Dog`.
pub(super) fn constant_tags(items: &[Item]) -> BTreeMap<usize, (&str, &str)> {
    let mut all: BTreeMap<usize, Option<(&str, &str)>> = BTreeMap::new();
    for item in items {
        let Body::Union(Union { variants, choice: Choice::Tag { property, values, by_default } }) =
            &item.body
        else {
            continue;
        };
        for (index, variant) in variants.iter().enumerate() {
            let Some(struct_index) = struct_of(items, &variant.ty) else { continue };
            let mut texts =
                values.iter().filter(|(_, variant)| *variant == index).map(|(text, _)| text.as_str());
            let single = texts.next().filter(|_| texts.next().is_none() && *by_default != Some(index));
            let tag = single.map(|text| (property.as_str(), text));
            all.entry(struct_index)
                .and_modify(|existing| *existing = existing.filter(|_| *existing == tag))
                .or_insert(tag);
        }
    }
    all.into_iter().filter_map(|(index, tag)| Some((index, tag?))).collect()
}

fn has_key(body: &Struct, key: &str) -> bool {
    body.fields.iter().any(|field| field.key == key)
        || body.constants.iter().any(|(constant, _)| constant == key)
}

/// Returns the type that an alias resolves to; the type itself if it is not an alias.
pub(super) fn resolve_alias<'t>(items: &'t [Item], ty: &'t Ty) -> &'t Ty {
    let mut ty = ty;
    for _ in 0..MAX_NAMES {
        let Ty::Item(index, _) = ty else { return ty };
        let Some(Item { body: Body::Alias(target), .. }) = items.get(*index) else { return ty };
        ty = target;
    }
    ty
}

/// Returns the struct that a type is, possibly through an alias.
fn struct_of(items: &[Item], ty: &Ty) -> Option<usize> {
    let Ty::Item(index, _) = resolve_alias(items, ty) else { return None };
    matches!(items.get(*index)?.body, Body::Struct(_)).then_some(*index)
}
