//! The value that flows from the front ends to the emitter.

use std::sync::Arc;

use toolgen_runtime::{Call, Def, List, ToolSpec};

use crate::source::{Pointer, Source};

/// A compiled tool and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// What it is.
    pub spec: ToolSpec,
    /// How it is carried out.
    pub call: Call,
    /// Where it comes from.
    pub origin: Origin,
}

/// The entry of a document that a tool comes from, and how the document speaks of it: filters select by that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The text it stands in.
    pub source: Arc<Source>,
    /// Where in the document.
    pub pointer: Pointer,
    /// The document's own name for it. Empty: it has none.
    pub id: String,
    /// What it is called for people: `GET /pets`. A verb may stand before what it is about.
    pub title: String,
    /// The groups the document puts it in.
    pub groups: Vec<String>,
}

impl Origin {
    /// The title's verb, if it has one, and what it is about: `GET` and `/pets`.
    #[must_use]
    pub fn verb_and_subject(&self) -> (Option<&str>, &str) {
        verb_and_subject(&self.title)
    }
}

/// The two parts of a title.
pub(crate) fn verb_and_subject(title: &str) -> (Option<&str>, &str) {
    match title.split_once(' ') {
        Some((verb, subject)) => (Some(verb), subject),
        None => (None, title),
    }
}

/// The tool as the runtime takes it, without its origin.
impl From<Tool> for toolgen_runtime::Tool {
    fn from(Tool { spec, call, origin: _ }: Tool) -> toolgen_runtime::Tool {
        toolgen_runtime::Tool { spec, call }
    }
}

/// What one document compiles to.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The kind of document: the name of its front end, such as `openapi`.
    pub kind: &'static str,
    /// The version the document claims, such as `3.0.3`.
    pub version: String,
    /// How many operations the document has, before any filter.
    pub operations: usize,
    /// The tools, sorted by name.
    pub tools: Vec<Tool>,
    /// The named shapes all tools share, sorted by name: those that the tools reach.
    pub defs: List<Def>,
    /// The names of the schemes that credentials may be given for, whether or not a tool needs one.
    pub schemes: Vec<String>,
}
