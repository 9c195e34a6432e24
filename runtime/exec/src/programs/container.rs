//! Runs each program in its own container.

mod removal;

use std::path::{Component, Path, PathBuf};

use removal::Container;
use tokio_util::sync::CancellationToken;
use toolgen_kernel::base::future::BoxFuture;

use super::process::{Job, inherited, run, unique_name};
use crate::{ExecError, ExecOptions, ExecOutput, Executor};

/// The path of the workspace in a container.
const WORKSPACE: &str = "/workspace";
/// The mount for temporary files, from which programs cannot be started.
const TMPFS: &str = "/tmp:rw,noexec,nosuid,size=2g";
/// The variables that Docker and Podman use to find their daemon.
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
/// The exit codes of `docker run` for its own failures: any failure, a program that cannot be run, and a missing
/// program.
const RUNTIME_FAILURES: std::ops::RangeInclusive<i32> = 125..=127;

/// Runs each program in its own container, by `docker run` or a program that takes the same arguments.
///
/// The container sees one directory of this machine, as `/workspace`. The container is removed when its program ends,
/// times out or is cancelled. Programs in it cannot gain privileges, and every option of [`ExecOptions`] is enforced.
///
/// When a Podman container runs out of memory, Podman's monitor leaves an empty file `oom` in the directory of this
/// process.
///
/// The image should have no entry point, or an entry point that runs its arguments;
/// `with_args(["--entrypoint", ""])` removes an entry point. Values of [`ExecOptions::env`] are arguments of a
/// process, which other users of this machine may see.
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
    global_args: Vec<String>,
    args: Vec<String>,
}

impl ContainerExecutor {
    /// Creates an executor for an image. Containers see the workspace, which must be an absolute path.
    pub fn new(image: impl Into<String>, workspace: impl Into<PathBuf>) -> ContainerExecutor {
        ContainerExecutor {
            program: String::from("docker"),
            image: image.into(),
            workspace: workspace.into(),
            new_privileges: false,
            global_args: Vec::new(),
            args: Vec::new(),
        }
    }

    /// Sets the program that runs containers, such as `podman`. Default: `docker`.
    #[must_use]
    pub fn program(mut self, program: impl Into<String>) -> ContainerExecutor {
        self.program = program.into();
        self
    }

    /// Allows programs to gain privileges, as `sudo` does.
    #[must_use]
    pub fn allow_new_privileges(mut self) -> ContainerExecutor {
        self.new_privileges = true;
        self
    }

    /// Adds arguments before `run`, such as `["--storage-driver", "vfs"]` for Podman. The same arguments are used to
    /// remove the container.
    #[must_use]
    pub fn with_global_args(
        mut self,
        args: impl IntoIterator<Item = impl Into<String>>,
    ) -> ContainerExecutor {
        self.global_args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Adds arguments before the image, such as `["--ulimit", "nofile=1024:1024"]`. They follow those that enforce
    /// the options, so an argument such as `--privileged` weakens the enforcement.
    #[must_use]
    pub fn with_args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> ContainerExecutor {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Returns the command that runs a command in a container. `run` also adds the name of the container and
    /// `--stop-timeout 0`.
    ///
    /// # Errors
    ///
    /// Returns [`ExecError::Invalid`] with all invalid values.
    pub fn argv(&self, argv: &[String], options: &ExecOptions) -> Result<Vec<String>, ExecError> {
        self.check(argv)?;
        crate::check_env(options)?;
        let workspace = self.workspace.to_string_lossy();
        let access = if options.read_only { "ro" } else { "rw" };
        if options.network_disabled && self.args.iter().any(|arg| is_network(arg)) {
            let message = "arguments of the container choose a network, which network_disabled forbids";
            return Err(ExecError::invalid(message));
        }
        let mut line = vec![self.program.clone()];
        line.extend(self.with_globals(&["run", "--rm"]));
        line.extend(["-v".into(), format!("{workspace}:{WORKSPACE}:{access}")]);
        line.extend(["-w".into(), self.container_path(options.work_dir.as_deref())?]);
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

    /// Returns the arguments of a `docker` command: the global arguments, then these.
    fn with_globals(&self, args: &[&str]) -> Vec<String> {
        self.global_args.iter().cloned().chain(args.iter().map(|word| (*word).to_owned())).collect()
    }

    fn check(&self, argv: &[String]) -> Result<(), ExecError> {
        let problem = if argv.is_empty() {
            "the command is empty"
        } else if self.image.is_empty() || self.image.starts_with('-') {
            "the image has no name"
        } else if !self.workspace.is_absolute() || self.workspace.to_str().is_none() {
            "the workspace is not an absolute path in UTF-8"
        } else if cfg!(unix) && self.workspace.to_string_lossy().contains(':') {
            "the path of the workspace contains a colon, which separates the parts of a mount"
        } else {
            return Ok(());
        };
        Err(ExecError::invalid(problem))
    }

    /// Returns a directory as the container sees it. It may be relative to the workspace, or a path in the workspace
    /// on either side.
    fn container_path(&self, work_dir: Option<&Path>) -> Result<String, ExecError> {
        let Some(work_dir) = work_dir else { return Ok(WORKSPACE.to_owned()) };
        let relative = work_dir.strip_prefix(&self.workspace).or_else(|_| work_dir.strip_prefix(WORKSPACE));
        let relative = relative.unwrap_or(work_dir);
        let mut path = String::from(WORKSPACE);
        for component in relative.components() {
            match component {
                Component::CurDir => {}
                Component::Normal(name) if name.to_str().is_some() => {
                    path.push('/');
                    path.push_str(&name.to_string_lossy());
                }
                _ => {
                    let visible = work_dir.display();
                    return Err(ExecError::invalid(format!("{visible} is not in the workspace")));
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
        let name = unique_name();
        // `kill` would miss a container that has not started yet.
        let removal = self.with_globals(&["rm", "--force", &name]);
        let mut container = Container::new(&name, &self.program, &removal);
        // The position after the program, the global arguments, and `run --rm`.
        let after_run = self.global_args.len() + 3;
        // Podman's `rm --force` would otherwise wait ten seconds for the program to end.
        let run_options = ["--name".to_owned(), name, "--stop-timeout".to_owned(), "0".to_owned()];
        line.splice(after_run..after_run, run_options);
        let job = Job {
            argv: &line,
            env: inherited(INHERITED.iter().copied()),
            work_dir: None,
            stdin: &options.stdin,
            timeout: options.timeout,
            max_output: options.max_output,
            on_line: options.on_line.as_ref(),
            confinement: None,
        };
        let outcome = run(job, cancel).await;
        match &outcome {
            // The `docker` process has ended, but its container may still run.
            Err(ExecError::Timeout { .. } | ExecError::Cancelled | ExecError::Lost { .. }) => {
                container.remove().await.map_err(|message| ExecError::Lost { message })?;
            }
            Ok(output) if RUNTIME_FAILURES.contains(&output.exit_code) && self.is_runtime_failure(output) => {
                container.remove().await.map_err(|message| ExecError::Lost { message })?;
                let message = output.stderr.trim().to_owned();
                return Err(ExecError::Start { program: self.program.clone(), message });
            }
            Ok(_) | Err(_) => container.mark_removed(),
        }
        outcome
    }

    /// Whether the error comes from the container runtime: `docker: Error response from daemon: …`, or `Error: …`
    /// from Podman. A shell uses the same codes for programs that it cannot run, but does not mention containers.
    fn is_runtime_failure(&self, output: &ExecOutput) -> bool {
        let name = Path::new(&self.program).file_name().and_then(|name| name.to_str()).unwrap_or_default();
        output.stderr.lines().any(|line| {
            let is_reported = line.starts_with("Error") || line.starts_with(&format!("{name}: "));
            is_reported && (output.exit_code == *RUNTIME_FAILURES.start() || line.contains("container"))
        })
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

/// Whether an argument selects a network.
fn is_network(arg: &str) -> bool {
    let name = arg.split_once('=').map_or(arg, |(name, _)| name);
    matches!(name, "--network" | "--net")
}
