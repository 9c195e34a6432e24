//! Removes a container, regardless of its state.

use std::ffi::OsString;
use std::io;
use std::process::{Command, Output, Stdio};
use std::thread::{Builder, sleep};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;
use tokio::time::timeout;

#[cfg(target_os = "linux")]
use super::super::descriptors;
use super::super::process::inherited;
use super::INHERITED;

/// The time limit for removing a container.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(20);
/// The time between two attempts.
const RETRY_DELAY: Duration = Duration::from_millis(200);

/// A container that may exist. It is removed on drop: killing `docker run` does not stop the program in the
/// container.
pub(super) struct Container {
    /// The name of the container.
    name: String,
    /// The command that removes the container; `None` after the removal.
    removal: Option<Removal>,
}

/// The program that removes a container, its arguments and its environment.
struct Removal {
    program: String,
    args: Vec<String>,
    env: Vec<(OsString, OsString)>,
}

impl Container {
    /// Creates a handle of the named container. The program removes the container with these arguments.
    pub(super) fn new(name: &str, program: &str, args: &[String]) -> Container {
        let env = inherited(INHERITED.iter().copied());
        let removal = Removal { program: program.to_owned(), args: args.to_vec(), env };
        Container { name: name.to_owned(), removal: Some(removal) }
    }

    /// Notes that the container has ended and removed itself.
    pub(super) fn mark_removed(&mut self) {
        self.removal = None;
    }

    /// Removes the container and waits for the removal, which continues if the caller stops waiting.
    pub(super) async fn remove(&mut self) -> Result<(), String> {
        let Some(completion) = self.start() else { return Ok(()) };
        let outcome = match timeout(REMOVAL_TIMEOUT, completion).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(String::from("nothing removes it")),
            Err(_) => Err(format!("it is not removed after {REMOVAL_TIMEOUT:?}")),
        };
        outcome.map_err(|error| format!("the container {} may still run: {error}", self.name))
    }

    /// Starts the removal on a separate thread: the future may be dropped, possibly with its runtime.
    fn start(&mut self) -> Option<oneshot::Receiver<Result<(), String>>> {
        let removal = self.removal.take()?;
        let (outcome_tx, outcome_rx) = oneshot::channel();
        // If no thread can be started, `outcome_tx` is dropped, which closes the receiver.
        let _ = Builder::new().spawn(move || outcome_tx.send(removal.run()));
        Some(outcome_rx)
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // No caller waits for the outcome.
        drop(self.start());
    }
}

impl Removal {
    /// Removes the container. After an interrupted start, the container may appear or be busy a moment later, so the
    /// removal is repeated.
    fn run(&self) -> Result<(), String> {
        let start = Instant::now();
        let mut was_absent = false;
        loop {
            let output = self.output().map_err(|error| error.to_string())?;
            let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            let is_absent = is_absent(&output, &reason);
            // The program prints the name of a container that it removed.
            if output.status.success() && !is_absent || is_absent && was_absent {
                return Ok(());
            }
            if start.elapsed() > REMOVAL_TIMEOUT {
                return Err(reason);
            }
            was_absent = is_absent;
            sleep(RETRY_DELAY);
        }
    }

    /// Runs the program once. Like every program, it inherits only its standard streams.
    fn output(&self) -> io::Result<Output> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(target_os = "linux")]
        descriptors::replace_inherited(&mut command)?;
        command.output()
    }
}

/// Whether the container does not exist: Docker reports an error, Podman only prints no name.
fn is_absent(output: &Output, reason: &str) -> bool {
    output.status.success() && output.stdout.is_empty()
        || reason.to_ascii_lowercase().contains("no such container")
}
