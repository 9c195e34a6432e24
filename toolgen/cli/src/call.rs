//! `call`: calls a tool without generating code.

mod arguments;
mod command;
mod curl;
mod dry_run;
mod request;
mod send;
mod shell_words;
mod value;

use std::io;

use serde_json::{Map, Value};
use toolgen::Tool;
use toolgen_core::internal::completed;
use toolgen_runtime::call::tool;
use toolgen_runtime::schema::dialect;
use toolgen_runtime::{ToolError, ToolSpec};

use super::Outcome;
use super::args::Call;
use super::compile::{Compiled, compile_all, find_tools_or_report};
use super::output::Output;
use super::prompt;
use arguments::ArgumentInput;

/// Maximum number of tools to name if the user chose none.
const MAX_TOOLS_NAMED: usize = 20;

/// Calls the tool, or prints its request. Returns `Problems` if the arguments are invalid or the call failed; the
/// output is then the error that a model would receive.
pub(super) fn run(task: &Call, output: &mut Output) -> io::Result<Outcome> {
    if let Some(word) = &task.tool
        && arguments::pair(word).is_some()
    {
        output.error(&format!("the name of a tool comes before `{word}`"));
        return Ok(Outcome::Usage);
    }
    let input = match arguments::read(&task.arguments) {
        Ok(input) => input,
        Err(message) => {
            output.error(&message);
            return Ok(Outcome::Usage);
        }
    };
    let names = task.tool.as_slice();
    let (compiled, _) = compile_all(&task.selection, names, output);
    if compiled.iter().all(|compiled| compiled.program.is_none()) {
        return Ok(Outcome::Problems);
    }
    let Some(tools) = find_tools_or_report(&compiled, names, output) else { return Ok(Outcome::Problems) };
    if task.tool.is_none() {
        return ask(task, &tools, output);
    }
    let Some(&tool) = tools.first() else { return Ok(Outcome::Problems) };
    let all_tools: Vec<&Tool> = compiled.iter().flat_map(Compiled::tools).collect();
    call(task, tool, &all_tools, input, output)
}

/// Lets the user choose a tool and enter its arguments. Without a terminal, lists the tools.
fn ask(task: &Call, tools: &[&Tool], output: &mut Output) -> io::Result<Outcome> {
    if !output.can_prompt() {
        let names: Vec<&str> =
            tools.iter().take(MAX_TOOLS_NAMED).map(|tool| tool.spec.name.as_str()).collect();
        let more = match tools.len().saturating_sub(MAX_TOOLS_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more, which `cargo toolgen list` shows"),
        };
        output.error(&format!("name a tool; there are {}{more}", names.join(", ")));
        return Ok(Outcome::Usage);
    }
    let (mut input, mut screen) = (io::stdin().lock(), io::stderr());
    let Some(tool) = prompt::tool(tools, &mut input, &mut screen)? else { return Ok(Outcome::Usage) };
    let words = prompt::arguments(tool, &mut input, &mut screen)?;
    match arguments::read(&words) {
        Ok(input) => call(task, tool, tools, input, output),
        Err(message) => {
            output.error(&message);
            Ok(Outcome::Usage)
        }
    }
}

fn call(
    task: &Call,
    tool: &Tool,
    all: &[&Tool],
    input: ArgumentInput,
    output: &mut Output,
) -> io::Result<Outcome> {
    let error = tool.call.http().and_then(|plan| request::unknown_variable(task, plan));
    let arguments = match error.map_or_else(|| input.for_tool(tool, task.requests.max_file), Err) {
        Ok(arguments) => arguments,
        Err(message) => {
            output.error(&message);
            return Ok(Outcome::Usage);
        }
    };
    // Arguments that are a JSON string are parsed as for vendors that send one, so that parse errors reach the model.
    if !task.dry_run {
        return send::run(task, tool, all, arguments, output);
    }
    match tool::arguments(&tool.spec, arguments, &dialect::JSON_SCHEMA) {
        Ok(arguments) => dry_run::run(task, tool, &arguments, output),
        Err(error) => {
            output.error(&error.to_string());
            output.note(&usage(tool));
            Ok(Outcome::Problems)
        }
    }
}

/// Returns the arguments of a call under the names that a model sees, with their defaults.
///
/// # Errors
///
/// Returns a message about arguments that cannot be read, or that the tool does not accept.
pub(super) fn visible_arguments(tool: &Tool, words: &[String]) -> Result<Value, String> {
    let sent = arguments::read(words)?.for_tool(tool, u64::MAX)?;
    let sent = match sent {
        Value::String(text) if text.trim().is_empty() => Value::Object(Map::new()),
        Value::String(text) => {
            serde_json::from_str(&text).map_err(|error| format!("the arguments are not JSON: {error}"))?
        }
        value => value,
    };
    let ToolSpec { input, defs, .. } = &tool.spec;
    let with_usage = |error: ToolError| format!("{error}\n{}", usage(tool));
    tool::arguments(&tool.spec, sent.clone(), &dialect::JSON_SCHEMA).map_err(with_usage)?;
    completed(&sent, input, defs, &dialect::JSON_SCHEMA)
        .map_err(|problems| with_usage(ToolError::from_problems(problems)))
}

/// Returns the usage line of a tool: its name and its arguments.
fn usage(tool: &Tool) -> String {
    let is_file = |name: &str| arguments::is_file(tool, &[name]);
    let arguments = value::usage(tool.spec.input.shape(), &tool.spec.defs, &is_file);
    format!("`{}` takes {arguments}", tool.spec.name.as_str())
}
