//! The shared state of the front end.

use std::collections::BTreeMap;

use toolgen_core::List;
use toolgen_core::schema::shape::read::{Nesting, Rules};
use toolgen_core::spec::plan::{SecurityRequirement, Server};

use super::files::Files;
use super::node::Node;
use super::schema::Defs;
use super::security::Schemes;
use super::tags::Tags;
use crate::options::Options;
use crate::problem::{Code, Problems};
use crate::source::Pointer;

/// The shared state of the front end.
pub(super) struct Context<'a> {
    /// The name of the document's own file, if it has one.
    pub(super) file: Option<&'a str>,
    /// The files of the document; the first is the document itself.
    pub(super) files: &'a Files<'a>,
    pub(super) options: &'a Options,
    /// The rules its schemas follow.
    pub(super) version: Rules,
    pub(super) problems: &'a mut Problems,
    pub(super) defs: Defs<'a>,
    pub(super) schemes: Schemes,
    pub(super) tags: Tags<'a>,
    /// The document's own servers, once read.
    pub(super) document_servers: Option<List<Server>>,
    /// The security requirements read so far, by their place, so that one problem is reported once.
    pub(super) security_at: BTreeMap<Pointer, Vec<SecurityRequirement>>,
    /// Whether callbacks, which are not tools, have been reported.
    pub(super) told_callbacks: bool,
    /// The nesting around the schema that is read next.
    pub(super) nesting: Nesting,
    /// While the request of an operation is read, how many of its references lead to nothing. Those inside named
    /// schemas do not count.
    pub(super) broken: Option<usize>,
    /// Why the operation that is read is left out, according to the first problem that causes it.
    pub(super) cause: String,
}

/// An operation that must be left out, for a reason that has been reported.
#[derive(Debug)]
pub(super) struct LeftOut;

impl<'a> Context<'a> {
    /// Returns the document as a node.
    pub(super) fn top(&self) -> Node<'a> {
        self.files.root(0)
    }

    /// Reports a problem; its code determines the severity.
    pub(super) fn report(&mut self, code: Code, pointer: &Pointer, message: impl Into<String>, help: &str) {
        match self.files.place(pointer) {
            Some((source, place)) => self.problems.report_in(source, code, &place, message, help),
            None => self.problems.report(code, pointer, message, help),
        }
    }
}
