//! Finds the positions of parts of a JSON text.

use std::collections::BTreeMap;

use super::super::{MAX_DEPTH, Pointer, Position, of_offsets};
use super::lex::Lexer;

/// Returns the position of each location: the key of a member, or the value of an item.
///
/// The text was parsed before, so it is JSON of bounded depth; if it is not, the positions found until then are kept.
pub(in crate::source) fn places(text: &str, pointers: &[&Pointer]) -> Vec<Position> {
    let mut wanted = PointerTree::default();
    for (id, pointer) in pointers.iter().enumerate() {
        wanted.add(id, pointer);
    }
    let mut lexer = Lexer::new(text);
    lexer.peek();
    let start = lexer.at;
    visit(&mut lexer, start, Some(&mut wanted));
    let mut offsets = Vec::with_capacity(pointers.len());
    wanted.collect(0, &mut offsets);
    offsets.sort_unstable();
    let sorted: Vec<usize> = offsets.iter().map(|(offset, _)| *offset).collect();
    let mut positions = vec![Position::START; pointers.len()];
    for ((_, id), position) in offsets.into_iter().zip(of_offsets(text, &sorted)) {
        positions[id] = position;
    }
    positions
}

/// The requested locations as a tree, so that a scan can skip everything else.
#[derive(Debug, Default)]
struct PointerTree {
    /// The offset, once found.
    offset: Option<usize>,
    /// The requested locations that end here.
    ids: Vec<usize>,
    children: BTreeMap<String, PointerTree>,
}

impl PointerTree {
    fn add(&mut self, id: usize, pointer: &Pointer) {
        let mut node = self;
        // A readable document is not deeper, so neither is a location that can be found.
        for token in pointer.tokens().take(MAX_DEPTH) {
            node = node.children.entry(token.into_owned()).or_default();
        }
        node.ids.push(id);
    }

    /// Returns the child of this location with a name, if it is requested.
    fn child_mut(&mut self, token: &str) -> Option<&mut PointerTree> {
        self.children.get_mut(token)
    }

    /// Whether any descendant of this location is requested.
    fn has_parts(&self) -> bool {
        !self.children.is_empty()
    }

    /// Records the offset of this location. The last of several equal keys counts, as its value is kept.
    fn found(&mut self, offset: usize) {
        if self.offset.replace(offset).is_some() {
            self.children.values_mut().for_each(PointerTree::forget);
        }
    }

    fn forget(&mut self) {
        self.offset = None;
        self.children.values_mut().for_each(PointerTree::forget);
    }

    /// Collects every requested location, with its offset or that of the nearest ancestor.
    fn collect(&self, ancestor: usize, offsets: &mut Vec<(usize, usize)>) {
        let here = self.offset.unwrap_or(ancestor);
        offsets.extend(self.ids.iter().map(|&id| (here, id)));
        for child in self.children.values() {
            child.collect(here, offsets);
        }
    }
}

/// Records that a requested location begins at `start`, and skips the value that follows.
fn visit(lexer: &mut Lexer<'_>, start: usize, mut wanted: Option<&mut PointerTree>) {
    if let Some(wanted) = wanted.as_deref_mut() {
        wanted.found(start);
    }
    let wanted = wanted.filter(|wanted| wanted.has_parts());
    match lexer.peek() {
        Some(b'{') => object(lexer, wanted),
        Some(b'[') => list(lexer, wanted),
        Some(b'"') => lexer.skip_string(),
        Some(_) => lexer.skip_word(),
        None => {}
    }
}

fn object(lexer: &mut Lexer<'_>, mut wanted: Option<&mut PointerTree>) {
    lexer.at += 1;
    while lexer.peek() == Some(b'"') {
        let start = lexer.at;
        let inner = match wanted.as_deref_mut() {
            Some(wanted) => lexer.string().ok().and_then(|key| wanted.child_mut(&key)),
            None => {
                lexer.skip_string();
                None
            }
        };
        lexer.take(b':');
        visit(lexer, start, inner);
        lexer.take(b',');
    }
    lexer.take(b'}');
}

fn list(lexer: &mut Lexer<'_>, mut wanted: Option<&mut PointerTree>) {
    lexer.at += 1;
    let mut index = 0;
    while let Some(byte) = lexer.peek()
        && byte != b']'
    {
        let start = lexer.at;
        let inner = wanted.as_deref_mut().and_then(|wanted| wanted.child_mut(&index.to_string()));
        visit(lexer, start, inner);
        if !lexer.take(b',') && lexer.at == start {
            return;
        }
        index += 1;
    }
    lexer.take(b']');
}
