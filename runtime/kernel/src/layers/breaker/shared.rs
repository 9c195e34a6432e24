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

/// Default interval at which a process polls for changes by other processes.
const INTERVAL: Duration = Duration::from_millis(100);

/// How long a store keeps a circuit after it is no longer open. The TTL of a row is the open time plus this time, so
/// the remaining TTL minus this time is the remaining open time, by the clock of the store.
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
/// Calls do not wait for the store: a background task polls for changes, with one small request per interval, and
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
    /// [Start](SharedBreaker::start) the breakers before you use them; starting closes every circuit.
    #[must_use]
    pub fn shared(self, store: impl Store + 'static) -> SharedBreaker {
        let store = Arc::new(store);
        SharedBreaker { breaker: self, store, interval: INTERVAL, on_failure: OnFailure::Degrade }
    }

    /// Opens the circuit of a service that another process opened, for the time that remains there. A circuit that is
    /// already open stays open at least as long.
    fn apply_open(&self, service: &str, remaining: Duration) {
        let entry = self.service(service);
        let mut machine = unpoisoned(entry.machine.lock());
        let stats = machine.stats(entry.settings);
        let is_longer = stats.state == BreakerState::Open && stats.retry_after >= Some(remaining);
        if !remaining.is_zero() && !is_longer {
            machine.open(entry.settings.reset.saturating_sub(remaining));
        }
    }

    /// Closes the circuit of a service that another process closed.
    fn apply_close(&self, service: &str) {
        if let Some(entry) = self.existing_service(service) {
            unpoisoned(entry.machine.lock()).ensure_closed();
        }
    }
}

impl SharedBreaker {
    /// Sets the interval at which the process polls for changes by other processes. Default: 100 milliseconds.
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
    /// Returns an error if it is not called in a Tokio runtime, which the task needs.
    pub fn start(self) -> Result<Arc<CircuitBreaker>, StoreError> {
        let runtime = tokio::runtime::Handle::try_current().map_err(|_| {
            StoreError::new("shared circuit breakers need a Tokio runtime: start them inside of one")
        })?;
        let circuits = Arc::new(Circuits {
            on_failure: self.on_failure,
            last_poll: Mutex::new(LastPoll { changes: BTreeMap::new(), has_response: false }),
            wake: Notify::new(),
        });
        let mut breaker = self.breaker;
        breaker.shared = Some(Arc::clone(&circuits));
        let services = std::mem::take(&mut *unpoisoned(breaker.services.write()));
        let breaker = services
            .iter()
            .fold(breaker, |breaker, (name, service)| breaker.with_service(name, service.settings));
        let breaker = Arc::new(breaker);
        runtime.spawn(sync_circuits(self.store, Arc::downgrade(&breaker), circuits, self.interval));
        Ok(breaker)
    }
}

/// The state that calls of this process share with the background task.
#[derive(Debug)]
pub(super) struct Circuits {
    on_failure: OnFailure,
    last_poll: Mutex<LastPoll>,
    wake: Notify,
}

#[derive(Debug)]
struct LastPoll {
    changes: Changes,
    /// Whether the last request got a response.
    has_response: bool,
}

/// Changes that are not published yet, by service: the time until which the circuit is open; `None` if it is closed.
type Changes = BTreeMap<String, Option<Instant>>;

impl Circuits {
    /// Records that a circuit opened, for the given time, or closed in this process.
    pub(super) fn record_change(&self, service: &str, open_for: Option<Duration>) {
        // A time that cannot be represented is far enough in the future.
        let open_until =
            open_for.and_then(|remaining| Instant::now().checked_add(remaining.min(CIRCUIT_TTL * 24 * 365)));
        unpoisoned(self.last_poll.lock()).changes.insert(service.to_owned(), open_until);
        self.wake.notify_one();
    }

    /// Refuses a call of a service if the shared state is unknown and the setting is [`OnFailure::Refuse`].
    pub(super) fn check(&self, service: &str) -> Result<(), ToolError> {
        if self.on_failure == OnFailure::Degrade || unpoisoned(self.last_poll.lock()).has_response {
            return Ok(());
        }
        let text = format!(
            "The call was not executed: it is unknown whether service '{service}' is available, because the state that \
             is shared with other processes cannot be reached. Try again in a moment."
        );
        Err(ToolError::failed_with(SERVICE_UNAVAILABLE, text))
    }

    /// Applies changes of other processes to the circuits of this process. If the request failed, its changes are
    /// published later.
    fn apply_changes(
        &self,
        response: Result<Vec<Row>, StoreError>,
        changes: Changes,
        breaker: &CircuitBreaker,
    ) -> bool {
        let mut last_poll = unpoisoned(self.last_poll.lock());
        last_poll.has_response = response.is_ok();
        let Ok(mut rows) = response else {
            for (service, open_until) in changes {
                last_poll.changes.entry(service).or_insert(open_until);
            }
            return false;
        };
        // Changes in this process are newer.
        rows.retain(|row| !last_poll.changes.contains_key(&row.key));
        drop(last_poll);
        for row in rows {
            match row.value.as_slice() {
                OPEN => breaker.apply_open(&row.key, row.left.saturating_sub(CIRCUIT_TTL)),
                CLOSED => breaker.apply_close(&row.key),
                // The row comes from a later version: ignore it.
                _ => {}
            }
        }
        true
    }
}

/// Publishes changes of this process and applies those of others, until the breaker is dropped.
async fn sync_circuits(
    store: Arc<dyn Store>,
    breaker: Weak<CircuitBreaker>,
    circuits: Arc<Circuits>,
    interval: Duration,
) {
    let mut versions = BTreeMap::new();
    while breaker.strong_count() > 0 {
        let changes = std::mem::take(&mut unpoisoned(circuits.last_poll.lock()).changes);
        let response = exchange(&*store, &mut versions, &changes).await;
        let Some(breaker) = breaker.upgrade() else { return };
        let has_response = circuits.apply_changes(response, changes, &breaker);
        drop(breaker);
        // A change is published immediately, but not repeatedly while the store is unavailable.
        if has_response {
            let _ = tokio::time::timeout(interval, circuits.wake.notified()).await;
        } else {
            tokio::time::sleep(interval).await;
        }
    }
}

/// Stores the changes, and returns the rows whose version has changed.
async fn exchange(
    store: &dyn Store,
    versions: &mut BTreeMap<String, u64>,
    changes: &Changes,
) -> Result<Vec<Row>, StoreError> {
    for (service, open_until) in changes {
        let (value, remaining) = match open_until {
            Some(open_until) => (OPEN, open_until.saturating_duration_since(Instant::now())),
            None => (CLOSED, Duration::ZERO),
        };
        let version =
            store.put(TABLE, service, value, remaining.saturating_add(CIRCUIT_TTL), Expected::Any).await?;
        // This process has already applied its own changes.
        versions.extend(version.map(|version| (service.clone(), version)));
    }
    let mut rows = store.scan(TABLE, "").await?;
    let old_versions = std::mem::take(versions);
    versions.extend(rows.iter().map(|row| (row.key.clone(), row.version)));
    rows.retain(|row| old_versions.get(&row.key) != Some(&row.version));
    Ok(rows)
}
