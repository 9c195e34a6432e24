//! Documents that a manifest imports: `imports`.
//!
//! Each document is compiled like a direct input of the compiler, with the options of the import, and becomes a part
//! of the program. Errors in the options of an import are reported in the manifest, all others in the document.

use std::sync::Arc;

use serde_json::Value;
use toolgen_core::ExecutionPlan;

use super::attributes::Attributes;
use super::calls::fixed_effects;
use super::codes;
use super::compose::near;
use super::context::{Context, Imported, listed};
use super::files::is_same_file;
use super::keys::{self, Keys};
use super::node::Node;
use crate::frontend;
use crate::frontend::mcp::report_shadows;
use crate::names::with_namespace;
use crate::options::Options;
use crate::problem::{Problems, Severity};
use crate::selection::is_variable;
use crate::selector::Selector;
use crate::source::{Document, Pointer};
use crate::tool::{Part, Program, Tool};

/// The keys that determine the kind of an import.
const KINDS: [&str; 3] = ["openapi", "manifest", "mcp"];

impl<'a> Context<'a> {
    /// Compiles the documents of `imports`.
    pub(super) fn lower_imports(&mut self) {
        let top = self.top();
        let errors = self.errors;
        for node in self.list(&top, "imports").unwrap_or_default() {
            let kinds: Vec<&str> = KINDS.into_iter().filter(|kind| node.get(kind).is_some()).collect();
            match kinds.as_slice() {
                ["openapi"] => self.import(&node, "openapi", &keys::IMPORT_OPENAPI),
                ["manifest"] => self.import(&node, "manifest", &keys::IMPORT_MANIFEST),
                ["mcp"] => self.import_mcp(&node),
                _ if !node.value.is_object() => self.wrong_kind(&node, "an object", "write `openapi: FILE`"),
                _ => {
                    let message = format!("an import has exactly one of {}", listed(&KINDS));
                    let help = "write `openapi: FILE`, `manifest: FILE` or `mcp: {…}`";
                    self.report(codes::IMPORT, &node.pointer, message, help);
                }
            }
        }
        let programs: Vec<&Program> = self.imported.parts.iter().map(|(part, _)| &part.program).collect();
        report_shadows(&programs, self.problems);
        self.imported.incomplete = self.errors > errors;
    }

    fn import(&mut self, node: &Node<'a>, kind: &'static str, keys: &Keys) {
        let errors = self.errors;
        self.object(node, keys);
        let options = self.import_options(node);
        let (Some(text), Some(place)) = (self.text(node, kind), node.get(kind)) else { return };
        if let Err(message) = self.importing.count() {
            let help = "import each document once, in the manifest that its tools belong to";
            return self.report(codes::IMPORT, &place.pointer, message, help);
        }
        let Some(document) = self.imported_file(text, &place.pointer) else { return };
        let mut found = Problems::new();
        let document = self.overlaid(node, document, &mut found);
        if self.errors > errors {
            // With other options than intended, other operations would become tools.
            return;
        }
        found.set_source(Arc::clone(&document.source));
        let program = match kind {
            _ if found.has_errors() => None,
            "manifest" if self.is_importing(&document) => {
                let (message, help) = if document.source == self.document.source {
                    ("a manifest cannot import itself".to_owned(), "name another file")
                } else {
                    let message = format!("`{text}` imports this manifest, and cannot be imported by it");
                    (message, "move the shared parts into a third manifest")
                };
                return self.report(codes::IMPORT, &place.pointer, message, help);
            }
            _ if (kind == "manifest") != document.root.get("toolgen").is_some() => {
                let (is, other) = if kind == "manifest" { ("not a", "openapi") } else { ("a", "manifest") };
                let message = format!("`{text}` is {is} manifest");
                let help = format!("write `{other}: {text}`, or name another file");
                return self.report(codes::IMPORT, &place.pointer, message, help);
            }
            "manifest" => super::lower(&document, &options, &mut found, self.importing.within(self.document)),
            _ => frontend::compile(&document, &options, &mut found),
        };
        let selects = self.tell_choices(&mut found, &place.pointer);
        self.problems.append(found);
        match program {
            Some(program) if selects => {
                let namespace = node.value.get("namespace").and_then(Value::as_str);
                let file = text.rsplit('/').next().unwrap_or(text);
                let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or("imported");
                self.add_part(node, namespace.unwrap_or(stem), namespace, program, &place.pointer);
            }
            Some(_) => {}
            None => {
                let message = format!("`{text}` cannot be compiled as {}", article(kind));
                let help = "see the problems of the document and its overlays";
                self.report(codes::IMPORT, &place.pointer, message, help);
            }
        }
    }

    /// Returns a document by the string that names it.
    pub(super) fn imported_file(&mut self, text: &str, at: &Pointer) -> Option<Arc<Document>> {
        match self.read_file(text, 0) {
            Ok(index) => self.files.document(index).cloned(),
            Err((message, help)) => {
                self.report(codes::IMPORT, at, message, help);
                None
            }
        }
    }

    /// Whether a document is this manifest, or one that imports it.
    fn is_importing(&self, document: &Document) -> bool {
        self.importing.chain.iter().chain([self.document]).any(|one| is_same_file(one, document))
    }

    /// Reads the options of an import.
    pub(super) fn import_options(&mut self, node: &Node<'a>) -> Options {
        let mut options =
            Options { deprecated: self.flag(node, "deprecated").unwrap_or(true), ..Options::default() };
        options.namespace = self.namespace_of(node).map(str::to_owned);
        for (key, selectors) in [("include", &mut options.include), ("exclude", &mut options.exclude)] {
            let texts = self.texts(node, key).unwrap_or_default();
            selectors.extend(texts.into_iter().map(|(text, _)| Selector::from(text)));
        }
        for (key, of, map) in [
            ("rename", "the new names of operations", &mut options.renames),
            ("credentials", "environment variables of security schemes", &mut options.credentials),
        ] {
            for (from, at) in self.object_members(node, key, of) {
                if let Some(to) = self.text_of(&at) {
                    if key == "credentials" {
                        self.check_variable(to, &at);
                        if !is_variable(to) {
                            continue;
                        }
                    }
                    map.insert(from.to_owned(), to.to_owned());
                }
            }
        }
        for (argument, at) in self.object_members(node, "fix", "values of arguments") {
            // The argument may be a string, whose characters matter, or a number: its type is unknown here.
            let written = self.document.written.at(at.value, &at.pointer).filter(|_| at.value.is_number());
            if let Some(written) = written {
                let message = format!("`{written}` is read as the number {}", at.value);
                let help = format!("put it in quotes if you mean the string, or write `{}`", at.value);
                self.report(codes::WRONG_KIND, &at.pointer, message, help);
            }
            options = options.fix(argument, at.value.clone());
        }
        for (argument, _) in self.texts(node, "omit").unwrap_or_default() {
            options = options.omit(argument);
        }
        options
    }

    /// Returns the document with the overlays of the import applied.
    fn overlaid(
        &mut self,
        node: &Node<'a>,
        mut document: Arc<Document>,
        found: &mut Problems,
    ) -> Arc<Document> {
        for (text, at) in self.texts(node, "overlay").unwrap_or_default() {
            let Some(overlay) = self.imported_file(text, &at) else { continue };
            document = Arc::new(document.overlaid(&overlay, found));
        }
        document
    }

    /// Reports errors in the options of an import at the import, and not in the document. Returns `false` if no tool
    /// of the document may be used.
    pub(super) fn tell_choices(&mut self, found: &mut Problems, at: &Pointer) -> bool {
        let mut selects = true;
        for problem in found.take_choices() {
            let is_error = problem.severity() == Severity::Error;
            selects &= !is_error;
            let code = if is_error { codes::IMPORT_CHOICE } else { codes::IMPORT_OPTION };
            self.report(code, at, problem.message, problem.help);
        }
        selects
    }

    /// Adds a compiled document, after its `overrides`.
    pub(super) fn add_part(
        &mut self,
        node: &Node<'a>,
        name: &str,
        namespace: Option<&str>,
        mut program: Program,
        at: &Pointer,
    ) {
        for (name, attributes) in self.object_members(node, "overrides", "attributes of tools") {
            self.override_tool(&mut program, name, namespace, &attributes);
        }
        let Imported { toolsets, contexts, sources, parts, servers: _, incomplete: _ } = &mut self.imported;
        toolsets.extend(std::mem::take(&mut program.toolsets).into_iter().map(|set| (set, at.clone())));
        contexts.extend(std::mem::take(&mut program.contexts).into_iter().map(|one| (one, at.clone())));
        sources.append(&mut program.sources);
        parts.push((Part { name: name.to_owned(), program }, at.clone()));
    }

    /// Changes attributes of an imported tool.
    fn override_tool(&mut self, program: &mut Program, name: &str, namespace: Option<&str>, node: &Node<'a>) {
        if !self.object(node, &keys::OVERRIDE) {
            return;
        }
        let full = namespace.map(|namespace| with_namespace(namespace, name));
        let is_meant =
            |tool: &Tool| tool.spec.name.as_str() == name || Some(tool.spec.name.as_str()) == full.as_deref();
        let found = program.all_tools().into_iter().find(|tool| is_meant(tool));
        let of = |tool: &Tool| (kind_of(&tool.call), fixed_effects(kind_of(&tool.call), Some(&tool.call)));
        let Some((mut spec, (kind, fixed))) = found.map(|tool| (tool.spec.clone(), of(tool))) else {
            let known: Vec<&str> = program.all_tools().iter().map(|tool| tool.spec.name.as_str()).collect();
            let message = format!("the import has no tool `{name}`");
            return self.report(codes::OVERRIDE, &node.pointer, message, near(name, &known, &[]));
        };
        let attributes = Attributes { own: node.clone(), shared: None };
        self.attributes(&attributes, &mut spec);
        if node.get("examples").is_some() {
            self.examples(node, &mut spec);
        }
        spec.effects = self.effects(&attributes, spec.effects.clone(), fixed);
        if kind == "command" {
            self.check_network(&attributes, &spec.effects);
        }
        if let Some(tool) = program.find_mut(&spec.name) {
            tool.spec = spec;
        }
    }
}

/// Returns the kind of a tool that determines its effects.
fn kind_of(call: &ExecutionPlan) -> &'static str {
    match call {
        ExecutionPlan::Http(_) => "http",
        ExecutionPlan::Command(_) => "command",
        ExecutionPlan::Compose(_) => "compose",
        _ => "",
    }
}

/// Returns the noun for an import of a kind, with its article.
fn article(kind: &str) -> &'static str {
    if kind == "manifest" { "a manifest" } else { "an OpenAPI document" }
}
