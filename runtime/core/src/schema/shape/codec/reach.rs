//! Which named shapes lead to which.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::frozen::List;
use crate::schema::shape::{Def, Extra, Kind, Shape};

/// Returns the names of the shapes that each named shape leads to, over any number of steps.
pub(super) fn all(defs: &List<Def>) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut direct: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for def in defs {
        names(def.schema.shape(), direct.entry(def.name.as_str()).or_default());
    }
    let reached = |start: &str| {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut open: Vec<&str> = direct.get(start).into_iter().flatten().copied().collect();
        while let Some(name) = open.pop() {
            if seen.insert(name) {
                open.extend(direct.get(name).into_iter().flatten().copied());
            }
        }
        seen
    };
    direct.keys().map(|name| (*name, reached(name))).collect()
}

/// Collects the names that a shape refers to.
fn names<'s>(shape: &'s Shape, found: &mut BTreeSet<&'s str>) {
    let of_extra = |extra: &'s Extra| if let Extra::Of(shape) = extra { Some(&**shape) } else { None };
    match &shape.kind {
        Kind::Ref(name) => {
            found.insert(name);
        }
        Kind::Array(rules) => names(&rules.items, found),
        Kind::Tuple(rules) => {
            rules.items.iter().chain(of_extra(&rules.rest)).for_each(|shape| names(shape, found));
        }
        Kind::Object(rules) => {
            let fields = rules.fields.iter().map(|field| &field.shape);
            let patterns = rules.patterns.iter().map(|pattern| &pattern.shape);
            fields.chain(patterns).chain(of_extra(&rules.extra)).for_each(|shape| names(shape, found));
        }
        Kind::Union(rules) => rules.variants.iter().for_each(|shape| names(shape, found)),
        Kind::All(parts) => parts.iter().for_each(|shape| names(shape, found)),
        _ => {}
    }
}
