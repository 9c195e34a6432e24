//! The trait with which tools start programs, its guards, and scripted outcomes for tests. The executors that start
//! processes and containers are in `toolgen-exec`.
//!
//! Tools start programs through an [`Executor`] from their context, so the same tool can run in a container in one
//! deployment and on the host in another. A command is always a list of arguments, never a shell command: text
//! from a model cannot become another command. An executor either enforces every option or rejects the command.
//!
//! ```
//! use toolgen_runtime::CancellationToken;
//! use toolgen_runtime::engine::executor::{ExecError, ExecOptions, Executor};
//!
//! /// Counts the lines of a file.
//! async fn count(executor: &dyn Executor, file: &str) -> Result<String, ExecError> {
//!     let argv = ["wc", "-l", "--", file].map(String::from);
//!     let options = ExecOptions::default().read_only().without_network();
//!     let output = executor.run(&argv, &options, &CancellationToken::new()).await?;
//!     Ok(output.stdout)
//! }
//! ```

mod context_executor;
mod error;
mod guard;
mod listener;
mod options;
mod preflight;
mod scripted;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::base::future::BoxFuture;

pub use error::ExecError;
pub use guard::{BANNED_PROGRAMS, GuardedExecutor, LAUNCHER_PROGRAMS};
pub use listener::{LineListener, MAX_LINE_BYTES};
pub use options::{DEFAULT_EXEC_TIMEOUT, DEFAULT_MAX_OUTPUT, ExecOptions, ResourceLimits};
#[doc(hidden)]
pub use options::{check_env, least};
pub use preflight::{Capabilities, preflight};
pub use scripted::ScriptedExecutor;

/// Runs programs.
pub trait Executor: Send + Sync {
    /// Runs a program and waits for it. `argv` is the program and its arguments.
    ///
    /// A program that fails is a result with an exit code other than 0. If the future is dropped, the time limit is
    /// reached or `cancel` fires, the program and everything it started in its process group or container are killed.
    ///
    /// # Errors
    ///
    /// Returns an error if the program could not run to completion, or if an option cannot be enforced.
    fn run<'a>(
        &'a self,
        argv: &'a [String],
        options: &'a ExecOptions,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ExecOutput, ExecError>>;

    /// Returns the programs of this list that the executor could not start with these options, in order. The default
    /// implementation runs `sh`, which must be available. [`preflight`] calls this method.
    ///
    /// # Errors
    ///
    /// Returns an error if the executor cannot search for the programs.
    fn missing<'a>(
        &'a self,
        programs: &'a [&'a str],
        options: &'a ExecOptions,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<String>, ExecError>> {
        Box::pin(preflight::missing_by_shell(self, programs, options, cancel))
    }
}

impl<T: Executor + ?Sized> Executor for Arc<T> {
    fn run<'a>(
        &'a self,
        argv: &'a [String],
        options: &'a ExecOptions,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ExecOutput, ExecError>> {
        (**self).run(argv, options, cancel)
    }

    fn missing<'a>(
        &'a self,
        programs: &'a [&'a str],
        options: &'a ExecOptions,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<String>, ExecError>> {
        (**self).missing(programs, options, cancel)
    }
}

/// The result of a program that ran to completion.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExecOutput {
    /// The captured standard output. Bytes that are not UTF-8 become `U+FFFD`.
    pub stdout: String,
    /// The captured standard error.
    pub stderr: String,
    /// The exit code; 128 plus the signal number if a signal ended the program, as in shells.
    pub exit_code: i32,
    /// How long the program ran.
    pub duration: Duration,
    /// The number of bytes of standard output that are not in `stdout`.
    pub stdout_dropped: u64,
    /// The number of bytes of standard error that are not in `stderr`.
    pub stderr_dropped: u64,
}

impl ExecOutput {
    /// Creates the output of a program that ended with this code.
    pub fn new(exit_code: i32, stdout: impl Into<String>, stderr: impl Into<String>) -> ExecOutput {
        ExecOutput { exit_code, stdout: stdout.into(), stderr: stderr.into(), ..ExecOutput::default() }
    }

    /// Whether the exit code is 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.exit_code == 0
    }

    /// Whether any output was dropped.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.stdout_dropped > 0 || self.stderr_dropped > 0
    }

    /// Returns `{"stdout", "stderr", "exit_code", "duration"}`, the duration as `1.5s`, with `stdout_dropped` and
    /// `stderr_dropped` if bytes were dropped. An exit code other than 0 is not a failure of the tool.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut out = json!({
            "stdout": self.stdout,
            "stderr": self.stderr,
            "exit_code": self.exit_code,
            "duration": format!("{:?}", self.duration),
        });
        for (key, dropped) in
            [("stdout_dropped", self.stdout_dropped), ("stderr_dropped", self.stderr_dropped)]
        {
            if dropped > 0 {
                out[key] = Value::from(dropped);
            }
        }
        out
    }
}
