//! Merges equal types: documents repeat schemas in many places instead of naming them once.

use std::collections::HashMap;

use super::model::{Body, CallTypes, Item, Origin, Ty, Wrap};

/// Makes types that the document does not name aliases of another type, if both have the same parts with the same
/// documentation. Their names stay, so that the contents of one location do not change the names in another; only
/// names with a number added here are removed.
pub(super) fn merge_equal(items: &mut [Item], calls: &mut [CallTypes<'_>]) {
    let mut canonical: Vec<usize> = (0..items.len()).collect();
    // Types that consist of equal types are equal: each round finds those one level higher.
    while find(items, &mut canonical) {
        for (index, item) in items.iter_mut().enumerate() {
            let target = canonical[index];
            if target != index {
                let is_numbered = matches!(item.origin, Origin::Location { numbered: true });
                item.body =
                    if is_numbered { Body::Pending } else { Body::Alias(Ty::Item(target, Wrap::Plain)) };
            }
            item.body.types_mut().into_iter().for_each(|ty| redirect(ty, &canonical));
        }
    }
    for index in 0..items.len() {
        let mut target = index;
        while canonical[target] != target {
            target = canonical[target];
        }
        if target != index {
            let uses = std::mem::take(&mut items[index].uses);
            items[target].uses.extend(uses);
        }
    }
    for CallTypes { output, failure, item, headers, .. } in calls {
        failure.iter_mut().chain(headers).chain(item).chain([output]).for_each(|ty| redirect(ty, &canonical));
    }
}

/// Finds types that equal an earlier one, and returns whether new ones were found.
fn find(items: &[Item], canonical: &mut [usize]) -> bool {
    let mut first: HashMap<&Body, usize> = HashMap::new();
    let mut has_found = false;
    // The best name comes first.
    for current_rank in [2, 1, 0] {
        for (index, item) in items.iter().enumerate() {
            let is_named = item.origin == Origin::Document;
            let rank = u8::from(item.origin == Origin::Title) + 2 * u8::from(is_named);
            let is_type = !matches!(item.body, Body::Alias(_) | Body::Pending);
            if !is_type || item.origin == Origin::Tool || rank != current_rank {
                continue;
            }
            let earlier = *first.entry(&item.body).or_insert(index);
            if earlier != index && !is_named {
                canonical[index] = earlier;
                has_found = true;
            }
        }
    }
    has_found
}

/// Makes a type refer to the types that are kept.
fn redirect(ty: &mut Ty, canonical: &[usize]) {
    match ty {
        Ty::Item(index, _) => *index = canonical[*index],
        Ty::Option(inner) | Ty::Vec(inner) => redirect(inner, canonical),
        Ty::Map { key, value } => {
            redirect(key, canonical);
            redirect(value, canonical);
        }
        Ty::Tuple(items) => items.iter_mut().for_each(|item| redirect(item, canonical)),
        _ => {}
    }
}
