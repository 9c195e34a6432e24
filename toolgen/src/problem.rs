//! What is wrong with a document, for the engineer who must find the line.

use std::sync::Arc;

use crate::source::{Document, Pointer};

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something is compiled in a way worth knowing.
    Note,
    /// Something is compiled, but less faithfully than the document says.
    Warning,
    /// Something is left out: an operation, or the document.
    Error,
}

/// A problem's stable name; `cargo toolgen explain CODE` says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(pub &'static str);

/// One problem.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What kind of problem.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// The document.
    pub document: Arc<Document>,
    /// Where in the document.
    pub pointer: Pointer,
    /// The byte offset in the text, where the document could not be read as a tree.
    pub offset: Option<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// Collects problems; stages go on and report all they find.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    list: Vec<Problem>,
}

impl Problems {
    /// Adds a problem.
    pub fn push(&mut self, problem: Problem) {
        self.list.push(problem);
    }

    /// The problems so far.
    #[must_use]
    pub fn as_slice(&self) -> &[Problem] {
        &self.list
    }
}
