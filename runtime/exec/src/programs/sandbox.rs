//! Sandboxes, which confine programs on this machine by means of the operating system. The table of
//! [`LocalExecutor`](super::LocalExecutor) describes what each of them enforces.

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
mod linux;

use std::ffi::OsString;
use std::path::Path;

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
))]
pub(super) use linux::confine;

use super::process::Confinement;
use crate::{ExecError, ExecOptions};

/// The sandbox that [`LocalExecutor`](super::LocalExecutor) uses to enforce options, see the
/// [table](super::LocalExecutor#what-is-enforced).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sandbox {
    /// Bubblewrap if it is installed and works, otherwise Landlock.
    #[default]
    Auto,
    /// The program `bwrap`, which uses namespaces.
    Bubblewrap,
    /// Landlock and seccomp of Linux 6.2 or newer, which need no program.
    Landlock,
}

/// A confined command.
pub(super) struct ConfinedCommand {
    pub(super) argv: Vec<String>,
    pub(super) confinement: Option<Confinement>,
    /// The prefix of lines in which the sandbox reports its own failures.
    pub(super) prefix: Option<&'static str>,
}

/// The command to confine.
#[allow(dead_code, reason = "not all fields are read where there is no sandbox")]
pub(super) struct Command<'a> {
    pub(super) argv: &'a [String],
    pub(super) env: &'a mut Vec<(OsString, OsString)>,
    pub(super) work_dir: &'a Path,
    pub(super) options: &'a ExecOptions,
}

/// Returns the error of options that cannot be enforced.
fn unsupported(options: Vec<&'static str>, reason: impl Into<String>) -> ExecError {
    ExecError::Unsupported { executor: "the local executor", options, reason: reason.into() }
}

/// Returns the requested options that a sandbox must enforce.
fn requested_options(options: &ExecOptions) -> Vec<&'static str> {
    let mut requested =
        vec![("read_only", options.read_only), ("network_disabled", options.network_disabled)];
    requested.extend(limit_options(options));
    enabled_names(requested)
}

fn limit_options(options: &ExecOptions) -> [(&'static str, bool); 3] {
    let limits = &options.limits;
    [
        ("limits.cpus", limits.cpus.is_some()),
        ("limits.memory", limits.memory.is_some()),
        ("limits.pids", limits.pids.is_some()),
    ]
}

fn enabled_names(options: impl IntoIterator<Item = (&'static str, bool)>) -> Vec<&'static str> {
    options.into_iter().filter(|(_, enabled)| *enabled).map(|(name, _)| name).collect()
}

/// Rejects every option: this system has no sandbox.
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64")
)))]
pub(super) async fn confine(_: Sandbox, command: Command<'_>) -> Result<ConfinedCommand, ExecError> {
    let requested = requested_options(command.options);
    if !requested.is_empty() {
        return Err(unsupported(
            requested,
            "there is no sandbox for this system; run the program in a container",
        ));
    }
    Ok(ConfinedCommand { argv: command.argv.to_vec(), confinement: None, prefix: None })
}
