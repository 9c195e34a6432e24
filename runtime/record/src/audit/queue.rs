//! The queue of records to be written.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::AuditError;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::layers::redact::{Secrets, without_bytes};

/// A call as it arrived, including secrets. It must not leave this module except through the writer.
pub(super) struct Raw {
    pub(super) key: u64,
    pub(super) parent: u64,
    pub(super) turn: u64,
    pub(super) session_id: Text,
    pub(super) agent_id: Text,
    pub(super) principal: Text,
    pub(super) tool_name: Text,
    pub(super) tool_call_id: Text,
    pub(super) attempt: u32,
    /// The approver, if the call was approved; empty if not named.
    pub(super) approver: Option<Text>,
    pub(super) arguments: Value,
    /// The values of the context that a client sent.
    pub(super) client: Map<String, Value>,
    /// The secrets known so far: those of the outer calls, and those that a toolbox found in the arguments.
    pub(super) secrets: Option<Arc<Secrets>>,
    pub(super) tool: Option<Arc<dyn AgentTool>>,
    pub(super) at: SystemTime,
}

/// How a call ended.
pub(super) enum Ended {
    With(Box<Result<ToolResult, ToolError>>),
    /// The caller abandoned the call.
    GivenUp,
    /// A panic ended the call.
    TornDown,
}

impl Ended {
    /// Copies an outcome, without binary content unless records include it.
    pub(super) fn of(outcome: &Result<ToolResult, ToolError>, bytes: bool) -> Ended {
        let copy = if bytes { ToolResult::clone } else { without_bytes };
        Ended::With(Box::new(outcome.as_ref().map(copy).map_err(ToolError::clone)))
    }
}

/// Notifies the waiting caller that something is written, or of the error.
pub(super) type Ack = oneshot::Sender<Result<(), AuditError>>;

/// The end of a call whose intent was sent to the writer.
pub(super) struct Ending {
    pub(super) key: u64,
    pub(super) ended: Ended,
    pub(super) took: Duration,
    /// Whether the call was allowed to run.
    pub(super) ran: bool,
    /// The secrets that are known by then.
    pub(super) secrets: Option<Arc<Secrets>>,
}

pub(super) enum Message {
    Intent(Box<Raw>, Option<Ack>),
    Outcome(Ending),
    /// A call that was refused without being run.
    Refused(Box<Raw>, Ended, Duration, Option<Ack>),
    Flush(Ack),
}

impl Message {
    /// Returns whether a caller waits for it.
    fn is_urgent(&self) -> bool {
        match self {
            Message::Intent(_, ack) | Message::Refused(_, _, _, ack) => ack.is_some(),
            Message::Outcome(..) => false,
            Message::Flush(_) => true,
        }
    }
}

/// How long the writer lets messages without a waiting caller accumulate. Waking the writer is the most expensive part
/// of recording a call, and several records are written faster together than one by one.
const BATCH_DELAY: Duration = Duration::from_millis(1);

/// A queue with many senders and one receiver, which takes all messages together.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    more: Condvar,
    over: Condvar,
}

#[derive(Default)]
struct State {
    messages: Vec<Message>,
    /// Whether the receiver waits and must be notified.
    idle: bool,
    /// Whether the queue accepts no more messages.
    closed: bool,
    /// Whether the receiver has ended.
    ended: bool,
    /// Callers that wait for the end of the receiver.
    waiting: Vec<oneshot::Sender<()>>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent between any two statements below.
        unpoisoned(self.state.lock())
    }

    /// Adds a message if fewer than `capacity` are waiting, and returns whether it did. Never waits for the receiver.
    pub(super) fn push(&self, message: Message, capacity: usize) -> bool {
        let mut state = self.lock();
        if state.closed || state.messages.len() >= capacity {
            drop(state);
            // Dropping the contents of a message may take time, or call this queue again.
            drop(message);
            return false;
        }
        let urgent = message.is_urgent();
        state.messages.push(message);
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        if idle || urgent {
            self.more.notify_one();
        }
        true
    }

    /// Takes all messages. Waits until there is a message, or until the time limit. `None` if the queue is closed and
    /// empty.
    pub(super) fn take(&self, spare: Vec<Message>, limit: Option<Duration>) -> Option<Vec<Message>> {
        let mut state = self.lock();
        if state.messages.is_empty() && !state.closed {
            let waited = self.more.wait_timeout(state, BATCH_DELAY);
            state = unpoisoned(waited).0;
        }
        while state.messages.is_empty() {
            if state.closed {
                return None;
            }
            state.idle = true;
            let Some(limit) = limit else {
                state = unpoisoned(self.more.wait(state));
                continue;
            };
            let (woken, waited) = unpoisoned(self.more.wait_timeout(state, limit));
            state = woken;
            if waited.timed_out() {
                state.idle = false;
                break;
            }
        }
        Some(std::mem::replace(&mut state.messages, spare))
    }

    /// Returns the number of waiting messages.
    pub(super) fn len(&self) -> usize {
        self.lock().messages.len()
    }

    /// Closes the queue to new messages.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.more.notify_one();
    }

    /// Marks the receiver as ended.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        (state.closed, state.ended) = (true, true);
        let left = std::mem::take(&mut state.messages);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.over.notify_all();
        // Callers that wait for these messages are notified that no acknowledgement will follow.
        drop(left);
        for waiter in waiting {
            // A caller that no longer waits does not need the notification.
            let _ = waiter.send(());
        }
    }

    /// Returns a channel that fires when the receiver has ended. `None` if it already has.
    pub(super) fn ended(&self) -> Option<oneshot::Receiver<()>> {
        let mut state = self.lock();
        if state.ended {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        state.waiting.push(sender);
        Some(receiver)
    }

    /// Waits until the receiver has ended, for at most `limit`.
    pub(super) fn wait_for_end(&self, limit: Duration) {
        // After the timeout there is nothing else to do.
        drop(unpoisoned(self.over.wait_timeout_while(self.lock(), limit, |state| !state.ended)));
    }
}
