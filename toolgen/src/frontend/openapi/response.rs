//! Reads the responses of operations.

use std::collections::BTreeSet;

use toolgen_core::schema::shape::{Kind, Title, read::any_of};
use toolgen_core::spec::plan::Xml;
use toolgen_core::{List, Shape};

use super::body::array_of;
use super::context::Context;
use super::media;
use super::node::Node;
use super::reference::Resolved;
use super::xml::MAX_DEPTH;

/// Maximum length of an `Accept` header.
const MAX_ACCEPT: usize = 256;

/// The documented results of an operation.
pub(super) struct Results {
    /// The shape of a successful result, unless it may be any value.
    pub(super) shape: Option<Shape>,
    /// The encoding of an XML result.
    pub(super) xml_response: Option<Xml>,
    /// The `Accept` header; empty if any media type is accepted.
    pub(super) accept: String,
    /// Whether a header links to other pages.
    pub(super) linked: bool,
    /// The description of success in the document.
    pub(super) description: String,
}

impl<'a> Context<'a> {
    /// Reads the results of an operation from its 2xx responses, else from redirects, else from `default`.
    pub(super) fn results(&mut self, operation: &Node<'a>) -> Results {
        let responses = operation.get("responses").and_then(|node| self.resolve(&node));
        let responses = responses.map(|resolved| resolved.node.entries()).unwrap_or_default();
        let selected = successes(&responses);
        let mut shapes: Vec<Shape> = Vec::new();
        let mut types: Vec<&str> = Vec::new();
        let mut description = String::new();
        let mut linked = false;
        let mut xml_response = None;
        for (_, node) in selected {
            let Some(resolved) = self.response(node) else { continue };
            let response_prose = resolved.prose();
            if description.is_empty() && !is_boilerplate(&response_prose) {
                description = response_prose.into_owned();
            }
            let headers = resolved.node.get("headers").map(|node| node.entries()).unwrap_or_default();
            linked |= headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("link"));
            let media = self.contents(operation, &resolved.node, &mut types);
            let shape = self.result_shape(&media, &mut xml_response);
            shapes.extend(shape.filter(|shape| !shapes.contains(shape)));
        }
        let shape = any_of(shapes).filter(|shape| *shape != Shape::ANY);
        Results { shape, xml_response, accept: accept_header(&types), linked, description }
    }

    /// Returns the redirects that are results and are not followed: all declared redirects if the operation has no 2xx
    /// response, and 304, which has no target.
    pub(super) fn redirects(&mut self, operation: &Node<'a>) -> List<u16> {
        let responses = operation.get("responses").and_then(|node| self.resolve(&node));
        let responses = responses.map(|resolved| resolved.node.entries()).unwrap_or_default();
        let has_success = responses.iter().any(|(status, _)| is_success(status));
        let declared = responses.iter().map(|(status, _)| status.trim()).filter(|status| is_redirect(status));
        let mut statuses: Vec<u16> = declared
            .flat_map(|status| match status.parse() {
                Ok(status) => vec![status],
                Err(_) => REDIRECTS.to_vec(),
            })
            .filter(|status| !has_success || *status == 304)
            .collect();
        statuses.sort_unstable();
        statuses.dedup();
        statuses.into()
    }

    /// Returns the shape of the JSON content of unsuccessful responses.
    pub(super) fn failure(&mut self, operation: &Node<'a>) -> Option<Shape> {
        let responses = self.resolve(&operation.get("responses")?)?;
        let responses = responses.node.entries();
        // If no status is a success, `default` is.
        let has_success = responses.iter().any(|(status, _)| is_success(status));
        let is_failure = |status: &str| status.starts_with(['4', '5']) || status == "default" && has_success;
        let mut shapes: Vec<Shape> = Vec::new();
        for (status, node) in responses.iter().filter(|(status, _)| is_failure(status)) {
            let Some(resolved) = self.response(node) else { continue };
            let media = self.contents(operation, &resolved.node, &mut Vec::new());
            let is_json = |name: &str| matches!(media::kind(name), media::Kind::Json | media::Kind::JsonLike);
            let Some((_, content)) = media.iter().find(|(name, _)| is_json(name)) else { continue };
            let Some(content) = self.resolve(content) else { continue };
            let Some(schema) = content.node.get("schema") else { continue };
            let mut shape = self.shape_of(&schema, "");
            if shape.title.is_none() {
                shape.title = status_title(status);
            }
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
        any_of(shapes).filter(|shape| *shape != Shape::ANY)
    }

    /// Resolves a response, and reports a value that is not an object.
    fn response(&mut self, node: &Node<'a>) -> Option<Resolved<'a>> {
        let resolved = self.resolve(node)?;
        if resolved.node.object().is_none() && !resolved.node.value.is_null() {
            self.malformed(&resolved.node, "a response must be an object; it is left out");
        }
        Some(resolved)
    }

    /// Returns the media types of a response, and adds the types for the `Accept` header.
    pub(super) fn contents(
        &mut self,
        operation: &Node<'a>,
        response: &Node<'a>,
        types: &mut Vec<&'a str>,
    ) -> Vec<(&'a str, Node<'a>)> {
        let Some(content) = response.get("content") else {
            return if self.is_swagger() {
                self.response_media_types(operation, response, types)
            } else {
                Vec::new()
            };
        };
        self.note_newer_keyword(response, "content");
        let content = self.resolve(&content).map(|resolved| resolved.node);
        self.note_malformed_content(content.as_ref());
        let media = content.map(|content| content.entries()).unwrap_or_default();
        types.extend(media.iter().map(|(media_type, _)| media_type.trim()));
        media
    }

    /// Returns the shape of a result in the media type that is decoded, and sets its XML encoding.
    fn result_shape(
        &mut self,
        media: &[(&'a str, Node<'a>)],
        xml_response: &mut Option<Xml>,
    ) -> Option<Shape> {
        use media::Kind::{Any, Events, Json, JsonLike, Lines, Xml};
        let find = |kind: media::Kind| media.iter().find(|(name, _)| media::kind(name) == kind);
        let (name, node) = [Json, JsonLike, Any, Lines, Xml, Events].into_iter().find_map(find)?;
        let node = self.resolve(node)?.node;
        if media::kind(name) == Lines {
            let shape = self.content_shape(&node);
            return (shape != Shape::ANY).then(|| self.lines_shape(shape));
        }
        if media::kind(name) == Events {
            return node.get("itemSchema").map(|schema| array_of(self.event(&schema)));
        }
        let schema = node.get("schema")?;
        let shape = self.shape_of(&schema, "");
        if media::kind(name) == Xml {
            if !self.is_structured(&shape) {
                return None;
            }
            // The name of the root of a response does not matter.
            xml_response.get_or_insert(self.xml(&schema, "answer"));
        }
        let is_binary = matches!(&shape.kind, Kind::String(rules) if rules.format == *"binary");
        (!is_binary).then_some(shape)
    }

    /// Returns the shape of a server-sent event. If its data has a `contentSchema`, the data is the parsed string.
    fn event(&mut self, schema: &Node<'a>) -> Shape {
        let shape = self.shape_of(schema, "");
        let data_schema = self.property_of(schema, "data", MAX_DEPTH);
        let content_schema =
            data_schema.and_then(|data_schema| self.follow(&data_schema).ok()?.node.get("contentSchema"));
        let (Some(content_schema), Kind::Object(mut rules)) = (content_schema, self.resolved(&shape).kind)
        else {
            return shape;
        };
        let mut fields = rules.fields.to_vec();
        for field in fields.iter_mut().filter(|field| field.wire_name() == "data") {
            let description = std::mem::take(&mut field.shape.description);
            field.shape = self.shape_of(&content_schema, "");
            if field.shape.description.is_empty() {
                field.shape.description = description;
            }
        }
        rules.fields = fields.into();
        Shape { kind: Kind::Object(rules), ..shape }
    }
}

/// The status codes that `3XX` includes.
const REDIRECTS: [u16; 7] = [300, 301, 302, 303, 304, 307, 308];

/// Returns the name of a status, which distinguishes the failures of a tool.
fn status_title(status: &str) -> Title {
    Title::new(match status {
        "400" => "Bad Request",
        "401" => "Unauthorized",
        "402" => "Payment Required",
        "403" => "Forbidden",
        "404" => "Not Found",
        "405" => "Method Not Allowed",
        "406" => "Not Acceptable",
        "408" => "Request Timeout",
        "409" => "Conflict",
        "410" => "Gone",
        "412" => "Precondition Failed",
        "413" => "Content Too Large",
        "415" => "Unsupported Media Type",
        "422" => "Unprocessable Content",
        "423" => "Locked",
        "424" => "Failed Dependency",
        "429" => "Too Many Requests",
        "500" => "Internal Server Error",
        "501" => "Not Implemented",
        "502" => "Bad Gateway",
        "503" => "Service Unavailable",
        "504" => "Gateway Timeout",
        "default" => "Default",
        text if text.eq_ignore_ascii_case("4xx") => "Client Error",
        text if text.eq_ignore_ascii_case("5xx") => "Server Error",
        other => return Title::new(&format!("Status {other}")),
    })
}

/// Returns the responses that count as successes: 2xx, else redirects, else `default`.
pub(super) fn successes<'r, 'a>(responses: &'r [(&'a str, Node<'a>)]) -> Vec<&'r (&'a str, Node<'a>)> {
    let matching = |is_match: &dyn Fn(&str) -> bool| {
        responses.iter().filter(|(status, _)| is_match(status)).collect::<Vec<_>>()
    };
    let predicates: [&dyn Fn(&str) -> bool; 3] = [&is_success, &is_redirect, &|status| status == "default"];
    predicates.into_iter().map(matching).find(|matches| !matches.is_empty()).unwrap_or_default()
}

fn is_success(status: &str) -> bool {
    let status = status.trim();
    status.len() == 3 && status.starts_with('2')
}

fn is_redirect(status: &str) -> bool {
    let status = status.trim();
    status.len() == 3 && status.starts_with('3')
}

/// Whether a description only exists because OpenAPI requires a description for each response. Numbers and articles
/// are ignored.
fn is_boilerplate(description: &str) -> bool {
    const BOILERPLATE: [&str; 18] = [
        "ok",
        "success",
        "successful",
        "response",
        "successful response",
        "successful request",
        "successful operation",
        "request was successful",
        "success response",
        "default response",
        "valid response",
        "expected response to valid request",
        "default",
        "no content",
        "description",
        "description was not specified",
        "no response was specified",
        "auto generated using swagger inspector",
    ];
    let text = description.to_ascii_lowercase();
    let words = text.split(|char: char| !char.is_alphanumeric());
    let is_significant = |word: &&str| word.contains(char::is_alphabetic) && !matches!(*word, "a" | "the");
    let words: Vec<&str> = words.filter(is_significant).take(8).collect();
    words.is_empty() || BOILERPLATE.contains(&words.join(" ").as_str())
}

/// The preference of a media type: JSON first, then structured types, then the rest.
fn rank(media_type: &str) -> usize {
    match media::kind(media_type) {
        media::Kind::Json | media::Kind::JsonLike => 0,
        media::Kind::Yaml | media::Kind::Lines | media::Kind::Events | media::Kind::Xml => 1,
        _ => 2,
    }
}

/// Returns the `Accept` header: JSON first, the rest in the document's order, with lower weights for less preferred
/// types.
fn accept_header(types: &[&str]) -> String {
    let is_legal =
        |name: &str| name.contains('/') && name.chars().all(|char| matches!(char, ' '..='~') && char != ',');
    let mut sorted: Vec<&str> = types.iter().copied().filter(|name| is_legal(name)).collect();
    sorted.sort_by_key(|name| (rank(name), media::kind(name).min(media::Kind::JsonLike)));
    let ranks: BTreeSet<usize> = sorted.iter().map(|name| rank(name)).collect();
    let mut accept = String::new();
    let mut added: Vec<&str> = Vec::new();
    for name in sorted {
        if added.contains(&name) {
            continue;
        }
        added.push(name);
        if accept.len() + name.len() + 8 > MAX_ACCEPT {
            return format!("{accept}, */*;q=0.1");
        }
        if !accept.is_empty() {
            accept.push_str(", ");
        }
        accept.push_str(name);
        let has_weight = name.split(';').skip(1).any(|parameter| parameter.trim_start().starts_with("q="));
        match ranks.iter().take_while(|other| **other < rank(name)).count() {
            0 => {}
            _ if has_weight => {}
            1 => accept.push_str(";q=0.8"),
            _ => accept.push_str(";q=0.5"),
        }
    }
    accept
}
