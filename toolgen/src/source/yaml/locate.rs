//! Finds the positions of parts of a YAML text.

use std::collections::BTreeMap;

use super::super::{Pointer, Position};
use super::compose::{Id, Kind, Tree};
use super::with_tree;

/// Returns the position of each location: the key of a member, or the value of an item, through aliases and merges.
pub(in crate::source) fn locate(text: &str, pointers: &[&Pointer]) -> Vec<Position> {
    with_tree(text, |tree, _| {
        let Some(tree) = tree else { return vec![Position::START; pointers.len()] };
        let mut keys = Keys::new();
        pointers.iter().map(|pointer| tree.position_of(pointer, &mut keys)).collect()
    })
}

/// The members of the maps that were visited, by their keys: a map may have very many of both.
type Keys<'k> = BTreeMap<Id, Members<'k>>;

/// The members of a map.
struct Members<'k> {
    /// Its own members. The last of several equal keys counts, as its value is kept.
    own_members: BTreeMap<&'k str, (Id, Id)>,
    /// The maps it merges, highest priority first.
    merged: Vec<Id>,
}

impl Tree<'_> {
    fn position_of<'k>(&'k self, pointer: &Pointer, keys: &mut Keys<'k>) -> Position {
        let mut node = self.root;
        let mut position = self.node_position(node);
        for token in pointer.tokens() {
            let Some((next_position, next)) = self.step(node, &token, keys) else { break };
            (position, node) = (next_position, next);
        }
        position
    }

    fn node_position(&self, id: Id) -> Position {
        self.nodes.get(id).map_or(Position::START, |node| node.at)
    }

    fn step<'k>(&'k self, id: Id, token: &str, keys: &mut Keys<'k>) -> Option<(Position, Id)> {
        match &self.nodes.get(id)?.kind {
            Kind::Scalar { .. } => None,
            Kind::List(items) => {
                let item = *items.get(token.parse::<usize>().ok()?)?;
                Some((self.node_position(item), item))
            }
            Kind::Map(members) => {
                let map = keys.entry(id).or_insert_with(|| self.members(members));
                if let Some(&(key, value)) = map.own_members.get(token) {
                    return Some((self.node_position(key), value));
                }
                let merged = map.merged.clone();
                merged.into_iter().find_map(|source| self.step(source, token, keys))
            }
        }
    }

    fn members(&self, members: &[(Id, Id)]) -> Members<'_> {
        let mut result = Members { own_members: BTreeMap::new(), merged: Vec::new() };
        for &(key, value) in members {
            match (self.merged(key, value), self.key(key)) {
                (Some(merged), _) => result.merged.extend(merged),
                (None, Some(name)) => {
                    result.own_members.insert(name, (key, value));
                }
                (None, None) => {}
            }
        }
        result
    }
}
