//! An executor for tests that starts no programs.

use std::collections::VecDeque;
use std::sync::Mutex;

use tokio_util::sync::CancellationToken;

use super::{ExecError, ExecOptions, ExecOutput, Executor};
use crate::base::future::BoxFuture;
use crate::base::sync::unpoisoned;

/// An executor for tests: returns scripted outcomes in order, passes the lines of their output to listeners, and
/// records the commands. After the last outcome, every command succeeds without output.
///
/// ```
/// use toolgen_runtime::CancellationToken;
/// use toolgen_runtime::engine::executor::{ExecOptions, ExecOutput, Executor, ScriptedExecutor};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toolgen_runtime::engine::executor::ExecError> {
/// let executor = ScriptedExecutor::new([Ok(ExecOutput::new(1, "", "no such file"))]);
/// let argv = ["cat", "a.txt"].map(String::from);
/// let output = executor.run(&argv, &ExecOptions::default(), &CancellationToken::new()).await?;
/// assert_eq!(output.exit_code, 1);
/// assert_eq!(executor.commands()[0].0, ["cat", "a.txt"]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct ScriptedExecutor {
    outcomes: Mutex<VecDeque<Result<ExecOutput, ExecError>>>,
    executed: Mutex<Vec<(Vec<String>, ExecOptions)>>,
}

impl ScriptedExecutor {
    /// Creates an executor with these outcomes.
    pub fn new(outcomes: impl IntoIterator<Item = Result<ExecOutput, ExecError>>) -> ScriptedExecutor {
        let outcomes = Mutex::new(outcomes.into_iter().collect());
        ScriptedExecutor { outcomes, executed: Mutex::default() }
    }

    /// Returns the commands so far, with their options.
    #[must_use]
    pub fn commands(&self) -> Vec<(Vec<String>, ExecOptions)> {
        unpoisoned(self.executed.lock()).clone()
    }
}

impl Executor for ScriptedExecutor {
    fn run<'a>(
        &'a self,
        argv: &'a [String],
        options: &'a ExecOptions,
        _cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ExecOutput, ExecError>> {
        unpoisoned(self.executed.lock()).push((argv.to_vec(), options.clone()));
        let outcome =
            unpoisoned(self.outcomes.lock()).pop_front().unwrap_or_else(|| Ok(ExecOutput::default()));
        if let (Ok(output), Some(listener)) = (&outcome, &options.on_line) {
            output.stdout.lines().for_each(|line| listener.notify(line));
        }
        Box::pin(std::future::ready(outcome))
    }
}
