//! Runs a call.

use std::fmt;
use std::io;
use std::time::Duration;
use toolgen_runtime::Turn;

use serde_json::Value;
use toolgen::{Tool, with_callees};
use toolgen_runtime::spec::plan;
use toolgen_runtime::toolbox::one_shot;
use toolgen_runtime::{
    CancellationToken, Content, List, Registry, ToolCall, ToolError, ToolResult, Toolbox, ToolboxContext,
};

use super::super::Outcome;
use super::super::args::{Call, CallFormat};
use super::super::compile::needs_program;
use super::super::engines::engines;
use super::super::output::Output;
use super::super::output_file::is_stdout;
use super::{request, usage};

/// Calls the tool and prints its result. Also returns `Problems` if the response is an error.
pub(super) fn run(
    task: &Call,
    tool: &Tool,
    all: &[&Tool],
    arguments: Value,
    output: &mut Output,
) -> io::Result<Outcome> {
    let mut callees = with_callees(vec![tool], all).into_iter();
    if let Some((name, reason)) =
        callees.find_map(|tool| Some((tool.spec.name.as_str(), needs_program(&tool.call)?)))
    {
        output.error(&format!(
            "`{name}` cannot be called from here: {reason}; `cargo toolgen test` calls it in a simulated world"
        ));
        return Ok(Outcome::Problems);
    }
    if let Some(reason) = output_error(task, tool) {
        output.error(&reason);
        return Ok(Outcome::Usage);
    }
    output.progress(&format!("calling {}", tool.spec.name.as_str()));
    match call(task, tool, all, arguments) {
        Ok(result) => {
            let outcome = show(task, &result, output)?;
            if let Some(text) = result.operator_text() {
                output.error(text);
            }
            Ok(outcome)
        }
        Err(error) => {
            let text = error.operator_text();
            // The printed line already starts with `error: `.
            output.error(text.strip_prefix("Error: ").unwrap_or(&text));
            if matches!(error, ToolError::InvalidArgs { .. }) {
                output.note(&usage(tool));
            }
            if matches!(error, ToolError::Denied { .. }) && task.requests.base_url.is_none() {
                output.note("`--private-host HOST` opens a private host; `--base-url URL` sends the request to another one");
            }
            if error.code() == "MISSING_CREDENTIAL" && tool.call.http().is_some_and(request::lacks_variables)
            {
                output.note("`--auth SCHEME=ENV_VAR` names the environment variable of a scheme");
            }
            Ok(Outcome::Problems)
        }
    }
}

/// Calls the tool through a toolbox with it and the tools that it calls. The user decides the order of calls, so the
/// requirements of the tool are ignored.
fn call(task: &Call, tool: &Tool, all: &[&Tool], arguments: Value) -> Result<ToolResult, ToolError> {
    let to_error = |error: &dyn fmt::Display| ToolError::failed(error.to_string());
    let timeout = Duration::from_secs(task.requests.timeout);
    let (engines, servers) =
        engines(&task.requests, &task.selection.options).map_err(|error| to_error(&error))?;
    let tools = with_callees(vec![tool], all).into_iter().map(|tool| {
        let mut tool = plan::Tool::from(tool.clone());
        tool.spec.requires = List::EMPTY;
        tool
    });
    let tools = engines.tools_from(tools).map_err(|error| to_error(&error))?;
    let registry = Registry::new(tools).map_err(|error| to_error(&error))?;
    let context = ToolboxContext::new().with_work_dir(task.requests.work_dir());
    let toolbox =
        Toolbox::builder(&registry).context(context).default_timeout(timeout).without_paging().build();
    let toolbox = toolbox.map_err(|error| to_error(&error))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| to_error(&error))?;
    runtime.block_on(async {
        let cancel = CancellationToken::new();
        let name = tool.spec.name.as_str();
        let turn = Turn::new("cargo-toolgen").with_timeout(timeout).with_cancel(cancel.clone());
        // Child processes do not receive Ctrl-C from the terminal.
        tokio::spawn(async move {
            one_shot::interrupted().await;
            cancel.cancel();
        });
        let call = ToolCall::new("cargo-toolgen", name, arguments);
        let outcome = toolbox.run(call, &turn).await.outcome;
        servers.close().await;
        outcome
    })
}

/// Returns why the response of a tool cannot be written to `--output`.
fn output_error(task: &Call, tool: &Tool) -> Option<String> {
    let path = task.requests.output.as_deref()?;
    if tool.call.http().is_none() {
        let name = tool.spec.name.as_str();
        return Some(format!("`--output` writes a response body, and `{name}` sends no request"));
    }
    if is_stdout(path) {
        let message = "`--output -` writes the response body to standard output; it cannot be used with `--format json`";
        return (task.format == CallFormat::Json).then(|| message.to_owned());
    }
    // The call may have an effect, so it is not sent if its result cannot be written.
    if path.symlink_metadata().is_ok() {
        return Some(format!("{}: the file exists, and is not overwritten", path.display()));
    }
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty() && !dir.is_dir())?;
    Some(format!("{}: there is no directory {}", path.display(), dir.display()))
}

fn show(task: &Call, result: &ToolResult, output: &mut Output) -> io::Result<Outcome> {
    let is_failure = result.details.get("ok") == Some(&Value::Bool(false)) || result.is_error();
    let not_saved = task.requests.output.is_some() && result.details.get("saved").is_none();
    let outcome = if is_failure || not_saved { Outcome::Problems } else { Outcome::Fine };
    if let Some(path) = task.requests.output.as_deref().filter(|_| task.format != CallFormat::Json) {
        let texts = result.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.trim_end()),
            _ => None,
        });
        let texts: Vec<&str> = texts.collect();
        if !not_saved {
            let head = texts.first().and_then(|text| text.lines().next()).unwrap_or_default();
            let note = texts.last().and_then(|text| text.lines().last()).unwrap_or_default();
            output.note(&format!("{head} {note}"));
            return Ok(outcome);
        }
        if is_stdout(path) {
            // Do not present other texts as a successful body.
            output.error(&texts.join("\n"));
            return Ok(outcome);
        }
    }
    if task.format == CallFormat::Json {
        output.json(&result.to_json())?;
        output.line("")?;
    } else {
        for content in &result.content {
            match content {
                Content::Text(text) => {
                    output.write(text.trim_end())?;
                    output.line("")?;
                }
                other => output.line(&other.to_json().to_string())?,
            }
        }
    }
    Ok(outcome)
}
