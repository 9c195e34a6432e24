//! Types of map keys.

use super::model::{Body, CallTypes, Item, Ty};

/// Maximum length of a chain of aliases that is followed.
const MAX_NAMES: usize = 16;

/// Replaces keys whose type has no order by strings, and marks the enums of strings that are keys.
pub(super) fn normalize(items: &mut [Item], calls: &mut [CallTypes<'_>]) {
    let enums: Vec<Option<usize>> = (0..items.len()).map(|index| enum_of(items, index)).collect();
    let mut used = Vec::new();
    let mut normalize = |key: &mut Ty| match key {
        Ty::Text | Ty::Known(_) => {}
        Ty::Item(index, _) if enums.get(*index).is_some_and(Option::is_some) => {
            used.extend(enums.get(*index).copied().flatten());
        }
        _ => *key = Ty::Text,
    };
    for item in items.iter_mut() {
        item.body.types_mut().into_iter().for_each(|ty| ty.for_each_key(&mut normalize));
    }
    for CallTypes { output, failure, item, headers, .. } in calls {
        failure
            .iter_mut()
            .chain(headers)
            .chain(item)
            .chain([output])
            .for_each(|ty| ty.for_each_key(&mut normalize));
    }
    for index in used {
        if let Some(item) = items.get_mut(index) {
            item.is_sorted = true;
        }
    }
}

/// Returns the enum of strings that a type is, possibly through an alias.
fn enum_of(items: &[Item], mut index: usize) -> Option<usize> {
    for _ in 0..MAX_NAMES {
        match &items.get(index)?.body {
            Body::Enum(_) => return Some(index),
            Body::Alias(Ty::Item(target, _)) => index = *target,
            _ => return None,
        }
    }
    None
}
