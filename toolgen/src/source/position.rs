//! Lines and columns.

/// A place in a text, counted from one, with columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Position {
    /// The first character.
    pub const START: Position = Position { line: 1, column: 1 };
}

/// Returns the positions of sorted byte offsets. Takes one pass over the text, however many there are: a document may
/// be a single line of many megabytes.
pub(super) fn of_offsets(text: &str, offsets: &[usize]) -> Vec<Position> {
    let bytes = text.as_bytes();
    let mut here = Position::START;
    let mut at = 0;
    let mut positions = Vec::with_capacity(offsets.len());
    for &offset in offsets {
        while at < offset.min(bytes.len()) {
            match bytes[at] {
                b'\n' => here = Position { line: here.line + 1, column: 1 },
                // Bytes that continue a character are not counted.
                0x80..=0xbf => {}
                _ => here.column += 1,
            }
            at += 1;
        }
        positions.push(here);
    }
    positions
}
