//! What a user chooses about a document.

/// How a document is compiled.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Put before every tool name, as `namespace__name`.
    pub namespace: Option<String>,
}
