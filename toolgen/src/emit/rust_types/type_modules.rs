//! Determines the module of each type.

use super::model::{CallTypes, Item};

/// Gives each type a home: the module of the tools that use it if there is only one, otherwise the enclosing module.
/// A type therefore uses only types of its own module and of the enclosing one.
pub(super) fn mark(items: &mut [Item], calls: &[CallTypes<'_>]) {
    let mut uses: Vec<Vec<usize>> = Vec::with_capacity(items.len());
    for item in items.iter_mut() {
        let mut used = Vec::new();
        for ty in item.body.types_mut() {
            ty.for_each_item(false, &mut |_, index, _| used.push(index));
        }
        uses.push(used);
    }
    let mut homes = TypeModules { uses, found: vec![None; items.len()] };
    for call in calls {
        homes.reach(call.input, call.home);
        let others = call.failure.iter().chain(&call.headers).chain(&call.item).chain([&call.output]);
        for mut ty in others.cloned() {
            ty.for_each_item(false, &mut |_, index, _| homes.reach(index, call.home));
        }
    }
    // Aliases, which nothing refers to.
    for (index, item) in items.iter().enumerate() {
        if homes.found.get(index) == Some(&None) {
            let of_owner = item.owner.and_then(|owner| homes.found.get(owner).copied().flatten());
            homes.reach(index, of_owner.flatten());
        }
    }
    for (item, home) in items.iter_mut().zip(homes.found) {
        item.home = home.flatten();
    }
}

struct TypeModules {
    /// The types that each type uses.
    uses: Vec<Vec<usize>>,
    /// The home of each type that was reached so far.
    found: Vec<Option<Option<usize>>>,
}

impl TypeModules {
    /// Records that a type, with all types that it consists of, is used in a module.
    fn reach(&mut self, index: usize, home: Option<usize>) {
        let mut open = vec![index];
        while let Some(index) = open.pop() {
            let Some(found) = self.found.get_mut(index) else { continue };
            *found = match *found {
                None => Some(home),
                // Its parts are known as well.
                Some(known) if known == home || known.is_none() => continue,
                Some(_) => Some(None),
            };
            open.extend(self.uses.get(index).into_iter().flatten());
        }
    }
}
