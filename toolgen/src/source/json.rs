//! Reads JSON into values.
//!
//! Uses its own reader, because `serde_json` reports neither duplicate keys nor their places, refuses a document for
//! the number `1e400`, and stops at 128 levels.

mod lex;
mod parse;
mod places;

pub(super) use parse::read;
pub(super) use places::places;
