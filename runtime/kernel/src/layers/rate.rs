//! Rate limits.
//!
//! The program that hosts the agent supplies the limit: it knows its customers and their plans, and it may share
//! counts between machines. [`WindowLimit`] is an implementation for a single process, or for all processes that share
//! a [store](WindowLimit::shared).
//!
//! A call counts for its [`Principal`]. A call without a principal counts for its agent (`agent:{id}`). Without an
//! agent, it counts for its session (`session:{id}`, unless that is the temporary session of a turn or a loop), and
//! otherwise for all such calls of the toolbox (`provider`). See `charged_principal`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::base::future::catch_panic_async;
use crate::base::sync::unpoisoned;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::principal::Principal;
use crate::call::store::{OnFailure, Store, StoreError, WINDOW_PARTS as PARTS};
use crate::layers::layer::{Invocation, Layer, Stage};
use crate::spec::ToolSpec;

/// Decides whether a principal, or the substitute that a call [counts for](charged_principal), may call a tool now, and
/// counts the call if so.
///
/// A function `Fn(&Principal, &ToolSpec) -> bool` is also a rate limit.
pub trait RateLimit: Send + Sync {
    /// Returns whether the call may proceed. Called once per call, after the check of the principal's scopes and
    /// before the checks of the tool's dependencies.
    fn allow<'a>(&'a self, principal: &'a Principal, spec: &'a ToolSpec) -> BoxFuture<'a, bool>;

    /// Like [`allow`](Self::allow), for limits that may be unable to decide. A toolbox calls this method; by default
    /// it uses the result of `allow`.
    ///
    /// # Errors
    ///
    /// Returns the reason why the call must not proceed: usually `exceeded`.
    fn ask<'a>(
        &'a self,
        principal: &'a Principal,
        spec: &'a ToolSpec,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        let allowed = self.allow(principal, spec);
        Box::pin(async move { to_result(allowed.await, spec) })
    }
}

fn to_result(is_allowed: bool, spec: &ToolSpec) -> Result<(), ToolError> {
    if is_allowed { Ok(()) } else { Err(exceeded(spec.name.as_str())) }
}

impl<F: Fn(&Principal, &ToolSpec) -> bool + Send + Sync> RateLimit for F {
    fn allow<'a>(&'a self, principal: &'a Principal, spec: &'a ToolSpec) -> BoxFuture<'a, bool> {
        Box::pin(async move { self(principal, spec) })
    }

    fn ask<'a>(
        &'a self,
        principal: &'a Principal,
        spec: &'a ToolSpec,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move { to_result(self(principal, spec), spec) })
    }
}

/// Returns the principal that a call counts for.
#[doc(hidden)]
#[must_use]
pub fn charged_principal(ctx: &ToolContext) -> Cow<'_, Principal> {
    if let Some(principal) = ctx.principal() {
        return Cow::Borrowed(principal);
    }
    let session = ctx.session().filter(|session| !session.is_passing());
    let id = match (ctx.agent_id(), session) {
        (Some(agent), _) => format!("agent:{agent}").into(),
        (None, Some(session)) => format!("session:{}", session.id()).into(),
        (None, None) => Text::Static("provider"),
    };
    Cow::Owned(Principal::new(id))
}

/// Timeout of a rate limit's decision: 5 seconds.
pub const RATE_LIMIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Asks a rate limit about a call.
///
/// # Errors
///
/// Returns the error of the limit, which is `exceeded` unless the limit returns its own error. Also [`exceeded`] if
/// the limit panics or does not decide within [`RATE_LIMIT_TIMEOUT`]: a call that cannot be counted does not run.
/// [`ToolError::Cancelled`] if the caller cancels in the meantime.
#[doc(hidden)]
pub async fn check(
    limit: &dyn RateLimit,
    principal: &Principal,
    spec: &ToolSpec,
    ctx: &ToolContext,
) -> Result<(), ToolError> {
    // Called inside a future, so that a panic of `ask` itself is also caught.
    let decision = catch_panic_async(async { limit.ask(principal, spec).await });
    let decision = tokio::time::timeout(RATE_LIMIT_TIMEOUT, decision);
    match ctx.caller_token().run_until_cancelled(decision).await {
        None => Err(ToolError::Cancelled),
        Some(Ok(Some(response))) => response,
        Some(Ok(None) | Err(_)) => Err(exceeded(spec.name.as_str())),
    }
}

/// The layer of a rate limit.
pub(crate) struct RateLimitLayer(pub(crate) Arc<dyn RateLimit>);

impl Layer for RateLimitLayer {
    fn stage(&self) -> Stage {
        Stage::Admit
    }

    fn is_single(&self) -> bool {
        true
    }

    fn before<'a>(&'a self, call: &'a Invocation<'a>) -> Option<BoxFuture<'a, Result<(), ToolError>>> {
        Some(Box::pin(async {
            check(&*self.0, &charged_principal(call.ctx()), call.spec(), call.ctx()).await
        }))
    }
}

/// Returns `Rate limit exceeded: API key cannot execute tool '{tool}' right now`, with the code `RATE_LIMITED`.
#[doc(hidden)]
#[must_use]
pub fn exceeded(tool: &str) -> ToolError {
    let text = format!("Rate limit exceeded: API key cannot execute tool '{tool}' right now");
    ToolError::failed_with("RATE_LIMITED", text)
}

/// The code of the error of a call that could not be counted because the store of the counts cannot be reached.
pub const RATE_LIMIT_UNKNOWN: &str = "RATE_LIMIT_UNKNOWN";

/// The table of the counters.
const TABLE: &str = "rate";

/// A rate limit for one process, or for all processes that share a [store](Self::shared). It allows a maximum number
/// of calls in any time window of a given length, per principal in total and per principal and tool. Refused calls do
/// not count.
///
/// The limits hold for every window of that length, not only for full minutes. Time is counted in 64ths of the window,
/// so a call may count for a 64th longer.
///
/// Memory use does not grow with the number of calls: for each principal there are 64 counts per tool that it calls,
/// and the number of principals is limited. Idle principals are removed; when active principals use the whole
/// capacity, further principals are refused.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use toolgen_runtime::layers::rate::{RateLimit, WindowLimit};
/// use toolgen_runtime::{Principal, ToolSpec};
///
/// let limit = WindowLimit::new().with_per_tool(2);
/// let (caller, spec) = (Principal::new("key-7"), ToolSpec::EMPTY);
/// assert!(limit.allow(&caller, &spec).await && limit.allow(&caller, &spec).await);
/// assert!(!limit.allow(&caller, &spec).await);
/// # }
/// ```
pub struct WindowLimit {
    window: Duration,
    per_tool: u32,
    per_principal: u32,
    principals: usize,
    start: Instant,
    counts: Mutex<Counts>,
    shared: Option<Arc<dyn Store>>,
    on_failure: OnFailure,
}

#[derive(Default)]
struct Counts {
    callers: BTreeMap<Text, Caller>,
    /// The part in which idle callers were last removed.
    last_sweep: u64,
}

/// The counts of a principal's calls in the window.
#[derive(Default)]
struct Caller {
    /// The counts by part and tool.
    parts: BTreeMap<(u64, Text), u32>,
    /// The sums over the window.
    tools: BTreeMap<Text, u32>,
    total: u32,
}

impl Default for WindowLimit {
    fn default() -> WindowLimit {
        WindowLimit::new()
    }
}

impl WindowLimit {
    /// Creates a limit of 60 calls per tool and 100 calls in total within 60 seconds, for up to 10,000 principals.
    #[must_use]
    pub fn new() -> WindowLimit {
        WindowLimit {
            window: Duration::from_secs(60),
            per_tool: 60,
            per_principal: 100,
            principals: 10_000,
            start: Instant::now(),
            counts: Mutex::default(),
            shared: None,
            on_failure: OnFailure::Refuse,
        }
    }

    /// Sets the length of the window.
    #[must_use]
    pub fn with_window(mut self, window: Duration) -> WindowLimit {
        self.window = window;
        self
    }

    /// Sets the maximum number of calls of one tool per principal.
    #[must_use]
    pub fn with_per_tool(mut self, calls: u32) -> WindowLimit {
        self.per_tool = calls;
        self
    }

    /// Sets the maximum number of calls per principal in total, unless it has its own [`quota`](Principal::quota).
    #[must_use]
    pub fn with_per_principal(mut self, calls: u32) -> WindowLimit {
        self.per_principal = calls;
        self
    }

    /// Sets the maximum number of principals for which calls are counted.
    #[must_use]
    pub fn with_principals(mut self, principals: usize) -> WindowLimit {
        self.principals = principals;
        self
    }

    /// Counts calls in a store, for all processes of a deployment.
    ///
    /// A call costs one request, which counts and decides in one step. So the limits are exact, regardless of the
    /// number of processes. Limits with windows of another length have separate counts. The number of principals is
    /// limited only by the capacity of the store.
    #[must_use]
    pub fn shared(mut self, store: impl Store + 'static) -> WindowLimit {
        self.shared = Some(Arc::new(store));
        self
    }

    /// Sets what happens to calls while the [store](Self::shared) cannot be reached. By default they are refused
    /// ([`OnFailure::Refuse`]) with the code [`RATE_LIMIT_UNKNOWN`]. With [`OnFailure::Degrade`] each process counts
    /// its own calls, from zero, so together `n` processes allow up to `n` times the limit.
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> WindowLimit {
        self.on_failure = on_failure;
        self
    }

    /// Counts a call in the store.
    async fn count(&self, store: &dyn Store, principal: &Principal, tool: &str) -> Result<bool, StoreError> {
        let max = principal.quota.unwrap_or(self.per_principal);
        if max == 0 || self.per_tool == 0 {
            return Ok(false);
        }
        // A principal may have any ID, and the name of a tool contains no slash.
        let suffix = format!("{}/{}", self.window.as_micros(), principal.id);
        let (total_key, tool_key) = (format!("all/{suffix}"), format!("tool/{tool}/{suffix}"));
        store.count(TABLE, &[(&tool_key, self.per_tool), (&total_key, max)], self.window).await
    }

    /// Returns whether a call may proceed now according to the counts of this process alone, and counts it if so.
    pub fn admit(&self, principal: &Principal, tool: &Text) -> bool {
        let part_length = (self.window.as_nanos() / u128::from(PARTS)).max(1);
        let part = u64::try_from(self.start.elapsed().as_nanos() / part_length).unwrap_or(u64::MAX);
        let limit = principal.quota.unwrap_or(self.per_principal);
        if limit == 0 || self.per_tool == 0 {
            return false;
        }
        let mut counts = unpoisoned(self.counts.lock());
        counts.sweep(part, self.principals);
        let Counts { callers, .. } = &mut *counts;
        if !callers.contains_key(&principal.id) && callers.len() >= self.principals {
            return false;
        }
        let caller = callers.entry(principal.id.clone()).or_default();
        caller.expire(part);
        let tool_calls = caller.tools.get(tool).copied().unwrap_or(0);
        let is_allowed = caller.total < limit && tool_calls < self.per_tool;
        if is_allowed {
            caller.count(part, tool);
        }
        is_allowed
    }
}

impl Counts {
    /// Removes principals without calls in the window: once per window, and in every part while the capacity is
    /// exhausted.
    fn sweep(&mut self, part: u64, capacity: usize) {
        let elapsed = part.saturating_sub(self.last_sweep);
        if elapsed > PARTS || (elapsed > 0 && self.callers.len() >= capacity) {
            self.last_sweep = part;
            self.callers.retain(|_, caller| {
                caller.expire(part);
                caller.total > 0
            });
        }
    }
}

impl Caller {
    fn expire(&mut self, part: u64) {
        while let Some(oldest) = self.parts.first_entry() {
            if oldest.key().0.saturating_add(PARTS) >= part {
                return;
            }
            let ((_, tool), calls) = oldest.remove_entry();
            self.total = self.total.saturating_sub(calls);
            let remaining = self.tools.get(&tool).map_or(0, |sum| sum.saturating_sub(calls));
            if remaining == 0 {
                self.tools.remove(&tool);
            } else {
                self.tools.insert(tool, remaining);
            }
        }
    }

    fn count(&mut self, part: u64, tool: &Text) {
        *self.parts.entry((part, tool.clone())).or_default() += 1;
        *self.tools.entry(tool.clone()).or_default() += 1;
        self.total += 1;
    }
}

impl RateLimit for WindowLimit {
    fn allow<'a>(&'a self, principal: &'a Principal, spec: &'a ToolSpec) -> BoxFuture<'a, bool> {
        let decision = self.ask(principal, spec);
        Box::pin(async move { decision.await.is_ok() })
    }

    fn ask<'a>(
        &'a self,
        principal: &'a Principal,
        spec: &'a ToolSpec,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        let Some(store) = &self.shared else {
            return Box::pin(std::future::ready(to_result(
                self.admit(principal, &spec.name.to_text()),
                spec,
            )));
        };
        Box::pin(async move {
            match (self.count(store, principal, spec.name.as_str()).await, self.on_failure) {
                (Ok(is_allowed), _) => to_result(is_allowed, spec),
                (Err(_), OnFailure::Degrade) => to_result(self.admit(principal, &spec.name.to_text()), spec),
                (Err(reason), OnFailure::Refuse) => {
                    let text = format!(
                        "The call was not executed: the rate limit of '{}' could not be checked, because the \
                         state that counts calls cannot be reached. Try again in a moment.",
                        spec.name
                    );
                    let error = ToolError::failed_with(RATE_LIMIT_UNKNOWN, text);
                    Err(error.with_operator_detail(reason.to_string()))
                }
            }
        })
    }
}

impl fmt::Debug for WindowLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowLimit")
            .field("window", &self.window)
            .field("per_tool", &self.per_tool)
            .field("per_principal", &self.per_principal)
            .field("principals", &self.principals)
            .field("shared", &self.shared)
            .field("on_failure", &self.on_failure)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
