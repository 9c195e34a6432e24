//! Describes the command of a dry run.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::command::CommandEngine;
use toolgen_runtime::engine::executor::{ExecError, ExecOptions, ExecOutput, Executor};
use toolgen_runtime::spec::plan::{CommandPlan, Tool};
use toolgen_runtime::{BoxFuture, CancellationToken, ToolError, Turn};

use super::super::args::Call;

/// A command as passed to an executor.
type RecordedCommand = (Vec<String>, ExecOptions);

/// An executor that records the command instead of running it.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Option<RecordedCommand>>>);

impl Executor for Recorder {
    fn run<'a>(
        &'a self,
        argv: &'a [String],
        options: &'a ExecOptions,
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ExecOutput, ExecError>> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((argv.to_vec(), options.clone()));
        Box::pin(std::future::ready(Ok(ExecOutput::default())))
    }

    fn missing<'a>(
        &'a self,
        _: &'a [&'a str],
        _: &'a ExecOptions,
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<String>, ExecError>> {
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

/// Returns the command of a call, as `{"argv", "env", "stdin", "work_dir", "read_only", "network"}`. Inherited
/// variables may be secret.
pub(super) fn describe(
    tool: Tool,
    plan: &CommandPlan,
    arguments: Value,
    task: &Call,
) -> Result<Value, ToolError> {
    let recorder = Recorder::default();
    let tool_name = tool.spec.name.clone();
    let engines = Engines::new().with(CommandEngine::new().executor(recorder.clone()));
    let made = engines.tools_from([tool]).map_err(|error| ToolError::failed(error.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| ToolError::failed(error.to_string()))?;
    let turn = Turn::new("cargo-toolgen").with_root("workdir", task.requests.work_dir());
    let context = turn.call_context("cargo-toolgen", tool_name.as_str());
    let outcome = match made.first() {
        Some(tool) => runtime.block_on(tool.execute(arguments, &context)),
        None => return Err(ToolError::failed("there is no such tool")),
    };
    let recorded = recorder.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some((argv, options)) = recorded else {
        // The arguments cannot be turned into a command.
        return Err(outcome.err().unwrap_or_else(|| ToolError::failed("the tool runs no program")));
    };
    let masked = |name: &str, value: &str| match plan.inherit.iter().any(|inherited| *inherited == *name) {
        true if !task.show_secrets => json!("****"),
        _ => json!(value),
    };
    let env: Map<String, Value> =
        options.env.iter().map(|(name, value)| (name.clone(), masked(name, value))).collect();
    Ok(json!({
        "argv": argv,
        "env": env,
        "stdin": String::from_utf8_lossy(&options.stdin),
        "work_dir": options.work_dir.as_ref().or(task.requests.explicit_work_dir()).map(|path| path.display().to_string()),
        "read_only": options.read_only,
        "network": !options.network_disabled,
    }))
}
