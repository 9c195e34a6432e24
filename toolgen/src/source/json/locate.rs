//! Finds the positions of parts of a JSON text.

use std::collections::BTreeMap;

use super::super::{MAX_DEPTH, Pointer, Position, positions_at};
use super::lex::Lexer;

/// Returns the position of each location: the key of a member, or the value of an item.
///
/// The text was parsed before, so it is JSON of bounded depth; if it is not, the positions found until then are kept.
pub(in crate::source) fn locate(text: &str, pointers: &[&Pointer]) -> Vec<Position> {
    let mut requested = PointerTree::default();
    for (id, pointer) in pointers.iter().enumerate() {
        requested.add(id, pointer);
    }
    let mut lexer = Lexer::new(text);
    lexer.peek();
    let start = lexer.offset;
    visit(&mut lexer, start, Some(&mut requested));
    let mut offsets = Vec::with_capacity(pointers.len());
    requested.collect(0, &mut offsets);
    offsets.sort_unstable();
    let sorted: Vec<usize> = offsets.iter().map(|(offset, _)| *offset).collect();
    let mut positions = vec![Position::START; pointers.len()];
    for ((_, id), position) in offsets.into_iter().zip(positions_at(text, &sorted)) {
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
    fn has_descendants(&self) -> bool {
        !self.children.is_empty()
    }

    /// Records the offset of this location. The last of several equal keys counts, as its value is kept.
    fn record(&mut self, offset: usize) {
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
        let offset = self.offset.unwrap_or(ancestor);
        offsets.extend(self.ids.iter().map(|&id| (offset, id)));
        for child in self.children.values() {
            child.collect(offset, offsets);
        }
    }
}

/// Records that a requested location begins at `start`, and skips the value that follows.
fn visit(lexer: &mut Lexer<'_>, start: usize, mut requested: Option<&mut PointerTree>) {
    if let Some(requested) = requested.as_deref_mut() {
        requested.record(start);
    }
    let requested = requested.filter(|requested| requested.has_descendants());
    match lexer.peek() {
        Some(b'{') => object(lexer, requested),
        Some(b'[') => array(lexer, requested),
        Some(b'"') => lexer.skip_string(),
        Some(_) => lexer.skip_word(),
        None => {}
    }
}

fn object(lexer: &mut Lexer<'_>, mut requested: Option<&mut PointerTree>) {
    lexer.offset += 1;
    while lexer.peek() == Some(b'"') {
        let start = lexer.offset;
        let inner = match requested.as_deref_mut() {
            Some(requested) => lexer.string().ok().and_then(|key| requested.child_mut(&key)),
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

fn array(lexer: &mut Lexer<'_>, mut requested: Option<&mut PointerTree>) {
    lexer.offset += 1;
    let mut index = 0;
    while let Some(byte) = lexer.peek()
        && byte != b']'
    {
        let start = lexer.offset;
        let inner = requested.as_deref_mut().and_then(|requested| requested.child_mut(&index.to_string()));
        visit(lexer, start, inner);
        if !lexer.take(b',') && lexer.offset == start {
            return;
        }
        index += 1;
    }
    lexer.take(b']');
}
