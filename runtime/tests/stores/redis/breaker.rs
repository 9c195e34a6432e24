//! Circuits that open and close in all processes.

use std::num::NonZeroU32;
use std::time::UNIX_EPOCH;

use toolgen_runtime::CircuitBreaker;
use toolgen_runtime::layers::breaker::{BreakerSettings, BreakerState, SERVICE_UNAVAILABLE};
use toolgen_test_support::processes::{say, wait_for_others};

use crate::prelude::*;
use crate::redis::server::Server;
use crate::redis::{URL, builder, others, said, state};

/// How soon others know, as it is set here.
const INTERVAL: Duration = Duration::from_millis(200);

/// What a request may take on a machine that is busy.
const BUSY: Duration = Duration::from_secs(3);

fn settings(reset: Duration) -> BreakerSettings {
    BreakerSettings::DEFAULT.with_failures(NonZeroU32::new(2).unwrap()).with_reset(reset)
}

/// Waits until a circuit has this state, for a long time.
async fn until(breaker: &CircuitBreaker, wanted: BreakerState) {
    let begun = Instant::now();
    while breaker.state("db") != wanted {
        assert!(begun.elapsed() < Duration::from_secs(30), "not {wanted:?} but {:?}", breaker.state("db"));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()
}

/// Not a test of its own: a further process that sees a circuit open, and close, and says when.
#[tokio::test]
async fn child_process() {
    let Some(url) = std::env::var_os(URL) else { return };
    let state = state(url.to_str().unwrap());
    let breaker = state.breaker(settings(Duration::from_secs(2))).interval(INTERVAL).start().unwrap();
    state.ping().await.unwrap();
    wait_for_others();
    say("ready");
    until(&breaker, BreakerState::Open).await;
    say(format!("open {}", now()));
    let refused = breaker.admit("db").unwrap_err();
    assert_eq!(refused.code(), SERVICE_UNAVAILABLE);
    // It does not close by itself: another process has to try and succeed.
    until(&breaker, BreakerState::Closed).await;
    say(format!("closed {}", now()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_circuit_opens_and_closes_in_all_processes_within_its_time() {
    let Some(server) = Server::start() else { return };
    let others = others(3, "redis::breaker::child_process", &server.url(), "");
    let (state, reset) = (state(&server.url()), Duration::from_secs(2));
    let breaker = state.breaker(settings(reset)).interval(INTERVAL).start().unwrap();
    let said = tokio::task::spawn_blocking(move || said(others));
    // Long enough for the others to be there; if they are not, they see it later, and the test fails.
    tokio::time::sleep(Duration::from_secs(1)).await;
    for _ in 0..2 {
        breaker.admit("db").unwrap().failure();
    }
    let opened = now();
    until(&breaker, BreakerState::HalfOpen).await;
    // The trial call of this process.
    breaker.admit("db").unwrap().success();
    let closed = now();
    let said = said.await.unwrap();
    let times = |what: &str| -> Vec<u128> {
        let of = said.iter().filter_map(|line| line.strip_prefix(what));
        of.map(|time| time.parse().unwrap()).collect()
    };
    for (what, at) in [("open ", opened), ("closed ", closed)] {
        let late: Vec<u128> = times(what).iter().map(|time| time.saturating_sub(at)).collect();
        assert_eq!(late.len(), 3, "{said:?}");
        assert!(late.iter().all(|late| *late <= (INTERVAL + BUSY).as_millis()), "{what}: {late:?} ms");
    }
}

#[tokio::test]
async fn while_the_server_is_away_each_goes_by_its_own_and_tells_it_afterwards() {
    let Some(mut server) = Server::start() else { return };
    let (hour, url) = (Duration::from_secs(3600), server.url());
    let one = builder(&url).build().unwrap().breaker(settings(hour)).interval(INTERVAL).start().unwrap();
    let other = builder(&url).build().unwrap().breaker(settings(hour)).interval(INTERVAL).start().unwrap();
    let strict = builder(&url).build().unwrap().breaker(settings(hour)).on_failure(OnFailure::Closed);
    let strict = strict.start().unwrap();
    let begun = Instant::now();
    while strict.admit("db").is_err() {
        assert!(begun.elapsed() < Duration::from_secs(30));
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    server.kill();
    let begun = Instant::now();
    let why = loop {
        match strict.admit("db") {
            Ok(permit) => drop(permit),
            Err(why) => break why,
        }
        assert!(begun.elapsed() < Duration::from_secs(30));
        tokio::time::sleep(Duration::from_millis(2)).await;
    };
    assert_eq!(why.code(), SERVICE_UNAVAILABLE);
    assert!(why.to_string().contains("'db'") && why.to_string().contains("cannot be reached"), "{why}");

    for _ in 0..2 {
        one.admit("db").unwrap().failure();
    }
    assert_eq!(one.state("db"), BreakerState::Open);
    tokio::time::sleep(2 * INTERVAL).await;
    assert_eq!(other.state("db"), BreakerState::Closed, "nobody could tell it");
    server.start_again();
    until(&other, BreakerState::Open).await;
    let left = other.stats("db").retry_after.unwrap();
    assert!(left <= hour && left > hour - Duration::from_secs(60), "{left:?}");
    // By hand, everywhere.
    other.reset("db");
    until(&one, BreakerState::Closed).await;
    until(&strict, BreakerState::Closed).await;
}

#[test]
fn without_a_runtime_there_is_no_task() {
    let why = state("redis://127.0.0.1").breaker(BreakerSettings::DEFAULT).start().unwrap_err();
    assert!(why.to_string().contains("Tokio runtime"), "{why}");
}
