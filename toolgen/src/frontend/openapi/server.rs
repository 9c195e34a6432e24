//! Reads the servers that operations send requests to.

use serde_json::Value;
use toolgen_core::spec::Network;
use toolgen_core::spec::plan::{Server, ServerVariable};
use toolgen_core::{List, Text};

use super::codes;
use super::context::Context;
use super::node::Node;
use crate::source::Pointer;

impl<'a> Context<'a> {
    /// Returns the servers of an operation, or else of its path, or else of the document, or else `/`.
    pub(super) fn servers(&mut self, operation: &Node<'a>, path_item: &Node<'a>) -> List<Server> {
        if self.is_swagger() {
            return self.swagger_servers(operation);
        }
        for node in [operation, path_item] {
            let servers = self.servers_at(node);
            if !servers.is_empty() {
                return servers.into();
            }
        }
        if let Some(servers) = &self.document_servers {
            return servers.clone();
        }
        let mut servers = self.servers_at(&self.top());
        if servers.is_empty() {
            // According to OpenAPI, the default server is `/`.
            servers.push(Server { url: Text::Static("/"), variables: List::EMPTY });
        }
        let servers: List<Server> = servers.into();
        self.document_servers = Some(servers.clone());
        servers
    }

    pub(super) fn servers_at(&mut self, node: &Node<'a>) -> Vec<Server> {
        let nodes = self.resolved_items(node, "servers");
        let servers: Vec<Server> = nodes
            .iter()
            .filter_map(|server| {
                let server = self.resolve(server)?.node;
                self.server(&server)
            })
            .collect();
        self.without_sockets(servers, node)
    }

    /// Drops WebSocket servers. If all servers are WebSockets, they are kept and reported, and calls fail.
    pub(super) fn without_sockets(&mut self, mut servers: Vec<Server>, holder: &Node<'a>) -> Vec<Server> {
        let is_socket = |server: &Server| {
            let scheme = server.url.split_once("://").map_or("", |(scheme, _)| scheme);
            matches!(scheme.to_ascii_lowercase().as_str(), "ws" | "wss")
        };
        let sockets = servers.iter().filter(|server| is_socket(server)).count();
        if sockets == 0 {
            return servers;
        }
        if sockets < servers.len() {
            servers.retain(|server| !is_socket(server));
            return servers;
        }
        let urls: Vec<&str> = servers.iter().map(|server| server.url.as_str()).collect();
        self.report(
            codes::SERVER,
            &holder.pointer.child("servers"),
            format!(
                "`{}` is only for WebSockets, but tools send HTTP requests; calls fail",
                urls.join("`, `")
            ),
            "exclude the operation, or add a server for requests (also possible with `--base-url`)",
        );
        servers
    }

    fn server(&mut self, node: &Node<'a>) -> Option<Server> {
        // An empty URL adds no prefix to the path, but still overrides the other servers.
        let url = node.text("url").map(str::trim).map(|url| if url.is_empty() { "/" } else { url });
        let Some(url) = url.or(node.value.as_str()) else {
            self.report(
                codes::SERVER,
                &node.pointer,
                "a server needs a `url`; it is left out",
                "add the URL for requests",
            );
            return None;
        };
        let without_user_info = self.remove_credentials(url, &node.pointer);
        let url = without_user_info.as_str();
        let mut variables: Vec<ServerVariable> = Vec::new();
        let declared = node.members("variables");
        for name in placeholders(url) {
            let variable = declared.iter().find(|(declared, _)| *declared == name);
            let Some((_, variable)) = variable else {
                self.report(
                    codes::SERVER,
                    &node.pointer,
                    format!("the server's variable `{name}` is not declared; it must be set before a call"),
                    "declare it under `variables` with a default, or set it (`--server-variable`)",
                );
                continue;
            };
            variables.extend(self.variable(name, variable));
        }
        let with_defaults = variables.iter().fold(url.to_owned(), |url, variable| {
            url.replace(&format!("{{{}}}", variable.name), &variable.default)
        });
        self.note_invalid_url(url, &with_defaults, node);
        Some(Server { url: url.to_owned().into(), variables: variables.into() })
    }

    /// Reads a variable. Returns `None` if it has no default, so that it must be set before a call.
    fn variable(&mut self, name: &str, node: &Node<'a>) -> Option<ServerVariable> {
        let allowed = node.items("enum");
        let mut read_scalar =
            |node: &Node<'a>| self.scalar(node).map(|text| self.remove_credentials(&text, &node.pointer));
        let allowed: Vec<String> = allowed.iter().filter_map(&mut read_scalar).collect();
        let declared_default = node.get("default").and_then(|node| read_scalar(&node));
        let default = declared_default.clone().or_else(|| allowed.first().cloned());
        let reason = match (&declared_default, &default) {
            (None, None) => Some("has no default; it must be set before a call".to_owned()),
            (None, Some(first)) => {
                Some(format!("has no default; the first of its values is used, `{first}`"))
            }
            (Some(declared_default), _) if !allowed.is_empty() && !allowed.contains(declared_default) => {
                Some(format!(
                    "has the default `{declared_default}`, which is not one of its values; it is used"
                ))
            }
            (Some(declared_default), _)
                if declared_default.contains(['?', '#', '\\']) || has_dot_segments(declared_default) =>
            {
                Some(format!(
                    "has the default `{declared_default}`, which changes more of the URL than its own part"
                ))
            }
            _ => None,
        };
        if let Some(reason) = reason {
            let message = format!("the server's variable `{name}` {reason}");
            self.report(
                codes::SERVER,
                &node.pointer,
                message,
                "give it a `default` that is one of its values",
            );
        }
        let allowed = allowed.into_iter().map(Text::from).collect();
        Some(ServerVariable { name: name.to_owned().into(), default: default?.into(), allowed })
    }

    /// Reports a URL that no request can be sent to, even with the defaults of its variables.
    fn note_invalid_url(&mut self, url: &str, with_defaults: &str, node: &Node<'a>) {
        let defect = if has_no_host(with_defaults) {
            format!("`{with_defaults}` has no host")
        } else if let Some(host) = invalid_host(with_defaults) {
            format!("`{host}` is not a host")
        } else if let Some(scheme) = unsupported_scheme(url) {
            format!("requests are sent by http and https, not by `{scheme}`")
        } else if url.contains("//") && has_dot_segments(url) {
            "the path of the server has a segment of dots, which clients resolve".to_owned()
        } else {
            return;
        };
        self.report(
            codes::SERVER,
            &node.pointer,
            format!("{defect}; the server must be set before a call (`--base-url`)"),
            "write the host and the port, or a variable with a default",
        );
    }

    /// Returns a URL without its user name and password: the result is displayed, locked and logged.
    fn remove_credentials(&mut self, url: &str, pointer: &Pointer) -> String {
        let Some(without_user_info) = without_user(url) else { return url.to_owned() };
        self.report_user(pointer);
        without_user_info
    }

    /// Reports a server with a user name or a password, which are not repeated.
    pub(super) fn report_user(&mut self, pointer: &Pointer) {
        self.report(
            codes::SERVER,
            pointer,
            "the server contains a user name or a password; they are removed and not sent",
            "remove them from the document, and declare a security scheme, such as `{type: http, scheme: basic}`",
        );
    }

    /// Returns the source text of a scalar.
    fn scalar(&self, node: &Node<'a>) -> Option<String> {
        let source_text = || self.files.source_text(node.value, &node.pointer).map(str::to_owned);
        match node.value {
            Value::String(text) => Some(text.clone()),
            Value::Number(_) | Value::Bool(_) => {
                Some(source_text().unwrap_or_else(|| node.value.to_string()))
            }
            _ => None,
        }
    }
}

/// Returns a URL without the user information before its host; `None` if there is none.
fn without_user(url: &str) -> Option<String> {
    let (scheme, after_scheme) =
        url.split_once("//").filter(|(scheme, _)| !scheme.contains(['/', '?', '#']))?;
    let host = after_scheme.split(['/', '?', '#']).next()?;
    let (user, _) = host.rsplit_once('@')?;
    Some(format!("{scheme}//{}", &after_scheme[user.len() + 1..]))
}

/// Whether a URL has no host. URL parsers would take it from the path, as in `https:/v1`.
fn has_no_host(url: &str) -> bool {
    let is_http =
        |scheme: &str| ["http", "https"].iter().any(|scheme_name| scheme.eq_ignore_ascii_case(scheme_name));
    let (scheme, after_scheme) =
        url.split_once(':').filter(|(scheme, _)| is_http(scheme)).unwrap_or(("", url));
    match after_scheme.strip_prefix("//") {
        Some(after_scheme) => after_scheme.is_empty() || after_scheme.starts_with(['/', '?', '#', ':']),
        None => !scheme.is_empty(),
    }
}

/// Returns the host and the port of a URL if they are invalid, as in `https://<your-host>:<port>`.
fn invalid_host(url: &str) -> Option<&str> {
    let (_, after_scheme) = url.split_once("://")?;
    let host = after_scheme.split(['/', '?', '#']).next()?.rsplit('@').next()?;
    // A placeholder may have any value.
    let mut in_placeholder = false;
    let mut known_chars = host.chars().filter(|char| {
        in_placeholder = (in_placeholder || *char == '{') && *char != '}';
        !in_placeholder && *char != '}'
    });
    let is_legal = |char: char| char.is_alphanumeric() || "-._~:[]%".contains(char);
    let port = host.rsplit_once(':').map_or("", |(_, port)| if port.ends_with(']') { "" } else { port });
    let is_port = port.contains('{') || port.is_empty() || port.parse::<u16>().is_ok();
    (host.is_empty() || !known_chars.all(is_legal) || !is_port).then_some(host)
}

/// Returns the scheme of a URL if it is not supported. WebSockets are reported elsewhere.
fn unsupported_scheme(url: &str) -> Option<&str> {
    let (scheme, after_scheme) = url.split_once(':')?;
    let is_scheme = scheme.starts_with(|char: char| char.is_ascii_alphabetic())
        && scheme.chars().all(|char| char.is_ascii_alphanumeric() || "+-.".contains(char));
    // `localhost:8080` has a port.
    let is_host = !after_scheme.starts_with("//")
        && after_scheme.starts_with(|char: char| char.is_ascii_digit() || char == '{');
    let is_known = ["http", "https", "ws", "wss"].iter().any(|name| scheme.eq_ignore_ascii_case(name));
    (is_scheme && !is_host && !is_known).then_some(scheme)
}

/// Whether a path has a segment that is `.` or `..`, which clients resolve before they send a request.
pub(super) fn has_dot_segments(path: &str) -> bool {
    let path = path.to_ascii_lowercase().replace("%2e", ".");
    path.split('/').any(|segment| segment == "." || segment.split(';').next() == Some(".."))
}

/// Returns the names in braces of a template.
pub(super) fn placeholders(template: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut remaining = template;
    while let Some((_, after)) = remaining.split_once('{') {
        let Some((name, after_name)) = after.split_once('}') else { break };
        if !names.contains(&name) {
            names.push(name);
        }
        remaining = after_name;
    }
    names
}

/// Returns the hosts of servers; any host if a server is relative or its host is set by the caller.
pub(super) fn network(servers: &[Server]) -> Network {
    let mut hosts: Vec<String> = Vec::new();
    for server in servers {
        match hosts_of(server) {
            Some(server_hosts) => hosts.extend(server_hosts),
            None => return Network::Any,
        }
    }
    hosts.sort();
    hosts.dedup();
    Network::Hosts(hosts.into_iter().map(Text::from).collect())
}

/// Maximum number of hosts that one server may expand to.
const MAX_HOSTS: usize = 32;

fn hosts_of(server: &Server) -> Option<Vec<String>> {
    let (_, rest) = server.url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let mut hosts = vec![host.to_ascii_lowercase()];
    for variable in &server.variables {
        let placeholder = format!("{{{}}}", variable.name.to_ascii_lowercase());
        if !host.to_ascii_lowercase().contains(&placeholder) {
            continue;
        }
        if variable.allowed.is_empty() {
            return None;
        }
        let expand = |host: &String| -> Vec<String> {
            variable.allowed.iter().map(|value| host.replace(&placeholder, value)).collect()
        };
        hosts = hosts.iter().flat_map(expand).take(MAX_HOSTS + 1).collect();
        if hosts.len() > MAX_HOSTS {
            return None;
        }
    }
    hosts.iter().all(|host| !host.is_empty() && !host.contains('{')).then_some(hosts)
}
