//! Prints programs as Rust source text.
//!
//! A tool becomes one `static`: a literal of the runtime's own types, equal to the value in the program. No code is
//! generated for it, so a document of a thousand tools costs rustc little more than reading the file.
//!
//! The output depends on little, so that it compiles anywhere: every path is absolute or comes from one import inside
//! a static's own block, nothing comes from the implicit prelude, and strings of the document occur only in string
//! literals. It contains no time and no local path: two runs give identical bytes.

mod call;
mod categories;
mod expr;
mod fields;
mod functions;
mod idents;
mod literal;
mod modules;
mod package;
mod pool;
mod rules;
mod rust_types;
mod sets;
mod size;
mod spec;
mod text_type;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use toolgen_core::spec::toolset::Toolset;
use toolgen_core::{ExecutionPlan, Shape, ToolSpec};

use crate::tool::{Part, Program, Success, Tool};
use crate::write::MARK;
pub use literal::{string as string_literal, visible};
pub use modules::Modules;
pub use package::{Needs, RuntimeDependency, mark, module_name, package, program};

pub use text_type::TextType;

use expr::Expr;
use idents::Names;
use modules::Tag;
use pool::{Pool, Shared};

/// The style of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleStyle {
    /// The source of the module, for its first line: the document's file name, without directories.
    pub source: String,
    /// The path of the runtime crate in the module; `::toolgen_runtime` unless the dependency is renamed.
    pub runtime: String,
    /// Whether argument and result structs are written too.
    pub types: bool,
    /// The paths of additional macros that these structs and enums derive, such as `::schemars::JsonSchema`.
    pub derives: Vec<String>,
    /// The crates whose types they use instead of strings. If two crates have a type for one format, the first is
    /// used.
    pub text_types: Vec<TextType>,
    /// How the tools are divided into modules.
    pub modules: Modules,
}

impl ModuleStyle {
    /// Returns the default style for a module made from this document.
    #[must_use]
    pub fn new(source: impl Into<String>) -> ModuleStyle {
        ModuleStyle {
            source: source.into(),
            runtime: "::toolgen_runtime".to_owned(),
            types: true,
            derives: Vec::new(),
            text_types: Vec::new(),
            modules: Modules::One,
        }
    }
}

/// Returns the source text of a Rust module that holds the program's tools: a `pub static` for each, a constant with
/// its name, and the list `TOOLS`, sorted by name. Imported documents become nested modules, and so do tags if the
/// style requests them; `TOOLS` lists the tools of all of them.
///
/// It has no inner attributes, so it can be included into any module.
#[must_use]
pub fn module(program: &Program, style: &ModuleStyle) -> String {
    let mut out = header(program, style);
    let module = Module::new(program, style.modules);
    module.write(style, &mut out);
    rules::write(program, style, &mut out);
    // Modules of tags correspond to the categories.
    if module.tags.is_empty() || !module.parts.is_empty() {
        categories::write(&module.all(), style, &mut out);
    }
    out
}

/// A program with the names that its items get.
struct Module<'p> {
    program: &'p Program,
    tools: Vec<Static<'p>>,
    shared: Vec<Shared>,
    /// The modules of tags.
    tags: Vec<Tag<'p>>,
    /// The names of the constants of the toolsets.
    sets: Vec<String>,
    /// The imported documents, with the names of their modules.
    parts: Vec<(String, Module<'p>)>,
}

/// A tool to be printed.
struct Static<'p> {
    ident: String,
    /// The index of the tag whose module contains it.
    tag_index: Option<usize>,
    spec: &'p ToolSpec,
    call: &'p ExecutionPlan,
    failure: Option<&'p Shape>,
    success: &'p Success,
    /// The operation, for a comment.
    title: String,
    value: Expr,
}

/// A tool of a module or of a nested module.
struct Listed<'m> {
    /// The path of its static from the module.
    path: String,
    tool: &'m Static<'m>,
}

impl<'p> Module<'p> {
    fn new(program: &'p Program, layout: Modules) -> Module<'p> {
        let mut pool = Pool::default();
        let mut names = Names::reserving(&["TOOLS"]);
        let mut tools = Vec::with_capacity(program.tools.len());
        let mut modules = Names::reserving(&modules::RESERVED);
        let part =
            |part: &'p Part| (modules.take(&idents::snake(&part.name)), Module::new(&part.program, layout));
        let parts = program.parts.iter().map(part).collect();
        let (tags, tag_indices) = modules::tag_modules(&program.tools, layout, &mut modules);
        for (Tool { spec, call, failure, success, origin }, tag_index) in
            program.tools.iter().zip(tag_indices)
        {
            let value = vec![("spec", spec::spec(spec, &mut pool)), ("call", call::call(call, &mut pool))];
            let value = Expr::Struct { head: "Tool", fields: value, base: None };
            let (title, failure) = (visible(&origin.title), failure.as_ref());
            let ident = String::new();
            tools.push(Static { ident, tag_index, spec, call, failure, success, title, value });
        }
        let shared = pool.into_statics();
        for Shared { name, .. } in &shared {
            names.take(name);
        }
        for tool in &mut tools {
            tool.ident = names.take_pair(&idents::screaming(tool.spec.name.as_str()));
        }
        let constant = |set: &Toolset| format!("TOOLSET_{}", idents::screaming(&set.name));
        let sets = program.toolsets.iter().map(|set| names.take(&constant(set))).collect();
        Module { program, tools, shared, tags, sets, parts }
    }

    fn write(&self, style: &ModuleStyle, out: &mut String) {
        let paths = self.all().into_iter().map(|tool| tool.path);
        write_list("All tools of this module, sorted by name.", paths, style, out);
        for tool in self.tools.iter().filter(|tool| tool.tag_index.is_none()) {
            write_tool(tool, style, out);
        }
        sets::write(self.program, &self.sets, style, out);
        let requests: Vec<_> = self.tools.iter().filter(|_| style.types).map(Static::type_request).collect();
        let tags: Vec<&str> = self.tags.iter().map(|tag| tag.name.as_str()).collect();
        let types = rust_types::types(&requests, &self.program.defs, &tags, style);
        functions::write(&self.tools, &types.calls, style, out);
        out.push_str(&types.text);
        for shared in &self.shared {
            write_shared(shared, style, out);
        }
        modules::write(self, &types.tags, style, out);
        for (name, part) in &self.parts {
            let Program { kind, version, .. } = part.program;
            let _ = write!(out, "\n/// Imported tools ({kind} {}).\npub mod {name} {{", visible(version));
            part.write(style, out);
            out.push_str("}\n");
        }
    }

    /// Returns the tools of the module and of nested modules, sorted by name.
    fn all(&self) -> Vec<Listed<'_>> {
        let mut all = Vec::new();
        self.list("", &mut all);
        all.sort_by(|left, right| left.tool.spec.name.cmp(&right.tool.spec.name));
        all
    }

    /// Collects the tools of the module and of nested modules, with the paths of their statics after `prefix`.
    fn list<'m>(&'m self, prefix: &str, all: &mut Vec<Listed<'m>>) {
        let own_tools = self.tools.iter().map(|tool| {
            let tag = tool.tag_index.and_then(|tag_index| self.tags.get(tag_index));
            let module = tag.map_or_else(String::new, |tag| format!("{}::", tag.name));
            Listed { path: format!("{prefix}{module}{}", tool.ident), tool }
        });
        all.extend(own_tools);
        for (name, part) in &self.parts {
            part.list(&format!("{prefix}{name}::"), all);
        }
    }
}

impl Static<'_> {
    fn is_function(&self) -> bool {
        *self.call == ExecutionPlan::Function
    }

    /// Returns the pointer to the list in the result whose items the engine reads one by one, as pages or as a
    /// sequence.
    fn items(&self) -> Option<&str> {
        let plan = self.call.http()?;
        let is_sequence = |name: &str| {
            const SEQUENCES: [&str; 5] = ["event-stream", "ndjson", "jsonl", "jsonlines", "json-seq"];
            let essence = name.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            SEQUENCES.iter().any(|sequence| essence.ends_with(sequence))
        };
        match &plan.pagination {
            Some(pages) => Some(&pages.items),
            None => (!plan.accept.is_empty() && plan.accept.split(',').all(is_sequence)).then_some(""),
        }
    }

    fn type_request(&self) -> rust_types::TypeRequest<'_> {
        let Static { ident, tag_index, spec, title, failure, success, .. } = self;
        let is_function = self.is_function();
        rust_types::TypeRequest {
            ident,
            tag_index: *tag_index,
            operation: title,
            spec,
            failure: *failure,
            success,
            items: self.items(),
            is_function,
        }
    }
}

fn header(program: &Program, style: &ModuleStyle) -> String {
    let runtime = &style.runtime;
    let mut out = format!(
        "// Generated by toolgen {} from {} ({} {}). {MARK}\n\n",
        env!("CARGO_PKG_VERSION"),
        visible(&style.source),
        program.kind,
        visible(&program.version),
    );
    let contract = toolgen_core::internal::CONTRACT;
    let _ = writeln!(out, "const _: () = {runtime}::__private::generated_by({contract});");
    out
}

/// Writes a list of tools, given by the paths of their statics.
fn write_list(doc: &str, paths: impl Iterator<Item = String>, style: &ModuleStyle, out: &mut String) {
    let _ = write!(out, "\n/// {doc}\n");
    let head = format!("pub static TOOLS: &[&{}::Tool] = ", style.runtime);
    out.push_str(&head);
    let items = paths.map(|path| Expr::atom(format!("&{path}"))).collect();
    Expr::Borrow(Box::new(Expr::Array(items))).write(0, head.len(), 1, out);
    out.push_str(";\n");
}

/// Writes a module around its items. No literal in them spans several lines.
fn write_module(doc: &str, name: &str, items: &str, out: &mut String) {
    let _ = writeln!(out, "\n/// {doc}\npub mod {name} {{");
    for line in items.trim_start_matches('\n').lines() {
        let _ = writeln!(out, "{}{line}", if line.is_empty() { "" } else { "    " });
    }
    out.push_str("}\n");
}

fn write_tool(tool: &Static<'_>, style: &ModuleStyle, out: &mut String) {
    let Static { ident, spec, title, value, .. } = tool;
    let (runtime, tool_name) = (&style.runtime, &spec.name);
    let _ = write!(
        out,
        "\n/// The name of [`{ident}`].\npub const TOOL_{ident}: &::core::primitive::str = \"{tool_name}\";\n\
         /// `{title}`\n\
         pub static {ident}: {runtime}::Tool = {{\n    use {runtime}::__private::prelude::*;\n    ",
    );
    value.write(4, 4, 0, out);
    out.push_str("\n};\n");
}

fn write_shared(shared: &Shared, style: &ModuleStyle, out: &mut String) {
    let Shared { name, item, items } = shared;
    let runtime = &style.runtime;
    let _ = write!(
        out,
        "\nstatic {name}: [{runtime}::{item}; {}] = {{\n    use {runtime}::__private::prelude::*;\n    ",
        items.len()
    );
    Expr::Array(items.clone()).write(4, 4, 0, out);
    out.push_str("\n};\n");
}
