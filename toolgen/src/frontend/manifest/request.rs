//! Compiles tools that send an HTTP request.
//!
//! Their plan is that of an operation of an OpenAPI document, run by the same engine. A part of the request that is
//! only a placeholder uses that argument. Any other part becomes a derived argument, which is computed from the
//! arguments of the call and whose name starts with `=`.

mod auth;
mod body;
mod duplicate_names;
mod url;

use toolgen_core::spec::Network;
use toolgen_core::spec::plan::{Encoding, HeaderOwner, Location, Parameter, RequestPlan, Server};
use toolgen_core::spec::template::{Reference, Root, Template};
use toolgen_core::spec::{Effects, Files};
use toolgen_core::{ExecutionPlan, List, Text};

use self::duplicate_names::{NameKind, SentName};
use super::calls::Lowered;
use super::codes;
use super::context::{Context, suggest_name};
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
    /// The names that the request already sends.
    sent_names: Vec<SentName>,
}

impl<'a> Context<'a> {
    /// Compiles a plan that sends an HTTP request.
    pub(super) fn request(&mut self, draft: &Draft<'a>, scope: &mut Scope) -> Lowered {
        let node = draft.plan_node.clone();
        // For an endpoint, the request is the tool's object, whose keys were already checked.
        if node.pointer != draft.node.pointer {
            self.object(&node, &keys::HTTP);
        }
        let method = self.method(&node);
        let effects = Effects { files: Files::None, ..effects_of_method(&method) };
        let mut uses_all_arguments = false;
        let plan = self.request_plan(draft, &node, method, scope, &mut uses_all_arguments);
        let network = plan.as_ref().and_then(|plan| plan.servers.first()).map(|server| {
            let host = server.url.split_once("://").map_or("", |(_, host)| host);
            Network::Hosts(vec![Text::from(host.to_owned())].into())
        });
        let effects = Effects { network: network.unwrap_or(Network::Any), ..effects };
        Lowered { call: plan.map(ExecutionPlan::Http), effects, uses_all_arguments }
    }

    fn method(&mut self, node: &Node<'a>) -> String {
        let has_body = ["body", "form", "text"].iter().any(|key| node.get(key).is_some());
        let default = if has_body { "POST" } else { "GET" };
        let Some(method_name) = self.text(node, "method") else { return default.to_owned() };
        let method = method_name.to_ascii_uppercase();
        if !METHODS.contains(&method.as_str()) {
            let message = format!("`{method_name}` is not an HTTP method that a tool can use");
            self.report(
                codes::METHOD,
                &node.pointer.child("method"),
                message,
                suggest_name(&method, &METHODS),
            );
        }
        method
    }

    fn request_plan(
        &mut self,
        draft: &Draft<'a>,
        node: &Node<'a>,
        method: String,
        scope: &mut Scope,
        uses_all_arguments: &mut bool,
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
        let body = self.body(draft, node, &method, &mut request, scope, uses_all_arguments);
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
            // The author of a manifest chooses its defaults, so they are sent.
            defaults: true,
            ..RequestPlan::EMPTY
        })
    }

    /// Compiles a pair of the query.
    fn query(&mut self, name: &str, node: &Node<'a>, request: &mut Request, scope: &mut Scope) {
        self.record_name(NameKind::Query, name, &node.pointer, request);
        let Some(template) = self.value_template(node, scope) else { return };
        match constant_text(&template) {
            Some(text) => request.query.push((Text::from(name.to_owned()), text.into())),
            None => request.parameter(name, Location::Query, template),
        }
    }

    fn header(&mut self, name: &str, node: &Node<'a>, request: &mut Request, scope: &mut Scope) {
        let is_valid = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte));
        if !is_valid {
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
            let help = match node.value.as_str().and_then(credential_variable) {
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
        self.record_header(name, node, request);
        let Some(template) = self.scalar_template(node, scope) else { return };
        let constant = constant_text(&template);
        if constant.as_deref().is_some_and(|text| text.chars().any(char::is_control)) {
            let message = format!("the header `{name}` contains a line break or another control character");
            self.report(codes::HEADER, &node.pointer, message, "write its value on one line");
        }
        let lowercase_name = name.to_ascii_lowercase();
        match (HeaderOwner::of(name), constant) {
            (Some(HeaderOwner::Media), Some(text)) if lowercase_name == "accept" => {
                request.accept = text.into();
            }
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

    /// Compiles a value of a query or a form: a string, a number, a boolean, or an array of these.
    fn value_template(&mut self, node: &Node<'a>, scope: &mut Scope) -> Option<Template> {
        if node.value.is_null() {
            self.report_wrong_type(node, "a value", "write `NAME: \"{argument}\"`, or a constant");
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

    /// Returns the argument that provides the value of a template: an argument of the call, or a derived argument.
    fn argument(&mut self, location: &str, template: Template) -> Text {
        match template {
            Template::Value(Reference { root: Root::Argument(name), path, .. }) if path.is_empty() => name,
            template => {
                let mut name = format!("={location}");
                while self.derived.iter().any(|(used, _)| *used == *name) {
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
fn credential_variable(text: &str) -> Option<(&'static str, &str)> {
    let (scheme, credential) = text.trim().split_once(' ')?;
    let scheme = ["bearer", "basic"].into_iter().find(|name| scheme.eq_ignore_ascii_case(name))?;
    let variable = credential.trim().strip_prefix('$')?;
    let name = variable.strip_prefix('{').and_then(|variable| variable.strip_suffix('}')).unwrap_or(variable);
    let name = name.strip_prefix("env:").or_else(|| name.strip_prefix("env.")).unwrap_or(name).trim();
    let is_legal = |char: char| char.is_ascii_alphanumeric() || char == '_';
    (!name.is_empty() && name.chars().all(is_legal)).then_some((scheme, name))
}

/// Returns the string of a constant template.
fn constant_text(template: &Template) -> Option<String> {
    match template {
        Template::Constant(json) => serde_json::from_str::<String>(json).ok(),
        _ => None,
    }
}
