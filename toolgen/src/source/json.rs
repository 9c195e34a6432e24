//! JSON to values.
//!
//! A reader of our own, because `serde_json` tells neither that a key is given twice nor where, refuses a document
//! for the number `1e400`, and stops at 128 levels.

mod lex;
mod parse;
mod places;

pub(super) use parse::read;
pub(super) use places::places;
