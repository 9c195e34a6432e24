//! Approval of calls: sealed requests, the record of requests that were used, and the queue in which calls wait.
//!
//! A waiting call is [data](crate::layers::middleware::ApprovalRequest) that a program can store and pass to
//! [`Toolbox::resume`](crate::Toolbox::resume) later. With a queue, the program does not have to store it: the toolbox
//! adds the call to the queue, people decide about it from any process, and any worker runs it, once. [`Approvals`]
//! documents the states.
//!
//! ```
//! use serde_json::json;
//! use toolgen_runtime::call::store::MemoryStore;
//! use toolgen_runtime::layers::approval::Approvals;
//! use toolgen_runtime::layers::middleware::{MiddlewareDecision, ToolRequest};
//! use toolgen_runtime::{Toolbox, Registry, ToolCall, Turn, tool, toolset};
//!
//! # /// Pays a person.
//! # #[tool(undocumented)]
//! # fn pay(to: &str) -> String { format!("paid {to}") }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let approvals = Approvals::on(MemoryStore::new()); // across processes: `SqliteStore`, and an `approval_key`
//! let toolbox = Toolbox::builder(&Registry::new(toolset![pay])?)
//!     .middleware(|_: &ToolRequest<'_>| MiddlewareDecision::NeedApproval("It costs money.".to_owned()))
//!     .approval_queue(approvals.clone())
//!     .build()?;
//! let turn = Turn::new("turn-1");
//! toolbox.run(ToolCall::new("call-1", "pay", json!({"to": "Ada"})), &turn).await; // it waits
//!
//! // A person decides,
//! for entry in approvals.list(&[toolgen_runtime::layers::approval::ApprovalState::Waiting]).await? {
//!     assert_eq!((entry.tool.as_str(), &entry.redacted_arguments), ("pay", &json!({"to": "Ada"})));
//!     approvals.grant(&entry.id, "Grace", "").await?;
//! }
//! // and a worker runs it, for the same caller.
//! for entry in approvals.decided().await? {
//!     let response = toolbox.resume_decided(&entry.id, &turn).await?;
//!     assert_eq!(response.expect("no other worker has it").text(), "paid Ada");
//! }
//! # Ok(())
//! # }
//! ```

mod approvals;
mod entry;
mod error;
mod rows;
mod state;
mod used_names;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::base::frozen::Text;
use crate::call::ToolCall;
use crate::call::approval::ApprovalRequest;
use crate::call::callback;
use crate::call::callee::Callee;
use crate::call::context::ToolContext;
use crate::call::digest::{SealKey, fingerprint, promise};
use crate::call::error::ToolError;
use crate::call::resumption::{APPROVAL, Ticket, WaitingRequest};
use crate::call::store::MemoryStore;
use crate::call::tool::AgentTool;
use crate::call::waiting::{WaitingCall, millis_of};
use crate::registry::Registry;
use crate::spec::ToolSpec;

pub(crate) use approvals::Claimed;
pub use approvals::{Approvals, DEFAULT_CLAIM_EXPIRY};
pub use entry::QueuedApproval;
pub use error::ApprovalError;
pub use state::{ApprovalClaim, ApprovalDecision, ApprovalOutcome, ApprovalState};
use used_names::UsedNames;

/// Default time that a call waits for approval or for input: 24 hours.
pub const DEFAULT_APPROVAL_EXPIRY: Duration = Duration::from_secs(24 * 60 * 60);

/// Time that a queue still shows a call after the call expired: 30 days.
pub const APPROVAL_RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Time that a store remembers a used name after its request expired. Allows for differences between clocks.
const CLOCK_SKEW: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns whether an error code means that a waiting call must not be resumed. Such an error does not count against
/// the tool.
pub(crate) fn is_refusal(code: &str) -> bool {
    let reason = code.strip_prefix("APPROVAL_").or_else(|| code.strip_prefix("INPUT_REQUEST_"));
    matches!(reason, Some("INVALID" | "EXPIRED" | "USED" | "UNKNOWN" | "NOT_QUEUED" | "NOT_SHOWN"))
}

fn refusal(prefix: &str, code: &str, reason: impl fmt::Display) -> ToolError {
    ToolError::failed_with(format!("{prefix}_{code}"), format!("The call was not executed: {reason}"))
}

/// Returns the error for a call that needs an approval but cannot be shown in full to an approver.
pub(crate) fn not_shown_error(reason: &str) -> ToolError {
    let reason =
        format!("it needs an approval, and {reason}, so it cannot be shown in full. Request less per call.");
    refusal(APPROVAL, "NOT_SHOWN", reason)
}

fn expired_error(prefix: &str) -> ToolError {
    refusal(prefix, "EXPIRED", "it has waited too long. Call the tool again.")
}

fn unknown_use_error(prefix: &str) -> ToolError {
    refusal(prefix, "UNKNOWN", "it is unknown whether it was resumed before.")
}

fn ensure_unexpired(prefix: &str, expires_at: SystemTime) -> Result<(), ToolError> {
    if expires_at <= SystemTime::now() { Err(expired_error(prefix)) } else { Ok(()) }
}

/// Returns the tools that a tool calls directly or indirectly, each once. The tools of a sub-agent are private to it,
/// so their specifications come from the sub-agent alone.
fn reachable_tools<'a>(
    tool: &'a dyn AgentTool,
    registry: &'a Registry,
) -> BTreeMap<&'a str, (&'a ToolSpec, Option<&'a dyn AgentTool>)> {
    let mut reachable = BTreeMap::new();
    let mut pending = vec![tool];
    while let Some(tool) = pending.pop() {
        for callee in tool.called_tools().into_iter().filter_map(|name| registry.get(name)) {
            if reachable.insert(callee.name(), (callee.spec(), Some(&**callee))).is_none() {
                pending.push(&**callee);
            }
        }
        for spec in tool.own_tools() {
            reachable.entry(spec.name.as_str()).or_insert((spec, None));
        }
    }
    reachable
}

/// Returns the tools that a tool may call, as an approver of its calls sees them.
pub(crate) fn callees(tool: &dyn AgentTool, registry: &Registry) -> Vec<Callee> {
    let callee = |(spec, _): &(&ToolSpec, _)| Callee::new(spec.name.to_text(), spec.effects.clone());
    reachable_tools(tool, registry).values().map(callee).collect()
}

/// Returns the contract of a tool, together with those of the tools that it may call.
fn contract_digest(tool: &dyn AgentTool, registry: &Registry) -> String {
    reachable_tools(tool, registry).into_values().fold(promise(tool), |digest, (spec, callee)| {
        let contract = callee.map_or_else(|| format!("{}{:?}", spec.name, spec.effects), promise);
        fingerprint(&format!("{digest}{contract}"))
    })
}

/// The key, the expiry and the store of sealed requests of waiting calls.
#[derive(Clone)]
pub(crate) struct Seals {
    /// Generated on first use, unless the program sets it.
    key: Arc<OnceLock<SealKey>>,
    pub(crate) expiry: Duration,
    /// The store of used names. If it is a queue, calls wait in it.
    approvals: Approvals,
    is_queue: bool,
    /// The names that this process knows to be used, regardless of what the store returns later.
    used_names: Arc<UsedNames>,
    /// The length of the configured key, if it is too short.
    short_key: Option<usize>,
}

/// Minimum length of a key, in bytes, for it to be unguessable.
const MIN_KEY_BYTES: usize = 32;

impl Default for Seals {
    fn default() -> Seals {
        Seals {
            key: Arc::default(),
            expiry: DEFAULT_APPROVAL_EXPIRY,
            approvals: Approvals::on(MemoryStore::new()),
            is_queue: false,
            used_names: Arc::default(),
            short_key: None,
        }
    }
}

impl Seals {
    pub(crate) fn set_key(&mut self, secret: &[u8]) {
        self.key = Arc::new(OnceLock::from(SealKey::new(secret)));
        self.short_key = Some(secret.len()).filter(|length| *length < MIN_KEY_BYTES);
    }

    /// Returns the length of the configured key, if it is too short.
    pub(crate) fn short_key(&self) -> Option<usize> {
        self.short_key
    }

    pub(crate) fn set_store(&mut self, approvals: Approvals) {
        (self.approvals, self.is_queue) = (approvals, false);
    }

    pub(crate) fn set_queue(&mut self, approvals: Approvals) {
        (self.approvals, self.is_queue) = (approvals, true);
    }

    pub(crate) fn queue(&self) -> Option<&Approvals> {
        Some(&self.approvals).filter(|_| self.is_queue)
    }

    fn key(&self) -> Result<&SealKey, ToolError> {
        if let Some(key) = self.key.get() {
            return Ok(key);
        }
        let generated = SealKey::random()?;
        Ok(self.key.get_or_init(|| generated))
    }

    /// Returns when a call that starts to wait now expires, in whole milliseconds.
    fn expires_at(&self) -> SystemTime {
        /// Maximum expiry: longer than any real one, and short enough that the time can be represented.
        const MAX_EXPIRY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        let now = SystemTime::now();
        let end = now.checked_add(self.expiry.min(MAX_EXPIRY)).unwrap_or(now);
        UNIX_EPOCH.checked_add(Duration::from_millis(millis_of(end))).unwrap_or(end)
    }

    /// Returns a call that starts to wait now, not sealed yet.
    pub(crate) fn waiting(
        &self,
        call: &ToolCall,
        name: Text,
        arguments: Value,
        inputs: Vec<Value>,
        ctx: &ToolContext,
    ) -> WaitingCall {
        WaitingCall {
            id: call.id.clone(),
            name,
            via: call.via.clone(),
            program: call.program.clone(),
            arguments,
            approved: call.brings().approved.clone(),
            expires_at: self.expires_at(),
            caller: ctx.called_by(),
            inputs,
            traceparent: ctx.traceparent(),
            seal: Text::EMPTY,
        }
    }

    /// Seals a waiting call for its tool, as registered.
    pub(crate) fn seal(
        &self,
        waited: WaitingRequest,
        tool: &dyn AgentTool,
        registry: &Registry,
    ) -> Result<WaitingRequest, ToolError> {
        let seal = self.key()?.seal(&waited.sealed(&contract_digest(tool, registry)))?;
        Ok(waited.sealed_with(seal))
    }

    /// Rejects a resumed call whose request does not match it.
    pub(crate) fn verify(
        &self,
        call: &ToolCall,
        tool: &dyn AgentTool,
        registry: &Registry,
        ctx: &ToolContext,
    ) -> Result<(), ToolError> {
        let Some(waited) = &call.brings().waited else { return Ok(()) };
        let prefix = waited.prefix();
        let invalid = |reason: String| Err(refusal(prefix, "INVALID", reason));
        let WaitingCall { seal, caller: called_by, expires_at, .. } = waited.call();
        if !self.key()?.holds(seal, &waited.sealed(&contract_digest(tool, registry))) {
            let reason = "its request, the tool, or a tool that it calls was changed, or a toolbox with another \
                       `approval_key` made the request.";
            return invalid(reason.into());
        }
        if let Some(field) = called_by.difference(&ctx.called_by()) {
            return invalid(format!("its request is for another {field}."));
        }
        ensure_unexpired(prefix, *expires_at)
    }

    /// Ensures that no request that this call resumes was resumed before, and that none can be resumed again.
    pub(crate) async fn spend(&self, tickets: &[Ticket], limit: Duration) -> Result<(), ToolError> {
        for ticket in tickets {
            let Ticket { prefix, expires_at, .. } = ticket;
            // Middleware may have taken time since the request was verified.
            ensure_unexpired(prefix, *expires_at)?;
            match callback::with_timeout(Some(limit), self.consume(ticket)).await {
                // The name may have been taken before and deleted from the store because it expired.
                Ok(Ok(())) => ensure_unexpired(prefix, *expires_at)?,
                Ok(Err(ApprovalError::Queue(detail))) => {
                    return Err(unknown_use_error(prefix).with_operator_detail(detail.to_string()));
                }
                Ok(Err(ApprovalError::Expired)) => return Err(expired_error(prefix)),
                Ok(Err(ApprovalError::Taken)) => {
                    return Err(refusal(prefix, "USED", "its request was resumed before, and runs once."));
                }
                Ok(Err(error)) => return Err(refusal(prefix, "USED", error)),
                Err(_) => return Err(unknown_use_error(prefix)),
            }
        }
        Ok(())
    }

    /// Ensures that no request that this call resumes runs later, because it was declined.
    pub(crate) async fn use_up(&self, tickets: &[Ticket], limit: Duration) -> Result<(), ToolError> {
        for ticket in tickets {
            let Ticket { name, prefix, expires_at, .. } = ticket;
            let is_used = self.used_names.contains(name);
            self.used_names.take(name, *expires_at);
            // If the store does not respond, the call at least does not run here.
            let response = callback::with_timeout(Some(limit), self.approvals.take(name, *expires_at)).await;
            if is_used || matches!(response, Ok(Ok(false))) {
                return Err(refusal(prefix, "USED", "its request was resumed before, and runs once."));
            }
        }
        Ok(())
    }

    /// Remembers that requests are used.
    pub(crate) fn remember_used(&self, tickets: &[Ticket]) {
        for ticket in tickets {
            self.used_names.take(&ticket.name, ticket.expires_at);
        }
    }

    async fn consume(&self, ticket: &Ticket) -> Result<(), ApprovalError> {
        if self.used_names.contains(&ticket.name) {
            return Err(ApprovalError::Taken);
        }
        self.take_stored(ticket).await?;
        self.used_names.take(&ticket.name, ticket.expires_at);
        Ok(())
    }

    async fn take_stored(&self, ticket: &Ticket) -> Result<(), ApprovalError> {
        if let Some(queue) = self.queue().filter(|_| ticket.prefix == APPROVAL) {
            // This comes before the name is taken, so that a reader of the queue sees which calls may have run.
            queue.start(ticket).await?;
        }
        let is_taken =
            self.approvals.take(&ticket.name, ticket.expires_at).await.map_err(ApprovalError::Queue)?;
        if is_taken { Ok(()) } else { Err(ApprovalError::Taken) }
    }

    /// Adds a waiting call to the queue, if there is one. A call made by a tool or a sub-agent does not wait in the
    /// queue: by the time it could run, its caller already has a result and may have continued without it.
    pub(crate) async fn put(
        &self,
        request: &ApprovalRequest,
        ctx: &ToolContext,
        limit: Duration,
    ) -> Result<(), ToolError> {
        let Some(queue) = self.queue().filter(|_| ctx.depth() == 0 && ctx.agent_depth() == 0) else {
            return Ok(());
        };
        // If this does not complete, the row may exist anyway, or be added later.
        let reason = match callback::with_timeout(Some(limit), queue.put(request)).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "the approval queue did not respond in time".to_owned(),
        };
        queue.spawn_call_off(request);
        let text =
            "it needs an approval, and could not be added to the approval queue. Call the tool again later.";
        Err(refusal(APPROVAL, "NOT_QUEUED", text).with_operator_detail(reason))
    }
}
