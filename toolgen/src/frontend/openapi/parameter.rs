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
use super::reference::{Broken, Resolved};

/// A parameter of a request.
#[derive(Clone, Debug)]
pub(super) struct Param {
    /// The name on the wire.
    pub(super) name: String,
    /// Its location in the request.
    pub(super) location: Location,
    /// Whether it is required.
    pub(super) required: bool,
    /// Its encoding.
    pub(super) encoding: Encoding,
    /// The shape of its value, with the parameter's own annotations.
    pub(super) shape: Shape,
    /// Whether its value is the whole query, without a key.
    pub(super) is_querystring: bool,
}

impl<'a> Context<'a> {
    /// Returns the parameters of an operation, and those of its path that the operation does not override by name and
    /// location, sorted by location.
    pub(super) fn parameters(
        &mut self,
        path_item: &Node<'a>,
        operation: &Node<'a>,
        template: &mut Template,
    ) -> Vec<Param> {
        let mut found: Vec<Param> = self.parameters_at(path_item);
        let places = found.iter().enumerate().map(|(at, param)| (param.id(), at));
        let places: BTreeMap<(Location, String), usize> = places.collect();
        for own in self.parameters_at(operation) {
            match places.get(&own.id()).and_then(|at| found.get_mut(*at)) {
                Some(param) => *param = own,
                None => found.push(own),
            }
        }
        self.match_template(&mut found, operation, template);
        found.sort_by_key(|param| param.location);
        self.note_shared_keys(&found, operation);
        found
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
        let mut known = BTreeSet::new();
        for node in self.list(node, "parameters") {
            let Some(resolved) = self.resolve_parameter(&node) else { continue };
            if self.is_of_body(&resolved.node) {
                continue;
            }
            if resolved.node.text("in") == Some("querystring") {
                let name = resolved.node.text("name").unwrap_or("query");
                params.extend(self.querystring(&resolved, name));
                continue;
            }
            let Some(param) = self.parameter(&resolved) else { continue };
            if !known.insert(param.id()) {
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

    /// Follows the reference to a parameter. A reference to a file that is not read loses only that parameter and not
    /// the operation, since most parameters are optional. The problem says how to provide the file, and a placeholder
    /// in the path accepts any string.
    fn resolve_parameter(&mut self, node: &Node<'a>) -> Option<Resolved<'a>> {
        self.note_malformed_reference(node);
        let (reason, text) = match self.follow(node) {
            Ok(resolved) => return Some(resolved),
            Err(broken) => broken,
        };
        let so = if matches!(reason, Broken::External(_)) {
            "; that parameter is left out"
        } else {
            self.costs_operation(&reason, &text);
            ""
        };
        self.report_broken(reason, &text, &node.pointer, so);
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
        self.parameter_remarks(resolved, &mut shape);
        if location == Location::Path && matches!(encoding, Encoding::Style { .. }) {
            fill_segment(&mut shape);
        }
        if let (Some(given), None) = (node.get("required"), node.stated("required")) {
            let message =
                format!("`required` must be true or false, not {}; `{name}` is optional", given.value);
            self.parameter_problem(node, &message, "write `required: true`");
        }
        let required = location == Location::Path || node.flag("required");
        if !required && matches!(encoding, Encoding::Style { .. }) {
            without_null(&mut shape);
        }
        Some(Param { name: name.to_owned(), location, required, encoding, shape, is_querystring: false })
    }

    /// Whether the header is not an argument, because something else sets it. Credentials are recognised later.
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

    /// Returns the encoding of the value, and its schema.
    fn parameter_value(&mut self, node: &Node<'a>, name: &str, location: Location) -> (Encoding, Shape) {
        if let Some(schema) = node.get("schema") {
            self.note_newer(node, "schema");
            return (self.style(node, location), self.shape_within(node, &schema, name));
        }
        self.note_malformed_content(node.get("content").as_ref());
        if let Some((media_type, media)) = node.members("content").into_iter().next() {
            let mut shape = media.get("schema").map_or(Shape::ANY, |schema| self.shape_of(&schema, name));
            let encoding = self.content(&mut shape, media_type, &media, name);
            return (encoding, shape);
        }
        let shape = self.own_shape(node, name);
        (self.style(node, location), shape)
    }

    /// Returns the shape of a parameter that contains the keywords of its schema, as in Swagger 2.0.
    pub(super) fn own_shape(&mut self, node: &Node<'a>, name: &str) -> Shape {
        let own_type = has_own_type(node);
        let taken = if own_type { "its own `type` is used" } else { "a text is assumed" };
        if !self.is_swagger() {
            let message = format!("the parameter `{name}` has neither `schema` nor `content`; {taken}");
            self.parameter_problem(node, &message, "add a `schema`");
        } else if !own_type {
            let message = format!("the parameter `{name}` has no `type`; {taken}");
            self.parameter_problem(node, &message, "add a `type`");
        }
        if own_type { self.shape_of(node, name) } else { text() }
    }

    fn style(&mut self, node: &Node<'a>, location: Location) -> Encoding {
        if self.is_swagger() && !["style", "explode"].iter().any(|key| node.get(key).is_some()) {
            return self.collected(node, location);
        }
        let default = match location {
            Location::Path | Location::Header => Style::Simple,
            Location::Query | Location::Cookie => Style::Form,
        };
        let mut style = default;
        let mut explode = node.stated("explode");
        if let Some(text) = node.text("style") {
            match style_of(text, location) {
                Some(given) => style = given,
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
        // The deep-object style is defined only with explode.
        let explode = style == Style::DeepObject || explode.unwrap_or(style == Style::Form);
        let allow_reserved = match location {
            Location::Query => node.flag("allowReserved"),
            Location::Cookie => node.text("style") == Some("cookie"),
            Location::Path | Location::Header => false,
        };
        Encoding::Style { style, explode, allow_reserved }
    }

    /// Applies the parameter's own annotations, which take precedence over the schema's.
    pub(super) fn parameter_remarks(&mut self, resolved: &Resolved<'a>, shape: &mut Shape) {
        let node = &resolved.node;
        if shape.kind == Kind::Never {
            *shape = Shape::ANY;
        }
        let text = resolved.prose();
        if !text.is_empty() {
            shape.description = shape.choices.explain(&text).into();
        }
        shape.deprecated |= node.flag("deprecated");
        if shape.examples.is_empty() {
            // Swagger 2.0 has no keyword for the example of a parameter; this is a common extension.
            let other = node.get("x-example");
            let example = self.first_example(node, shape);
            let example = example.or_else(|| other.map(|other| self.as_written(&other, shape)));
            let short = example.filter(|value| value.to_string().len() <= 256);
            shape.examples = short.map_or(List::EMPTY, |example| vec![Literal::of(&example)].into());
        }
    }
}

/// Whether a parameter contains the keywords of its schema.
fn has_own_type(node: &Node<'_>) -> bool {
    ["type", "enum", "items", "format"].iter().any(|key| node.get(key).is_some())
}

/// Removes `null` and the empty array, which have no representation in a path: a segment would be missing.
fn fill_segment(shape: &mut Shape) {
    shape.nullable = false;
    if let Kind::Array(rules) = &mut shape.kind {
        rules.min_items = rules.min_items.max(Some(1));
    }
}

/// Removes the `null` of an optional value that is sent as text. It has no representation (RFC 6570, 2.3), so the
/// request is the same as without the value, and one form is enough.
pub(super) fn without_null(shape: &mut Shape) {
    if let Kind::Enum(values) = &mut shape.kind {
        let others: Vec<Literal> = values.iter().filter(|value| **value != Literal::Null).cloned().collect();
        if others.is_empty() {
            return;
        }
        *values = others.into();
    }
    shape.nullable = false;
    shape.default = shape.default.take().filter(|value| *value != Literal::Null);
}

/// Returns the shape of any string.
fn text() -> Shape {
    Shape::of(Kind::String(StringRules::ANY))
}

impl Param {
    /// The identity of a parameter: two with the same value are one.
    fn id(&self) -> (Location, String) {
        let name = match self.location {
            Location::Header => self.name.to_ascii_lowercase(),
            _ => self.name.clone(),
        };
        (self.location, name)
    }
}

/// Returns the style of this name, if it is defined for the location.
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
    let defined = match location {
        Location::Path => matches!(style, Style::Matrix | Style::Label | Style::Simple),
        Location::Query => !matches!(style, Style::Matrix | Style::Label | Style::Simple),
        Location::Header => style == Style::Simple,
        Location::Cookie => style == Style::Form,
    };
    defined.then_some(style)
}
