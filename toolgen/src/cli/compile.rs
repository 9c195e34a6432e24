//! What all commands that read documents do first.

use std::path::{Path, PathBuf};

use toolgen::frontend::openapi;
use toolgen::{Document, Problems, Program, Severity, Tool};

use super::args::Selection;
use super::output::Output;

/// A document and what became of it.
pub(super) struct Compiled {
    pub(super) path: PathBuf,
    /// Nothing if the document cannot be compiled at all.
    pub(super) program: Option<Program>,
    pub(super) problems: Problems,
}

/// Compiles one document.
pub(super) fn compile(path: &Path, selection: &Selection, output: &mut Output) -> Compiled {
    output.progress(&format!("reading {}", path.display()));
    let mut problems = Problems::new();
    let document = Document::load(path, &mut problems);
    let program = document.and_then(|document| {
        output.progress(&format!("compiling {}", path.display()));
        openapi::lower(&document, &selection.options, &mut problems)
    });
    Compiled { path: path.to_path_buf(), program, problems }
}

/// Compiles the documents of a command that is about their tools, and says on the standard error what was left out.
/// Whether every document could be compiled.
pub(super) fn compile_all(selection: &Selection, output: &mut Output) -> (Vec<Compiled>, bool) {
    let mut all = Vec::with_capacity(selection.documents.len());
    for path in &selection.documents {
        let compiled = compile(path, selection, output);
        output.problems(&compiled.problems, Severity::Error);
        let warnings = compiled.problems.count(Severity::Warning);
        if warnings > 0 {
            let path = path.display();
            let noun = if warnings == 1 { "warning" } else { "warnings" };
            output.note(&format!("{warnings} {noun}; `cargo toolgen check {path}` has the details"));
        }
        all.push(compiled);
    }
    let complete = all.iter().all(|compiled| compiled.program.is_some());
    (all, complete)
}

impl Compiled {
    /// The tools, none if the document could not be compiled.
    pub(super) fn tools(&self) -> &[Tool] {
        self.program.as_ref().map_or(&[], |program| &program.tools)
    }
}

/// The tools of these names, or all if none is named. An error names the first that does not exist.
pub(super) fn choose<'a>(compiled: &'a [Compiled], names: &[String]) -> Result<Vec<&'a Tool>, String> {
    let all = || compiled.iter().flat_map(Compiled::tools);
    if names.is_empty() {
        return Ok(all().collect());
    }
    let mut chosen = Vec::with_capacity(names.len());
    for name in names {
        let found = all().find(|tool| tool.tool.spec.name.as_str() == name);
        chosen.push(found.ok_or_else(|| unknown(name, all()))?);
    }
    Ok(chosen)
}

/// What to say about a tool that does not exist.
fn unknown<'a>(name: &str, tools: impl Iterator<Item = &'a Tool>) -> String {
    let names = tools.map(|tool| tool.tool.spec.name.as_str());
    let nearest =
        names.map(|known| (strsim::jaro_winkler(name, known), known)).max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((likeness, known)) if likeness > 0.8 => {
            format!("there is no tool `{name}`; did you mean `{known}`?")
        }
        _ => format!("there is no tool `{name}`; `cargo toolgen list` shows what there is"),
    }
}
