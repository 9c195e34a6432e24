//! Finds the lines and columns of pointers.

use std::collections::BTreeMap;

use super::position::of_offsets;
use super::{Format, MAX_DEPTH, Pointer, Position, Source, json, yaml};

impl Source {
    /// Returns the position of a place: the key of a member, or the value of an item. A place that the document does
    /// not have is at its nearest part that exists.
    #[must_use]
    pub fn locate(&self, pointer: &Pointer) -> Position {
        self.locate_all(&[pointer]).pop().unwrap_or(Position::START)
    }

    /// Returns the positions of many places, in their order, in one pass over the text.
    #[must_use]
    pub fn locate_all(&self, pointers: &[&Pointer]) -> Vec<Position> {
        match self.format {
            Format::Yaml => yaml::places(&self.text, pointers),
            Format::Json => {
                let mut wanted = Wanted::default();
                for (id, pointer) in pointers.iter().enumerate() {
                    wanted.add(id, pointer);
                }
                json::places(&self.text, &mut wanted);
                let mut offsets = Vec::with_capacity(pointers.len());
                wanted.collect(0, &mut offsets);
                offsets.sort_unstable();
                let sorted: Vec<usize> = offsets.iter().map(|(offset, _)| *offset).collect();
                let mut positions = vec![Position::START; pointers.len()];
                for ((_, id), position) in offsets.into_iter().zip(of_offsets(&self.text, &sorted)) {
                    positions[id] = position;
                }
                positions
            }
        }
    }
}

/// The wanted places as a tree, so that a scan can skip everything else.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// The offset, once found.
    offset: Option<usize>,
    /// The wanted places that end here.
    ids: Vec<usize>,
    children: BTreeMap<String, Wanted>,
}

impl Wanted {
    fn add(&mut self, id: usize, pointer: &Pointer) {
        let mut node = self;
        // A readable document is not deeper, so neither is a place that can be found.
        for token in pointer.tokens().take(MAX_DEPTH) {
            node = node.children.entry(token.into_owned()).or_default();
        }
        node.ids.push(id);
    }

    /// Returns the part of this place with a name, if it is wanted.
    pub(super) fn child_mut(&mut self, token: &str) -> Option<&mut Wanted> {
        self.children.get_mut(token)
    }

    /// Whether any part of this place is wanted.
    pub(super) fn has_parts(&self) -> bool {
        !self.children.is_empty()
    }

    /// Records the offset of this place. The last of several equal keys counts, as its value is kept.
    pub(super) fn found(&mut self, offset: usize) {
        if self.offset.replace(offset).is_some() {
            self.children.values_mut().for_each(Wanted::forget);
        }
    }

    fn forget(&mut self) {
        self.offset = None;
        self.children.values_mut().for_each(Wanted::forget);
    }

    /// Collects every wanted place, with its offset or that of the nearest ancestor.
    fn collect(&self, ancestor: usize, offsets: &mut Vec<(usize, usize)>) {
        let here = self.offset.unwrap_or(ancestor);
        offsets.extend(self.ids.iter().map(|&id| (here, id)));
        for child in self.children.values() {
            child.collect(here, offsets);
        }
    }
}
