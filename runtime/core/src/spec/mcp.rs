//! Tools of MCP servers as data: their descriptors, their names, and the lock that pins them.
//!
//! A descriptor is an item of a server's response to `tools/list`. It becomes a [`Tool`], as operations of other
//! documents do.

pub mod drift;
mod keys;
pub mod lint;
mod lock;
mod names;
mod references;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use self::references::BundledSchema;
use crate::base::frozen::{Frozen, Text};
use crate::base::json::{json_bytes, type_name};
use crate::base::printable::printable;
use crate::base::truncate::cut;
use crate::schema::shape::closed_variants::complete_variants;
use crate::schema::shape::read::{ReadProblem, ReadProblemKind};
use crate::schema::shape::spread::spread;
use crate::schema::shape::{Def, Extra, Kind, ObjectRules, Shape, cycles};
use crate::spec::plan::{ExecutionPlan, McpPlan, McpServer, McpTransport, Tool};
use crate::spec::{Effects, Files, Network, ToolName, ToolSpec, complete};

pub use crate::base::canonical::{canonical, digest};
pub use crate::spec::strict_reader::LockProblem;
pub use lock::{LOCK, Lock, Package, transport};
pub use names::{MAX_ALIAS, is_alias, names};

/// Maximum size of a descriptor, in bytes of canonical JSON.
pub const MAX_DESCRIPTOR: usize = 512 * 1024;

/// Maximum nesting depth of a descriptor. A message or a file that contains it has a few more levels, and JSON parsers
/// have limits.
pub const MAX_LEVELS: usize = 100;

/// The member of a descriptor that states why it could not be parsed. Such a descriptor has no other member except its
/// name, and is rejected.
pub const UNREADABLE: &str = "io.toolgen/unreadable";

/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 120;

/// Maximum length of a string in the server's information, in characters.
const MAX_INFO: usize = 200;

/// Maximum size of the server's information, in bytes.
const MAX_INFO_BYTES: usize = 4096;

/// A tool made from a descriptor.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptedTool {
    /// The tool.
    pub tool: Tool,
    /// The parts of its schemas that were dropped, with locations in the descriptor.
    pub problems: Vec<ReadProblem>,
}

/// Why a descriptor is rejected.
#[derive(Clone, PartialEq, Eq)]
pub struct RejectedDescriptor {
    /// The server's name for the tool. Empty if it has none.
    pub tool: String,
    /// The location in the descriptor, as a JSON pointer.
    pub pointer: &'static str,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub help: &'static str,
}

impl std::fmt::Display for RejectedDescriptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let RejectedDescriptor { tool, message, help, .. } = self;
        write!(f, "tool `{tool}`: {message}; {help}")
    }
}

__readable_debug!(RejectedDescriptor);

impl std::error::Error for RejectedDescriptor {}

/// Returns the descriptors of a server's complete list, each with its index, without duplicates: some servers list a
/// tool on two pages.
#[must_use]
pub fn distinct(descriptors: &[Value]) -> Vec<(usize, Value)> {
    let mut seen = BTreeSet::new();
    let mut is_new =
        |descriptor: &Value| is_deeper_than(descriptor, MAX_LEVELS) || seen.insert(canonical(descriptor));
    descriptors
        .iter()
        .enumerate()
        .filter(|(_, descriptor)| is_new(descriptor))
        .map(|(index, descriptor)| (index, descriptor.clone()))
        .collect()
}

/// Returns the tools of a server's complete list, in its order. Each invalid descriptor is rejected separately.
///
/// If the list is `pinned`, each plan contains its descriptor, and the effects that the server declares are used,
/// because a person has reviewed them. Otherwise every tool is assumed to have the most dangerous effects.
#[must_use]
pub fn tools(
    server: &Frozen<McpServer>,
    descriptors: &[Value],
    pinned: bool,
) -> Vec<Result<AdaptedTool, RejectedDescriptor>> {
    let raw_names: Vec<&str> = descriptors.iter().map(raw_name).collect();
    let checked_names: Vec<Result<ToolName, RejectedDescriptor>> = descriptors
        .iter()
        .zip(names(&server.alias, &raw_names))
        .map(|(descriptor, name)| check_descriptor(descriptor, name, &server.alias))
        .collect();
    let mut schemas: Vec<(String, BundledSchema)> = Vec::new();
    for (descriptor, name) in descriptors.iter().zip(&checked_names) {
        for key in SCHEMAS {
            if let (Ok(name), Some(schema)) = (name, schema(descriptor, key)) {
                schemas.push((format!("{name} {key}"), BundledSchema::of(schema)));
            }
        }
    }
    references::rename_conflicts(&mut schemas);
    let mut schemas = schemas.into_iter().map(|(_, schema)| schema.into_document());
    let mut by_name: BTreeMap<String, Shape> = BTreeMap::new();
    let mut names_by_tool: Vec<Vec<String>> = Vec::new();
    let mut adapted: Vec<Result<AdaptedTool, RejectedDescriptor>> = Vec::new();
    for (descriptor, name) in descriptors.iter().zip(checked_names) {
        adapted.push(name.map(|name| {
            let documents = SCHEMAS.map(|key| {
                schema(descriptor, key).and_then(|_| schemas.next()).map(|document| (key, document))
            });
            let (tool, defs) = adapt(server, name, descriptor, documents, pinned);
            names_by_tool.push(defs.iter().map(|def| def.name.to_string()).collect());
            by_name.extend(defs.iter().map(|def| (def.name.to_string(), def.schema.shape().clone())));
            tool
        }));
    }
    // A schema that consists only of a reference to itself would make decoding endless.
    let cut_names = cycles::cut(&mut by_name);
    let defs = complete_variants(&mut by_name);
    for (AdaptedTool { tool, problems }, names) in adapted.iter_mut().flatten().zip(names_by_tool) {
        tool.spec.defs = defs.clone();
        complete(&mut tool.spec);
        problems.extend(cut_names.iter().filter(|name| names.contains(name)).map(|name| {
            input_problem(&format!("the schema `{name}` contains itself; that part is omitted"))
        }));
    }
    adapted
}

/// Returns the tool of one descriptor, named as if the server had no other tools.
///
/// # Errors
///
/// Returns the reason if the descriptor is rejected.
pub fn tool(
    server: &Frozen<McpServer>,
    descriptor: &Value,
    pinned: bool,
) -> Result<Tool, RejectedDescriptor> {
    let missing = || rejected("", "", "there is no descriptor".to_owned(), "pass a descriptor");
    let tool = tools(server, std::slice::from_ref(descriptor), pinned).pop();
    tool.unwrap_or_else(|| Err(missing())).map(|adapted| adapted.tool)
}

/// The members of a descriptor that are schemas.
const SCHEMAS: [&str; 2] = ["inputSchema", "outputSchema"];

/// Returns a schema of a descriptor, if it is an object.
fn schema<'d>(descriptor: &'d Value, key: &str) -> Option<&'d Value> {
    descriptor.get(key).filter(|schema| schema.is_object())
}

fn raw_name(descriptor: &Value) -> &str {
    descriptor.get("name").and_then(Value::as_str).unwrap_or_default()
}

fn rejected(tool: &str, pointer: &'static str, message: String, help: &'static str) -> RejectedDescriptor {
    RejectedDescriptor { tool: tool.to_owned(), pointer, message, help }
}

/// Returns the name of a descriptor's tool, if the descriptor is valid.
fn check_descriptor(
    descriptor: &Value,
    name: Option<ToolName>,
    alias: &str,
) -> Result<ToolName, RejectedDescriptor> {
    let raw = raw_name(descriptor);
    let help = "ask the authors of the server to fix it, or omit the tool";
    let fail = |pointer, message: &str, help| Err(rejected(raw, pointer, message.to_owned(), help));
    if !descriptor.is_object() {
        return fail("", "the descriptor is not an object", help);
    }
    if let Some(Value::String(reason)) = descriptor.get(UNREADABLE) {
        return fail("", reason, help);
    }
    if raw.is_empty() {
        let is_string = descriptor.get("name").is_none_or(Value::is_string);
        return fail(
            "/name",
            if is_string { "the tool has no name" } else { "the name is not a string" },
            help,
        );
    }
    match descriptor.get("inputSchema") {
        Some(Value::Object(_)) => {}
        None => return fail("/inputSchema", "the tool has no schema of its arguments", help),
        Some(_) => return fail("/inputSchema", "the schema of the arguments is not an object", help),
    }
    if is_deeper_than(descriptor, MAX_LEVELS) {
        let message = format!("the descriptor is nested deeper than {MAX_LEVELS} levels");
        return fail("", &message, help);
    }
    if canonical(descriptor).len() > MAX_DESCRIPTOR {
        let message = format!("the descriptor is larger than {} KiB", MAX_DESCRIPTOR / 1024);
        return fail("", &message, help);
    }
    if !is_alias(alias) {
        let message = format!("`{alias}` is not a valid alias of a server");
        return fail("", &message, "use `a` to `z`, digits and `-`, at most 32, and start with a letter");
    }
    match name {
        Some(name) => Ok(name),
        None => fail("/name", "another tool of the server has the same name", help),
    }
}

/// Returns a text as one line without hidden characters, of at most `max` characters.
fn one_line(text: &str, max: usize) -> String {
    let displayed = printable(text);
    let words: Vec<&str> = displayed.split_whitespace().collect();
    cut(&words.join(" "), max)
}

/// Returns the server's information, with each string shortened to one line. If it is too large, only the name, the
/// title and the version are kept.
#[must_use]
pub fn about(info: &Value) -> Value {
    fn shorten(value: &Value) -> Value {
        match value {
            Value::String(text) => one_line(text, MAX_INFO).into(),
            Value::Array(items) => items.iter().map(shorten).collect(),
            Value::Object(members) => {
                members.iter().map(|(key, value)| (one_line(key, MAX_INFO), shorten(value))).collect()
            }
            other => other.clone(),
        }
    }
    let Value::Object(mut members) = shorten(info) else { return Value::Null };
    if json_bytes(&members) > MAX_INFO_BYTES {
        members
            .retain(|key, value| matches!(key.as_str(), "name" | "title" | "version") && value.is_string());
    }
    Value::Object(members)
}

/// Whether a value is nested deeper than `levels`, without recursion.
fn is_deeper_than(value: &Value, levels: usize) -> bool {
    let mut level = vec![value];
    for _ in 0..levels {
        level = level.into_iter().flat_map(children).collect();
        if level.is_empty() {
            return false;
        }
    }
    level.into_iter().any(|value| !children(value).is_empty())
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(members) => members.values().collect(),
        _ => Vec::new(),
    }
}

/// Converts a checked descriptor to a tool. Its named schemas are returned separately, because all tools of a list
/// share them.
fn adapt(
    server: &Frozen<McpServer>,
    name: ToolName,
    descriptor: &Value,
    documents: [Option<(&str, Value)>; 2],
    pinned: bool,
) -> (AdaptedTool, Vec<Def>) {
    let mut problems = type_problems(descriptor);
    let mut defs: Vec<Def> = Vec::new();
    let [input, output] = documents.map(|document| {
        document.map(|(key, schema)| {
            problems.extend(references::dangling_references(&schema, &format!("/{key}")).into_iter().map(
                |(pointer, text)| {
                    let message =
                        format!("the reference `{text}` is dangling, so any value is accepted here");
                    ReadProblem { pointer, kind: ReadProblemKind::Keyword, message }
                },
            ));
            let (shape, named_schemas) = keys::read(&schema, &format!("/{key}"), &mut problems);
            defs.extend(named_schemas);
            shape
        })
    });
    let input = arguments_shape(input.unwrap_or(Shape::NO_ARGUMENTS), &defs, &mut problems);
    let trimmed = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let title = one_line(&trimmed(descriptor.get("title")), MAX_TITLE);
    let hint_title = one_line(&trimmed(descriptor.pointer("/annotations/title")), MAX_TITLE);
    let label = if title.is_empty() { hint_title } else { title };
    let server_description = trimmed(descriptor.get("description"));
    let candidates = [&server_description, &label, raw_name(descriptor)].map(|text: &str| text);
    let description = candidates.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    let spec = ToolSpec {
        name,
        description: description.to_owned().into(),
        label: label.into(),
        input: input.into(),
        output: output.map(Into::into),
        effects: if pinned { effects(server, descriptor) } else { Effects::UNDECLARED },
        category: Text::copy_of(&server.alias),
        ..ToolSpec::EMPTY
    };
    let call = ExecutionPlan::Mcp(McpPlan {
        server: server.clone(),
        tool: Text::copy_of(raw_name(descriptor)),
        descriptor: if pinned { canonical(descriptor).into() } else { Text::EMPTY },
    });
    (AdaptedTool { tool: Tool { spec, call }, problems }, defs)
}

/// The members of a descriptor that only describe a tool, with values of their types.
fn descriptive_members() -> [(&'static str, Value); 9] {
    let boolean = |pointer| (pointer, Value::Bool(false));
    let string = |pointer| (pointer, Value::String(String::new()));
    let object = |pointer| (pointer, Value::Object(Map::new()));
    [
        string("/title"),
        string("/description"),
        object("/outputSchema"),
        object("/annotations"),
        string("/annotations/title"),
        boolean("/annotations/readOnlyHint"),
        boolean("/annotations/destructiveHint"),
        boolean("/annotations/idempotentHint"),
        boolean("/annotations/openWorldHint"),
    ]
}

/// Returns a problem for each descriptive member that has another type. `null` counts as missing.
fn type_problems(descriptor: &Value) -> Vec<ReadProblem> {
    let to_problem = |(pointer, expected): (&str, Value)| {
        let (expected, actual) =
            (type_name(&expected), descriptor.pointer(pointer).map_or("null", type_name));
        (actual != expected && actual != "null").then(|| {
            let message = format!("expected {expected}, got {actual}; it is ignored");
            ReadProblem { pointer: pointer.to_owned(), kind: ReadProblemKind::Keyword, message }
        })
    };
    descriptive_members().into_iter().filter_map(to_problem).collect()
}

/// Returns the shape of the arguments as an object, which every call passes.
fn arguments_shape(mut shape: Shape, defs: &[Def], problems: &mut Vec<ReadProblem>) -> Shape {
    for _ in 0..16 {
        let Kind::Ref(name) = &shape.kind else { break };
        let Some(def) = defs.iter().find(|def| def.name == *name) else { break };
        shape = def.schema.shape().clone();
    }
    if matches!(shape.kind, Kind::Object(_)) {
        return Shape { nullable: false, ..shape };
    }
    if let Some(shape) = spread(&shape, defs) {
        return shape;
    }
    let actual = match &shape.kind {
        Kind::String(_) => Some("a string"),
        Kind::Integer(_) | Kind::Number(_) => Some("a number"),
        Kind::Boolean => Some("a boolean"),
        Kind::Array(_) | Kind::Tuple(_) => Some("an array"),
        Kind::Enum(_) => Some("one of several values"),
        Kind::Null => Some("null"),
        _ => None,
    };
    problems.push(input_problem(&match actual {
        Some(actual) => {
            format!(
                "this is the schema of {actual}, but arguments must be an object, so any arguments are accepted"
            )
        }
        None => "the arguments are not declared by name, so any arguments are accepted".to_owned(),
    }));
    let kind = Kind::Object(ObjectRules { extra: Extra::Open, ..ObjectRules::ANY });
    Shape { description: shape.description, ..Shape::of(kind) }
}

fn input_problem(message: &str) -> ReadProblem {
    let pointer = "/inputSchema".to_owned();
    ReadProblem { pointer, kind: ReadProblemKind::Keyword, message: message.to_owned() }
}

/// Returns the effects that the annotations of a descriptor declare. Undeclared effects are the most dangerous ones,
/// as in the protocol. Annotations do not cover this machine: a program that is started may do anything to it,
/// regardless of its tools.
fn effects(server: &McpServer, descriptor: &Value) -> Effects {
    let hint = |key: &str| descriptor.pointer(&format!("/annotations/{key}")).and_then(Value::as_bool);
    let read_only = hint("readOnlyHint") == Some(true);
    let (network, files, spawns) = match &server.transport {
        McpTransport::Stdio { .. } => {
            (Network::Any, if read_only { Files::Read } else { Files::Write }, true)
        }
        McpTransport::Http { url, .. } => {
            let host = host_of(url).map(|host| Network::Hosts(vec![Text::from(host)].into()));
            (host.unwrap_or(Network::Any), Files::None, false)
        }
    };
    Effects {
        read_only,
        destructive: !read_only && hint("destructiveHint") != Some(false),
        idempotent: read_only || hint("idempotentHint") == Some(true),
        open_world: hint("openWorldHint") != Some(false),
        network,
        files,
        spawns,
    }
}

/// Returns the host of a URL, with its port if it has one.
fn host_of(url: &str) -> Option<String> {
    let (_, remainder) = url.split_once("://")?;
    let authority = remainder.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next().filter(|host| !host.is_empty())?;
    Some(host.to_ascii_lowercase())
}

#[cfg(test)]
mod tests;
