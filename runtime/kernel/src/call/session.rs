//! Sessions: state and call history that outlive a call.

use std::any::{Any, TypeId, type_name};
use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use crate::base::frozen::Text;
use crate::base::sync::unpoisoned;

mod shared;
mod store;

pub use shared::SESSION_UNKNOWN;
pub use store::{Sessions, SessionsLimits};

use shared::Shared;

/// A conversation with tools: state that tools keep between calls, and the history of successful calls.
///
/// Clones are the same session. A program sets the session of a conversation with
/// [`Turn::with_session`](crate::Turn::with_session). There is no default session that callers share.
/// If none is set, `run_loop` creates a session that ends with the loop, [`dispatch`](crate::Toolbox::dispatch) one
/// that ends with the turn, and a single [`call`](crate::Toolbox::call) has none.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use toolgen_runtime::call::session::Session;
///
/// let session = Session::new("s-1");
/// session.state::<AtomicU32>().fetch_add(1, Ordering::Relaxed);
/// assert_eq!(session.state::<AtomicU32>().load(Ordering::Relaxed), 1);
///
/// session.record_success("session_start");
/// assert!(session.has_called("session_start"));
/// ```
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    id: Text,
    limits: SessionLimits,
    span: Span,
    state: Mutex<BTreeMap<TypeId, StateEntry>>,
    values: Mutex<BTreeMap<String, Value>>,
    /// The time of each tool's last success, sorted by tool name.
    history: Mutex<Vec<(Text, Instant)>>,
    /// The state that other processes see, if they share the session.
    shared: Option<Shared>,
}

/// The lifetime of a session.
#[derive(Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only for the crates of the workspace")]
pub enum Span {
    /// Until the program drops it.
    Kept,
    /// One loop; no caller returns to it.
    Loop,
    /// One turn; no caller returns to it.
    Turn,
}

/// The name of a type, and an `Arc` of its value.
type StateEntry = (&'static str, Arc<dyn Any + Send + Sync>);

/// The limits of a session's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    /// How long a successful call is remembered. Default: 24 hours.
    pub history_ttl: Duration,
    /// Maximum number of tools whose last success is remembered. If it is exceeded, the oldest is forgotten. Default:
    /// 1024.
    pub history_tools: usize,
}

impl SessionLimits {
    /// The default limits: 24 hours and 1024 tools.
    pub const DEFAULT: SessionLimits =
        SessionLimits { history_ttl: Duration::from_secs(24 * 60 * 60), history_tools: 1024 };
}

impl Default for SessionLimits {
    fn default() -> Self {
        SessionLimits::DEFAULT
    }
}

/// Returns an ID with this prefix that is unique across all runs of the program.
fn unique_id(prefix: &str) -> Text {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    static RUN_ID: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one("run"));
    format!("{prefix}-{:016x}-{}", *RUN_ID, COUNT.fetch_add(1, Ordering::Relaxed) + 1).into()
}

impl Session {
    /// Creates a session with no history.
    #[must_use]
    pub fn new(id: impl Into<Text>) -> Session {
        Session::with_limits(id, SessionLimits::DEFAULT)
    }

    /// Creates a session with an ID that is unique, even among the records of other runs of the program. Use it for
    /// a conversation that has no ID.
    #[must_use]
    pub fn unique() -> Session {
        Session::create(unique_id("session"), SessionLimits::DEFAULT, Span::Kept, None)
    }

    /// Creates a session with these history limits.
    #[must_use]
    pub fn with_limits(id: impl Into<Text>, limits: SessionLimits) -> Session {
        Session::create(id.into(), limits, Span::Kept, None)
    }

    /// Creates a temporary session that no caller can refer to. Its ID is unique, even among the records of other
    /// runs of the program.
    pub(crate) fn passing(span: Span) -> Session {
        let prefix = if span == Span::Turn { "turn" } else { "loop" };
        Session::create(unique_id(prefix), SessionLimits::DEFAULT, span, None)
    }

    /// Whether the session was created by [`passing`](Self::passing).
    #[doc(hidden)]
    #[must_use]
    pub fn is_passing(&self) -> bool {
        self.0.span != Span::Kept
    }

    /// Whether the session ends with the turn.
    pub(crate) fn is_of_turn(&self) -> bool {
        self.0.span == Span::Turn
    }

    fn create(id: Text, limits: SessionLimits, span: Span, shared: Option<Shared>) -> Session {
        Session(Arc::new(Inner {
            id,
            limits,
            span,
            state: Mutex::default(),
            values: Mutex::default(),
            history: Mutex::default(),
            shared,
        }))
    }

    /// The ID of the session.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// Returns the state of type `T`, created with `Default` on first use. All callers share it.
    ///
    /// State that changes needs a lock or atomics, because calls of a turn run concurrently.
    #[must_use]
    pub fn state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.state_or(T::default)
    }

    /// Returns the state of type `T`, created with `make` on first use. If two callers create it concurrently, only
    /// one of the values is kept, and both callers get it.
    pub fn state_or<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        if let Some(state) = self.peek() {
            return state;
        }
        // Created outside the lock, because `make` may use other state of this session.
        let created = Arc::new(make());
        let mut state = unpoisoned(self.0.state.lock());
        let entry: StateEntry = (type_name::<T>(), Arc::clone(&created) as _);
        let (_, state) = state.entry(TypeId::of::<T>()).or_insert(entry);
        Arc::clone(state).downcast().unwrap_or(created)
    }

    /// Returns the state of type `T`, if it was created before.
    #[must_use]
    pub fn peek<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let state = Arc::clone(&unpoisoned(self.0.state.lock()).get(&TypeId::of::<T>())?.1);
        state.downcast().ok()
    }

    /// Returns the value under a key, see [`set`](Self::set).
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Value> {
        unpoisoned(self.0.values.lock()).get(key).cloned()
    }

    /// Stores a value under a key, which the requirement `session("key")` of a tool checks. Returns the replaced
    /// value.
    pub fn set(&self, key: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        let (key, value) = (key.into(), value.into());
        let mut values = unpoisoned(self.0.values.lock());
        if let Some(shared) = &self.0.shared {
            shared.record_value(key.clone(), Some(value.clone()));
        }
        values.insert(key, value)
    }

    /// Removes and returns the value under a key.
    pub fn remove(&self, key: &str) -> Option<Value> {
        let mut values = unpoisoned(self.0.values.lock());
        if let Some(shared) = &self.0.shared {
            shared.record_value(key.to_owned(), None);
        }
        values.remove(key)
    }

    /// Whether there is a value under the key that is neither `null` nor a blank string. An empty array counts.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        let is_blank = |text: &str| text.trim().is_empty();
        let is_present = |value: &Value| !value.is_null() && !value.as_str().is_some_and(is_blank);
        unpoisoned(self.0.values.lock()).get(key).is_some_and(is_present)
    }

    /// Records that a call of a tool succeeded. A call whose result is an error did not succeed, see
    /// [`ToolResult::is_error`](crate::ToolResult::is_error).
    pub fn record_success(&self, tool: impl Into<Text>) {
        let tool = tool.into();
        let mut history = unpoisoned(self.0.history.lock());
        // Read under the lock, so that times in the history never decrease.
        let now = Instant::now();
        if let Some(shared) = &self.0.shared {
            shared.record_called(tool.clone(), now);
        }
        remember(&mut history, tool, now, self.0.limits);
    }

    /// Whether a call of the tool succeeded in this session within [`SessionLimits::history_ttl`].
    #[must_use]
    pub fn has_called(&self, tool: &str) -> bool {
        let history = unpoisoned(self.0.history.lock());
        find(&history, tool).is_ok_and(|index| is_recent(history[index].1, Instant::now(), self.0.limits))
    }

    /// Returns the tools that were called successfully, in the order of their last successes.
    #[must_use]
    pub fn called(&self) -> Vec<Text> {
        let now = Instant::now();
        let mut called = unpoisoned(self.0.history.lock()).clone();
        called.retain(|(_, at)| is_recent(*at, now, self.0.limits));
        called.sort_by_key(|(_, at)| *at);
        called.into_iter().map(|(tool, _)| tool).collect()
    }

    /// Clears the call history, as if the session had just begun. The state is kept.
    pub fn forget_calls(&self) {
        let mut history = unpoisoned(self.0.history.lock());
        if let Some(shared) = &self.0.shared {
            shared.record_forgotten();
        }
        history.clear();
    }

    /// Whether there is another handle to the session.
    fn is_in_use(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

fn find(history: &[(Text, Instant)], tool: &str) -> Result<usize, usize> {
    history.binary_search_by(|(name, _)| name.as_str().cmp(tool))
}

fn is_recent(at: Instant, now: Instant, limits: SessionLimits) -> bool {
    now.saturating_duration_since(at) < limits.history_ttl
}

/// Records the time of a success in the history.
fn remember(history: &mut Vec<(Text, Instant)>, tool: Text, at: Instant, limits: SessionLimits) {
    match find(history, &tool) {
        Ok(index) => history[index].1 = at,
        Err(_) => {
            make_room(history, at, limits);
            let index = find(history, &tool).unwrap_or_else(|index| index);
            history.insert(index, (tool, at));
        }
    }
}

/// Removes expired entries, then the oldest ones, if the history is full.
fn make_room(history: &mut Vec<(Text, Instant)>, now: Instant, limits: SessionLimits) {
    if history.len() < limits.history_tools.max(1) {
        return;
    }
    history.retain(|(_, at)| is_recent(*at, now, limits));
    while history.len() >= limits.history_tools.max(1) {
        let oldest = history.iter().enumerate().min_by_key(|(_, (_, at))| *at);
        let Some((oldest, _)) = oldest else { return };
        history.remove(oldest);
    }
}

/// Prints the ID, the types of the state and the keys of the values. Values are omitted, since some are secrets.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state: Vec<&str> = unpoisoned(self.0.state.lock()).values().map(|(name, _)| *name).collect();
        let values: Vec<String> = unpoisoned(self.0.values.lock()).keys().cloned().collect();
        f.debug_struct("Session")
            .field("id", &self.0.id)
            .field("state", &state)
            .field("values", &values)
            .field("called", &self.called())
            .finish()
    }
}

#[cfg(test)]
mod tests;
