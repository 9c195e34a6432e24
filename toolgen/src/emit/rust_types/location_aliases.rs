//! Names of types that describe the location of a field.
//!
//! Equal schemas without a name are one type. A field nevertheless reads like its own location in the document: its
//! type is written as an alias named after that location, unless the type has a name that suits all its locations.

use std::collections::HashMap;

use super::super::idents::{self, Names};
use super::model::{Body, CallTypes, Item, Origin, Struct, Ty, Union, Use, Wrap};
use super::tags::resolve_alias;
use super::type_site::nested_name;
use crate::names::spell_comparisons;

/// The aliases of types, by location.
#[derive(Default)]
pub(super) struct LocationAliases(HashMap<String, usize>);

impl LocationAliases {
    /// Finds the locations whose type is named after another location, and creates aliases for them.
    pub(super) fn of(items: &mut Vec<Item>, calls: &[CallTypes<'_>], names: &mut Names) -> LocationAliases {
        let mut aliases = LocationAliases::default();
        for (index, item) in items.iter().enumerate() {
            if let Body::Alias(_) = &item.body {
                aliases.0.insert(item.name.clone(), index);
            }
        }
        let mut located: Vec<(String, String, usize)> = Vec::new();
        for item in items.iter() {
            walk(item, &mut |location, first, ty| collect_named(location, first, ty, &mut located));
        }
        for call in calls {
            let Some(Item { name, .. }) = items.get(call.input) else { continue };
            for (ty, part) in result_parts(call) {
                let location = nested_name(name, part);
                collect_named(&location, &location, ty, &mut located);
            }
        }
        let mut uses: HashMap<String, (usize, Use)> = HashMap::new();
        for (index, item) in items.iter().enumerate() {
            uses.extend(item.uses.iter().map(|site| (site.name.clone(), (index, site.clone()))));
        }
        for (location, first, target) in located {
            let Some((_, Use { fallback_doc, owner, .. })) =
                uses.get(&first).filter(|(index, _)| *index == target)
            else {
                continue;
            };
            let is_suitable = items.get(target).is_none_or(|item| item.fits_all || item.name == location);
            if is_suitable || aliases.name(items, &location, target).is_some() || !names.is_free(&location) {
                continue;
            }
            let name = names.take(&location);
            aliases.0.insert(location, items.len());
            let origin = Origin::Location { numbered: false };
            let body = Body::Alias(Ty::Item(target, Wrap::Plain));
            items.push(Item { body, ..Item::new(name, fallback_doc.clone(), origin, *owner) });
        }
        aliases
    }

    /// Returns the alias of a type at a location, if any.
    pub(super) fn name(&self, items: &[Item], location: &str, target: usize) -> Option<usize> {
        let alias = *self.0.get(location)?;
        let is_suitable = items.get(target).is_none_or(|item| item.fits_all || item.origin == Origin::Tool);
        let is_alias_of_target = matches!(resolve_alias(items, &Ty::Item(alias, Wrap::Plain)), Ty::Item(index, _) if *index == target);
        (!is_suitable && is_alias_of_target).then_some(alias)
    }
}

/// Returns the types of a call other than its arguments, with the suffixes of their names.
fn result_parts<'c>(call: &'c CallTypes<'_>) -> Vec<(&'c Ty, &'static str)> {
    let CallTypes { output, failure, item, .. } = call;
    let types = [(Some(output), "Output"), (failure.as_ref(), "Error"), (item.as_ref(), "Item")];
    types.into_iter().filter_map(|(ty, part)| Some((ty?, part))).collect()
}

/// Returns the name of a part of a location.
pub(super) fn inner(location: &str, part: &str) -> String {
    nested_name(location, &idents::camel(part))
}

/// Returns the name of a field of a type.
pub(super) fn field(type_name: &str, key: &str) -> String {
    inner(type_name, &spell_comparisons(key))
}

/// Visits the types that a type consists of, with the names of their locations, derived from its name and from its
/// first name.
fn walk(item: &Item, visit: &mut dyn FnMut(&str, &str, &Ty)) {
    let mut visit_part =
        |part: &str, ty: &Ty| visit(&inner(&item.name, part), &inner(&item.first_name, part), ty);
    match &item.body {
        Body::Struct(Struct { fields, extra, .. }) => {
            fields.iter().for_each(|field| visit_part(&spell_comparisons(&field.key), &field.ty));
            extra.iter().for_each(|(_, ty)| visit_part("extra", ty));
        }
        Body::Union(Union { variants, .. }) => {
            variants.iter().for_each(|variant| visit_part(&variant.name, &variant.ty));
        }
        Body::Pending | Body::Enum(_) | Body::Numbers(_) | Body::Alias(_) => {}
    }
}

/// Adds the named types in a type, with the names of their locations.
fn collect_named(location: &str, first: &str, ty: &Ty, located: &mut Vec<(String, String, usize)>) {
    let mut part =
        |part: &str, ty: &Ty| collect_named(&inner(location, part), &inner(first, part), ty, located);
    match ty {
        Ty::Item(index, _) => located.push((location.to_owned(), first.to_owned(), *index)),
        Ty::Option(inner) => collect_named(location, first, inner, located),
        Ty::Vec(inner) => part("item", inner),
        Ty::Map { value, .. } => part("value", value),
        Ty::Tuple(items) => {
            items.iter().enumerate().for_each(|(index, ty)| part(&format!("item {index}"), ty));
        }
        _ => {}
    }
}
