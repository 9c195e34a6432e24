//! Runs programs on this machine, in a container, or as scripted outcomes in a test.
//!
//! Tools start programs through an [`Executor`] from their context, so the same tool can run in a container in one
//! place and on the host in another. A command is always a list of arguments, never a shell line: a model's text
//! cannot become another command. An executor enforces every option it is given or refuses the command.
//!
//! ```
//! use toolgen_runtime::CancellationToken;
//! use toolgen_runtime::engine::executor::{ExecError, ExecOptions, Executor};
//!
//! /// How many lines a file has.
//! async fn count(executor: &dyn Executor, file: &str) -> Result<String, ExecError> {
//!     let argv = ["wc", "-l", "--", file].map(String::from);
//!     let options = ExecOptions::default().read_only().without_network();
//!     let output = executor.run(&argv, &options, &CancellationToken::new()).await?;
//!     Ok(output.stdout)
//! }
//! ```

#[cfg(feature = "process")]
mod capture;
#[cfg(feature = "process")]
mod container;
mod error;
mod guard;
mod lent;
#[cfg(feature = "process")]
mod lines;
mod listener;
#[cfg(feature = "process")]
mod local;
mod preflight;
#[cfg(feature = "process")]
mod process;
mod scripted;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::base::future::BoxFuture;
use crate::call::limits::Limits;
use crate::spec::{Files, Network};

#[cfg(feature = "process")]
pub use container::ContainerExecutor;
pub use error::ExecError;
pub use guard::{BANNED, GuardedExecutor, STARTERS};
pub use listener::{LineListener, MAX_LINE};
#[cfg(feature = "process")]
pub use local::LocalExecutor;
pub use preflight::{Capabilities, preflight};
pub use scripted::ScriptedExecutor;

/// Runs programs.
pub trait Executor: Send + Sync {
    /// Runs a program and waits for it. `argv` is the program and its arguments.
    ///
    /// A program that fails is a result: its exit code is not 0. When the future is dropped, the time is up or
    /// `cancel` fires, the program and everything it started in its process group or container are killed.
    ///
    /// # Errors
    ///
    /// If the program could not run to its end, or an option cannot be enforced.
    fn run<'a>(
        &'a self,
        argv: &'a [String],
        options: &'a ExecOptions,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ExecOutput, ExecError>>;
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
}

/// The default time limit of a program: 30 seconds.
pub const DEFAULT_EXEC_TIMEOUT: Duration = Duration::from_secs(30);

/// The default number of bytes kept of each output stream: 256 KiB.
pub const DEFAULT_MAX_OUTPUT: usize = 256 * 1024;

/// How a program runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExecOptions {
    /// The working directory; `None` leaves it to the executor.
    pub work_dir: Option<PathBuf>,
    /// The time limit; [`DEFAULT_EXEC_TIMEOUT`] by default, `None` for no limit.
    pub timeout: Option<Duration>,
    /// Whether it may change no files, apart from temporary ones.
    pub read_only: bool,
    /// Whether it may not use a network.
    pub network_disabled: bool,
    /// The resources it may use.
    pub limits: ResourceLimits,
    /// Environment variables, in addition to those the executor sets.
    pub env: Vec<(String, String)>,
    /// The user it runs as; `None` for the executor's user.
    pub user: Option<String>,
    /// The bytes of its standard input.
    pub stdin: Vec<u8>,
    /// The number of bytes kept of its output, and as many of its errors; [`DEFAULT_MAX_OUTPUT`] by default.
    pub max_output: usize,
    /// What hears each line of its output while it runs.
    pub on_line: Option<LineListener>,
}

/// The resources a program may use; `None` sets no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceLimits {
    /// The number of processors; `0.5` is half of one.
    pub cpus: Option<f64>,
    /// The memory, in bytes.
    pub memory: Option<u64>,
    /// The number of simultaneous processes.
    pub pids: Option<u32>,
}

impl Default for ExecOptions {
    fn default() -> ExecOptions {
        ExecOptions {
            work_dir: None,
            timeout: Some(DEFAULT_EXEC_TIMEOUT),
            read_only: false,
            network_disabled: false,
            limits: ResourceLimits::default(),
            env: Vec::new(),
            user: None,
            stdin: Vec::new(),
            max_output: DEFAULT_MAX_OUTPUT,
            on_line: None,
        }
    }
}

impl ExecOptions {
    /// Sets the working directory.
    #[must_use]
    pub fn work_dir(mut self, work_dir: impl Into<PathBuf>) -> ExecOptions {
        self.work_dir = Some(work_dir.into());
        self
    }

    /// Sets the time limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> ExecOptions {
        self.timeout = Some(timeout);
        self
    }

    /// Removes the time limit.
    #[must_use]
    pub fn without_timeout(mut self) -> ExecOptions {
        self.timeout = None;
        self
    }

    /// Prevents it from changing files.
    #[must_use]
    pub fn read_only(mut self) -> ExecOptions {
        self.read_only = true;
        self
    }

    /// Prevents it from using any network.
    #[must_use]
    pub fn without_network(mut self) -> ExecOptions {
        self.network_disabled = true;
        self
    }

    /// Sets the resource limits.
    #[must_use]
    pub fn limits(mut self, limits: ResourceLimits) -> ExecOptions {
        self.limits = limits;
        self
    }

    /// Adds an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> ExecOptions {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets the user it runs as.
    #[must_use]
    pub fn user(mut self, user: impl Into<String>) -> ExecOptions {
        self.user = Some(user.into());
        self
    }

    /// Sets its standard input.
    #[must_use]
    pub fn stdin(mut self, stdin: impl Into<Vec<u8>>) -> ExecOptions {
        self.stdin = stdin.into();
        self
    }

    /// Sets the number of bytes kept of its output, and as many of its errors.
    #[must_use]
    pub fn max_output(mut self, bytes: usize) -> ExecOptions {
        self.max_output = bytes;
        self
    }

    /// Sets what hears each line of its standard output while it runs, without the end of the line. It hears all lines,
    /// also those past [`ExecOptions::max_output`], in order, and the last one even if it has no end; a line of more
    /// than [`MAX_LINE`] bytes comes in pieces. Bytes that are not UTF-8 become `U+FFFD`.
    ///
    /// The listener runs where the output is read: while it does, the program may wait, and its time goes on.
    ///
    /// ```
    /// use toolgen_runtime::engine::executor::ExecOptions;
    ///
    /// let (lines, received) = std::sync::mpsc::channel();
    /// let options = ExecOptions::default().on_line(move |line| {
    ///     // Nobody may be listening any more.
    ///     let _ = lines.send(line.to_owned());
    /// });
    /// # drop((options, received));
    /// ```
    #[must_use]
    pub fn on_line(mut self, listener: impl Fn(&str) + Send + Sync + 'static) -> ExecOptions {
        self.on_line = Some(LineListener::new(listener));
        self
    }

    /// Returns the same options, restricted to what a context allows. An executor cannot tell hosts apart, so a
    /// context that allows only some hosts gets no network at all.
    #[must_use]
    pub fn within(mut self, limits: &Limits) -> ExecOptions {
        self.read_only |= limits.read_only || limits.files != Files::Write;
        self.network_disabled |= limits.network != Network::Any;
        self
    }
}

impl ResourceLimits {
    /// Sets the number of processors; `0.5` is half of one.
    #[must_use]
    pub fn cpus(mut self, cpus: f64) -> ResourceLimits {
        self.cpus = Some(cpus);
        self
    }

    /// Sets the memory, in bytes.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> ResourceLimits {
        self.memory = Some(bytes);
        self
    }

    /// Sets the number of simultaneous processes.
    #[must_use]
    pub fn pids(mut self, pids: u32) -> ResourceLimits {
        self.pids = Some(pids);
        self
    }

    /// Returns the lower limit of each kind.
    #[must_use]
    pub fn and(self, other: ResourceLimits) -> ResourceLimits {
        ResourceLimits {
            cpus: least(self.cpus, other.cpus),
            memory: least(self.memory, other.memory),
            pids: least(self.pids, other.pids),
        }
    }
}

/// Returns the lesser of two limits; `None` is no limit.
fn least<T: PartialOrd>(left: Option<T>, right: Option<T>) -> Option<T> {
    match (left, right) {
        (Some(left), Some(right)) => Some(if right < left { right } else { left }),
        (left, right) => left.or(right),
    }
}

/// Checks that variables have names, and that neither names nor values hold a character that ends them.
#[cfg(feature = "process")]
fn check_env(options: &ExecOptions) -> Result<(), ExecError> {
    let is_wrong = |(name, value): &&(String, String)| {
        name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
    };
    match options.env.iter().find(is_wrong) {
        Some((name, _)) => Err(ExecError::invalid(format!("{name:?} is not a variable of an environment"))),
        None => Ok(()),
    }
}

/// The result of a program that ran to its end.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExecOutput {
    /// The standard output that was kept. Bytes that are not UTF-8 become `U+FFFD`.
    pub stdout: String,
    /// The standard error that was kept.
    pub stderr: String,
    /// The exit code; 128 plus the signal number if a signal ended the program, as in shells.
    pub exit_code: i32,
    /// How long it ran.
    pub duration: Duration,
    /// The number of bytes of output that are not in `stdout`.
    pub stdout_dropped: u64,
    /// The number of bytes of errors that are not in `stderr`.
    pub stderr_dropped: u64,
}

impl ExecOutput {
    /// Creates the output of a program that ended with this code.
    pub fn new(exit_code: i32, stdout: impl Into<String>, stderr: impl Into<String>) -> ExecOutput {
        ExecOutput { exit_code, stdout: stdout.into(), stderr: stderr.into(), ..ExecOutput::default() }
    }

    /// Whether it ended with code 0.
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
    /// `stderr_dropped` if bytes were dropped. A code other than 0 is not a failure of the tool.
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
