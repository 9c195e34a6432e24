//! `tokens`: counts the tokens of tools, by part.

use std::io;

use toolgen::tokens::Report;
use toolgen::write::write_if_changed;
use toolgen_runtime::schema::dialect::Dialect;

use super::Outcome;
use super::args::{TokenFormat, Tokens};
use super::compile::{chosen, compile_all};
use super::output::Output;

/// Prints or writes the report. Returns `Problems` if a budget is exceeded, or if the dialect rejects a tool.
pub(super) fn run(task: &Tokens, output: &mut Output) -> io::Result<Outcome> {
    let Some(dialect) = Dialect::by_name(&task.dialect) else {
        let known: Vec<&str> = Dialect::ALL.iter().map(|dialect| dialect.name).collect();
        output.complain(&format!("unknown dialect `{}`; dialects: {}", task.dialect, known.join(", ")));
        return Ok(Outcome::Usage);
    };
    if let Some(path) = task.out.as_ref().filter(|path| path.exists() && !task.force) {
        output.complain(&format!("{} exists; `--force` overwrites it", path.display()));
        return Ok(Outcome::Problems);
    }
    let (compiled, complete) = compile_all(&task.selection, &task.only.tools, output);
    let Some(tools) = chosen(&compiled, &task.only.tools, output) else { return Ok(Outcome::Problems) };
    output.progress(&format!("counting {} tools", tools.len()));
    let report = Report::with_savings(&tools, dialect, task.rendering, task.tokenizer);
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
                output.complain(&error.to_string());
                return Ok(Outcome::Problems);
            }
        }
        None => output.write(&text)?,
    }
    let exceeded = task.selection.options.token_budget.as_ref().map(|budget| report.exceeded(budget));
    let exceeded = exceeded.unwrap_or_default();
    exceeded.iter().for_each(|message| output.complain(message));
    let refused = report.tools.iter().any(|tool| tool.refused.is_some());
    Ok(if complete && exceeded.is_empty() && !refused { Outcome::Fine } else { Outcome::Problems })
}
