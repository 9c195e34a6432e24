//! `check`: reports the diagnostics of documents.

use std::io;
use std::slice;

use serde_json::{Value, json};
use toolgen::{Program, Severity, problem, schema_losses, size};

use super::Outcome;
use super::args::Check;
use super::compile::{Compiled, compile_each};
use super::lock;
use super::output::Output;

/// Maximum number of warnings or notes to print per code; the others are only counted.
const MAX_SHOWN_PER_CODE: usize = 3;

/// Runs the command. Returns `Problems` if an operation or a document was skipped, a denied diagnostic was reported, or
/// the tools differ from their lock by a denied change.
pub(super) fn run(task: &Check, output: &mut Output) -> io::Result<Outcome> {
    let selection = &task.selection;
    let mut outcome = Outcome::Fine;
    let mut all = compile_each(selection, output);
    for compiled in &mut all {
        if let Some(program) = &compiled.program {
            size::check_ceiling(program, &mut compiled.problems);
            size::check_budget(slice::from_ref(program), &selection.options, &mut compiled.problems);
            schema_losses::check(slice::from_ref(program), &selection.options, &mut compiled.problems);
        }
    }
    if task.format.json {
        output.write("{\"documents\":[")?;
    }
    for (index, compiled) in all.iter().enumerate() {
        if compiled.program.is_none() || compiled.problems.has_errors() {
            outcome = Outcome::Problems;
        }
        if task.format.json {
            output.write(if index == 0 { "\n" } else { ",\n" })?;
            output.json(&report(compiled))?;
        } else {
            show(compiled, task, output)?;
        }
    }
    if task.format.json {
        output.write("\n]")?;
    }
    if lock::compare(task, &all, output)? == Outcome::Problems {
        outcome = Outcome::Problems;
    }
    if task.format.json {
        output.line("}")?;
    }
    Ok(outcome)
}

fn report(compiled: &Compiled) -> Value {
    let program = compiled.program.as_ref();
    let problems: Vec<Value> = compiled
        .problems
        .placed()
        .into_iter()
        .map(|(position, problem)| problem::json(position, problem))
        .collect();
    json!({
        "path": compiled.path.display().to_string(),
        "kind": program.map(|program| program.kind),
        "version": program.map(|program| program.version.as_str()),
        "operations": program.map_or(0, Program::all_operations),
        "tools": compiled.tools().len(),
        "problems": problems,
    })
}

fn show(compiled: &Compiled, task: &Check, output: &mut Output) -> io::Result<()> {
    let min_severity = if task.selection.quiet() { Severity::Warning } else { Severity::Note };
    let max = if task.all { usize::MAX } else { MAX_SHOWN_PER_CODE };
    output.problem_results(&compiled.problems, min_severity, max)?;
    let path = compiled.path.display();
    let Some(program) = &compiled.program else {
        return output.line(&format!("{path}: cannot be compiled"));
    };
    let counts: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .map(|severity| plural(compiled.problems.count(severity), severity.as_str()))
        .collect();
    output.line(&format!(
        "{path}: {} {}, {}, {} ({})",
        program.kind,
        program.version,
        plural(program.all_operations(), "operation"),
        plural(program.all_tools().len(), "tool"),
        counts.join(", ")
    ))
}

/// Returns a number with a noun in the singular or plural.
pub(super) fn plural(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}
