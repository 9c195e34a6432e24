//! Prompt documentation of tools, generated from their specifications.

use crate::spec::ToolSpec;

/// The list of tools for a prompt: `No tools available`, or a header and one line a tool.
#[must_use]
pub fn summary<'a>(specs: impl IntoIterator<Item = &'a ToolSpec>) -> String {
    let _ = specs.into_iter().count();
    String::new()
}

/// The full documentation of one tool for a prompt.
#[must_use]
pub fn detail(spec: &ToolSpec) -> String {
    let _ = spec;
    String::new()
}
