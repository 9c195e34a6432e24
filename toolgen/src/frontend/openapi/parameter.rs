//! Reads the parameters of operations.

mod in_path;

use std::collections::{BTreeMap, BTreeSet};

use toolgen_core::internal::printable::is_token;
use toolgen_core::schema::shape::{Kind, Literal, StringRules};
use toolgen_core::spec::plan::{Encoding, HeaderOwner, Location, Style};
use toolgen_core::{List, Shape};

use super::codes;
use super::context::Context;
use super::node::Node;
use super::path::Template;
use super::reference::{ResolveError, Resolved};

/// A parameter of a request.
#[derive(Clone, Debug)]
pub(super) struct Param {
    /// The name on the wire.
    pub(super) name: String,
    /// The location of the parameter in the request.
    pub(super) location: Location,
    /// Whether the parameter is required.
    pub(super) required: bool,
    /// The encoding of the value.
    pub(super) encoding: Encoding,
    /// The shape of the value, with the parameter's annotations.
    pub(super) shape: Shape,
    /// Whether the value is the complete query string, without a key.
    pub(super) is_querystring: bool,
}

impl<'a> Context<'a> {
    /// Returns the parameters of an operation and of its path, sorted by location. The operation overrides parameters
    /// of the path by name and location.
    pub(super) fn parameters(
        &mut self,
        path_item: &Node<'a>,
        operation: &Node<'a>,
        template: &mut Template,
    ) -> Vec<Param> {
        let mut params: Vec<Param> = self.parameters_at(path_item);
        let indices = params.iter().enumerate().map(|(index, param)| (param.id(), index));
        let indices: BTreeMap<(Location, String), usize> = indices.collect();
        for override_param in self.parameters_at(operation) {
            match indices.get(&override_param.id()).and_then(|index| params.get_mut(*index)) {
                Some(param) => *param = override_param,
                None => params.push(override_param),
            }
        }
        self.match_template(&mut params, operation, template);
        params.sort_by_key(|param| param.location);
        self.note_shared_keys(&params, operation);
        params
    }

    /// Reports parameters that collide in a request: an exploded object is sent under the keys of its fields, not
    /// under its own.
    fn note_shared_keys(&mut self, params: &[Param], operation: &Node<'a>) {
        let mut senders: BTreeMap<(Location, String), &str> = BTreeMap::new();
        for param in
            params.iter().filter(|param| matches!(param.location, Location::Query | Location::Cookie))
        {
            for key in self.keys_of(param) {
                let Some(other) = senders.insert((param.location, key.clone()), &param.name) else {
                    continue;
                };
                self.report(
                    codes::PARAMETER,
                    &operation.pointer,
                    format!(
                        "`{key}` is sent for the parameter `{other}` and for `{}`; a service cannot distinguish them",
                        param.name
                    ),
                    "give one of the two `explode: false` or `style: deepObject`, or rename the field",
                );
            }
        }
    }

    /// Returns the keys that a parameter is sent under, if its schema lists them.
    fn keys_of(&mut self, param: &Param) -> Vec<String> {
        let exploded = matches!(param.encoding, Encoding::Style { style: Style::Form, explode: true, .. });
        match self.resolved(&param.shape).kind {
            Kind::Object(rules) if exploded => {
                rules.fields.iter().map(|field| field.wire_name().to_owned()).collect()
            }
            _ => vec![param.name.clone()],
        }
    }

    fn parameters_at(&mut self, node: &Node<'a>) -> Vec<Param> {
        let mut params: Vec<Param> = Vec::new();
        let mut ids = BTreeSet::new();
        for node in self.resolved_items(node, "parameters") {
            let Some(resolved) = self.resolve_parameter(&node) else { continue };
            if self.is_body_parameter(&resolved.node) {
                continue;
            }
            if resolved.node.text("in") == Some("querystring") {
                let name = resolved.node.text("name").unwrap_or("query");
                params.extend(self.querystring(&resolved, name));
                continue;
            }
            let Some(param) = self.parameter(&resolved) else { continue };
            if !ids.insert(param.id()) {
                self.report(
                    codes::PARAMETER,
                    &node.pointer,
                    format!("the parameter `{}` is declared twice; the first is used", param.name),
                    "remove one of the two",
                );
            } else {
                params.push(param);
            }
        }
        params
    }

    /// Resolves the reference to a parameter. A reference to a file that is not read drops only that parameter and not
    /// the operation, since most parameters are optional. The problem says how to provide the file, and a placeholder
    /// in the path accepts any string.
    fn resolve_parameter(&mut self, node: &Node<'a>) -> Option<Resolved<'a>> {
        self.note_malformed_reference(node);
        let (reason, text) = match self.follow(node) {
            Ok(resolved) => return Some(resolved),
            Err(broken) => broken,
        };
        let consequence = if matches!(reason, ResolveError::External(_)) {
            "; that parameter is left out"
        } else {
            self.record_missing_part(&reason, &text);
            ""
        };
        self.report_broken(reason, &text, &node.pointer, consequence);
        None
    }

    fn parameter(&mut self, resolved: &Resolved<'a>) -> Option<Param> {
        let node = &resolved.node;
        let Some(name) = node.text("name").filter(|name| !name.is_empty()) else {
            self.parameter_problem(node, "a parameter needs a `name`; it is left out", "add `name` and `in`");
            return None;
        };
        let location = match node.text("in").unwrap_or_default().to_ascii_lowercase().as_str() {
            "path" => Location::Path,
            "query" => Location::Query,
            "header" => Location::Header,
            "cookie" => Location::Cookie,
            other => {
                let message =
                    format!("the parameter `{name}` has no known location: `in: {other}`; it is left out");
                let help = if self.is_swagger() {
                    "use path, query, header, formData or body"
                } else {
                    "use path, query, querystring, header or cookie; bodies go to `requestBody`"
                };
                self.parameter_problem(node, &message, help);
                return None;
            }
        };
        if location == Location::Header && self.is_set_elsewhere(node, name) {
            return None;
        }
        if location == Location::Header && !is_token(name) {
            let message = format!("`{name}` cannot be the name of a header; the parameter is left out");
            self.parameter_problem(node, &message, "use letters, digits and `-`");
            return None;
        }
        let (encoding, mut shape) = self.parameter_value(node, name, location);
        self.apply_annotations(resolved, &mut shape);
        if location == Location::Path && matches!(encoding, Encoding::Style { .. }) {
            forbid_empty_segment(&mut shape);
        }
        if let (Some(value), None) = (node.get("required"), node.boolean("required")) {
            let message =
                format!("`required` must be true or false, not {}; `{name}` is optional", value.value);
            self.parameter_problem(node, &message, "write `required: true`");
        }
        let required = location == Location::Path || node.is_true("required");
        if !required && matches!(encoding, Encoding::Style { .. }) {
            remove_null(&mut shape);
        }
        Some(Param { name: name.to_owned(), location, required, encoding, shape, is_querystring: false })
    }

    /// Whether the header is not an argument because the engine or the client sets it. Credentials are handled later.
    fn is_set_elsewhere(&mut self, node: &Node<'a>, name: &str) -> bool {
        match HeaderOwner::of(name) {
            None | Some(HeaderOwner::Security) => return false,
            // OpenAPI requires that such parameters are ignored.
            Some(HeaderOwner::Media) => {}
            Some(HeaderOwner::Client) => self.parameter_problem(
                node,
                &format!("the header `{name}` is set by the HTTP client; the parameter is left out"),
                "remove the parameter: the header follows from the request",
            ),
        }
        true
    }

    fn parameter_problem(&mut self, node: &Node<'a>, message: &str, help: &str) {
        self.report(codes::PARAMETER, &node.pointer, message, help);
    }

    /// Returns the encoding and the shape of the value.
    fn parameter_value(&mut self, node: &Node<'a>, name: &str, location: Location) -> (Encoding, Shape) {
        if let Some(schema) = node.get("schema") {
            self.note_newer_keyword(node, "schema");
            return (self.style_encoding(node, location), self.parameter_shape(node, &schema, name));
        }
        self.note_malformed_content(node.get("content").as_ref());
        if let Some((media_type, media)) = node.members("content").into_iter().next() {
            let mut shape = media.get("schema").map_or(Shape::ANY, |schema| self.shape_of(&schema, name));
            let encoding = self.content_encoding(&mut shape, media_type, &media, name);
            return (encoding, shape);
        }
        let shape = self.own_shape(node, name);
        (self.style_encoding(node, location), shape)
    }

    /// Returns the shape of a parameter that contains the keywords of its schema, as in Swagger 2.0.
    pub(super) fn own_shape(&mut self, node: &Node<'a>, name: &str) -> Shape {
        let own_type = has_own_type(node);
        let assumption = if own_type { "its own `type` is used" } else { "a string is assumed" };
        if !self.is_swagger() {
            let message = format!("the parameter `{name}` has neither `schema` nor `content`; {assumption}");
            self.parameter_problem(node, &message, "add a `schema`");
        } else if !own_type {
            let message = format!("the parameter `{name}` has no `type`; {assumption}");
            self.parameter_problem(node, &message, "add a `type`");
        }
        if own_type { self.shape_of(node, name) } else { any_string() }
    }

    fn style_encoding(&mut self, node: &Node<'a>, location: Location) -> Encoding {
        if self.is_swagger() && !["style", "explode"].iter().any(|key| node.get(key).is_some()) {
            return self.collection_encoding(node, location);
        }
        let default = match location {
            Location::Path | Location::Header => Style::Simple,
            Location::Query | Location::Cookie => Style::Form,
        };
        let mut style = default;
        let mut explode = node.boolean("explode");
        if let Some(text) = node.text("style") {
            match style_of(text, location) {
                Some(defined) => style = defined,
                None => self.report(
                    codes::STYLE,
                    &node.pointer.child("style"),
                    format!("the style `{text}` is not defined for this location; the default is used"),
                    "path: simple, label, matrix; query: form, spaceDelimited, pipeDelimited, deepObject; \
                     header: simple; cookie: form",
                ),
            }
        } else if let (Some(text), Location::Query) = (node.text("collectionFormat"), location) {
            // The keyword of Swagger 2.0.
            (style, explode) = match text {
                "multi" => (Style::Form, Some(true)),
                "ssv" => (Style::SpaceDelimited, Some(false)),
                "pipes" => (Style::PipeDelimited, Some(false)),
                _ => (Style::Form, Some(false)),
            };
        }
        // `deepObject` is defined only with `explode`.
        let explode = style == Style::DeepObject || explode.unwrap_or(style == Style::Form);
        let allow_reserved = match location {
            Location::Query => node.is_true("allowReserved"),
            Location::Cookie => node.text("style") == Some("cookie"),
            Location::Path | Location::Header => false,
        };
        Encoding::Style { style, explode, allow_reserved }
    }

    /// Applies the parameter's own annotations, which take precedence over the schema's.
    pub(super) fn apply_annotations(&mut self, resolved: &Resolved<'a>, shape: &mut Shape) {
        let node = &resolved.node;
        if shape.kind == Kind::Never {
            *shape = Shape::ANY;
        }
        let prose = resolved.prose();
        if !prose.is_empty() {
            shape.description = shape.choices.explain(&prose).into();
        }
        shape.deprecated |= node.is_true("deprecated");
        if shape.examples.is_empty() {
            // Swagger 2.0 has no keyword for the example of a parameter; this is a common extension.
            let extension = node.get("x-example");
            let example = self.first_example(node, shape);
            let example =
                example.or_else(|| extension.map(|extension| self.with_source_text(&extension, shape)));
            let short_example = example.filter(|value| value.to_string().len() <= 256);
            shape.examples = short_example.map_or(List::EMPTY, |example| vec![Literal::of(&example)].into());
        }
    }
}

/// Whether a parameter contains the keywords of its schema.
fn has_own_type(node: &Node<'_>) -> bool {
    ["type", "enum", "items", "format"].iter().any(|key| node.get(key).is_some())
}

/// Removes `null` and the empty array, which have no representation in a path: a segment would be missing.
fn forbid_empty_segment(shape: &mut Shape) {
    shape.nullable = false;
    if let Kind::Array(rules) = &mut shape.kind {
        rules.min_items = rules.min_items.max(Some(1));
    }
}

/// Removes `null` from an optional value that is sent as text. `null` has no representation (RFC 6570, 2.3), so the
/// request is the same as without the value.
pub(super) fn remove_null(shape: &mut Shape) {
    if let Kind::Enum(values) = &mut shape.kind {
        let non_null: Vec<Literal> =
            values.iter().filter(|value| **value != Literal::Null).cloned().collect();
        if non_null.is_empty() {
            return;
        }
        *values = non_null.into();
    }
    shape.nullable = false;
    shape.default = shape.default.take().filter(|value| *value != Literal::Null);
}

/// Returns the shape of any string.
fn any_string() -> Shape {
    Shape::of(Kind::String(StringRules::ANY))
}

impl Param {
    /// Returns the identity of a parameter, which is unique in an operation.
    fn id(&self) -> (Location, String) {
        let name = match self.location {
            Location::Header => self.name.to_ascii_lowercase(),
            _ => self.name.clone(),
        };
        (self.location, name)
    }
}

/// Returns the style with this name, if it is defined for the location.
pub(super) fn style_of(text: &str, location: Location) -> Option<Style> {
    let style = match text {
        "matrix" => Style::Matrix,
        "label" => Style::Label,
        "simple" => Style::Simple,
        // OpenAPI 3.2 adds `cookie`, which differs from `form` only in escaping.
        "form" | "cookie" => Style::Form,
        "spaceDelimited" => Style::SpaceDelimited,
        "pipeDelimited" => Style::PipeDelimited,
        "deepObject" => Style::DeepObject,
        _ => return None,
    };
    let is_defined = match location {
        Location::Path => matches!(style, Style::Matrix | Style::Label | Style::Simple),
        Location::Query => !matches!(style, Style::Matrix | Style::Label | Style::Simple),
        Location::Header => style == Style::Simple,
        Location::Cookie => style == Style::Form,
    };
    is_defined.then_some(style)
}
