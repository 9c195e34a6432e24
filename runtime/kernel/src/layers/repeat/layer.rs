//! The layer that counts failures, and the scopes in which it counts them.

use std::future::ready;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::shared::{FailedCall, Failures};
use super::{CallKey, RepeatGuard, refusal};
use crate::base::canonical::digest;
use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::session::Session;
use crate::call::store::Store;
use crate::call::tool::{parsed, read};
use crate::layers::approval::is_refusal;
use crate::layers::breaker::SERVICE_UNAVAILABLE;
use crate::layers::layer::{Invocation, Layer, Outcome, Stage};
use crate::spec::ToolSpec;

/// How long a store remembers failures if this process never forgets them.
const FOREVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The guards of a toolbox: one per session, and one for calls without a session that have a principal or an agent.
#[derive(Clone)]
pub(crate) struct RepeatLayer {
    limit: Option<NonZeroU32>,
    local: Arc<RepeatGuard>,
    /// The store that shares the counts with other processes.
    shared: Option<Failures>,
}

/// The guard of a session, as a type that tools cannot name.
struct SessionGuard(Arc<RepeatGuard>);

/// The guard for one principal and agent in one session. Different callers do not share a count.
struct Guard<'a> {
    guard: Arc<RepeatGuard>,
    principal: Option<&'a str>,
    agent: Option<&'a str>,
    shared: Option<&'a Failures>,
    ctx: &'a ToolContext,
}

/// A call whose failures are counted.
struct CountedCall {
    local_key: CallKey,
    /// The key of the call in the store, if it is counted there.
    shared_key: Option<String>,
    /// The failures of the call in the store.
    failures: FailedCall,
}

impl RepeatLayer {
    pub(crate) fn new(limit: Option<NonZeroU32>) -> RepeatLayer {
        RepeatLayer { limit, local: Arc::new(new_guard(limit)), shared: None }
    }

    /// Sets the limit, and resets all counts.
    pub(crate) fn set_limit(&mut self, limit: Option<NonZeroU32>) {
        (self.limit, self.local) = (limit, Arc::new(new_guard(limit)));
    }

    /// Sets the store that shares the counts with other processes.
    pub(crate) fn share(&mut self, store: Arc<dyn Store>) {
        self.shared = Some(Failures(store));
    }

    /// Returns the guard that counts failures of a call. `None` if nothing is counted, because counting is disabled,
    /// or because no principal, agent or session groups the calls.
    fn guard<'a>(&'a self, ctx: &'a ToolContext) -> Option<Guard<'a>> {
        self.limit?;
        let (principal, agent) = (ctx.principal().map(|principal| principal.id.as_str()), ctx.agent_id());
        let has_owner = principal.is_some() || agent.is_some();
        // A model repeats calls across turns, so a session of one turn is too short to detect them.
        let guard = match ctx.session().filter(|session| !(has_owner && session.is_of_turn())) {
            Some(session) => {
                Arc::clone(&session.state_or(|| SessionGuard(Arc::new(new_guard(self.limit)))).0)
            }
            None if has_owner => Arc::clone(&self.local),
            None => return None,
        };
        // Another process cannot continue a session that ends with a loop of this process.
        let may_continue_elsewhere = has_owner || ctx.session().is_some_and(|session| !session.is_passing());
        let shared = self.shared.as_ref().filter(|_| may_continue_elsewhere);
        Some(Guard { guard, principal, agent, shared, ctx })
    }
}

impl<'a> Guard<'a> {
    /// Returns whether no call failed recently, so that no call is refused, regardless of its arguments.
    fn has_no_failures(&self) -> bool {
        self.shared.is_none() && self.guard.has_no_failures()
    }

    fn counted_call(&self, tool: &str, params: &Value) -> CountedCall {
        let local_key = self.guard.key_of((self.principal, self.agent), tool, params);
        // A digest of a secret with few possible values would reveal the secret.
        let is_secret = || self.ctx.secrets().is_some_and(|secrets| !secrets.is_empty());
        let shared_key = self.shared.filter(|_| !is_secret()).map(|_| {
            let session = self.ctx.session().filter(|session| !session.is_passing()).map(Session::id);
            let params = if params.is_null() { &json!({}) } else { params };
            digest(&json!([self.principal, self.agent, session, tool, params]))
        });
        CountedCall { local_key, shared_key, failures: FailedCall::default() }
    }

    /// Refuses a call that failed too many times, across all processes.
    async fn check_shared(&self, tool: &str, counted: &mut CountedCall) -> Result<(), ToolError> {
        let (Some(shared), Some(call)) = (self.shared, &counted.shared_key) else { return Ok(()) };
        // If the store cannot be reached, the counts of this process apply.
        let Ok(failures) = shared.get(call).await else { return Ok(()) };
        if failures.count >= self.guard.limit.get() {
            return Err(refusal(tool, failures.count, &failures.error_summary));
        }
        counted.failures = failures;
        Ok(())
    }

    /// Records the outcome of a call, unless the call was refused or abandoned, because the tool did not cause that.
    /// Returns a future that publishes the outcome to other processes, if there is anything to publish.
    fn record(self, counted: CountedCall, outcome: &Outcome) -> Option<BoxFuture<'a, ()>> {
        let mut error = match outcome {
            Ok(result) => result.is_error().then(|| result.to_text()),
            Err(ToolError::Failed { code, .. }) if code == SERVICE_UNAVAILABLE || is_refusal(code) => {
                return None;
            }
            Err(
                reason @ (ToolError::Failed { .. }
                | ToolError::InvalidArgs { .. }
                | ToolError::Timeout { .. }),
            ) => Some(reason.to_string()),
            Err(_) => return None,
        };
        // After the message is cut, the remainder of a secret could no longer be recognized.
        if let (Some(error), Some(secrets)) = (&mut error, self.ctx.secrets()) {
            secrets.hide_in_text(error);
        }
        self.guard.record_key(counted.local_key, error.as_deref());
        let (Some(shared), Some(call)) = (self.shared, counted.shared_key) else { return None };
        let (failures, must_publish) = (counted.failures, error.is_some());
        let must_publish = must_publish || failures.count > 0;
        let memory = self.guard.memory.unwrap_or(FOREVER);
        must_publish.then(|| -> BoxFuture<'a, ()> {
            Box::pin(async move {
                // The call has run: if the store cannot be reached, this process still counts it.
                let _ = match error {
                    Some(error) => shared.record_failure(&call, failures, &error, memory).await,
                    None => shared.record_success(&call).await,
                };
            })
        })
    }
}

impl Layer for RepeatLayer {
    fn stage(&self) -> Stage {
        Stage::Arguments
    }

    fn is_single(&self) -> bool {
        true
    }

    fn applies_to(&self, _: &ToolSpec) -> bool {
        self.limit.is_some()
    }

    fn reads_arguments(&self, call: &Invocation<'_>) -> bool {
        self.guard(call.ctx()).is_some_and(|guard| !guard.has_no_failures())
    }

    fn before<'a>(&'a self, call: &'a Invocation<'a>) -> Option<BoxFuture<'a, Result<(), ToolError>>> {
        let (arguments, guard) = (call.arguments()?, self.guard(call.ctx())?);
        if guard.has_no_failures() {
            return None;
        }
        let mut counted = guard.counted_call(call.name(), arguments);
        if let Err(error) = guard.guard.check_key(call.name(), counted.local_key) {
            return Some(Box::pin(ready(Err(error))));
        }
        if counted.shared_key.is_none() {
            call.keep(self, counted);
            return None;
        }
        Some(Box::pin(async move {
            guard.check_shared(call.name(), &mut counted).await?;
            call.keep(self, counted);
            Ok(())
        }))
    }

    fn after<'a>(&'a self, call: &'a Invocation<'a>, outcome: &'a mut Outcome) -> Option<BoxFuture<'a, ()>> {
        let counted = call.take::<CountedCall>(self);
        if counted.is_none() && succeeded(outcome) {
            return None;
        }
        let guard = self.guard(call.ctx())?;
        let counted = counted.or_else(|| {
            // No failure was recorded when the call began, so its arguments have not been read.
            let sent = parsed(call.sent().clone()).ok()?;
            Some(guard.counted_call(call.name(), &read(call.spec(), &sent).unwrap_or(sent)))
        });
        guard.record(counted?, outcome)
    }
}

impl Default for RepeatLayer {
    fn default() -> Self {
        RepeatLayer::new(NonZeroU32::new(3))
    }
}

fn new_guard(limit: Option<NonZeroU32>) -> RepeatGuard {
    let guard = RepeatGuard::new();
    match limit {
        None => guard,
        Some(limit) => guard.with_limit(limit),
    }
}

/// Returns whether a call succeeded, so that it does not count as a failure.
fn succeeded(outcome: &Outcome) -> bool {
    outcome.as_ref().is_ok_and(|result| !result.is_error())
}
