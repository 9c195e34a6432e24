//! Runs programs on this machine.

use std::ffi::OsString;
use std::path::PathBuf;

use tokio_util::sync::CancellationToken;
use toolgen_kernel::base::future::BoxFuture;

use super::process::{Job, inherited, run};
use super::sandbox::{Command, Sandbox, confine};
use crate::{ExecError, ExecOptions, ExecOutput, Executor};

/// The variables of this process's environment that programs get by default.
#[doc(hidden)]
pub const INHERITED: &[&str] =
    &["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "TERM", "TMPDIR", "TZ", "USER"];

/// Runs programs on this machine, as the user of this process.
///
/// Each program gets its own process group. When it ends, takes too long or is cancelled, the whole group is killed:
/// nothing that a command started in its group keeps running. (A program that is not confined can leave its group; and
/// if a system has no groups, as on Windows, only the program itself is killed.) The environment is empty except for a
/// few variables such as `PATH`, so credentials of this process stay with it. On Linux no program inherits open files of
/// this process besides its standard streams, and none gains privileges, as by `sudo`.
///
/// # What is enforced
///
/// On Linux the operating system enforces `read_only`, `network_disabled` and `limits`, by [`Sandbox::Bubblewrap`] if
/// the program `bwrap` works and otherwise by [`Sandbox::Landlock`]. A program is confined if any of these options asks
/// for it. Options that the available means cannot enforce are refused, as all of them are on other systems, and the
/// error says what would help.
///
/// | option | Bubblewrap | Landlock, Linux 6.2 or newer |
/// |---|---|---|
/// | `read_only` | all file systems are read-only; `/tmp` and `/dev/shm` are empty and private to the program; named pipes can be written to | no file is written, created, removed, renamed or linked (Landlock), and none changes its mode, owner, times or attributes (seccomp); `TMPDIR` is a private directory |
/// | `network_disabled` | a network with only a private loopback | no sockets at all (seccomp) |
/// | either of them | no Unix sockets, through which services outside would act for it, and no io_uring (seccomp) | the same |
/// | `limits.cpus`, `limits.memory` | a control group, for the program and everything it starts together | the same |
/// | `limits.pids` | a control group; if none can be made, a limit of its user namespace, which does not hold root | a control group |
/// | environment and memory of other processes | not readable: only its own processes are visible | not readable, except those of its own |
/// | signals to other processes | not possible | possible before Linux 6.12 |
/// | limits, priorities, processors and scheduling | of its own processes only | of the process itself only, which it must not give by number (seccomp) |
/// | queues, semaphores and shared memory of System V, queues of POSIX | its own | none (seccomp) |
/// | keys of the user and the session | none (seccomp) | the same |
/// | locks of files, with `read_only` | no exclusive ones and no leases (seccomp), but shared ones, for which others that want to write wait until the program ends | the same |
/// | open files of this process | none | none |
/// | what it leaves running | ends with it, or, once it runs, with this process | ends with it unless it left its group; with any limit all of it ends |
/// | devices | none but `null`, `zero`, `full`, `random`, `urandom` and terminals of its own | those of this machine |
/// | privileges | none, also for root | none, also for root |
/// | settings of the system in `/proc` and `/sys` | read-only | read-only |
///
/// A program that may write files can leave something that others run later: only `read_only` prevents that. Files can
/// be read in any case. The filters of system calls are made for x86-64, AArch64 and RISC-V.
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
    /// Starts programs in the directory of this process.
    #[must_use]
    pub fn new() -> LocalExecutor {
        LocalExecutor::default()
    }

    /// Starts programs in this directory. A command's relative directory is resolved against it.
    #[must_use]
    pub fn work_dir(mut self, work_dir: impl Into<PathBuf>) -> LocalExecutor {
        self.work_dir = Some(work_dir.into());
        self
    }

    /// Sets the means by which options are enforced; by default, the best available.
    #[must_use]
    pub fn sandbox(mut self, sandbox: Sandbox) -> LocalExecutor {
        self.sandbox = sandbox;
        self
    }

    /// Passes a variable of this process's environment to programs.
    #[must_use]
    pub fn inherit(mut self, name: impl Into<String>) -> LocalExecutor {
        self.inherited.push(name.into());
        self
    }

    /// Passes nothing of this process's environment to programs, not even `PATH`.
    #[must_use]
    pub fn inherit_nothing(mut self) -> LocalExecutor {
        self.inherited.clear();
        self
    }
}

impl LocalExecutor {
    /// Returns the whole environment of a command.
    fn env(&self, options: &ExecOptions) -> Vec<(OsString, OsString)> {
        let given = options.env.iter().map(|(name, value)| (name.into(), value.into()));
        inherited(self.inherited.iter().map(String::as_str)).into_iter().chain(given).collect()
    }

    /// Returns the working directory of a command, from the root.
    fn directory(&self, options: &ExecOptions) -> Result<PathBuf, ExecError> {
        let here = PathBuf::from(".");
        let work_dir: PathBuf = [&here].into_iter().chain(&self.work_dir).chain(&options.work_dir).collect();
        let absolute = std::path::absolute(&work_dir);
        absolute.map_err(|error| ExecError::invalid(format!("{}: {error}", work_dir.display())))
    }

    async fn run_here(
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
            // The program that was started is perhaps the sandbox.
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
        Box::pin(self.run_here(argv, options, cancel))
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
