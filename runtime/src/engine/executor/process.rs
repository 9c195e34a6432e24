//! Runs a process and its group, from start to end.

use std::ffi::OsString;
use std::future::{Future, poll_fn};
use std::io;
use std::path::Path;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::capture::Capture;
use super::{ExecError, ExecOutput, LineListener};

/// How long to keep reading the output of programs that have left their group and hold it open.
const LEFTOVERS: Duration = Duration::from_secs(1);
/// How long to wait for a killed process to end.
const REAP: Duration = Duration::from_secs(5);

/// A process to run.
pub(super) struct Job<'a> {
    pub(super) argv: &'a [String],
    /// Its whole environment.
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) work_dir: Option<&'a Path>,
    pub(super) stdin: &'a [u8],
    pub(super) timeout: Option<Duration>,
    pub(super) max_output: usize,
    pub(super) on_line: Option<&'a LineListener>,
}

/// Returns the variables of these names that this process has.
pub(super) fn inherited<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<(OsString, OsString)> {
    names.into_iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect()
}

/// Runs a process to its end, or kills its group.
pub(super) async fn run(job: &Job<'_>, cancel: &CancellationToken) -> Result<ExecOutput, ExecError> {
    if cancel.is_cancelled() {
        return Err(ExecError::Cancelled);
    }
    let started = Instant::now();
    let mut child = start(job)?;
    let mut group = Group::of(&child);
    let (mut out, mut err) = (Capture::new(job.max_output, job.on_line), Capture::new(job.max_output, None));
    let ended = {
        let pipes = all(
            feed(child.stdin.take(), job.stdin),
            out.drain(child.stdout.take()),
            err.drain(child.stderr.take()),
        );
        let run = cancel.run_until_cancelled(attend(&mut child, &mut group, pipes));
        match job.timeout {
            Some(limit) => timeout(limit, run).await,
            None => Ok(run.await),
        }
    };
    if !matches!(ended, Ok(Some(_))) {
        group.kill();
        // A process that does not even die is left to the system.
        let _ = timeout(REAP, child.wait()).await;
    }
    let output = |code| {
        let ((stdout, stdout_dropped), (stderr, stderr_dropped)) = (out.finish(), err.finish());
        let duration = started.elapsed();
        ExecOutput { stdout, stderr, exit_code: code, duration, stdout_dropped, stderr_dropped }
    };
    match (ended, job.timeout) {
        (Ok(Some(Ok(status))), _) => Ok(output(exit_code(status))),
        (Ok(Some(Err(why))), _) => Err(ExecError::Lost { message: why.to_string() }),
        (Ok(None), _) => Err(ExecError::Cancelled),
        (Err(_), limit) => {
            let output = Box::new(output(KILLED));
            Err(ExecError::Timeout { duration: limit.unwrap_or_default(), output })
        }
    }
}

fn start(job: &Job<'_>) -> Result<Child, ExecError> {
    let Some((program, args)) = job.argv.split_first() else {
        return Err(ExecError::invalid("the command is empty"));
    };
    let mut command = Command::new(program);
    let stdin = if job.stdin.is_empty() { Stdio::null() } else { Stdio::piped() };
    command.args(args).env_clear().envs(job.env.iter().map(|(name, value)| (name, value)));
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    if let Some(work_dir) = job.work_dir {
        command.current_dir(work_dir);
    }
    command.spawn().map_err(|why| {
        // The system reports a missing directory in the same way.
        let place = match job.work_dir {
            Some(work_dir) if why.kind() == io::ErrorKind::NotFound => {
                format!(" (in {})", work_dir.display())
            }
            _ => String::new(),
        };
        ExecError::Start { program: program.clone(), message: format!("{why}{place}") }
    })
}

/// Waits for the process while its pipes are served, then ends what it left running.
async fn attend(
    child: &mut Child,
    group: &mut Group,
    pipes: impl Future<Output = ()>,
) -> io::Result<ExitStatus> {
    let mut pipes = pin!(pipes);
    let mut open = true;
    let status = {
        let mut wait = pin!(child.wait());
        poll_fn(|cx| {
            open = open && pipes.as_mut().poll(cx).is_pending();
            wait.as_mut().poll(cx)
        })
        .await
    };
    // The process is gone, so its number is free from now on; the group keeps the number taken as long as it has a
    // member. No system reuses a number within the moment between the two.
    group.kill();
    if open {
        let _ = timeout(LEFTOVERS, pipes).await;
    }
    status
}

async fn feed(stdin: Option<ChildStdin>, bytes: &[u8]) {
    if let Some(mut stdin) = stdin {
        // A program need not read all of it.
        let _ = stdin.write_all(bytes).await;
    }
}

/// Runs three futures to completion.
async fn all(
    first: impl Future<Output = ()>,
    second: impl Future<Output = ()>,
    third: impl Future<Output = ()>,
) {
    let (mut first, mut second, mut third) = (pin!(first), pin!(second), pin!(third));
    let mut ready = [false; 3];
    poll_fn(|cx| {
        ready[0] = ready[0] || first.as_mut().poll(cx).is_ready();
        ready[1] = ready[1] || second.as_mut().poll(cx).is_ready();
        ready[2] = ready[2] || third.as_mut().poll(cx).is_ready();
        if ready == [true; 3] { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// The exit code of a killed process, as in shells: 128 plus the signal number.
const KILLED: i32 = 137;

#[cfg(unix)]
fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(KILLED)
}

#[cfg(not(unix))]
fn exit_code(status: ExitStatus) -> i32 {
    status.code().unwrap_or(KILLED)
}

/// All processes of a group, killed on drop. Without process groups only the process itself is killed, when its handle
/// is dropped.
struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg(unix)]
    fn of(child: &Child) -> Group {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    #[cfg(unix)]
    fn kill(&mut self) {
        if let Some(leader) = self.leader.take() {
            // The group may be empty.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }

    #[cfg(not(unix))]
    fn of(_: &Child) -> Group {
        Group {}
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {}
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
