//! The tools of a manifest's own.

use toolgen_runtime::{Call, ToolSpec};

use super::node::Node;

/// A tool that is being compiled: first its specification is read, for all tools, and then its call.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    /// The tool's object in the manifest.
    pub(super) node: Node<'a>,
    /// The name in the manifest, without a namespace.
    pub(super) id: &'a str,
    /// The specification. Its named shapes are complete.
    pub(super) spec: ToolSpec,
    /// The kind: `command`, `http` and so on.
    pub(super) kind: &'static str,
    /// The value of the key of its kind.
    pub(super) of_kind: Node<'a>,
    /// The effects that the manifest states, by the names of their attributes; all others are those of the kind.
    pub(super) stated: Vec<&'static str>,
    /// The call, once it is compiled. A tool without one is left out, for a reason that has been reported.
    pub(super) call: Option<Call>,
}
