//! Finds the positions of parts of a YAML text.

use std::collections::BTreeMap;

use super::super::{Pointer, Position};
use super::compose::{Id, Kind, Tree};
use super::composed;

/// Returns the position of each location: the key of a member, or the value of an item, through aliases and merges.
pub(in crate::source) fn places(text: &str, pointers: &[&Pointer]) -> Vec<Position> {
    composed(text, |tree, _| {
        let Some(tree) = tree else { return vec![Position::START; pointers.len()] };
        let mut keys = Keys::new();
        pointers.iter().map(|pointer| tree.place(pointer, &mut keys)).collect()
    })
}

/// The members of the maps that were visited, by their keys: a map may have very many of both.
type Keys<'k> = BTreeMap<Id, Members<'k>>;

/// The members of a map.
struct Members<'k> {
    /// Its own members. The last of several equal keys counts, as its value is kept.
    own: BTreeMap<&'k str, (Id, Id)>,
    /// The maps it merges, highest priority first.
    merged: Vec<Id>,
}

impl Tree<'_> {
    fn place<'k>(&'k self, pointer: &Pointer, keys: &mut Keys<'k>) -> Position {
        let mut here = self.root;
        let mut at = self.at(here);
        for token in pointer.tokens() {
            let Some((position, next)) = self.step(here, &token, keys) else { break };
            (at, here) = (position, next);
        }
        at
    }

    fn at(&self, id: Id) -> Position {
        self.nodes.get(id).map_or(Position::START, |node| node.at)
    }

    fn step<'k>(&'k self, id: Id, token: &str, keys: &mut Keys<'k>) -> Option<(Position, Id)> {
        match &self.nodes.get(id)?.kind {
            Kind::Scalar { .. } => None,
            Kind::List(items) => {
                let item = *items.get(token.parse::<usize>().ok()?)?;
                Some((self.at(item), item))
            }
            Kind::Map(members) => {
                let found = keys.entry(id).or_insert_with(|| self.members(members));
                if let Some(&(key, value)) = found.own.get(token) {
                    return Some((self.at(key), value));
                }
                let merged = found.merged.clone();
                merged.into_iter().find_map(|source| self.step(source, token, keys))
            }
        }
    }

    fn members(&self, members: &[(Id, Id)]) -> Members<'_> {
        let mut found = Members { own: BTreeMap::new(), merged: Vec::new() };
        for &(key, value) in members {
            match (self.merged(key, value), self.key(key)) {
                (Some(merged), _) => found.merged.extend(merged),
                (None, Some(name)) => {
                    found.own.insert(name, (key, value));
                }
                (None, None) => {}
            }
        }
        found
    }
}
