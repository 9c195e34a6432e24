//! Compiles documents, the first step of all commands that read them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toolgen::problem::keep_common;
use toolgen::select::did_you_mean;
use toolgen::source::Pointer;
use toolgen::{Document, Problem, Problems, Program, Severity, Tool};
use toolgen_runtime::Call;
use toolgen_runtime::spec::Requirement;

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
/// If tools are `wanted` and all there, what is wrong elsewhere is only counted.
///
/// Also returns whether every document could be compiled and tools are left.
pub(super) fn compile_all(
    selection: &Selection,
    wanted: &[String],
    output: &mut Output,
) -> (Vec<Compiled>, bool) {
    let mut all = compile_each(selection, output);
    if all.iter().any(|compiled| compiled.problems.missed_exclusion()) {
        all.iter_mut().for_each(|compiled| compiled.program = None);
    }
    let all_there = !wanted.is_empty() && choose(&all, wanted).is_ok();
    let is_told =
        |problem: &Problem| problem.code.is_choice() || (problem.severity() == Severity::Error && !all_there);
    for Compiled { path, problems, .. } in &all {
        output.problems(problems, is_told);
        for (severity, noun, place) in
            [(Severity::Error, "error", " elsewhere"), (Severity::Warning, "warning", "")]
        {
            let others = problems.as_slice().iter();
            let others = others.filter(|one| one.severity() == severity && !is_told(one)).count();
            if others > 0 {
                let path = path.display();
                let options = selection.options.command_line();
                let plural = if others == 1 { "" } else { "s" };
                output.note(&format!(
                    "{others} {noun}{plural}{place}; `cargo toolgen check {path}{options}` has the details"
                ));
            }
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
        chosen.push(found.ok_or_else(|| unknown(name, compiled))?);
    }
    Ok(chosen)
}

/// Returns the message for a tool that does not exist, or that has mistakes.
fn unknown(name: &str, compiled: &[Compiled]) -> String {
    let problems = compiled.iter().flat_map(|compiled| compiled.problems.as_slice());
    let errors = problems.filter(|problem| problem.severity() == Severity::Error);
    let broken: BTreeSet<String> = errors.filter_map(|problem| named_tool(&problem.pointer)).collect();
    if broken.contains(name) {
        return format!("the tool `{name}` has mistakes, see above");
    }
    let tools = compiled.iter().flat_map(Compiled::tools).map(|tool| tool.spec.name.as_str());
    match did_you_mean(name, tools.chain(broken.iter().map(String::as_str))) {
        Some(known) => format!("there is no tool `{name}`; did you mean `{known}`?"),
        None => format!("there is no tool `{name}`; `cargo toolgen list` shows what there is"),
    }
}

/// Returns the name of the tool of a manifest that a place belongs to.
fn named_tool(place: &Pointer) -> Option<String> {
    let mut tokens = place.tokens();
    tokens.next().filter(|first| first == "tools")?;
    tokens.next().map(|name| name.into_owned())
}

/// Leaves out the tools that cannot run, and says why. `meets` tells whether a requirement
/// is met where the tools of these names are left out.
pub(super) fn leave_out(
    program: &mut Program,
    meets: impl Fn(&Requirement, &BTreeSet<String>) -> bool,
    output: &mut Output,
) {
    let mut out: BTreeSet<String> = BTreeSet::new();
    loop {
        let more: Vec<(String, String)> = program
            .all_tools()
            .into_iter()
            .filter(|tool| !out.contains(tool.spec.name.as_str()))
            .filter_map(|tool| Some((tool.spec.name.to_string(), lacks(tool, &out, &meets)?)))
            .collect();
        if more.is_empty() {
            break;
        }
        for (name, why) in more {
            output.note(&format!("`{name}` is left out: {why}"));
            out.insert(name);
        }
    }
    retain(program, &out);
}

/// Returns what a tool needs that is not there.
fn lacks(
    tool: &Tool,
    out: &BTreeSet<String>,
    meets: impl Fn(&Requirement, &BTreeSet<String>) -> bool,
) -> Option<String> {
    let mut needed = tool.spec.requires.iter().filter(|requirement| !requirement.optional);
    if let Some(needed) = needed.find(|needed| !meets(needed, out)) {
        return Some(format!("its requirement \"{}\" cannot be met here", needed.told()));
    }
    match &tool.call {
        Call::Function => Some("it is a function that a program would have to implement".to_owned()),
        Call::Agent(_) => Some("it is an agent, which needs a model".to_owned()),
        Call::Effect(plan) => {
            Some(format!("it asks the program for `{}`, which nobody does here", plan.name))
        }
        call => {
            let missing = call.tools().into_iter().find(|called| out.contains(*called));
            missing.map(|called| format!("it calls `{called}`"))
        }
    }
}

fn retain(program: &mut Program, out: &BTreeSet<String>) {
    program.tools.retain(|tool| !out.contains(tool.spec.name.as_str()));
    // Sets may name what is left out, and a program has no agent that would use them.
    program.toolsets.clear();
    program.contexts.clear();
    program.parts.iter_mut().for_each(|part| retain(&mut part.program, out));
}
