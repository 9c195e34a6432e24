//! Lists that many tools share.
//!
//! A document lists its servers and its security requirements once, and so does the generated file.

use std::collections::BTreeMap;

use toolgen_core::{Def, List};

use super::expr::Expr;

/// A static that tools refer to.
#[derive(Debug)]
pub(super) struct Shared {
    /// Its name.
    pub(super) name: String,
    /// The type of its items, in the runtime crate.
    pub(super) item: &'static str,
    /// Its items.
    pub(super) items: Vec<Expr>,
}

/// The shared lists of a module, in the order in which the tools first use them.
#[derive(Debug, Default)]
pub(super) struct Pool {
    shared: Vec<Shared>,
    by_text: BTreeMap<(&'static str, String), usize>,
    /// The lists of defs so far: comparing them is cheap if they are identical.
    defs: Vec<(List<Def>, String)>,
    counts: BTreeMap<&'static str, usize>,
}

impl Pool {
    /// Returns the statics, with `DEFS` last because they are long.
    pub(super) fn into_statics(self) -> Vec<Shared> {
        let (mut statics, defs): (Vec<_>, Vec<_>) =
            self.shared.into_iter().partition(|shared| shared.item != "Def");
        statics.extend(defs);
        statics
    }

    /// Returns the list of definitions. It must be a static: a schema has interior mutability, so a constant cannot
    /// borrow an inline one.
    pub(super) fn defs(&mut self, defs: &List<Def>, item: impl FnMut(&Def) -> Expr) -> Expr {
        if let Some((_, name)) = self.defs.iter().find(|(pooled, _)| pooled == defs) {
            return Expr::named_list(name);
        }
        let name = self.add("DEFS", "Def", defs.iter().map(item).collect());
        let list = Expr::named_list(&name);
        self.defs.push((defs.clone(), name));
        list
    }

    /// Returns a list as a static named after `stem`, shared by all tools with the same list; an empty list is
    /// written inline. `item` is the type of the items, in the runtime crate.
    pub(super) fn list(&mut self, stem: &'static str, item: &'static str, items: Vec<Expr>) -> Expr {
        if items.is_empty() { Expr::list(items) } else { Expr::named_list(&self.name(stem, item, items)) }
    }

    /// Returns a value as a static, shared as [`list`](Pool::list) shares lists.
    pub(super) fn value(&mut self, stem: &'static str, item: &'static str, value: Expr) -> Expr {
        Expr::named_list(&format!("{}[0]", self.name(stem, item, vec![value])))
    }

    /// Returns the name of the static that holds these items.
    fn name(&mut self, stem: &'static str, item: &'static str, items: Vec<Expr>) -> String {
        let text = Expr::Array(items.clone()).flat();
        if let Some(shared) =
            self.by_text.get(&(stem, text.clone())).and_then(|index| self.shared.get(*index))
        {
            return shared.name.clone();
        }
        self.by_text.insert((stem, text), self.shared.len());
        self.add(stem, item, items)
    }

    fn add(&mut self, stem: &'static str, item: &'static str, items: Vec<Expr>) -> String {
        let count = self.counts.entry(stem).or_insert(0);
        *count += 1;
        let name = if *count == 1 { stem.to_owned() } else { format!("{stem}_{count}") };
        self.shared.push(Shared { name: name.clone(), item, items });
        name
    }
}
