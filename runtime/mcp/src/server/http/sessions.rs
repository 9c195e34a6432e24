//! Limits on concurrent sessions: at the limit, a new session replaces the session that has been idle longest.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock};

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::sync::unpoisoned;

use super::limits::ServerLimits;

/// When a rejected client may retry, in seconds.
pub(super) const RETRY_AFTER_SECONDS: u64 = 5;

/// The sessions of a server, and their owners.
pub(super) struct Sessions {
    pub(super) manager: Arc<LocalSessionManager>,
    limits: ServerLimits,
    by_id: Mutex<HashMap<Arc<str>, SessionEntry>>,
}

struct SessionEntry {
    /// The ID of the principal, if principals are configured.
    owner: Option<Text>,
    /// Time of the last request.
    last_used: Instant,
    shared: Arc<Shared>,
}

/// State that a session shares with its requests in flight.
#[derive(Default)]
struct Shared {
    /// The IDs of these requests.
    requests: Mutex<HashSet<String>>,
    /// Fires when the client ends the session.
    ended: CancellationToken,
}

/// Held by a request: the session is in use while the guard exists.
#[derive(Clone)]
pub(super) struct SessionGuard(Arc<SessionUse>);

struct SessionUse {
    session: Arc<Shared>,
    /// The ID of the request; empty before the request was parsed.
    id: OnceLock<String>,
}

impl SessionGuard {
    /// Sets the ID of the request; returns whether it is unique in the session.
    pub(super) fn set_id(&self, id: &Value) -> bool {
        let id = id.to_string();
        let is_free = unpoisoned(self.0.session.requests.lock()).insert(id.clone());
        is_free && self.0.id.set(id).is_ok()
    }

    /// Cancels everything that runs in the session.
    pub(super) fn end(&self) {
        self.0.session.ended.cancel();
    }

    /// Returns the token that fires when the client ends the session.
    pub(super) fn ended(&self) -> CancellationToken {
        self.0.session.ended.clone()
    }
}

impl Drop for SessionUse {
    fn drop(&mut self) {
        if let Some(id) = self.id.get() {
            unpoisoned(self.session.requests.lock()).remove(id);
        }
    }
}

impl SessionEntry {
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.shared) == 1
    }
}

impl Sessions {
    pub(super) fn new(limits: ServerLimits) -> Sessions {
        Sessions { manager: Arc::default(), limits, by_id: Mutex::default() }
    }

    /// Records a request of a session. Returns the guard that the request holds until its response.
    pub(super) fn use_session(&self, id: &HeaderValue) -> Option<SessionGuard> {
        let mut sessions = unpoisoned(self.by_id.lock());
        let session = sessions.get_mut(id.to_str().ok()?)?;
        session.last_used = Instant::now();
        Some(SessionGuard(Arc::new(SessionUse { session: Arc::clone(&session.shared), id: OnceLock::new() })))
    }

    /// Records a new session. At the limit, an idle session is closed.
    ///
    /// # Errors
    ///
    /// Returns the response for the client if no session is idle; the new session is then closed.
    pub(super) async fn register(&self, id: &HeaderValue, owner: Option<&Text>) -> Result<(), Response> {
        let Ok(id) = id.to_str().map(Arc::<str>::from) else { return Ok(()) };
        let open_sessions = self.manager.sessions.read().await;
        let (closing_id, rejection) = {
            let mut sessions = unpoisoned(self.by_id.lock());
            // Remove sessions that have already ended.
            sessions.retain(|id, _| open_sessions.contains_key(id));
            let entry =
                SessionEntry { owner: owner.cloned(), last_used: Instant::now(), shared: Arc::default() };
            sessions.insert(Arc::clone(&id), entry);
            let Some(excess) = self.excess(&sessions, owner) else { return Ok(()) };
            let is_candidate = |session: &SessionEntry| !excess.of_owner || session.owner.as_ref() == owner;
            let idle = sessions.iter().filter(|(candidate_id, session)| {
                **candidate_id != id && session.is_idle() && is_candidate(session)
            });
            let oldest = idle.min_by_key(|(_, session)| session.last_used).map(|(id, _)| Arc::clone(id));
            let rejection = oldest.is_none().then(|| excess.response());
            let closing_id = oldest.unwrap_or(id);
            sessions.remove(&closing_id);
            (closing_id, rejection)
        };
        drop(open_sessions);
        let manager = Arc::clone(&self.manager);
        // A session with a slow client must not delay this request.
        tokio::spawn(async move { manager.close_session(&closing_id).await });
        rejection.map_or(Ok(()), Err)
    }

    fn excess(&self, entries: &HashMap<Arc<str>, SessionEntry>, owner: Option<&Text>) -> Option<Excess> {
        let ServerLimits { sessions, sessions_per_principal, .. } = self.limits;
        let owned_count = || entries.values().filter(|session| session.owner.as_ref() == owner).count();
        if owner.is_some() && owned_count() > sessions_per_principal {
            Some(Excess { of_owner: true, max_sessions: sessions_per_principal })
        } else {
            (entries.len() > sessions).then_some(Excess { of_owner: false, max_sessions: sessions })
        }
    }
}

/// A session limit was exceeded.
struct Excess {
    /// Whether the limit per principal was exceeded, or the total limit.
    of_owner: bool,
    max_sessions: usize,
}

impl Excess {
    fn response(&self) -> Response {
        let (status, holder) = if self.of_owner {
            (StatusCode::TOO_MANY_REQUESTS, "This caller")
        } else {
            (StatusCode::SERVICE_UNAVAILABLE, "This server")
        };
        let text = format!(
            "{holder} is at its limit of {} sessions, and all are busy. End a session with `DELETE`, or retry later.",
            self.max_sessions
        );
        (status, [(header::RETRY_AFTER, RETRY_AFTER_SECONDS)], text).into_response()
    }
}
