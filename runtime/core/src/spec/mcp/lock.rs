//! The lock of an MCP server: the tools that a person reviewed, and their dependencies.
//!
//! A lock is a JSON file that is reviewed like code. `specs/mcp-lock.schema.json` is its schema.

use serde_json::{Map, Value, json};

use super::{is_alias, names, raw_name};
use crate::base::canonical::digest;
use crate::base::frozen::{List, Text};
use crate::spec::plan::{McpServer, McpTransport};
use crate::spec::strict_reader::{LockProblem, Reader};

/// The key that identifies a lock. Its value is the format version.
pub const LOCK: &str = "toolgen_mcp_lock";

/// The format version.
const VERSION: u64 = 1;

/// The lock of a server.
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    /// The server, and how it was reached. Only the names of environment variables are stored: all variables of a
    /// program are under `inherit`.
    pub server: McpServer,
    /// The package that the program is started from, if its command names one.
    pub package: Option<Package>,
    /// The server's description of itself: its `serverInfo`, or `null`.
    pub info: Value,
    /// The identity of the client, for servers whose list depends on it: `none`, `bearer`, `headers`, or a name that
    /// the user chose.
    pub auth: String,
    /// The descriptors as returned by the server, sorted by name.
    pub tools: Vec<Value>,
}

/// A registry package that a server is started from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// The kind of registry: `npm` or `pypi`.
    pub registry: String,
    /// The name of the package.
    pub name: String,
    /// The version. Empty if the command names none, so that another version may be started later.
    pub version: String,
    /// The hash of the package in the notation of its registry. Empty if it is not known.
    pub integrity: String,
}

const RELOCK_HELP: &str = "lock the server again with `cargo toolgen mcp lock`, and review the changes";

impl Lock {
    /// Returns the lock as the contents of its file, which are the same for equal locks.
    #[must_use]
    pub fn text(&self) -> String {
        let Lock { server, package, info, auth, tools } = self;
        let mut lock = Map::new();
        let mut insert = |key: &str, value: Value| {
            lock.insert(key.to_owned(), value);
        };
        insert(LOCK, VERSION.into());
        insert("alias", server.alias.as_str().into());
        insert("transport", transport(&server.transport));
        if let Some(Package { registry, name, version, integrity }) = package {
            insert(
                "package",
                json!({"registry": registry, "name": name, "version": version, "integrity": integrity}),
            );
        }
        insert("server", info.clone());
        insert("revision", server.revision.as_str().into());
        insert("capabilities", strings_to_json(&server.capabilities));
        insert("auth", auth.as_str().into());
        let mut sorted: Vec<&Value> = tools.iter().collect();
        sorted.sort_by(|left, right| raw_name(left).cmp(raw_name(right)));
        let raw_names: Vec<&str> = sorted.iter().map(|descriptor| raw_name(descriptor)).collect();
        let names = names(&server.alias, &raw_names);
        let tools = sorted.iter().zip(names).map(|(descriptor, name)| {
            let name = name.map(|name| name.to_string()).unwrap_or_default();
            json!({"name": name, "digest": format!("sha256:{}", digest(descriptor)), "descriptor": descriptor})
        });
        insert("tools", tools.collect());
        let mut text = format!("{:#}", Value::Object(lock));
        text.push('\n');
        text
    }

    /// Parses a lock. A lock that was edited by hand is rejected: the name of a tool and its digest must match its
    /// descriptor.
    ///
    /// # Errors
    ///
    /// Returns all errors in the lock.
    pub fn read(root: &Value) -> Result<Lock, Vec<LockProblem>> {
        let mut reader = Reader::new(RELOCK_HELP);
        let lock = reader.read_lock(root);
        match lock {
            Some(lock) if reader.problems.is_empty() => Ok(lock),
            _ => Err(reader.problems),
        }
    }

    /// Returns the server of a lock whose list of tools may have been edited: the server is enough to lock it again.
    #[must_use]
    pub fn read_server(root: &Value) -> Option<McpServer> {
        let mut reader = Reader::new(RELOCK_HELP);
        let lock = reader.read_lock(root)?;
        let has_valid_server = reader.problems.iter().all(|problem| problem.pointer.starts_with("/tools"));
        has_valid_server.then_some(lock.server)
    }
}

fn strings_to_json(texts: &List<Text>) -> Value {
    texts.iter().map(|text| Value::from(text.as_str())).collect()
}

/// Returns a transport as a lock records it: the names of all variables that a program gets, without their values.
#[must_use]
pub fn transport(transport: &McpTransport) -> Value {
    match transport {
        McpTransport::Stdio { argv, env, inherit, work_dir } => {
            let mut names: Vec<&str> = env.iter().map(|(name, _)| name.as_str()).collect();
            names.extend(inherit.iter().map(Text::as_str));
            names.sort_unstable();
            names.dedup();
            let mut program = json!({"argv": strings_to_json(argv), "env": names});
            if !work_dir.is_empty() {
                program["work_dir"] = work_dir.as_str().into();
            }
            json!({"stdio": program})
        }
        McpTransport::Http { url, headers, bearer } => {
            let entry = |(name, variable): &(Text, Text)| (name.to_string(), Value::from(variable.as_str()));
            let headers: Map<String, Value> = headers.iter().map(entry).collect();
            let mut remote = json!({"url": url.as_str(), "headers": headers});
            if !bearer.is_empty() {
                remote["bearer"] = bearer.as_str().into();
            }
            json!({"http": remote})
        }
    }
}

impl Reader {
    fn read_lock(&mut self, root: &Value) -> Option<Lock> {
        let version = root.get(LOCK);
        if version.and_then(Value::as_u64) != Some(VERSION) {
            let actual = version.map_or_else(|| "missing".to_owned(), Value::to_string);
            let message = format!("expected lock version {VERSION}, got {actual}");
            let help = "lock the server again with this version of `cargo toolgen`";
            self.fail_with(format!("/{LOCK}"), message, help);
            return None;
        }
        const KEYS: [&str; 9] =
            [LOCK, "alias", "transport", "package", "server", "revision", "capabilities", "auth", "tools"];
        self.keys(root, "", &KEYS);
        let alias = self.text(root, "", "alias");
        if !is_alias(&alias) {
            let message = format!("`{alias}` is not a valid alias of a server");
            let help = "use `a` to `z`, digits and `-`, at most 32, and start with a letter";
            self.fail_with("/alias", message, help);
        }
        let transport = self.read_transport(root);
        let package = root.get("package").map(|package| self.read_package(package));
        let server = McpServer {
            transport,
            revision: self.text(root, "", "revision").into(),
            capabilities: self.texts(root, "", "capabilities"),
            alias: alias.into(),
            ..McpServer::EMPTY
        };
        let tools = self.read_tools(root, &server.alias);
        let info = root.get("server").cloned().unwrap_or_default();
        Some(Lock { package, info, auth: self.text(root, "", "auth"), server, tools })
    }

    fn read_transport(&mut self, root: &Value) -> McpTransport {
        const POINTER: &str = "/transport";
        let transport = root.get("transport").unwrap_or(&Value::Null);
        self.keys(transport, POINTER, &["stdio", "http"]);
        match (transport.get("stdio"), transport.get("http")) {
            (Some(program), None) => {
                let pointer = "/transport/stdio";
                self.keys(program, pointer, &["argv", "env", "work_dir"]);
                let argv = self.texts(program, pointer, "argv");
                if argv.is_empty() {
                    self.fail(format!("{pointer}/argv"), "the program has no name");
                }
                let work_dir = if program.get("work_dir").is_some() {
                    self.text(program, pointer, "work_dir").into()
                } else {
                    Text::EMPTY
                };
                let inherit = self.texts(program, pointer, "env");
                McpTransport::Stdio { argv, env: List::EMPTY, inherit, work_dir }
            }
            (None, Some(remote)) => {
                let pointer = "/transport/http";
                self.keys(remote, pointer, &["url", "headers", "bearer"]);
                let mut headers = Vec::new();
                match remote.get("headers") {
                    Some(Value::Object(members)) => {
                        for name in members.keys() {
                            let variable = self.text(&remote["headers"], "/transport/http/headers", name);
                            headers.push((Text::copy_of(name), Text::from(variable)));
                        }
                    }
                    _ => self.fail(format!("{pointer}/headers"), "`headers` is not an object"),
                }
                let bearer = if remote.get("bearer").is_some() {
                    self.text(remote, pointer, "bearer").into()
                } else {
                    Text::EMPTY
                };
                McpTransport::Http {
                    url: self.text(remote, pointer, "url").into(),
                    headers: headers.into(),
                    bearer,
                }
            }
            _ => {
                self.fail(POINTER, "`transport` has either `stdio` or `http`");
                McpTransport::EMPTY
            }
        }
    }

    fn read_package(&mut self, package: &Value) -> Package {
        const POINTER: &str = "/package";
        self.keys(package, POINTER, &["registry", "name", "version", "integrity"]);
        Package {
            registry: self.text(package, POINTER, "registry"),
            name: self.text(package, POINTER, "name"),
            version: self.text(package, POINTER, "version"),
            integrity: self.text(package, POINTER, "integrity"),
        }
    }

    fn read_tools(&mut self, root: &Value, alias: &str) -> Vec<Value> {
        let Some(Value::Array(entries)) = root.get("tools") else {
            self.fail("/tools", "`tools` is not an array");
            return Vec::new();
        };
        let tools: Vec<Value> =
            entries.iter().map(|entry| entry.get("descriptor").cloned().unwrap_or_default()).collect();
        let raw_names: Vec<&str> = tools.iter().map(raw_name).collect();
        for ((index, entry), name) in entries.iter().enumerate().zip(names(alias, &raw_names)) {
            let pointer = format!("/tools/{index}");
            self.keys(entry, &pointer, &["name", "digest", "descriptor"]);
            let Some(descriptor) = entry.get("descriptor").filter(|descriptor| descriptor.is_object()) else {
                self.fail(format!("{pointer}/descriptor"), "the descriptor is not an object");
                continue;
            };
            let raw = raw_name(descriptor);
            if self.text(entry, &pointer, "digest") != format!("sha256:{}", digest(descriptor)) {
                let message =
                    format!("the digest of `{raw}` is not that of its descriptor: one of them was edited");
                self.fail(format!("{pointer}/digest"), message);
            }
            let name = name.map(|name| name.to_string()).unwrap_or_default();
            if self.text(entry, &pointer, "name") != name {
                let message = format!(
                    "`{raw}` must have the name `{name}`, which follows from the tools of this server"
                );
                self.fail(format!("{pointer}/name"), message);
            }
        }
        tools
    }
}

#[cfg(test)]
mod tests;
