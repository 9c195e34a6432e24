//! Runs each program in its own container.

use std::hash::{BuildHasher, RandomState};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::process::{Job, inherited, run};
use super::{ExecError, ExecOptions, ExecOutput, Executor};
use crate::base::future::BoxFuture;

/// The place of the workspace in a container.
const WORKSPACE: &str = "/workspace";
/// The place for temporary files, from which no program can be started.
const TMPFS: &str = "/tmp:rw,noexec,nosuid,size=2g";
/// The variables by which Docker and Podman find their daemon.
const INHERITED: &[&str] = &[
    "CONTAINER_CONNECTION",
    "CONTAINER_HOST",
    "DOCKER_CERT_PATH",
    "DOCKER_CONFIG",
    "DOCKER_CONTEXT",
    "DOCKER_HOST",
    "DOCKER_TLS_VERIFY",
    "HOME",
    "PATH",
    "SSH_AUTH_SOCK",
    "XDG_RUNTIME_DIR",
];
/// The time limit for removing a container.
const REMOVAL: Duration = Duration::from_secs(20);
/// The exit code by which `docker run` reports its own failure.
const OWN_FAILURE: i32 = 125;

/// Runs each program in its own container, by `docker run` or a program that takes the same arguments.
///
/// The container sees one directory of this machine, under `/workspace`. It is removed when its program ends, takes
/// too long or is cancelled. Programs in it never gain privileges, and every option of [`ExecOptions`] is enforced.
///
/// The image should have no entry point, or one that runs its arguments; `with_args(["--entrypoint", ""])` removes an
/// entry point. Values of [`ExecOptions::env`] are arguments of a process that other users of this machine may list.
///
/// ```
/// use toolgen_runtime::engine::executor::{ContainerExecutor, ExecOptions};
///
/// # #[cfg(unix)]
/// # fn main() -> Result<(), toolgen_runtime::engine::executor::ExecError> {
/// let executor = ContainerExecutor::new("rust:1.95", "/srv/project");
/// let options = ExecOptions::default().read_only().without_network();
/// let argv = executor.argv(&["cargo", "check"].map(String::from), &options)?;
/// assert_eq!(
///     argv.join(" "),
///     "docker run --rm -v /srv/project:/workspace:ro -w /workspace \
///      --tmpfs /tmp:rw,noexec,nosuid,size=2g --security-opt no-new-privileges --network none --read-only \
///      rust:1.95 cargo check"
/// );
/// # Ok(())
/// # }
/// # #[cfg(not(unix))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct ContainerExecutor {
    program: String,
    image: String,
    workspace: PathBuf,
    new_privileges: bool,
    args: Vec<String>,
}

impl ContainerExecutor {
    /// Creates an executor for an image. Containers see this directory, which is an absolute path.
    pub fn new(image: impl Into<String>, workspace: impl Into<PathBuf>) -> ContainerExecutor {
        ContainerExecutor {
            program: String::from("docker"),
            image: image.into(),
            workspace: workspace.into(),
            new_privileges: false,
            args: Vec::new(),
        }
    }

    /// Sets the program that runs containers, such as `podman`; the default is `docker`.
    #[must_use]
    pub fn program(mut self, program: impl Into<String>) -> ContainerExecutor {
        self.program = program.into();
        self
    }

    /// Lets programs gain privileges, as `sudo` does.
    #[must_use]
    pub fn allow_new_privileges(mut self) -> ContainerExecutor {
        self.new_privileges = true;
        self
    }

    /// Adds arguments before the image.
    #[must_use]
    pub fn with_args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> ContainerExecutor {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Returns the command that runs a command in a container. When it is run, the name of the container is added.
    ///
    /// # Errors
    ///
    /// Returns [`ExecError::Invalid`] with everything that is invalid.
    pub fn argv(&self, argv: &[String], options: &ExecOptions) -> Result<Vec<String>, ExecError> {
        self.check(argv)?;
        super::check_env(options)?;
        let workspace = self.workspace.to_string_lossy();
        let access = if options.read_only { "ro" } else { "rw" };
        let mut line: Vec<String> = vec![self.program.clone(), "run".into(), "--rm".into()];
        line.extend(["-v".into(), format!("{workspace}:{WORKSPACE}:{access}")]);
        line.extend(["-w".into(), self.inside(options.work_dir.as_deref())?]);
        line.extend(["--tmpfs".into(), TMPFS.into()]);
        if !self.new_privileges {
            line.extend(["--security-opt".into(), "no-new-privileges".into()]);
        }
        if options.network_disabled {
            line.extend(["--network".into(), "none".into()]);
        }
        if options.read_only {
            line.push("--read-only".into());
        }
        let limits = [
            ("--cpus", options.limits.cpus.map(|cpus| cpus.to_string())),
            ("--memory", options.limits.memory.map(|bytes| bytes.to_string())),
            ("--pids-limit", options.limits.pids.map(|pids| pids.to_string())),
            ("--user", options.user.clone()),
        ];
        for (flag, value) in limits {
            line.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]));
        }
        for (name, value) in &options.env {
            line.extend(["--env".into(), format!("{name}={value}")]);
        }
        if !options.stdin.is_empty() {
            line.push("--interactive".into());
        }
        line.extend(self.args.iter().cloned());
        line.push(self.image.clone());
        line.extend(argv.iter().cloned());
        Ok(line)
    }

    fn check(&self, argv: &[String]) -> Result<(), ExecError> {
        let wrong = if argv.is_empty() {
            "the command is empty"
        } else if self.image.is_empty() || self.image.starts_with('-') {
            "the image has no name"
        } else if !self.workspace.is_absolute() || self.workspace.to_str().is_none() {
            "the workspace is not an absolute path in UTF-8"
        } else if cfg!(unix) && self.workspace.to_string_lossy().contains(':') {
            "the path of the workspace holds a colon, which ends it in a mount"
        } else {
            return Ok(());
        };
        Err(ExecError::invalid(wrong))
    }

    /// Returns a directory as a container sees it; it may be relative to the workspace, or in it on either side.
    fn inside(&self, work_dir: Option<&Path>) -> Result<String, ExecError> {
        let Some(work_dir) = work_dir else { return Ok(WORKSPACE.to_owned()) };
        let rest = work_dir.strip_prefix(&self.workspace).or_else(|_| work_dir.strip_prefix(WORKSPACE));
        let rest = rest.unwrap_or(work_dir);
        let mut path = String::from(WORKSPACE);
        for component in rest.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) if name.to_str().is_some() => {
                    path.push('/');
                    path.push_str(&name.to_string_lossy());
                }
                _ => {
                    let shown = work_dir.display();
                    return Err(ExecError::invalid(format!("{shown} is not in the workspace")));
                }
            }
        }
        Ok(path)
    }

    async fn run_in(
        &self,
        argv: &[String],
        options: &ExecOptions,
        cancel: &CancellationToken,
    ) -> Result<ExecOutput, ExecError> {
        let mut line = self.argv(argv, options)?;
        let mut container = Container::new(&self.program);
        // After `run --rm`.
        line.splice(3..3, ["--name".to_owned(), container.name.clone()]);
        let job = Job {
            argv: &line,
            env: inherited(INHERITED.iter().copied()),
            work_dir: None,
            stdin: &options.stdin,
            timeout: options.timeout,
            max_output: options.max_output,
            on_line: options.on_line.as_ref(),
        };
        let outcome = run(&job, cancel).await;
        match &outcome {
            // The program that ran the container is gone, but the container may not be.
            Err(ExecError::Timeout { .. } | ExecError::Cancelled | ExecError::Lost { .. }) => {
                container.remove().await?;
            }
            Ok(output) if output.exit_code == OWN_FAILURE && self.failed_itself(&output.stderr) => {
                container.remove().await?;
                let message = output.stderr.trim().to_owned();
                return Err(ExecError::Start { program: self.program.clone(), message });
            }
            Ok(_) | Err(_) => container.is_gone = true,
        }
        outcome
    }

    /// Whether the error is the runner's own: `docker: Error response from daemon: …`, or `Error: …` from Podman.
    fn failed_itself(&self, stderr: &str) -> bool {
        let name = Path::new(&self.program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        stderr.lines().any(|line| line.starts_with("Error") || line.starts_with(&format!("{name}: ")))
    }
}

impl Executor for ContainerExecutor {
    fn run<'a>(
        &'a self,
        argv: &'a [String],
        options: &'a ExecOptions,
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<ExecOutput, ExecError>> {
        Box::pin(self.run_in(argv, options, cancel))
    }
}

/// A container that may exist, removed on drop: killing `docker run` does not stop the program in it.
struct Container {
    program: String,
    name: String,
    is_gone: bool,
}

impl Container {
    fn new(program: &str) -> Container {
        // Each `RandomState` has its own keys, made of the system's random numbers.
        let name = format!("toolgen-{:016x}", RandomState::new().hash_one(program));
        Container { program: program.to_owned(), name, is_gone: false }
    }

    fn removal(&self) -> [String; 4] {
        // `kill` would miss a container that has not started yet.
        [self.program.clone(), "rm".into(), "--force".into(), self.name.clone()]
    }

    async fn remove(&mut self) -> Result<(), ExecError> {
        let job = Job {
            argv: &self.removal(),
            env: inherited(INHERITED.iter().copied()),
            work_dir: None,
            stdin: &[],
            timeout: Some(REMOVAL),
            max_output: 4096,
            on_line: None,
        };
        // Removal must not be interrupted, so no token stops it.
        let outcome = run(&job, &CancellationToken::new()).await;
        self.is_gone = true;
        let why = match outcome {
            Ok(output) if output.success() || is_unknown(&output.stderr) => return Ok(()),
            Ok(output) => output.stderr.trim().to_owned(),
            Err(why) => why.to_string(),
        };
        Err(ExecError::Lost { message: format!("the container {} may still run: {why}", self.name) })
    }
}

fn is_unknown(stderr: &str) -> bool {
    stderr.to_ascii_lowercase().contains("no such container")
}

impl Drop for Container {
    fn drop(&mut self) {
        if self.is_gone {
            return;
        }
        // The future was dropped, perhaps with its runtime, so the rest needs a thread of its own.
        let [program, args @ ..] = self.removal();
        let mut command = std::process::Command::new(program);
        command.args(args).env_clear().envs(inherited(INHERITED.iter().copied()));
        command.stdin(std::process::Stdio::null());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        let removal = std::thread::Builder::new().spawn(move || command.status());
        // Without a thread the container cannot be removed, and the error cannot be reported.
        drop(removal);
    }
}
