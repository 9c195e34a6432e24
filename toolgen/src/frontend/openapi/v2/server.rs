//! Reads `host`, `basePath` and `schemes`, which together are servers.

use toolgen_core::List;
use toolgen_core::spec::plan::Server;

use super::super::codes;
use super::super::context::Context;
use super::super::node::Node;

impl<'a> Context<'a> {
    /// Returns a server for each scheme of an operation, or else of the document; `https` is the first.
    pub(in super::super) fn hosts(&mut self, operation: &Node<'a>) -> List<Server> {
        let own = operation.items("schemes");
        if !own.is_empty() {
            return self.read_hosts(&own);
        }
        if let Some(servers) = &self.document_servers {
            return servers.clone();
        }
        let servers = self.read_hosts(&self.top().items("schemes"));
        self.document_servers = Some(servers.clone());
        servers
    }

    fn read_hosts(&mut self, schemes: &[Node<'a>]) -> List<Server> {
        let top = self.top();
        let base = top.text("basePath").map(str::trim).unwrap_or_default().trim_end_matches('/');
        let base =
            if base.is_empty() || base.starts_with('/') { base.to_owned() } else { format!("/{base}") };
        let server = |url: String| Server { url: url.into(), variables: List::EMPTY };
        let given = top.text("host").map(str::trim).filter(|host| !host.is_empty());
        let Some((own_scheme, host)) = given.and_then(|host| self.host(&top, host)) else {
            if top.get("servers").is_some() {
                self.note_newer(&top, "servers");
                let servers = self.servers_at(&top);
                if !servers.is_empty() {
                    return servers.into();
                }
            }
            // The document's own host.
            return vec![server(if base.is_empty() { "/".to_owned() } else { base })].into();
        };
        let mut named: Vec<String> =
            schemes.iter().filter_map(|node| node.value.as_str()).map(str::to_ascii_lowercase).collect();
        named.extend(own_scheme.map(str::to_owned));
        let sockets = !named.is_empty() && named.iter().all(|scheme| matches!(scheme.as_str(), "ws" | "wss"));
        if sockets {
            let urls = named.iter().map(|scheme| server(format!("{scheme}://{host}{base}"))).collect();
            return self.without_sockets(urls, &top).into();
        }
        named.retain(|scheme| matches!(scheme.as_str(), "https" | "http"));
        named.sort_by_key(|scheme| scheme != "https");
        named.dedup();
        if named.is_empty() {
            self.report(
                codes::SERVER,
                &top.pointer.child("host"),
                "the document does not declare whether its host uses https or http; https is assumed",
                "add `schemes: [https]`",
            );
            named.push("https".to_owned());
        }
        named.into_iter().map(|scheme| server(format!("{scheme}://{host}{base}"))).collect()
    }

    /// Returns the scheme that wrongly precedes a host, and the host, if it is a valid one.
    fn host(&mut self, top: &Node<'a>, text: &'a str) -> Option<(Option<&'a str>, &'a str)> {
        let (scheme, mut host) = match text.split_once("://") {
            Some((scheme, host)) => (Some(scheme), host),
            None => (None, text),
        };
        let mut text = text;
        if let Some((_, anonymous)) = host.rsplit_once('@') {
            self.report_user(&top.pointer.child("host"));
            (host, text) = (anonymous, anonymous);
        }
        let host = host.trim_end_matches('/');
        let legal = |char: char| char.is_ascii_alphanumeric() || "-._~:[]%/".contains(char);
        if !host.is_empty() && host.chars().all(legal) {
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
