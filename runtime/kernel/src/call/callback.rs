//! Runs callbacks of the program: catches their panics and limits their time.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::base::future::catch_panic_async;
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
    /// The callback reached its timeout.
    TimedOut,
}

/// Awaits a callback. A limit of `None` means no limit.
pub(crate) async fn with_timeout<T>(
    limit: Option<Duration>,
    callback: impl Future<Output = T>,
) -> Result<T, CallbackFailure> {
    let mut callback = pin!(catch_panic_async(callback));
    // Most callbacks complete immediately and need no timer.
    let first = poll_fn(|cx| Poll::Ready(callback.as_mut().poll(cx))).await;
    let outcome = match (first, limit) {
        (Poll::Ready(outcome), _) => outcome,
        (Poll::Pending, None) => callback.await,
        (Poll::Pending, Some(limit)) => {
            // On the heap: otherwise the future of every call would contain a timer that few calls need.
            Box::pin(tokio::time::timeout(limit, callback)).await.map_err(|_| CallbackFailure::TimedOut)?
        }
    };
    outcome.ok_or(CallbackFailure::Panicked)
}
