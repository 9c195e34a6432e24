//! Events of a running agent, for people who watch it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::printable::printable;
use toolgen_kernel::base::redacted_debug::Redacted;
use toolgen_kernel::base::truncate::cut;
use toolgen_kernel::call::ToolResponse;
use toolgen_wire::Usage;

use super::Cost;

/// Maximum length of arguments and results in the text of an event, in characters.
const MAX_SHOWN_CHARS: usize = 200;

/// An event of a running agent. `Display` writes what a person reads: printed one after the other without separators,
/// events are a readable protocol of the run. Control characters become spaces.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum AgentEvent {
    /// More text of the model, or the whole text of a turn if the model does not stream.
    Text(String),
    /// More text of the model's reasoning, if the vendor shows it.
    Thinking(String),
    /// A request to the model failed and is sent again after the delay. The text of the turn so far is void.
    Retry {
        /// Why the request failed.
        reason: String,
        /// The delay until the next attempt.
        delay: Duration,
    },
    /// The model finished a turn.
    Turn {
        /// The tokens of the turn.
        usage: Usage,
        /// The cost of the turn; `None` if the model has no price.
        cost: Option<Cost>,
    },
    /// The model calls a tool.
    Call {
        /// The ID of the call.
        id: Text,
        /// The name of the tool.
        tool: Text,
        /// The arguments, with secrets masked.
        arguments: Value,
    },
    /// A call has a result. The results of a turn follow when all its calls are done.
    Result(Box<ToolResponse>),
}

impl fmt::Debug for AgentEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentEvent::Text(text) => f.debug_tuple("Text").field(&Redacted(text)).finish(),
            AgentEvent::Thinking(text) => f.debug_tuple("Thinking").field(&Redacted(text)).finish(),
            AgentEvent::Retry { reason, delay } => {
                f.debug_struct("Retry").field("reason", reason).field("delay", delay).finish()
            }
            AgentEvent::Turn { usage, cost } => {
                f.debug_struct("Turn").field("usage", usage).field("cost", cost).finish()
            }
            AgentEvent::Call { id, tool, arguments } => f
                .debug_struct("Call")
                .field("id", id)
                .field("tool", tool)
                .field("arguments", &Redacted(arguments))
                .finish(),
            AgentEvent::Result(response) => f.debug_tuple("Result").field(response).finish(),
        }
    }
}

impl fmt::Display for AgentEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentEvent::Text(text) | AgentEvent::Thinking(text) => f.write_str(&printable(text)),
            AgentEvent::Retry { reason, delay } => {
                writeln!(f, "\n! {}; trying again in {:.1} s", shown(reason), delay.as_secs_f64())
            }
            AgentEvent::Turn { .. } => f.write_str("\n"),
            AgentEvent::Call { tool, arguments, .. } => {
                writeln!(f, "> {} {}", shown(tool), shown(&arguments.to_string()))
            }
            AgentEvent::Result(response) => {
                let mark = if response.is_error() { "x" } else { "<" };
                writeln!(f, "{mark} {} {}", shown(&response.name), shown(&response.text()))
            }
        }
    }
}

/// Returns a text in one line, truncated, without what could change the terminal.
fn shown(text: &str) -> String {
    cut(&printable(text).split_whitespace().collect::<Vec<_>>().join(" "), MAX_SHOWN_CHARS)
}

/// Receives the events of a run.
#[derive(Clone)]
pub struct AgentListener(Arc<dyn Fn(AgentEvent) + Send + Sync>);

impl AgentListener {
    /// Creates a listener. The run waits for the function, so it should return quickly.
    pub fn new(listener: impl Fn(AgentEvent) + Send + Sync + 'static) -> AgentListener {
        AgentListener(Arc::new(listener))
    }

    /// Reports an event.
    pub fn report(&self, event: AgentEvent) {
        (self.0)(event);
    }

    /// Returns a listener that also notes whether it gets text, and the note.
    pub(super) fn noting_text(&self) -> (AgentListener, Arc<AtomicBool>) {
        let (inner, has_text) = (self.clone(), Arc::new(AtomicBool::new(false)));
        let noted = Arc::clone(&has_text);
        let listener = AgentListener::new(move |event| {
            match event {
                AgentEvent::Text(_) => noted.store(true, Ordering::Relaxed),
                AgentEvent::Retry { .. } => noted.store(false, Ordering::Relaxed),
                _ => {}
            }
            inner.report(event);
        });
        (listener, has_text)
    }
}

impl fmt::Debug for AgentListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AgentListener")
    }
}
