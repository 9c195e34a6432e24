//! Tools that send an HTTP request.
//!
//! They become the same plan as the operations of an OpenAPI document, run by the same engine. A part of the request
//! that is one plain placeholder uses that argument. Anything else becomes a separate argument that is derived from
//! those of the call, with a name that starts with `=`.

mod auth;
mod body;
mod twice;
mod url;

use toolgen_core::spec::Network;
use toolgen_core::spec::plan::{Encoding, HeaderOwner, Location, Parameter, RequestPlan, Server};
use toolgen_core::spec::template::{Reference, Root, Template};
use toolgen_core::spec::{Effects, Files};
use toolgen_core::{ExecutionPlan, List, Text};

use self::twice::{Named, Sent};
use super::calls::Lowered;
use super::codes;
use super::context::{Context, nearest};
use super::keys;
use super::node::Node;
use super::template::{PlaceholderTarget, Scope};
use super::tools::Draft;
use crate::frontend::effects_of_method;
use crate::source::Pointer;

const METHODS: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// A request that is being compiled.
#[derive(Debug, Default)]
struct Request {
    query: Vec<(Text, Text)>,
    parameters: Vec<Parameter>,
    derived: Vec<(Text, Template)>,
    accept: Text,
    /// The media type of a text body, if a header sets it.
    content_type: Option<(String, Pointer)>,
    /// The names that are sent so far.
    sent: Vec<Sent>,
}

impl<'a> Context<'a> {
    /// Compiles a plan that sends an HTTP request.
    pub(super) fn request(&mut self, draft: &Draft<'a>, scope: &mut Scope) -> Lowered {
        let node = draft.of_kind.clone();
        // For an endpoint, the request is the tool's object itself, whose keys were already checked.
        if node.pointer != draft.node.pointer {
            self.object(&node, &keys::HTTP);
        }
        let method = self.method(&node);
        let effects = Effects { files: Files::None, ..effects_of_method(&method) };
        let mut takes_all = false;
        let plan = self.request_plan(draft, &node, method, scope, &mut takes_all);
        let network = plan.as_ref().and_then(|plan| plan.servers.first()).map(|server| {
            let host = server.url.split_once("://").map_or("", |(_, host)| host);
            Network::Hosts(vec![Text::from(host.to_owned())].into())
        });
        let effects = Effects { network: network.unwrap_or(Network::Any), ..effects };
        Lowered { call: plan.map(ExecutionPlan::Http), effects, takes_all }
    }

    fn method(&mut self, node: &Node<'a>) -> String {
        let body = ["body", "form", "text"].iter().any(|key| node.get(key).is_some());
        let usual = if body { "POST" } else { "GET" };
        let Some(given) = self.text(node, "method") else { return usual.to_owned() };
        let method = given.to_ascii_uppercase();
        if !METHODS.contains(&method.as_str()) {
            let message = format!("`{given}` is not an HTTP method that a tool can use");
            self.report(codes::METHOD, &node.pointer.child("method"), message, nearest(&method, &METHODS));
        }
        method
    }

    fn request_plan(
        &mut self,
        draft: &Draft<'a>,
        node: &Node<'a>,
        method: String,
        scope: &mut Scope,
        takes_all: &mut bool,
    ) -> Option<RequestPlan> {
        let mut request = Request::default();
        let help = "write `url: https://HOST/PATH`";
        let url = self.required(node, "url", "a request", help);
        let url = url.and_then(|url| self.url(&url, &mut request, scope));
        for (name, value) in self.object_members(node, "query", "values") {
            self.query(name, &value, &mut request, scope);
        }
        for (name, value) in self.object_members(node, "headers", "strings") {
            self.header(name, &value, &mut request, scope);
        }
        let security = self.auth(node, &mut request);
        let body = self.body(draft, node, &method, &mut request, scope, takes_all);
        let (server, path) = url?;
        Some(RequestPlan {
            method: method.into(),
            path: path.into(),
            query: request.query.into(),
            servers: vec![Server { url: server.into(), variables: List::EMPTY }].into(),
            parameters: request.parameters.into(),
            body,
            security,
            accept: request.accept,
            xml_response: None,
            derived: request.derived.into(),
            // A default of a manifest is a value that its author chose.
            defaults: true,
            ..RequestPlan::EMPTY
        })
    }

    /// Compiles a pair of the query.
    fn query(&mut self, name: &str, node: &Node<'a>, request: &mut Request, scope: &mut Scope) {
        self.sends(Named::Query, name, &node.pointer, request);
        let Some(template) = self.value_template(node, scope) else { return };
        match constant_text(&template) {
            Some(text) => request.query.push((Text::from(name.to_owned()), text.into())),
            None => request.parameter(name, Location::Query, template),
        }
    }

    fn header(&mut self, name: &str, node: &Node<'a>, request: &mut Request, scope: &mut Scope) {
        let fine = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
        if !fine {
            let message = format!("`{name}` is not a valid name of a header");
            self.report(
                codes::HEADER,
                &node.pointer,
                message,
                "use letters, digits and `-`, as in `X-Request-Id`",
            );
            return;
        }
        if HeaderOwner::of(name) == Some(HeaderOwner::Security) {
            let message = format!(
                "the header `{name}` contains a credential, which must not be in a manifest or set by a model"
            );
            let help = match node.value.as_str().and_then(of_variable) {
                Some((scheme, variable)) => {
                    format!(
                        "write `auth: {{{scheme}: {variable}}}`, which reads it from the environment variable"
                    )
                }
                None => "use `auth`, which reads it from an environment variable".to_owned(),
            };
            self.report(codes::HEADER, &node.pointer, message, help);
            return;
        }
        self.sends_header(name, node, request);
        let Some(template) = self.scalar_template(node, scope) else { return };
        let constant = constant_text(&template);
        if constant.as_deref().is_some_and(|text| text.chars().any(char::is_control)) {
            let message = format!("the header `{name}` contains a line break or another control character");
            self.report(codes::HEADER, &node.pointer, message, "write its value on one line");
        }
        let lower = name.to_ascii_lowercase();
        match (HeaderOwner::of(name), constant) {
            (Some(HeaderOwner::Media), Some(text)) if lower == "accept" => request.accept = text.into(),
            (Some(HeaderOwner::Media), Some(text)) => {
                request.content_type = Some((text, node.pointer.clone()));
            }
            (Some(HeaderOwner::Media), None) => {
                let message = format!("the header `{name}` must be a constant");
                self.report(codes::HEADER, &node.pointer, message, "write a tool for each media type");
            }
            (Some(HeaderOwner::Client), _) => {
                let message = format!("the header `{name}` is set by the HTTP client");
                self.report(codes::HEADER, &node.pointer, message, "leave it out");
            }
            (Some(HeaderOwner::Security) | None, _) => {
                request.parameter(name, Location::Header, template);
            }
        }
    }

    /// Compiles a value of a query or a form: a string, a number, a boolean, or an array of them.
    fn value_template(&mut self, node: &Node<'a>, scope: &mut Scope) -> Option<Template> {
        if node.value.is_null() {
            self.wrong_kind(node, "a value", "write `NAME: \"{argument}\"`, or a constant");
            return None;
        }
        self.template(node, PlaceholderTarget::Texts, scope)
    }
}

impl Request {
    /// Adds a parameter.
    fn parameter(&mut self, name: &str, location: Location, template: Template) {
        let (prefix, encoding) = match location {
            Location::Path => ("path", Encoding::SIMPLE),
            Location::Query | Location::Cookie => ("query", Encoding::FORM),
            Location::Header => ("header", Encoding::SIMPLE),
        };
        let argument = self.argument(&format!("{prefix}.{name}"), template);
        self.parameters.push(Parameter { argument, name: Text::from(name.to_owned()), location, encoding });
    }

    /// Returns the argument that provides the value of a template: one of the call, or a derived one.
    fn argument(&mut self, location: &str, template: Template) -> Text {
        match template {
            Template::Value(Reference { root: Root::Argument(name), path, .. }) if path.is_empty() => name,
            template => {
                let mut name = format!("={location}");
                while self.derived.iter().any(|(taken, _)| *taken == *name) {
                    name.push('+');
                }
                let name = Text::from(name);
                self.derived.push((name.clone(), template));
                name
            }
        }
    }
}

/// Returns the scheme and the variable of a credential in shell syntax: `Bearer ${TOKEN}`.
fn of_variable(text: &str) -> Option<(&'static str, &str)> {
    let (scheme, rest) = text.trim().split_once(' ')?;
    let scheme = ["bearer", "basic"].into_iter().find(|known| scheme.eq_ignore_ascii_case(known))?;
    let inner = rest.trim().strip_prefix('$')?;
    let name = inner.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(inner);
    let name = name.strip_prefix("env:").or_else(|| name.strip_prefix("env.")).unwrap_or(name).trim();
    let legal = |char: char| char.is_ascii_alphanumeric() || char == '_';
    (!name.is_empty() && name.chars().all(legal)).then_some((scheme, name))
}

/// Returns the string of a constant template.
fn constant_text(template: &Template) -> Option<String> {
    match template {
        Template::Constant(json) => serde_json::from_str::<String>(json).ok(),
        _ => None,
    }
}
