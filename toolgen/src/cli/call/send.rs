//! Runs a call.

use std::io;
use std::time::Duration;

use serde_json::Value;
use toolgen::Tool;
use toolgen_runtime::call::tool;
use toolgen_runtime::engine::http::HttpEngine;
use toolgen_runtime::{Content, ToolContext, ToolError, ToolResult};

use super::super::Outcome;
use super::super::args::Call;
use super::super::output::Output;
use super::request;

/// Calls the tool and prints its result. A response that reports an error is a problem, too.
pub(super) fn run(task: &Call, tool: &Tool, arguments: Value, output: &mut Output) -> io::Result<Outcome> {
    output.progress(&format!("calling {}", task.tool));
    match call(task, tool, arguments) {
        Ok(result) => show(task, &result, output),
        Err(error) => {
            let text = error.operator_text();
            // The line begins with `error: ` already.
            output.complain(text.strip_prefix("Error: ").unwrap_or(&text));
            if matches!(error, ToolError::Denied { .. }) && task.base_url.is_none() {
                output.note("`--base-url URL` sends the request to a private address or to `localhost`");
            }
            if error.code() == "missing_credential" && tool.call.http().is_some_and(request::lacks_variables)
            {
                output.note("`--auth SCHEME=VARIABLE` names the environment variable of a scheme");
            }
            Ok(Outcome::Problems)
        }
    }
}

fn call(task: &Call, tool: &Tool, arguments: Value) -> Result<ToolResult, ToolError> {
    let timeout = Duration::from_secs(task.timeout);
    let mut engine =
        HttpEngine::builder().credentials(super::credentials(task)).timeout(timeout).files_root(".");
    if let Some(url) = &task.base_url {
        engine = engine.base_url(url);
    }
    for (name, value) in &task.server_variables {
        engine = engine.server_variable(name, value);
    }
    let engine = engine.build().map_err(|error| ToolError::failed(error.to_string()))?;
    let callable = engine.tool(toolgen_runtime::Tool::from(tool.clone()));
    let context = ToolContext::new("cargo-toolgen", task.tool.as_str());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| ToolError::failed(error.to_string()))?;
    runtime.block_on(tool::call_without_layers(&*callable, arguments, &context, timeout))
}

fn show(task: &Call, result: &ToolResult, output: &mut Output) -> io::Result<Outcome> {
    if task.selection.json {
        output.json(&result.to_json())?;
        output.line("")?;
    } else {
        for content in &result.content {
            match content {
                Content::Text(text) => output.line(text.trim_end())?,
                other => output.line(&other.to_json().to_string())?,
            }
        }
    }
    let refused = result.details.get("ok") == Some(&Value::Bool(false));
    Ok(if refused || result.is_error() { Outcome::Problems } else { Outcome::Fine })
}
