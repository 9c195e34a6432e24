//! A turn of a model: what all its calls share.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::base::frozen::Text;
use crate::call::Dialects;
use crate::call::context::ToolContext;
use crate::call::context_values::ContextValues;
use crate::call::principal::Principal;
use crate::call::result::ToolResult;
use crate::call::session::Session;
use crate::spec::Network;

/// What the calls of one turn of a model share: the caller, the session, the cancellation, the services of the turn,
/// and the callbacks that receive updates. A program passes it to a [`Toolbox`](crate::Toolbox), which derives the
/// [`ToolContext`] of each call from it.
///
/// ```
/// use toolgen_runtime::{CancellationToken, Session, Turn};
///
/// let cancel = CancellationToken::new();
/// let turn = Turn::new("turn-1").with_session(Session::new("chat-7")).with_cancel(cancel.clone());
/// cancel.cancel();
/// assert!(turn.is_cancelled());
/// ```
#[derive(Clone, Debug)]
pub struct Turn(pub(crate) ToolContext);

/// A turn that cannot be cancelled, of no caller, in no session.
impl Default for Turn {
    fn default() -> Turn {
        Turn::new("turn")
    }
}

/// The turn of calls that a tool makes through a toolbox of its own, or with typed arguments: they have the rights and
/// the depth of its own call, and end when it ends.
impl From<&ToolContext> for Turn {
    fn from(ctx: &ToolContext) -> Turn {
        Turn(ctx.clone())
    }
}

impl From<&Turn> for Turn {
    fn from(turn: &Turn) -> Turn {
        turn.clone()
    }
}

impl Turn {
    /// Creates a turn that cannot be cancelled and reports nowhere. The ID is any name.
    pub fn new(id: impl AsRef<str>) -> Turn {
        Turn(ToolContext::new(id, ""))
    }

    /// The context of a call that you make without a toolbox, as a test does.
    pub fn call_context(&self, tool_call_id: impl AsRef<str>, tool_name: impl AsRef<str>) -> ToolContext {
        self.0.child(Text::copy_of(tool_call_id.as_ref()), Text::copy_of(tool_name.as_ref()))
    }

    /// The context from which those of the calls are derived.
    #[doc(hidden)]
    #[must_use]
    pub fn base(&self) -> &ToolContext {
        &self.0
    }

    #[doc(hidden)]
    pub fn base_mut(&mut self) -> &mut ToolContext {
        &mut self.0
    }

    /// Cancels the calls of the turn when this token, or a parent of it, fires.
    #[must_use]
    pub fn with_cancel(self, cancel: CancellationToken) -> Turn {
        Turn(self.0.with_cancel(cancel))
    }

    /// Sets the callback that receives partial results of tools.
    #[must_use]
    pub fn with_on_update(self, on_update: impl Fn(ToolResult) + Send + Sync + 'static) -> Turn {
        Turn(self.0.with_on_update(on_update))
    }

    /// Sets the callback that receives lines of progress.
    #[must_use]
    pub fn with_on_progress(self, on_progress: impl Fn(String) + Send + Sync + 'static) -> Turn {
        Turn(self.0.with_on_progress(on_progress))
    }

    /// Limits the time of each call. A tool's own timeout may be shorter, never longer.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Turn {
        Turn(self.0.with_timeout(timeout))
    }

    /// Restricts the hosts that the calls may connect to, in addition to other restrictions.
    #[must_use]
    pub fn with_allowed_hosts(self, hosts: &Network) -> Turn {
        Turn(self.0.with_allowed_hosts(hosts))
    }

    /// Sets the dialect in which the model saw the tools and wrote the arguments: one for all tools, or one for each
    /// tool (`ToolPlan::dialects`).
    #[must_use]
    pub fn with_dialect(self, dialects: impl Into<Dialects>) -> Turn {
        Turn(self.0.with(|turn| turn.dialects = Some(dialects.into())))
    }

    /// Provides a service to the tools, replacing any other of the same type.
    #[must_use]
    pub fn with_service<T: Send + Sync + ?Sized + 'static>(self, service: Arc<T>) -> Turn {
        Turn(self.0.with(|turn| turn.services = std::mem::take(&mut turn.services).with(service)))
    }

    /// Sets the ID of the calling agent.
    #[must_use]
    pub fn with_agent_id(self, agent_id: impl Into<String>) -> Turn {
        let agent_id = Text::from(agent_id.into());
        Turn(self.0.with(|turn| turn.agent_id = Some(agent_id)))
    }

    /// Sets the session in which the calls are made. Without a session, the calls have no history.
    #[must_use]
    pub fn with_session(self, session: Session) -> Turn {
        Turn(self.0.with(|turn| turn.session = Some(session)))
    }

    /// Sets the values known about the calls, each with its source.
    #[must_use]
    pub fn with_values(self, values: ContextValues) -> Turn {
        Turn(self.0.with(|turn| turn.values = values))
    }

    /// Sets the principal for whom the calls are made; they are then limited to what the principal may do.
    #[must_use]
    pub fn with_principal(self, principal: Principal) -> Turn {
        Turn(self.0.with(|turn| turn.principal = Some(principal)))
    }

    /// Adds a named directory to which paths can be restricted.
    #[must_use]
    pub fn with_root(self, name: impl Into<String>, directory: impl Into<PathBuf>) -> Turn {
        let (name, directory) = (name.into(), directory.into());
        Turn(self.0.with(|turn| turn.roots.insert(name, directory)))
    }

    /// The ID of the turn.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.tool_call_id
    }

    /// The token that fires when the turn is cancelled.
    #[must_use]
    pub fn cancel(&self) -> &CancellationToken {
        self.0.cancel()
    }

    /// Whether the turn was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }

    /// The ID of the calling agent.
    #[must_use]
    pub fn agent_id(&self) -> Option<&str> {
        self.0.agent_id()
    }

    /// The session in which the calls are made.
    #[must_use]
    pub fn session(&self) -> Option<&Session> {
        self.0.session()
    }

    /// The principal for whom the calls are made.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.0.principal()
    }
}
