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
        let is_list = descriptors_of(root).is_some() && root.get("toolgen").is_none();
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
        Err(errors) => {
            for error in errors {
                let pointer = Pointer::parse(&error.pointer).unwrap_or_default();
                problems.report(codes::LOCK, &pointer, error.message, error.help);
            }
            None
        }
    }
}

/// Returns the descriptors of a list of tools, and the location of the list.
fn descriptors_of(root: &Value) -> Option<(&Vec<Value>, Pointer)> {
    let (list, pointer) = match root {
        Value::Array(list) => (list, Pointer::ROOT),
        _ => (root.get("tools")?.as_array()?, Pointer::ROOT.child("tools")),
    };
    let is_descriptor = |item: &Value| item.get("name").is_some() && item.get("inputSchema").is_some();
    list.iter().any(is_descriptor).then_some((list, pointer))
}

/// Compiles a list of tools of an unknown server. The alias is the namespace, or else derived from the file's name.
fn lower_list(document: &Arc<Document>, options: &Options, problems: &mut Problems) -> Program {
    let tools = descriptors_of(&document.root).map(|(list, _)| list.clone()).unwrap_or_default();
    let help = "lock the server: `cargo toolgen mcp lock --alias NAME -- COMMAND`";
    let message = "a list of tools does not describe the server, so its tools cannot be called";
    problems.report(codes::NO_LOCK, &Pointer::ROOT, message, help);
    let stem = document.source.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let mut options = options.clone();
    let namespace = options.namespace.take_if(|namespace| is_alias(namespace));
    let alias = namespace.unwrap_or_else(|| {
        let derived = legal_tool_name(stem.split('.').next().unwrap_or_default());
        let derived = derived.to_ascii_lowercase().replace('_', "-");
        if is_alias(&derived) { derived } else { "mcp".to_owned() }
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
    let (indices, distinct): (Vec<usize>, Vec<Value>) = mcp::distinct(descriptors).into_iter().unzip();
    let adapted = mcp::tools(&server, &distinct, true);
    let adapted = adapted.into_iter().zip(&distinct).zip(indices);
    let server_tools: Vec<ServerTool<'_>> = adapted
        .map(|((adapted, descriptor), index)| ServerTool {
            pointer: descriptor_pointer(&document.root, index),
            descriptor,
            adapted,
        })
        .collect();
    let mut tools = selected_tools(&server_tools, &server.alias, document, options, problems);
    tools.sort_by(|left, right| left.spec.name.cmp(&right.spec.name));
    let defs = reached(&tools);
    for tool in &mut tools {
        tool.spec.defs = defs.clone();
    }
    let version =
        if server.revision.is_empty() { "tools/list".to_owned() } else { server.revision.to_string() };
    Program { kind: Mcp.name(), version, operations: distinct.len(), tools, defs, ..Program::default() }
}

/// A tool of a server, before selection by the options.
struct ServerTool<'v> {
    /// The location of the descriptor.
    pointer: Pointer,
    descriptor: &'v Value,
    adapted: Result<AdaptedTool, RejectedDescriptor>,
}

/// Returns the tools that the options select, under their final names.
fn selected_tools(
    all: &[ServerTool<'_>],
    alias: &str,
    document: &Arc<Document>,
    options: &Options,
    problems: &mut Problems,
) -> Vec<Tool> {
    // Without the prefix `alias__`, which is also added to an explicit name.
    let unprefixed = |tool: &ServerTool<'_>| match &tool.adapted {
        Ok(adapted) => adapted.tool.spec.name.as_str().get(alias.len() + 2..).unwrap_or_default().to_owned(),
        Err(_) => name_of(tool.descriptor).to_owned(),
    };
    let names: Vec<String> = all.iter().map(unprefixed).collect();
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (ServerTool { descriptor, .. }, name) in all.iter().zip(&names) {
        let (id, fallback) = (name_of(descriptor), name.clone());
        entries.push(Entry { id, title: id.to_owned(), fallback, groups: vec![alias], deprecated: false });
    }
    let prefixed = Options { namespace: Some(alias.to_owned()), ..options.clone() };
    let mut tools = Vec::new();
    for SelectedEntry { index, name } in choose_named(&entries, names.clone(), &prefixed, problems) {
        let Some(ServerTool { pointer, descriptor, adapted }) = all.get(index) else { continue };
        let adapted = match adapted {
            Ok(adapted) => adapted,
            Err(error) => {
                let message = format!("tool `{}`: {}", error.tool, error.message);
                problems.report(codes::DESCRIPTOR, &below(pointer, error.pointer), message, error.help);
                continue;
            }
        };
        report_tool(pointer, descriptor, adapted, problems);
        let full_name =
            options.namespace.as_deref().map_or(name.clone(), |namespace| with_namespace(namespace, &name));
        let mut tool = adapted.tool.clone();
        if let Ok(name) = ToolName::parse(full_name) {
            tool.spec.name = name;
        }
        let origin = Origin {
            source: Arc::clone(&document.source),
            pointer: pointer.clone(),
            id: name_of(descriptor).to_owned(),
            title: name_of(descriptor).to_owned(),
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

/// Returns the name in a descriptor, unchanged; empty if there is none.
fn name_of(descriptor: &Value) -> &str {
    descriptor.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Returns the location of a descriptor in a lock or a list.
fn descriptor_pointer(root: &Value, index: usize) -> Pointer {
    let tools = || Pointer::ROOT.child("tools").item(index);
    match root {
        Value::Array(_) => Pointer::ROOT.item(index),
        _ if root.get(LOCK).is_some() => tools().child("descriptor"),
        _ => tools(),
    }
}

fn below(base: &Pointer, suffix: &str) -> Pointer {
    Pointer::parse(&format!("{base}{suffix}")).unwrap_or_else(|| base.clone())
}

/// Reports the dropped parts of a tool, and suspicious descriptions.
fn report_tool(pointer: &Pointer, descriptor: &Value, adapted: &AdaptedTool, problems: &mut Problems) {
    for problem in &adapted.problems {
        let help = match problem.kind {
            _ if !problem.pointer.starts_with("/inputSchema") => {
                "ask the authors of the server to correct it"
            }
            ReadProblemKind::Draft => "the server should list the property in `required` of its object",
            _ => "the server checks it; a call that violates it fails there",
        };
        problems.report(codes::SCHEMA, &below(pointer, &problem.pointer), problem.message.clone(), help);
    }
    for suspicion in suspicions(descriptor, &[]) {
        let pointer = below(pointer, &suspicion.pointer);
        report_suspicion(&pointer, name_of(descriptor), &suspicion.message, problems);
    }
}

fn report_suspicion(pointer: &Pointer, tool: &str, reason: &str, problems: &mut Problems) {
    let help = "review it; describe the tool with `overrides`, or drop it with `exclude`";
    problems.report(codes::SUSPICIOUS, pointer, format!("a text of the tool `{tool}` {reason}"), help);
}

/// Reports descriptions of a server's tools that name tools of another server: such a description may try to replace
/// the tools of the other server.
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
        for shadow in shadows(&descriptor, &others) {
            let pointer = below(&tool.origin.pointer, &shadow.pointer);
            let help = "review it; describe the tool with `overrides`, or drop it with `exclude`";
            let message = format!("a text of the tool `{}` {}", plan.tool, shadow.message);
            problems.report_in(&tool.origin.source, codes::SUSPICIOUS, &pointer, message, help);
        }
    }
}
