//! Where the parts of a YAML text stand.

use super::super::{Pointer, Position};
use super::compose::{Id, Kind, Tree, compose};

/// The position of each place: of the key of a member, of the value of an item, through aliases and merges.
pub(in crate::source) fn places(text: &str, pointers: &[&Pointer]) -> Vec<Position> {
    let (Some(tree), _) = compose(text) else {
        return vec![Position::START; pointers.len()];
    };
    pointers.iter().map(|pointer| tree.place(pointer)).collect()
}

impl Tree<'_> {
    fn place(&self, pointer: &Pointer) -> Position {
        let mut here = self.root;
        let mut at = self.at(here);
        for token in pointer.tokens() {
            let Some((position, next)) = self.step(here, &token) else { break };
            (at, here) = (position, next);
        }
        at
    }

    fn at(&self, id: Id) -> Position {
        self.nodes.get(id).map_or(Position::START, |node| node.at)
    }

    fn step(&self, id: Id, token: &str) -> Option<(Position, Id)> {
        match &self.nodes.get(id)?.kind {
            Kind::Scalar { .. } => None,
            Kind::List(items) => {
                let item = *items.get(token.parse::<usize>().ok()?)?;
                Some((self.at(item), item))
            }
            Kind::Map(members) => {
                // The last of keys given twice, as its value is the one kept.
                let own = members.iter().rev().find(|(key, value)| {
                    self.key(*key) == Some(token) && self.merged(*key, *value).is_none()
                });
                if let Some(&(key, value)) = own {
                    return Some((self.at(key), value));
                }
                let merges = members.iter().filter_map(|(key, value)| self.merged(*key, *value));
                merges.flatten().find_map(|source| self.step(source, token))
            }
        }
    }
}
