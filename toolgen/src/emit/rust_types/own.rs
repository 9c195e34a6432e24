//! Names of types that describe the location of a field.
//!
//! Equal schemas without a name are one type. A field nevertheless reads like its own location in the document: its
//! type is written as an alias named after that location, unless the type has a name that suits all its locations.

use std::collections::HashMap;

use super::super::idents::{self, Names};
use super::model::{Body, CallTypes, Item, Origin, Struct, Ty, Union, Use, Wrap};
use super::place::longer;
use super::tags::resolve_alias;
use crate::names::spelled;

/// The aliases of types, by location.
#[derive(Default)]
pub(super) struct Own(HashMap<String, usize>);

impl Own {
    /// Finds the locations whose type is named after another location, and creates aliases for them.
    pub(super) fn of(items: &mut Vec<Item>, calls: &[CallTypes<'_>], names: &mut Names) -> Own {
        let mut own = Own::default();
        for (index, item) in items.iter().enumerate() {
            if let Body::Alias(_) = &item.body {
                own.0.insert(item.name.clone(), index);
            }
        }
        let mut places: Vec<(String, String, usize)> = Vec::new();
        for item in items.iter() {
            walk(item, &mut |location, first, ty| in_type(location, first, ty, &mut places));
        }
        for call in calls {
            let Some(Item { name, .. }) = items.get(call.input) else { continue };
            for (ty, part) in parts(call) {
                let location = longer(name, part);
                in_type(&location, &location, ty, &mut places);
            }
        }
        let mut uses: HashMap<String, (usize, Use)> = HashMap::new();
        for (index, item) in items.iter().enumerate() {
            uses.extend(item.uses.iter().map(|place| (place.name.clone(), (index, place.clone()))));
        }
        for (location, first, of) in places {
            let Some((_, Use { what, owner, .. })) = uses.get(&first).filter(|(index, _)| *index == of)
            else {
                continue;
            };
            let fits = items.get(of).is_none_or(|item| item.fits_all || item.name == location);
            if fits || own.name(items, &location, of).is_some() || !names.is_free(&location) {
                continue;
            }
            let name = names.take(&location);
            own.0.insert(location, items.len());
            let origin = Origin::Place { numbered: false };
            let body = Body::Alias(Ty::Item(of, Wrap::Plain));
            items.push(Item { body, ..Item::new(name, what.clone(), origin, *owner) });
        }
        own
    }

    /// Returns the alias of a type at a location, if any.
    pub(super) fn name(&self, items: &[Item], location: &str, of: usize) -> Option<usize> {
        let alias = *self.0.get(location)?;
        let fits = items.get(of).is_none_or(|item| item.fits_all || item.origin == Origin::Tool);
        let names =
            matches!(resolve_alias(items, &Ty::Item(alias, Wrap::Plain)), Ty::Item(index, _) if *index == of);
        (!fits && names).then_some(alias)
    }
}

/// Returns the types of a call besides its arguments, with the suffixes of their names.
fn parts<'c>(call: &'c CallTypes<'_>) -> Vec<(&'c Ty, &'static str)> {
    let CallTypes { output, failure, item, .. } = call;
    let named = [(Some(output), "Output"), (failure.as_ref(), "Error"), (item.as_ref(), "Item")];
    named.into_iter().filter_map(|(ty, part)| Some((ty?, part))).collect()
}

/// Returns the name of a part of a location.
pub(super) fn inner(location: &str, part: &str) -> String {
    longer(location, &idents::camel(part))
}

/// Returns the name of a field of a type.
pub(super) fn field(of: &str, key: &str) -> String {
    inner(of, &spelled(key))
}

/// Visits the types that a type consists of, with the names of their locations, derived from its name and from its
/// first name.
fn walk(item: &Item, visit: &mut dyn FnMut(&str, &str, &Ty)) {
    let mut at = |part: &str, ty: &Ty| visit(&inner(&item.name, part), &inner(&item.first_name, part), ty);
    match &item.body {
        Body::Struct(Struct { fields, extra, .. }) => {
            fields.iter().for_each(|field| at(&spelled(&field.key), &field.ty));
            extra.iter().for_each(|(_, ty)| at("extra", ty));
        }
        Body::Union(Union { variants, .. }) => {
            variants.iter().for_each(|variant| at(&variant.name, &variant.ty));
        }
        Body::Pending | Body::Enum(_) | Body::Numbers(_) | Body::Alias(_) => {}
    }
}

/// Adds the named types in a type, with the names of their locations.
fn in_type(location: &str, first: &str, ty: &Ty, found: &mut Vec<(String, String, usize)>) {
    let mut part = |part: &str, ty: &Ty| in_type(&inner(location, part), &inner(first, part), ty, found);
    match ty {
        Ty::Item(index, _) => found.push((location.to_owned(), first.to_owned(), *index)),
        Ty::Option(of) => in_type(location, first, of, found),
        Ty::Vec(of) => part("item", of),
        Ty::Map { value, .. } => part("value", value),
        Ty::Tuple(items) => items.iter().enumerate().for_each(|(at, ty)| part(&format!("item {at}"), ty)),
        _ => {}
    }
}
