//! `test`: calls each tool with valid and invalid arguments, and reports failures.

mod checks;
mod emit_tests;
mod fake_executor;
mod sample;
mod server;
mod simulation;

use std::io;

use toolgen_runtime::CancellationToken;
use toolgen_runtime::spec::plan;
use toolgen_runtime::toolbox::one_shot;

use super::Outcome;
use super::args::Test;
use super::compile::{Compiled, compile_all, find_tools_or_report};
use super::output::Output;
use checks::{CHECKS, Subject, Verdict};

/// Prints a row for each tool, and below it the failed checks. Returns `Problems` if a check failed.
pub(super) fn run(task: &Test, output: &mut Output) -> io::Result<Outcome> {
    let (compiled, complete) = compile_all(&task.selection, &task.filter.tools, output);
    let Some(selected) = find_tools_or_report(&compiled, &task.filter.tools, output) else {
        return Ok(Outcome::Problems);
    };
    let all: Vec<plan::Tool> =
        compiled.iter().flat_map(Compiled::tools).map(|tool| tool.clone().into()).collect();
    let tools: Vec<&plan::Tool> = selected
        .iter()
        .filter_map(|tool| all.iter().find(|other| other.spec.name == tool.spec.name))
        .collect();
    if let Some(file) = &task.emit {
        return emit_tests::run(task, file, &tools, &all, output);
    }
    if let Some(dir) = &task.work_dir_argument.work_dir {
        // All documents are read, so the working directory can change.
        std::env::set_current_dir(dir)?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let cancel = CancellationToken::new();
    let interrupt = cancel.clone();
    // Child processes do not receive Ctrl-C from the terminal.
    runtime.spawn(async move {
        one_shot::interrupted().await;
        interrupt.cancel();
    });
    let width = tools.iter().map(|tool| tool.spec.name.as_str().len()).max().unwrap_or(0).max(4);
    output.line(
        format!("{:width$}  {}", "tool", CHECKS.map(|name| format!("{name:9}")).join(" ")).trim_end(),
    )?;
    let (mut failures, mut unknown) = (0, 0);
    for (index, tool) in tools.iter().enumerate() {
        let name = tool.spec.name.as_str();
        output.progress(&format!("testing {name} ({} of {})", index + 1, tools.len()));
        let verdicts = runtime.block_on(Subject::new(tool, &all, &cancel).verdicts(task.run));
        if cancel.is_cancelled() {
            output.error("interrupted");
            return Ok(Outcome::Problems);
        }
        let cells = verdicts.iter().map(cell).collect::<Vec<_>>().join(" ");
        output.line(format!("{name:width$}  {cells}").trim_end())?;
        for (check, verdict) in CHECKS.iter().zip(&verdicts) {
            match verdict {
                Verdict::Fails(reason) => {
                    failures += 1;
                    output.line(&format!("  {check}: FAILED: {}", indented(reason)))?;
                }
                Verdict::Unknown(reason) => {
                    unknown += 1;
                    output.line(&format!("  {check}: unknown: {}", indented(reason)))?;
                }
                Verdict::Passes(_) | Verdict::NotApplicable => {}
            }
        }
    }
    let plural = |count: usize, noun| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let (tool_count, failure_count) = (plural(tools.len(), "tool"), plural(failures, "failure"));
    output.line(&format!("\n{tool_count}, {failure_count}, {unknown} unknown"))?;
    let has_errors = compiled.iter().any(|compiled| compiled.problems.has_errors());
    Ok(if complete && !has_errors && failures == 0 { Outcome::Fine } else { Outcome::Problems })
}

fn cell(verdict: &Verdict) -> String {
    let text = match verdict {
        Verdict::Passes(1) => "ok".to_owned(),
        Verdict::Passes(count) => format!("ok ({count})"),
        Verdict::Fails(_) => "FAILED".to_owned(),
        Verdict::Unknown(_) => "?".to_owned(),
        Verdict::NotApplicable => "-".to_owned(),
    };
    format!("{text:9}")
}

fn indented(text: &str) -> String {
    text.replace('\n', "\n    ")
}
