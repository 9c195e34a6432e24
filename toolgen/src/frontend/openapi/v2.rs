//! The differences between Swagger 2.0 and OpenAPI 3. Swagger's notations are read into the same types.
//!
//! Keywords of version 3 in a document of version 2.0 are also read, with a note, if their meaning is unambiguous.

mod form;
mod server;

use toolgen_core::schema::shape::read::SchemaVersion;
use toolgen_core::spec::plan::{Encoding, Location, Style};

use super::body::{BodyParameters, DeclaredBody};
use super::codes;
use super::context::Context;
use super::node::Node;
use super::reference::Resolved;

/// The values of `in` for bodies among the parameters.
const BODY_LOCATIONS: [&str; 2] = ["body", "formData"];

impl<'a> Context<'a> {
    /// Whether the document is Swagger 2.0.
    pub(super) fn is_swagger(&self) -> bool {
        self.version == SchemaVersion::Swagger2
    }

    /// Returns the components of a kind, such as `schemas`.
    pub(super) fn components(&self, kind: &str) -> Vec<(&'a str, Node<'a>)> {
        let entries_of =
            |node: Node<'a>| self.follow(&node).map(|resolved| resolved.node.entries()).unwrap_or_default();
        let swagger_key = self.top().get(key_of(kind)).filter(|_| self.is_swagger());
        let components = self.top().get("components").and_then(|node| self.follow(&node).ok());
        let openapi_key = components.and_then(|resolved| resolved.node.get(kind));
        swagger_key.into_iter().chain(openapi_key).flat_map(entries_of).collect()
    }

    /// Returns the key of the components of a kind, for a message.
    pub(super) fn components_key(&self, kind: &str) -> String {
        if self.is_swagger() { key_of(kind).to_owned() } else { format!("components/{kind}") }
    }

    /// Whether a parameter is the body or a field of a form.
    pub(super) fn is_body_parameter(&self, node: &Node<'a>) -> bool {
        self.is_swagger() && node.text("in").is_some_and(|location| is_location(location, &BODY_LOCATIONS))
    }

    /// Returns the body of an operation: `in: body`, or all `in: formData`. Parameters of the operation override
    /// those of its path.
    pub(super) fn swagger_body(
        &mut self,
        path_item: &Node<'a>,
        operation: &Node<'a>,
    ) -> Option<BodyParameters<'a>> {
        let mut parameters: Vec<Resolved<'a>> = Vec::new();
        let shared = self.resolved_items(path_item, "parameters");
        for node in shared.into_iter().chain(self.resolved_items(operation, "parameters")) {
            let Ok(resolved) = self.follow(&node) else { continue };
            if !self.is_body_parameter(&resolved.node) {
                continue;
            }
            let key = |parameter: &Resolved<'a>| {
                let is_whole =
                    parameter.node.text("in").is_some_and(|location| is_location(location, &["body"]));
                (is_whole, parameter.node.text("name").filter(|_| !is_whole))
            };
            match parameters.iter_mut().find(|parameter| key(parameter) == key(&resolved)) {
                Some(parameter) => *parameter = resolved,
                None => parameters.push(resolved),
            }
        }
        let is_whole = |parameter: &Resolved<'a>| {
            parameter.node.text("in").is_some_and(|location| is_location(location, &["body"]))
        };
        let consumes = self.media_types(operation, "consumes");
        let Some(index) = parameters.iter().position(is_whole) else {
            return (!parameters.is_empty()).then_some(BodyParameters::Form(parameters, consumes));
        };
        let body = parameters.swap_remove(index);
        if let Some(field) = parameters.first() {
            self.report(
                codes::BODY,
                &field.node.pointer,
                "an operation has either one parameter `in: body` or those `in: formData`; the latter are left out",
                "keep one of the two kinds",
            );
        }
        let consumes = if consumes.is_empty() { vec!["application/json"] } else { consumes };
        Some(BodyParameters::Whole(DeclaredBody {
            description: body.prose().into_owned(),
            required: body.node.is_true("required"),
            media: consumes.into_iter().map(|name| (name, body.node.clone())).collect(),
            content_pointer: operation
                .get("consumes")
                .map_or_else(|| body.node.pointer.clone(), |node| node.pointer),
            node: body.node,
        }))
    }

    /// Returns the media types that an operation, or else the document, `consumes` or `produces`.
    fn media_types(&self, operation: &Node<'a>, key: &str) -> Vec<&'a str> {
        let holder = if operation.get(key).is_some() { operation.clone() } else { self.top() };
        let text = holder.text(key);
        let items = holder.items(key).into_iter().filter_map(|item| item.value.as_str()).chain(text);
        items.map(str::trim).filter(|name| name.contains('/')).collect()
    }

    /// Returns the media types of a response, each with the node of its schema, and adds the types for `Accept`.
    pub(super) fn response_media_types(
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
                // Nearly all services that do not declare media types send JSON.
                types.extend(["application/json", "*/*"]);
                vec![("application/json", response.clone())]
            }
            (false, _) => {
                types.extend(&produces);
                produces.into_iter().map(|name| (name, response.clone())).collect()
            }
        }
    }

    /// Returns the encoding of a parameter's value. The `collectionFormat` determines that of an array.
    pub(super) fn collection_encoding(&mut self, node: &Node<'a>, location: Location) -> Encoding {
        let default_style = match location {
            Location::Query | Location::Cookie => Style::Form,
            Location::Path | Location::Header => Style::Simple,
        };
        let is_array = node.text("type") == Some("array");
        // A scalar is encoded the same way with and without `explode`.
        let explode = !is_array && default_style == Style::Form;
        let mut encoding = Encoding::Style { style: default_style, explode, allow_reserved: false };
        let Some(format) = node.text("collectionFormat").filter(|_| is_array) else { return encoding };
        match collection_style(format, default_style) {
            Some((style, explode)) if !explode || default_style == Style::Form => {
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
    pub(super) fn note_newer_keyword(&mut self, node: &Node<'a>, key: &str) {
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

/// Returns the key of version 2.0 for the components of a kind.
fn key_of(kind: &str) -> &str {
    match kind {
        "schemas" => "definitions",
        "securitySchemes" => "securityDefinitions",
        other => other,
    }
}

/// Whether the value of `in` is one of these locations.
fn is_location(location: &str, locations: &[&str]) -> bool {
    locations.iter().any(|name| location.eq_ignore_ascii_case(name))
}

/// Returns the style of a `collectionFormat`, and whether each value has a separate key.
fn collection_style(format: &str, default_style: Style) -> Option<(Style, bool)> {
    Some(match format {
        "csv" => (default_style, false),
        "ssv" => (Style::SpaceDelimited, false),
        "tsv" => (Style::TabDelimited, false),
        "pipes" => (Style::PipeDelimited, false),
        "multi" => (default_style, true),
        _ => return None,
    })
}
