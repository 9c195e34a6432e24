//! Functions of the program that a call asks: their panics are theirs and not the tool's, and their time is limited.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use crate::base::future::caught;
use crate::call::tool::DEFAULT_TIMEOUT;

/// How long functions of the program may take.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// Those that compute: middleware, hooks, stores.
    pub(crate) callbacks: Duration,
    /// Those that wait for people or for the world: approvers, input and effect handlers.
    pub(crate) people: Option<Duration>,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { callbacks: DEFAULT_TIMEOUT, people: None }
    }
}

/// Why a function of the program gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// It panicked.
    Panicked,
    /// Its time was up.
    Late,
}

/// The answer of a function of the program. `None` as the limit: it may take as long as it must.
pub(crate) async fn answer<T>(limit: Option<Duration>, asked: impl Future<Output = T>) -> Result<T, Silence> {
    let mut asked = pin!(caught(asked));
    // Most answer at once and need no clock.
    let first = poll_fn(|cx| Poll::Ready(asked.as_mut().poll(cx))).await;
    let answered = match (first, limit) {
        (Poll::Ready(answered), _) => answered,
        (Poll::Pending, None) => asked.await,
        (Poll::Pending, Some(limit)) => {
            tokio::time::timeout(limit, asked).await.map_err(|_| Silence::Late)?
        }
    };
    answered.ok_or(Silence::Panicked)
}

/// Tells a function of the program something. Gives what it says, or nothing if it panics.
pub(crate) fn tell<T>(told: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(told)).ok()
}
