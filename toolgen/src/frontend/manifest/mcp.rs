//! Imports MCP servers: `imports: - mcp: {…}`.

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
        let Some(mcp) = node.get("mcp") else { return };
        if !self.object(&mcp, &keys::MCP) {
            return;
        }
        let options = self.import_options(node);
        let server = self.mcp_server(&mcp);
        let lock = self.required(&mcp, "lock", "an MCP server", "write `lock: shop.lock.json`");
        let (Some(server), Some(lock)) = (server, lock) else { return };
        let Some(text) = self.text_of(&lock) else { return };
        match self.files.resolve_path(text, 0) {
            Ok((path, _)) => {
                self.imported.servers.push(McpSource { server: server.clone(), lock: path });
            }
            Err((message, help)) => return self.report(codes::IMPORT, &lock.pointer, message, help),
        }
        let Some(document) = self.lock_file(text, &lock.pointer) else { return };
        if self.errors > errors {
            return;
        }
        let mut import_problems = Problems::new();
        import_problems.set_source(Arc::clone(&document.source));
        let lock_content = mcp::read(&document, &mut import_problems);
        let program = lock_content
            .filter(|lock_content| self.is_lock_of(lock_content, &server, &lock.pointer))
            .map(|lock_content| {
                let McpServer { revision, capabilities, .. } = lock_content.server;
                let server = McpServer { revision, capabilities, ..server.clone() };
                mcp::lower(&document, server, &lock_content.tools, &options, &mut import_problems)
            });
        let broken = program.is_none() && import_problems.has_errors();
        let is_selection_valid = self.report_option_problems(&mut import_problems, &mcp.pointer);
        self.problems.append(import_problems);
        if broken {
            let message = format!("`{text}` cannot be used as a lock");
            self.report(codes::IMPORT, &lock.pointer, message, "see the problems of the lock");
        }
        if let Some(program) = program.filter(|_| is_selection_valid) {
            self.add_part(node, &server.alias, Some(&server.alias), program, &mcp.pointer);
        }
    }

    /// Reads the file of a lock.
    fn lock_file(&mut self, text: &str, pointer: &Pointer) -> Option<Arc<Document>> {
        if let Ok((_, false)) = self.files.resolve_path(text, 0) {
            let message = format!("there is no lock `{text}` yet");
            let help = "write it with `cargo toolgen mcp lock MANIFEST`, and review it";
            self.report(codes::MCP_IMPORT, pointer, message, help);
            return None;
        }
        self.imported_file(text, pointer)
    }

    /// Reads the connection to a server.
    fn mcp_server(&mut self, node: &Node<'a>) -> Option<McpServer> {
        let errors = self.errors;
        let alias = self.required(node, "alias", "an MCP server", "write `alias: shop`");
        let alias = alias.and_then(|alias| Some((self.text_of(&alias)?, alias.pointer)));
        if let Some((alias, pointer)) = alias.as_ref().filter(|(alias, _)| !is_alias(alias)) {
            let message = format!("`{alias}` is not a valid alias of a server");
            let help = "use `a` to `z`, digits and `-`, at most 32, and start with a letter";
            self.report(codes::NAME, pointer, message, help);
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
        let mut read_timeout = |key: &str| {
            let member = node.get(key)?;
            self.duration(&member).map(Duration::from_millis)
        };
        let (idle_timeout, call_timeout) = (read_timeout("idle"), read_timeout("total"));
        (self.errors == errors).then_some(McpServer {
            alias: Text::copy_of(alias.map(|(alias, _)| alias).unwrap_or_default()),
            transport,
            concurrency: u32::try_from(concurrency).unwrap_or(u32::MAX),
            idle_timeout,
            call_timeout,
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
        let inherit = self.inherited_variables(node);
        let work_dir = self.text(node, "cwd").map(Text::copy_of).unwrap_or_default();
        McpTransport::Stdio { argv, env: env.into(), inherit, work_dir }
    }

    fn mcp_remote(&mut self, node: &Node<'a>) -> McpTransport {
        self.without(node, &["env", "inherit", "cwd"], "a URL");
        let url = self.text(node, "url").unwrap_or_default();
        let authority =
            url.split_once("://").map(|(_, rest)| rest.split(['/', '?', '#']).next().unwrap_or(rest));
        let is_valid = (url.starts_with("https://") || url.starts_with("http://"))
            && authority.is_some_and(|authority| !authority.is_empty() && !authority.contains('@'));
        if let (false, Some(member)) = (is_valid, node.get("url")) {
            let help = "write `https://HOST/PATH`; credentials belong in `bearer` and `headers`";
            self.report(codes::MCP_IMPORT, &member.pointer, "this is not a URL of a server", help);
        }
        let mut headers = Vec::new();
        for (name, variable) in self.object_members(node, "headers", "environment variables") {
            if let Some(text) = self.text_of(&variable) {
                self.check_variable(text, &variable);
                headers.push((Text::copy_of(name), Text::copy_of(text)));
            }
        }
        let bearer = self.text(node, "bearer").unwrap_or_default();
        if let Some(member) = node.get("bearer") {
            self.check_variable(bearer, &member);
        }
        McpTransport::Http { url: Text::copy_of(url), headers: headers.into(), bearer: Text::copy_of(bearer) }
    }

    /// Reports keys that are invalid for this kind of server.
    fn without(&mut self, node: &Node<'a>, keys: &[&str], kind: &str) {
        for member in keys.iter().filter_map(|key| node.get(key)) {
            let message = format!("`{}` is not for {kind}", member.pointer.last().unwrap_or_default());
            self.report(codes::MCP_IMPORT, &member.pointer, message, "leave it out");
        }
    }

    /// Whether a lock was made from this server with this connection. Reports the differences.
    fn is_lock_of(&mut self, lock: &Lock, server: &McpServer, pointer: &Pointer) -> bool {
        let mut differences = Vec::new();
        if lock.server.alias != server.alias {
            differences.push(format!(
                "the alias is `{}` in the lock, and `{}` here",
                lock.server.alias, server.alias
            ));
        }
        let (lock_transport, manifest_transport) =
            (transport(&lock.server.transport), transport(&server.transport));
        let transport_of = |value: &Value, kind: &str| value.get(kind).and_then(Value::as_object).cloned();
        for kind in ["stdio", "http"] {
            match (transport_of(&lock_transport, kind), transport_of(&manifest_transport, kind)) {
                (Some(locked), Some(declared)) => {
                    for key in ["argv", "env", "work_dir", "url", "headers", "bearer"] {
                        if locked.get(key) != declared.get(key) {
                            let display =
                                |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
                            let (locked, declared) = (display(locked.get(key)), display(declared.get(key)));
                            differences.push(format!("`{key}` is {locked} in the lock, and {declared} here"));
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
            self.report(codes::MCP_IMPORT, pointer, message.clone(), help);
        }
        differences.is_empty()
    }
}
