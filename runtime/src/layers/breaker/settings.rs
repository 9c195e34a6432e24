//! What can be set, and what can be seen.

use std::num::NonZeroU32;
use std::time::Duration;

use tokio::time::Instant;

/// When a circuit opens and for how long.
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
    /// So many failures within the window open the circuit: 5.
    pub failures: NonZeroU32,
    /// For how long an open circuit refuses all calls: 60 s.
    pub reset: Duration,
    /// A failure that is older than this is forgotten: 120 s.
    pub window: Duration,
    /// For how long a call that tries keeps others out unless it reports or is dropped before: 30 s.
    pub trial_lock: Duration,
}

impl BreakerSettings {
    /// 5 failures within 120 s open for 60 s; a trial keeps others out for 30 s.
    pub const DEFAULT: BreakerSettings = BreakerSettings {
        failures: NonZeroU32::MIN.saturating_add(4),
        reset: Duration::from_secs(60),
        window: Duration::from_secs(120),
        trial_lock: Duration::from_secs(30),
    };

    /// Opens after so many failures.
    #[must_use]
    pub const fn with_failures(mut self, failures: NonZeroU32) -> BreakerSettings {
        self.failures = failures;
        self
    }

    /// Refuses all calls for so long.
    #[must_use]
    pub const fn with_reset(mut self, reset: Duration) -> BreakerSettings {
        self.reset = reset;
        self
    }

    /// Forgets failures after so long.
    #[must_use]
    pub const fn with_window(mut self, window: Duration) -> BreakerSettings {
        self.window = window;
        self
    }

    /// Lets another call try after so long.
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

/// Whether calls of a service go through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakerState {
    /// They do.
    Closed,
    /// They are refused.
    Open,
    /// One may try; the others are refused.
    HalfOpen,
}

/// What a service has been through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BreakerStats {
    /// Whether calls go through now.
    pub state: BreakerState,
    /// The settings of the service.
    pub settings: BreakerSettings,
    /// The failures that count at the moment: within the window and not made good.
    pub failures: usize,
    /// All calls that succeeded, late ones too.
    pub successes_total: u64,
    /// All calls that failed, late ones too.
    pub failures_total: u64,
    /// All calls that were refused.
    pub refused_total: u64,
    /// When a call failed last.
    pub last_failure: Option<Instant>,
    /// How long calls are refused from now on if nothing happens. `None`: the next one goes through.
    pub retry_after: Option<Duration>,
}
