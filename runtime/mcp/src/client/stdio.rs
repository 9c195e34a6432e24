//! Transport to a child process: messages are lines on its standard input and output.

mod input;

use std::future::Future;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memchr::memchr;
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdout};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgen_exec::local::INHERITED;
use toolgen_exec::process::{Group, inherited, piped};
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::base::lines::{Glance, Line, Lines};
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::secrets::Secrets;
use toolgen_kernel::spec::plan::McpTransport;

use self::input::Input;
use super::connection::{Broken, Message, Transport};
use super::inbox::Inbox;

/// Maximum number of consecutive lines that are not messages.
const MAX_INVALID_LINES: usize = 256;
/// Maximum length of a line that is skipped, as a multiple of the maximum message size.
const MAX_SKIPPED_LINE_FACTOR: usize = 4;
/// Number of bytes of the server's standard error that are kept.
const STDERR_TAIL_BYTES: usize = 2 << 10;
/// How long to wait for the server's exit after its input was closed, after a request to terminate, and after a kill.
const SHUTDOWN_GRACE: [Duration; 3] =
    [Duration::from_secs(2), Duration::from_secs(1), Duration::from_secs(5)];
/// How long the output of an exited server is still read.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// A server in a child process with its own process group, which is killed when this is dropped.
pub(super) struct Stdio {
    input: Input,
    group: Arc<Mutex<Group>>,
    /// See [`Keeper`].
    said: Arc<Mutex<Vec<u8>>>,
    tail: Arc<Mutex<Vec<u8>>>,
    tasks: Vec<AbortHandle>,
    /// Fires when the process has exited and its output was read to the end.
    exited: CancellationToken,
}

impl Stdio {
    /// Starts the process.
    ///
    /// # Errors
    ///
    /// Returns the reason if the process does not start.
    pub(super) fn start(transport: &McpTransport, longest: usize, inbox: Inbox) -> Result<Stdio, String> {
        let McpTransport::Stdio { argv, env, inherit, work_dir } = transport else {
            return Err("it is not a program".to_owned());
        };
        let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
        let Some(program) = argv.first() else { return Err("no program is named".to_owned()) };
        let names = INHERITED.iter().copied().chain(inherit.iter().map(|name| name.as_str()));
        let mut all = inherited(names);
        all.extend(env.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into())));
        let work_dir = Some(Path::new(work_dir.as_str())).filter(|path| !path.as_os_str().is_empty());
        Handle::try_current().map_err(|error| error.to_string())?;
        let (mut child, group) = piped(&argv, &all, work_dir)
            .map_err(|error| format!("`{program}` does not start: {error}{}", hint(program)))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let group = Arc::new(Mutex::new(group));
        let [read, drained, broken, gone] = [(); 4].map(|()| CancellationToken::new());
        let (input, writing) = Input::new(stdin, inbox.clone(), broken.clone());
        let [messages, tail] = [(); 2].map(|()| Arc::new(Mutex::new(Vec::new())));
        let keeper = Keeper {
            inbox: inbox.clone(),
            group: Arc::clone(&group),
            said: Arc::clone(&messages),
            tail: Arc::clone(&tail),
            read: read.clone(),
            drained: drained.clone(),
            broken,
            exited: gone.clone(),
        };
        let tasks = vec![
            spawn(writing),
            spawn(listen(stdout, longest, inbox, Arc::clone(&messages), read)),
            spawn(drain(stderr, Arc::clone(&tail), drained)),
            spawn(keeper.keep(child)),
        ];
        Ok(Stdio { input, group, said: messages, tail, tasks, exited: gone })
    }
}

/// Returns the secrets among a server's variables.
pub(super) fn credentials(transport: &McpTransport) -> Secrets {
    let McpTransport::Stdio { env, inherit, .. } = transport else { return Secrets::default() };
    let own = env.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let passed = inherited(inherit.iter().map(|name| name.as_str())).into_iter();
    let passed =
        passed.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Secrets::of_variables(own.chain(passed))
}

fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    tokio::spawn(task).abort_handle()
}

impl Transport for Stdio {
    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), Broken>> {
        let (done, outcome) = oneshot::channel();
        self.input.put(message.text, message.id, Some(done));
        Box::pin(async move {
            let unknown = |_| Err(Broken { written: true, why: "the connection was dropped".to_owned() });
            outcome.await.unwrap_or_else(unknown)
        })
    }

    fn cancel(&self, id: u64) {
        let params = json!({ "requestId": id, "reason": "the request was cancelled" });
        let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        self.input.put(notice.to_string(), None, None);
    }

    fn breaks(&self) -> bool {
        true
    }

    fn wrote(&self) -> String {
        wrote(&self.said, &self.tail)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.input.end();
        Box::pin(async move {
            for (step, grace) in SHUTDOWN_GRACE.into_iter().enumerate() {
                if timeout(grace, self.exited.cancelled()).await.is_ok() {
                    return;
                }
                let mut group = unpoisoned(self.group.lock());
                if step == 0 { group.terminate() } else { group.kill() }
            }
        })
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        unpoisoned(self.group.lock()).kill();
        self.tasks.iter().for_each(AbortHandle::abort);
    }
}

/// Reads messages until the output ends, or too many lines are invalid. Output before the first message is kept in
/// `said`: a program that is not an MCP server explains itself there.
async fn listen(
    stdout: Option<ChildStdout>,
    longest: usize,
    inbox: Inbox,
    reported: Arc<Mutex<Vec<u8>>>,
    read: CancellationToken,
) {
    let _read = read.drop_guard();
    let Some(mut stdout) = stdout else { return };
    let (mut lines, mut garbage, mut understood) = (Lines::new(longest), 0, false);
    let mut buffer = vec![0; 64 << 10];
    let too_long = format!("the response is longer than {longest} bytes");
    while let Ok(count @ 1..) = stdout.read(&mut buffer).await {
        let mut unknown = false;
        lines.push(&buffer[..count], |line| match line {
            // Later lines are ignored.
            _ if garbage > MAX_INVALID_LINES || unknown => {}
            Line::Whole(line) if line.trim_ascii().is_empty() => {}
            Line::Whole(line) => match inbox.text(line) {
                Ok(()) => (garbage, understood) = (0, true),
                Err(error) => {
                    garbage += 1;
                    match answered(&Glance::at(line)) {
                        Some(id) => inbox.unread(id, error),
                        None => keep(&reported, &[line, b"\n"].concat()),
                    }
                }
            },
            Line::TooLong(Glance::Request(_) | Glance::Odd) => {}
            Line::TooLong(glance) => match answered(&glance) {
                Some(id) => inbox.unread(id, &*too_long),
                None => unknown = true,
            },
        });
        if understood {
            // Output before the first message is the banner of an MCP server.
            unpoisoned(reported.lock()).clear();
        }
        let reason = if garbage > MAX_INVALID_LINES {
            format!("it writes lines that are not messages: {garbage} in a row")
        } else if unknown || lines.passed_over() > longest.saturating_mul(MAX_SKIPPED_LINE_FACTOR) {
            format!("it wrote a line of more than {longest} bytes that is not a response to a request")
        } else {
            continue;
        };
        return inbox.closed(&reason);
    }
    if !understood {
        keep(&reported, lines.rest());
    }
}

/// Returns the ID of the client's request that a message answers.
fn answered(glance: &Glance) -> Option<u64> {
    match glance {
        Glance::Answer(id) => id.as_u64(),
        Glance::Request(_) | Glance::Odd | Glance::Unknown(_) => None,
    }
}

/// Reads the server's standard error and keeps its end. A process blocks if this stream is not read.
async fn drain(
    stderr: Option<impl AsyncRead + Unpin>,
    tail: Arc<Mutex<Vec<u8>>>,
    drained: CancellationToken,
) {
    let _drained = drained.drop_guard();
    let Some(mut stderr) = stderr else { return };
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        keep(&tail, &buffer[..count]);
    }
}

/// Appends to the kept end of a stream.
fn keep(tail: &Mutex<Vec<u8>>, bytes: &[u8]) {
    let mut tail = unpoisoned(tail.lock());
    tail.extend_from_slice(bytes);
    // One additional byte shows that the text was cut.
    let surplus = tail.len().saturating_sub(STDERR_TAIL_BYTES + 1);
    tail.drain(..surplus);
}

/// Returns the end of a stream without the line or word that was cut at its start: the rest of a credential could not
/// be recognized and redacted.
fn last_words(tail: &[u8]) -> &[u8] {
    if tail.len() <= STDERR_TAIL_BYTES {
        return tail;
    }
    let end = memchr(b'\n', tail).or_else(|| tail.iter().position(u8::is_ascii_whitespace));
    end.map_or(&[], |end| &tail[end..])
}

/// Describes what a process wrote instead of messages, and the end of its standard error.
fn wrote(reported: &Mutex<Vec<u8>>, tail: &Mutex<Vec<u8>>) -> String {
    let words = |kept: &Mutex<Vec<u8>>| {
        let kept = unpoisoned(kept.lock());
        String::from_utf8_lossy(last_words(&kept)).trim().to_owned()
    };
    let (text, tail, mut message) = (words(reported), words(tail), String::new());
    if !text.is_empty() {
        message.push_str(&format!("; instead of messages it wrote to its standard output:\n{text}"));
    }
    if !tail.is_empty() {
        message.push_str(if text.is_empty() { "" } else { "\n" });
        message.push_str(&format!("; its last output:\n{tail}"));
    }
    message
}

/// Waits for the exit of the process and reports why the connection has ended.
struct Keeper {
    inbox: Inbox,
    group: Arc<Mutex<Group>>,
    /// Its standard output, if none of it was a message.
    said: Arc<Mutex<Vec<u8>>>,
    tail: Arc<Mutex<Vec<u8>>>,
    /// Fires when standard output was read to its end.
    read: CancellationToken,
    /// Fires when standard error was read to its end.
    drained: CancellationToken,
    /// Fires when the process no longer accepts input.
    broken: CancellationToken,
    exited: CancellationToken,
}

impl Keeper {
    async fn keep(self, mut child: Child) {
        // However this task ends, such as with its runtime, pending requests are notified.
        let ended = self.read.run_until_cancelled(child.wait());
        let status = match self.broken.run_until_cancelled(ended).await {
            Some(Some(status)) => status.ok(),
            // The process has closed its output or its input: no more messages can arrive.
            Some(None) | None => match timeout(DRAIN_TIMEOUT, child.wait()).await {
                Ok(status) => status.ok(),
                Err(_) => None,
            },
        };
        // The process ID is free from now on, except for the rest of its process group.
        unpoisoned(self.group.lock()).kill();
        let status = match status {
            None => {
                // A process that survives a kill is left to the system.
                let _ = timeout(SHUTDOWN_GRACE[2], child.wait()).await;
                None
            }
            status => status,
        };
        let _ = timeout(DRAIN_TIMEOUT, self.read.cancelled()).await;
        let _ = timeout(DRAIN_TIMEOUT, self.drained.cancelled()).await;
        self.inbox.closed(&self.exit_message(status));
        self.exited.cancel();
    }

    fn exit_message(&self, status: Option<ExitStatus>) -> String {
        let mut reason = match status {
            Some(status) => format!("its process exited ({status})"),
            None => "its process closed its input or its output, and was killed".to_owned(),
        };
        reason.push_str(&wrote(&self.said, &self.tail));
        reason
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.inbox.closed("the connection was closed");
        self.exited.cancel();
    }
}

/// Returns a hint for a program that does not start.
fn hint(program: &str) -> &'static str {
    if !program.contains('/') {
        "; is it installed, and its directory in `PATH`?"
    } else if Path::new(program).is_relative() {
        "; a relative path starts at the current directory of this process"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn stderr_tail_never_shows_part_of_a_secret() {
        let lines = "word ".repeat(STDERR_TAIL_BYTES / 5 - 2);
        for (text, message) in [
            (format!("hunter2-s3cr3t\n{lines}"), format!("\n{lines}")),
            (format!("hunter2-s3cr3t {lines}"), format!(" {lines}")),
            ("s3cr3t".repeat(STDERR_TAIL_BYTES), String::new()),
            (lines.clone(), lines.clone()),
        ] {
            let tail = Arc::new(Mutex::new(Vec::new()));
            drain(Some(text.as_bytes()), Arc::clone(&tail), CancellationToken::new()).await;
            assert_eq!(String::from_utf8_lossy(last_words(&unpoisoned(tail.lock()))), message);
        }
    }
}
