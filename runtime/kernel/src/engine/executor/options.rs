//! Options and resource limits of programs.

use std::path::PathBuf;
use std::time::Duration;

use super::ExecError;
use super::LineListener;
#[cfg(doc)]
use super::MAX_LINE_BYTES;
use crate::call::limits::EffectLimits;
use crate::spec::{Files, Network};

/// The default time limit of a program: 30 seconds.
pub const DEFAULT_EXEC_TIMEOUT: Duration = Duration::from_secs(30);

/// The default maximum number of bytes captured of each output stream: 256 KiB.
pub const DEFAULT_MAX_OUTPUT: usize = 256 * 1024;

/// How a program runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExecOptions {
    /// The working directory; if `None`, the executor chooses it.
    pub work_dir: Option<PathBuf>,
    /// The time limit; [`DEFAULT_EXEC_TIMEOUT`] by default, `None` for no limit.
    pub timeout: Option<Duration>,
    /// Whether the program must not change files, except for temporary ones.
    pub read_only: bool,
    /// Whether the program must not use a network.
    pub network_disabled: bool,
    /// The resources that the program may use.
    pub limits: ResourceLimits,
    /// Environment variables, in addition to those that the executor sets.
    pub env: Vec<(String, String)>,
    /// The user that runs the program; `None` for the executor's user.
    pub user: Option<String>,
    /// The standard input, in bytes.
    pub stdin: Vec<u8>,
    /// The maximum number of bytes captured of each output stream; [`DEFAULT_MAX_OUTPUT`] by default.
    pub max_output: usize,
    /// The listener that receives each line of standard output while the program runs.
    pub on_line: Option<LineListener>,
}

/// The resources a program may use; `None` sets no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceLimits {
    /// The number of processors; `0.5` is half a processor.
    pub cpus: Option<f64>,
    /// The memory, in bytes.
    pub memory: Option<u64>,
    /// The maximum number of concurrent processes.
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

    /// Prevents the program from changing files.
    #[must_use]
    pub fn read_only(mut self) -> ExecOptions {
        self.read_only = true;
        self
    }

    /// Prevents the program from using any network.
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

    /// Sets the user that runs the program.
    #[must_use]
    pub fn user(mut self, user: impl Into<String>) -> ExecOptions {
        self.user = Some(user.into());
        self
    }

    /// Sets the standard input.
    #[must_use]
    pub fn stdin(mut self, stdin: impl Into<Vec<u8>>) -> ExecOptions {
        self.stdin = stdin.into();
        self
    }

    /// Sets the maximum number of bytes captured of standard output, and of standard error.
    #[must_use]
    pub fn max_output(mut self, bytes: usize) -> ExecOptions {
        self.max_output = bytes;
        self
    }

    /// Sets the listener that receives each line of standard output while the program runs, without the end of the
    /// line. It receives all lines in order, including those past [`ExecOptions::max_output`] and a last line without
    /// an end. A line of more than [`MAX_LINE_BYTES`](super::MAX_LINE_BYTES) bytes is passed in pieces. Bytes that
    /// are not UTF-8 become `U+FFFD`.
    ///
    /// The listener runs on the task that reads the output: while it runs, the program may block, and the time
    /// counts towards its time limit.
    ///
    /// ```
    /// use toolgen_runtime::engine::executor::ExecOptions;
    ///
    /// let (lines, received) = std::sync::mpsc::channel();
    /// let options = ExecOptions::default().on_line(move |line| {
    ///     // The receiver may have been dropped.
    ///     let _ = lines.send(line.to_owned());
    /// });
    /// # drop((options, received));
    /// ```
    #[must_use]
    pub fn on_line(mut self, listener: impl Fn(&str) + Send + Sync + 'static) -> ExecOptions {
        self.on_line = Some(LineListener::new(listener));
        self
    }

    /// Returns the options, restricted to what a context allows. An executor cannot distinguish hosts, so a
    /// context that allows only some hosts gets no network at all.
    #[must_use]
    pub fn restricted_to(mut self, limits: &EffectLimits) -> ExecOptions {
        self.read_only |= limits.read_only || limits.files != Files::Write;
        self.network_disabled |= limits.network != Network::Any;
        self
    }
}

impl ResourceLimits {
    /// Sets the number of processors; `0.5` is half a processor.
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

    /// Sets the maximum number of concurrent processes.
    #[must_use]
    pub fn pids(mut self, pids: u32) -> ResourceLimits {
        self.pids = Some(pids);
        self
    }

    /// Combines two sets of limits: the lower limit applies for each resource.
    #[must_use]
    pub fn and(self, other: ResourceLimits) -> ResourceLimits {
        ResourceLimits {
            cpus: least(self.cpus, other.cpus),
            memory: least(self.memory, other.memory),
            pids: least(self.pids, other.pids),
        }
    }
}

/// Returns the lower of two limits. `None` means no limit.
pub fn least<T: PartialOrd>(left: Option<T>, right: Option<T>) -> Option<T> {
    match (left, right) {
        (Some(left), Some(right)) => Some(if right < left { right } else { left }),
        (left, right) => left.or(right),
    }
}

/// Checks that environment variables have names, and that names and values contain no terminators (`=`, NUL).
pub fn check_env(options: &ExecOptions) -> Result<(), ExecError> {
    let is_invalid = |(name, value): &&(String, String)| {
        name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
    };
    match options.env.iter().find(is_invalid) {
        Some((name, _)) => Err(ExecError::invalid(format!("{name:?} is not a valid environment variable"))),
        None => Ok(()),
    }
}
