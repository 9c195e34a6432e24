//! Circuits that several processes share through a store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::{BreakerState, CircuitBreaker, SERVICE_UNAVAILABLE};
use crate::base::sync::unpoisoned;
use crate::call::error::ToolError;
use crate::call::store::{Expected, OnFailure, Row, Store, StoreError};

/// Default interval at which a process asks for changes of other processes.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long a store keeps a circuit after it is no longer open. The TTL of a row is the sum of both, so its remaining
/// TTL gives the time that the circuit is still open, by the clock of the store.
const CIRCUIT_TTL: Duration = Duration::from_secs(60 * 60);

/// The table of the circuits, by service.
const TABLE: &str = "circuits";
const OPEN: &[u8] = b"open";
const CLOSED: &[u8] = b"closed";

/// Builds circuit breakers that processes share, from [`CircuitBreaker::shared`].
///
/// A circuit that opens or closes in one process does so in all of them, within the [interval](Self::interval) and one
/// request: 100 milliseconds by default. Each process counts only the failures that it sees. After the reset time each
/// process makes one trial call, and the first one that ends decides for all.
///
/// Calls do not wait for the store: a background task asks for changes, with one small request per interval, and
/// publishes those of this process. The task ends when the breaker is dropped.
#[derive(Debug)]
pub struct SharedBreaker {
    breaker: CircuitBreaker,
    store: Arc<dyn Store>,
    interval: Duration,
    on_failure: OnFailure,
}

impl CircuitBreaker {
    /// Shares circuits with the other processes that use the store, which should have the same settings.
    /// [Start](SharedBreaker::start) the breakers before you use them: every circuit is closed then.
    #[must_use]
    pub fn shared(self, store: impl Store + 'static) -> SharedBreaker {
        let store = Arc::new(store);
        SharedBreaker { breaker: self, store, interval: INTERVAL, on_failure: OnFailure::Degrade }
    }

    /// Opens the circuit of a service that another process opened, for the time that remains there. A circuit that is
    /// already open stays open at least as long.
    fn open_elsewhere(&self, service: &str, remaining: Duration) {
        let found = self.service(service);
        let mut machine = unpoisoned(found.machine.lock());
        let own = machine.stats(found.settings);
        let is_longer = own.state == BreakerState::Open && own.retry_after >= Some(remaining);
        if !remaining.is_zero() && !is_longer {
            machine.open(found.settings.reset.saturating_sub(remaining));
        }
    }

    /// Closes the circuit of a service that another process closed.
    fn closed_elsewhere(&self, service: &str) {
        if let Some(known) = self.existing_service(service) {
            unpoisoned(known.machine.lock()).close_too();
        }
    }
}

impl SharedBreaker {
    /// Sets the interval at which the process asks for changes of other processes. Default: 100 milliseconds.
    #[must_use]
    pub fn interval(mut self, interval: Duration) -> SharedBreaker {
        self.interval = interval;
        self
    }

    /// Sets what happens while the store cannot be reached. By default each process uses its own circuits
    /// ([`OnFailure::Degrade`]), and publishes changes when the store is back. With [`OnFailure::Refuse`] calls of
    /// services are refused with the code [`SERVICE_UNAVAILABLE`] after the first failed request, and before the first
    /// response.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> SharedBreaker {
        self.on_failure = on_failure;
        self
    }

    /// Starts the task and returns the breakers.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not called in a Tokio runtime, where the task could run.
    pub fn start(self) -> Result<Arc<CircuitBreaker>, StoreError> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| {
            StoreError::new("shared circuit breakers need a Tokio runtime: start them inside of one")
        })?;
        let circuits = Arc::new(Circuits {
            on_failure: self.on_failure,
            seen: Mutex::new(LastPoll { changes: BTreeMap::new(), answered: false }),
            woken: Notify::new(),
        });
        let mut breaker = self.breaker;
        breaker.shared = Some(Arc::clone(&circuits));
        let known = std::mem::take(&mut *unpoisoned(breaker.services.write()));
        let breaker =
            known.iter().fold(breaker, |all, (name, service)| all.with_service(name, service.settings));
        let breaker = Arc::new(breaker);
        runtime.spawn(follow(self.store, Arc::downgrade(&breaker), circuits, self.interval));
        Ok(breaker)
    }
}

/// The state that the calls of this process and the task share.
#[derive(Debug)]
pub(super) struct Circuits {
    on_failure: OnFailure,
    seen: Mutex<LastPoll>,
    woken: Notify,
}

#[derive(Debug)]
struct LastPoll {
    changes: Changes,
    /// Whether the last request got a response.
    answered: bool,
}

/// Changes that are not published yet: until when a circuit is open; `None` if it is closed.
type Changes = BTreeMap<String, Option<Instant>>;

impl Circuits {
    /// Records that a circuit opened, for the given time, or closed in this process.
    pub(super) fn changed(&self, service: &str, open: Option<Duration>) {
        // A time that cannot be represented is far enough in the future.
        let till =
            open.and_then(|remaining| Instant::now().checked_add(remaining.min(CIRCUIT_TTL * 24 * 365)));
        unpoisoned(self.seen.lock()).changes.insert(service.to_owned(), till);
        self.woken.notify_one();
    }

    /// Refuses a call of a service if the shared state is unknown and the setting is [`OnFailure::Refuse`].
    pub(super) fn check(&self, service: &str) -> Result<(), ToolError> {
        if self.on_failure == OnFailure::Degrade || unpoisoned(self.seen.lock()).answered {
            return Ok(());
        }
        let text = format!(
            "The call was not executed: it is unknown whether service '{service}' is available, because the state that \
             is shared with other processes cannot be reached. Try again in a moment."
        );
        Err(ToolError::failed_with(SERVICE_UNAVAILABLE, text))
    }

    /// Applies changes of other processes to the circuits here. Changes that were not published yet are published
    /// later.
    fn apply_changes(
        &self,
        response: Result<Vec<Row>, StoreError>,
        reported: Changes,
        breaker: &CircuitBreaker,
    ) -> bool {
        let mut seen = unpoisoned(self.seen.lock());
        seen.answered = response.is_ok();
        let Ok(mut found) = response else {
            for (service, till) in reported {
                seen.changes.entry(service).or_insert(till);
            }
            return false;
        };
        // Changes in this process are newer.
        found.retain(|row| !seen.changes.contains_key(&row.key));
        drop(seen);
        for row in found {
            match row.value.as_slice() {
                OPEN => breaker.open_elsewhere(&row.key, row.left.saturating_sub(CIRCUIT_TTL)),
                CLOSED => breaker.closed_elsewhere(&row.key),
                // The row comes from a later version: ignore it.
                _ => {}
            }
        }
        true
    }
}

/// Publishes changes of this process and applies those of others, until the breaker is dropped.
async fn follow(
    store: Arc<dyn Store>,
    breaker: Weak<CircuitBreaker>,
    circuits: Arc<Circuits>,
    interval: Duration,
) {
    let mut known = BTreeMap::new();
    while breaker.strong_count() > 0 {
        let changes = std::mem::take(&mut unpoisoned(circuits.seen.lock()).changes);
        let response = exchange(&*store, &mut known, &changes).await;
        let Some(breaker) = breaker.upgrade() else { return };
        let answered = circuits.apply_changes(response, changes, &breaker);
        drop(breaker);
        // A change is published immediately, but not repeatedly while the store is unavailable.
        if answered {
            let _ = tokio::time::timeout(interval, circuits.woken.notified()).await;
        } else {
            tokio::time::sleep(interval).await;
        }
    }
}

/// Stores the changes, and returns the rows whose version is not the known one.
async fn exchange(
    store: &dyn Store,
    known: &mut BTreeMap<String, u64>,
    changes: &Changes,
) -> Result<Vec<Row>, StoreError> {
    for (service, till) in changes {
        let (value, remaining) = match till {
            Some(till) => (OPEN, till.saturating_duration_since(Instant::now())),
            None => (CLOSED, Duration::ZERO),
        };
        let stored =
            store.put(TABLE, service, value, remaining.saturating_add(CIRCUIT_TTL), Expected::Any).await?;
        // Changes by this process are already applied here.
        known.extend(stored.map(|version| (service.clone(), version)));
    }
    let mut rows = store.scan(TABLE, "").await?;
    let before = std::mem::take(known);
    known.extend(rows.iter().map(|row| (row.key.clone(), row.version)));
    rows.retain(|row| before.get(&row.key) != Some(&row.version));
    Ok(rows)
}
