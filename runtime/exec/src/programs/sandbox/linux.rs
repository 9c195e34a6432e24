//! Chooses and prepares the sandbox of a command on Linux.

mod bubblewrap;
mod filter;
mod group;
mod landlock;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getuid, kill_process, waitid};
use rustix::thread::set_no_new_privs;
use seccompiler::{BpfProgram, apply_filter};

use super::super::process::{Confinement, Guard, find, inherited, unique_name};
use super::{
    Command, ConfinedCommand, Sandbox, enabled_names, limit_options, requested_options, unsupported,
};
use crate::{ExecError, ExecOptions};
use filter::{DeniedCalls, Sockets};
use group::ControlGroup;
use landlock::WritableFiles;

/// Waits until its process was moved into a control group, then executes the program. The program and its arguments
/// are arguments of the script, not part of it.
const WAIT: &str = r#"kill -STOP $$; exec "$@""#;

/// The mechanism that restricts files and the network.
enum Mechanism {
    Bubblewrap(PathBuf),
    Landlock,
}

/// Confines a command as its options require.
pub(in super::super) async fn confine(
    sandbox: Sandbox,
    command: Command<'_>,
) -> Result<ConfinedCommand, ExecError> {
    let Command { env, work_dir, options, .. } = command;
    let requested = requested_options(options);
    if requested.is_empty() {
        let confine_thread = Box::new(|| set_no_new_privs(true).map_err(|error| error.to_string()));
        let confinement = Confinement { confine_thread, on_started: Box::new(|_| Ok(Box::new(()))) };
        let argv = command.argv.to_vec();
        return Ok(ConfinedCommand { argv, confinement: Some(confinement), prefix: None });
    }
    check_limits(options)?;
    let program = program(command.argv, env, work_dir)?;
    let mechanism = choose_mechanism(sandbox).await.map_err(|reason| unsupported(requested, reason))?;
    let filter = filter(&mechanism, options)?;
    let (group, mut argv) = enforce_limits(&mechanism, options)?;
    argv.extend_from_slice(command.argv);
    let tmp = match mechanism {
        Mechanism::Landlock if options.read_only => Some(TempDir::create()?),
        _ => None,
    };
    if options.read_only && !options.env.iter().any(|(name, _)| name == "TMPDIR") {
        env.retain(|(name, _)| name != "TMPDIR");
        env.push(("TMPDIR".into(), tmp.as_ref().map_or("/tmp".into(), |tmp| tmp.0.clone().into())));
    }
    let (prefix, writable) = match &mechanism {
        Mechanism::Bubblewrap(path) => {
            argv.splice(0..0, bubblewrap::arguments(path, env, work_dir, &program, options)?);
            (Some(bubblewrap::PREFIX), None)
        }
        Mechanism::Landlock => {
            (None, Some(WritableFiles { only_dir: tmp.as_ref().map(|tmp| tmp.0.clone()) }))
        }
    };
    if group.is_some() {
        argv.splice(0..0, ["/bin/sh", "-c", WAIT, "sh"].map(String::from));
    }
    let confine_thread = move || {
        if let Some(writable) = &writable {
            landlock::restrict(writable)?;
        }
        set_no_new_privs(true).map_err(|error| error.to_string())?;
        [filter, filter::deny_unknown()]
            .iter()
            .try_for_each(|filter| apply_filter(filter))
            .map_err(|error| error.to_string())
    };
    let on_started = move |pid| {
        if let Some(group) = &group {
            join(group, pid)?;
        }
        let guard: Guard = Box::new((group, tmp));
        Ok(guard)
    };
    let confinement =
        Confinement { confine_thread: Box::new(confine_thread), on_started: Box::new(on_started) };
    Ok(ConfinedCommand { argv, confinement: Some(confinement), prefix })
}

/// Returns the system call filter that the mechanism needs for these options.
fn filter(mechanism: &Mechanism, options: &ExecOptions) -> Result<BpfProgram, ExecError> {
    let without_namespaces = matches!(mechanism, Mechanism::Landlock);
    let sockets = match (options.network_disabled, options.read_only) {
        (true, _) if without_namespaces => Some(Sockets::All),
        (false, false) => None,
        _ => Some(Sockets::Outside),
    };
    let metadata = without_namespaces && options.read_only;
    let denied = DeniedCalls { sockets, metadata, locks: options.read_only, peers: without_namespaces };
    filter::compile(denied).map_err(|reason| unsupported(requested_options(options), reason))
}

/// Rejects limits that are not positive.
fn check_limits(options: &ExecOptions) -> Result<(), ExecError> {
    let limits = &options.limits;
    if limits.cpus.is_some_and(|cpus| !(cpus.is_finite() && cpus > 0.0)) {
        return Err(ExecError::invalid("limits.cpus must be a number above 0"));
    }
    if limits.memory == Some(0) || limits.pids == Some(0) {
        return Err(ExecError::invalid("limits.memory and limits.pids must be above 0"));
    }
    Ok(())
}

/// Returns the path of the program, which must exist: otherwise the sandbox would report its own error.
fn program(argv: &[String], env: &[(OsString, OsString)], work_dir: &Path) -> Result<PathBuf, ExecError> {
    let Some(name) = argv.first() else { return Err(ExecError::invalid("the command is empty")) };
    let start = |message| ExecError::Start { program: name.clone(), message };
    if !work_dir.is_dir() {
        return Err(start(format!("no such directory: {}", work_dir.display())));
    }
    let program = find(name, env, work_dir);
    program.ok_or_else(|| start("no such program, or it is not executable".to_owned()))
}

/// Searches for a program of the sandbox itself, in the `PATH` of this process.
fn find_program(name: &str) -> Option<PathBuf> {
    find(name, &inherited(["PATH"]), Path::new("/"))
}

/// Chooses the mechanism, or returns why no mechanism is available.
async fn choose_mechanism(sandbox: Sandbox) -> Result<Mechanism, String> {
    let bubblewrap = match sandbox {
        Sandbox::Landlock => Err(String::new()),
        Sandbox::Auto | Sandbox::Bubblewrap => bubblewrap::path().await.map(Mechanism::Bubblewrap),
    };
    let landlock = match sandbox {
        Sandbox::Bubblewrap => Err(String::new()),
        Sandbox::Auto | Sandbox::Landlock => landlock::check().map(|()| Mechanism::Landlock),
    };
    let (first, second) = match (bubblewrap, landlock) {
        (Ok(mechanism), _) | (Err(_), Ok(mechanism)) => return Ok(mechanism),
        (Err(first), Err(second)) => (first, second),
    };
    let separator = if first.is_empty() || second.is_empty() { "" } else { "; " };
    Err(format!(
        "{first}{separator}{second}. Install Bubblewrap (`bwrap`) and allow this user to create namespaces, or run the program in a container"
    ))
}

/// Enforces the limits: returns a control group, or else arguments to insert before the command.
fn enforce_limits(
    mechanism: &Mechanism,
    options: &ExecOptions,
) -> Result<(Option<ControlGroup>, Vec<String>), ExecError> {
    let requested = enabled_names(limit_options(options));
    if requested.is_empty() {
        return Ok((None, Vec::new()));
    }
    // The processes of Bubblewrap itself: one outside of the sandbox, and the first process inside.
    let own_processes = if matches!(mechanism, Mechanism::Bubblewrap(_)) { 2 } else { 0 };
    let reason = match ControlGroup::create(&options.limits, own_processes) {
        Ok(group) => return Ok((Some(group), Vec::new())),
        Err(reason) => reason,
    };
    // Without its own user namespace, the limit would count all processes of the user. It does not apply to root.
    if let (["limits.pids"], Some(pids)) = (requested.as_slice(), options.limits.pids)
        && matches!(mechanism, Mechanism::Bubblewrap(_))
        && !getuid().is_root()
        && let Some(prlimit) =
            find_program("prlimit").and_then(|path| path.into_os_string().into_string().ok())
    {
        let pids = pids.saturating_add(1);
        return Ok((None, vec![prlimit, format!("--nproc={pids}:{pids}"), "--".to_owned()]));
    }
    Err(unsupported(
        requested,
        format!(
            "{reason}. Start this process where it may create control groups, such as a systemd service with `Delegate=yes`, or run the program in a container"
        ),
    ))
}

/// Moves a process that has stopped itself into a control group, then resumes it.
fn join(group: &ControlGroup, pid: u32) -> Result<(), String> {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or("the process has no ID")?;
    let wait = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(pid), wait).map_err(|error| error.to_string())?;
    group.join(pid).map_err(|error| format!("cannot be moved into its control group: {error}"))?;
    kill_process(pid, Signal::CONT).map_err(|error| error.to_string())
}

/// A temporary directory, removed on drop.
struct TempDir(PathBuf);

impl TempDir {
    fn create() -> Result<TempDir, ExecError> {
        let path = env::temp_dir().join(unique_name());
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(TempDir(path)),
            Err(error) => Err(unsupported(vec!["read_only"], format!("no temporary directory: {error}"))),
        }
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // If the directory cannot be removed, it remains in the system's temporary directory.
        let _ = fs::remove_dir_all(&self.0);
    }
}
