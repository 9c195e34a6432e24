//! Parses documents from bytes.
//!
//! A document is parsed once into a plain [`serde_json::Value`] without the positions of its parts. A location is a
//! [`Pointer`]; only when a problem is shown, a second pass over the text finds the line ([`Source::locate_all`]).
//! A document without problems pays nothing for positions.
//!
//! This module knows nothing about the meaning of a document. It never panics, and time and memory are bounded: a
//! document has at most [`MAX_BYTES`] and [`MAX_DEPTH`] levels, and aliases of YAML expand to a bounded number of
//! values.
//!
//! Common errors in published documents that parsers usually reject are accepted with a problem: duplicate keys (the
//! last value is kept), numbers beyond 64 bits, bytes that are not UTF-8, text after the end of the document.

mod archive;
mod bundle;
mod document;
mod json;
mod number;
mod pointer;
mod written;
mod yaml;

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

pub use bundle::{Bundle, BundledFile, MAX_BUNDLED, MAX_BUNDLED_BYTES};
pub use document::Document;
pub use pointer::Pointer;
pub(crate) use pointer::percent_decode;
pub(crate) use pointer::unescape;
pub(crate) use written::Written;

use crate::problem::codes::Code;

/// The maximum size of a document, in bytes.
pub const MAX_BYTES: usize = 128 * 1024 * 1024;

/// The maximum nesting depth of a document.
pub const MAX_DEPTH: usize = 512;

/// The text of a document and its origin.
#[derive(Default, PartialEq, Eq)]
pub struct Source {
    /// The file, as the user named it.
    pub path: PathBuf,
    /// The text, without a byte order mark.
    pub text: String,
    /// The format of the text.
    pub format: Format,
    /// Whether the text was read from the file of this path, so that files next to it can be found. Otherwise the path
    /// is only a name.
    pub from_disk: bool,
    /// The bundle that it is part of, if any. It may refer to the other files of the bundle.
    pub inside: Option<BundledFile>,
}

/// Omits the text, which may have many megabytes.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Source {
    /// Returns the position of a location: the key of a member, or the value of an item. For a location that the
    /// document does not have, returns the position of its nearest ancestor that exists.
    #[must_use]
    pub fn locate(&self, pointer: &Pointer) -> Position {
        self.locate_all(&[pointer]).pop().unwrap_or(Position::START)
    }

    /// Returns the positions of many locations, in their order, in one pass over the text.
    #[must_use]
    pub fn locate_all(&self, pointers: &[&Pointer]) -> Vec<Position> {
        match self.format {
            Format::Yaml => yaml::locate(&self.text, pointers),
            Format::Json => json::locate(&self.text, pointers),
        }
    }
}

/// The format of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// JSON (RFC 8259).
    #[default]
    Json,
    /// YAML 1.2, core schema.
    Yaml,
}

/// A position in a text, counted from one, with columns in characters.
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

/// Maximum number of findings that a parser keeps: a document may consist of errors.
const MAX_FINDINGS: usize = 10_000;

/// A finding of a parser, before lines are known.
#[derive(Debug)]
struct Finding {
    code: Code,
    pointer: Pointer,
    position: TextPosition,
    message: String,
    help: &'static str,
}

/// The position of a finding, as the parser reports it.
#[derive(Clone, Copy, Debug)]
enum TextPosition {
    Byte(usize),
    Position(Position),
}

/// The result of parsing a text: the tree, if any, with the parts of its scalars that it does not keep, and all
/// findings.
type ParseResult = (Option<(Value, Written)>, Vec<Finding>);

/// Reads a file, up to the maximum size of a document.
fn read_bounded(path: &Path) -> Result<Vec<u8>, String> {
    use std::io::Read;

    let explain = |error: &std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => String::from("there is no such file"),
        _ => format!("the file cannot be read: {error}"),
    };
    let file = std::fs::File::open(path).map_err(|error| explain(&error))?;
    if file.metadata().is_ok_and(|data| data.is_dir()) {
        return Err(String::from("this is a directory, not a document"));
    }
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| explain(&error))?;
    Ok(bytes)
}

/// Returns the positions of sorted byte offsets, in one pass over the text: a document may be a single line of many
/// megabytes.
fn positions_at(text: &str, offsets: &[usize]) -> Vec<Position> {
    let bytes = text.as_bytes();
    let mut position = Position::START;
    let mut index = 0;
    let mut positions = Vec::with_capacity(offsets.len());
    for &offset in offsets {
        while index < offset.min(bytes.len()) {
            match bytes[index] {
                b'\n' => position = Position { line: position.line + 1, column: 1 },
                // Bytes that continue a character are not counted.
                0x80..=0xbf => {}
                _ => position.column += 1,
            }
            index += 1;
        }
        positions.push(position);
    }
    positions
}

/// Returns a path without `.`, and without `..` after a directory.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(plain.components().next_back(), Some(Component::Normal(_))) => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// Quotes a string of a document for a message, shortened if it is long.
fn quote(text: &str) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

impl Finding {
    fn new(code: Code, position: TextPosition, message: String, help: &'static str) -> Self {
        Finding { code, pointer: Pointer::ROOT, position, message, help }
    }
}
