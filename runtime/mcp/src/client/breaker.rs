//! Circuit breaker of a server's connections: decides when a failed server is tried again.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use tokio::time::Instant;

/// Number of failures within the window that open the circuit.
const FAILURE_THRESHOLD: usize = 5;
/// How long a failure counts.
const WINDOW: Duration = Duration::from_secs(120);
/// How long an open circuit rejects all calls.
const RESET: Duration = Duration::from_secs(60);
/// Average delay before the second attempt; doubles with each further attempt.
const INITIAL_BACKOFF: Duration = Duration::from_millis(100);
/// Maximum delay between two attempts.
const MAX_BACKOFF: Duration = Duration::from_secs(5);

/// The recent failures of a server: connections that could not be established, and lost connections.
#[derive(Default)]
pub(super) struct Breaker {
    failures: VecDeque<Instant>,
    /// End of the time in which all calls are rejected; then one connection is tried.
    open_until: Option<Instant>,
}

impl Breaker {
    /// Returns the delay before the next attempt.
    ///
    /// # Errors
    ///
    /// Returns the remaining time if the circuit is open.
    pub(super) fn attempt(&mut self, now: Instant) -> Result<Duration, Duration> {
        if let Some(open_until) = self.open_until.filter(|open_until| *open_until > now) {
            return Err(open_until - now);
        }
        self.remove_expired(now);
        let Some(doublings) = self.failures.len().checked_sub(1) else { return Ok(Duration::ZERO) };
        let doublings = u32::try_from(doublings.min(16)).unwrap_or(16);
        let delay = INITIAL_BACKOFF.saturating_mul(1 << doublings).min(MAX_BACKOFF);
        // Jitter: servers that failed together are not restarted together. Each `RandomState` has its own keys.
        let jitter = RandomState::new().hash_one(0) % 1000;
        Ok(delay / 2 + delay * u32::try_from(jitter).unwrap_or_default() / 1000)
    }

    /// Records that a connection could not be established, or was lost.
    pub(super) fn failed(&mut self, now: Instant) {
        self.remove_expired(now);
        self.failures.push_back(now);
        if self.failures.len() >= FAILURE_THRESHOLD || self.open_until.is_some() {
            self.open_until = Some(now + RESET);
        }
    }

    /// Records a successful connection. This closes the circuit, but earlier failures still count.
    pub(super) fn connected(&mut self) {
        if self.open_until.take().is_some() {
            self.failures.clear();
        }
    }

    fn remove_expired(&mut self, now: Instant) {
        while self.failures.front().is_some_and(|failure| now.duration_since(*failure) > WINDOW) {
            self.failures.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_delay_attempts_and_then_open_the_circuit() {
        let (mut breaker, start) = (Breaker::default(), Instant::now());
        assert_eq!(breaker.attempt(start), Ok(Duration::ZERO));
        let mut longest = Duration::ZERO;
        for _ in 0..FAILURE_THRESHOLD - 1 {
            breaker.failed(start);
            let delay = breaker.attempt(start).unwrap();
            assert!(delay > longest / 3 && delay < MAX_BACKOFF * 2, "{delay:?}");
            longest = longest.max(delay);
        }
        assert!(longest >= Duration::from_millis(400), "{longest:?}");
        breaker.failed(start);
        assert_eq!(breaker.attempt(start), Err(RESET));
        // An attempt that fails opens the circuit again.
        let later = start + RESET;
        assert!(breaker.attempt(later).is_ok());
        breaker.failed(later);
        assert_eq!(breaker.attempt(later), Err(RESET));
        // An attempt that succeeds closes the circuit and resets the count.
        let later = later + RESET;
        assert!(breaker.attempt(later).is_ok());
        breaker.connected();
        assert_eq!(breaker.attempt(later), Ok(Duration::ZERO));
        breaker.failed(later);
        assert!(breaker.attempt(later + WINDOW * 2).is_ok_and(|delay| delay.is_zero()));
    }
}
