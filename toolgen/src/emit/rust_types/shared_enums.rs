//! Names types that several tools share. No such name is derived from a single tool, so that a change of one tool
//! never renames a type of another.

use std::collections::{BTreeMap, BTreeSet};

use super::super::idents::{self, Names};
use super::super::literal::visible;
use super::model::{Body, Item, Origin, Ty, Union, Use, Variant, Wrap};
use crate::names::spelled;

/// Words without information about a type.
const EMPTY: [&str; 14] = [
    "data", "error", "errors", "extra", "headers", "item", "items", "object", "output", "result", "results",
    "type", "value", "values",
];

/// Renames the types that occur in several tools or schemas, if a better name exists: the kind of their values if
/// these are simple, their key, their tag and their key, the common ending of the names of all locations, or for
/// whole responses that they are shared. The old name stays as an alias. `tags` are the tags of tools, by their
/// arguments.
pub(super) fn rename(items: &mut Vec<Item>, tags: &BTreeMap<usize, &str>, names: &mut Names) {
    let mut at_key: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate().filter(|(_, item)| is_type(item)) {
        for Use { key, .. } in &item.uses {
            at_key.entry(key.to_ascii_lowercase()).or_default().insert(index);
        }
    }
    let mut shared: Vec<usize> =
        (0..items.len()).filter(|index| items.get(*index).is_some_and(is_shared)).collect();
    // If several types may have a name, the one with the most locations gets it.
    shared.sort_by_key(|index| items.get(*index).map_or(0, |item| usize::MAX - item.uses.len()));
    for index in shared {
        let Some(item) = items.get(index) else { continue };
        let is_only = |key: &str| at_key.get(&key.to_ascii_lowercase()).is_some_and(|types| types.len() == 1);
        let mut candidates = candidates(&item.uses, tags, is_only);
        if let Some(plain) = plain_name(item) {
            candidates.insert(0, plain);
        }
        if candidates.contains(&item.name) {
            continue;
        }
        let Some(name) = candidates.into_iter().find(|name| names.is_free(name)) else { continue };
        let (old, owner) = (item.name.clone(), item.owner);
        take(items, index, &name, names);
        // The names of nested types are derived from it.
        for inner in 0..items.len() {
            let Some(item) = items.get(inner).filter(|item| item.owner == owner && is_type(item)) else {
                continue;
            };
            let rest = item
                .name
                .strip_prefix(&old)
                .filter(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
            if let Some(longer) = rest.map(|rest| format!("{name}{rest}")).filter(|name| names.is_free(name))
            {
                take(items, inner, &longer, names);
            }
        }
    }
}

/// Whether an item is a type that is named after a location.
fn is_type(item: &Item) -> bool {
    matches!(item.origin, Origin::Place { .. }) && !matches!(item.body, Body::Alias(_) | Body::Pending)
}

fn is_shared(item: &Item) -> bool {
    let owners: BTreeSet<Option<usize>> = item.uses.iter().map(|place| place.owner).collect();
    is_type(item) && (owners.len() > 1 || item.uses.len() > 1 && plain_name(item).is_some())
}

/// Returns the name of a union of values that need no named type, such as `IntegerOrString`.
fn plain_name(item: &Item) -> Option<String> {
    let Body::Union(Union { variants, .. }) = &item.body else { return None };
    let of = |ty: &Ty| match ty {
        Ty::Bool => Some("Boolean"),
        Ty::Short | Ty::Int | Ty::Unsigned => Some("Integer"),
        Ty::Float => Some("Number"),
        Ty::Text => Some("String"),
        _ => None,
    };
    let named = |variant: &Variant| match &variant.ty {
        Ty::Vec(inner) => Some(format!("{}List", of(inner)?)),
        ty => Some(of(ty)?.to_owned()),
    };
    Some(variants.iter().map(named).collect::<Option<Vec<_>>>()?.join("Or"))
}

/// Returns the possible names of a type, the best first.
fn candidates(uses: &[Use], tags: &BTreeMap<usize, &str>, is_only: impl Fn(&str) -> bool) -> Vec<String> {
    let Some(first) = uses.first() else { return Vec::new() };
    let tag_of = |place: &Use| place.owner.and_then(|owner| tags.get(&owner).copied());
    let tag = tag_of(first).filter(|tag| uses.iter().all(|place| tag_of(place) == Some(*tag)));
    let key =
        Some(first.key.as_str()).filter(|key| !key.is_empty() && uses.iter().all(|place| place.key == *key));
    let ending = common_ending(uses);
    let significant =
        ending.iter().skip_while(|word| EMPTY.contains(&word.as_str())).cloned().collect::<Vec<_>>();
    let with_tag = |rest: &str| tag.map(|tag| idents::camel(&format!("{tag} {rest}")));
    let mut found = Vec::new();
    if let Some(key) = key {
        let name = idents::camel(&spelled(key));
        let says_much = !EMPTY.contains(&key.to_ascii_lowercase().as_str());
        found.extend(Some(name).filter(|_| says_much && is_only(key)));
        found.extend(with_tag(&spelled(key)));
    }
    match (significant.as_slice(), ending.as_slice()) {
        ([_, _, ..], _) => found.push(idents::camel(&significant.join(" "))),
        ([], []) => {}
        ([], rest) | (rest, _) => found.extend(with_tag(&rest.join(" "))),
    }
    if uses.iter().all(|place| place.key.is_empty()) {
        found.extend(most_common_end(uses).map(|word| idents::camel(&format!("shared {word}"))));
    }
    found
}

/// Returns the word that most names of locations end in, if it describes the kind of whole.
fn most_common_end(uses: &[Use]) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for place in uses {
        if let Some(last) = idents::words(&place.name).pop() {
            *counts.entry(last).or_default() += 1;
        }
    }
    let (word, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    EMPTY.contains(&word.as_str()).then_some(word)
}

/// Returns the common ending of the names of all locations, in words, unless it is one of the full names.
fn common_ending(uses: &[Use]) -> Vec<String> {
    let mut names = uses.iter().map(|place| idents::words(&place.name));
    let mut ending = names.next().unwrap_or_default();
    for name in names {
        let same =
            ending.iter().rev().zip(name.iter().rev()).take_while(|(left, right)| left == right).count();
        ending.drain(..ending.len() - same);
    }
    ending
}

/// Renames a type, and keeps its old name as an alias.
fn take(items: &mut Vec<Item>, index: usize, name: &str, names: &mut Names) {
    let taken = names.take(name);
    let Some(item) = items.get_mut(index) else { return };
    let old = std::mem::replace(&mut item.name, taken);
    item.fits_all = true;
    let was = std::mem::replace(&mut item.origin, Origin::Place { numbered: false });
    let (doc, owner) = (item.doc.clone(), item.owner);
    if let Some(Use { key, what, .. }) = item.uses.first().filter(|place| place.what == doc) {
        item.doc = match (key.as_str(), what.is_empty()) {
            (_, true) => String::new(),
            ("", _) => "What several places of the document hold.".to_owned(),
            (key, _) => format!("`{}` of several types.", visible(key)),
        };
    }
    if was != (Origin::Place { numbered: true }) {
        let body = Body::Alias(Ty::Item(index, Wrap::Plain));
        items.push(Item { body, ..Item::new(old, doc, was, owner) });
    }
}
