//! `tokens`: counts the tokens of tools, by part.

use std::io;

use toolgen::tokens::{Rendering, Report, Tokenizer};
use toolgen::write::write_if_changed;
use toolgen_runtime::schema::dialect::Dialect;

use super::Outcome;
use super::args::{TokenFormat, Tokens};
use super::compile::{compile_all, find_tools_or_report};
use super::output::Output;

/// Prints or writes the report. Returns `Problems` if a budget is exceeded, or if the dialect rejects a tool.
pub(super) fn run(task: &Tokens, output: &mut Output) -> io::Result<Outcome> {
    let Some(dialect) = Dialect::by_name(&task.dialect) else {
        let known: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name).collect();
        output.error(&format!("unknown dialect `{}`; dialects: {}", task.dialect, known.join(", ")));
        return Ok(Outcome::Usage);
    };
    if let Some(path) = task.out.as_ref().filter(|path| path.exists() && !task.force) {
        output.error(&format!("{} exists; `--force` overwrites it", path.display()));
        return Ok(Outcome::Problems);
    }
    let (compiled, complete) = compile_all(&task.selection, &task.filter.tools, output);
    let Some(tools) = find_tools_or_report(&compiled, &task.filter.tools, output) else {
        return Ok(Outcome::Problems);
    };
    output.progress(&format!("counting {} tools", tools.len()));
    // The arguments accept only known names.
    let rendering = Rendering::by_name(&task.rendering).unwrap_or(Rendering::Full);
    let tokenizer = Tokenizer::by_name(&task.tokenizer).unwrap_or(Tokenizer::O200k);
    let report = Report::with_savings(&tools, dialect, rendering, tokenizer);
    let text = match task.format {
        TokenFormat::Human => report.to_string(),
        TokenFormat::Json => format!("{}\n", report.json()),
        TokenFormat::Html => {
            let names = task.selection.documents().iter().filter_map(|path| path.file_name());
            let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
            report.html(&names.join(", "))
        }
    };
    match &task.out {
        Some(path) => {
            if let Err(error) = write_if_changed(path, &text) {
                output.error(&error.to_string());
                return Ok(Outcome::Problems);
            }
        }
        None => output.write(&text)?,
    }
    let exceeded = task.selection.options.token_budget.as_ref().map(|budget| report.exceeded(budget));
    let exceeded = exceeded.unwrap_or_default();
    exceeded.iter().for_each(|message| output.error(message));
    let refused = report.tools.iter().any(|tool| tool.refused.is_some());
    Ok(if complete && exceeded.is_empty() && !refused { Outcome::Fine } else { Outcome::Problems })
}
