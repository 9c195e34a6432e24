//! From pointers to lines and columns.

use std::collections::BTreeMap;

use super::position::of_offsets;
use super::{Format, MAX_DEPTH, Pointer, Position, Source, json, yaml};

impl Source {
    /// The position of a place: of the key of a member, of the value of an item. A place that the document does not
    /// have is where the nearest part of it is that it has.
    #[must_use]
    pub fn locate(&self, pointer: &Pointer) -> Position {
        self.locate_all(&[pointer]).pop().unwrap_or(Position::START)
    }

    /// The positions of many places, in their order, in one pass over the text.
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

/// The places that are looked for, as a tree, so that a scan can leave out what nobody asks for.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Where it was found.
    offset: Option<usize>,
    /// The places that end here.
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

    /// The part of this place with a name, if anybody asks for it.
    pub(super) fn child_mut(&mut self, token: &str) -> Option<&mut Wanted> {
        self.children.get_mut(token)
    }

    /// Whether anybody asks for a part of this place.
    pub(super) fn has_parts(&self) -> bool {
        !self.children.is_empty()
    }

    /// Notes where this place is. Of a key that is given twice, the last counts, as its value is the one kept.
    pub(super) fn found(&mut self, offset: usize) {
        if self.offset.replace(offset).is_some() {
            self.children.values_mut().for_each(Wanted::forget);
        }
    }

    fn forget(&mut self) {
        self.offset = None;
        self.children.values_mut().for_each(Wanted::forget);
    }

    /// Every place looked for, with its offset or that of the nearest ancestor.
    fn collect(&self, ancestor: usize, offsets: &mut Vec<(usize, usize)>) {
        let here = self.offset.unwrap_or(ancestor);
        offsets.extend(self.ids.iter().map(|&id| (here, id)));
        for child in self.children.values() {
            child.collect(here, offsets);
        }
    }
}
