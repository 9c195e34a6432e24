//! A server that is a program: messages are lines on its standard input and output.

use std::future::Future;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::inbox::Inbox;
use super::lines::{Line, Lines, answered};
use super::transport::{Broken, Message, Transport};
use crate::base::future::BoxFuture;
use crate::base::secret_names::Keys;
use crate::base::sync::unpoisoned;
use crate::call::secrets::Secrets;
use crate::engine::executor::local::INHERITED;
use crate::engine::executor::process::{Group, inherited, piped};
use crate::spec::plan::McpTransport;

/// How many bytes may wait to be written, for a server that does not read.
const MOST_QUEUED: usize = 64 << 20;
/// How much is written at once.
const BATCH: usize = 64 << 10;
/// How many lines in a row may be no messages.
const MOST_GARBAGE: usize = 256;
/// How many times the length of the longest message a line may have that is passed over.
const PASSED_OVER: usize = 4;
/// How much of what a server says on its standard error is kept.
const TAIL: usize = 4 << 10;
/// How long a server may take to end once its input has ended, then once it was asked to, and once it was killed.
const GRACE: [Duration; 3] = [Duration::from_secs(2), Duration::from_secs(1), Duration::from_secs(5)];
/// How long the output of an ended server is read on.
const LEFTOVERS: Duration = Duration::from_millis(500);

/// A server that is a program, in a process group of its own, which is killed when this is dropped.
pub(super) struct Stdio {
    /// What is to be written; `None` once the input has ended.
    queue: Mutex<Option<mpsc::UnboundedSender<Outgoing>>>,
    queued: Arc<AtomicUsize>,
    group: Arc<Mutex<Group>>,
    tasks: Vec<AbortHandle>,
    /// Fires when the program has ended and nothing of its output is left to read.
    gone: CancellationToken,
}

/// A line to be written.
struct Outgoing {
    text: String,
    /// The request that it is, which need not be written once nobody waits for its answer.
    id: Option<u64>,
    receipt: Receipt,
}

/// Tells what became of a line, at the latest when it is dropped.
struct Receipt {
    done: Option<oneshot::Sender<Result<(), Broken>>>,
    begun: bool,
}

impl Receipt {
    fn tell(&mut self, outcome: Result<(), Broken>) {
        if let Some(done) = self.done.take() {
            // Whoever sent it may have given up.
            drop(done.send(outcome));
        }
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        let why = "the connection to the server has ended".to_owned();
        self.tell(Err(Broken { written: self.begun, why }));
    }
}

impl Stdio {
    /// Starts the program.
    ///
    /// # Errors
    ///
    /// Why it does not start.
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
        Handle::try_current().map_err(|why| why.to_string())?;
        let (mut child, group) =
            piped(&argv, &all, work_dir).map_err(|why| format!("`{program}` does not start: {why}"))?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (queue, outgoing) = mpsc::unbounded_channel();
        let (queued, group) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(group)));
        let (read, drained, gone) =
            (CancellationToken::new(), CancellationToken::new(), CancellationToken::new());
        let tail = Arc::new(Mutex::new(Vec::new()));
        let keeper = Keeper {
            inbox: inbox.clone(),
            group: Arc::clone(&group),
            tail: Arc::clone(&tail),
            read: read.clone(),
            drained: drained.clone(),
            gone: gone.clone(),
        };
        let tasks = vec![
            spawn(write(stdin, outgoing, inbox.clone(), Arc::clone(&queued))),
            spawn(listen(stdout, longest, inbox, read)),
            spawn(drain(stderr, tail, drained)),
            spawn(keeper.keep(child)),
        ];
        Ok(Stdio { queue: Mutex::new(Some(queue)), queued, group, tasks, gone })
    }

    /// Puts a line into the queue.
    fn put(&self, text: String, id: Option<u64>, done: Option<oneshot::Sender<Result<(), Broken>>>) {
        let mut receipt = Receipt { done, begun: false };
        let length = text.len();
        if self.queued.fetch_add(length, Ordering::Relaxed) + length > MOST_QUEUED {
            self.queued.fetch_sub(length, Ordering::Relaxed);
            let why = "the server does not read what it is sent".to_owned();
            return receipt.tell(Err(Broken { written: false, why }));
        }
        if let Some(queue) = &*unpoisoned(self.queue.lock()) {
            // If nobody writes any more, the receipt says so when it is dropped.
            drop(queue.send(Outgoing { text, id, receipt }));
        }
    }
}

/// Returns the values of a server's variables that have names of secrets.
pub(super) fn credentials(transport: &McpTransport) -> Secrets {
    let mut credentials = Secrets::default();
    if let McpTransport::Stdio { env, inherit, .. } = transport {
        let usual = Keys::usual();
        let own = env.iter().filter(|(name, _)| usual.holds(name)).map(|(_, value)| value.to_string());
        let passed = inherited(inherit.iter().map(|name| name.as_str()).filter(|name| usual.holds(name)));
        let passed = passed.into_iter().filter_map(|(_, value)| value.into_string().ok());
        own.chain(passed).for_each(|value| credentials.collect(&value.into(), 1));
    }
    credentials
}

fn spawn(task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
    tokio::spawn(task).abort_handle()
}

impl Transport for Stdio {
    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), Broken>> {
        let (done, outcome) = oneshot::channel();
        self.put(message.text, message.id, Some(done));
        Box::pin(async move {
            let unknown = |_| Err(Broken { written: true, why: "the connection was dropped".to_owned() });
            outcome.await.unwrap_or_else(unknown)
        })
    }

    fn cancel(&self, id: u64) {
        let params = json!({ "requestId": id, "reason": "nobody waits for the answer" });
        let notice = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        self.put(notice.to_string(), None, None);
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        drop(unpoisoned(self.queue.lock()).take());
        Box::pin(async move {
            for (step, grace) in GRACE.into_iter().enumerate() {
                if timeout(grace, self.gone.cancelled()).await.is_ok() {
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

/// Writes lines, several at once if they wait.
async fn write(
    stdin: Option<ChildStdin>,
    mut queue: mpsc::UnboundedReceiver<Outgoing>,
    inbox: Inbox,
    queued: Arc<AtomicUsize>,
) {
    let Some(mut stdin) = stdin else { return };
    let (mut bytes, mut receipts) = (Vec::new(), Vec::new());
    while let Some(first) = queue.recv().await {
        let mut next = Some(first);
        while let Some(mut line) = next.take() {
            queued.fetch_sub(line.text.len(), Ordering::Relaxed);
            if line.id.is_none_or(|id| inbox.awaits(id)) {
                bytes.extend_from_slice(line.text.as_bytes());
                bytes.push(b'\n');
                line.receipt.begun = true;
                receipts.push(line.receipt);
            }
            if bytes.len() < BATCH {
                next = queue.try_recv().ok();
            }
        }
        let written = match stdin.write_all(&bytes).await {
            Ok(()) => stdin.flush().await,
            failed => failed,
        };
        bytes.clear();
        for mut receipt in receipts.drain(..) {
            let broken = |why: &std::io::Error| Broken { written: true, why: why.to_string() };
            receipt.tell(written.as_ref().copied().map_err(broken));
        }
        if written.is_err() {
            return;
        }
    }
}

/// Reads messages until the output ends, or nothing in it can be understood.
async fn listen(stdout: Option<ChildStdout>, longest: usize, inbox: Inbox, read: CancellationToken) {
    let _read = read.drop_guard();
    let Some(mut stdout) = stdout else { return };
    let (mut lines, mut garbage) = (Lines::new(longest), 0);
    let mut buffer = vec![0; 64 << 10];
    let too_long = format!("the answer is longer than {longest} bytes");
    while let Ok(count @ 1..) = stdout.read(&mut buffer).await {
        let mut unknown = false;
        lines.push(&buffer[..count], |line| match line {
            // What follows is not believed any more.
            _ if garbage > MOST_GARBAGE || unknown => {}
            Line::Whole(line) if line.trim_ascii().is_empty() => {}
            Line::Whole(line) if inbox.text(line) => garbage = 0,
            Line::Whole(line) => {
                garbage += 1;
                if let Some(id) = answered(line) {
                    inbox.lost(id, "the answer cannot be read: it is no JSON, or nested too deeply");
                }
            }
            Line::TooLong(Some(id)) => inbox.lost(id, &*too_long),
            Line::TooLong(None) => {}
            Line::Unknown => unknown = true,
        });
        let why = if garbage > MOST_GARBAGE {
            format!("it writes lines that are no messages: {garbage} in a row")
        } else if unknown || lines.passed_over() > longest.saturating_mul(PASSED_OVER) {
            format!("it wrote a line of more than {longest} bytes that is no answer to a request")
        } else {
            continue;
        };
        return inbox.closed(&why);
    }
}

/// Keeps the end of what the server says on its standard error: a program whose stream is not read stops.
async fn drain(
    stderr: Option<impl AsyncRead + Unpin>,
    tail: Arc<Mutex<Vec<u8>>>,
    drained: CancellationToken,
) {
    let _drained = drained.drop_guard();
    let Some(mut stderr) = stderr else { return };
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        let mut tail = unpoisoned(tail.lock());
        tail.extend_from_slice(&buffer[..count]);
        let surplus = tail.len().saturating_sub(TAIL);
        tail.drain(..surplus);
    }
}

/// Waits for the end of the program, and says why the connection has ended.
struct Keeper {
    inbox: Inbox,
    group: Arc<Mutex<Group>>,
    tail: Arc<Mutex<Vec<u8>>>,
    /// Fires when the output was read to its end.
    read: CancellationToken,
    /// Fires when what it says on its standard error was read to its end.
    drained: CancellationToken,
    gone: CancellationToken,
}

impl Keeper {
    async fn keep(self, mut child: Child) {
        // Whatever ends this task, such as the end of its runtime: nobody waits in vain.
        let ended = self.read.run_until_cancelled(child.wait()).await;
        let status = match ended {
            Some(status) => status.ok(),
            // The program has closed its output: it can say nothing more.
            None => match timeout(LEFTOVERS, child.wait()).await {
                Ok(status) => status.ok(),
                Err(_) => None,
            },
        };
        // Its number is free from now on, but for what is left of its group.
        unpoisoned(self.group.lock()).kill();
        let status = match status {
            None => {
                // A process that does not even die is left to the system.
                let _ = timeout(GRACE[2], child.wait()).await;
                None
            }
            status => status,
        };
        let _ = timeout(LEFTOVERS, self.read.cancelled()).await;
        let _ = timeout(LEFTOVERS, self.drained.cancelled()).await;
        self.inbox.closed(&self.why(status));
        self.gone.cancel();
    }

    fn why(&self, status: Option<ExitStatus>) -> String {
        let mut why = match status {
            Some(status) => format!("its program ended ({status})"),
            None => "its program closed its output and was killed".to_owned(),
        };
        let tail = unpoisoned(self.tail.lock());
        let tail = String::from_utf8_lossy(&tail);
        if !tail.trim().is_empty() {
            why.push_str("; it said last:\n");
            why.push_str(tail.trim());
        }
        why
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.inbox.closed("the connection was closed");
        self.gone.cancel();
    }
}
