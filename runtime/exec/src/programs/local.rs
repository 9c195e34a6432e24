//! Runs programs on this machine.

use std::ffi::OsString;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;
use toolgen_kernel::base::future::BoxFuture;

use super::process::{Job, inherited, run};
use super::sandbox::{Command, Sandbox, confine};
use crate::{ExecError, ExecOptions, ExecOutput, Executor};

/// The environment variables of this process that programs inherit by default.
#[doc(hidden)]
pub const INHERITED: &[&str] =
    &["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "TERM", "TMPDIR", "TZ", "USER"];

/// Runs programs on this machine, as the user of this process.
///
/// Each program has its own process group. When the program ends, times out or is cancelled, the whole group is
/// killed, so that no process of the group keeps running. A program that is not confined can leave its group. On
/// systems without process groups, such as Windows, only the program itself is killed.
///
/// The environment contains only a few variables such as `PATH`, so programs do not see credentials of this process.
/// On Linux, programs inherit only their standard streams, and cannot gain privileges, for example by `sudo`.
///
/// # What is enforced
///
/// On Linux the operating system enforces `read_only`, `network_disabled` and `limits`, by [`Sandbox::Bubblewrap`] if
/// the program `bwrap` works and otherwise by [`Sandbox::Landlock`]. A program is confined if any of these options is
/// set. Options that cannot be enforced are rejected, with help on how to enforce them. Other systems reject all of
/// them.
///
/// | option | Bubblewrap | Landlock, Linux 6.2 or newer |
/// |---|---|---|
/// | `read_only` | all file systems are read-only; `/tmp` and `/dev/shm` are empty and private to the program; named pipes can be written to | files cannot be written, created, removed, renamed or linked (Landlock), and their mode, owner, times and attributes cannot be changed (seccomp); `TMPDIR` is a private directory |
/// | `network_disabled` | a network with only a private loopback | no sockets at all (seccomp) |
/// | either of them | no Unix sockets, through which services outside could act for the program, and no io_uring (seccomp) | the same |
/// | `limits.cpus`, `limits.memory` | a control group, for the program and all processes that it starts | the same |
/// | `limits.pids` | a control group; if none can be created, a limit of its user namespace, which does not apply to root | a control group |
/// | environment and memory of other processes | not readable: only its own processes are visible | not readable, except those of its own processes |
/// | signals to other processes | not possible | possible before Linux 6.12 |
/// | changes of limits, priorities, processors and scheduling | only for its own processes | only for the process itself, which it must not name by its process ID (seccomp) |
/// | System V queues, semaphores and shared memory, POSIX queues | its own | none (seccomp) |
/// | keyrings of the user and the session | none (seccomp) | the same |
/// | file locks, with `read_only` | no exclusive locks and no leases (seccomp); shared locks are possible, and block writers until the program ends | the same |
/// | open files of this process | none | none |
/// | processes that it leaves running | end with the program, or, after it has started, with this process | end with the program, unless they left its group; with any limit, all of them end |
/// | devices | only `null`, `zero`, `full`, `random`, `urandom` and its own terminals | those of this machine |
/// | privileges | none, also for root | none, also for root |
/// | system settings in `/proc` and `/sys` | read-only | read-only |
///
/// A program that may write files can leave files that are executed later; only `read_only` prevents that. Files are
/// always readable. The system call filters support x86-64, AArch64 and RISC-V.
///
/// ```
/// use toolgen_runtime::CancellationToken;
/// use toolgen_runtime::engine::executor::{ExecError, ExecOptions, Executor, LocalExecutor};
///
/// # #[cfg(unix)]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toolgen_runtime::engine::executor::ExecError> {
/// let argv = ["printf", "%s", "$HOME; true"].map(String::from);
/// let never = CancellationToken::new();
/// let output = LocalExecutor::new().run(&argv, &ExecOptions::default(), &never).await?;
/// assert_eq!(output.stdout, "$HOME; true");
///
/// let argv = ["touch", "/tmp/../file"].map(String::from);
/// match LocalExecutor::new().run(&argv, &ExecOptions::default().read_only(), &never).await {
///     Ok(output) => assert!(!output.success()),
///     Err(error) => assert!(matches!(error, ExecError::Unsupported { .. }), "there is no sandbox"),
/// }
/// # Ok(())
/// # }
/// # #[cfg(not(unix))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct LocalExecutor {
    inherited: Vec<String>,
    work_dir: Option<PathBuf>,
    sandbox: Sandbox,
}

impl Default for LocalExecutor {
    fn default() -> LocalExecutor {
        let inherited = INHERITED.iter().map(|name| (*name).to_owned()).collect();
        LocalExecutor { inherited, work_dir: None, sandbox: Sandbox::Auto }
    }
}

impl LocalExecutor {
    /// Creates an executor that starts programs in the working directory of this process.
    #[must_use]
    pub fn new() -> LocalExecutor {
        LocalExecutor::default()
    }

    /// Starts programs in this directory. The relative directory of a command is resolved against it.
    #[must_use]
    pub fn work_dir(mut self, work_dir: impl Into<PathBuf>) -> LocalExecutor {
        self.work_dir = Some(work_dir.into());
        self
    }

    /// Sets the sandbox that enforces options. Default: the best available.
    #[must_use]
    pub fn sandbox(mut self, sandbox: Sandbox) -> LocalExecutor {
        self.sandbox = sandbox;
        self
    }

    /// Passes an environment variable of this process to programs.
    #[must_use]
    pub fn inherit(mut self, name: impl Into<String>) -> LocalExecutor {
        self.inherited.push(name.into());
        self
    }

    /// Passes no environment variables of this process to programs, not even `PATH`.
    #[must_use]
    pub fn inherit_nothing(mut self) -> LocalExecutor {
        self.inherited.clear();
        self
    }
}

impl LocalExecutor {
    /// Returns the whole environment of a command.
    fn env(&self, options: &ExecOptions) -> Vec<(OsString, OsString)> {
        let added = options.env.iter().map(|(name, value)| (name.into(), value.into()));
        inherited(self.inherited.iter().map(String::as_str)).into_iter().chain(added).collect()
    }

    /// Returns the absolute working directory of a command.
    fn directory(&self, options: &ExecOptions) -> Result<PathBuf, ExecError> {
        let current = PathBuf::from(".");
        let work_dir: PathBuf =
            [&current].into_iter().chain(&self.work_dir).chain(&options.work_dir).collect();
        let absolute = std::path::absolute(&work_dir);
        absolute.map_err(|error| ExecError::invalid(format!("{}: {error}", work_dir.display())))
    }

    async fn run_local(
        &self,
        argv: &[String],
        options: &ExecOptions,
        cancel: &CancellationToken,
    ) -> Result<ExecOutput, ExecError> {
        crate::check_env(options)?;
        if options.user.is_some() {
            let reason =
                "programs run as the user of this process; run the program in a container".to_owned();
            return Err(ExecError::Unsupported {
                executor: "the local executor",
                options: vec!["user"],
                reason,
            });
        }
        let mut env = self.env(options);
        let work_dir = self.directory(options)?;
        let command = Command { argv, env: &mut env, work_dir: &work_dir, options };
        let confined = confine(self.sandbox, command).await?;
        let job = Job {
            argv: &confined.argv,
            env,
            work_dir: Some(&work_dir),
            stdin: &options.stdin,
            timeout: options.timeout,
            max_output: options.max_output,
            on_line: options.on_line.as_ref(),
            confinement: confined.confinement,
        };
        let start =
            |message| ExecError::Start { program: argv.first().cloned().unwrap_or_default(), message };
        match (run(job, cancel).await, confined.prefix) {
            (Ok(output), Some(prefix)) if output.exit_code == 1 && output.stderr.starts_with(prefix) => {
                Err(start(output.stderr.trim_end().to_owned()))
            }
            // The program that failed to start may be the sandbox.
            (Err(ExecError::Start { message, .. }), _) => Err(start(message)),
            (outcome, _) => outcome,
        }
    }
}

impl Executor for LocalExecutor {
    fn run<'a>(
        &'a self,
        argv: &'a [String],
        options: &'a ExecOptions,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ExecOutput, ExecError>> {
        Box::pin(self.run_local(argv, options, cancel))
    }

    #[cfg(unix)]
    fn missing<'a>(
        &'a self,
        programs: &'a [&'a str],
        options: &'a ExecOptions,
        _: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<String>, ExecError>> {
        let missing = || {
            let (env, work_dir) = (self.env(options), self.directory(options)?);
            let is_missing = |program: &&str| super::process::find(program, &env, &work_dir).is_none();
            Ok(programs.iter().copied().filter(is_missing).map(str::to_owned).collect())
        };
        Box::pin(std::future::ready(missing()))
    }
}
