//! The scopes in which failures are counted.

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
pub(crate) struct Repeats {
    limit: Option<NonZeroU32>,
    local: Arc<RepeatGuard>,
    /// The store that shares the counts with other processes.
    shared: Option<Failures>,
}

/// The guard of a session, as a type that tools cannot name.
struct OfSession(Arc<RepeatGuard>);

/// Counts the failures of one principal and agent in one session. Different callers do not share a count.
struct Guard<'a> {
    rows: Arc<RepeatGuard>,
    principal: Option<&'a str>,
    agent: Option<&'a str>,
    shared: Option<&'a Failures>,
    ctx: &'a ToolContext,
}

/// A call whose failures are counted.
struct Counted {
    here: CallKey,
    /// Its key in the store, if it is counted there.
    there: Option<String>,
    /// Its failures in the store.
    failed: FailedCall,
}

impl Repeats {
    pub(crate) fn new(limit: Option<NonZeroU32>) -> Repeats {
        Repeats { limit, local: Arc::new(guard(limit)), shared: None }
    }

    /// Sets the limit, and resets all counts.
    pub(crate) fn set_limit(&mut self, limit: Option<NonZeroU32>) {
        (self.limit, self.local) = (limit, Arc::new(guard(limit)));
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
        let known = principal.is_some() || agent.is_some();
        // A model repeats itself across turns: a session of one turn is too short to detect that.
        let rows = match ctx.session().filter(|session| !(known && session.is_of_turn())) {
            Some(session) => Arc::clone(&session.state_or(|| OfSession(Arc::new(guard(self.limit)))).0),
            None if known => Arc::clone(&self.local),
            None => return None,
        };
        // Another process cannot continue a session that ends with a loop of this process.
        let is_elsewhere = known || ctx.session().is_some_and(|session| !session.is_passing());
        let shared = self.shared.as_ref().filter(|_| is_elsewhere);
        Some(Guard { rows, principal, agent, shared, ctx })
    }
}

impl<'a> Guard<'a> {
    /// Returns whether no call failed recently, so that no call is refused, regardless of its arguments.
    fn remembers_nothing(&self) -> bool {
        self.shared.is_none() && self.rows.remembers_nothing()
    }

    fn counted(&self, tool: &str, params: &Value) -> Counted {
        let here = self.rows.key_of((self.principal, self.agent), tool, params);
        // A digest of a secret with few possible values would reveal it.
        let is_secret = || self.ctx.secrets().is_some_and(|secrets| !secrets.is_empty());
        let there = self.shared.filter(|_| !is_secret()).map(|_| {
            let session = self.ctx.session().filter(|session| !session.is_passing()).map(Session::id);
            let params = if params.is_null() { &json!({}) } else { params };
            digest(&json!([self.principal, self.agent, session, tool, params]))
        });
        Counted { here, there, failed: FailedCall::default() }
    }

    /// Refuses a call that failed too many times, across all processes.
    async fn check_there(&self, tool: &str, counted: &mut Counted) -> Result<(), ToolError> {
        let (Some(shared), Some(call)) = (self.shared, &counted.there) else { return Ok(()) };
        // If the store cannot be reached, the counts of this process apply.
        let Ok(failed) = shared.of(call).await else { return Ok(()) };
        if failed.count >= self.rows.limit.get() {
            return Err(refusal(tool, failed.count, &failed.shown));
        }
        counted.failed = failed;
        Ok(())
    }

    /// Records the outcome of a call, unless the call was refused or abandoned, which is not the fault of the tool.
    /// Returns a future that publishes the outcome to other processes, if there is anything to publish.
    fn note(self, counted: Counted, outcome: &Outcome) -> Option<BoxFuture<'a, ()>> {
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
        self.rows.record_key(counted.here, error.as_deref());
        let (Some(shared), Some(call)) = (self.shared, counted.there) else { return None };
        let (failed, is_news) = (counted.failed, error.is_some());
        let is_news = is_news || failed.count > 0;
        let memory = self.rows.memory.unwrap_or(FOREVER);
        is_news.then(|| -> BoxFuture<'a, ()> {
            Box::pin(async move {
                // The call has run: if the store cannot be reached, this process still counts it.
                let _ = match error {
                    Some(error) => shared.failed(&call, failed, &error, memory).await,
                    None => shared.succeeded(&call).await,
                };
            })
        })
    }
}

impl Layer for Repeats {
    fn stage(&self) -> Stage {
        Stage::Arguments
    }

    fn is_single(&self) -> bool {
        true
    }

    fn concerns(&self, _: &ToolSpec) -> bool {
        self.limit.is_some()
    }

    fn reads_arguments(&self, call: &Invocation<'_>) -> bool {
        self.guard(call.ctx()).is_some_and(|guard| !guard.remembers_nothing())
    }

    fn before<'a>(&'a self, call: &'a Invocation<'a>) -> Option<BoxFuture<'a, Result<(), ToolError>>> {
        let (arguments, guard) = (call.arguments()?, self.guard(call.ctx())?);
        if guard.remembers_nothing() {
            return None;
        }
        let mut counted = guard.counted(call.name(), arguments);
        if let Err(error) = guard.rows.check_key(call.name(), counted.here) {
            return Some(Box::pin(ready(Err(error))));
        }
        if counted.there.is_none() {
            call.keep(self, counted);
            return None;
        }
        Some(Box::pin(async move {
            guard.check_there(call.name(), &mut counted).await?;
            call.keep(self, counted);
            Ok(())
        }))
    }

    fn after<'a>(&'a self, call: &'a Invocation<'a>, outcome: &'a mut Outcome) -> Option<BoxFuture<'a, ()>> {
        let counted = call.take::<Counted>(self);
        if counted.is_none() && succeeded(outcome) {
            return None;
        }
        let guard = self.guard(call.ctx())?;
        let counted = counted.or_else(|| {
            // No failure was recorded when the call began, so its arguments were not read.
            let sent = parsed(call.sent().clone()).ok()?;
            Some(guard.counted(call.name(), &read(call.spec(), &sent).unwrap_or(sent)))
        });
        guard.note(counted?, outcome)
    }
}

impl Default for Repeats {
    fn default() -> Self {
        Repeats::new(NonZeroU32::new(3))
    }
}

fn guard(limit: Option<NonZeroU32>) -> RepeatGuard {
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
