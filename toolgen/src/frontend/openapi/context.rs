//! The shared state of the front end.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolgen_core::List;
use toolgen_core::schema::shape::read::{Nesting, SchemaVersion};
use toolgen_core::spec::plan::{Placement, SecurityRequirement, Server};

use super::files::Files;
use super::node::Node;
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
    /// The version whose rules the document's schemas follow.
    pub(super) version: SchemaVersion,
    pub(super) problems: &'a mut Problems,
    pub(super) defs: Defs<'a>,
    pub(super) schemes: Schemes,
    pub(super) tags: Tags<'a>,
    /// The servers at the top of the document, after they are read.
    pub(super) document_servers: Option<List<Server>>,
    /// The security requirements read so far, by location, so that each problem is reported once.
    pub(super) security_at: BTreeMap<Pointer, Vec<SecurityRequirement>>,
    /// Whether callbacks, which are not tools, have already been reported.
    pub(super) callbacks_reported: bool,
    /// The nesting depth of the schema that is read next.
    pub(super) nesting: Nesting,
    /// The number of dangling references in the request of the current operation, while it is read. References inside
    /// named schemas do not count.
    pub(super) broken: Option<usize>,
    /// The reason why the current operation is omitted, according to the first problem that causes it.
    pub(super) cause: String,
}

/// Named shapes, each read at most once.
#[derive(Debug, Default)]
pub(super) struct Defs<'a> {
    /// Names by pointer.
    pub(super) names: BTreeMap<Pointer, String>,
    pub(super) used_names: BTreeSet<String>,
    pub(super) slots: BTreeMap<String, Slot<'a>>,
    /// Names by the file that contains a reference, and the reference.
    pub(super) texts: BTreeMap<(usize, &'a str), String>,
    /// The names whose schemas are being read, outermost first.
    pub(super) open: Vec<String>,
    /// The schemas that extend bases with a discriminator.
    pub(super) subtypes: BTreeMap<Pointer, Subtypes<'a>>,
    /// The locations of the schemas that references to those bases expand to.
    pub(super) subtype_pointers: BTreeSet<String>,
}

/// A named shape, and its schema after it is read.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    pub(super) node: Node<'a>,
    pub(super) schema: Option<Value>,
}

/// The schemas that extend a base.
#[derive(Debug)]
pub(super) struct Subtypes<'a> {
    /// The property whose value identifies the schema.
    pub(super) property: &'a str,
    /// The value that identifies the base itself, if the base is an alternative.
    pub(super) base: Option<&'a str>,
    /// The schemas with the values that identify them; several values may identify the same schema.
    pub(super) schemas: Vec<(&'a str, Node<'a>)>,
}

/// The security schemes that a document declares, by name.
#[derive(Debug, Default)]
pub(super) struct Schemes {
    pub(super) placements: BTreeMap<String, Placement>,
    /// The references to schemes that are declared in other documents.
    pub(super) external: BTreeMap<String, String>,
}

/// The tags that a document declares, by their names.
pub(super) type Tags<'a> = BTreeMap<&'a str, Tag<'a>>;

/// A tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag<'a> {
    /// The tag that contains this tag.
    pub(super) parent: Option<&'a str>,
    /// The purpose of the tag: navigation (`nav`, or empty), or another one, such as `audience`.
    pub(super) kind: &'a str,
    pub(super) summary: &'a str,
    pub(super) description: &'a str,
}

/// An operation that must be omitted, for a reason that has been reported.
#[derive(Debug)]
pub(super) struct Omitted;

impl<'a> Context<'a> {
    /// Returns the document as a node.
    pub(super) fn top(&self) -> Node<'a> {
        self.files.root(0)
    }

    /// Reports a problem; its code determines the severity.
    pub(super) fn report(&mut self, code: Code, pointer: &Pointer, message: impl Into<String>, help: &str) {
        match self.files.source_location(pointer) {
            Some((source, location)) => self.problems.report_in(source, code, &location, message, help),
            None => self.problems.report(code, pointer, message, help),
        }
    }
}
