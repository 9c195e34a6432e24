//! Measures the CPU time of a part of a test, which does not depend on other load of the machine.

use std::time::Duration;

/// Runs a function and returns its result, and the CPU time of this thread.
#[cfg(unix)]
pub fn cpu_time<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    use rustix::time::{ClockId, clock_gettime};
    let now = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
    let before = now();
    let result = run();
    (result, now() - before)
}

/// Runs a function and returns its result, and the elapsed time.
#[cfg(not(unix))]
pub fn cpu_time<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let before = std::time::Instant::now();
    (run(), before.elapsed())
}
