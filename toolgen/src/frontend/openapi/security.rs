//! Reads security requirements: alternatives, each a set of schemes that together authenticate a request.

use serde_json::Value;
use toolgen_core::spec::plan::{HeaderOwner, Location, Placement, SecurityRequirement, SecurityScheme};
use toolgen_core::{List, Text};

use super::codes;
use super::context::{Context, Schemes};
use super::node::Node;
use super::parameter::Param;
use super::reference::ResolveError;
use crate::selection::is_variable;
use crate::source::Pointer;

impl Schemes {
    /// Returns the first acceptable scheme whose credential is sent in the location of a parameter.
    pub(super) fn scheme_for(&self, param: &Param, accept: impl Fn(&str) -> bool) -> Option<&str> {
        let name = param.name.as_str();
        let matches = |placement: &Placement| match (placement, param.location) {
            (Placement::Header(header), Location::Header) => header.eq_ignore_ascii_case(name),
            (Placement::Query(query), Location::Query) => *query == *name,
            (Placement::Cookie(cookie), Location::Cookie) => *cookie == *name,
            (Placement::Basic | Placement::Bearer | Placement::Other(_), Location::Header) => {
                HeaderOwner::of(name) == Some(HeaderOwner::Security)
            }
            _ => false,
        };
        let mut matching_schemes =
            self.placements.iter().filter(|(id, placement)| matches(placement) && accept(id));
        matching_schemes.next().map(|(id, _)| id.as_str())
    }
}

/// Whether two credentials use the same location, so that a request can contain only one of them.
fn share_location(left: &Placement, right: &Placement) -> bool {
    match (left, right) {
        (Placement::Query(left), Placement::Query(right))
        | (Placement::Cookie(left), Placement::Cookie(right)) => left == right,
        _ => left.header().zip(right.header()).is_some_and(|(left, right)| left.eq_ignore_ascii_case(right)),
    }
}

impl<'a> Context<'a> {
    /// Returns the names of all schemes that the document declares, including those that are not usable.
    pub(super) fn declared_schemes(&self) -> Vec<String> {
        self.components("securitySchemes").into_iter().map(|(id, _)| id.to_owned()).collect()
    }

    /// Reads the schemes of the document.
    pub(super) fn read_schemes(&mut self) {
        for (id, node) in self.components("securitySchemes") {
            self.note_malformed_reference(&node);
            let resolved = match self.follow(&node) {
                Ok(resolved) => resolved,
                Err((reason, text)) => {
                    self.report_broken(reason, &text, &node.pointer, "");
                    if matches!(reason, ResolveError::External(_)) {
                        self.schemes.external.insert(id.to_owned(), text);
                    }
                    continue;
                }
            };
            if let Some(placement) = self.placement(&resolved.node) {
                self.schemes.placements.insert(id.to_owned(), placement);
            }
        }
    }

    fn placement(&mut self, node: &Node<'a>) -> Option<Placement> {
        let name = || Text::from(node.text("name").unwrap_or_default().to_owned());
        let kind = node.text("type").unwrap_or_default();
        let placement = match kind.to_ascii_lowercase().as_str() {
            "apikey" if node.text("name").is_some() => match node.text("in").unwrap_or_default() {
                "header" => Placement::Header(name()),
                "query" => Placement::Query(name()),
                "cookie" => Placement::Cookie(name()),
                other => {
                    let message = format!("an API key cannot be `in: {other}`; the scheme is left out");
                    self.security_problem(node, message);
                    return None;
                }
            },
            "http" => match node.text("scheme").unwrap_or_default().to_ascii_lowercase().as_str() {
                "basic" => Placement::Basic,
                "bearer" => Placement::Bearer,
                other => Placement::Other(other.to_owned().into()),
            },
            // The notation of Swagger 2.0.
            "basic" => Placement::Basic,
            "oauth2" | "openidconnect" => Placement::Bearer,
            "mutualtls" => Placement::MutualTls,
            _ => {
                let message = format!("`{kind}` is not a known kind of security scheme; it is left out");
                self.security_problem(node, message);
                return None;
            }
        };
        if placement.is_supported() {
            return Some(placement);
        }
        let reason = match &placement {
            Placement::Other(name) => format!(
                "the HTTP scheme `{name}` sends no credential; without another alternative, calls fail"
            ),
            Placement::Header(name) => {
                let message = format!(
                    "`{name}` is set by the HTTP client and is not a credential; the scheme is left out"
                );
                self.security_problem(node, message);
                return None;
            }
            _ => return Some(placement),
        };
        let help = "declare what the service accepts: basic, bearer, or an apiKey in a header; or send the whole \
            header with each request: `--header Authorization=ENV_VAR`";
        self.report(codes::SECURITY, &node.pointer, reason, help);
        Some(placement)
    }

    fn security_problem(&mut self, node: &Node<'a>, message: String) {
        let help = if self.is_swagger() {
            "declare it as basic, apiKey (with `name` and `in`) or oauth2"
        } else {
            "declare it as apiKey (with `name` and `in`), http, oauth2, openIdConnect or mutualTLS"
        };
        self.report(codes::SECURITY, &node.pointer, message, help);
    }

    /// Returns the alternatives of authentication of the operation, or else of the document. `None` if neither declares
    /// `security`.
    pub(super) fn security(&mut self, operation: &Node<'a>) -> Option<Vec<SecurityRequirement>> {
        let operation_security =
            operation.get("security").filter(|node| self.is_requirements(node, "that of the document"));
        // A malformed requirement must not disable authentication.
        let node = match operation_security {
            Some(operation_security) => operation_security,
            None => self.top().get("security").filter(|node| self.is_requirements(node, "none"))?,
        };
        if let Some(alternatives) = self.security_at.get(&node.pointer) {
            return Some(alternatives.clone());
        }
        let mut alternatives = Vec::new();
        let holder = Node::new(node.value, node.pointer.clone());
        for (index, value) in holder.value.as_array().into_iter().flatten().enumerate() {
            let node = Node::new(value, holder.pointer.item(index));
            alternatives.extend(self.alternative(&node));
        }
        // `security: {}` instead of an array.
        if holder.value.is_object() {
            alternatives.extend(self.alternative(&holder));
        }
        self.security_at.insert(node.pointer, alternatives.clone());
        Some(alternatives)
    }

    /// Whether a node is an array of requirements. Reports any other value.
    fn is_requirements(&mut self, node: &Node<'a>, instead: &str) -> bool {
        let is_valid = match node.value {
            Value::Array(items) => items.iter().all(Value::is_object),
            other => other.is_object(),
        };
        if !is_valid {
            let message = format!("`security` must be an array of objects; {instead} is used instead");
            self.malformed(node, &message);
        }
        is_valid
    }

    /// Returns an alternative, or several if some of its schemes use the same location in a request.
    fn alternative(&mut self, node: &Node<'a>) -> Vec<SecurityRequirement> {
        let Some(schemes) = self.schemes_of(node) else { return Vec::new() };
        let is_duplicate = |index: usize| {
            schemes
                .iter()
                .take(index)
                .any(|other| share_location(&other.placement, &schemes[index].placement))
        };
        let Some(duplicate) = (0..schemes.len()).find(|index| is_duplicate(*index)) else {
            return vec![SecurityRequirement { schemes: schemes.into() }];
        };
        let placement = schemes[duplicate].placement.clone();
        let (rivals, others): (Vec<_>, Vec<_>) =
            schemes.into_iter().partition(|scheme| share_location(&scheme.placement, &placement));
        let names: Vec<String> = rivals.iter().map(|scheme| format!("`{}`", scheme.id)).collect();
        self.report(
            codes::SECURITY,
            &node.pointer,
            format!(
                "{} use the same location in a request, which can contain only one; each is an alternative",
                names.join(" and ")
            ),
            "write each as a separate item under `security`",
        );
        let with_shared = |rival| others.iter().cloned().chain([rival]).collect();
        rivals.into_iter().map(|rival| SecurityRequirement { schemes: with_shared(rival) }).collect()
    }

    fn schemes_of(&mut self, node: &Node<'a>) -> Option<Vec<SecurityScheme>> {
        let object = node.object()?;
        let mut schemes = Vec::new();
        for (id, scopes) in object.iter().filter(|(id, _)| !id.starts_with("x-")) {
            let scopes = scopes.as_array().into_iter().flatten();
            let scopes =
                scopes.filter_map(|scope| scope.as_str()).map(|scope| Text::from(scope.to_owned())).collect();
            let Some(scheme) = self.scheme(id, scopes) else {
                self.report_unusable(id, &node.pointer.child(id));
                return None;
            };
            schemes.push(scheme);
        }
        Some(schemes)
    }

    fn report_unusable(&mut self, id: &str, pointer: &Pointer) {
        let (message, help) = match self.schemes.external.get(id) {
            Some(reference) => (
                format!(
                    "the security scheme `{id}` belongs to another document, `{reference}`, which is not read; this \
                     alternative is left out"
                ),
                "copy the scheme into this document".to_owned(),
            ),
            None => (
                format!("no security scheme `{id}` is usable; this alternative is left out"),
                format!("declare it under `{}`", self.components_key("securitySchemes")),
            ),
        };
        self.report(codes::SECURITY, pointer, message, &help);
    }

    /// Returns a scheme by its name, with the scopes that an operation needs.
    pub(super) fn scheme(&self, id: &str, scopes: List<Text>) -> Option<SecurityScheme> {
        let placement = self.schemes.placements.get(id)?.clone();
        let variable = self.options.credentials.get(id).filter(|name| is_variable(name));
        let env = variable.cloned().unwrap_or_default();
        Some(SecurityScheme { id: id.to_owned().into(), placement, scopes, env: env.into() })
    }
}
