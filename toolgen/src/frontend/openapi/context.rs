//! What every part of the front end needs at hand.

use std::collections::BTreeMap;

use serde_json::Value;
use toolgen_runtime::List;
use toolgen_runtime::spec::plan::{SecurityRequirement, Server};

use super::node::Node;
use super::schema::Defs;
use super::security::Schemes;
use crate::options::Options;
use crate::problem::{Code, Problems};
use crate::source::Pointer;

/// The rules a document follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// OpenAPI 3.0: a reference stands alone, what is beside it is ignored.
    V30,
    /// OpenAPI 3.1 and later: a schema is JSON Schema 2020-12.
    V31,
}

/// What every part of the front end needs at hand.
pub(super) struct Context<'a> {
    /// The name of the document's own file, if it has one.
    pub(super) file: Option<&'a str>,
    pub(super) root: &'a Value,
    pub(super) options: &'a Options,
    pub(super) version: Version,
    pub(super) problems: &'a mut Problems,
    pub(super) defs: Defs<'a>,
    pub(super) schemes: Schemes,
    /// The document's own servers, once they were read.
    pub(super) document_servers: Option<List<Server>>,
    /// Security requirements that were read, by their place, so that one problem is reported once.
    pub(super) security_at: BTreeMap<Pointer, Vec<SecurityRequirement>>,
    /// That callbacks are no tools is said once.
    pub(super) told_callbacks: bool,
    /// How deep the schema being read is nested.
    pub(super) depth: usize,
    /// How many schemas are open, those of named shapes that are read meanwhile included.
    pub(super) stack: usize,
    /// How deep schemas are being merged.
    pub(super) merging: usize,
}

impl<'a> Context<'a> {
    /// The document as a node.
    pub(super) fn top(&self) -> Node<'a> {
        Node::new(self.root, Pointer::ROOT)
    }

    /// Reports a problem; its code says how bad it is.
    pub(super) fn report(&mut self, code: Code, pointer: &Pointer, message: impl Into<String>, help: &str) {
        self.problems.report(code, pointer, message, help);
    }
}
