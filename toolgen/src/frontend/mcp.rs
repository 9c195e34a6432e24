//! Compiles locks of MCP servers, and lists of tools as servers return them.
//!
//! A lock is created by `cargo toolgen mcp lock`. A list of tools, an object with `tools` or an array of descriptors,
//! is also compiled; its tools can be displayed, but not called.

pub mod codes;

use std::sync::Arc;

use serde_json::Value;
use toolgen_core::schema::shape::read::ReadProblemKind;
use toolgen_core::spec::mcp::lint::{shadows, suspicions};
use toolgen_core::spec::mcp::{self, AdaptedTool, LOCK, Lock, RejectedDescriptor, is_alias};
use toolgen_core::spec::plan::{McpPlan, McpServer, McpTransport};
use toolgen_core::{ExecutionPlan, Frozen, ToolName};

use super::{Claim, Frontend};
use crate::names::{legal_tool_name, with_namespace};
use crate::options::Options;
use crate::problem::{Code, Problems};
use crate::selection::{Entry, SelectedEntry, choose_named};
use crate::shape_walk::reached;
use crate::source::{Document, Pointer};
use crate::tool::{About, McpSource, Origin, Program, Success, Tool};

/// The front end for MCP servers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mcp;

impl Frontend for Mcp {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn title(&self) -> &'static str {
        "lock of an MCP server"
    }

    fn mark(&self) -> &'static str {
        "a lock of an MCP server starts with `toolgen_mcp_lock: 1`"
    }

    fn claims(&self, document: &Document) -> Claim {
        let root = &document.root;
        let is_list = listed(root).is_some() && root.get("toolgen").is_none();
        if root.get(LOCK).is_some() || is_list { Claim::Yes } else { Claim::No }
    }

    fn lower(&self, document: &Arc<Document>, options: &Options, problems: &mut Problems) -> Option<Program> {
        match document.root.get(LOCK) {
            Some(_) => {
                let lock = read(document, problems)?;
                let (server, path) = (lock.server.clone(), document.source.path.clone());
                let about = About::read(Some(&lock.info));
                let mut program = lower(document, lock.server, &lock.tools, options, problems);
                program.servers = vec![McpSource { server, lock: path }];
                program.about = about;
                Some(program)
            }
            None => Some(lower_list(document, options, problems)),
        }
    }

    fn codes(&self) -> &'static [Code] {
        codes::ALL
    }
}

/// Reads a lock, and reports its errors.
pub(super) fn read(document: &Document, problems: &mut Problems) -> Option<Lock> {
    match Lock::read(&document.root) {
        Ok(lock) => {
            if let Some(package) = lock.package.as_ref().filter(|package| package.version.is_empty()) {
                let message = format!("the command starts `{}` in an arbitrary version", package.name);
                let help = "pin the version in the command, and lock the server again";
                problems.report(codes::UNPINNED, &Pointer::ROOT.child("package"), message, help);
            }
            Some(lock)
        }
        Err(mistakes) => {
            for mistake in mistakes {
                let at = Pointer::parse(&mistake.pointer).unwrap_or_default();
                problems.report(codes::LOCK, &at, mistake.message, mistake.help);
            }
            None
        }
    }
}

/// Returns the descriptors of a list of tools, and the location of the list.
fn listed(root: &Value) -> Option<(&Vec<Value>, Pointer)> {
    let (list, at) = match root {
        Value::Array(list) => (list, Pointer::ROOT),
        _ => (root.get("tools")?.as_array()?, Pointer::ROOT.child("tools")),
    };
    let is_descriptor = |one: &Value| one.get("name").is_some() && one.get("inputSchema").is_some();
    list.iter().any(is_descriptor).then_some((list, at))
}

/// Compiles a list of tools of an unknown server. The alias is the namespace, or else derived from the file's name.
fn lower_list(document: &Arc<Document>, options: &Options, problems: &mut Problems) -> Program {
    let tools = listed(&document.root).map(|(list, _)| list.clone()).unwrap_or_default();
    let help = "lock the server: `cargo toolgen mcp lock --alias NAME -- COMMAND`";
    let message = "a list of tools does not describe the server, so its tools cannot be called";
    problems.report(codes::NO_LOCK, &Pointer::ROOT, message, help);
    let stem = document.source.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let mut options = options.clone();
    let given = options.namespace.take_if(|namespace| is_alias(namespace));
    let alias = given.unwrap_or_else(|| {
        let made = legal_tool_name(stem.split('.').next().unwrap_or_default());
        let made = made.to_ascii_lowercase().replace('_', "-");
        if is_alias(&made) { made } else { "mcp".to_owned() }
    });
    let server = McpServer { alias: alias.into(), transport: McpTransport::EMPTY, ..McpServer::EMPTY };
    lower(document, server, &tools, &options, problems)
}

/// Compiles the tools of a server.
pub(super) fn lower(
    document: &Arc<Document>,
    server: McpServer,
    descriptors: &[Value],
    options: &Options,
    problems: &mut Problems,
) -> Program {
    let server: Frozen<McpServer> = server.into();
    let (places, own): (Vec<usize>, Vec<Value>) = mcp::distinct(descriptors).into_iter().unzip();
    let adapted = mcp::tools(&server, &own, true);
    let found = adapted.into_iter().zip(&own).zip(places);
    let found: Vec<ServerTool<'_>> = found
        .map(|((one, descriptor), index)| ServerTool { at: place(&document.root, index), descriptor, one })
        .collect();
    let mut tools = chosen(&found, &server.alias, document, options, problems);
    tools.sort_by(|left, right| left.spec.name.cmp(&right.spec.name));
    let defs = reached(&tools);
    for tool in &mut tools {
        tool.spec.defs = defs.clone();
    }
    let version =
        if server.revision.is_empty() { "tools/list".to_owned() } else { server.revision.to_string() };
    Program { kind: Mcp.name(), version, operations: own.len(), tools, defs, ..Program::default() }
}

/// A tool of a server, before the options select.
struct ServerTool<'v> {
    /// The location of its descriptor.
    at: Pointer,
    descriptor: &'v Value,
    one: Result<AdaptedTool, RejectedDescriptor>,
}

/// Returns the tools that the options select, under the names that they get.
fn chosen(
    all: &[ServerTool<'_>],
    alias: &str,
    document: &Arc<Document>,
    options: &Options,
    problems: &mut Problems,
) -> Vec<Tool> {
    // Without the prefix `alias__`, which an explicit name also gets.
    let own = |found: &ServerTool<'_>| match &found.one {
        Ok(one) => one.tool.spec.name.as_str().get(alias.len() + 2..).unwrap_or_default().to_owned(),
        Err(_) => raw(found.descriptor).to_owned(),
    };
    let names: Vec<String> = all.iter().map(own).collect();
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (ServerTool { descriptor, .. }, own) in all.iter().zip(&names) {
        let (id, fallback) = (raw(descriptor), own.clone());
        entries.push(Entry { id, title: id.to_owned(), fallback, groups: vec![alias], deprecated: false });
    }
    let prefixed = Options { namespace: Some(alias.to_owned()), ..options.clone() };
    let mut tools = Vec::new();
    for SelectedEntry { index, name } in choose_named(&entries, names.clone(), &prefixed, problems) {
        let Some(ServerTool { at, descriptor, one }) = all.get(index) else { continue };
        let one = match one {
            Ok(one) => one,
            Err(error) => {
                let message = format!("tool `{}`: {}", error.tool, error.message);
                problems.report(codes::DESCRIPTOR, &below(at, error.pointer), message, error.help);
                continue;
            }
        };
        report_tool(at, descriptor, one, problems);
        let full = options.namespace.as_deref().map_or(name.clone(), |space| with_namespace(space, &name));
        let mut tool = one.tool.clone();
        if let Ok(name) = ToolName::parse(full) {
            tool.spec.name = name;
        }
        let origin = Origin {
            source: Arc::clone(&document.source),
            pointer: at.clone(),
            id: raw(descriptor).to_owned(),
            title: raw(descriptor).to_owned(),
            groups: vec![alias.to_owned()],
        };
        tools.push(Tool {
            spec: tool.spec,
            call: tool.call,
            failure: None,
            success: Success::default(),
            origin,
        });
    }
    tools
}

fn raw(descriptor: &Value) -> &str {
    descriptor.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the location of a descriptor in a lock or a list.
fn place(root: &Value, index: usize) -> Pointer {
    let tools = || Pointer::ROOT.child("tools").item(index);
    match root {
        Value::Array(_) => Pointer::ROOT.item(index),
        _ if root.get(LOCK).is_some() => tools().child("descriptor"),
        _ => tools(),
    }
}

fn below(at: &Pointer, pointer: &str) -> Pointer {
    Pointer::parse(&format!("{at}{pointer}")).unwrap_or_else(|| at.clone())
}

/// Reports what a tool loses, and suspicious descriptions.
fn report_tool(at: &Pointer, descriptor: &Value, one: &AdaptedTool, problems: &mut Problems) {
    for problem in &one.problems {
        let help = match problem.kind {
            _ if !problem.pointer.starts_with("/inputSchema") => {
                "ask the authors of the server to correct it"
            }
            ReadProblemKind::Draft => "the server should list the property in `required` of its object",
            _ => "the server checks it; a call that violates it fails there",
        };
        problems.report(codes::SCHEMA, &below(at, &problem.pointer), problem.message.clone(), help);
    }
    for one in suspicions(descriptor, &[]) {
        report_suspicion(&below(at, &one.pointer), raw(descriptor), &one.message, problems);
    }
}

fn report_suspicion(at: &Pointer, tool: &str, what: &str, problems: &mut Problems) {
    let help = "review it; describe the tool with `overrides`, or drop it with `exclude`";
    problems.report(codes::SUSPICIOUS, at, format!("a text of the tool `{tool}` {what}"), help);
}

/// Reports descriptions of one server's tools that name tools of another: such a description may be meant to
/// supersede them.
pub(super) fn report_shadows(programs: &[&Program], problems: &mut Problems) {
    let plan = |tool: &Tool| match &tool.call {
        ExecutionPlan::Mcp(plan) => Some(plan.clone()),
        _ => None,
    };
    let tools: Vec<(&Tool, McpPlan)> = programs
        .iter()
        .flat_map(|program| program.all_tools())
        .filter_map(|tool| plan(tool).map(|plan| (tool, plan)))
        .collect();
    for (tool, plan) in &tools {
        let others = tools.iter().filter(|(_, other)| other.server.alias != plan.server.alias);
        let others: Vec<String> =
            others.flat_map(|(tool, plan)| [tool.spec.name.to_string(), plan.tool.to_string()]).collect();
        let descriptor = serde_json::from_str(&plan.descriptor).unwrap_or_default();
        for one in shadows(&descriptor, &others) {
            let at = below(&tool.origin.pointer, &one.pointer);
            let help = "review it; describe the tool with `overrides`, or drop it with `exclude`";
            let message = format!("a text of the tool `{}` {}", plan.tool, one.message);
            problems.report_in(&tool.origin.source, codes::SUSPICIOUS, &at, message, help);
        }
    }
}
