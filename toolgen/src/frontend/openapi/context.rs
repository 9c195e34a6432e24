//! What every part of the front end needs at hand.

use std::collections::BTreeMap;

use serde_json::Value;
use toolgen_runtime::List;
use toolgen_runtime::schema::shape::read::{Nesting, Rules};
use toolgen_runtime::spec::plan::{SecurityRequirement, Server};

use super::node::Node;
use super::schema::Defs;
use super::security::Schemes;
use crate::options::Options;
use crate::problem::{Code, Problems};
use crate::source::Pointer;

/// What every part of the front end needs at hand.
pub(super) struct Context<'a> {
    /// The name of the document's own file, if it has one.
    pub(super) file: Option<&'a str>,
    pub(super) root: &'a Value,
    pub(super) options: &'a Options,
    /// The rules its schemas follow.
    pub(super) version: Rules,
    pub(super) problems: &'a mut Problems,
    pub(super) defs: Defs<'a>,
    pub(super) schemes: Schemes,
    /// The document's own servers, once they were read.
    pub(super) document_servers: Option<List<Server>>,
    /// Security requirements that were read, by their place, so that one problem is reported once.
    pub(super) security_at: BTreeMap<Pointer, Vec<SecurityRequirement>>,
    /// That callbacks are no tools is said once.
    pub(super) told_callbacks: bool,
    /// What is being read around the schema that is read next.
    pub(super) nesting: Nesting,
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
