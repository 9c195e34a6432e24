//! Parses JSON into values.
//!
//! Uses its own parser, because `serde_json` reports neither duplicate keys nor their positions, rejects a document
//! for the number `1e400`, and stops at 128 levels.

mod lex;
mod locate;
mod parse;

pub(super) use locate::locate;
pub(super) use parse::read;
