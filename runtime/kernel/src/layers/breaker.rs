//! A circuit breaker per service: after some failures calls are refused immediately, until a trial call succeeds.
//!
//! A *service* is anything that tools share and that can be down: a host, a database, a module. A tool names its
//! service in its specification and the pipeline asks the breaker before it runs the tool; code that reaches a service
//! from inside a tool uses [`CircuitBreaker::run`].
//!
//! A circuit is **closed** while calls go through. When the failures within the window reach the threshold, it
//! **opens**: calls are refused with `SERVICE_UNAVAILABLE`. After the reset time it is **half-open**: one trial call
//! runs, the others are still refused. Its success closes the circuit, its failure opens it again. A trial call that
//! never reports gives up its place when it is dropped, or at the latest when the trial lock expires.
//!
//! Only what says something about the service counts as a failure, see [`is_failure`]. While a circuit is closed a
//! success cancels out one failure, so that only a service that fails more often than it answers is cut off.
//!
//! Late reports do not count: the outcome of a call that began before the circuit opened is outdated when the circuit
//! is half-open or closed again.

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

/// Circuit breakers for any number of services, identified by name. Shared between tools and providers in an `Arc`.
///
/// A service is known from its first call on and never forgotten, so names should come from the program, not from a
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
    /// The link to other processes that is notified of changes of the circuit, and the name of the circuit.
    shared: Option<(Arc<Circuits>, Box<str>)>,
}

impl CircuitBreaker {
    /// Creates breakers with the default settings.
    #[must_use]
    pub fn new() -> CircuitBreaker {
        CircuitBreaker::default()
    }

    /// Sets the settings of services without their own.
    #[must_use]
    pub fn with_settings(mut self, settings: BreakerSettings) -> CircuitBreaker {
        self.settings = settings;
        self
    }

    /// Sets the settings of one service, whose circuit is then closed.
    #[must_use]
    pub fn with_service(self, name: &str, settings: BreakerSettings) -> CircuitBreaker {
        let service = Arc::new(self.made(name, settings));
        unpoisoned(self.services.write()).insert(name.into(), service);
        self
    }

    /// Asks whether a call of a service may run now.
    ///
    /// Report the outcome of the call to the permit. A permit that is dropped without a report counts as neither
    /// success nor failure; if it was for a trial call, another call may try.
    ///
    /// # Errors
    ///
    /// `Service '{name}' is temporarily unavailable. Please try again later.` while the circuit is open, and
    /// `Service '{name}' is being tested. Please try again shortly.` while another call tries, both with the code
    /// [`SERVICE_UNAVAILABLE`].
    pub fn admit(&self, service: &str) -> Result<Permit, ToolError> {
        if let Some(shared) = &self.shared {
            shared.check(service)?;
        }
        let found = self.service(service);
        let admission = unpoisoned(found.machine.lock()).admit(&found.settings);
        let message = match admission {
            Admission::Granted(generation) => {
                return Ok(Permit { service: found, generation, settled: false });
            }
            Admission::Unavailable => {
                format!("Service '{service}' is temporarily unavailable. Please try again later.")
            }
            Admission::Tested => format!("Service '{service}' is being tested. Please try again shortly."),
        };
        Err(ToolError::failed_with(SERVICE_UNAVAILABLE, message))
    }

    /// Runs an operation if the circuit lets it through, and asks `fallback` for a value if there is none.
    ///
    /// The fallback gets every refusal and every error of the operation. Only the caller knows which errors are
    /// recoverable: return the error where it is not. A panic of the operation counts as a failure and propagates.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// use toolgen_runtime::layers::breaker::{CircuitBreaker, Trouble};
    /// use toolgen_runtime::ToolError;
    ///
    /// let breaker = CircuitBreaker::new();
    /// let price = breaker.run(
    ///     "prices",
    ///     async || Err(ToolError::failed_with("refused", "connection refused")),
    ///     async |trouble| match trouble {
    ///         Trouble::Refused(_) => Ok(41),
    ///         Trouble::Failed(error) if error.code() == "refused" => Ok(42),
    ///         Trouble::Failed(error) => Err(error),
    ///     },
    /// );
    /// assert_eq!(price.await, Ok(42));
    /// # });
    /// ```
    ///
    /// # Errors
    ///
    /// Those that `fallback` returns.
    pub async fn run<T>(
        &self,
        service: &str,
        operation: impl AsyncFnOnce() -> Result<T, ToolError>,
        fallback: impl AsyncFnOnce(GuardedError) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        let trouble = match self.admit(service) {
            Ok(permit) => match permit.watch(operation()).await {
                Ok(value) => return Ok(value),
                Err(error) => GuardedError::Failed(error),
            },
            Err(refusal) => GuardedError::Refused(refusal),
        };
        fallback(trouble).await
    }

    /// Runs an operation if the circuit lets it through.
    ///
    /// # Errors
    ///
    /// Those of [`admit`](Self::admit), and those of the operation.
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
        self.existing_service(service)
            .map_or(BreakerState::Closed, |known| unpoisoned(known.machine.lock()).state(&known.settings))
    }

    /// Returns whether a call of a service is worth trying: its circuit is not open.
    #[must_use]
    pub fn is_available(&self, service: &str) -> bool {
        self.state(service) != BreakerState::Open
    }

    /// Returns the statistics of a service. For a service that was never called, all counts are zero.
    #[must_use]
    pub fn stats(&self, service: &str) -> BreakerStats {
        match self.existing_service(service) {
            Some(known) => unpoisoned(known.machine.lock()).stats(known.settings),
            None => Machine::default().stats(self.settings),
        }
    }

    /// Returns the services that were called or have settings, sorted by name.
    #[must_use]
    pub fn services(&self) -> Vec<String> {
        unpoisoned(self.services.read()).keys().map(|name| name.to_string()).collect()
    }

    /// Closes the circuit of a service manually and restarts the counts. Running calls do not count.
    pub fn reset(&self, service: &str) {
        if let Some(known) = self.existing_service(service) {
            unpoisoned(known.machine.lock()).reset();
            known.publish_change(None);
        }
    }

    fn existing_service(&self, name: &str) -> Option<Arc<Service>> {
        unpoisoned(self.services.read()).get(name).cloned()
    }

    fn service(&self, name: &str) -> Arc<Service> {
        if let Some(known) = self.existing_service(name) {
            return known;
        }
        // Another call may have registered the service in between: then its entry counts.
        let mut services = unpoisoned(self.services.write());
        let entry = services.entry(name.into()).or_insert_with(|| Arc::new(self.made(name, self.settings)));
        Arc::clone(entry)
    }

    fn made(&self, name: &str, settings: BreakerSettings) -> Service {
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

    fn concerns(&self, spec: &ToolSpec) -> bool {
        !spec.service.is_empty()
    }

    fn around<'a>(&'a self, call: &'a Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let permit = self.admit(&call.spec().service)?;
            let outcome = next.run().await;
            // What kept the tool from starting says nothing about its service.
            if call.has_started() {
                permit.settle(&outcome);
            }
            outcome
        })
    }
}

impl Service {
    /// Notifies other processes that the circuit opened, for this long, or closed. No lock is held.
    fn publish_change(&self, open: Option<Duration>) {
        if let Some((shared, name)) = &self.shared {
            shared.changed(name, open);
        }
    }
}

/// Permission to call a service once, from [`CircuitBreaker::admit`].
#[derive(Debug)]
#[must_use = "the breaker learns from a permit how the call ended"]
pub struct Permit {
    service: Arc<Service>,
    generation: u64,
    settled: bool,
}

impl Permit {
    /// Reports that the service answered.
    pub fn success(mut self) {
        self.settled = true;
        let closed = unpoisoned(self.service.machine.lock()).succeeded(self.generation);
        if closed {
            self.service.publish_change(None);
        }
    }

    /// Reports that the service failed.
    pub fn failure(mut self) {
        self.settled = true;
        let opened = unpoisoned(self.service.machine.lock()).failed(self.generation, &self.service.settings);
        if opened {
            self.service.publish_change(Some(self.service.settings.reset));
        }
    }

    /// Reports the outcome of a tool: a failure if [`is_failure`] says so, a success if there is a result, and
    /// otherwise nothing, as if the permit were dropped.
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
        if !self.settled {
            unpoisoned(self.service.machine.lock()).released(self.generation);
        }
    }
}

/// The reason why the operation of [`CircuitBreaker::run`] has no value.
#[derive(Clone, Debug, PartialEq)]
pub enum GuardedError {
    /// The circuit is open or another call tries: the operation did not run.
    Refused(ToolError),
    /// The operation ran and failed.
    Failed(ToolError),
}

/// Returns whether the outcome of a tool indicates a failure of its service.
///
/// It does if the tool failed (including by a panic) or took too long, and if it contains an HTTP answer that blames
/// the server: a status of 500 and above, or 429. It does not if the arguments are wrong, the call was denied or
/// cancelled, or there is no such tool: then the service was not asked, or not to the end. Nor does it if the tool
/// answers that the request cannot be fulfilled (see [`ToolResult::is_error`]): that is an answer.
#[must_use]
pub fn is_failure(outcome: &Result<ToolResult, ToolError>) -> bool {
    match outcome {
        Ok(result) => {
            let details = &result.details;
            let refused = details.get("ok").and_then(Value::as_bool) == Some(false);
            let status = details.get("status").and_then(Value::as_u64);
            refused && status.is_some_and(|status| status == 429 || (500..600).contains(&status))
        }
        Err(error) => is_service_error(error),
    }
}

/// Like [`is_failure`], for an error.
fn is_service_error(error: &ToolError) -> bool {
    matches!(error, ToolError::Failed { .. } | ToolError::Timeout { .. })
}
