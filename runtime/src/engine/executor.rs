//! Where programs run: on this machine, in a container, or in a test's imagination.
//!
//! Tools that start programs do so through an [`Executor`], which a context gives them, so the same tool runs in a
//! container here and on the host there. A command is always a list of arguments, never a line for a shell: what a
//! model wrote cannot become another command. An executor enforces every option it is given or refuses the command.
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
#[cfg(feature = "process")]
pub use local::LocalExecutor;
pub use preflight::{Capabilities, preflight};
pub use scripted::ScriptedExecutor;

/// Runs programs somewhere.
pub trait Executor: Send + Sync {
    /// Runs a program and waits for it. `argv` is the program and its arguments.
    ///
    /// A program that fails is a result: its exit code is not 0. When the future is dropped, the time is up or
    /// `cancel` fires, the program and all it started in its process group or container are killed.
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

/// How long a program may run that does not say: 30 seconds.
pub const DEFAULT_EXEC_TIMEOUT: Duration = Duration::from_secs(30);

/// How many bytes are kept of each stream of a program that does not say: 256 KiB.
pub const DEFAULT_MAX_OUTPUT: usize = 256 * 1024;

/// How a program runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExecOptions {
    /// Where it starts. Nothing: where the executor likes.
    pub work_dir: Option<PathBuf>,
    /// How long it may run; [`DEFAULT_EXEC_TIMEOUT`] unless set. Nothing: as long as it takes.
    pub timeout: Option<Duration>,
    /// It may not change files, apart from temporary ones.
    pub read_only: bool,
    /// It may not use a network.
    pub network_disabled: bool,
    /// What it may use up.
    pub limits: ResourceLimits,
    /// Variables of its environment, beside those the executor sets itself.
    pub env: Vec<(String, String)>,
    /// The user it runs as. Nothing: the executor's.
    pub user: Option<String>,
    /// What it reads from its standard input.
    pub stdin: Vec<u8>,
    /// How many bytes are kept of its output, and as many of its errors; [`DEFAULT_MAX_OUTPUT`] unless set.
    pub max_output: usize,
}

/// What a program may use up. Nothing: no limit of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceLimits {
    /// Processors; `0.5` is half of one.
    pub cpus: Option<f64>,
    /// Memory, in bytes.
    pub memory: Option<u64>,
    /// Processes at a time.
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
        }
    }
}

impl ExecOptions {
    /// Sets where it starts.
    #[must_use]
    pub fn work_dir(mut self, work_dir: impl Into<PathBuf>) -> ExecOptions {
        self.work_dir = Some(work_dir.into());
        self
    }

    /// Sets how long it may run.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> ExecOptions {
        self.timeout = Some(timeout);
        self
    }

    /// Lets it run as long as it takes.
    #[must_use]
    pub fn without_timeout(mut self) -> ExecOptions {
        self.timeout = None;
        self
    }

    /// Keeps it from changing files.
    #[must_use]
    pub fn read_only(mut self) -> ExecOptions {
        self.read_only = true;
        self
    }

    /// Keeps it off every network.
    #[must_use]
    pub fn without_network(mut self) -> ExecOptions {
        self.network_disabled = true;
        self
    }

    /// Sets what it may use up.
    #[must_use]
    pub fn limits(mut self, limits: ResourceLimits) -> ExecOptions {
        self.limits = limits;
        self
    }

    /// Adds a variable to its environment.
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

    /// Sets what it reads from its standard input.
    #[must_use]
    pub fn stdin(mut self, stdin: impl Into<Vec<u8>>) -> ExecOptions {
        self.stdin = stdin.into();
        self
    }

    /// Sets how many bytes are kept of its output, and as many of its errors.
    #[must_use]
    pub fn max_output(mut self, bytes: usize) -> ExecOptions {
        self.max_output = bytes;
        self
    }

    /// The same options, and no more than a context allows. An executor cannot tell hosts apart, so a context that
    /// allows some only gets no network at all.
    #[must_use]
    pub fn within(mut self, limits: &Limits) -> ExecOptions {
        self.read_only |= limits.read_only || limits.files != Files::Write;
        self.network_disabled |= limits.network != Network::Any;
        self
    }
}

impl ResourceLimits {
    /// Sets how many processors; `0.5` is half of one.
    #[must_use]
    pub fn cpus(mut self, cpus: f64) -> ResourceLimits {
        self.cpus = Some(cpus);
        self
    }

    /// Sets how many bytes of memory.
    #[must_use]
    pub fn memory(mut self, bytes: u64) -> ResourceLimits {
        self.memory = Some(bytes);
        self
    }

    /// Sets how many processes at a time.
    #[must_use]
    pub fn pids(mut self, pids: u32) -> ResourceLimits {
        self.pids = Some(pids);
        self
    }

    /// The lower limit of each kind.
    #[must_use]
    pub fn and(self, other: ResourceLimits) -> ResourceLimits {
        ResourceLimits {
            cpus: least(self.cpus, other.cpus),
            memory: least(self.memory, other.memory),
            pids: least(self.pids, other.pids),
        }
    }
}

/// The lesser of two limits; nothing is no limit.
fn least<T: PartialOrd>(left: Option<T>, right: Option<T>) -> Option<T> {
    match (left, right) {
        (Some(left), Some(right)) => Some(if right < left { right } else { left }),
        (left, right) => left.or(right),
    }
}

/// Variables have names, and neither names nor values hold what ends them.
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

/// What came of a program that ran to its end.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ExecOutput {
    /// What it wrote to its standard output, as far as it was kept. Bytes that are not UTF-8 are `U+FFFD`.
    pub stdout: String,
    /// What it wrote to its standard error.
    pub stderr: String,
    /// Its exit code; 128 and the number of the signal if one ended it, as shells count.
    pub exit_code: i32,
    /// How long it ran.
    pub duration: Duration,
    /// How many bytes of its output are not in `stdout`.
    pub stdout_dropped: u64,
    /// How many bytes of its errors are not in `stderr`.
    pub stderr_dropped: u64,
}

impl ExecOutput {
    /// The output of a program that ended with this code.
    pub fn new(exit_code: i32, stdout: impl Into<String>, stderr: impl Into<String>) -> ExecOutput {
        ExecOutput { exit_code, stdout: stdout.into(), stderr: stderr.into(), ..ExecOutput::default() }
    }

    /// It ended with code 0.
    #[must_use]
    pub fn success(&self) -> bool {
        self.exit_code == 0
    }

    /// Something it wrote was dropped.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.stdout_dropped > 0 || self.stderr_dropped > 0
    }

    /// `{"stdout", "stderr", "exit_code", "duration"}`, the duration as `1.5s`; with `stdout_dropped` and
    /// `stderr_dropped` where bytes were dropped. A code other than 0 is no failure of the tool.
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
