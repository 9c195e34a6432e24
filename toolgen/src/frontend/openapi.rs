//! OpenAPI 3 documents to tools.
//!
//! The document is walked as plain JSON values: what is not as it should be costs the smallest part it stands in – a
//! constraint, a parameter, at most an operation – and a problem that says where and what to do. OpenAPI 3.0 and
//! 3.1 are read by their rules; later versions as 3.1.

mod arguments;
mod body;
mod context;
mod document;
mod media;
mod node;
mod operation;
mod parameter;
mod path;
mod reference;
mod response;
mod schema;
mod security;
mod server;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use toolgen_runtime::schema::dialect::JSON_SCHEMA;
use toolgen_runtime::schema::shape::decode::decode;
use toolgen_runtime::schema::shape::read::{Nesting, Rules};
use toolgen_runtime::spec::Example;
use toolgen_runtime::{List, ToolName, ToolSpec};

use self::context::Context;
use self::operation::Operation;
use crate::names::{Candidate, tool_names, with_namespace};
use crate::options::Options;
use crate::problem::Problems;
use crate::problem::codes;
use crate::source::{Document, Pointer};
use crate::tool::{Origin, Program, Tool};

/// Compiles a document. One bad operation costs that operation, with a problem, never the document.
///
/// `None` if it is no OpenAPI 3 document at all; the problem says why.
pub fn lower(document: &Arc<Document>, options: &Options, problems: &mut Problems) -> Option<Program> {
    let mut cx = Context::new(document, options, problems);
    let version = cx.claim_version()?;
    cx.name_defs();
    cx.read_schemes();
    let (operations, broken) = cx.operations();
    let names = cx.names(&operations);
    let selected = cx.selected(&operations, &names);
    let mut tools: Vec<Tool> = Vec::new();
    let mut schemas: Vec<Value> = Vec::new();
    let mut taken: BTreeSet<String> = BTreeSet::new();
    for ((operation, name), selected) in operations.iter().zip(&names).zip(selected) {
        if !selected {
            continue;
        }
        let Some(name) = cx.final_name(operation, name, &mut taken) else { continue };
        let compiled = cx.operation(operation, name);
        schemas.extend(compiled.schemas);
        tools.push(Tool { tool: compiled.tool, origin: origin(operation) });
    }
    let defs = cx.reached_defs(&schemas);
    for Tool { tool, .. } in &mut tools {
        tool.spec.defs = defs.clone();
        tool.spec.examples = fitting_examples(&tool.spec);
    }
    tools.sort_by(|left, right| left.tool.spec.name.cmp(&right.tool.spec.name));
    Some(Program { kind: "openapi", version, operations: operations.len() + broken, tools, defs })
}

/// The example calls a model may imitate: those the tool would take. Published examples often do not fit.
fn fitting_examples(spec: &ToolSpec) -> List<Example> {
    let fits = |example: &&Example| {
        serde_json::from_str::<Value>(&example.arguments)
            .is_ok_and(|call| decode(&call, spec.input.shape(), &spec.defs, &JSON_SCHEMA).is_ok())
    };
    spec.examples.iter().filter(fits).cloned().collect()
}

fn origin(operation: &Operation<'_>) -> Origin {
    Origin {
        pointer: operation.node.pointer.clone(),
        operation_id: operation.id.to_owned(),
        method: operation.method.clone(),
        path: operation.path.to_owned(),
    }
}

impl<'a> Context<'a> {
    fn new(document: &'a Arc<Document>, options: &'a Options, problems: &'a mut Problems) -> Context<'a> {
        Context {
            file: document.source.path.file_name().and_then(|name| name.to_str()),
            root: &document.root,
            options,
            version: Rules::OpenApi31,
            problems,
            defs: schema::Defs::default(),
            schemes: security::Schemes::default(),
            document_servers: None,
            security_at: BTreeMap::new(),
            told_callbacks: false,
            nesting: Nesting::default(),
        }
    }

    /// Checks that this is an OpenAPI 3 document and gives the version it claims.
    fn claim_version(&mut self) -> Option<String> {
        let top = self.top();
        let Some(version) = document::claimed_version(&top) else {
            let help = if top.get("swagger").is_some() {
                "Swagger 2.0 is not read; convert the document to OpenAPI 3 first"
            } else {
                "an OpenAPI document starts with `openapi: 3.1.0` or the like"
            };
            self.report(codes::NOT_OPENAPI, &Pointer::ROOT, "this is no OpenAPI 3 document", help);
            return None;
        };
        let pointer = Pointer::ROOT.child("openapi");
        let Some((rules, known)) = document::rules_of(&version) else {
            let message = format!("OpenAPI {version} is not supported");
            self.report(codes::VERSION, &pointer, message, "convert the document to OpenAPI 3.0 or 3.1");
            return None;
        };
        if !known {
            let message = format!("OpenAPI {version} is read by the rules of 3.1");
            self.report(codes::UNKNOWN_VERSION, &pointer, message, "what is new in it is not understood");
        }
        self.version = rules;
        Some(version)
    }

    /// The names of all operations without their namespace, renames applied. Names depend on the whole document,
    /// so that a filter changes no name.
    fn names(&mut self, operations: &[Operation<'a>]) -> Vec<String> {
        let candidates: Vec<Candidate<'_>> = operations
            .iter()
            .map(|operation| Candidate {
                operation_id: operation.id,
                method: &operation.method,
                path: operation.path,
            })
            .collect();
        let mut names = tool_names(&candidates);
        for (from, to) in &self.options.renames {
            self.rename(operations, &mut names, from, to);
        }
        names
    }

    fn rename(&mut self, operations: &[Operation<'a>], names: &mut [String], from: &str, to: &str) {
        let found: Vec<usize> = (0..operations.len())
            .filter(|&index| {
                let operation = &operations[index];
                operation.id == from
                    || names[index] == from
                    || format!("{} {}", operation.method, operation.path) == from
            })
            .collect();
        let problem = match (found.as_slice(), ToolName::parse(to.to_owned())) {
            (_, Err(why)) => format!("`{from}` cannot be renamed to `{to}`: {why}"),
            ([], _) => format!("there is no operation `{from}` to rename to `{to}`"),
            ([index], Ok(_))
                if names.iter().enumerate().all(|(other, name)| other == *index || name != to) =>
            {
                names[*index] = to.to_owned();
                return;
            }
            ([_], Ok(_)) => format!("`{from}` cannot be renamed to `{to}`: another tool has the name"),
            (_, Ok(_)) => format!("`{from}` names several operations, so none is renamed"),
        };
        let near = crate::select::did_you_mean(
            from,
            operations.iter().map(|operation| operation.id).chain(names.iter().map(String::as_str)),
        );
        let help = match near.filter(|near| near != from) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                "name the operation by its id or as `METHOD /path`, and give a legal, free name".to_owned()
            }
        };
        self.report(codes::RENAME, &Pointer::ROOT, problem, &help);
    }

    /// The name with its namespace, if no other tool has it.
    fn final_name(
        &mut self,
        operation: &Operation<'a>,
        name: &str,
        taken: &mut BTreeSet<String>,
    ) -> Option<ToolName> {
        let name = match &self.options.namespace {
            Some(namespace) => with_namespace(namespace, name),
            None => name.to_owned(),
        };
        self.note_name(operation, &name);
        match ToolName::parse(name.clone()) {
            Ok(parsed) if taken.insert(name.clone()) => Some(parsed),
            _ => {
                self.report(
                    codes::DUPLICATE_NAME,
                    &operation.node.pointer,
                    format!(
                        "another operation has the same method, path and name `{name}`; this one is left out"
                    ),
                    "give the operation an `operationId` of its own",
                );
                None
            }
        }
    }

    /// Says so where a tool is called otherwise than its operation.
    fn note_name(&mut self, operation: &Operation<'a>, name: &str) {
        let plain = self
            .options
            .namespace
            .as_deref()
            .map_or_else(|| operation.id.to_owned(), |namespace| with_namespace(namespace, operation.id));
        if plain == name {
            return;
        }
        let (message, help) = if operation.id.is_empty() {
            (
                format!("the operation has no operationId; its tool is called `{name}`"),
                "add an `operationId`, or rename the tool",
            )
        } else {
            (
                format!("the operation `{}` becomes the tool `{name}`", operation.id),
                "names are unique, at most 64 letters, digits, `_` and `-`; rename the tool if another one is better",
            )
        };
        self.report(codes::NAME, &operation.node.pointer, message, help);
    }
}
