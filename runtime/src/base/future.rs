//! Boxed futures, and futures with caught panics.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::thread;

/// A boxed future, as trait objects return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Returns the output of a future, or `None` if it panics.
pub(crate) async fn caught<T>(run: impl Future<Output = T>) -> Option<T> {
    let mut run = pin!(run);
    poll_fn(|cx| poll_caught(run.as_mut(), cx)).await.ok()
}

/// Polls a future; `Err` holds the payload of a panic.
pub(crate) fn poll_caught<F: Future + ?Sized>(
    run: Pin<&mut F>,
    cx: &mut Context<'_>,
) -> Poll<thread::Result<F::Output>> {
    match catch_unwind(AssertUnwindSafe(|| run.poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(payload) => Poll::Ready(Err(payload)),
    }
}
