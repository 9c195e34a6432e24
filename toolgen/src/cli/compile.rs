//! Compiles documents, the first step of all commands that read them.

use std::path::{Path, PathBuf};

use toolgen::problem::keep_common;
use toolgen::select::did_you_mean;
use toolgen::{Document, Problem, Problems, Program, Severity, Tool};

use super::args::Selection;
use super::output::Output;

/// A document and its compiled form.
pub(super) struct Compiled {
    pub(super) path: PathBuf,
    /// `None` if nothing of the document is used.
    pub(super) program: Option<Program>,
    pub(super) problems: Problems,
}

/// Compiles the documents of a command. What is wrong with options counts only if it is for all documents.
pub(super) fn compile_each(selection: &Selection, output: &mut Output) -> Vec<Compiled> {
    let documents = selection.documents.iter();
    let mut all: Vec<Compiled> = documents.map(|path| compile(path, selection, output)).collect();
    let with_program = all.iter_mut().filter(|compiled| compiled.program.is_some());
    keep_common(with_program.map(|compiled| &mut compiled.problems));
    all
}

fn compile(path: &Path, selection: &Selection, output: &mut Output) -> Compiled {
    output.progress(&format!("reading {}", path.display()));
    let mut problems = Problems::new();
    let document = Document::load(path, &mut problems);
    let program = document.and_then(|document| {
        output.progress(&format!("compiling {}", path.display()));
        toolgen::compile(&document, &selection.options, &mut problems)
    });
    Compiled { path: path.to_path_buf(), program, problems }
}

/// Compiles the documents of a command that is about their tools, and reports on the standard error what was left out
/// and which options matched nothing. If an exclusion is among them, no document counts as compiled: an operation that is
/// meant to be left out must not become a tool.
///
/// Also returns whether every document could be compiled and tools are left.
pub(super) fn compile_all(selection: &Selection, output: &mut Output) -> (Vec<Compiled>, bool) {
    let mut all = compile_each(selection, output);
    if all.iter().any(|compiled| compiled.problems.missed_exclusion()) {
        all.iter_mut().for_each(|compiled| compiled.program = None);
    }
    let is_told = |problem: &Problem| problem.severity() == Severity::Error || problem.code.is_choice();
    for Compiled { path, problems, .. } in &all {
        output.problems(problems, is_told);
        let others = problems.as_slice().iter();
        let others = others.filter(|one| one.severity() == Severity::Warning && !is_told(one)).count();
        if others > 0 {
            let path = path.display();
            let options = selection.options.command_line();
            let noun = if others == 1 { "warning" } else { "warnings" };
            output.note(&format!("{others} {noun}; `cargo toolgen check {path}{options}` has the details"));
        }
    }
    let none_left = all.iter().all(|one| one.tools().is_empty())
        && all.iter().any(|compiled| compiled.problems.left_no_tools());
    let complete = all.iter().all(|compiled| compiled.program.is_some()) && !none_left;
    (all, complete)
}

impl Compiled {
    /// Returns the tools, or an empty list if the document could not be compiled.
    pub(super) fn tools(&self) -> Vec<&Tool> {
        self.program.as_ref().map_or_else(Vec::new, Program::all_tools)
    }
}

/// Returns the tools of these names, or all if none is named. An error names the first that does not exist.
pub(super) fn choose<'a>(compiled: &'a [Compiled], names: &[String]) -> Result<Vec<&'a Tool>, String> {
    let all = || compiled.iter().flat_map(Compiled::tools);
    if names.is_empty() {
        return Ok(all().collect());
    }
    let mut chosen = Vec::with_capacity(names.len());
    for name in names {
        let found = all().find(|tool| tool.spec.name.as_str() == name);
        chosen.push(found.ok_or_else(|| unknown(name, all()))?);
    }
    Ok(chosen)
}

/// Returns the message for a tool that does not exist.
fn unknown<'a>(name: &str, tools: impl Iterator<Item = &'a Tool>) -> String {
    match did_you_mean(name, tools.map(|tool| tool.spec.name.as_str())) {
        Some(known) => format!("there is no tool `{name}`; did you mean `{known}`?"),
        None => format!("there is no tool `{name}`; `cargo toolgen list` shows what there is"),
    }
}
