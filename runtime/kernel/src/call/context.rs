//! The context of a tool call.

mod token;

mod agent;
mod extensions;
mod input;
mod nested;
pub(crate) mod report;
mod request;
mod turn;

use std::fmt;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::base::exclusive_lock::Membership;
use crate::base::frozen::Text;
use crate::call::ToolCall;
use crate::call::context_values::ContextValues;
use crate::call::error::ToolError;
use crate::call::principal::Principal;
use crate::call::result::ToolResult;
use crate::call::services::Services;
use crate::call::session::Session;
use crate::call::span::{Attributes, CallSpan};
use crate::call::waiting::Caller;
use crate::schema::dialect::Dialect;

use extensions::Extensions;
pub(crate) use nested::CALLS_EXCEEDED;
pub use nested::DEFAULT_MAX_NESTED_CALLS;
use nested::NestedCalls;
pub(crate) use report::Ending;
#[doc(hidden)]
pub use request::ModelRequest;
use token::Link;
#[doc(hidden)]
pub use turn::TurnContext;
pub(crate) use turn::next_turn;

/// The maximum depth of tools that call other tools.
pub const MAX_DEPTH: u32 = 16;

/// Receives the partial result of a tool, for people who watch. A model never sees it.
pub type OnUpdate = Arc<dyn Fn(ToolResult) + Send + Sync>;

/// Receives a line of progress.
pub type OnProgress = Arc<dyn Fn(String) + Send + Sync>;

/// The context of one tool call: its identity, its cancellation, and the callbacks that receive its updates.
///
/// A [`Toolbox`](crate::Toolbox) derives it from the [`Turn`](crate::Turn) of the call, and with it the rights of the
/// call: its principal, agent, session, values, services, directories, hosts and time limit. A tool can narrow a copy
/// of it; the calls that the tool makes with the copy gain no rights from it.
///
/// ```
/// use toolgen_runtime::{ToolContext, tool};
///
/// /// Reports who called it.
/// #[tool(undocumented)]
/// fn caller(ctx: &ToolContext) -> String {
///     format!("{} by {}", ctx.tool_name, ctx.agent_id().unwrap_or("a model"))
/// }
/// ```
#[non_exhaustive]
pub struct ToolContext {
    /// The model's ID of the call.
    pub tool_call_id: Text,
    /// The name of the called tool.
    pub tool_name: Text,
    token: Link,
    /// `None` for the default settings.
    turn: Option<Arc<TurnContext>>,
    /// How many tool-to-tool calls are above this one.
    depth: u32,
    /// How many agents are above this one.
    agents: u32,
    /// The calls that this one has made; shared with its copies.
    made: OnceLock<Arc<NestedCalls>>,
    /// How many calls the tools below the outermost call have made. `None` for the outermost call.
    nested: Option<Arc<AtomicU32>>,
    /// The input that the tool requested.
    inputs: Option<Arc<[Value]>>,
    /// The membership of the call, or of its caller, in the lock of exclusive calls.
    seat: Option<Arc<Membership>>,
    extensions: Option<Extensions>,
    pub(super) span: Option<Arc<dyn CallSpan>>,
}

impl ToolContext {
    /// Creates the context of a turn or of a call, without settings.
    pub(crate) fn new(tool_call_id: impl AsRef<str>, tool_name: impl AsRef<str>) -> ToolContext {
        ToolContext {
            tool_call_id: Text::copy_of(tool_call_id.as_ref()),
            tool_name: Text::copy_of(tool_name.as_ref()),
            token: Link::default(),
            turn: None,
            depth: 0,
            agents: 0,
            made: OnceLock::new(),
            nested: None,
            inputs: None,
            seat: None,
            extensions: None,
            span: None,
        }
    }

    /// Also cancels the call when this token, or a parent of it, fires.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> ToolContext {
        let sealed = self.turn().peers.is_some();
        self.token = if sealed { self.token.and(cancel) } else { self.token.with(cancel) };
        self
    }

    /// Sets the callback that receives the tool's partial results.
    #[must_use]
    pub fn with_on_update(self, on_update: impl Fn(ToolResult) + Send + Sync + 'static) -> ToolContext {
        self.with(|around| around.on_update = Some(Arc::new(on_update)))
    }

    /// Sets the callback that receives lines of progress.
    #[must_use]
    pub fn with_on_progress(self, on_progress: impl Fn(String) + Send + Sync + 'static) -> ToolContext {
        self.with(|around| around.on_progress = Some(Arc::new(on_progress)))
    }

    /// Limits the time of the call. In the context of a toolbox's call, the shorter limit applies.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> ToolContext {
        self.with(|around| {
            let sealed = around.peers.as_ref().and(around.timeout);
            around.timeout = Some(sealed.map_or(timeout, |sealed| sealed.min(timeout)));
        })
    }

    /// The token that fires when the caller cancels or the time limit is reached. It also stops work that the call
    /// starts without awaiting it.
    #[must_use]
    pub fn cancel(&self) -> &CancellationToken {
        self.token.get()
    }

    /// Whether the caller cancelled or the time limit was reached.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// The maximum time that the caller allows. A tool's own timeout may be shorter, never longer.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.turn().timeout
    }

    /// The dialect of the arguments, in which the model saw the tool.
    #[must_use]
    pub fn dialect(&self) -> &'static Dialect {
        self.dialect_of(&self.tool_name)
    }

    /// The services that the program provides to its tools.
    #[must_use]
    pub fn services(&self) -> &Services {
        &self.turn().services
    }

    /// The service of type `T`, if there is one.
    #[must_use]
    pub fn service<T: Send + Sync + ?Sized + 'static>(&self) -> Option<Arc<T>> {
        self.turn().services.get()
    }

    /// The ID of the calling agent.
    #[must_use]
    pub fn agent_id(&self) -> Option<&str> {
        self.turn().agent_id.as_deref()
    }

    /// The session the call belongs to.
    #[must_use]
    pub fn session(&self) -> Option<&Session> {
        self.turn().session.as_ref()
    }

    /// The values known about the call, each with its source.
    #[must_use]
    pub fn values(&self) -> &ContextValues {
        &self.turn().values
    }

    /// The principal for whom the call is made.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.turn().principal.as_ref()
    }

    /// How many tool-to-tool calls are above this one: 0 for a call made by a model.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// How many agents are above this call: 0 for a call of the program's own agent, 1 for a call of a sub-agent.
    #[must_use]
    pub fn agent_depth(&self) -> u32 {
        self.agents
    }

    /// Calls another tool of the same toolbox, through every layer that a model's call passes. The ID of the new call
    /// is derived from this one: `{id}.1` and so on.
    ///
    /// # Errors
    ///
    /// Fails if this call did not come through a [`Toolbox`](crate::toolbox::Toolbox); with `CALL_ENDED` if it
    /// already has a result; with `DEPTH_EXCEEDED` if [`MAX_DEPTH`] calls are above it; with `CALLS_EXCEEDED` if the
    /// model's call already led to as many calls as
    /// [`max_nested_calls`](crate::toolbox::ToolboxBuilder::max_nested_calls) allows; and with the error of the other
    /// tool.
    pub async fn call(&self, name: &str, params: Value) -> Result<ToolResult, ToolError> {
        let Some(peers) = &self.turn().peers else {
            let text = "a tool can call other tools only if it was called through a toolbox";
            return Err(ToolError::failed_with("SERVICE_UNAVAILABLE", text));
        };
        if self.is_over() {
            let text = "the call has already ended: work that it left behind cannot call other tools";
            return Err(ToolError::failed_with("CALL_ENDED", text));
        }
        if self.depth >= MAX_DEPTH {
            let text = format!("tools cannot call each other more than {MAX_DEPTH} levels deep");
            return Err(ToolError::failed_with("DEPTH_EXCEEDED", text));
        }
        let made = self.made();
        let number = made.next(peers.nested_calls())?;
        let call = ToolCall::new(format!("{}.{number}", self.tool_call_id), name, params);
        let mut below = self.child(self.tool_call_id.clone(), self.tool_name.clone());
        (below.depth, below.nested) = (self.depth + 1, Some(made.nested()));
        Arc::clone(peers).call(call, &below).await.outcome
    }

    fn made(&self) -> &Arc<NestedCalls> {
        self.made.get_or_init(|| Arc::new(NestedCalls::new(self.nested.clone())))
    }

    /// The context of a call that this call makes. Cancelling this call cancels that one, but not the reverse.
    #[must_use]
    pub fn child(&self, tool_call_id: impl Into<Text>, tool_name: impl Into<Text>) -> ToolContext {
        self.child_of(self.turn.clone(), tool_call_id.into(), tool_name.into())
    }

    /// Like [`child`](Self::child), with its own settings.
    pub(crate) fn child_in(
        &self,
        turn: Arc<TurnContext>,
        tool_call_id: Text,
        tool_name: Text,
    ) -> ToolContext {
        self.child_of(Some(turn), tool_call_id, tool_name)
    }

    fn child_of(&self, turn: Option<Arc<TurnContext>>, tool_call_id: Text, tool_name: Text) -> ToolContext {
        let token = self.token.child();
        ToolContext {
            tool_call_id,
            tool_name,
            token,
            turn,
            depth: self.depth,
            agents: self.agents,
            made: OnceLock::new(),
            nested: self.nested.clone(),
            inputs: None,
            seat: self.seat.clone(),
            extensions: self.extensions.clone(),
            span: self.span.clone(),
        }
    }

    /// The token that ends the call when it fires: the caller's token, of which this call's own may be a child.
    pub(crate) fn caller_token(&self) -> &CancellationToken {
        self.token.caller()
    }

    pub(crate) fn seat(&self) -> Option<&Arc<Membership>> {
        self.seat.as_ref()
    }

    /// A copy of this context for a call with a membership in the lock of exclusive calls.
    pub(crate) fn seated(&self, seat: &Arc<Membership>) -> ToolContext {
        ToolContext { seat: Some(Arc::clone(seat)), ..self.clone() }
    }

    /// Stops everything that the call started, and nothing else.
    pub(crate) fn stop(&self) {
        self.token.stop();
    }

    /// Returns the caller of the call.
    pub(crate) fn called_by(&self) -> Caller {
        let session = self.session().filter(|session| !session.is_passing());
        Caller {
            principal: self.principal().map(|principal| principal.id.clone()),
            session_id: session.map(|session| Text::copy_of(session.id())),
            agent_id: self.agent_id().map(Text::copy_of),
        }
    }

    /// Sets the span of the call, for code within the call and for the calls that its tool makes.
    pub fn set_span(&mut self, span: Arc<dyn CallSpan>) {
        self.span = Some(span);
    }

    /// The span of the call, if a layer made one.
    #[must_use]
    pub fn span(&self) -> Option<&Arc<dyn CallSpan>> {
        self.span.as_ref()
    }

    /// Adds an event to the span of the call, if it has one.
    pub fn add_event(&self, name: &'static str, attributes: Attributes<'_>) {
        if let Some(span) = &self.span {
            span.event(name, attributes);
        }
    }

    /// The span of the call as a `traceparent`, if it has one.
    pub(crate) fn traceparent(&self) -> Option<Text> {
        self.span.as_ref()?.traceparent()
    }
}

impl Clone for ToolContext {
    fn clone(&self) -> Self {
        ToolContext {
            tool_call_id: self.tool_call_id.clone(),
            tool_name: self.tool_name.clone(),
            token: self.token.copy(),
            turn: self.turn.clone(),
            depth: self.depth,
            agents: self.agents,
            made: OnceLock::from(Arc::clone(self.made())),
            nested: self.nested.clone(),
            inputs: self.inputs.clone(),
            seat: self.seat.clone(),
            extensions: self.extensions.clone(),
            span: self.span.clone(),
        }
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Prints its text without quotes.
        struct Callback;
        impl fmt::Debug for Callback {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("<callback>")
            }
        }
        let around = self.turn();
        f.debug_struct("ToolContext")
            .field("tool_call_id", &self.tool_call_id)
            .field("tool_name", &self.tool_name)
            .field("cancelled", &self.is_cancelled())
            .field("on_update", &around.on_update.as_ref().map(|_| Callback))
            .field("on_progress", &around.on_progress.as_ref().map(|_| Callback))
            .field("timeout", &around.timeout)
            .field("dialect", &self.dialect().name)
            .field("services", &around.services)
            .field("agent_id", &around.agent_id)
            .field("session", &around.session.as_ref().map(Session::id))
            .field("values", &around.values)
            .field("principal", &around.principal.as_ref().map(|principal| &principal.id))
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
