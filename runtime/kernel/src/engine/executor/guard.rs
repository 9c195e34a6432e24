//! An executor that restricts another executor.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{ExecError, ExecOptions, ExecOutput, Executor, ResourceLimits, least};
use crate::base::future::BoxFuture;
use crate::call::limits::EffectLimits;

/// Programs that access a network, and some that have effects beyond their command line.
pub const BANNED_PROGRAMS: &[&str] = &[
    "alias",
    "curl",
    "curlie",
    "wget",
    "axel",
    "aria2c",
    "nc",
    "telnet",
    "lynx",
    "w3m",
    "links",
    "httpie",
    "xh",
    "http-prompt",
    "chrome",
    "firefox",
    "safari",
];

/// Programs whose purpose is to start other programs, which circumvents a ban.
pub const LAUNCHER_PROGRAMS: &[&str] = &[
    "ash", "bash", "busybox", "chroot", "csh", "dash", "doas", "env", "exec", "fish", "ksh", "nice", "nohup",
    "nsenter", "setsid", "sh", "stdbuf", "su", "sudo", "tcsh", "time", "timeout", "unshare", "watch",
    "xargs", "zsh",
];

/// An executor that bans programs and tightens the options of every command before another executor runs it. So no
/// tool can forget to do this.
///
/// A ban checks the name of the program that is started, not its arguments: `ls /usr/include/ncurses.h` is allowed.
/// It is only a guard rail. A program that starts others, such as a shell, circumvents it: also ban
/// [`LAUNCHER_PROGRAMS`], or better, disable the network.
///
/// ```
/// use toolgen_runtime::engine::executor::{BANNED_PROGRAMS, GuardedExecutor, ScriptedExecutor};
/// use toolgen_runtime::call::limits::EffectLimits;
///
/// let inner = ScriptedExecutor::default();
/// let executor = GuardedExecutor::new(inner).ban(BANNED_PROGRAMS).restricted_to(&EffectLimits::PLANNING);
/// # drop(executor);
/// ```
#[derive(Clone)]
pub struct GuardedExecutor {
    inner: Arc<dyn Executor>,
    banned: BTreeSet<String>,
    within: EffectLimits,
    limits: ResourceLimits,
    timeout: Option<Duration>,
    work_dir: Option<PathBuf>,
}

impl GuardedExecutor {
    /// Wraps an executor, without restrictions.
    pub fn new(inner: impl Executor + 'static) -> GuardedExecutor {
        GuardedExecutor {
            inner: Arc::new(inner),
            banned: BTreeSet::new(),
            within: EffectLimits::ANY,
            limits: ResourceLimits::default(),
            timeout: None,
            work_dir: None,
        }
    }

    /// Bans programs by name, in any directory.
    #[must_use]
    pub fn ban(mut self, programs: &[&str]) -> GuardedExecutor {
        self.banned.extend(programs.iter().map(|program| program.to_ascii_lowercase()));
        self
    }

    /// Restricts commands to what a context allows, see [`ExecOptions::restricted_to`].
    #[must_use]
    pub fn restricted_to(mut self, limits: &EffectLimits) -> GuardedExecutor {
        self.within = self.within.and(limits);
        self
    }

    /// Restricts the resources of commands.
    #[must_use]
    pub fn limits(mut self, limits: ResourceLimits) -> GuardedExecutor {
        self.limits = self.limits.and(limits);
        self
    }

    /// Restricts the time of commands.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> GuardedExecutor {
        self.timeout = least(self.timeout, Some(timeout));
        self
    }

    /// Sets the working directory of commands that set none.
    #[must_use]
    pub fn work_dir(mut self, work_dir: impl Into<PathBuf>) -> GuardedExecutor {
        self.work_dir = Some(work_dir.into());
        self
    }

    fn tighten(&self, options: &ExecOptions) -> ExecOptions {
        let mut options = options.clone().restricted_to(&self.within);
        options.limits = options.limits.and(self.limits);
        options.timeout = least(options.timeout, self.timeout);
        options.work_dir = options.work_dir.or_else(|| self.work_dir.clone());
        options
    }

    fn check(&self, argv: &[String]) -> Result<(), ExecError> {
        if !self.within.spawns {
            return Err(ExecError::Denied { program: argv.first().cloned().unwrap_or_default() });
        }
        let Some(program) = argv.first() else { return Ok(()) };
        let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
        // On Windows, `CURL.EXE` starts `curl`.
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix(".exe").unwrap_or(&name);
        if self.banned.contains(name) {
            return Err(ExecError::Banned { program: name.to_owned() });
        }
        Ok(())
    }
}

impl Executor for GuardedExecutor {
    fn run<'a>(
        &'a self,
        argv: &'a [String],
        options: &'a ExecOptions,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ExecOutput, ExecError>> {
        Box::pin(async move {
            self.check(argv)?;
            self.inner.run(argv, &self.tighten(options), cancel).await
        })
    }

    /// Also counts banned programs as missing. The check itself may use a banned shell, since no tool chooses its
    /// arguments.
    fn missing<'a>(
        &'a self,
        programs: &'a [&'a str],
        options: &'a ExecOptions,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Vec<String>, ExecError>> {
        Box::pin(async move {
            let is_refused = |program: &str| self.check(&[program.to_owned()]).is_err();
            let allowed: Vec<&str> =
                programs.iter().copied().filter(|program| !is_refused(program)).collect();
            let mut missing = Vec::new();
            if !allowed.is_empty() {
                missing = self.inner.missing(&allowed, &self.tighten(options), cancel).await?;
            }
            let is_missing =
                |program: &&str| is_refused(program) || missing.iter().any(|other| other == program);
            Ok(programs.iter().copied().filter(is_missing).map(str::to_owned).collect())
        })
    }
}

impl fmt::Debug for GuardedExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardedExecutor")
            .field("banned", &self.banned)
            .field("within", &self.within)
            .field("limits", &self.limits)
            .field("timeout", &self.timeout)
            .field("work_dir", &self.work_dir)
            .finish_non_exhaustive()
    }
}
