//! Sessions by ID.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use super::shared::{Shared, SharedStore};
use super::{Session, SessionLimits, Span};
use crate::base::frozen::Text;
use crate::base::sync::unpoisoned;
use crate::call::error::ToolError;
use crate::call::store::{OnFailure, Store};

/// The sessions of a program, by owner and ID. Clones share them.
///
/// Unused sessions expire and their number is limited, so that callers cannot fill the memory with invented IDs.
///
/// ```
/// use toolgen_runtime::call::session::Sessions;
///
/// let sessions = Sessions::default();
/// sessions.open("s-1").record_success("session_start");
/// assert!(sessions.open("s-1").has_called("session_start"));
/// assert!(!sessions.open_for("tenant-2", "s-1").has_called("session_start"));
/// ```
#[derive(Clone)]
pub struct Sessions(Arc<Inner>);

struct Inner {
    limits: SessionsLimits,
    shared: Option<SharedStore>,
    entries: Mutex<BTreeMap<(Text, Text), Entry>>,
}

struct Entry {
    session: Session,
    opened: Instant,
}

/// The limits of a store of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionsLimits {
    /// How long an unused session is kept after it was last opened. Default: 24 hours.
    pub ttl: Duration,
    /// Maximum number of sessions. If it is exceeded, the session that was opened longest ago is removed, preferably
    /// one that is not in use. Default: 10,000.
    pub max_sessions: usize,
    /// The limits of each session.
    pub session: SessionLimits,
}

impl SessionsLimits {
    /// The default limits: 24 hours and 10,000 sessions.
    pub const DEFAULT: SessionsLimits = SessionsLimits {
        ttl: Duration::from_secs(24 * 60 * 60),
        max_sessions: 10_000,
        session: SessionLimits::DEFAULT,
    };
}

impl Default for SessionsLimits {
    fn default() -> Self {
        SessionsLimits::DEFAULT
    }
}

impl Default for Sessions {
    fn default() -> Self {
        Sessions::new(SessionsLimits::DEFAULT)
    }
}

impl Sessions {
    /// Creates an empty store.
    #[must_use]
    pub fn new(limits: SessionsLimits) -> Sessions {
        Sessions(Arc::new(Inner { limits, shared: None, entries: Mutex::default() }))
    }

    /// Creates sessions that other processes share: their values and their call history, for as long as the limits
    /// allow. [State](Session::state) by type stays in the process.
    ///
    /// A toolbox reads the changes of other processes before it runs a call of such a session, and stores its own
    /// changes after the call; [`Session::refresh`] and [`Session::save`] do this at other times. If two processes
    /// change the same value, the later change wins. Changes that cannot be stored are kept, and are stored with
    /// those of the next call.
    ///
    /// A call costs one request to the store before it, and another after it if it changed the session; a success does.
    /// The store contains the values as JSON in plain text: if they include secrets, protect the store accordingly.
    ///
    /// Anyone who can open the ID of a session can read its contents: use [`open_for`](Self::open_for) if clients
    /// choose IDs.
    #[must_use]
    pub fn shared(limits: SessionsLimits, store: impl Store + 'static) -> Sessions {
        let store = SharedStore { store: Arc::new(store), on_failure: OnFailure::Refuse, ttl: limits.ttl };
        Sessions(Arc::new(Inner { limits, shared: Some(store), entries: Mutex::default() }))
    }

    /// Sets what happens to calls of [shared](Self::shared) sessions while the store is unreachable. Call it before
    /// the first session is opened. By default the calls are refused ([`OnFailure::Refuse`]) with the code
    /// [`SESSION_UNKNOWN`](super::SESSION_UNKNOWN). With [`OnFailure::Degrade`] they use the state that this process
    /// has; their changes are stored later.
    #[must_use]
    pub fn on_failure(self, on_failure: OnFailure) -> Sessions {
        let shared = self.0.shared.clone().map(|store| SharedStore { on_failure, ..store });
        Sessions(Arc::new(Inner { limits: self.0.limits, shared, entries: Mutex::default() }))
    }

    /// Opens the session of this ID, creating it if needed. If clients choose their IDs, use
    /// [`open_for`](Self::open_for), so that no client can open another's session.
    ///
    /// With an empty or blank ID, each caller gets a separate session, which is not kept.
    #[must_use]
    pub fn open(&self, id: impl Into<Text>) -> Session {
        self.open_for(Text::EMPTY, id)
    }

    /// Opens the session of this ID that belongs to an owner, such as the workspace that a caller was authenticated
    /// for. The same ID of another owner is another session.
    #[must_use]
    pub fn open_for(&self, owner: impl Into<Text>, id: impl Into<Text>) -> Session {
        let (owner, id, limits) = (owner.into(), id.into(), self.0.limits);
        if id.trim().is_empty() {
            return Session::with_limits(id, limits.session);
        }
        let mut entries = unpoisoned(self.0.entries.lock());
        let now = Instant::now();
        let key = (owner, id);
        if let Some(entry) = entries.get_mut(&key)
            && !entry.is_expired(now, limits)
        {
            entry.opened = now;
            return entry.session.clone();
        }
        make_room(&mut entries, now, limits);
        let shared = self.0.shared.as_ref();
        let shared = shared.map(|store| Shared::new(store.clone(), &key.0, &key.1));
        let session = Session::create(key.1.clone(), limits.session, Span::Kept, shared);
        entries.insert(key, Entry { session: session.clone(), opened: now });
        session
    }

    /// Removes the session of this ID. Existing handles keep working; the next caller that opens the ID gets a new
    /// session or, if the sessions are [shared](Self::shared), the stored one. Returns whether there was a session.
    pub fn close(&self, id: impl Into<Text>) -> bool {
        self.close_for(Text::EMPTY, id)
    }

    /// Removes the session of this ID and owner, see [`close`](Self::close).
    pub fn close_for(&self, owner: impl Into<Text>, id: impl Into<Text>) -> bool {
        unpoisoned(self.0.entries.lock()).remove(&(owner.into(), id.into())).is_some()
    }

    /// Removes the session of this ID and owner in this process and, if the sessions are [shared](Self::shared), for
    /// all processes. A handle that is still in use stores later changes again. Returns whether there was a session.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is unreachable. The session is then removed in this process only.
    pub async fn end_for(&self, owner: impl Into<Text>, id: impl Into<Text>) -> Result<bool, ToolError> {
        let (owner, id) = (owner.into(), id.into());
        let was_open = self.close_for(owner.clone(), id.clone());
        match &self.0.shared {
            Some(store) if !id.trim().is_empty() => Ok(store.remove(&owner, &id).await? || was_open),
            _ => Ok(was_open),
        }
    }

    /// The number of sessions kept in this process.
    #[must_use]
    pub fn len(&self) -> usize {
        unpoisoned(self.0.entries.lock()).len()
    }

    /// Whether no session is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Entry {
    /// Whether the session is not in use and was opened too long ago.
    fn is_expired(&self, now: Instant, limits: SessionsLimits) -> bool {
        !self.session.is_in_use() && now.saturating_duration_since(self.opened) >= limits.ttl
    }
}

/// If there are too many sessions, removes the expired ones, then the oldest.
fn make_room(entries: &mut BTreeMap<(Text, Text), Entry>, now: Instant, limits: SessionsLimits) {
    if entries.len() < limits.max_sessions.max(1) {
        return;
    }
    entries.retain(|_, entry| !entry.is_expired(now, limits));
    while entries.len() >= limits.max_sessions.max(1) {
        let oldest = entries.iter().min_by_key(|(_, entry)| (entry.session.is_in_use(), entry.opened));
        let Some(oldest) = oldest.map(|(key, _)| key.clone()) else { return };
        entries.remove(&oldest);
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").field("len", &self.len()).field("limits", &self.0.limits).finish()
    }
}
