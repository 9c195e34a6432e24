//! The settings that the calls of a turn share, and which of them a tool cannot change.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use super::{OnProgress, OnUpdate, ToolContext};
use crate::base::frozen::Text;
use crate::call::Dialects;
use crate::call::context_values::ContextValues;
use crate::call::peers::Peers;
use crate::call::principal::Principal;
use crate::call::roots::Roots;
use crate::call::services::Services;
use crate::call::session::Session;
use crate::schema::dialect::{Dialect, JSON_SCHEMA};
use crate::spec::Network;

/// The settings that the calls of a turn share.
#[doc(hidden)]
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "for the crates of the workspace alone")]
pub struct TurnContext {
    pub(crate) on_update: Option<OnUpdate>,
    pub(crate) on_progress: Option<OnProgress>,
    pub(crate) timeout: Option<Duration>,
    /// The dialects of the arguments. `None` if not set.
    #[doc(hidden)]
    pub dialects: Option<Dialects>,
    pub(crate) services: Services,
    pub(crate) roots: Roots,
    pub(crate) hosts: Network,
    pub(crate) agent_id: Option<Text>,
    pub(crate) session: Option<Session>,
    pub(crate) values: ContextValues,
    pub(crate) principal: Option<Principal>,
    pub(crate) peers: Option<Arc<dyn Peers>>,
    /// The number of the turn among the recorded turns of the program, from 1; 0 if it is not recorded.
    #[doc(hidden)]
    pub turn: u64,
    /// The settings that the toolbox derived for the call, if this is a copy that was changed since. Calls that the
    /// tool makes get their rights from these settings.
    pub(crate) derived: Option<Arc<TurnContext>>,
}

/// The default settings, with which most contexts start.
static NOTHING: LazyLock<Arc<TurnContext>> = LazyLock::new(|| {
    Arc::new(TurnContext {
        on_update: None,
        on_progress: None,
        timeout: None,
        dialects: None,
        services: Services::default(),
        roots: Roots::default(),
        hosts: Network::Any,
        agent_id: None,
        session: None,
        values: ContextValues::default(),
        principal: None,
        peers: None,
        turn: 0,
        derived: None,
    })
});

/// Returns the number of a new turn.
pub(crate) fn next_turn() -> u64 {
    static MADE: AtomicU64 = AtomicU64::new(0);
    MADE.fetch_add(1, Ordering::Relaxed) + 1
}

impl ToolContext {
    /// Changes the settings of this copy. If a toolbox derived the old settings, the copy also remembers them.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut TurnContext)) -> ToolContext {
        let turn = self.turn.get_or_insert_with(|| Arc::clone(&NOTHING));
        let sealed = (turn.peers.is_some() && turn.derived.is_none()).then(|| Arc::clone(turn));
        let turn = Arc::make_mut(turn);
        if sealed.is_some() {
            turn.derived = sealed;
        }
        change(turn);
        self
    }

    #[doc(hidden)]
    pub fn turn(&self) -> &Arc<TurnContext> {
        self.turn.as_ref().unwrap_or(&NOTHING)
    }

    /// The dialect in which the model saw the tool of this name; JSON Schema if not set.
    #[doc(hidden)]
    pub fn dialect_of(&self, tool: &str) -> &'static Dialect {
        self.turn().dialects.as_ref().map_or(&JSON_SCHEMA, |dialects| dialects.of(tool))
    }

    /// The settings with which this call may call others: those that a toolbox derived, regardless of what a tool has
    /// set on its copy since, except for settings that restrict the call further or give no rights.
    pub(crate) fn rights(&self) -> Cow<'_, Arc<TurnContext>> {
        let turn = self.turn();
        let Some(derived) = &turn.derived else { return Cow::Borrowed(turn) };
        Cow::Owned(Arc::new(TurnContext {
            on_update: turn.on_update.clone(),
            on_progress: turn.on_progress.clone(),
            timeout: turn.timeout,
            dialects: turn.dialects.clone(),
            hosts: turn.hosts.clone(),
            ..TurnContext::clone(derived)
        }))
    }
}
