//! Describes the command of a dry run.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::command::CommandEngine;
use toolgen_runtime::engine::executor::{ExecError, ExecOptions, ExecOutput, Executor};
use toolgen_runtime::spec::plan::{CommandPlan, Tool};
use toolgen_runtime::{BoxFuture, CancellationToken, ToolError, Turn};

use super::super::args::Call;
use super::shell_words::{Part, can_be_pasted, print, word, word_of};

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

/// The command of a call.
pub(super) struct Described {
    argv: Vec<String>,
    options: ExecOptions,
    /// The names of the variables that the command inherits. Their values may be secret.
    inherited: Vec<String>,
    work_dir: Option<String>,
}

/// Returns the command of a call.
pub(super) fn describe(
    tool: Tool,
    plan: &CommandPlan,
    arguments: Value,
    task: &Call,
) -> Result<Described, ToolError> {
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
    let work_dir = options.work_dir.as_ref().or(task.requests.explicit_work_dir());
    let work_dir = work_dir.map(|path| path.display().to_string());
    let inherited = plan.inherit.iter().map(ToString::to_string).collect();
    Ok(Described { argv, options, inherited, work_dir })
}

impl Described {
    /// Returns `{"argv", "env", "stdin", "work_dir", "read_only", "network"}`.
    pub(super) fn json(&self, show_secrets: bool) -> Value {
        let masked = |name: &String, value: &str| match self.inherited.contains(name) {
            true if !show_secrets => json!("****"),
            _ => json!(value),
        };
        let env: Map<String, Value> =
            self.options.env.iter().map(|(name, value)| (name.clone(), masked(name, value))).collect();
        json!({
            "argv": self.argv,
            "env": env,
            "stdin": String::from_utf8_lossy(&self.options.stdin),
            "work_dir": self.work_dir,
            "read_only": self.options.read_only,
            "network": !self.options.network_disabled,
        })
    }

    /// Returns the line that runs the command in a shell. Inherited variables are those of the shell.
    pub(super) fn shell_line(&self, show_secrets: bool) -> String {
        let mut words: Vec<String> = self.argv.iter().map(|argument| word(argument)).collect();
        let variables = self.options.env.iter().map(|(name, value)| {
            let value = if self.inherited.contains(name) && !show_secrets {
                word_of(&[Part::Variable(name.clone())])
            } else {
                word(value)
            };
            format!("{name}={value}")
        });
        let variables: Vec<String> = variables.collect();
        if !variables.is_empty() {
            words = ["env".to_owned()].into_iter().chain(variables).chain(words).collect();
        }
        let mut line = words.join(" ");
        if let Some(dir) = &self.work_dir {
            let dir = if dir.starts_with('-') { format!("./{dir}") } else { dir.clone() };
            line = format!("(cd {} && {line})", word(&dir));
        }
        let stdin = &self.options.stdin;
        match std::str::from_utf8(stdin) {
            _ if stdin.is_empty() => line,
            Ok(text) if can_be_pasted(text) => format!("printf %s {} | {line}", word(text)),
            _ => format!("{} | {line}", print(stdin)),
        }
    }

    /// Returns what the tool restricts and a shell does not.
    pub(super) fn restrictions(&self) -> Option<&'static str> {
        match (self.options.read_only, self.options.network_disabled) {
            (true, true) => {
                Some("the tool also keeps the command from changing files and from using the network")
            }
            (true, false) => Some("the tool also keeps the command from changing files"),
            (false, true) => Some("the tool also keeps the command from using the network"),
            (false, false) => None,
        }
    }
}
