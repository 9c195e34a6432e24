//! Reads servers from `host`, `basePath` and `schemes`.

use toolgen_core::List;
use toolgen_core::spec::plan::Server;

use super::super::codes;
use super::super::context::Context;
use super::super::node::Node;

impl<'a> Context<'a> {
    /// Returns a server for each scheme of an operation, or else of the document; `https` is the first.
    pub(in super::super) fn swagger_servers(&mut self, operation: &Node<'a>) -> List<Server> {
        let operation_schemes = operation.items("schemes");
        if !operation_schemes.is_empty() {
            return self.servers_for_schemes(&operation_schemes);
        }
        if let Some(servers) = &self.document_servers {
            return servers.clone();
        }
        let servers = self.servers_for_schemes(&self.top().items("schemes"));
        self.document_servers = Some(servers.clone());
        servers
    }

    fn servers_for_schemes(&mut self, schemes: &[Node<'a>]) -> List<Server> {
        let top = self.top();
        let base = top.text("basePath").map(str::trim).unwrap_or_default().trim_end_matches('/');
        let base =
            if base.is_empty() || base.starts_with('/') { base.to_owned() } else { format!("/{base}") };
        let server = |url: String| Server { url: url.into(), variables: List::EMPTY };
        let declared_host = top.text("host").map(str::trim).filter(|host| !host.is_empty());
        let Some((host_scheme, host)) = declared_host.and_then(|host| self.parse_host(&top, host)) else {
            if top.get("servers").is_some() {
                self.note_newer_keyword(&top, "servers");
                let servers = self.servers_at(&top);
                if !servers.is_empty() {
                    return servers.into();
                }
            }
            // The host that serves the document.
            return vec![server(if base.is_empty() { "/".to_owned() } else { base })].into();
        };
        let mut scheme_names: Vec<String> =
            schemes.iter().filter_map(|node| node.value.as_str()).map(str::to_ascii_lowercase).collect();
        scheme_names.extend(host_scheme.map(str::to_owned));
        let only_sockets = !scheme_names.is_empty()
            && scheme_names.iter().all(|scheme| matches!(scheme.as_str(), "ws" | "wss"));
        if only_sockets {
            let urls = scheme_names.iter().map(|scheme| server(format!("{scheme}://{host}{base}"))).collect();
            return self.without_sockets(urls, &top).into();
        }
        scheme_names.retain(|scheme| matches!(scheme.as_str(), "https" | "http"));
        scheme_names.sort_by_key(|scheme| scheme != "https");
        scheme_names.dedup();
        if scheme_names.is_empty() {
            self.report(
                codes::SERVER,
                &top.pointer.child("host"),
                "the document does not declare whether its host uses https or http; https is assumed",
                "add `schemes: [https]`",
            );
            scheme_names.push("https".to_owned());
        }
        scheme_names.into_iter().map(|scheme| server(format!("{scheme}://{host}{base}"))).collect()
    }

    /// Returns a valid host, and the scheme that incorrectly precedes it, if any.
    fn parse_host(&mut self, top: &Node<'a>, text: &'a str) -> Option<(Option<&'a str>, &'a str)> {
        let (scheme, mut host) = match text.split_once("://") {
            Some((scheme, host)) => (Some(scheme), host),
            None => (None, text),
        };
        let mut text = text;
        if let Some((_, without_user)) = host.rsplit_once('@') {
            self.report_user(&top.pointer.child("host"));
            (host, text) = (without_user, without_user);
        }
        let host = host.trim_end_matches('/');
        let is_legal = |char: char| char.is_ascii_alphanumeric() || "-._~:[]%/".contains(char);
        if !host.is_empty() && host.chars().all(is_legal) {
            return Some((scheme, host));
        }
        self.report(
            codes::SERVER,
            &top.pointer.child("host"),
            format!("`{text}` is not a host; the server must be set before a call"),
            "write a host and optionally a port, such as `api.example.com`",
        );
        None
    }
}
