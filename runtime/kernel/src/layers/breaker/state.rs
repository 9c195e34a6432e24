//! The state machine of one service, without locks and names.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

use super::{BreakerSettings, BreakerState, BreakerStats};

/// The state and the history of one service.
#[derive(Debug, Default)]
pub(super) struct Machine {
    phase: Phase,
    /// Changes whenever permits become obsolete: when the circuit opens, when it closes and when a trial is granted.
    /// The report of a permit of an earlier generation is ignored.
    generation: u64,
    /// The times of the failures that count, oldest first; at most as many as the threshold.
    failures: VecDeque<Instant>,
    last_failure: Option<Instant>,
    successes_total: u64,
    failures_total: u64,
    refused_total: u64,
}

#[derive(Clone, Copy, Debug, Default)]
enum Phase {
    #[default]
    Closed,
    Open {
        since: Instant,
    },
    /// Open long enough that a trial call may run; `since` is when the trial call was admitted.
    HalfOpen {
        since: Option<Instant>,
    },
}

/// The decision whether a call may proceed.
pub(super) enum Admission {
    /// The call may proceed; its permit has this generation.
    Granted(u64),
    /// The service is down.
    Unavailable,
    /// A trial call is running.
    Testing,
}

impl Machine {
    pub(super) fn admit(&mut self, settings: &BreakerSettings) -> Admission {
        let refusal = match self.phase {
            Phase::Closed => return Admission::Granted(self.generation),
            Phase::Open { since } if since.elapsed() < settings.reset => Admission::Unavailable,
            Phase::HalfOpen { since: Some(since) } if since.elapsed() < settings.trial_lock => {
                Admission::Testing
            }
            Phase::Open { .. } | Phase::HalfOpen { .. } => {
                self.enter(Phase::HalfOpen { since: Some(Instant::now()) });
                return Admission::Granted(self.generation);
            }
        };
        self.refused_total += 1;
        refusal
    }

    /// Records that the service handled a call. Returns whether that closed the circuit.
    pub(super) fn record_success(&mut self, generation: u64) -> bool {
        self.successes_total += 1;
        if generation != self.generation {
            return false;
        }
        match self.phase {
            Phase::Closed => {
                // One success cancels out one failure, so that one failure in a thousand calls does not cut off a busy
                // service.
                self.failures.pop_front();
                false
            }
            Phase::Open { .. } | Phase::HalfOpen { .. } => {
                self.close();
                true
            }
        }
    }

    /// Records that the service failed a call. Returns whether that opened the circuit.
    pub(super) fn record_failure(&mut self, generation: u64, settings: &BreakerSettings) -> bool {
        let now = Instant::now();
        self.failures_total += 1;
        self.last_failure = Some(now);
        if generation != self.generation {
            return false;
        }
        if let Phase::Closed = self.phase {
            while self.failures.front().is_some_and(|at| now.duration_since(*at) >= settings.window) {
                self.failures.pop_front();
            }
            self.failures.push_back(now);
            if self.failures.len() < settings.failures.get() as usize {
                return false;
            }
        }
        self.enter(Phase::Open { since: now });
        true
    }

    /// Opens the circuit because another process opened it, this duration before now.
    pub(super) fn open(&mut self, ago: Duration) {
        let now = Instant::now();
        // If the clock cannot represent that time, use the current time.
        self.enter(Phase::Open { since: now.checked_sub(ago).unwrap_or(now) });
    }

    /// Closes the circuit because another process closed it, if it is not closed already.
    pub(super) fn ensure_closed(&mut self) {
        if !matches!(self.phase, Phase::Closed) {
            self.close();
        }
    }

    /// Records that a permit was dropped without a report.
    pub(super) fn release(&mut self, generation: u64) {
        if generation == self.generation
            && let Phase::HalfOpen { since } = &mut self.phase
        {
            *since = None;
        }
    }

    /// Closes the circuit as if there had been no failures; outstanding permits no longer count.
    pub(super) fn close(&mut self) {
        self.enter(Phase::Closed);
        self.failures.clear();
    }

    /// Resets everything, including the totals.
    pub(super) fn reset(&mut self) {
        *self = Machine { generation: self.generation, ..Machine::default() };
        self.close();
    }

    pub(super) fn state(&self, settings: &BreakerSettings) -> BreakerState {
        match self.phase {
            Phase::Closed => BreakerState::Closed,
            Phase::Open { since } if since.elapsed() < settings.reset => BreakerState::Open,
            Phase::Open { .. } | Phase::HalfOpen { .. } => BreakerState::HalfOpen,
        }
    }

    pub(super) fn stats(&self, settings: BreakerSettings) -> BreakerStats {
        let now = Instant::now();
        let recent = self.failures.iter().filter(|at| now.duration_since(**at) < settings.window);
        BreakerStats {
            state: self.state(&settings),
            settings,
            failures: recent.count(),
            successes_total: self.successes_total,
            failures_total: self.failures_total,
            refused_total: self.refused_total,
            last_failure: self.last_failure.map(Instant::into_std),
            retry_after: self.retry_after(&settings, now),
        }
    }

    fn retry_after(&self, settings: &BreakerSettings, now: Instant) -> Option<Duration> {
        let (since, wait) = match self.phase {
            Phase::Open { since } => (since, settings.reset),
            Phase::HalfOpen { since: Some(since) } => (since, settings.trial_lock),
            Phase::Closed | Phase::HalfOpen { since: None } => return None,
        };
        wait.checked_sub(now.duration_since(since)).filter(|remaining| !remaining.is_zero())
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.generation += 1;
    }
}
