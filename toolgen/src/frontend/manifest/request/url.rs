//! Compiles the URL of a request: its server, its path and its query.

use std::borrow::Cow;

use toolgen_core::spec::plan::Location;
use toolgen_core::spec::template::{Segment, Template};

use super::super::codes;
use super::super::context::Context;
use super::super::node::Node;
use super::super::placeholder::TemplateSegment;
use super::super::template::{PlaceholderTarget, Scope, optional};
use super::duplicate_names::NameKind;
use super::{Request, constant_text};
use crate::source::{Pointer, percent_decode};

impl<'a> Context<'a> {
    /// Returns the server and the path of a URL, and adds the pairs of its query to the request.
    pub(super) fn url(
        &mut self,
        node: &Node<'a>,
        request: &mut Request,
        scope: &mut Scope,
    ) -> Option<(String, String)> {
        const HELP: &str = "write `https://HOST/PATH`, with placeholders only in the path and the query";
        let text = self.text_of(node)?.trim();
        let pointer = &node.pointer;
        let refuse = |cx: &mut Self, reason: &str| {
            cx.report(codes::URL, pointer, format!("`{text}` {reason}"), HELP);
            None
        };
        let Some((scheme, after_scheme)) = text.split_once("://") else {
            return refuse(self, "is not a URL with a scheme and a host");
        };
        let end = find_outside(after_scheme, &['/', '?', '#']).unwrap_or(after_scheme.len());
        let (host, target) = after_scheme.split_at(end);
        if scheme.contains('{') || host.contains('{') {
            let message =
                "the host of a URL must be a constant: no argument can choose the target of a request";
            self.report(codes::URL_HOST, pointer, message, "write a tool for each host");
            return None;
        }
        if !matches!(scheme, "http" | "https") {
            return refuse(self, "is neither an http nor an https URL");
        }
        if host.contains('@') {
            // The URL is not repeated: the credential would appear in a build log.
            let help = "remove it from the URL, and use `auth`";
            self.report(codes::URL, pointer, "the URL contains a credential", help);
            return None;
        }
        if !is_host(host) {
            return refuse(self, "has no valid host");
        }
        if target.contains(char::is_whitespace) {
            return refuse(self, "contains a space, which is written `%20`");
        }
        if find_outside(target, &['#']).is_some() {
            return refuse(self, "contains a fragment (`#…`), which is never sent");
        }
        let (path, query) = target.split_at(find_outside(target, &['?']).unwrap_or(target.len()));
        let query = query.strip_prefix('?').unwrap_or_default();
        let path = self.path(path, pointer, request, scope);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            self.pair(pair, pointer, request, scope);
        }
        Some((format!("{scheme}://{}", host.to_ascii_lowercase()), path?))
    }

    /// Compiles a path, whose placeholders are parameters.
    fn path(
        &mut self,
        path: &str,
        pointer: &Pointer,
        request: &mut Request,
        scope: &mut Scope,
    ) -> Option<String> {
        let mut result = String::new();
        let pieces = self.pieces(path, pointer)?;
        self.note_dollars(&pieces, pointer, scope);
        for piece in pieces {
            let placeholder = match piece {
                // An escaped brace.
                TemplateSegment::Literal(text) => {
                    result.push_str(&text.replace('{', "%7B").replace('}', "%7D"));
                    continue;
                }
                TemplateSegment::Placeholder(placeholder) => placeholder,
            };
            let name = placeholder.path_text();
            if placeholder.optional {
                let message = format!("`{{{name}?}}` is part of the path, where nothing can be omitted");
                let help = "make the argument required, or write a tool for each path";
                self.report(codes::URL, pointer, message, help);
                return None;
            }
            let resolved = self.resolve_placeholder(&optional(&placeholder), pointer, scope)?;
            if resolved.1.is_some_and(|value_type| value_type.may_be_absent) {
                let message = format!("`{name}` is optional, but in a path nothing can be omitted");
                let help = "make the argument required, give it a default, or write a tool for each path";
                self.report(codes::OPTIONAL_PLACEHOLDER, pointer, message, help);
                return None;
            }
            let text = format!("{{{name}{}}}", if placeholder.each { "*" } else { "" });
            let template = self.text_template(&text, pointer, PlaceholderTarget::Url, scope)?;
            let is_declared = request
                .parameters
                .iter()
                .any(|parameter| parameter.location == Location::Path && *parameter.name == *name);
            if !is_declared {
                request.parameter(&name, Location::Path, template);
            }
            result.push_str(&format!("{{{name}}}"));
        }
        if !result.starts_with('/') {
            result.insert(0, '/');
        }
        Some(result)
    }

    /// Compiles one pair of the URL's query: `q={text}`.
    fn pair(&mut self, pair: &str, pointer: &Pointer, request: &mut Request, scope: &mut Scope) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if name.contains(['{', '}']) {
            let message = format!("`{name}` is the name of a query parameter, which must be a constant");
            self.report(codes::URL, pointer, message, "write `NAME={argument}`");
            return;
        }
        let Some(template) = self.text_template(value, pointer, PlaceholderTarget::Url, scope) else {
            return;
        };
        let name = unescape(name);
        self.record_name(NameKind::Query, &name, pointer, request);
        match (constant_text(&template), template) {
            (Some(text), _) => request.query.push((name.into(), unescape(&text).into())),
            (None, Template::Text(segments)) => {
                let unescape_segment = |segment: &Segment| match segment {
                    Segment::Literal(text) => Segment::Literal(unescape(text).into()),
                    value => value.clone(),
                };
                let segments = segments.iter().map(unescape_segment).collect();
                request.parameter(&name, Location::Query, Template::Text(segments));
            }
            (None, template) => request.parameter(&name, Location::Query, template),
        }
    }
}

/// Unescapes a part of a query: the engine escapes it again.
fn unescape(text: &str) -> String {
    let text = text.replace('+', " ");
    percent_decode(&text).map(Cow::into_owned).unwrap_or(text)
}

/// Returns the index of the first of these characters outside placeholders.
fn find_outside(text: &str, chars: &[char]) -> Option<usize> {
    let mut in_placeholder = false;
    text.char_indices().find_map(|(index, char)| {
        in_placeholder = (in_placeholder || char == '{') && char != '}';
        (!in_placeholder && chars.contains(&char)).then_some(index)
    })
}

/// Whether a string is a host with an optional port.
fn is_host(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, port)) if host.parse::<std::net::Ipv6Addr>().is_ok() => ("v6", port.strip_prefix(':')),
        Some(_) => return false,
        None => text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
    };
    let is_label = |label: &str| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    host.split('.').all(is_label) && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_distinguished_from_other_strings() {
        for host in ["localhost", "api.example.com", "127.0.0.1:8080", "[::1]:80", "[::1]", "a_b"] {
            assert!(is_host(host), "{host}");
        }
        for other in ["", "a..b", "a b", "a:0", "a:x", "[::1", "[x]", "a:99999", "exämple.com"] {
            assert!(!is_host(other), "{other}");
        }
    }
}
