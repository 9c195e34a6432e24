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
use super::compose::suggest_tool;
use super::context::{Context, Imported, quoted_list};
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
use crate::size;
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
                _ if !node.value.is_object() => {
                    self.report_wrong_type(&node, "an object", "write `openapi: FILE`");
                }
                _ => {
                    let message = format!("an import has exactly one of {}", quoted_list(&KINDS));
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
        let (Some(text), Some(file_node)) = (self.text(node, kind), node.get(kind)) else { return };
        if let Err(message) = self.importing.count() {
            let help = "import each document once, in the manifest that its tools belong to";
            return self.report(codes::IMPORT, &file_node.pointer, message, help);
        }
        let Some(document) = self.imported_file(text, &file_node.pointer) else { return };
        let mut import_problems = Problems::new();
        let document = self.overlaid(node, document, &mut import_problems);
        if self.errors > errors {
            // With invalid options, unintended operations would become tools.
            return;
        }
        import_problems.set_source(Arc::clone(&document.source));
        let program = match kind {
            _ if import_problems.has_errors() => None,
            "manifest" if self.is_importing(&document) => {
                let (message, help) = if document.source == self.document.source {
                    ("a manifest cannot import itself".to_owned(), "name another file")
                } else {
                    let message = format!("`{text}` imports this manifest, and cannot be imported by it");
                    (message, "move the shared parts into a third manifest")
                };
                return self.report(codes::IMPORT, &file_node.pointer, message, help);
            }
            _ if (kind == "manifest") != document.root.get("toolgen").is_some() => {
                let (expectation, other) =
                    if kind == "manifest" { ("not a", "openapi") } else { ("a", "manifest") };
                let message = format!("`{text}` is {expectation} manifest");
                let help = format!("write `{other}: {text}`, or name another file");
                return self.report(codes::IMPORT, &file_node.pointer, message, help);
            }
            "manifest" => super::lower(
                &document,
                &options,
                &mut import_problems,
                self.importing.extended_by(self.document),
            ),
            _ => frontend::compile(&document, &options, &mut import_problems),
        };
        let is_selection_valid = self.report_option_problems(&mut import_problems, &file_node.pointer);
        self.problems.append(import_problems);
        match program {
            Some(program) if is_selection_valid => {
                let namespace = node.value.get("namespace").and_then(Value::as_str);
                let file = text.rsplit('/').next().unwrap_or(text);
                let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or("imported");
                self.add_part(node, namespace.unwrap_or(stem), namespace, program, &file_node.pointer);
            }
            Some(_) => {}
            None => {
                let message = format!("`{text}` cannot be compiled as {}", article(kind));
                let help = "see the problems of the document and its overlays";
                self.report(codes::IMPORT, &file_node.pointer, message, help);
            }
        }
    }

    /// Reads the document that a string names.
    pub(super) fn imported_file(&mut self, text: &str, pointer: &Pointer) -> Option<Arc<Document>> {
        match self.read_file(text, 0) {
            Ok(index) => self.files.document(index).cloned(),
            Err((message, help)) => {
                self.report(codes::IMPORT, pointer, message, help);
                None
            }
        }
    }

    /// Whether a document is this manifest, or a manifest that imports it.
    fn is_importing(&self, document: &Document) -> bool {
        self.importing.chain.iter().chain([self.document]).any(|manifest| is_same_file(manifest, document))
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
        for (key, contents, map) in [
            ("rename", "the new names of operations", &mut options.renames),
            ("credentials", "environment variables of security schemes", &mut options.credentials),
        ] {
            for (original, value_node) in self.object_members(node, key, contents) {
                if let Some(replacement) = self.text_of(&value_node) {
                    if key == "credentials" {
                        self.check_variable(replacement, &value_node);
                        if !is_variable(replacement) {
                            continue;
                        }
                    }
                    map.insert(original.to_owned(), replacement.to_owned());
                }
            }
        }
        for (argument, value_node) in self.object_members(node, "fix", "values of arguments") {
            // The type of the argument is not known yet: for a string, the source text matters.
            let source_text = self
                .document
                .written
                .at(value_node.value, &value_node.pointer)
                .filter(|_| value_node.value.is_number());
            if let Some(source_text) = source_text {
                let message = format!("`{source_text}` is read as the number {}", value_node.value);
                let help =
                    format!("put it in quotes if you mean the string, or write `{}`", value_node.value);
                self.report(codes::WRONG_KIND, &value_node.pointer, message, help);
            }
            options = options.fix(argument, value_node.value.clone());
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
        import_problems: &mut Problems,
    ) -> Arc<Document> {
        for (text, pointer) in self.texts(node, "overlay").unwrap_or_default() {
            let Some(overlay) = self.imported_file(text, &pointer) else { continue };
            document = Arc::new(document.overlaid(&overlay, import_problems));
        }
        document
    }

    /// Reports errors in the options of an import at the import, not in the document. Returns `false` if no tool
    /// of the document may be used.
    pub(super) fn report_option_problems(
        &mut self,
        import_problems: &mut Problems,
        pointer: &Pointer,
    ) -> bool {
        let mut is_selection_valid = true;
        for problem in import_problems.take_option_problems() {
            let is_error = problem.severity() == Severity::Error;
            is_selection_valid &= !is_error;
            let code = if is_error { codes::IMPORT_CHOICE } else { codes::IMPORT_OPTION };
            self.report(code, pointer, problem.message, problem.help);
        }
        is_selection_valid
    }

    /// Applies the `overrides` to a compiled document, and adds it.
    pub(super) fn add_part(
        &mut self,
        node: &Node<'a>,
        name: &str,
        namespace: Option<&str>,
        mut program: Program,
        pointer: &Pointer,
    ) {
        if let Some(projection) = self.projection(node) {
            size::project(&mut program, projection);
        }
        for (name, attributes) in self.object_members(node, "overrides", "attributes of tools") {
            self.override_tool(&mut program, name, namespace, &attributes);
        }
        let Imported { toolsets, contexts, sources, parts, servers: _, incomplete: _ } = &mut self.imported;
        toolsets.extend(std::mem::take(&mut program.toolsets).into_iter().map(|set| (set, pointer.clone())));
        contexts.extend(
            std::mem::take(&mut program.contexts).into_iter().map(|context| (context, pointer.clone())),
        );
        sources.append(&mut program.sources);
        parts.push((Part { name: name.to_owned(), program }, pointer.clone()));
    }

    /// Changes attributes of an imported tool.
    fn override_tool(&mut self, program: &mut Program, name: &str, namespace: Option<&str>, node: &Node<'a>) {
        if !self.object(node, &keys::OVERRIDE) {
            return;
        }
        let full_name = namespace.map(|namespace| with_namespace(namespace, name));
        let is_named = |tool: &Tool| {
            tool.spec.name.as_str() == name || Some(tool.spec.name.as_str()) == full_name.as_deref()
        };
        let tool = program.all_tools().into_iter().find(|tool| is_named(tool));
        let kind_and_effects =
            |tool: &Tool| (kind_of(&tool.call), fixed_effects(kind_of(&tool.call), Some(&tool.call)));
        let Some((mut spec, (kind, fixed))) = tool.map(|tool| (tool.spec.clone(), kind_and_effects(tool)))
        else {
            let known: Vec<&str> = program.all_tools().iter().map(|tool| tool.spec.name.as_str()).collect();
            let message = format!("the import has no tool `{name}`");
            return self.report(codes::OVERRIDE, &node.pointer, message, suggest_tool(name, &known, &[]));
        };
        let attributes = Attributes { own: node.clone(), shared: None };
        self.attributes(&attributes, &mut spec);
        if node.get("examples").is_some() {
            self.examples(node, &mut spec);
        }
        self.hints(node, &mut spec);
        if let Some(projection) = self.projection(node) {
            spec = projection.apply(spec);
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

/// Returns the kind of a tool that determines its effects; empty for other kinds.
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
