//! The value that flows from the front ends to the emitter.

use toolgen_runtime::{Def, List};

use crate::source::Pointer;

/// A compiled tool and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The tool, as the runtime takes it.
    pub tool: toolgen_runtime::Tool,
    /// Where it comes from.
    pub origin: Origin,
}

/// The operation of a document that a tool comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Where in the document.
    pub pointer: Pointer,
    /// The document's own name for the operation. Empty: it has none.
    pub operation_id: String,
    /// The HTTP method, in capitals.
    pub method: String,
    /// The path, as the document writes it.
    pub path: String,
}

/// What one document compiles to.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The kind of document: `openapi`.
    pub kind: &'static str,
    /// The version the document claims, such as `3.0.3`.
    pub version: String,
    /// How many operations the document has, before any filter.
    pub operations: usize,
    /// The tools, sorted by name.
    pub tools: Vec<Tool>,
    /// The named shapes all tools share, sorted by name: those that the tools reach.
    pub defs: List<Def>,
}
