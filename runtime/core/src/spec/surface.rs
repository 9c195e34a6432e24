//! The surface of a program: everything about its tools that callers, models and policies rely on, as data.
//!
//! It is stored in the contract lock, a JSON file that is reviewed like code: one item per line, in a stable order,
//! the same for equal tools. `specs/lock.schema.json` is its schema, `cargo toolgen lock` writes it, and
//! [`Surface::drift`] classifies changes. A program whose tools are Rust functions exports its surface with
//! `toolgen_runtime::export!`, and tests it with `toolgen_runtime::assert_contract!`.

mod call;
mod compare;
mod named;
mod tool;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use self::named::{NamedSchemas, SchemaCache, reachable_schemas, shared_schemas};
use crate::schema::shape::pointer::child;
use crate::spec::drift::Change;
use crate::spec::strict_reader::Reader;
use crate::spec::toolset::Toolset;
use crate::spec::{ToolSpec, mcp};

pub use self::call::recorded;
pub use crate::spec::strict_reader::LockProblem;

/// The key that identifies a surface. Its value is the format version.
pub const SURFACE: &str = "toolgen_lock";

/// The format version.
const VERSION: u64 = 1;

const RELOCK_HELP: &str = "write the lock again with `cargo toolgen lock`, and review the changes";

/// The tools of a program as data, with the toolsets that contain them.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    tools: BTreeMap<String, Entry>,
    toolsets: BTreeMap<String, Vec<String>>,
    /// The documents that the tools were compiled from, as paths relative to the directory of the file. Empty if there
    /// are none.
    pub documents: Vec<String>,
    /// The options of `cargo toolgen` that select and name the tools, each after a space.
    pub options: String,
}

/// A tool of a surface.
#[derive(Clone, Debug)]
struct Entry {
    /// The tool without its named schemas.
    tool: Value,
    /// The schemas that it refers to, directly or indirectly.
    named_schemas: NamedSchemas,
}

/// The error if two tools have the same name.
#[derive(Clone, PartialEq, Eq)]
pub struct DuplicateName(pub String);

impl std::fmt::Display for DuplicateName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "two tools have the name `{}`; rename one", self.0)
    }
}

__readable_debug!(DuplicateName);

impl std::error::Error for DuplicateName {}

impl Surface {
    /// Returns the surface of these tools. Each comes with its execution, as [`recorded`] or [`call`](Self::call)
    /// returns it, if it is known.
    ///
    /// # Errors
    ///
    /// Returns an error if two tools have the same name.
    pub fn of<'a>(
        tools: impl IntoIterator<Item = (&'a ToolSpec, Option<Value>)>,
    ) -> Result<Surface, DuplicateName> {
        let mut surface = Surface::default();
        let mut cache = SchemaCache::default();
        for (spec, call) in tools {
            let name = spec.name.to_string();
            let mut tool = tool::spec_to_json(spec);
            tool.extend(call.map(|call| ("call".to_owned(), call)));
            let tool = Value::Object(tool);
            let named_schemas = reachable_schemas(&tool, &cache.of(&spec.defs));
            if surface.tools.insert(name.clone(), Entry { tool, named_schemas }).is_some() {
                return Err(DuplicateName(name));
            }
        }
        Ok(surface)
    }

    /// Sets the toolsets that contain the tools.
    #[must_use]
    pub fn with_toolsets<'a>(mut self, toolsets: impl IntoIterator<Item = &'a Toolset>) -> Surface {
        let members = |set: &Toolset| {
            let mut members: Vec<String> = set.members.iter().map(ToString::to_string).collect();
            members.sort();
            members
        };
        self.toolsets = toolsets.into_iter().map(|set| (set.name.to_string(), members(set))).collect();
        self
    }

    /// Returns the names of the tools, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Returns how a tool is executed, if this is recorded: an object with one member, named by the kind of call.
    #[must_use]
    pub fn call(&self, tool: &str) -> Option<&Value> {
        self.tools.get(tool)?.tool.get("call")
    }

    /// Returns the toolsets: their names, and the names of their members.
    pub fn toolsets(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.toolsets.iter().map(|(name, members)| (name.as_str(), members.as_slice()))
    }

    /// Returns the specifications of the tools, sorted by name.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        let shared_schemas = shared_schemas(self.tools.values().map(|entry| &entry.named_schemas));
        let all_defs = named::defs(&shared_schemas);
        let mut reader = Reader::new(RELOCK_HELP);
        let spec = |(name, entry): (&String, &Entry)| {
            let unshared = named::unshared_schemas(&entry.named_schemas, &shared_schemas);
            let defs = if unshared.is_empty() { all_defs.clone() } else { named::defs(&entry.named_schemas) };
            ToolSpec { defs, ..reader.read_tool(name, &entry.tool, "") }
        };
        self.tools.iter().map(spec).collect()
    }

    /// Returns the surface as the contents of its file, which are the same for equal surfaces.
    #[must_use]
    pub fn text(&self) -> String {
        let shared_schemas = shared_schemas(self.tools.values().map(|entry| &entry.named_schemas));
        let mut root = Map::new();
        root.insert(SURFACE.into(), VERSION.into());
        if !self.documents.is_empty() {
            root.insert("documents".into(), json!(self.documents));
        }
        if !self.options.is_empty() {
            root.insert("options".into(), self.options.as_str().into());
        }
        let tool = |(name, entry): (&String, &Entry)| {
            let mut tool = entry.tool.clone();
            let unshared = named::unshared_schemas(&entry.named_schemas, &shared_schemas);
            if !unshared.is_empty() {
                tool["$defs"] = named::schemas_to_json(&unshared);
            }
            (name.clone(), tool)
        };
        root.insert("tools".into(), self.tools.iter().map(tool).collect());
        if !self.toolsets.is_empty() {
            root.insert("toolsets".into(), json!(self.toolsets));
        }
        if !shared_schemas.is_empty() {
            root.insert("$defs".into(), named::schemas_to_json(&shared_schemas));
        }
        let mut text = format!("{:#}", Value::Object(root));
        text.push('\n');
        text
    }

    /// Parses a surface from the contents of its file.
    ///
    /// # Errors
    ///
    /// Returns all errors in the file.
    pub fn parse(text: &str) -> Result<Surface, Vec<LockProblem>> {
        match serde_json::from_str(text) {
            Ok(root) => Surface::read(&root),
            Err(error) => {
                let message = format!("the lock is not JSON: {error}");
                Err(vec![LockProblem { pointer: String::new(), message, help: RELOCK_HELP }])
            }
        }
    }

    /// Parses a surface.
    ///
    /// # Errors
    ///
    /// Returns all errors in the value.
    pub fn read(root: &Value) -> Result<Surface, Vec<LockProblem>> {
        let mut reader = Reader::new(RELOCK_HELP);
        let surface = reader.read_surface(root);
        if reader.problems.is_empty() { Ok(surface) } else { Err(reader.problems) }
    }

    /// Returns the changes from this surface to a newer one, tool by tool. A different order or notation is not a
    /// change; every other difference is at least one change.
    #[must_use]
    pub fn drift(&self, new: &Surface) -> Vec<Change> {
        compare::drift(self, new)
    }
}

impl Reader {
    fn read_surface(&mut self, root: &Value) -> Surface {
        let version = root.get(SURFACE);
        if version.and_then(Value::as_u64) != Some(VERSION) {
            let actual = version.map_or_else(|| "missing".to_owned(), Value::to_string);
            let message = format!("expected lock version {VERSION}, got {actual}");
            let help = "write the lock again with this version of `cargo toolgen`";
            self.fail_with(child("", SURFACE), message, help);
            return Surface::default();
        }
        self.keys(root, "", &[SURFACE, "documents", "options", "tools", "toolsets", "$defs"]);
        let defs = self.read_named(root, "");
        let mut surface = Surface::default();
        match root.get("tools") {
            Some(Value::Object(tools)) => {
                for (name, tool) in tools {
                    let entry = self.read_entry(name, tool, &defs);
                    surface.tools.insert(name.clone(), entry);
                }
            }
            _ => self.fail("/tools", "`tools` is not an object"),
        }
        if root.get("documents").is_some() {
            surface.documents = self.texts(root, "", "documents").iter().map(ToString::to_string).collect();
        }
        if root.get("options").is_some() {
            surface.options = self.text(root, "", "options");
        }
        match root.get("toolsets") {
            None => {}
            Some(sets @ Value::Object(members)) => {
                for name in members.keys() {
                    let members = self.texts(sets, "/toolsets", name);
                    let members = members.iter().map(ToString::to_string).collect();
                    surface.toolsets.insert(name.clone(), members);
                }
            }
            Some(_) => self.fail("/toolsets", "`toolsets` is not an object"),
        }
        surface
    }

    fn read_entry(&mut self, name: &str, tool: &Value, shared_schemas: &NamedSchemas) -> Entry {
        let pointer = child("/tools", name);
        self.read_tool(name, tool, &pointer);
        if let Some(call) = tool.get("call") {
            let member = call.as_object().filter(|call| call.len() == 1).and_then(|call| call.iter().next());
            if !member.is_some_and(|(kind, value)| call::KINDS.contains(&kind.as_str()) && value.is_object())
            {
                let kinds = call::KINDS.join(", ");
                self.fail(format!("{pointer}/call"), format!("`call` is not an object with one of {kinds}"));
            }
        }
        let mut schemas = shared_schemas.clone();
        schemas.extend(self.read_named(tool, &pointer));
        let mut tool = tool.clone();
        if let Value::Object(members) = &mut tool {
            members.shift_remove("$defs");
        }
        Entry { named_schemas: reachable_schemas(&tool, &schemas), tool }
    }

    fn read_named(&mut self, object: &Value, pointer: &str) -> NamedSchemas {
        match object.get("$defs") {
            None => NamedSchemas::new(),
            Some(Value::Object(members)) => named::read(members),
            Some(_) => {
                self.fail(format!("{pointer}/$defs"), "`$defs` is not an object");
                NamedSchemas::new()
            }
        }
    }
}

/// Whether a file is a surface, based on its keys.
#[must_use]
pub fn is_surface(root: &Value) -> bool {
    root.get(SURFACE).is_some() && root.get(mcp::LOCK).is_none()
}

#[cfg(test)]
mod tests;
