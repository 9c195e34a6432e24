//! Determines the module of each type.

use super::model::{CallTypes, Item};

/// Assigns each type to a module: that of the tools that use it if there is only one, otherwise the enclosing module.
/// A type therefore uses only types of its own module and of the enclosing one.
pub(super) fn assign(items: &mut [Item], calls: &[CallTypes<'_>]) {
    let mut uses: Vec<Vec<usize>> = Vec::with_capacity(items.len());
    for item in items.iter_mut() {
        let mut used = Vec::new();
        for ty in item.body.types_mut() {
            ty.for_each_item(false, &mut |_, index, _| used.push(index));
        }
        uses.push(used);
    }
    let mut modules = TypeModules { uses, assigned: vec![None; items.len()] };
    for call in calls {
        modules.reach(call.input, call.tag_index);
        let results = call.failure.iter().chain(&call.headers).chain(&call.item).chain([&call.output]);
        for mut ty in results.cloned() {
            ty.for_each_item(false, &mut |_, index, _| modules.reach(index, call.tag_index));
        }
    }
    // Aliases, which nothing refers to.
    for (index, item) in items.iter().enumerate() {
        if modules.assigned.get(index) == Some(&None) {
            let owner_module = item.owner.and_then(|owner| modules.assigned.get(owner).copied().flatten());
            modules.reach(index, owner_module.flatten());
        }
    }
    for (item, tag_index) in items.iter_mut().zip(modules.assigned) {
        item.tag_index = tag_index.flatten();
    }
}

struct TypeModules {
    /// The types that each type uses.
    uses: Vec<Vec<usize>>,
    /// The module of each type that was reached so far.
    assigned: Vec<Option<Option<usize>>>,
}

impl TypeModules {
    /// Records that a type, with all types that it consists of, is used in a module.
    fn reach(&mut self, index: usize, tag_index: Option<usize>) {
        let mut pending = vec![index];
        while let Some(index) = pending.pop() {
            let Some(assigned) = self.assigned.get_mut(index) else { continue };
            *assigned = match *assigned {
                None => Some(tag_index),
                // Its parts are recorded as well.
                Some(existing) if existing == tag_index || existing.is_none() => continue,
                Some(_) => Some(None),
            };
            pending.extend(self.uses.get(index).into_iter().flatten());
        }
    }
}
