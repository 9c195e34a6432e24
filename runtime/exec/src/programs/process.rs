//! Runs a process and its process group, from start to end.

use std::convert::Infallible;
use std::ffi::OsString;
use std::future::{Future, poll_fn};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc;
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, Command};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::capture::Capture;
use crate::{ExecError, ExecOutput, LineListener};

/// How long to read the output of programs that left their group and keep the stream open.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// How long to wait for a killed process to end.
const REAP_TIMEOUT: Duration = Duration::from_secs(5);

/// The search path for programs if the environment has no `PATH`.
#[cfg(unix)]
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A process to run.
pub(super) struct Job<'a> {
    pub(super) argv: &'a [String],
    /// The complete environment.
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) work_dir: Option<&'a Path>,
    pub(super) stdin: &'a [u8],
    pub(super) timeout: Option<Duration>,
    pub(super) max_output: usize,
    pub(super) on_line: Option<&'a LineListener>,
    /// The confinement, if there is any.
    pub(super) confinement: Option<Confinement>,
}

/// The confinement of a process.
pub(super) struct Confinement {
    /// A callback that confines the thread that starts the process. The process inherits the confinement.
    pub(super) confine_thread: Box<dyn FnOnce() -> Result<(), String> + Send>,
    /// A callback that receives the process ID. Its return value is dropped when the process has ended.
    pub(super) on_started: Box<dyn FnOnce(u32) -> Result<Guard, String> + Send>,
}

/// Resources that are held while a process runs.
pub(super) type Guard = Box<dyn Send>;

/// Returns a unique name, with the ID of this process: `toolgen-4711-0123456789abcdef`.
pub(super) fn unique_name() -> String {
    // Each `RandomState` has its own keys, which come from the system's random numbers.
    format!("toolgen-{}-{:016x}", std::process::id(), RandomState::new().hash_one(0))
}

/// Returns the variables with these names in the environment of this process.
#[doc(hidden)]
pub fn inherited<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<(OsString, OsString)> {
    names.into_iter().filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect()
}

/// Searches for a program as the system does, with this environment and in this directory.
#[cfg(unix)]
pub(super) fn find(name: &str, env: &[(OsString, OsString)], work_dir: &Path) -> Option<std::path::PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let is_program = |file: &std::path::PathBuf| {
        std::fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        return Some(work_dir.join(name)).filter(is_program);
    }
    let path =
        env.iter().rfind(|(name, _)| name == "PATH").map_or(PATH.as_ref(), |(_, path)| path.as_os_str());
    std::env::split_paths(path).map(|dir| work_dir.join(dir).join(name)).find(is_program)
}

/// Runs a process to completion, or kills its group.
pub(super) async fn run(mut job: Job<'_>, cancel: &CancellationToken) -> Result<ExecOutput, ExecError> {
    if cancel.is_cancelled() {
        return Err(ExecError::Cancelled);
    }
    let started = Instant::now();
    let mut running = start(&mut job).await?;
    let (child, group) = (&mut running.child, &mut running.group);
    let (mut out, mut err) = (Capture::new(job.max_output, job.on_line), Capture::new(job.max_output, None));
    let outcome = {
        let pipes = join3(
            feed(child.stdin.take(), job.stdin),
            out.drain(child.stdout.take()),
            err.drain(child.stderr.take()),
        );
        let run = cancel.run_until_cancelled(wait_while_serving(child, group, pipes));
        match job.timeout {
            Some(limit) => timeout(limit, run).await,
            None => Ok(run.await),
        }
    };
    if !matches!(outcome, Ok(Some(_))) {
        group.kill();
        // If a killed process does not end, the system has to clean it up.
        let _ = timeout(REAP_TIMEOUT, child.wait()).await;
    }
    let cleaned = running.cleaned.take();
    drop(running);
    if let Some(cleaned) = cleaned {
        // Wait for the cleanup, so that nothing remains if this process exits right after the call.
        let _ = timeout(REAP_TIMEOUT, cleaned).await;
    }
    let output = |code| {
        let ((stdout, stdout_dropped), (stderr, stderr_dropped)) = (out.finish(), err.finish());
        let mut output = ExecOutput::new(code, stdout, stderr);
        output.duration = started.elapsed();
        (output.stdout_dropped, output.stderr_dropped) = (stdout_dropped, stderr_dropped);
        output
    };
    match (outcome, job.timeout) {
        (Ok(Some(Ok(status))), _) => Ok(output(exit_code(status))),
        (Ok(Some(Err(error))), _) => Err(ExecError::Lost { message: error.to_string() }),
        (Ok(None), _) => Err(ExecError::Cancelled),
        (Err(_), limit) => {
            let output = Box::new(output(KILLED));
            Err(ExecError::Timeout { duration: limit.unwrap_or_default(), output })
        }
    }
}

/// A started process. The fields are dropped in this order.
struct RunningProcess {
    group: Group,
    child: Child,
    /// The thread that started the process waits until this is dropped.
    _thread: Option<mpsc::Sender<Infallible>>,
    /// Completes when the resources held for the process are dropped.
    cleaned: Option<oneshot::Receiver<Infallible>>,
}

async fn start(job: &mut Job<'_>) -> Result<RunningProcess, ExecError> {
    let Some(program) = job.argv.first().cloned() else {
        return Err(ExecError::invalid("the command is empty"));
    };
    let stdin = if job.stdin.is_empty() { Stdio::null() } else { Stdio::piped() };
    let mut command = command(job.argv, &job.env, job.work_dir, stdin);
    let directory = job.work_dir.map(Path::to_path_buf);
    let spawn = move || match spawn(&mut command) {
        Ok(child) => Ok(RunningProcess { group: Group::of(&child), child, _thread: None, cleaned: None }),
        // The system reports a missing directory with the same error.
        Err(error) => match directory {
            Some(directory) if error.kind() == io::ErrorKind::NotFound => {
                Err(format!("{error} (in {})", directory.display()))
            }
            _ => Err(error.to_string()),
        },
    };
    let outcome = match job.confinement.take() {
        None => spawn(),
        Some(confinement) => on_thread(confinement, spawn).await,
    };
    outcome.map_err(|message| ExecError::Start { program, message })
}

/// Starts a process on a separate thread. A confined thread remains confined forever, and a process that must end with
/// its parent ends with the thread that started it. The thread therefore lives as long as the process. Another thread,
/// which is not confined, cleans up afterwards.
async fn on_thread(
    confinement: Confinement,
    spawn: impl FnOnce() -> Result<RunningProcess, String> + Send + 'static,
) -> Result<RunningProcess, String> {
    let runtime = Handle::try_current().map_err(|error| error.to_string())?;
    let Confinement { confine_thread, on_started } = confinement;
    let (outcome_tx, outcome_rx) = oneshot::channel();
    let (alive_tx, alive_rx) = mpsc::channel::<Infallible>();
    let (cleaned_tx, cleaned_rx) = oneshot::channel::<Infallible>();
    // These channels only signal that their other end was dropped.
    let wait = |alive_rx: mpsc::Receiver<Infallible>| alive_rx.recv().is_err();
    spawn_thread(move || {
        let (spawned_tx, spawned_rx) = mpsc::channel();
        let (release_tx, release_rx) = mpsc::channel();
        let started_thread = spawn_thread(move || {
            let _runtime = runtime.enter();
            drop(spawned_tx.send(confine_thread().and_then(|()| spawn())));
            wait(release_rx);
        });
        let running = started_thread.and_then(|()| spawned_rx.recv().map_err(|error| error.to_string())?);
        let mut guard = None;
        let outcome = running.and_then(|mut running| {
            guard = Some(on_started(running.child.id().unwrap_or_default())?);
            running._thread = Some(alive_tx);
            running.cleaned = Some(cleaned_rx);
            Ok(running)
        });
        // If the caller no longer waits, the outcome is dropped, and with it the process.
        drop(outcome_tx.send(outcome));
        wait(alive_rx);
        drop((release_tx, guard, cleaned_tx));
    })?;
    outcome_rx.await.map_err(|_| "the thread that starts it ended".to_owned())?
}

fn spawn_thread(work: impl FnOnce() + Send + 'static) -> Result<(), String> {
    let thread = std::thread::Builder::new().name("toolgen-process".to_owned()).spawn(work);
    thread.map(drop).map_err(|error| format!("cannot start a thread: {error}"))
}

/// Starts a program with pipes, in its own process group.
#[doc(hidden)]
pub fn piped(
    argv: &[String],
    env: &[(OsString, OsString)],
    work_dir: Option<&Path>,
) -> Result<(Child, Group), String> {
    let mut command = command(argv, env, work_dir, Stdio::piped());
    match spawn(&mut command) {
        Ok(child) => {
            let group = Group::of(&child);
            Ok((child, group))
        }
        Err(error) => Err(error.to_string()),
    }
}

fn command(argv: &[String], env: &[(OsString, OsString)], work_dir: Option<&Path>, stdin: Stdio) -> Command {
    // With a path, the system starts the program without copying this process. With a name and a separate `PATH`, the
    // standard library forks, which takes longer the more memory this process has.
    #[cfg(unix)]
    let path = find(&argv[0], env, work_dir.unwrap_or(Path::new("")));
    #[cfg(not(unix))]
    let path: Option<std::path::PathBuf> = None;
    let mut command = Command::new(path.as_deref().unwrap_or(Path::new(&argv[0])));
    #[cfg(unix)]
    command.arg0(&argv[0]);
    command.args(&argv[1..]).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    if let Some(work_dir) = work_dir {
        command.current_dir(work_dir);
    }
    command
}

/// Starts a command. It inherits only its standard streams.
fn spawn(command: &mut Command) -> io::Result<Child> {
    // Other systems have no list of the descriptors that a program inherits.
    #[cfg(target_os = "linux")]
    super::descriptors::replace_inherited(command.as_std_mut())?;
    command.spawn()
}

/// Serves the pipes of a process until it ends, then kills the processes that it left running.
async fn wait_while_serving(
    child: &mut Child,
    group: &mut Group,
    pipes: impl Future<Output = ()>,
) -> io::Result<ExitStatus> {
    let mut pipes = pin!(pipes);
    let mut are_pipes_open = true;
    let status = {
        let mut wait = pin!(child.wait());
        poll_fn(|cx| {
            are_pipes_open = are_pipes_open && pipes.as_mut().poll(cx).is_pending();
            wait.as_mut().poll(cx)
        })
        .await
    };
    // The process has been reaped, so its ID is free. The group reserves the ID as long as it has members, and no
    // system reuses an ID in the short time between these two steps.
    group.kill();
    if are_pipes_open {
        let _ = timeout(DRAIN_TIMEOUT, pipes).await;
    }
    status
}

async fn feed(stdin: Option<ChildStdin>, bytes: &[u8]) {
    if let Some(mut stdin) = stdin {
        // A program does not have to read all of its input.
        let _ = stdin.write_all(bytes).await;
    }
}

/// Runs three futures to completion.
async fn join3(
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

/// All processes of a group, killed on drop. Without process groups, only the process itself is killed, when its
/// handle is dropped.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "for the crates of the workspace alone")]
pub struct Group {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
}

impl Group {
    #[cfg(unix)]
    fn of(child: &Child) -> Group {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Group { leader: id.and_then(rustix::process::Pid::from_raw) }
    }

    /// Asks the processes of the group to terminate.
    #[cfg(unix)]
    #[doc(hidden)]
    pub fn terminate(&self) {
        if let Some(leader) = self.leader {
            // The group may be empty.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::TERM);
        }
    }

    #[cfg(unix)]
    #[doc(hidden)]
    pub fn kill(&mut self) {
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
    #[doc(hidden)]
    pub fn terminate(&self) {}

    #[cfg(not(unix))]
    #[doc(hidden)]
    pub fn kill(&mut self) {}
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
