//! What surrounds a call of a tool.

mod token;

#[cfg(feature = "agent")]
mod agent;
mod input;
mod report;

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::base::frozen::Text;
use crate::call::ToolCall;
use crate::call::error::ToolError;
use crate::call::peers::Peers;
use crate::call::principal::Principal;
use crate::call::result::ToolResult;
use crate::call::roots::Roots;
use crate::call::services::Services;
use crate::call::session::Session;
use crate::call::values::ContextValues;
use crate::schema::dialect::{Dialect, JSON_SCHEMA};
use crate::spec::Network;

pub(crate) use report::Ending;
use token::Link;

/// How many calls of tools by tools may be above a call.
pub const MAX_DEPTH: u32 = 16;

/// Takes what a tool has so far, for people who watch; a model never sees it.
pub type OnUpdate = Arc<dyn Fn(ToolResult) + Send + Sync>;

/// Takes a line of progress.
pub type OnProgress = Arc<dyn Fn(String) + Send + Sync>;

/// What surrounds a call of a tool: who it is, how it is stopped and whom it keeps informed.
///
/// ```
/// use toolgen_runtime::ToolContext;
///
/// let ctx = ToolContext::new("call-1", "add").with_on_progress(|line| drop(line));
/// assert_eq!(ctx.tool_name, "add");
/// ```
#[non_exhaustive]
pub struct ToolContext {
    /// The model's name for the call.
    pub tool_call_id: Text,
    /// The tool that is called.
    pub tool_name: Text,
    token: Link,
    /// None: [`NOTHING`].
    surroundings: Option<Arc<Surroundings>>,
    /// How many calls of tools by tools are above this one.
    depth: u32,
    /// How many agents are above this one.
    agents: u32,
    /// How many calls this one has made; shared with its copies.
    made: OnceLock<Arc<AtomicU32>>,
    /// What was answered to what the tool asked for.
    inputs: Option<Arc<[Value]>>,
}

/// What the calls of a turn share.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) on_update: Option<OnUpdate>,
    pub(crate) on_progress: Option<OnProgress>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) dialect: &'static Dialect,
    pub(crate) services: Services,
    pub(crate) roots: Roots,
    pub(crate) hosts: Network,
    pub(crate) agent_id: Option<Text>,
    pub(crate) session: Option<Session>,
    pub(crate) values: ContextValues,
    pub(crate) principal: Option<Principal>,
    pub(crate) peers: Option<Arc<dyn Peers>>,
}

/// Where most contexts begin.
static NOTHING: LazyLock<Arc<Surroundings>> = LazyLock::new(|| {
    Arc::new(Surroundings {
        on_update: None,
        on_progress: None,
        timeout: None,
        dialect: &JSON_SCHEMA,
        services: Services::default(),
        roots: Roots::default(),
        hosts: Network::Any,
        agent_id: None,
        session: None,
        values: ContextValues::default(),
        principal: None,
        peers: None,
    })
});

impl ToolContext {
    /// A call that nobody can stop and nobody watches.
    pub fn new(tool_call_id: impl AsRef<str>, tool_name: impl AsRef<str>) -> ToolContext {
        ToolContext {
            tool_call_id: Text::copy_of(tool_call_id.as_ref()),
            tool_name: Text::copy_of(tool_name.as_ref()),
            token: Link::default(),
            surroundings: None,
            depth: 0,
            agents: 0,
            made: OnceLock::new(),
            inputs: None,
        }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Surroundings)) -> ToolContext {
        change(Arc::make_mut(self.surroundings.get_or_insert_with(|| Arc::clone(&NOTHING))));
        self
    }

    pub(crate) fn surroundings(&self) -> &Arc<Surroundings> {
        self.surroundings.as_ref().unwrap_or(&NOTHING)
    }

    /// Stops the call when this token, or one it is a child of, fires.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> ToolContext {
        self.token = Link::from(cancel);
        self
    }

    /// Hands over what the tool has so far.
    #[must_use]
    pub fn with_on_update(self, on_update: impl Fn(ToolResult) + Send + Sync + 'static) -> ToolContext {
        self.with(|around| around.on_update = Some(Arc::new(on_update)))
    }

    /// Hands over lines of progress.
    #[must_use]
    pub fn with_on_progress(self, on_progress: impl Fn(String) + Send + Sync + 'static) -> ToolContext {
        self.with(|around| around.on_progress = Some(Arc::new(on_progress)))
    }

    /// Grants at most this much time.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> ToolContext {
        self.with(|around| around.timeout = Some(timeout))
    }

    /// Says which provider's model wrote the arguments.
    #[must_use]
    pub fn with_dialect(self, dialect: &'static Dialect) -> ToolContext {
        self.with(|around| around.dialect = dialect)
    }

    /// Lends a service, which takes the place of one of the same type.
    #[must_use]
    pub fn with_service<T: Send + Sync + ?Sized + 'static>(self, service: Arc<T>) -> ToolContext {
        self.with(|around| around.services = std::mem::take(&mut around.services).with(service))
    }

    /// Says which agent calls.
    #[must_use]
    pub fn with_agent_id(self, agent_id: impl Into<String>) -> ToolContext {
        let agent_id = Text::from(agent_id.into());
        self.with(|around| around.agent_id = Some(agent_id))
    }

    /// Says in which session the call is made. Without one, nothing was called before.
    #[must_use]
    pub fn with_session(self, session: Session) -> ToolContext {
        self.with(|around| around.session = Some(session))
    }

    /// Says what is known of the call, and from whom.
    #[must_use]
    pub fn with_values(self, values: ContextValues) -> ToolContext {
        self.with(|around| around.values = values)
    }

    /// Says for whom the call is made; what they may do then limits it.
    #[must_use]
    pub fn with_principal(self, principal: Principal) -> ToolContext {
        self.with(|around| around.principal = Some(principal))
    }

    /// Fires when the caller gives up, and when time is up. What a call starts and does not wait for stops by it.
    #[must_use]
    pub fn cancel(&self) -> &CancellationToken {
        self.token.get()
    }

    /// The caller gave up, or time is up.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    /// The most time the caller grants. A tool's own timeout may be shorter, never longer.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.surroundings().timeout
    }

    /// The dialect the arguments come in: that of the provider whose model wrote them.
    #[must_use]
    pub fn dialect(&self) -> &'static Dialect {
        self.surroundings().dialect
    }

    /// What the program lends its tools.
    #[must_use]
    pub fn services(&self) -> &Services {
        &self.surroundings().services
    }

    /// The service of a type.
    #[must_use]
    pub fn service<T: Send + Sync + ?Sized + 'static>(&self) -> Option<Arc<T>> {
        self.surroundings().services.get()
    }

    /// The agent that calls.
    #[must_use]
    pub fn agent_id(&self) -> Option<&str> {
        self.surroundings().agent_id.as_deref()
    }

    /// The session the call belongs to.
    #[must_use]
    pub fn session(&self) -> Option<&Session> {
        self.surroundings().session.as_ref()
    }

    /// What is known of the call, and from whom.
    #[must_use]
    pub fn values(&self) -> &ContextValues {
        &self.surroundings().values
    }

    /// For whom the call is made.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.surroundings().principal.as_ref()
    }

    /// How many calls of tools by tools are above this one: none for a call of a model.
    #[must_use]
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// How many agents are above this call: none for a call of the program's own agent, one for a call of a sub-agent.
    #[must_use]
    pub fn agent_depth(&self) -> u32 {
        self.agents
    }

    /// Calls another tool of the same provider, with all that a call of a model passes through. The call is named
    /// after this one, `{id}.1` and so on.
    ///
    /// # Errors
    ///
    /// If this call did not come through a [`Provider`](crate::provider::Provider), `CALL_ENDED` if it is answered
    /// already, if [`MAX_DEPTH`] calls are above it, or whatever comes of the call.
    pub async fn call(&self, name: &str, params: Value) -> Result<ToolResult, ToolError> {
        let Some(peers) = &self.surroundings().peers else {
            let text = "a tool can call others only where it was called through a provider";
            return Err(ToolError::failed_with("service_unavailable", text));
        };
        if self.is_over() {
            let text = "the call is answered already: what it left behind can call no other tools";
            return Err(ToolError::failed_with("CALL_ENDED", text));
        }
        if self.depth >= MAX_DEPTH {
            let text = format!("tools may not call each other more than {MAX_DEPTH} deep");
            return Err(ToolError::failed_with("DEPTH_EXCEEDED", text));
        }
        let number = self.made.get_or_init(Arc::default).fetch_add(1, Ordering::Relaxed) + 1;
        let call = ToolCall::new(format!("{}.{number}", self.tool_call_id), name, params);
        let mut below = self.child(self.tool_call_id.clone(), self.tool_name.clone());
        below.depth = self.depth + 1;
        Arc::clone(peers).call(call, &below).await.outcome
    }

    /// The context of a call that this call makes: stopped with it, not the other way round.
    #[must_use]
    pub fn child(&self, tool_call_id: impl Into<Text>, tool_name: impl Into<Text>) -> ToolContext {
        self.child_of(self.surroundings.clone(), tool_call_id.into(), tool_name.into())
    }

    /// As [`child`](Self::child), in surroundings of its own.
    pub(crate) fn child_in(
        &self,
        surroundings: Arc<Surroundings>,
        tool_call_id: Text,
        tool_name: Text,
    ) -> ToolContext {
        self.child_of(Some(surroundings), tool_call_id, tool_name)
    }

    fn child_of(
        &self,
        surroundings: Option<Arc<Surroundings>>,
        tool_call_id: Text,
        tool_name: Text,
    ) -> ToolContext {
        let token = self.token.child();
        ToolContext {
            tool_call_id,
            tool_name,
            token,
            surroundings,
            depth: self.depth,
            agents: self.agents,
            made: OnceLock::new(),
            inputs: None,
        }
    }

    /// The token whose firing ends the call: the caller's, which this call's own may be a child of.
    pub(crate) fn caller_token(&self) -> &CancellationToken {
        self.token.caller()
    }

    /// Tells whatever the call started, and only that, to stop.
    pub(crate) fn stop(&self) {
        self.token.stop();
    }
}

impl Clone for ToolContext {
    fn clone(&self) -> Self {
        ToolContext {
            tool_call_id: self.tool_call_id.clone(),
            tool_name: self.tool_name.clone(),
            token: self.token.copy(),
            surroundings: self.surroundings.clone(),
            depth: self.depth,
            agents: self.agents,
            made: OnceLock::from(Arc::clone(self.made.get_or_init(Arc::default))),
            inputs: self.inputs.clone(),
        }
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// Prints as itself, without quotes.
        struct Callback;
        impl fmt::Debug for Callback {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("<callback>")
            }
        }
        let around = self.surroundings();
        f.debug_struct("ToolContext")
            .field("tool_call_id", &self.tool_call_id)
            .field("tool_name", &self.tool_name)
            .field("cancelled", &self.is_cancelled())
            .field("on_update", &around.on_update.as_ref().map(|_| Callback))
            .field("on_progress", &around.on_progress.as_ref().map(|_| Callback))
            .field("timeout", &around.timeout)
            .field("dialect", &around.dialect.name)
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
