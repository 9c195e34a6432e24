//! The differences between Swagger 2.0 and OpenAPI 3: Swagger's notations are read in place, into the same types.
//!
//! A document of version 2.0 that has keywords of version 3 is also read where the meaning is unambiguous, with a note.

mod form;
mod server;

use toolgen_core::schema::shape::read::SchemaVersion;
use toolgen_core::spec::plan::{Encoding, Location, Style};

use super::body::{BodyParameters, Declared};
use super::codes;
use super::context::Context;
use super::node::Node;
use super::reference::Resolved;

/// The values of `in` for bodies among the parameters.
const BODY_PLACES: [&str; 2] = ["body", "formData"];

impl<'a> Context<'a> {
    /// Whether the document is of version 2.0.
    pub(super) fn is_swagger(&self) -> bool {
        self.version == SchemaVersion::Swagger2
    }

    /// Returns the named parts of a kind, such as `schemas`.
    pub(super) fn components(&self, kind: &str) -> Vec<(&'a str, Node<'a>)> {
        let entries =
            |node: Node<'a>| self.follow(&node).map(|found| found.node.entries()).unwrap_or_default();
        let own = self.top().get(key_of(kind)).filter(|_| self.is_swagger());
        let components = self.top().get("components").and_then(|node| self.follow(&node).ok());
        let newer = components.and_then(|found| found.node.get(kind));
        own.into_iter().chain(newer).flat_map(entries).collect()
    }

    /// Returns the key where the named parts of a kind are declared, for a message.
    pub(super) fn place_of(&self, kind: &str) -> String {
        if self.is_swagger() { key_of(kind).to_owned() } else { format!("components/{kind}") }
    }

    /// Whether a parameter is a part of the body.
    pub(super) fn is_of_body(&self, node: &Node<'a>) -> bool {
        self.is_swagger() && node.text("in").is_some_and(|location| is_place(location, &BODY_PLACES))
    }

    /// Returns the body of an operation: `in: body`, or all of `in: formData`. Parameters of the operation replace
    /// those of its path.
    pub(super) fn given_body(
        &mut self,
        path_item: &Node<'a>,
        operation: &Node<'a>,
    ) -> Option<BodyParameters<'a>> {
        let mut found: Vec<Resolved<'a>> = Vec::new();
        let shared = self.list(path_item, "parameters");
        for node in shared.into_iter().chain(self.list(operation, "parameters")) {
            let Ok(resolved) = self.follow(&node) else { continue };
            if !self.is_of_body(&resolved.node) {
                continue;
            }
            let key = |one: &Resolved<'a>| {
                let whole = one.node.text("in").is_some_and(|location| is_place(location, &["body"]));
                (whole, one.node.text("name").filter(|_| !whole))
            };
            match found.iter_mut().find(|one| key(one) == key(&resolved)) {
                Some(one) => *one = resolved,
                None => found.push(resolved),
            }
        }
        let is_whole =
            |one: &Resolved<'a>| one.node.text("in").is_some_and(|location| is_place(location, &["body"]));
        let consumes = self.media_types(operation, "consumes");
        let Some(index) = found.iter().position(is_whole) else {
            return (!found.is_empty()).then_some(BodyParameters::Form(found, consumes));
        };
        let whole = found.swap_remove(index);
        if let Some(field) = found.first() {
            self.report(
                codes::BODY,
                &field.node.pointer,
                "an operation has either one parameter `in: body` or those `in: formData`; the latter are left out",
                "keep one of the two kinds",
            );
        }
        let consumes = if consumes.is_empty() { vec!["application/json"] } else { consumes };
        Some(BodyParameters::Whole(Declared {
            description: whole.prose().into_owned(),
            required: whole.node.flag("required"),
            media: consumes.into_iter().map(|name| (name, whole.node.clone())).collect(),
            place: operation.get("consumes").map_or_else(|| whole.node.pointer.clone(), |node| node.pointer),
            node: whole.node,
        }))
    }

    /// Returns the media types that an operation `consumes` or `produces`: its own, or else the document's.
    fn media_types(&self, operation: &Node<'a>, key: &str) -> Vec<&'a str> {
        let holder = if operation.get(key).is_some() { operation.clone() } else { self.top() };
        let one = holder.text(key);
        let listed = holder.items(key).into_iter().filter_map(|item| item.value.as_str()).chain(one);
        listed.map(str::trim).filter(|name| name.contains('/')).collect()
    }

    /// Returns the media types of a response, each with the node that has its schema, and adds those to request.
    pub(super) fn produced(
        &self,
        operation: &Node<'a>,
        response: &Node<'a>,
        types: &mut Vec<&'a str>,
    ) -> Vec<(&'a str, Node<'a>)> {
        let produces = self.media_types(operation, "produces");
        let Some(schema) = response.get("schema") else { return Vec::new() };
        let is_file = self.follow(&schema).is_ok_and(|target| target.node.text("type") == Some("file"));
        match (produces.is_empty(), is_file) {
            (true, true) => Vec::new(),
            (true, false) => {
                // Nothing is declared; nearly all of these services send JSON.
                types.extend(["application/json", "*/*"]);
                vec![("application/json", response.clone())]
            }
            (false, _) => {
                types.extend(&produces);
                produces.into_iter().map(|name| (name, response.clone())).collect()
            }
        }
    }

    /// Returns the encoding of a parameter's value: for an array its `collectionFormat`.
    pub(super) fn collected(&mut self, node: &Node<'a>, location: Location) -> Encoding {
        let usual = match location {
            Location::Query | Location::Cookie => Style::Form,
            Location::Path | Location::Header => Style::Simple,
        };
        let is_list = node.text("type") == Some("array");
        // A scalar is encoded the same way with and without `explode`.
        let explode = !is_list && usual == Style::Form;
        let mut encoding = Encoding::Style { style: usual, explode, allow_reserved: false };
        let Some(format) = node.text("collectionFormat").filter(|_| is_list) else { return encoding };
        match collection_style(format, usual) {
            Some((style, explode)) if !explode || usual == Style::Form => {
                encoding = Encoding::Style { style, explode, allow_reserved: false };
            }
            _ => self.report(
                codes::STYLE,
                &node.pointer.child("collectionFormat"),
                format!(
                    "the format `{format}` is not defined for this location; values are separated by commas"
                ),
                "csv, ssv, tsv or pipes; in queries and forms also multi",
            ),
        }
        encoding
    }

    /// Reports a keyword of version 3 that is read in a document of version 2.0.
    pub(super) fn note_newer(&mut self, node: &Node<'a>, key: &str) {
        if self.is_swagger() {
            self.report(
                codes::NEWER_KEYWORD,
                &node.pointer.child(key),
                format!("`{key}` belongs to OpenAPI 3, but the document is Swagger 2.0; it is read with that meaning"),
                "write it in the syntax of Swagger 2.0, or convert the document to OpenAPI 3",
            );
        }
    }
}

/// Returns the key that version 2.0 has for the named parts of a kind.
fn key_of(kind: &str) -> &str {
    match kind {
        "schemas" => "definitions",
        "securitySchemes" => "securityDefinitions",
        other => other,
    }
}

/// Whether the value of `in` is one of these.
fn is_place(location: &str, places: &[&str]) -> bool {
    places.iter().any(|one| location.eq_ignore_ascii_case(one))
}

/// Returns the style of a `collectionFormat`, and whether each value has a separate key.
fn collection_style(format: &str, usual: Style) -> Option<(Style, bool)> {
    Some(match format {
        "csv" => (usual, false),
        "ssv" => (Style::SpaceDelimited, false),
        "tsv" => (Style::TabDelimited, false),
        "pipes" => (Style::PipeDelimited, false),
        "multi" => (usual, true),
        _ => return None,
    })
}
