//! What a manifest says is to be done about its problems.

use super::context::Context;
use super::keys;
use crate::problem::{Level, Levels};

impl Context<'_> {
    /// Reads `lints`: the codes that are allowed, warned of and denied.
    pub(super) fn levels(&mut self) -> Levels {
        let mut levels = Levels::default();
        let Some(lints) = self.top().get("lints") else { return levels };
        if self.object(&lints, &keys::LINTS) {
            for level in [Level::Allow, Level::Warn, Level::Deny] {
                for (name, _) in self.texts(&lints, level.as_str()).unwrap_or_default() {
                    levels.set(name, level);
                }
            }
        }
        levels
    }
}
