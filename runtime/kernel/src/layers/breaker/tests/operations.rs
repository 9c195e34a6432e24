//! Operations that use a breaker directly.

use super::*;

#[tokio::test(start_paused = true)]
async fn breaker_returns_the_value_of_the_operation() {
    let breaker = CircuitBreaker::new();
    let value = breaker.run("db", async || Ok(7), async |_| panic!("not called")).await;
    assert_eq!(value, Ok(7));
    assert_eq!(breaker.stats("db").successes_total, 1);
}

#[tokio::test(start_paused = true)]
async fn fallback_replaces_the_operation_while_open() {
    let breaker = breaker(1);
    fail(&breaker, 1);
    let value = breaker
        .run(
            "db",
            async || panic!("must not run"),
            async |error| {
                assert!(matches!(error, GuardedError::Refused(refusal) if refusal.to_string() == DOWN));
                Ok("cached")
            },
        )
        .await;
    assert_eq!(value, Ok("cached"));
}

#[tokio::test(start_paused = true)]
async fn fallback_handles_recoverable_failures_and_counts_them() {
    let breaker = breaker(2);
    let run = async |message: &str| {
        let fallback = async |error| match error {
            GuardedError::Failed(error) if error.to_string().contains("refused") => Ok("cached"),
            GuardedError::Failed(error) | GuardedError::Refused(error) => Err(error),
        };
        breaker.run("db", async || Err(ToolError::failed(message)), fallback).await
    };
    assert_eq!(run("connection refused").await, Ok("cached"));
    assert_eq!(run("disk full").await.unwrap_err().to_string(), "disk full");
    assert_eq!(breaker.state("db"), BreakerState::Open);
    assert_eq!(run("connection refused").await.unwrap_err().to_string(), DOWN);
}

#[tokio::test(start_paused = true)]
async fn refusal_is_the_error_without_a_fallback() {
    let breaker = breaker(1);
    let failure = breaker.guard("db", async || Err::<(), _>(ToolError::failed("no"))).await;
    assert_eq!(failure.unwrap_err().to_string(), "no");
    let refusal = breaker.guard("db", async || Ok(())).await.unwrap_err();
    assert_eq!((refusal.to_string().as_str(), refusal.code()), (DOWN, SERVICE_UNAVAILABLE));
}

#[tokio::test(start_paused = true)]
async fn panic_of_the_operation_counts_and_propagates() {
    let breaker = Arc::new(breaker(1));
    let shared = Arc::clone(&breaker);
    let task = tokio::spawn(async move {
        let panicking = async || -> Result<(), ToolError> { panic!("boom") };
        shared.guard("db", panicking).await
    });
    assert!(task.await.unwrap_err().is_panic());
    assert_eq!(breaker.state("db"), BreakerState::Open);
}

#[tokio::test(start_paused = true)]
async fn dropped_operation_is_not_counted_and_frees_the_trial() {
    let breaker = half_open().await;
    let pending = breaker.guard("db", async || -> Result<(), ToolError> { std::future::pending().await });
    assert!(tokio::time::timeout(seconds(1), pending).await.is_err());
    assert!(breaker.admit("db").is_ok());
    assert_eq!(breaker.stats("db").failures_total, 1, "the failure that opened the circuit");
}

#[test]
fn run_future_is_send() {
    fn require_send<T: Send>(value: T) -> T {
        value
    }
    let breaker = Arc::new(CircuitBreaker::new());
    let service = String::from("db");
    let run = require_send(async move {
        let cached = vec![1];
        breaker.run(&service, async || Ok(vec![2]), async |_| Ok(cached)).await
    });
    let value = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(run);
    assert_eq!(value, Ok(vec![2]));
}
