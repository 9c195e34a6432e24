mod operations;

use std::num::NonZeroU32;
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, advance};

use super::*;
use crate::call::result::ToolResult;

const DOWN: &str = "Service 'db' is temporarily unavailable. Please try again later.";
const TESTING: &str = "Service 'db' is being tested. Please try again shortly.";

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn settings(failures: u32) -> BreakerSettings {
    BreakerSettings::DEFAULT.with_failures(NonZeroU32::new(failures).unwrap())
}

fn breaker(failures: u32) -> CircuitBreaker {
    CircuitBreaker::new().with_settings(settings(failures))
}

fn fail(breaker: &CircuitBreaker, times: usize) {
    for _ in 0..times {
        breaker.admit("db").unwrap().failure();
    }
}

fn refusal(breaker: &CircuitBreaker) -> String {
    let error = breaker.admit("db").unwrap_err();
    assert_eq!(error.code(), "SERVICE_UNAVAILABLE");
    error.to_string()
}

/// A breaker whose circuit is half-open.
async fn half_open() -> CircuitBreaker {
    let breaker = breaker(1);
    fail(&breaker, 1);
    advance(seconds(60)).await;
    breaker
}

#[tokio::test(start_paused = true)]
async fn unknown_service_is_closed_and_available() {
    let breaker = CircuitBreaker::new();
    assert_eq!(breaker.state("db"), BreakerState::Closed);
    assert!(breaker.is_available("db") && breaker.services().is_empty());
    let stats = breaker.stats("db");
    assert_eq!((stats.failures, stats.retry_after, stats.last_failure), (0, None, None));
}

#[tokio::test(start_paused = true)]
async fn default_settings_are_stable() {
    let settings = CircuitBreaker::new().stats("db").settings;
    assert_eq!(settings, BreakerSettings::default());
    assert_eq!(settings.failures.get(), 5);
    assert_eq!(
        (settings.reset, settings.window, settings.trial_lock),
        (seconds(60), seconds(120), seconds(30))
    );
}

#[tokio::test(start_paused = true)]
async fn circuit_opens_exactly_at_the_threshold() {
    let breaker = CircuitBreaker::new();
    fail(&breaker, 4);
    assert_eq!(breaker.state("db"), BreakerState::Closed);
    fail(&breaker, 1);
    assert_eq!(breaker.state("db"), BreakerState::Open);
    assert!(!breaker.is_available("db"));
}

#[tokio::test(start_paused = true)]
async fn open_circuit_message_and_code_are_stable() {
    let breaker = breaker(1);
    fail(&breaker, 1);
    assert_eq!(refusal(&breaker), DOWN);
    assert_eq!(breaker.stats("db").refused_total, 1);
}

#[tokio::test(start_paused = true)]
async fn failures_outside_the_window_are_forgotten() {
    let breaker = breaker(3);
    fail(&breaker, 2);
    advance(seconds(120)).await;
    assert_eq!(breaker.stats("db").failures, 0);
    fail(&breaker, 2);
    assert_eq!(breaker.state("db"), BreakerState::Closed);
    fail(&breaker, 1);
    assert_eq!(breaker.state("db"), BreakerState::Open);
}

#[tokio::test(start_paused = true)]
async fn each_failure_expires_separately() {
    let breaker = breaker(3);
    for _ in 0..10 {
        fail(&breaker, 1);
        advance(seconds(61)).await;
    }
    assert_eq!(breaker.state("db"), BreakerState::Closed, "never three within 120 s");
    advance(seconds(120)).await;
    fail(&breaker, 1);
    advance(seconds(59)).await;
    fail(&breaker, 1);
    advance(seconds(60)).await;
    fail(&breaker, 1);
    assert_eq!(breaker.state("db"), BreakerState::Open, "three within 119 s");
}

#[tokio::test(start_paused = true)]
async fn open_circuit_is_half_open_after_the_reset_time() {
    let breaker = breaker(1);
    fail(&breaker, 1);
    advance(seconds(59)).await;
    assert_eq!(breaker.state("db"), BreakerState::Open);
    assert_eq!(breaker.stats("db").retry_after, Some(seconds(1)));
    advance(seconds(1)).await;
    assert_eq!(breaker.state("db"), BreakerState::HalfOpen);
    assert!(breaker.is_available("db"));
    assert_eq!(breaker.stats("db").retry_after, None);
}

#[tokio::test(start_paused = true)]
async fn refused_call_does_not_extend_the_reset_time() {
    let breaker = breaker(1);
    fail(&breaker, 1);
    for _ in 0..60 {
        assert_eq!(refusal(&breaker), DOWN);
        advance(seconds(1)).await;
    }
    assert!(breaker.admit("db").is_ok());
}

#[tokio::test(start_paused = true)]
async fn successful_trial_closes_the_circuit_and_clears_failures() {
    let breaker = breaker(2);
    fail(&breaker, 2);
    advance(seconds(60)).await;
    breaker.admit("db").unwrap().success();
    assert_eq!(breaker.state("db"), BreakerState::Closed);
    assert_eq!(breaker.stats("db").failures, 0);
    fail(&breaker, 1);
    assert_eq!(breaker.state("db"), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn failed_trial_reopens_the_circuit_for_the_full_reset_time() {
    let breaker = half_open().await;
    breaker.admit("db").unwrap().failure();
    assert_eq!(refusal(&breaker), DOWN);
    advance(seconds(59)).await;
    assert_eq!(breaker.state("db"), BreakerState::Open);
    advance(seconds(1)).await;
    assert!(breaker.admit("db").is_ok());
}

#[tokio::test(start_paused = true)]
async fn one_failed_trial_reopens_the_circuit() {
    let breaker = CircuitBreaker::new();
    fail(&breaker, 5);
    advance(seconds(60)).await;
    fail(&breaker, 1);
    assert_eq!(breaker.state("db"), BreakerState::Open);
}

#[tokio::test(start_paused = true)]
async fn only_one_trial_runs_at_once() {
    let breaker = half_open().await;
    let trial = breaker.admit("db").unwrap();
    assert_eq!(refusal(&breaker), TESTING);
    assert_eq!(breaker.state("db"), BreakerState::HalfOpen);
    trial.success();
    assert!(breaker.admit("db").is_ok());
}

#[tokio::test(start_paused = true)]
async fn dropped_trial_is_replaced_immediately() {
    let breaker = half_open().await;
    drop(breaker.admit("db").unwrap());
    assert_eq!(breaker.state("db"), BreakerState::HalfOpen);
    assert!(breaker.admit("db").is_ok());
}

#[tokio::test(start_paused = true)]
async fn forgotten_trial_is_replaced_after_its_lock_expires() {
    let breaker = half_open().await;
    std::mem::forget(breaker.admit("db").unwrap());
    advance(seconds(29)).await;
    assert_eq!(refusal(&breaker), TESTING);
    assert_eq!(breaker.stats("db").retry_after, Some(seconds(1)));
    advance(seconds(1)).await;
    assert!(breaker.admit("db").is_ok());
}

#[tokio::test(start_paused = true)]
async fn later_of_two_trials_decides() {
    let breaker = half_open().await;
    let slow = breaker.admit("db").unwrap();
    advance(seconds(30)).await;
    let second = breaker.admit("db").unwrap();
    slow.failure();
    assert_eq!(refusal(&breaker), TESTING, "the first trial no longer decides");
    second.success();
    assert_eq!(breaker.state("db"), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn slow_single_trial_still_decides() {
    let breaker = half_open().await;
    let slow = breaker.admit("db").unwrap();
    advance(seconds(200)).await;
    slow.success();
    assert_eq!(breaker.state("db"), BreakerState::Closed);
}

#[tokio::test(start_paused = true)]
async fn late_reports_of_earlier_calls_are_ignored() {
    let breaker = breaker(1);
    let (first, second, third) =
        (breaker.admit("db").unwrap(), breaker.admit("db").unwrap(), breaker.admit("db").unwrap());
    fail(&breaker, 1);
    first.success();
    assert_eq!(breaker.state("db"), BreakerState::Open, "an earlier success does not close the circuit");
    advance(seconds(60)).await;
    let trial = breaker.admit("db").unwrap();
    second.failure();
    assert_eq!(breaker.state("db"), BreakerState::HalfOpen, "an earlier failure does not open the circuit");
    trial.success();
    third.failure();
    assert_eq!(breaker.state("db"), BreakerState::Closed, "nor after the circuit has closed again");
    let stats = breaker.stats("db");
    assert_eq!((stats.successes_total, stats.failures_total), (2, 3), "they are still counted");
}

#[tokio::test(start_paused = true)]
async fn late_drop_of_an_earlier_call_does_not_free_the_trial() {
    let breaker = breaker(1);
    let early = breaker.admit("db").unwrap();
    fail(&breaker, 1);
    advance(seconds(60)).await;
    let _trial = breaker.admit("db").unwrap();
    drop(early);
    assert_eq!(refusal(&breaker), TESTING);
}

#[tokio::test(start_paused = true)]
async fn success_cancels_one_failure() {
    let breaker = breaker(2);
    for _ in 0..50 {
        fail(&breaker, 1);
        breaker.admit("db").unwrap().success();
    }
    assert_eq!(breaker.state("db"), BreakerState::Closed);
    breaker.admit("db").unwrap().success();
    assert_eq!(breaker.stats("db").failures, 0, "successes are not accumulated");
    fail(&breaker, 2);
    assert_eq!(breaker.state("db"), BreakerState::Open);
}

#[tokio::test(start_paused = true)]
async fn permit_dropped_while_closed_is_not_counted() {
    let breaker = breaker(1);
    drop(breaker.admit("db").unwrap());
    let stats = breaker.stats("db");
    assert_eq!((stats.state, stats.successes_total, stats.failures_total), (BreakerState::Closed, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn services_are_independent() {
    let breaker = breaker(1);
    fail(&breaker, 1);
    assert_eq!(breaker.state("db"), BreakerState::Open);
    breaker.admit("mail").unwrap().success();
    assert_eq!(breaker.state("mail"), BreakerState::Closed);
    assert_eq!(breaker.services(), ["db", "mail"]);
}

#[tokio::test(start_paused = true)]
async fn service_may_have_its_own_settings() {
    let strict = settings(2).with_reset(seconds(5)).with_window(seconds(1)).with_trial_lock(seconds(1));
    let breaker = CircuitBreaker::new().with_service("db", strict);
    fail(&breaker, 1);
    advance(seconds(1)).await;
    fail(&breaker, 1);
    assert_eq!(breaker.state("db"), BreakerState::Closed, "its window is a second");
    fail(&breaker, 1);
    assert_eq!(breaker.state("db"), BreakerState::Open, "its threshold is 2");
    advance(seconds(5)).await;
    std::mem::forget(breaker.admit("db").unwrap());
    advance(seconds(1)).await;
    assert!(breaker.admit("db").is_ok(), "its lock is a second");
    assert_eq!(breaker.stats("db").settings, strict);
    assert_eq!(breaker.stats("mail").settings, BreakerSettings::DEFAULT);
}

#[tokio::test(start_paused = true)]
async fn manual_reset_ignores_running_calls() {
    let breaker = breaker(1);
    let running = breaker.admit("db").unwrap();
    fail(&breaker, 1);
    breaker.reset("db");
    running.failure();
    assert_eq!(breaker.state("db"), BreakerState::Closed);
    assert_eq!(breaker.stats("db").failures, 0);
    breaker.reset("unknown");
    assert_eq!(breaker.services(), ["db"]);
}

#[tokio::test(start_paused = true)]
async fn stats_report_counts_and_times() {
    let breaker = breaker(2);
    breaker.admit("db").unwrap().success();
    fail(&breaker, 2);
    let failed_at = Instant::now();
    let _ = refusal(&breaker);
    advance(seconds(10)).await;
    let stats = breaker.stats("db");
    assert_eq!((stats.state, stats.failures), (BreakerState::Open, 2));
    assert_eq!((stats.successes_total, stats.failures_total, stats.refused_total), (1, 2, 1));
    assert_eq!((stats.last_failure, stats.retry_after), (Some(failed_at.into_std()), Some(seconds(50))));
}

#[tokio::test(start_paused = true)]
async fn only_outcomes_about_the_service_count() {
    let http = |status: u16| {
        Ok(ToolResult::text("").with_details(json!({ "status": status, "ok": (200..300).contains(&status) })))
    };
    let cases: [(Result<ToolResult, ToolError>, bool); 14] = [
        (Ok(ToolResult::text("fine")), false),
        (Ok(ToolResult::json(json!({ "success": false, "error": "no such row" }))), false),
        (Ok(ToolResult::json(json!({ "status": 500 }))), false),
        (http(200), false),
        (http(404), false),
        (http(429), true),
        (http(503), true),
        (Err(ToolError::failed("connection refused")), true),
        (Err(ToolError::failed("tool panicked")), true),
        (Err(ToolError::Timeout { duration: seconds(1) }), true),
        (Err(ToolError::invalid_args("no")), false),
        (Err(ToolError::denied("no")), false),
        (Err(ToolError::Cancelled), false),
        (Err(ToolError::NotFound { name: "x".into(), suggestion: None }), false),
    ];
    for (outcome, is_failed) in cases {
        assert_eq!(is_failure(&outcome), is_failed, "{outcome:?}");
        let breaker = breaker(1);
        breaker.admit("db").unwrap().settle(&outcome);
        let stats = breaker.stats("db");
        assert_eq!(stats.failures_total, u64::from(is_failed), "{outcome:?}");
        assert_eq!(stats.successes_total, u64::from(outcome.is_ok() && !is_failed), "{outcome:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn uncounted_error_frees_the_trial_and_keeps_the_state() {
    let breaker = half_open().await;
    breaker.admit("db").unwrap().settle(&Err(ToolError::invalid_args("no")));
    assert_eq!(breaker.state("db"), BreakerState::HalfOpen);
    assert!(breaker.admit("db").is_ok());
}
