//! Types of map keys.

use super::model::{Body, CallTypes, Item, Ty};

/// Maximum length of a chain of aliases that is followed.
const MAX_NAMES: usize = 16;

/// Replaces keys whose type has no order by strings, and marks the enums of strings that are keys.
pub(super) fn settle(items: &mut [Item], calls: &mut [CallTypes<'_>]) {
    let lists: Vec<Option<usize>> = (0..items.len()).map(|index| list_of(items, index)).collect();
    let mut used = Vec::new();
    let mut settle = |key: &mut Ty| match key {
        Ty::Text | Ty::Known(_) => {}
        Ty::Item(index, _) if lists.get(*index).is_some_and(Option::is_some) => {
            used.extend(lists.get(*index).copied().flatten());
        }
        _ => *key = Ty::Text,
    };
    for item in items.iter_mut() {
        item.body.types_mut().into_iter().for_each(|ty| ty.for_each_key(&mut settle));
    }
    for CallTypes { output, failure, item, headers, .. } in calls {
        failure
            .iter_mut()
            .chain(headers)
            .chain(item)
            .chain([output])
            .for_each(|ty| ty.for_each_key(&mut settle));
    }
    for index in used {
        if let Some(item) = items.get_mut(index) {
            item.is_sorted = true;
        }
    }
}

/// Returns the enum of strings that a type is, possibly by an alias.
fn list_of(items: &[Item], mut index: usize) -> Option<usize> {
    for _ in 0..MAX_NAMES {
        match &items.get(index)?.body {
            Body::Enum(_) => return Some(index),
            Body::Alias(Ty::Item(of, _)) => index = *of,
            _ => return None,
        }
    }
    None
}
