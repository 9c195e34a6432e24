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
use toolgen_kernel::base::lines::{Line, Lines, MessageKind};
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::secrets::Secrets;
use toolgen_kernel::spec::plan::McpTransport;

use self::input::Input;
use super::connection::{Message, Transport, TransportError};
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
    /// See [`ExitWatcher`].
    invalid_output: Arc<Mutex<Vec<u8>>>,
    stderr_tail: Arc<Mutex<Vec<u8>>>,
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
    pub(super) fn start(transport: &McpTransport, max_message: usize, inbox: Inbox) -> Result<Stdio, String> {
        let McpTransport::Stdio { argv, env, inherit, work_dir } = transport else {
            return Err("it is not a program".to_owned());
        };
        let argv: Vec<String> = argv.iter().map(ToString::to_string).collect();
        let Some(program) = argv.first() else { return Err("no program is named".to_owned()) };
        let names = INHERITED.iter().copied().chain(inherit.iter().map(|name| name.as_str()));
        let mut variables = inherited(names);
        variables.extend(env.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into())));
        let work_dir = Some(Path::new(work_dir.as_str())).filter(|path| !path.as_os_str().is_empty());
        Handle::try_current().map_err(|error| error.to_string())?;
        let (mut child, group) = piped(&argv, &variables, work_dir)
            .map_err(|error| format!("`{program}` does not start: {error}{}", hint(program)))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let group = Arc::new(Mutex::new(group));
        let [stdout_read, stderr_read, input_closed, exited] = [(); 4].map(|()| CancellationToken::new());
        let (input, writer) = Input::new(stdin, inbox.clone(), input_closed.clone());
        let [invalid_output, stderr_tail] = [(); 2].map(|()| Arc::new(Mutex::new(Vec::new())));
        let exit_watcher = ExitWatcher {
            inbox: inbox.clone(),
            group: Arc::clone(&group),
            invalid_output: Arc::clone(&invalid_output),
            stderr_tail: Arc::clone(&stderr_tail),
            stdout_read: stdout_read.clone(),
            stderr_read: stderr_read.clone(),
            input_closed,
            exited: exited.clone(),
        };
        let tasks = vec![
            spawn(writer),
            spawn(read_messages(stdout, max_message, inbox, Arc::clone(&invalid_output), stdout_read)),
            spawn(drain(stderr, Arc::clone(&stderr_tail), stderr_read)),
            spawn(exit_watcher.run(child)),
        ];
        Ok(Stdio { input, group, invalid_output, stderr_tail, tasks, exited })
    }
}

/// Returns the secrets among a server's variables.
pub(super) fn credentials(transport: &McpTransport) -> Secrets {
    let McpTransport::Stdio { env, inherit, .. } = transport else { return Secrets::default() };
    let variables = env.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let inherited_variables = inherited(inherit.iter().map(|name| name.as_str())).into_iter();
    let inherited_variables = inherited_variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    Secrets::of_variables(variables.chain(inherited_variables))
}

fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    tokio::spawn(task).abort_handle()
}

impl Transport for Stdio {
    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), TransportError>> {
        let (result_tx, result_rx) = oneshot::channel();
        self.input.write_line(message.text, message.id, Some(result_tx));
        Box::pin(async move {
            let dropped =
                |_| Err(TransportError { written: true, reason: "the connection was dropped".to_owned() });
            result_rx.await.unwrap_or_else(dropped)
        })
    }

    fn cancel(&self, id: u64) {
        let params = json!({ "requestId": id, "reason": "the request was cancelled" });
        let notification = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        self.input.write_line(notification.to_string(), None, None);
    }

    fn closes_on_send_error(&self) -> bool {
        true
    }

    fn describe_output(&self) -> String {
        describe_output(&self.invalid_output, &self.stderr_tail)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.input.close();
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
/// `invalid_output`: it often explains why the program is not an MCP server.
async fn read_messages(
    stdout: Option<ChildStdout>,
    max_message: usize,
    inbox: Inbox,
    invalid_output: Arc<Mutex<Vec<u8>>>,
    stdout_read: CancellationToken,
) {
    let _guard = stdout_read.drop_guard();
    let Some(mut stdout) = stdout else { return };
    let (mut lines, mut invalid_lines, mut has_messages) = (Lines::new(max_message), 0, false);
    let mut buffer = vec![0; 64 << 10];
    let too_long = format!("the response is longer than {max_message} bytes");
    while let Ok(count @ 1..) = stdout.read(&mut buffer).await {
        let mut unmatched_line = false;
        lines.push(&buffer[..count], |line| match line {
            // Later lines are ignored.
            _ if invalid_lines > MAX_INVALID_LINES || unmatched_line => {}
            Line::Whole(line) if line.trim_ascii().is_empty() => {}
            Line::Whole(line) => match inbox.accept_text(line) {
                Ok(()) => (invalid_lines, has_messages) = (0, true),
                Err(error) => {
                    invalid_lines += 1;
                    match response_id(&MessageKind::at(line)) {
                        Some(id) => inbox.report_unparsable(id, error),
                        None => append_to_tail(&invalid_output, &[line, b"\n"].concat()),
                    }
                }
            },
            Line::TooLong(MessageKind::Request(_) | MessageKind::Odd) => {}
            Line::TooLong(glance) => match response_id(&glance) {
                Some(id) => inbox.report_unparsable(id, &*too_long),
                None => unmatched_line = true,
            },
        });
        if has_messages {
            // Output before the first message is the banner of an MCP server.
            unpoisoned(invalid_output.lock()).clear();
        }
        let reason = if invalid_lines > MAX_INVALID_LINES {
            format!("it writes lines that are not messages: {invalid_lines} in a row")
        } else if unmatched_line || lines.passed_over() > max_message.saturating_mul(MAX_SKIPPED_LINE_FACTOR)
        {
            format!("it wrote a line of more than {max_message} bytes that is not a response to a request")
        } else {
            continue;
        };
        return inbox.close(&reason);
    }
    if !has_messages {
        append_to_tail(&invalid_output, lines.rest());
    }
}

/// Returns the ID of the client's request that a message responds to.
fn response_id(glance: &MessageKind) -> Option<u64> {
    match glance {
        MessageKind::Answer(id) => id.as_u64(),
        MessageKind::Request(_) | MessageKind::Odd | MessageKind::Unknown(_) => None,
    }
}

/// Reads the server's standard error and keeps its end. A process blocks if this stream is not read.
async fn drain(
    stderr: Option<impl AsyncRead + Unpin>,
    stderr_tail: Arc<Mutex<Vec<u8>>>,
    stderr_read: CancellationToken,
) {
    let _guard = stderr_read.drop_guard();
    let Some(mut stderr) = stderr else { return };
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        append_to_tail(&stderr_tail, &buffer[..count]);
    }
}

/// Appends to the buffer that keeps the end of a stream.
fn append_to_tail(tail: &Mutex<Vec<u8>>, bytes: &[u8]) {
    let mut tail = unpoisoned(tail.lock());
    tail.extend_from_slice(bytes);
    // One additional byte shows that the text was cut.
    let surplus = tail.len().saturating_sub(STDERR_TAIL_BYTES + 1);
    tail.drain(..surplus);
}

/// Returns the end of a stream without the line or word that was cut at its start: the rest of a credential could not
/// be recognized and redacted.
fn complete_tail(tail: &[u8]) -> &[u8] {
    if tail.len() <= STDERR_TAIL_BYTES {
        return tail;
    }
    let end = memchr(b'\n', tail).or_else(|| tail.iter().position(u8::is_ascii_whitespace));
    end.map_or(&[], |end| &tail[end..])
}

/// Describes the output of a process that is not a message, and the end of its standard error.
fn describe_output(invalid_output: &Mutex<Vec<u8>>, stderr_tail: &Mutex<Vec<u8>>) -> String {
    let to_text = |bytes: &Mutex<Vec<u8>>| {
        let bytes = unpoisoned(bytes.lock());
        String::from_utf8_lossy(complete_tail(&bytes)).trim().to_owned()
    };
    let (text, tail, mut message) = (to_text(invalid_output), to_text(stderr_tail), String::new());
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
struct ExitWatcher {
    inbox: Inbox,
    group: Arc<Mutex<Group>>,
    /// The standard output, if none of it was a message.
    invalid_output: Arc<Mutex<Vec<u8>>>,
    stderr_tail: Arc<Mutex<Vec<u8>>>,
    /// Fires when standard output was read to its end.
    stdout_read: CancellationToken,
    /// Fires when standard error was read to its end.
    stderr_read: CancellationToken,
    /// Fires when the process no longer accepts input.
    input_closed: CancellationToken,
    exited: CancellationToken,
}

impl ExitWatcher {
    async fn run(self, mut child: Child) {
        // If this task is aborted, for example with its runtime, `Drop` notifies pending requests.
        let ended = self.stdout_read.run_until_cancelled(child.wait());
        let status = match self.input_closed.run_until_cancelled(ended).await {
            Some(Some(status)) => status.ok(),
            // The process has closed its output or its input: no more messages can arrive.
            Some(None) | None => match timeout(DRAIN_TIMEOUT, child.wait()).await {
                Ok(status) => status.ok(),
                Err(_) => None,
            },
        };
        // From now on the process ID may be reused, but the rest of the process group may still run.
        unpoisoned(self.group.lock()).kill();
        let status = match status {
            None => {
                // The operating system handles a process that survives a kill.
                let _ = timeout(SHUTDOWN_GRACE[2], child.wait()).await;
                None
            }
            status => status,
        };
        let _ = timeout(DRAIN_TIMEOUT, self.stdout_read.cancelled()).await;
        let _ = timeout(DRAIN_TIMEOUT, self.stderr_read.cancelled()).await;
        self.inbox.close(&self.exit_message(status));
        self.exited.cancel();
    }

    fn exit_message(&self, status: Option<ExitStatus>) -> String {
        let mut reason = match status {
            Some(status) => format!("its process exited ({status})"),
            None => "its process closed its input or its output, and was killed".to_owned(),
        };
        reason.push_str(&describe_output(&self.invalid_output, &self.stderr_tail));
        reason
    }
}

impl Drop for ExitWatcher {
    fn drop(&mut self) {
        self.inbox.close("the connection was closed");
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
            assert_eq!(String::from_utf8_lossy(complete_tail(&unpoisoned(tail.lock()))), message);
        }
    }
}
