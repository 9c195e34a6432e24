//! The scopes in which failures are counted.

use std::num::NonZeroU32;
use std::sync::Arc;

use serde_json::Value;

use super::{CallKey, RepeatGuard};
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::layers::approval::is_refusal;
use crate::layers::breaker::SERVICE_UNAVAILABLE;

/// The guards of a provider: one per session, and one for calls that have none but are known by principal or agent.
#[derive(Clone)]
pub(crate) struct Repeats {
    limit: Option<NonZeroU32>,
    own: Arc<RepeatGuard>,
}

/// The guard of a session, as a type that tools cannot name.
struct OfSession(Arc<RepeatGuard>);

/// Counts the failures of one principal and agent in one session. Nobody shares a count with strangers.
pub(crate) struct Guard<'a> {
    rows: Arc<RepeatGuard>,
    principal: Option<&'a str>,
    agent: Option<&'a str>,
    ctx: &'a ToolContext,
}

impl Repeats {
    pub(crate) fn new(limit: Option<NonZeroU32>) -> Repeats {
        Repeats { limit, own: Arc::new(guard(limit)) }
    }

    /// Returns the guard that counts failures of a call. `None`: nothing is counted, because that is not wanted, or
    /// because nothing says which calls belong together.
    pub(crate) fn guard<'a>(&self, ctx: &'a ToolContext) -> Option<Guard<'a>> {
        self.limit?;
        let (principal, agent) = (ctx.principal().map(|principal| principal.id.as_str()), ctx.agent_id());
        let known = principal.is_some() || agent.is_some();
        // A model repeats itself turn after turn: a session of one turn is too short to notice.
        let rows = match ctx.session().filter(|session| !(known && session.is_of_turn())) {
            Some(session) => Arc::clone(&session.state_or(|| OfSession(Arc::new(guard(self.limit)))).0),
            None if known => Arc::clone(&self.own),
            None => return None,
        };
        Some(Guard { rows, principal, agent, ctx })
    }
}

impl Guard<'_> {
    /// Returns whether no call failed recently, so that none is refused, whatever its arguments.
    pub(crate) fn remembers_nothing(&self) -> bool {
        self.rows.remembers_nothing()
    }

    pub(crate) fn key(&self, tool: &str, params: &Value) -> CallKey {
        self.rows.key_of((self.principal, self.agent), tool, params)
    }

    /// As [`RepeatGuard::check`].
    pub(crate) fn check(&self, tool: &str, key: CallKey) -> Result<(), ToolError> {
        self.rows.check_key(tool, key)
    }

    /// Notes how a call ended, unless it was refused or abandoned: then the tool is not to blame.
    pub(crate) fn note(&self, key: CallKey, outcome: &Result<ToolResult, ToolError>) {
        let mut error = match outcome {
            Ok(result) => result.is_error().then(|| result.to_text()),
            Err(ToolError::Failed { code, .. }) if code == SERVICE_UNAVAILABLE || is_refusal(code) => return,
            Err(
                why @ (ToolError::Failed { .. } | ToolError::InvalidArgs { .. } | ToolError::Timeout { .. }),
            ) => Some(why.to_string()),
            Err(_) => return,
        };
        // Later, when it is cut, nothing would recognise what is left of a secret.
        if let (Some(error), Some(secrets)) = (&mut error, self.ctx.secrets()) {
            secrets.hide_in_text(error);
        }
        self.rows.record_key(key, error.as_deref());
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

/// Returns whether a call succeeded, so that nothing counts against it.
pub(crate) fn succeeded(outcome: &Result<ToolResult, ToolError>) -> bool {
    outcome.as_ref().is_ok_and(|result| !result.is_error())
}
