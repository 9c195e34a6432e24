//! Runs programs on this machine.

use std::path::PathBuf;

use tokio_util::sync::CancellationToken;

use super::process::{Job, inherited, run};
use super::{ExecError, ExecOptions, ExecOutput, Executor};
use crate::base::future::BoxFuture;

/// The variables of this process's environment that programs get by default.
const INHERITED: &[&str] =
    &["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "TERM", "TMPDIR", "TZ", "USER"];

/// Runs programs on this machine, as the user of this process.
///
/// Each program gets its own process group. When it ends, takes too long or is cancelled, the whole group is killed:
/// nothing that a command started in its group runs on. (A program can leave its group; and where a system has no
/// groups, as on Windows, only the program itself is killed. A container is safe from both.) The environment is empty
/// except for a few variables such as `PATH`, so credentials of this process stay with it.
///
/// It cannot restrict a program's files, network or resources, so it refuses commands that ask for that.
///
/// ```
/// use toolgen_runtime::CancellationToken;
/// use toolgen_runtime::engine::executor::{ExecOptions, Executor, LocalExecutor};
///
/// # #[cfg(unix)]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toolgen_runtime::engine::executor::ExecError> {
/// let argv = ["printf", "%s", "$HOME; true"].map(String::from);
/// let never = CancellationToken::new();
/// let output = LocalExecutor::new().run(&argv, &ExecOptions::default(), &never).await?;
/// assert_eq!(output.stdout, "$HOME; true");
///
/// let offline = ExecOptions::default().without_network();
/// let error = LocalExecutor::new().run(&argv, &offline, &never).await.unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "the local executor cannot enforce network_disabled, so nothing was run"
/// );
/// # Ok(())
/// # }
/// # #[cfg(not(unix))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct LocalExecutor {
    inherited: Vec<String>,
    work_dir: Option<PathBuf>,
}

impl Default for LocalExecutor {
    fn default() -> LocalExecutor {
        let inherited = INHERITED.iter().map(|name| (*name).to_owned()).collect();
        LocalExecutor { inherited, work_dir: None }
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

/// Refuses options that this executor cannot enforce.
fn refuse(options: &ExecOptions) -> Result<(), ExecError> {
    let asked = [
        ("read_only", options.read_only),
        ("network_disabled", options.network_disabled),
        ("limits.cpus", options.limits.cpus.is_some()),
        ("limits.memory", options.limits.memory.is_some()),
        ("limits.pids", options.limits.pids.is_some()),
        ("user", options.user.is_some()),
    ];
    let options: Vec<&str> = asked.into_iter().filter(|(_, asked)| *asked).map(|(name, _)| name).collect();
    if options.is_empty() {
        return Ok(());
    }
    Err(ExecError::Unsupported { executor: "the local executor", options })
}

impl Executor for LocalExecutor {
    fn run<'a>(
        &'a self,
        argv: &'a [String],
        options: &'a ExecOptions,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ExecOutput, ExecError>> {
        Box::pin(async move {
            refuse(options)?;
            super::check_env(options)?;
            let mut env = inherited(self.inherited.iter().map(String::as_str));
            env.extend(options.env.iter().map(|(name, value)| (name.into(), value.into())));
            let work_dir = match (&self.work_dir, &options.work_dir) {
                (Some(base), Some(work_dir)) => Some(base.join(work_dir)),
                (base, work_dir) => work_dir.as_ref().or(base.as_ref()).cloned(),
            };
            let job = Job {
                argv,
                env,
                work_dir: work_dir.as_deref(),
                stdin: &options.stdin,
                timeout: options.timeout,
                max_output: options.max_output,
                on_line: options.on_line.as_ref(),
            };
            run(&job, cancel).await
        })
    }
}
