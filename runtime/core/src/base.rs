//! Helpers that are independent of tools.

pub mod canonical;
pub(crate) mod check;
pub mod const_text;
pub mod entity;
pub mod frozen;
pub mod invisible;
pub mod json;
pub mod printable;
pub mod sha256;
pub mod truncate;
