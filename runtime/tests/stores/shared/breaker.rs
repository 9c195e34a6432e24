//! Tests of circuits that open and close in all processes.

use std::num::NonZeroU32;

use toolgen_runtime::CircuitBreaker;
use toolgen_runtime::layers::breaker::{BreakerSettings, BreakerState};

use super::homes;
use crate::prelude::*;

/// The interval after which other processes see a change, as set in these tests.
const INTERVAL: Duration = Duration::from_millis(50);

fn settings(reset: Duration) -> CircuitBreaker {
    let settings = BreakerSettings::DEFAULT.with_failures(NonZeroU32::new(2).unwrap()).with_reset(reset);
    CircuitBreaker::new().with_settings(settings)
}

/// Returns a breaker as another process would have it.
pub(crate) fn started(store: Arc<dyn Store>, reset: Duration, on_failure: OnFailure) -> Arc<CircuitBreaker> {
    settings(reset).shared(store).interval(INTERVAL).on_failure(on_failure).start().unwrap()
}

/// Waits for a state of a circuit, with a long timeout.
pub(crate) async fn until(breaker: &CircuitBreaker, wanted: BreakerState) {
    let started = Instant::now();
    while breaker.state("db") != wanted {
        assert!(started.elapsed() < Duration::from_secs(30), "not {wanted:?} but {:?}", breaker.state("db"));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn circuit_opens_and_closes_in_all_instances() {
    for home in homes() {
        let (reset, name) = (Duration::from_secs(1000), home.name());
        let of = || started(home.open(), reset, OnFailure::Degrade);
        let (one, other) = (of(), of());
        for _ in 0..2 {
            one.admit("db").unwrap().failure();
        }
        until(&other, BreakerState::Open).await;
        let remaining = other.stats("db").retry_after.unwrap();
        assert!(remaining <= reset && remaining > reset - Duration::from_secs(60), "{name}: {remaining:?}");
        // Also in a process that starts later. Other circuits are not affected.
        let late = of();
        until(&late, BreakerState::Open).await;
        assert_eq!(late.state("mail"), BreakerState::Closed, "{name}");
        late.reset("db");
        until(&one, BreakerState::Closed).await;
        until(&other, BreakerState::Closed).await;
        // And again, by another process.
        for _ in 0..2 {
            other.admit("db").unwrap().failure();
        }
        until(&one, BreakerState::Open).await;
        until(&late, BreakerState::Open).await;
    }
}

#[test]
fn sharing_requires_a_runtime() {
    let error = CircuitBreaker::new().shared(MemoryStore::new()).start().unwrap_err();
    assert!(error.to_string().contains("Tokio runtime"), "{error}");
}

#[tokio::test]
async fn previously_known_services_are_shared() {
    let store = MemoryStore::new();
    let breaker = settings(Duration::from_secs(60)).with_service("db", BreakerSettings::DEFAULT);
    let own = breaker.shared(store.clone()).interval(INTERVAL).start().unwrap();
    for _ in 0..BreakerSettings::DEFAULT.failures.get() {
        own.admit("db").unwrap().failure();
    }
    let other = started(Arc::new(store), Duration::from_secs(60), OnFailure::Refuse);
    until(&other, BreakerState::Open).await;
}
