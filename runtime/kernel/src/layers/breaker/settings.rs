//! Settings and statistics of circuit breakers.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

/// When a circuit opens, and for how long.
///
/// ```
/// use std::num::NonZeroU32;
/// use std::time::Duration;
/// use toolgen_runtime::layers::breaker::BreakerSettings;
///
/// let strict = BreakerSettings::DEFAULT
///     .with_failures(NonZeroU32::MIN)
///     .with_reset(Duration::from_secs(5));
/// assert_eq!(strict.window, Duration::from_secs(120));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BreakerSettings {
    /// Number of failures within the window that opens the circuit. Default: 5.
    pub failures: NonZeroU32,
    /// How long an open circuit refuses all calls. Default: 60 s.
    pub reset: Duration,
    /// How long a failure counts. Default: 120 s.
    pub window: Duration,
    /// How long a trial call excludes others, unless the trial reports or is dropped earlier. Default: 30 s.
    pub trial_lock: Duration,
}

impl BreakerSettings {
    /// 5 failures within 120 s open the circuit for 60 s; a trial excludes other calls for 30 s.
    pub const DEFAULT: BreakerSettings = BreakerSettings {
        failures: NonZeroU32::MIN.saturating_add(4),
        reset: Duration::from_secs(60),
        window: Duration::from_secs(120),
        trial_lock: Duration::from_secs(30),
    };

    /// Sets the number of failures that opens the circuit.
    #[must_use]
    pub const fn with_failures(mut self, failures: NonZeroU32) -> BreakerSettings {
        self.failures = failures;
        self
    }

    /// Sets how long an open circuit refuses all calls.
    #[must_use]
    pub const fn with_reset(mut self, reset: Duration) -> BreakerSettings {
        self.reset = reset;
        self
    }

    /// Sets how long a failure counts.
    #[must_use]
    pub const fn with_window(mut self, window: Duration) -> BreakerSettings {
        self.window = window;
        self
    }

    /// Sets how long a trial call excludes others.
    #[must_use]
    pub const fn with_trial_lock(mut self, trial_lock: Duration) -> BreakerSettings {
        self.trial_lock = trial_lock;
        self
    }
}

impl Default for BreakerSettings {
    fn default() -> BreakerSettings {
        BreakerSettings::DEFAULT
    }
}

/// The state of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerState {
    /// Calls go through.
    Closed,
    /// Calls are refused.
    Open,
    /// One trial call may run; the others are refused.
    HalfOpen,
}

/// The state and the history of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BreakerStats {
    /// The state of the circuit.
    pub state: BreakerState,
    /// The settings of the service.
    pub settings: BreakerSettings,
    /// The failures that count now: within the window and not cancelled out by successes.
    pub failures: usize,
    /// The number of calls that succeeded, including late ones.
    pub successes_total: u64,
    /// The number of calls that failed, including late ones.
    pub failures_total: u64,
    /// The number of calls that were refused.
    pub refused_total: u64,
    /// When a call last failed.
    pub last_failure: Option<Instant>,
    /// How much longer calls are refused if nothing changes. `None` if the next call goes through.
    pub retry_after: Option<Duration>,
}
