//! Compiles OpenAPI 3 and Swagger 2.0 documents to tools.
//!
//! The document is traversed as plain JSON values. An error drops the smallest part that contains it – a constraint,
//! a parameter, at most an operation – and is reported with its location and help. Swagger 2.0, OpenAPI 3.0 and 3.1
//! are read by their own rules; later versions as 3.1.
//!
//! A tool is named after the `operationId` of its operation, made valid if necessary; without an `operationId`, after its
//! method and path. [`Options::rename`](crate::Options::rename) sets another name.

mod arguments;
mod body;
pub mod codes;
mod context;
mod document;
mod example;
mod files;
mod form;
mod headers;
mod media;
mod names;
mod node;
mod operation;
mod overlaps;
mod parameter;
mod path;
mod querystring;
mod reference;
mod response;
mod schema;
mod security;
mod server;
mod tags;
mod v2;
mod xml;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use toolgen_core::internal::{coerce_arguments, complete, with_valid_values};
use toolgen_core::schema::shape::read::{Nesting, SchemaVersion};
use toolgen_core::spec::Example;
use toolgen_core::{ExecutionPlan, ToolName, ToolSpec};

use self::context::{Context, Defs, Schemes, Tags};
use self::files::Files;
use self::node::Node;
use self::operation::Operation;
use super::{Claim, Frontend, report_hidden};
use crate::names::with_namespace;
use crate::options::Options;
use crate::problem::codes::INVALID_EXAMPLE;
use crate::problem::{Code, Problems};
use crate::selection::{Entry, SelectedEntry, select_entries};
use crate::shape_walk::reached;
use crate::source::{Document, Pointer};
use crate::tool::{About, Origin, Program, Tool};

/// The front end for OpenAPI 3 and Swagger 2.0.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenApi;

impl Frontend for OpenApi {
    fn name(&self) -> &'static str {
        "openapi"
    }

    fn title(&self) -> &'static str {
        "OpenAPI document"
    }

    fn mark(&self) -> &'static str {
        "an OpenAPI document starts with `openapi: 3.1.0` or another version, an older one with `swagger: '2.0'`"
    }

    fn claims(&self, document: &Document) -> Claim {
        let top = Node::new(&document.root, Pointer::ROOT);
        if top.get("openapi").is_some() || top.get("swagger").is_some() {
            Claim::Yes
        } else if top.get("swaggerVersion").is_some() {
            Claim::Near("Swagger 1 is not supported; convert the document to OpenAPI 3 first")
        } else if top.get("info").is_some() && top.get("paths").is_some() {
            Claim::Near("it looks like one; write `openapi: 3.1.0`, or its version, at its top")
        } else {
            Claim::No
        }
    }

    fn lower(&self, document: &Arc<Document>, options: &Options, problems: &mut Problems) -> Option<Program> {
        let files = Files::load(document, options, problems);
        let mut cx = Context::new(document, &files, options, problems);
        let version = cx.supported_version()?;
        report_hidden(&document.source, &document.root, cx.problems);
        for (source, root) in files.other_files() {
            report_hidden(source, root, cx.problems);
        }
        cx.name_defs();
        cx.read_schemes();
        cx.read_tags();
        let (operations, broken_count) = cx.operations();
        let mut tools = cx.tools(&operations);
        let defs = cx.reached_defs(&tools);
        let defs = cx.with_valid_values(&defs);
        // Shapes that only failures use are not part of a tool.
        if let Some(tool) = tools.first_mut() {
            tool.spec.defs = defs.clone();
        }
        let tool_defs = reached(&tools);
        for tool in &mut tools {
            tool.spec.defs = tool_defs.clone();
            complete(&mut tool.spec);
            drop_mismatched_values(tool, cx.problems);
            keep_valid_examples(tool, cx.problems);
        }
        tools.sort_by(|left, right| left.spec.name.cmp(&right.spec.name));
        overlaps::report(&tools, cx.problems);
        let (kind, schemes, toolsets) = (self.name(), cx.declared_schemes(), cx.toolsets(&tools));
        let operations = operations.len() + broken_count;
        let sources = files.paths();
        Some(Program {
            kind,
            version,
            about: About::read(document.root.get("info")),
            operations,
            tools,
            defs,
            schemes,
            toolsets,
            sources,
            ..Program::default()
        })
    }

    fn codes(&self) -> &'static [Code] {
        codes::ALL
    }
}

/// Returns the references in a document that name other files, joined with the URL of the document.
#[cfg(feature = "dynamic")]
pub(crate) fn parts_of(root: &serde_json::Value, url: &str) -> Vec<String> {
    let file_references = files::scan::scan(root, &Pointer::ROOT);
    file_references.references.iter().map(|reference| files::uri::resolve(url, reference)).collect()
}

/// Drops defaults and examples of arguments that do not match their resolved schema, and reports them.
fn drop_mismatched_values(tool: &mut Tool, problems: &mut Problems) {
    let Tool { spec, origin, .. } = tool;
    let Some((input, misfits)) = with_valid_values(spec.input.shape(), &spec.defs) else { return };
    for reason in misfits {
        let message = format!("{reason}; it is left out of the tool `{}`", spec.name);
        problems.report_in(
            &origin.source,
            codes::DEFAULT,
            &origin.pointer,
            message,
            "correct the value or the schema",
        );
    }
    spec.input = input.into();
}

/// Drops the example calls that the tool would reject, and reports them. Published examples often do not match,
/// partly because they are written as strings (`"439"` for a number in a path), which are converted.
fn keep_valid_examples(tool: &mut Tool, problems: &mut Problems) {
    let Tool { spec, origin, .. } = tool;
    let mut valid = Vec::new();
    for example in &spec.examples {
        match valid_example(example, spec) {
            Ok(example) => valid.push(example),
            Err(error) => {
                let message = format!("an example of the tool `{}` is invalid: {error}", spec.name);
                let help = "correct the example or the schema";
                problems.report_in(&origin.source, INVALID_EXAMPLE, &origin.pointer, message, help);
            }
        }
    }
    spec.examples = valid.into();
}

/// Returns an example that the tool accepts: unchanged, or with its strings converted to what they represent. The
/// error describes the remaining mismatch.
fn valid_example(example: &Example, spec: &ToolSpec) -> Result<Example, String> {
    let Err(error) = spec.check_example(example) else { return Ok(example.clone()) };
    let Ok(arguments) = serde_json::from_str(&example.arguments) else { return Err(error) };
    let arguments = coerce_arguments(&arguments, spec.input.shape(), &spec.defs);
    let converted = Example { arguments: arguments.to_string().into(), ..example.clone() };
    spec.check_example(&converted).map(|()| converted)
}

impl<'a> Context<'a> {
    fn new(
        document: &'a Document,
        files: &'a Files<'a>,
        options: &'a Options,
        problems: &'a mut Problems,
    ) -> Context<'a> {
        Context {
            file: document.source.path.file_name().and_then(|name| name.to_str()),
            files,
            options,
            version: SchemaVersion::OpenApi31,
            problems,
            defs: Defs::default(),
            schemes: Schemes::default(),
            tags: Tags::new(),
            document_servers: None,
            security_at: BTreeMap::new(),
            callbacks_reported: false,
            nesting: Nesting::default(),
            broken: None,
            cause: String::new(),
        }
    }

    /// Returns the version that the document declares, if it is supported.
    fn supported_version(&mut self) -> Option<String> {
        let top = self.top();
        let version = document::declared_version(&top)?;
        let (key, name) =
            if top.get("openapi").is_some() { ("openapi", "OpenAPI") } else { ("swagger", "Swagger") };
        let pointer = Pointer::ROOT.child(key);
        let Some((rules, is_known)) = document::schema_version(&top, &version) else {
            let message = format!("{name} {version} is not supported");
            let help =
                "OpenAPI 3.0, 3.1 and 3.2 and Swagger 2.0 are supported; convert the document to one of them";
            self.report(codes::VERSION, &pointer, message, help);
            return None;
        };
        if !is_known {
            let message = format!("OpenAPI {version} is read by the rules of 3.1");
            self.report(codes::UNKNOWN_VERSION, &pointer, message, "its additions are not understood");
        }
        self.version = rules;
        Some(version)
    }

    /// Returns the tools of the selected operations, without named shapes.
    fn tools(&mut self, operations: &[Operation<'a>]) -> Vec<Tool> {
        let entries: Vec<Entry<'_>> = operations.iter().map(Operation::entry).collect();
        let mut tools = Vec::new();
        let mut used_names: BTreeSet<String> = BTreeSet::new();
        for SelectedEntry { index, name } in select_entries(&entries, self.options, self.problems) {
            let (Some(operation), Some(entry)) = (operations.get(index), entries.get(index)) else {
                continue;
            };
            let Some(name) = self.claim_name(operation, &name, &mut used_names) else { continue };
            let Some((spec, plan)) = self.compile_operation(operation, name) else { continue };
            let Some((source, pointer)) = self.files.source_location(&operation.node.pointer) else {
                continue;
            };
            let origin = Origin {
                source: Arc::clone(source),
                pointer,
                id: entry.id.to_owned(),
                title: entry.title.clone(),
                groups: entry.groups.iter().map(|group| (*group).to_owned()).collect(),
            };
            let failure = self.options.types.then(|| self.failure(&operation.node)).flatten();
            let success = self.success(&operation.node);
            tools.push(Tool { spec, call: ExecutionPlan::Http(plan), failure, success, origin });
        }
        tools
    }

    /// Returns the name, unless another tool has it.
    fn claim_name(
        &mut self,
        operation: &Operation<'a>,
        name: &str,
        used_names: &mut BTreeSet<String>,
    ) -> Option<ToolName> {
        self.note_name(operation, name);
        match ToolName::parse(name.to_owned()) {
            Ok(tool_name) if used_names.insert(name.to_owned()) => Some(tool_name),
            _ => {
                self.report(
                    codes::DUPLICATE_NAME,
                    &operation.node.pointer,
                    format!(
                        "another operation has the same method, path and name `{name}`; this one is left out"
                    ),
                    "give the operation a unique `operationId`",
                );
                None
            }
        }
    }

    /// Reports a tool whose name differs from that of its operation.
    fn note_name(&mut self, operation: &Operation<'a>, name: &str) {
        let expected = self
            .options
            .namespace
            .as_deref()
            .map_or_else(|| operation.id.to_owned(), |namespace| with_namespace(namespace, operation.id));
        if expected == name {
            return;
        }
        let (message, help) = if operation.id.is_empty() {
            (
                format!("the operation has no operationId; its tool is named `{name}`"),
                "add an `operationId`, or rename the tool",
            )
        } else {
            (
                format!("the operation `{}` becomes the tool `{name}`", operation.id),
                "names must be unique, with at most 64 letters, digits, `_` and `-`; rename the tool if you prefer \
                 another name",
            )
        };
        self.report(codes::NAME, &operation.node.pointer, message, help);
    }
}
