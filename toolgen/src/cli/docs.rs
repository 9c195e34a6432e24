//! `docs`: prints the documentation of tools for a prompt.

use std::io;

use toolgen_runtime::spec::docs;

use super::Outcome;
use super::args::Docs;
use super::compile::{choose, compile_all};
use super::discovery;
use super::output::Output;

/// Prints the list of tools, then each of them in full.
pub(super) fn run(task: &Docs, output: &mut Output) -> io::Result<Outcome> {
    let (compiled, complete) = compile_all(&task.selection, &task.tools, output);
    let tools = match choose(&compiled, &task.tools) {
        Ok(tools) => tools,
        Err(message) => {
            output.complain(&message);
            return Ok(Outcome::Problems);
        }
    };
    let specs = discovery::shown(&task.selection, &tools);
    if task.summary || task.tools.is_empty() {
        output.line(docs::summary(&specs).trim_end())?;
    }
    if !task.summary {
        for (index, spec) in specs.iter().enumerate() {
            if index > 0 || task.tools.is_empty() {
                output.line("")?;
            }
            output.line(docs::detail(spec).trim_end())?;
        }
    }
    Ok(if complete { Outcome::Fine } else { Outcome::Problems })
}
