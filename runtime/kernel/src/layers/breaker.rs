//! A circuit breaker per service: after some failures calls are refused immediately, until a trial call succeeds.
//!
//! A *service* is anything that tools share and that can be down: a host, a database, a module. A tool names its
//! service in its specification, and the pipeline asks the breaker before it runs the tool. Code that calls a service
//! from inside a tool uses [`CircuitBreaker::run`].
//!
//! A circuit is **closed** while calls go through. When the failures within the window reach the threshold, the
//! circuit **opens**: calls are refused with `SERVICE_UNAVAILABLE`. After the reset time the circuit is **half-open**:
//! one trial call runs, the others are still refused. If the trial call succeeds, the circuit closes; if it fails, the
//! circuit opens again. A trial call that reports no outcome ends when its permit is dropped, or at the latest when
//! the trial lock expires.
//!
//! Only an outcome that indicates a problem of the service counts as a failure, see `is_failure`. While a circuit is
//! closed, a success cancels out one failure. So only a service that fails more often than it succeeds is cut off.
//!
//! Late reports do not count: if a call began before the circuit opened, its outcome is ignored when the circuit is
//! half-open or closed again.

mod settings;
mod shared;
mod state;

#[cfg(test)]
#[cfg(toolgen_model)]
mod model;
#[cfg(test)]
#[cfg(not(toolgen_model))]
mod tests;

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::base::future::{BoxFuture, poll_caught};
use crate::base::sync::{Mutex, RwLock, unpoisoned};
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::layers::layer::{Invocation, Layer, Next, Outcome, Stage};
use crate::spec::ToolSpec;

pub use settings::{BreakerSettings, BreakerState, BreakerStats};
use shared::Circuits;
pub use shared::SharedBreaker;
use state::{Admission, Machine};

/// The code of a refused call.
pub const SERVICE_UNAVAILABLE: &str = "SERVICE_UNAVAILABLE";

/// Circuit breakers for any number of services, identified by name. Shared between tools and toolboxes in an `Arc`.
///
/// A service is registered by its first call and never removed, so names should come from the program, not from a
/// model. A call that goes through costs two short locks and no allocation; no lock is held while a tool runs.
#[derive(Debug, Default)]
pub struct CircuitBreaker {
    settings: BreakerSettings,
    services: RwLock<BTreeMap<Box<str>, Arc<Service>>>,
    shared: Option<Arc<Circuits>>,
}

#[derive(Debug)]
struct Service {
    settings: BreakerSettings,
    machine: Mutex<Machine>,
    /// The name of the circuit, and the link to other processes that is notified when the circuit changes.
    shared: Option<(Arc<Circuits>, Box<str>)>,
}

impl CircuitBreaker {
    /// Creates breakers with the default settings.
    #[must_use]
    pub fn new() -> CircuitBreaker {
        CircuitBreaker::default()
    }

    /// Sets the settings of services that have no settings of their own.
    #[must_use]
    pub fn with_settings(mut self, settings: BreakerSettings) -> CircuitBreaker {
        self.settings = settings;
        self
    }

    /// Sets the settings of one service, and closes its circuit.
    #[must_use]
    pub fn with_service(self, name: &str, settings: BreakerSettings) -> CircuitBreaker {
        let service = Arc::new(self.new_service(name, settings));
        unpoisoned(self.services.write()).insert(name.into(), service);
        self
    }

    /// Asks whether a call of a service may run now.
    ///
    /// Report the outcome of the call to the permit. A permit that is dropped without a report counts as neither
    /// success nor failure; if it was for a trial call, another call becomes the trial.
    ///
    /// # Errors
    ///
    /// `Service '{name}' is temporarily unavailable. Please try again later.` while the circuit is open, and `Service
    /// '{name}' is being tested. Please try again shortly.` while a trial call runs, both with the code
    /// [`SERVICE_UNAVAILABLE`].
    pub fn admit(&self, service: &str) -> Result<Permit, ToolError> {
        if let Some(shared) = &self.shared {
            shared.check(service)?;
        }
        let entry = self.service(service);
        let admission = unpoisoned(entry.machine.lock()).admit(&entry.settings);
        let message = match admission {
            Admission::Granted(generation) => {
                return Ok(Permit { service: entry, generation, is_settled: false });
            }
            Admission::Unavailable => {
                format!("Service '{service}' is temporarily unavailable. Please try again later.")
            }
            Admission::Testing => format!("Service '{service}' is being tested. Please try again shortly."),
        };
        Err(ToolError::failed_with(SERVICE_UNAVAILABLE, message))
    }

    /// Runs an operation if the circuit lets it through, and calls `fallback` if the operation has no value.
    ///
    /// The fallback gets every refusal and every error of the operation. Only the caller knows which errors are
    /// recoverable; return the others from the fallback. A panic of the operation counts as a failure and propagates.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// use toolgen_runtime::layers::breaker::{CircuitBreaker, GuardedError};
    /// use toolgen_runtime::ToolError;
    ///
    /// let breaker = CircuitBreaker::new();
    /// let price = breaker.run(
    ///     "prices",
    ///     async || Err(ToolError::failed_with("refused", "connection refused")),
    ///     async |error| match error {
    ///         GuardedError::Refused(_) => Ok(41),
    ///         GuardedError::Failed(error) if error.code() == "refused" => Ok(42),
    ///         GuardedError::Failed(error) => Err(error),
    ///     },
    /// );
    /// assert_eq!(price.await, Ok(42));
    /// # });
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors of `fallback`.
    pub async fn run<T>(
        &self,
        service: &str,
        operation: impl AsyncFnOnce() -> Result<T, ToolError>,
        fallback: impl AsyncFnOnce(GuardedError) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let error = match self.admit(service) {
            Ok(permit) => match permit.watch(operation()).await {
                Ok(value) => return Ok(value),
                Err(error) => GuardedError::Failed(error),
            },
            Err(refusal) => GuardedError::Refused(refusal),
        };
        fallback(error).await
    }

    /// Runs an operation if the circuit lets it through.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`admit`](Self::admit) and those of the operation.
    pub async fn guard<T>(
        &self,
        service: &str,
        operation: impl AsyncFnOnce() -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        self.admit(service)?.watch(operation()).await
    }

    /// Returns the state of the circuit of a service.
    #[must_use]
    pub fn state(&self, service: &str) -> BreakerState {
        self.existing_service(service).map_or(BreakerState::Closed, |service| {
            unpoisoned(service.machine.lock()).state(&service.settings)
        })
    }

    /// Returns whether a call of a service is worth trying, that is, whether its circuit is not open.
    #[must_use]
    pub fn is_available(&self, service: &str) -> bool {
        self.state(service) != BreakerState::Open
    }

    /// Returns the statistics of a service. For a service that was never called, all counts are zero.
    #[must_use]
    pub fn stats(&self, service: &str) -> BreakerStats {
        match self.existing_service(service) {
            Some(service) => unpoisoned(service.machine.lock()).stats(service.settings),
            None => Machine::default().stats(self.settings),
        }
    }

    /// Returns the services that were called or have settings, sorted by name.
    #[must_use]
    pub fn services(&self) -> Vec<String> {
        unpoisoned(self.services.read()).keys().map(|name| name.to_string()).collect()
    }

    /// Closes the circuit of a service manually and resets the counts. Calls that are still running do not count.
    pub fn reset(&self, service: &str) {
        if let Some(service) = self.existing_service(service) {
            unpoisoned(service.machine.lock()).reset();
            service.publish_change(None);
        }
    }

    fn existing_service(&self, name: &str) -> Option<Arc<Service>> {
        unpoisoned(self.services.read()).get(name).cloned()
    }

    fn service(&self, name: &str) -> Arc<Service> {
        if let Some(service) = self.existing_service(name) {
            return service;
        }
        // Another call may have registered the service since; then its entry is used.
        let mut services = unpoisoned(self.services.write());
        let entry =
            services.entry(name.into()).or_insert_with(|| Arc::new(self.new_service(name, self.settings)));
        Arc::clone(entry)
    }

    fn new_service(&self, name: &str, settings: BreakerSettings) -> Service {
        let shared = self.shared.clone().map(|shared| (shared, name.into()));
        Service { settings, machine: Mutex::new(Machine::default()), shared }
    }
}

impl Layer for CircuitBreaker {
    fn stage(&self) -> Stage {
        Stage::Around
    }

    fn is_single(&self) -> bool {
        true
    }

    fn applies_to(&self, spec: &ToolSpec) -> bool {
        !spec.service.is_empty()
    }

    fn around<'a>(&'a self, call: &'a Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let permit = self.admit(&call.spec().service)?;
            let outcome = next.run().await;
            // If the tool did not start, the outcome does not indicate a problem of its service.
            if call.has_started() {
                permit.settle(&outcome);
            }
            outcome
        })
    }
}

impl Service {
    /// Notifies other processes that the circuit opened, for the given time, or closed. No lock is held.
    fn publish_change(&self, open_for: Option<Duration>) {
        if let Some((shared, name)) = &self.shared {
            shared.record_change(name, open_for);
        }
    }
}

/// Permission to call a service once, from [`CircuitBreaker::admit`].
#[derive(Debug)]
#[must_use = "report the outcome of the call to the permit"]
pub struct Permit {
    service: Arc<Service>,
    generation: u64,
    is_settled: bool,
}

impl Permit {
    /// Reports that the service responded.
    pub fn success(mut self) {
        self.is_settled = true;
        let has_closed = unpoisoned(self.service.machine.lock()).record_success(self.generation);
        if has_closed {
            self.service.publish_change(None);
        }
    }

    /// Reports that the service failed.
    pub fn failure(mut self) {
        self.is_settled = true;
        let has_opened =
            unpoisoned(self.service.machine.lock()).record_failure(self.generation, &self.service.settings);
        if has_opened {
            self.service.publish_change(Some(self.service.settings.reset));
        }
    }

    /// Reports the outcome of a tool: a failure if `is_failure` returns true, a success if there is a result. Any
    /// other outcome reports nothing, as if the permit were dropped.
    pub fn settle(self, outcome: &Result<ToolResult, ToolError>) {
        match outcome {
            outcome if is_failure(outcome) => self.failure(),
            Ok(_) => self.success(),
            Err(_) => drop(self),
        }
    }

    /// Runs an operation and reports how it ended, including by a panic.
    async fn watch<T>(self, operation: impl Future<Output = Result<T, ToolError>>) -> Result<T, ToolError> {
        let mut operation = pin!(operation);
        match poll_fn(|cx| poll_caught(operation.as_mut(), cx)).await {
            Ok(outcome) => {
                match &outcome {
                    Ok(_) => self.success(),
                    Err(error) if is_service_error(error) => self.failure(),
                    Err(_) => drop(self),
                }
                outcome
            }
            Err(panic) => {
                self.failure();
                resume_unwind(panic)
            }
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if !self.is_settled {
            unpoisoned(self.service.machine.lock()).release(self.generation);
        }
    }
}

/// The reason why the operation of [`CircuitBreaker::run`] has no value.
#[derive(Clone, Debug, PartialEq)]
pub enum GuardedError {
    /// The circuit is open or a trial call is running: the operation did not run.
    Refused(ToolError),
    /// The operation ran and failed.
    Failed(ToolError),
}

/// Returns whether the outcome of a tool indicates a failure of its service.
///
/// It does if the tool failed (including by a panic) or timed out, and if the outcome contains an HTTP response with a
/// server error (500 to 599) or with status 429. It does not if the arguments are invalid, the call was denied or
/// cancelled, or the tool does not exist: then the service was not called, or the call did not complete. Nor does it if
/// the tool reports that the request cannot be fulfilled (see [`ToolResult::is_error`]): that is a response of the
/// service.
#[doc(hidden)]
#[must_use]
pub fn is_failure(outcome: &Result<ToolResult, ToolError>) -> bool {
    match outcome {
        Ok(result) => {
            let details = &result.details;
            let is_error = details.get("ok").and_then(Value::as_bool) == Some(false);
            let status = details.get("status").and_then(Value::as_u64);
            is_error && status.is_some_and(|status| status == 429 || (500..600).contains(&status))
        }
        Err(error) => is_service_error(error),
    }
}

/// Like `is_failure`, for an error.
fn is_service_error(error: &ToolError) -> bool {
    matches!(error, ToolError::Failed { .. } | ToolError::Timeout { .. })
}
