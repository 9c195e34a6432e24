//! Names types that several tools share. No such name is derived from a single tool, so that a change to one tool
//! never renames a type of another.

use std::collections::{BTreeMap, BTreeSet};

use super::super::idents::{self, Names};
use super::super::literal::visible;
use super::model::{Body, Item, Origin, Ty, Union, Use, Variant, Wrap};
use crate::names::spell_comparisons;

/// Words without information about a type.
const UNINFORMATIVE: [&str; 14] = [
    "data", "error", "errors", "extra", "headers", "item", "items", "object", "output", "result", "results",
    "type", "value", "values",
];

/// Renames the types that occur in several tools or schemas, if a better name exists. The candidates are the kind of
/// their values if these are simple, their key, their tag with their key, the common ending of the names of all
/// locations, and a name with `Shared` for whole responses. The old name stays as an alias. `tags` are the tags of
/// tools, by their arguments.
pub(super) fn rename(items: &mut Vec<Item>, tags: &BTreeMap<usize, &str>, names: &mut Names) {
    let mut types_by_key: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate().filter(|(_, item)| is_type(item)) {
        for Use { key, .. } in &item.uses {
            types_by_key.entry(key.to_ascii_lowercase()).or_default().insert(index);
        }
    }
    let mut shared: Vec<usize> =
        (0..items.len()).filter(|index| items.get(*index).is_some_and(is_shared)).collect();
    // If several types may have a name, the one with the most locations gets it.
    shared.sort_by_key(|index| items.get(*index).map_or(0, |item| usize::MAX - item.uses.len()));
    for index in shared {
        let Some(item) = items.get(index) else { continue };
        let is_unique =
            |key: &str| types_by_key.get(&key.to_ascii_lowercase()).is_some_and(|types| types.len() == 1);
        let mut candidates = candidates(&item.uses, tags, is_unique);
        if let Some(scalar_name) = scalar_union_name(item) {
            candidates.insert(0, scalar_name);
        }
        if candidates.contains(&item.name) {
            continue;
        }
        let Some(name) = candidates.into_iter().find(|name| names.is_free(name)) else { continue };
        let (old, owner) = (item.name.clone(), item.owner);
        rename_item(items, index, &name, names);
        // The names of nested types are derived from the old name.
        for inner in 0..items.len() {
            let Some(item) = items.get(inner).filter(|item| item.owner == owner && is_type(item)) else {
                continue;
            };
            let suffix = item
                .name
                .strip_prefix(&old)
                .filter(|suffix| suffix.starts_with(|c: char| c.is_ascii_uppercase()));
            if let Some(nested_name) =
                suffix.map(|suffix| format!("{name}{suffix}")).filter(|name| names.is_free(name))
            {
                rename_item(items, inner, &nested_name, names);
            }
        }
    }
}

/// Whether an item is a type that is named after a location.
fn is_type(item: &Item) -> bool {
    matches!(item.origin, Origin::Location { .. }) && !matches!(item.body, Body::Alias(_) | Body::Pending)
}

fn is_shared(item: &Item) -> bool {
    let owners: BTreeSet<Option<usize>> = item.uses.iter().map(|site| site.owner).collect();
    is_type(item) && (owners.len() > 1 || item.uses.len() > 1 && scalar_union_name(item).is_some())
}

/// Returns the name of a union of values that need no named type, such as `IntegerOrString`.
fn scalar_union_name(item: &Item) -> Option<String> {
    let Body::Union(Union { variants, .. }) = &item.body else { return None };
    let scalar = |ty: &Ty| match ty {
        Ty::Bool => Some("Boolean"),
        Ty::Short | Ty::Int | Ty::Unsigned => Some("Integer"),
        Ty::Float => Some("Number"),
        Ty::Text => Some("String"),
        _ => None,
    };
    let variant_name = |variant: &Variant| match &variant.ty {
        Ty::Vec(inner) => Some(format!("{}List", scalar(inner)?)),
        ty => Some(scalar(ty)?.to_owned()),
    };
    Some(variants.iter().map(variant_name).collect::<Option<Vec<_>>>()?.join("Or"))
}

/// Returns the possible names of a type, the best first.
fn candidates(uses: &[Use], tags: &BTreeMap<usize, &str>, is_only: impl Fn(&str) -> bool) -> Vec<String> {
    let Some(first) = uses.first() else { return Vec::new() };
    let tag_of = |site: &Use| site.owner.and_then(|owner| tags.get(&owner).copied());
    let tag = tag_of(first).filter(|tag| uses.iter().all(|site| tag_of(site) == Some(*tag)));
    let key =
        Some(first.key.as_str()).filter(|key| !key.is_empty() && uses.iter().all(|site| site.key == *key));
    let ending = common_ending(uses);
    let significant =
        ending.iter().skip_while(|word| UNINFORMATIVE.contains(&word.as_str())).cloned().collect::<Vec<_>>();
    let with_tag = |suffix: &str| tag.map(|tag| idents::camel(&format!("{tag} {suffix}")));
    let mut names = Vec::new();
    if let Some(key) = key {
        let name = idents::camel(&spell_comparisons(key));
        let is_informative = !UNINFORMATIVE.contains(&key.to_ascii_lowercase().as_str());
        names.extend(Some(name).filter(|_| is_informative && is_only(key)));
        names.extend(with_tag(&spell_comparisons(key)));
    }
    match (significant.as_slice(), ending.as_slice()) {
        ([_, _, ..], _) => names.push(idents::camel(&significant.join(" "))),
        ([], []) => {}
        ([], words) | (words, _) => names.extend(with_tag(&words.join(" "))),
    }
    if uses.iter().all(|site| site.key.is_empty()) {
        names.extend(most_common_last_word(uses).map(|word| idents::camel(&format!("shared {word}"))));
    }
    names
}

/// Returns the word that most names of locations end in, if it is one of [`UNINFORMATIVE`].
fn most_common_last_word(uses: &[Use]) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for site in uses {
        if let Some(last) = idents::words(&site.name).pop() {
            *counts.entry(last).or_default() += 1;
        }
    }
    let (word, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    UNINFORMATIVE.contains(&word.as_str()).then_some(word)
}

/// Returns the common ending of the names of all locations, as words.
fn common_ending(uses: &[Use]) -> Vec<String> {
    let mut names = uses.iter().map(|site| idents::words(&site.name));
    let mut ending = names.next().unwrap_or_default();
    for name in names {
        let shared =
            ending.iter().rev().zip(name.iter().rev()).take_while(|(left, right)| left == right).count();
        ending.drain(..ending.len() - shared);
    }
    ending
}

/// Renames a type, and keeps its old name as an alias.
fn rename_item(items: &mut Vec<Item>, index: usize, name: &str, names: &mut Names) {
    let unique = names.take(name);
    let Some(item) = items.get_mut(index) else { return };
    let old = std::mem::replace(&mut item.name, unique);
    item.fits_all = true;
    let old_origin = std::mem::replace(&mut item.origin, Origin::Location { numbered: false });
    let (doc, owner) = (item.doc.clone(), item.owner);
    if let Some(Use { key, fallback_doc, .. }) = item.uses.first().filter(|site| site.fallback_doc == doc) {
        item.doc = match (key.as_str(), fallback_doc.is_empty()) {
            (_, true) => String::new(),
            ("", _) => "What several places of the document hold.".to_owned(),
            (key, _) => format!("`{}` of several types.", visible(key)),
        };
    }
    if old_origin != (Origin::Location { numbered: true }) {
        let body = Body::Alias(Ty::Item(index, Wrap::Plain));
        items.push(Item { body, ..Item::new(old, doc, old_origin, owner) });
    }
}
