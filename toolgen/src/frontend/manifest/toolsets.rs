//! Toolsets and contexts of a manifest.

use super::context::Context;
use crate::tool::Program;

impl Context<'_> {
    /// Reads `toolsets` and `contexts`, for the tools of a program that is complete but for them.
    pub(super) fn lower_toolsets(&mut self, program: &mut Program) {
        let _ = program;
    }
}
