//! Checks every interleaving of threads, with loom. Time does not advance here: a reset time of zero makes an open
//! circuit half-open immediately, and a long one keeps it open.

use loom::thread;

use super::*;

const LONG: Duration = Duration::from_secs(3600);
const ZERO: Duration = Duration::ZERO;

fn breaker(failures: u32, reset: Duration) -> Arc<CircuitBreaker> {
    let failures = std::num::NonZeroU32::new(failures).unwrap();
    let settings = BreakerSettings { failures, reset, window: LONG, trial_lock: LONG };
    Arc::new(CircuitBreaker::new().with_settings(settings))
}

/// Runs `step` on the given number of threads, including the current one.
fn run_concurrently<T: 'static>(
    threads: usize,
    breaker: &Arc<CircuitBreaker>,
    step: impl Fn(&CircuitBreaker) -> T + Copy + Send + 'static,
) -> Vec<T> {
    let handles: Vec<_> = (1..threads)
        .map(|_| {
            let breaker = Arc::clone(breaker);
            thread::spawn(move || step(&breaker))
        })
        .collect();
    let mut results = vec![step(breaker)];
    results.extend(handles.into_iter().map(|handle| handle.join().unwrap()));
    results
}

#[test]
fn first_concurrent_calls_share_one_circuit() {
    loom::model(|| {
        let breaker = breaker(2, LONG);
        run_concurrently(2, &breaker, |breaker| breaker.admit("db").unwrap().failure());
        assert_eq!(breaker.state("db"), BreakerState::Open);
        assert_eq!(breaker.stats("db").failures_total, 2);
    });
}

#[test]
fn circuit_opens_once_and_admits_no_later_call() {
    loom::model(|| {
        let breaker = breaker(2, LONG).registered();
        let admitted =
            run_concurrently(3, &breaker, |breaker| breaker.admit("db").map(Permit::failure).is_ok());
        assert_eq!(breaker.state("db"), BreakerState::Open);
        let stats = breaker.stats("db");
        let admitted = admitted.into_iter().filter(|admitted| *admitted).count() as u64;
        assert!(admitted >= 2);
        assert_eq!((stats.failures_total, stats.refused_total), (admitted, 3 - admitted));
    });
}

#[test]
fn exactly_one_call_gets_the_trial() {
    loom::model(|| {
        let breaker = breaker(1, ZERO).registered();
        breaker.admit("db").unwrap().failure();
        let permits = run_concurrently(3, &breaker, |breaker| breaker.admit("db").ok());
        assert_eq!(permits.iter().flatten().count(), 1);
    });
}

#[test]
fn dropped_trial_never_blocks_the_circuit() {
    loom::model(|| {
        let breaker = breaker(1, ZERO).registered();
        breaker.admit("db").unwrap().failure();
        run_concurrently(2, &breaker, |breaker| drop(breaker.admit("db")));
        breaker.admit("db").unwrap().success();
        assert_eq!(breaker.state("db"), BreakerState::Closed);
    });
}

#[test]
fn earlier_call_does_not_decide_a_trial() {
    loom::model(|| {
        let breaker = breaker(1, ZERO);
        let early = breaker.admit("db").unwrap();
        breaker.admit("db").unwrap().failure();
        let trial = breaker.admit("db").unwrap();
        let late = thread::spawn(move || early.failure());
        trial.success();
        late.join().unwrap();
        assert_eq!(breaker.state("db"), BreakerState::Closed);
        assert_eq!(breaker.stats("db").failures, 0);
    });
}

#[test]
fn manual_reset_wins_over_running_calls() {
    loom::model(|| {
        let breaker = breaker(1, LONG);
        let running = breaker.admit("db").unwrap();
        let failing = thread::spawn(move || running.failure());
        breaker.reset("db");
        failing.join().unwrap();
        assert_eq!(breaker.state("db"), BreakerState::Closed);
    });
}

impl CircuitBreaker {
    /// Registers the service first, so that the model does not branch on its registration.
    fn registered(self: Arc<Self>) -> Arc<Self> {
        drop(self.admit("db"));
        self
    }
}
