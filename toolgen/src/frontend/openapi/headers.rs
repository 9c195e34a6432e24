//! Reads the headers of successful responses, and whether these responses have a body.

use std::collections::BTreeSet;

use toolgen_core::schema::shape::{Extra, Field, Kind, ObjectRules, StringRules, Title};
use toolgen_core::spec::plan::{is_informative_header, is_secret_header};
use toolgen_core::{List, Shape, Text};

use super::context::Context;
use super::node::Node;
use super::reference::Resolved;
use super::response::successes;
use crate::tool::Success;

/// Maximum number of headers of one response that a model sees.
const MAX_HEADERS_SHOWN: usize = 8;

impl<'a> Context<'a> {
    /// Returns what the document declares about successful responses in addition to the result.
    pub(super) fn success(&mut self, operation: &Node<'a>) -> Success {
        let headers = if self.options.types { self.header_fields(operation) } else { Vec::new() };
        let rules = ObjectRules { fields: headers.into(), extra: Extra::Open, ..ObjectRules::ANY };
        let headers = (!rules.fields.is_empty()).then(|| Shape::of(Kind::Object(rules)));
        Success { is_empty: self.is_empty(operation), headers }
    }

    /// Returns the declared headers that a model sees.
    pub(super) fn shown_headers(&mut self, operation: &Node<'a>) -> List<Text> {
        let declared = self.declared_headers(operation).into_iter().map(|(name, _)| name);
        declared
            .filter(|name| is_informative_header(name))
            .take(MAX_HEADERS_SHOWN)
            .map(|name| Text::from(name.to_owned()))
            .collect()
    }

    /// Whether no successful response has a body. The body of a 200 is often not declared, so 200 is never empty.
    fn is_empty(&mut self, operation: &Node<'a>) -> bool {
        let responses = operation.get("responses").and_then(|node| self.resolve(&node));
        let responses = responses.map(|resolved| resolved.node.entries()).unwrap_or_default();
        let responses_of_success = successes(&responses);
        let may_be_empty = |status: &str| matches!(status.trim(), "201" | "202" | "204" | "205");
        !responses_of_success.is_empty()
            && responses_of_success.into_iter().all(|(status, node)| {
                let resolved = if may_be_empty(status) { self.resolve(node) } else { None };
                resolved.is_some_and(|resolved| {
                    let media = self.contents(operation, &resolved.node, &mut Vec::new());
                    media.is_empty() && resolved.node.get("schema").is_none()
                })
            })
    }

    fn header_fields(&mut self, operation: &Node<'a>) -> Vec<Field> {
        let mut names = BTreeSet::new();
        let mut fields = Vec::new();
        for (name, header) in self.declared_headers(operation) {
            let lowercase_name = name.to_ascii_lowercase();
            if is_secret_header(name) || lowercase_name.is_empty() || !names.insert(lowercase_name.clone()) {
                continue;
            }
            let shape = self.header_shape(&header);
            fields.push(Field { name: lowercase_name.into(), shape, ..Field::OPTIONAL });
        }
        fields
    }

    /// Returns the shape of a header: that of its schema if this is a scalar, otherwise any string.
    fn header_shape(&mut self, header: &Resolved<'a>) -> Shape {
        // In Swagger 2.0, a header is itself the schema.
        let schema = if self.is_swagger() { Some(header.node.clone()) } else { header.node.get("schema") };
        let shape = schema.map(|schema| self.shape_of(&schema, ""));
        let shape = shape.map(|shape| self.resolved(&shape));
        let scalar_shape = shape.filter(|shape| {
            matches!(
                shape.kind,
                Kind::String(_) | Kind::Integer(_) | Kind::Number(_) | Kind::Boolean | Kind::Enum(_)
            )
        });
        let any_string = || Shape::of(Kind::String(StringRules::ANY));
        let mut shape = scalar_shape.unwrap_or_else(any_string);
        (shape.nullable, shape.title) = (false, Title::NONE);
        let prose = header.prose();
        if !prose.is_empty() {
            shape.description = prose.into_owned().into();
        }
        shape
    }

    /// Returns the headers of successful responses, by their names in the document.
    fn declared_headers(&mut self, operation: &Node<'a>) -> Vec<(&'a str, Resolved<'a>)> {
        let responses = operation.get("responses").and_then(|node| self.resolve(&node));
        let responses = responses.map(|resolved| resolved.node.entries()).unwrap_or_default();
        let mut declared: Vec<(&'a str, Resolved<'a>)> = Vec::new();
        for (_, node) in successes(&responses) {
            let headers = self.resolve(node).and_then(|resolved| resolved.node.get("headers"));
            for (name, header) in headers.map(|node| node.entries()).unwrap_or_default() {
                let is_known = declared.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
                if !is_known && let Some(header) = self.resolve(&header) {
                    declared.push((name.trim(), header));
                }
            }
        }
        declared
    }
}
