//! Runs callbacks of the program: catches their panics and limits their time.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::base::future::caught;
use crate::call::tool::DEFAULT_TIMEOUT;

/// The time limits of callbacks.
#[derive(Clone, Copy)]
pub(crate) struct CallbackTimeouts {
    /// For callbacks that compute: middleware, hooks, stores.
    pub(crate) callbacks: Duration,
    /// For callbacks that wait for people or external systems: approvers, input and effect handlers.
    pub(crate) people: Option<Duration>,
}

impl Default for CallbackTimeouts {
    fn default() -> CallbackTimeouts {
        CallbackTimeouts { callbacks: DEFAULT_TIMEOUT, people: None }
    }
}

/// Why a callback returned nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallbackFailure {
    /// The callback panicked.
    Panicked,
    /// The callback took too long.
    Late,
}

/// Awaits a callback. A limit of `None` means no limit.
pub(crate) async fn with_timeout<T>(
    limit: Option<Duration>,
    asked: impl Future<Output = T>,
) -> Result<T, CallbackFailure> {
    let mut asked = pin!(caught(asked));
    // Most callbacks answer immediately and need no clock.
    let first = poll_fn(|cx| Poll::Ready(asked.as_mut().poll(cx))).await;
    let answered = match (first, limit) {
        (Poll::Ready(answered), _) => answered,
        (Poll::Pending, None) => asked.await,
        (Poll::Pending, Some(limit)) => {
            // On the heap: otherwise the future of every call would contain a timer that few calls need.
            Box::pin(tokio::time::timeout(limit, asked)).await.map_err(|_| CallbackFailure::Late)?
        }
    };
    answered.ok_or(CallbackFailure::Panicked)
}
