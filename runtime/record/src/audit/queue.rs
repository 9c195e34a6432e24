//! The queue of records to be written.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::AuditError;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::call::context::ModelRequest;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::layers::redact::{Secrets, without_binary};

/// A call as it arrived, including secrets. Only the writer may pass its contents to a sink.
pub(super) struct RawRecord {
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
    /// The request to the model that led to the call.
    pub(super) request: Option<ModelRequest>,
    /// The vendor's ID of the program that made the call.
    pub(super) program: Option<Text>,
    /// The secrets known so far: those of the outer calls, and those that a toolbox found in the arguments.
    pub(super) secrets: Option<Arc<Secrets>>,
    pub(super) tool: Option<Arc<dyn AgentTool>>,
    pub(super) at: SystemTime,
}

/// How a call ended.
pub(super) enum CallEnd {
    Outcome(Box<Result<ToolResult, ToolError>>),
    /// The caller abandoned the call.
    Abandoned,
    /// A panic ended the call.
    Panicked,
}

impl CallEnd {
    /// Copies an outcome, without binary content unless records include it.
    pub(super) fn from_outcome(outcome: &Result<ToolResult, ToolError>, bytes: bool) -> CallEnd {
        let copy = if bytes { ToolResult::clone } else { without_binary };
        CallEnd::Outcome(Box::new(outcome.as_ref().map(copy).map_err(ToolError::clone)))
    }
}

/// Notifies the waiting caller that something is written, or of the error.
pub(super) type Ack = oneshot::Sender<Result<(), AuditError>>;

/// The end of a call whose intent was sent to the writer.
pub(super) struct CallOutcome {
    pub(super) key: u64,
    pub(super) end: CallEnd,
    pub(super) duration: Duration,
    /// Whether the call was allowed to run.
    pub(super) has_run: bool,
    /// The secrets that are known when the call ends.
    pub(super) secrets: Option<Arc<Secrets>>,
}

pub(super) enum Message {
    Intent(Box<RawRecord>, Option<Ack>),
    Outcome(CallOutcome),
    /// A call that was refused without being run.
    Refused(Box<RawRecord>, CallEnd, Duration, Option<Ack>),
    Flush(Ack),
}

impl Message {
    /// Returns whether a caller waits for this message.
    fn is_urgent(&self) -> bool {
        match self {
            Message::Intent(_, ack) | Message::Refused(_, _, _, ack) => ack.is_some(),
            Message::Outcome(..) => false,
            Message::Flush(_) => true,
        }
    }
}

/// How long the writer lets messages without a waiting caller accumulate. Waking the writer is the most expensive part
/// of recording a call, and writing several records together is faster than writing them one by one.
const BATCH_DELAY: Duration = Duration::from_millis(1);

/// A queue with many senders and one receiver, which takes all messages together.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    message_added: Condvar,
    receiver_ended: Condvar,
}

#[derive(Default)]
struct State {
    messages: Vec<Message>,
    /// Whether the receiver waits and must be notified.
    is_idle: bool,
    /// Whether the queue accepts no more messages.
    is_closed: bool,
    /// Whether the receiver has ended.
    has_ended: bool,
    /// Callers that wait for the end of the receiver.
    end_waiters: Vec<oneshot::Sender<()>>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is consistent between any two statements below.
        unpoisoned(self.state.lock())
    }

    /// Adds a message if fewer than `capacity` are waiting, and returns whether it did. Never waits for the receiver.
    pub(super) fn push(&self, message: Message, capacity: usize) -> bool {
        let mut state = self.lock();
        if state.is_closed || state.messages.len() >= capacity {
            drop(state);
            // Dropping the contents of a message may take time, or call this queue again.
            drop(message);
            return false;
        }
        let is_urgent = message.is_urgent();
        state.messages.push(message);
        let was_idle = std::mem::take(&mut state.is_idle);
        drop(state);
        if was_idle || is_urgent {
            self.message_added.notify_one();
        }
        true
    }

    /// Takes all messages. Waits until there is a message, or until the time limit. `None` if the queue is closed and
    /// empty.
    pub(super) fn take(&self, empty_buffer: Vec<Message>, limit: Option<Duration>) -> Option<Vec<Message>> {
        let mut state = self.lock();
        if state.messages.is_empty() && !state.is_closed {
            let result = self.message_added.wait_timeout(state, BATCH_DELAY);
            state = unpoisoned(result).0;
        }
        while state.messages.is_empty() {
            if state.is_closed {
                return None;
            }
            state.is_idle = true;
            let Some(limit) = limit else {
                state = unpoisoned(self.message_added.wait(state));
                continue;
            };
            let (guard, result) = unpoisoned(self.message_added.wait_timeout(state, limit));
            state = guard;
            if result.timed_out() {
                state.is_idle = false;
                break;
            }
        }
        Some(std::mem::replace(&mut state.messages, empty_buffer))
    }

    /// Returns the number of waiting messages.
    pub(super) fn len(&self) -> usize {
        self.lock().messages.len()
    }

    /// Closes the queue to new messages.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.message_added.notify_one();
    }

    /// Marks the receiver as ended.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        (state.is_closed, state.has_ended) = (true, true);
        let messages = std::mem::take(&mut state.messages);
        let waiters = std::mem::take(&mut state.end_waiters);
        drop(state);
        self.receiver_ended.notify_all();
        // Callers that wait for these messages are notified that no acknowledgement will follow.
        drop(messages);
        for waiter in waiters {
            // A caller that no longer waits does not need the notification.
            let _ = waiter.send(());
        }
    }

    /// Returns a channel that is notified when the receiver has ended. Returns `None` if it has already ended.
    pub(super) fn end_notification(&self) -> Option<oneshot::Receiver<()>> {
        let mut state = self.lock();
        if state.has_ended {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        state.end_waiters.push(sender);
        Some(receiver)
    }

    /// Waits until the receiver has ended, for at most `limit`.
    pub(super) fn wait_for_end(&self, limit: Duration) {
        // After the timeout there is nothing else to do.
        drop(unpoisoned(
            self.receiver_ended.wait_timeout_while(self.lock(), limit, |state| !state.has_ended),
        ));
    }
}
