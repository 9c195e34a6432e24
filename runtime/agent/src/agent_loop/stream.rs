//! A run of an agent as a stream of events.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use tokio::sync::mpsc::UnboundedReceiver;
use toolgen_kernel::base::future::BoxFuture;

use super::{AgentEvent, LoopRun};

/// The events of a running agent, see [`Agent::stream`](super::Agent::stream).
#[must_use = "the agent runs only while the stream is read"]
pub struct AgentStream<'a, E> {
    events: UnboundedReceiver<AgentEvent>,
    state: State<'a, E>,
}

enum State<'a, E> {
    Running(BoxFuture<'a, LoopRun<E>>),
    Done(LoopRun<E>),
}

impl<E> fmt::Debug for AgentStream<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_done = matches!(self.state, State::Done(_));
        f.debug_struct("AgentStream").field("is_done", &is_done).finish_non_exhaustive()
    }
}

impl<'a, E> AgentStream<'a, E> {
    pub(super) fn new(
        events: UnboundedReceiver<AgentEvent>,
        run: impl Future<Output = LoopRun<E>> + Send + 'a,
    ) -> AgentStream<'a, E> {
        AgentStream { events, state: State::Running(Box::pin(run)) }
    }

    /// Returns the next event, or `None` at the end of the run.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        poll_fn(|context| {
            // The run reports events while it is polled, so it is polled only if none waits.
            if let Poll::Ready(Some(event)) = self.events.poll_recv(context) {
                return Poll::Ready(Some(event));
            }
            let State::Running(run) = &mut self.state else { return Poll::Ready(None) };
            let is_running = match Pin::new(run).poll(context) {
                Poll::Pending => true,
                Poll::Ready(run) => {
                    self.state = State::Done(run);
                    false
                }
            };
            match self.events.poll_recv(context) {
                Poll::Ready(Some(event)) => Poll::Ready(Some(event)),
                _ if is_running => Poll::Pending,
                _ => Poll::Ready(None),
            }
        })
        .await
    }

    /// Runs to the end, without the events that are left, and returns the outcome.
    pub async fn finish(self) -> LoopRun<E> {
        let AgentStream { events, state } = self;
        drop(events);
        match state {
            State::Running(run) => run.await,
            State::Done(run) => run,
        }
    }
}
