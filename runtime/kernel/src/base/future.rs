//! Boxed futures, and futures with caught panics.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::thread;

/// A boxed future, as trait objects return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Calls a function. Returns its result, or `None` if it panics.
pub fn catch_panic<T>(run: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(run)).map_err(discard).ok()
}

/// Drops a value, such as the payload of a panic, which may panic itself.
pub fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // Dropping this payload may panic again, and so on.
        std::mem::forget(payload);
    }
}

/// Returns the output of a future, or `None` if it panics.
pub async fn catch_panic_async<T>(run: impl Future<Output = T>) -> Option<T> {
    let mut run = pin!(run);
    poll_fn(|cx| poll_caught(run.as_mut(), cx)).await.map_err(discard).ok()
}

/// Polls a future. `Err` holds the payload of a panic.
pub fn poll_caught<F: Future + ?Sized>(
    run: Pin<&mut F>,
    cx: &mut Context<'_>,
) -> Poll<thread::Result<F::Output>> {
    match catch_unwind(AssertUnwindSafe(|| run.poll(cx))) {
        Ok(poll) => poll.map(Ok),
        Err(payload) => Poll::Ready(Err(payload)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics when dropped, with a payload that also panics.
    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::panic_any(Bomb);
        }
    }

    #[tokio::test]
    async fn panic_payloads_panicking_on_drop_are_contained() {
        let explode = || -> () { std::panic::panic_any(Bomb) };
        assert_eq!(catch_panic(explode), None);
        assert_eq!(catch_panic_async(async { explode() }).await, None);
    }
}
