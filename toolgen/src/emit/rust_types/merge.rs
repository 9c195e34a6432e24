//! Merges equal types: documents repeat in many places what they could name once.

use std::collections::HashMap;

use super::model::{Body, CallTypes, Item, Origin, Ty, Wrap};

/// Makes types that the document does not name aliases of another type, if both have the same parts with the same
/// documentation. Their names stay, so that the contents of one location do not change the names in another; only
/// names with a number added here are removed.
pub(super) fn equal(items: &mut [Item], calls: &mut [CallTypes<'_>]) {
    let mut same: Vec<usize> = (0..items.len()).collect();
    // Types of equal types are equal: each round finds those one level higher.
    while find(items, &mut same) {
        for (index, item) in items.iter_mut().enumerate() {
            let of = same[index];
            if of != index {
                let is_numbered = matches!(item.origin, Origin::Place { numbered: true });
                item.body = if is_numbered { Body::Pending } else { Body::Alias(Ty::Item(of, Wrap::Plain)) };
            }
            item.body.types_mut().into_iter().for_each(|ty| redirect(ty, &same));
        }
    }
    for index in 0..items.len() {
        let mut of = index;
        while same[of] != of {
            of = same[of];
        }
        if of != index {
            let uses = std::mem::take(&mut items[index].uses);
            items[of].uses.extend(uses);
        }
    }
    for CallTypes { output, failure, item, headers, .. } in calls {
        failure.iter_mut().chain(headers).chain(item).chain([output]).for_each(|ty| redirect(ty, &same));
    }
}

/// Finds types that equal an earlier one, and returns whether new ones were found.
fn find(items: &[Item], same: &mut [usize]) -> bool {
    let mut first: HashMap<&Body, usize> = HashMap::new();
    let mut found = false;
    // The best name comes first.
    for wanted in [2, 1, 0] {
        for (index, item) in items.iter().enumerate() {
            let is_named = item.origin == Origin::Document;
            let rank = u8::from(item.origin == Origin::Title) + 2 * u8::from(is_named);
            let is_type = !matches!(item.body, Body::Alias(_) | Body::Pending);
            if !is_type || item.origin == Origin::Tool || rank != wanted {
                continue;
            }
            let of = *first.entry(&item.body).or_insert(index);
            if of != index && !is_named {
                same[index] = of;
                found = true;
            }
        }
    }
    found
}

/// Makes a type refer to the types that are kept.
fn redirect(ty: &mut Ty, same: &[usize]) {
    match ty {
        Ty::Item(index, _) => *index = same[*index],
        Ty::Option(inner) | Ty::Vec(inner) => redirect(inner, same),
        Ty::Map { key, value } => {
            redirect(key, same);
            redirect(value, same);
        }
        Ty::Tuple(items) => items.iter_mut().for_each(|item| redirect(item, same)),
        _ => {}
    }
}
