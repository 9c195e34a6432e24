//! The value that flows from the front ends to the emitter.

use std::path::PathBuf;
use std::sync::Arc;

use toolgen_runtime::{Call, Def, List, ToolSpec};

use crate::source::{Pointer, Source};

/// A compiled tool and its origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// What the tool is.
    pub spec: ToolSpec,
    /// How the tool is run.
    pub call: Call,
    /// Where the tool comes from.
    pub origin: Origin,
}

/// The entry of a document that a tool comes from, and the document's terms for it, by which filters select.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The text that contains it.
    pub source: Arc<Source>,
    /// Its place in the document.
    pub pointer: Pointer,
    /// The document's own name for it; empty if it has none.
    pub id: String,
    /// The title for people, such as `GET /pets`. A verb may come before the subject.
    pub title: String,
    /// The groups the document puts it in.
    pub groups: Vec<String>,
}

impl Origin {
    /// Returns the title's verb, if it has one, and its subject: `GET` and `/pets`.
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

/// Converts to the runtime's tool, without the origin.
impl From<Tool> for toolgen_runtime::Tool {
    fn from(Tool { spec, call, origin: _ }: Tool) -> toolgen_runtime::Tool {
        toolgen_runtime::Tool { spec, call }
    }
}

/// The compiled form of one document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Program {
    /// The kind of document: the name of its front end, such as `openapi`.
    pub kind: &'static str,
    /// The version the document claims, such as `3.0.3`.
    pub version: String,
    /// The number of operations in the document, before any filter.
    pub operations: usize,
    /// The tools, sorted by name.
    pub tools: Vec<Tool>,
    /// The named shapes that the tools reach and share, sorted by name.
    pub defs: List<Def>,
    /// The names of the schemes that may be given credentials, whether or not a tool needs one.
    pub schemes: Vec<String>,
    /// The files that were read in addition to the document itself, sorted.
    pub sources: Vec<PathBuf>,
}
