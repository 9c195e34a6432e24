//! Compiles manifests: files in which tools are written by hand, as YAML or JSON.
//!
//! ```yaml
//! toolgen: 1                             # the version of the format, which marks a file as a manifest
//! namespace: text                        # the tools are called text__count_lines and so on
//! defaults: {category: files, timeout: 20s, scopes: [files]}
//!
//! schemas:
//!   Match: {type: object, properties: {path: string, line: integer, text: 'string?'}}
//!
//! tools:
//!   count_lines:
//!     description: Counts the lines of a file.
//!     read_only: true
//!     parameters:
//!       path: {type: string, path: true, description: 'The file, relative to the work dir.'}
//!     command: {argv: [wc, -l, --, '{path}']}
//!
//!   find_issue:
//!     description: Gets an issue.
//!     parameters:
//!       id: integer - The number of the issue.
//!       fields: string[]? - The fields to return.
//!     output: {type: array, items: Match}
//!     http:
//!       url: https://tracker.example.com/issues/{id}
//!       query: {fields: '{fields?}'}
//!       auth: {bearer: TRACKER_TOKEN}
//! ```
//!
//! # Tools
//!
//! A tool has the attributes of `#[tool(…)]` under the same names, and those that a doc comment provides for `#[tool]`:
//! `description`, `returns`, `use_for`, `examples`. `defaults` are attributes of all tools of the file. Exactly one
//! key determines what a tool does: `command`, `http`, `function`, `compose`, `complete`, `effect` or `agent`.
//! Next to another key, `complete` means that a successful call also ends the agent's loop. A list of `endpoints` is a
//! shorthand for requests: `weather` becomes the tool `call_weather`.
//!
//! # Arguments
//!
//! `parameters` maps names to schemas: JSON Schema 2020-12, with `optional: true` for an argument that may be
//! missing, or the short form `TYPE[?] [= default] [- description]`. The types are `string`, `integer`, `number`,
//! `boolean`, `object`, `any`, `enum(a, b)` and the names under `schemas`; `[]` makes an array. `input` is one JSON
//! Schema of all arguments instead, `output` that of the structured result. Short forms may also be used inside JSON
//! Schema, where a property in short form is required unless it has a `?` or a default. A `$ref` names a schema of
//! the file, `#/schemas/Match`, or a schema in a file in or below the manifest's directory,
//! `shared.yaml#/schemas/Match`.
//!
//! # Placeholders
//!
//! `{name}` in a string is replaced by an argument, `{name.member.0}` by a part of it; `{{` and `}}` are literal
//! braces. A string that is one placeholder becomes the value itself, of any type. `{name?}` may be missing; its
//! container is then omitted: an argument of a program, a query parameter, a member of an object. `{names*}`, alone
//! in `argv`, becomes one argument per item. Placeholders are checked against the schemas of their arguments.
//!
//! # Rules
//!
//! `rules` deny calls, ask for an approval or limit their rate, if a condition on the arguments and the caller holds:
//! `deny pay when args.amount > 5000`. Conditions are checked against the schemas of the tools. See
//! [`rules`](crate::rules).
//!
//! `specs/manifest.schema.json` describes the format for editors: with `# yaml-language-server: $schema=PATH` in its
//! first line, a manifest gets completion and validation while it is edited.

mod attributes;
mod calls;
pub mod codes;
mod command;
mod compose;
mod context;
mod effects;
mod error_propagation;
mod files;
mod imports;
mod keys;
mod lints;
mod local;
mod mcp;
mod node;
mod parameters;
mod placeholder;
mod request;
mod requires;
mod rules;
mod schema;
mod secrets;
mod short_schema;
mod template;
mod tools;
mod toolsets;
mod typed_value;
mod units;
mod unquoted_placeholders;
mod value_rules;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use toolgen_core::{Text, ToolName};

use self::context::{Context, Importing};
use self::node::Node;
use self::tools::Draft;
use super::{Claim, Frontend, report_hidden};
use crate::names::legal_tool_name;
use crate::options::Options;
use crate::problem::{Code, Problems};
use crate::selection::{Entry, selected};
use crate::source::Document;
use crate::tool::{Origin, Program, Success, Tool, with_callees};

/// The version of the format.
const VERSION: u64 = 1;

/// The front end for manifests.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manifest;

impl Frontend for Manifest {
    fn name(&self) -> &'static str {
        "manifest"
    }

    fn title(&self) -> &'static str {
        "tool manifest"
    }

    fn mark(&self) -> &'static str {
        "a tool manifest starts with `toolgen: 1`"
    }

    fn claims(&self, document: &Document) -> Claim {
        let has_container =
            |key: &str| document.root.get(key).is_some_and(|value| value.is_object() || value.is_array());
        if document.root.get("toolgen").is_some() {
            Claim::Yes
        } else if ["tools", "endpoints", "imports", "toolsets"].into_iter().any(has_container) {
            Claim::Near("it looks like one; write `toolgen: 1` at its top")
        } else {
            Claim::No
        }
    }

    fn lower(&self, document: &Arc<Document>, options: &Options, problems: &mut Problems) -> Option<Program> {
        lower(document, options, problems, Importing::default())
    }

    fn codes(&self) -> &'static [Code] {
        codes::ALL
    }
}

/// Compiles a manifest that other manifests may import.
fn lower(
    document: &Arc<Document>,
    options: &Options,
    problems: &mut Problems,
    importing: Importing,
) -> Option<Program> {
    let mut cx = Context { importing, ..Context::new(document, options, problems) };
    cx.check_version()?;
    report_hidden(&document.source, &document.root, cx.problems);
    let top = cx.top();
    cx.object(&top, &keys::TOP);
    if top.get("namespace").is_some() {
        cx.namespace_of(&top)?;
    }
    for key in ["title", "description"] {
        cx.text(&top, key);
    }
    cx.lower_imports();
    let mut drafts = cx.drafts();
    cx.lower_calls(&mut drafts);
    // Steps of compositions may choose fields.
    cx.project(drafts.iter_mut().filter(|draft| draft.kind != "compose"));
    cx.lower_composes(&mut drafts);
    cx.project(drafts.iter_mut().filter(|draft| draft.kind == "compose"));
    cx.link_agents(&mut drafts);
    cx.propagate_errors(&mut drafts);
    let mut tools: Vec<Tool> = drafts.into_iter().filter_map(|draft| cx.tool(draft)).collect();
    tools.sort_by(|left, right| left.spec.name.cmp(&right.spec.name));
    let mut program = Program {
        kind: Manifest.name(),
        version: VERSION.to_string(),
        operations: cx.operations,
        tools,
        defs: cx.defs.clone(),
        schemes: std::mem::take(&mut cx.schemes),
        sources: cx.files.sources(),
        servers: std::mem::take(&mut cx.imported.servers),
        lock: cx.text(&top, "lock").map(|path| relative_to_document(document, path)),
        levels: cx.levels(),
        deny_losses: cx.denied_losses(&top),
        token_budget: cx.token_budget(&top),
        ..Program::default()
    };
    cx.lower_toolsets(&mut program);
    cx.lower_rules(&mut program);
    select(&mut program, options, problems);
    Some(program)
}

/// Returns a path that is relative to the directory of the document.
fn relative_to_document(document: &Document, path: &str) -> PathBuf {
    document.source.path.parent().map_or_else(|| path.into(), |dir| dir.join(path))
}

/// Removes the tools that the options do not select, unless a selected tool calls them.
fn select(program: &mut Program, options: &Options, problems: &mut Problems) {
    if options.include.is_empty() && options.exclude.is_empty() && options.deprecated {
        return;
    }
    let tools = program.all_tools();
    let names: Vec<String> = tools.iter().map(|tool| tool.spec.name.to_string()).collect();
    let entries: Vec<Entry<'_>> = tools.iter().map(|tool| Entry::of(tool)).collect();
    let selected = selected(&entries, &names, options, problems);
    let kept = tools.iter().zip(selected).filter(|(_, selected)| *selected).map(|(tool, _)| *tool).collect();
    let kept: BTreeSet<&ToolName> =
        with_callees(kept, &tools).into_iter().map(|tool| &tool.spec.name).collect();
    let names = tools.iter().map(|tool| &tool.spec.name);
    let removed: BTreeSet<ToolName> = names.filter(|name| !kept.contains(name)).cloned().collect();
    program.remove(&removed);
    for toolset in &mut program.toolsets {
        let is_selected = |member: &&Text| !removed.iter().any(|name| *name.as_str() == ***member);
        toolset.members = toolset.members.iter().filter(is_selected).cloned().collect();
    }
    program.toolsets.retain(|toolset| !toolset.members.is_empty());
    program.retain_rules();
}

impl<'a> Context<'a> {
    /// Returns the tool of a draft, unless the draft is broken.
    fn tool(&self, draft: Draft<'_>) -> Option<Tool> {
        let Draft { spec, call, node, id, broken, .. } = draft;
        let origin = Origin {
            source: Arc::clone(&self.document.source),
            pointer: node.pointer,
            title: id.clone(),
            id,
            groups: vec![spec.category.to_string()],
        };
        call.filter(|_| !broken).map(|call| Tool {
            spec,
            call,
            failure: None,
            success: Success::default(),
            origin,
        })
    }

    /// Returns the namespace that an object sets. Reports an invalid namespace: without it, all tools would have
    /// other names.
    fn namespace_of(&mut self, node: &Node<'a>) -> Option<&'a str> {
        let namespace = self.text(node, "namespace")?;
        if !namespace.is_empty() && legal_tool_name(namespace) == namespace {
            return Some(namespace);
        }
        let message = format!("`{namespace}` is not a namespace");
        let help = "use ASCII letters, digits, `_` and `-`, and start with a letter";
        self.report(codes::NAME, &node.pointer.child("namespace"), message, help);
        None
    }

    /// Checks the version of the format, and reports another version.
    fn check_version(&mut self) -> Option<()> {
        let version = self.top().get("toolgen")?;
        if version.value.as_u64() == Some(VERSION) {
            return Some(());
        }
        let declared = match version.value {
            Value::String(text) => format!("the string `{text}`"),
            other => other.to_string(),
        };
        let message = format!("the version of a manifest is {VERSION}, not {declared}");
        self.report(codes::VERSION, &version.pointer, message, format!("write `toolgen: {VERSION}`"));
        None
    }
}
