//! Documents that a manifest imports.

use super::context::Context;

impl Context<'_> {
    /// Compiles the documents of `imports`.
    pub(super) fn lower_imports(&mut self) {}
}
