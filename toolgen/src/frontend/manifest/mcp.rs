//! MCP servers that a manifest imports: `imports: - mcp: {…}`.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolgen_core::spec::mcp::{Lock, is_alias, transport};
use toolgen_core::spec::plan::{McpServer, McpTransport};
use toolgen_core::{List, Text};

use super::codes;
use super::context::Context;
use super::keys;
use super::node::Node;
use crate::frontend::mcp;
use crate::problem::Problems;
use crate::source::{Document, Pointer};
use crate::tool::McpSource;

impl<'a> Context<'a> {
    /// Compiles the tools of a server from its lock.
    pub(super) fn import_mcp(&mut self, node: &Node<'a>) {
        let errors = self.errors;
        self.object(node, &keys::IMPORT_MCP);
        let Some(given) = node.get("mcp") else { return };
        if !self.object(&given, &keys::MCP) {
            return;
        }
        let options = self.import_options(node);
        let server = self.mcp_server(&given);
        let lock = self.required(&given, "lock", "an MCP server", "write `lock: shop.lock.json`");
        let (Some(server), Some(lock)) = (server, lock) else { return };
        let Some(text) = self.text_of(&lock) else { return };
        match self.files.place(text, 0) {
            Ok((path, _)) => {
                self.imported.servers.push(McpSource { server: server.clone(), lock: path });
            }
            Err((message, help)) => return self.report(codes::IMPORT, &lock.pointer, message, help),
        }
        let Some(document) = self.lock_file(text, &lock.pointer) else { return };
        if self.errors > errors {
            return;
        }
        let mut found = Problems::new();
        found.set_source(Arc::clone(&document.source));
        let locked = mcp::read(&document, &mut found);
        let program = locked.filter(|locked| self.is_lock_of(locked, &server, &lock.pointer)).map(|locked| {
            let McpServer { revision, capabilities, .. } = locked.server;
            let server = McpServer { revision, capabilities, ..server.clone() };
            mcp::lower(&document, server, &locked.tools, &options, &mut found)
        });
        let broken = program.is_none() && found.has_errors();
        let selects = self.tell_choices(&mut found, &given.pointer);
        self.problems.append(found);
        if broken {
            let message = format!("`{text}` cannot be used as a lock");
            self.report(codes::IMPORT, &lock.pointer, message, "see the problems of the lock");
        }
        if let Some(program) = program.filter(|_| selects) {
            self.add_part(node, &server.alias, Some(&server.alias), program, &given.pointer);
        }
    }

    /// Reads the file of a lock.
    fn lock_file(&mut self, text: &str, at: &Pointer) -> Option<Arc<Document>> {
        if let Ok((_, false)) = self.files.place(text, 0) {
            let message = format!("there is no lock `{text}` yet");
            let help = "write it with `cargo toolgen mcp lock MANIFEST`, and review it";
            self.report(codes::MCP_IMPORT, at, message, help);
            return None;
        }
        self.imported_file(text, at)
    }

    /// Reads the connection to a server.
    fn mcp_server(&mut self, node: &Node<'a>) -> Option<McpServer> {
        let errors = self.errors;
        let alias = self.required(node, "alias", "an MCP server", "write `alias: shop`");
        let alias = alias.and_then(|alias| Some((self.text_of(&alias)?, alias.pointer)));
        if let Some((alias, at)) = alias.as_ref().filter(|(alias, _)| !is_alias(alias)) {
            let message = format!("`{alias}` is not a valid alias of a server");
            let help = "use `a` to `z`, digits and `-`, at most 32, and start with a letter";
            self.report(codes::NAME, at, message, help);
        }
        let transport = match (node.get("server"), node.get("url")) {
            (Some(_), None) => self.mcp_program(node),
            (None, Some(_)) => self.mcp_remote(node),
            _ => {
                let message = "an MCP server needs either `server`, a program, or `url`";
                let help = "write `server: [shop-server]` or `url: https://shop.example.com/mcp`";
                self.report(codes::MCP_IMPORT, &node.pointer, message, help);
                return None;
            }
        };
        let concurrency = self.count(node, "concurrency").unwrap_or_default();
        let mut limit = |key: &str| {
            let limit = node.get(key)?;
            self.duration(&limit).map(Duration::from_millis)
        };
        let (idle, total) = (limit("idle"), limit("total"));
        (self.errors == errors).then_some(McpServer {
            alias: Text::copy_of(alias.map(|(alias, _)| alias).unwrap_or_default()),
            transport,
            concurrency: u32::try_from(concurrency).unwrap_or(u32::MAX),
            idle_timeout: idle,
            call_timeout: total,
            ..McpServer::EMPTY
        })
    }

    fn mcp_program(&mut self, node: &Node<'a>) -> McpTransport {
        self.without(node, &["headers", "bearer"], "a program");
        let argv: List<Text> = self
            .list(node, "server")
            .unwrap_or_default()
            .iter()
            .filter_map(|item| self.text_of(item).map(Text::copy_of))
            .collect();
        if let (true, Some(server)) = (argv.is_empty(), node.get("server")) {
            let help = "write `server: [shop-server, --stdio]`";
            self.report(codes::MCP_IMPORT, &server.pointer, "the command of a server needs a program", help);
        }
        let mut env = Vec::new();
        for (name, value) in self.object_members(node, "env", "strings") {
            self.check_variable(name, &value);
            if let Some(value) = self.text_of(&value) {
                env.push((Text::copy_of(name), Text::copy_of(value)));
            }
        }
        let inherit = self.inherited(node);
        let work_dir = self.text(node, "cwd").map(Text::copy_of).unwrap_or_default();
        McpTransport::Stdio { argv, env: env.into(), inherit, work_dir }
    }

    fn mcp_remote(&mut self, node: &Node<'a>) -> McpTransport {
        self.without(node, &["env", "inherit", "cwd"], "a URL");
        let url = self.text(node, "url").unwrap_or_default();
        let authority =
            url.split_once("://").map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or(rest));
        let fine = (url.starts_with("https://") || url.starts_with("http://"))
            && authority.is_some_and(|authority| !authority.is_empty() && !authority.contains('@'));
        if let (false, Some(at)) = (fine, node.get("url")) {
            let help = "write `https://HOST/PATH`; credentials belong in `bearer` and `headers`";
            self.report(codes::MCP_IMPORT, &at.pointer, "this is not a URL of a server", help);
        }
        let mut headers = Vec::new();
        for (name, variable) in self.object_members(node, "headers", "environment variables") {
            if let Some(text) = self.text_of(&variable) {
                self.check_variable(text, &variable);
                headers.push((Text::copy_of(name), Text::copy_of(text)));
            }
        }
        let bearer = self.text(node, "bearer").unwrap_or_default();
        if let Some(at) = node.get("bearer") {
            self.check_variable(bearer, &at);
        }
        McpTransport::Http { url: Text::copy_of(url), headers: headers.into(), bearer: Text::copy_of(bearer) }
    }

    /// Reports keys that a server of this kind does not have.
    fn without(&mut self, node: &Node<'a>, keys: &[&str], kind: &str) {
        for given in keys.iter().filter_map(|key| node.get(key)) {
            let message = format!("`{}` is not for {kind}", given.pointer.last().unwrap_or_default());
            self.report(codes::MCP_IMPORT, &given.pointer, message, "leave it out");
        }
    }

    /// Whether a lock was made from this server with this connection. Differences are reported.
    fn is_lock_of(&mut self, lock: &Lock, server: &McpServer, at: &Pointer) -> bool {
        let mut differences = Vec::new();
        if lock.server.alias != server.alias {
            differences.push(format!(
                "the alias is `{}` in the lock, and `{}` here",
                lock.server.alias, server.alias
            ));
        }
        let (locked, given) = (transport(&lock.server.transport), transport(&server.transport));
        let of = |value: &Value, kind: &str| value.get(kind).and_then(Value::as_object).cloned();
        for kind in ["stdio", "http"] {
            match (of(&locked, kind), of(&given, kind)) {
                (Some(locked), Some(given)) => {
                    for key in ["argv", "env", "work_dir", "url", "headers", "bearer"] {
                        if locked.get(key) != given.get(key) {
                            let displayed =
                                |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
                            let (locked, given) = (displayed(locked.get(key)), displayed(given.get(key)));
                            differences.push(format!("`{key}` is {locked} in the lock, and {given} here"));
                        }
                    }
                }
                (Some(_), None) => {
                    differences.push(format!("the lock belongs to a server that is connected by {kind}"));
                }
                _ => {}
            }
        }
        for message in &differences {
            let help = "lock the server again with `cargo toolgen mcp lock MANIFEST`, and review the changes";
            self.report(codes::MCP_IMPORT, at, message.clone(), help);
        }
        differences.is_empty()
    }
}
