//! What waits to be written.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tokio::sync::oneshot;

use super::AuditError;
use crate::base::frozen::Text;
use crate::base::sync::unpoisoned;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::tool::AgentTool;
use crate::layers::redact::without_bytes;

/// A call as it came, secrets and all. It must not leave this folder other than through the writer.
pub(super) struct Raw {
    pub(super) key: u64,
    pub(super) session_id: Text,
    pub(super) agent_id: Text,
    pub(super) tool_name: Text,
    pub(super) tool_call_id: Text,
    pub(super) attempt: u32,
    /// Who has approved, if somebody has. Empty: not said.
    pub(super) approver: Option<Text>,
    pub(super) arguments: Value,
    pub(super) tool: Option<Arc<dyn AgentTool>>,
    pub(super) at: SystemTime,
}

/// How a call ended.
pub(super) enum Ended {
    With(Box<Result<ToolResult, ToolError>>),
    /// Nobody waited for it any more.
    GivenUp,
    /// It was torn down by a panic.
    TornDown,
}

impl Ended {
    /// A copy without the bytes that no record shows.
    pub(super) fn of(outcome: &Result<ToolResult, ToolError>) -> Ended {
        Ended::With(Box::new(outcome.as_ref().map(without_bytes).map_err(ToolError::clone)))
    }
}

/// What a tool was told when it asked, with the schema of its question if that is known. It may be secret.
pub(super) struct Answered {
    pub(super) schema: Option<Value>,
    pub(super) answer: Value,
}

/// Tells whoever waits that something is written, or why not.
pub(super) type Ack = oneshot::Sender<Result<(), AuditError>>;

pub(super) enum Message {
    Intent(Box<Raw>, Option<Ack>),
    Outcome(u64, Ended, Duration, Vec<Answered>),
    /// A call that was answered without being run.
    Refused(Box<Raw>, Ended, Duration, Option<Ack>),
    Flush(Ack),
}

impl Message {
    /// Somebody waits for it.
    fn is_urgent(&self) -> bool {
        match self {
            Message::Intent(_, ack) | Message::Refused(_, _, _, ack) => ack.is_some(),
            Message::Outcome(..) => false,
            Message::Flush(_) => true,
        }
    }
}

/// How long the taker lets messages gather for which nobody waits. To wake it costs a call more than all else here,
/// and a few records at a time are written faster than one by one.
const GATHER: Duration = Duration::from_millis(1);

/// A queue that takes from many and gives all it has to one.
#[derive(Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    more: Condvar,
    over: Condvar,
}

#[derive(Default)]
struct State {
    messages: Vec<Message>,
    /// The taker waits, so it has to be told.
    idle: bool,
    /// Nothing more is taken.
    closed: bool,
    /// The taker is done.
    ended: bool,
    /// Who waits for that.
    waiting: Vec<oneshot::Sender<()>>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole between any two statements below.
        unpoisoned(self.state.lock())
    }

    /// Puts a message in, if fewer than `capacity` are waiting. Tells whether it did. Never waits for the taker.
    pub(super) fn push(&self, message: Message, capacity: usize) -> bool {
        let mut state = self.lock();
        if state.closed || state.messages.len() >= capacity {
            drop(state);
            // What a message holds may take its time to go, or come back here.
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

    /// Takes all there is, and waits until there is something. `None`: nothing will come any more.
    pub(super) fn take(&self, spare: Vec<Message>) -> Option<Vec<Message>> {
        let mut state = self.lock();
        if state.messages.is_empty() && !state.closed {
            let waited = self.more.wait_timeout(state, GATHER);
            state = unpoisoned(waited).0;
        }
        while state.messages.is_empty() {
            if state.closed {
                return None;
            }
            state.idle = true;
            state = unpoisoned(self.more.wait(state));
        }
        Some(std::mem::replace(&mut state.messages, spare))
    }

    /// How many messages are waiting.
    pub(super) fn len(&self) -> usize {
        self.lock().messages.len()
    }

    /// Takes nothing more from now on.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.more.notify_one();
    }

    /// The taker is done.
    pub(super) fn end(&self) {
        let mut state = self.lock();
        (state.closed, state.ended) = (true, true);
        let left = std::mem::take(&mut state.messages);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.over.notify_all();
        // Whoever waits for them hears that nobody will answer.
        drop(left);
        for waiter in waiting {
            // One who no longer waits need not know.
            let _ = waiter.send(());
        }
    }

    /// Fires when the taker is done. `None`: it is.
    pub(super) fn ended(&self) -> Option<oneshot::Receiver<()>> {
        let mut state = self.lock();
        if state.ended {
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        state.waiting.push(sender);
        Some(receiver)
    }

    /// Waits until the taker is done, but no longer than this.
    pub(super) fn wait_for_end(&self, limit: Duration) {
        // When time is up there is nothing else to do.
        drop(unpoisoned(self.over.wait_timeout_while(self.lock(), limit, |state| !state.ended)));
    }
}
