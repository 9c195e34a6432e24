//! Sessions that several processes share.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Session, SessionLimits, remember};
use crate::base::canonical::digest;
use crate::base::data::Members;
use crate::base::frozen::Text;
use crate::base::sync::unpoisoned;
use crate::base::time::whole_millis;
use crate::call::error::ToolError;
use crate::call::store::{Expected, OnFailure, Row, Store, StoreError};

/// The error code of a call whose session cannot be read because its store is unreachable.
pub const SESSION_UNKNOWN: &str = "SESSION_UNKNOWN";

const TABLE: &str = "sessions";

/// Maximum number of attempts when other processes change the same session.
const MAX_ATTEMPTS: u32 = 1000;

/// The store through which the processes of a program share sessions.
#[derive(Clone)]
pub(super) struct SharedStore {
    pub(super) store: Arc<dyn Store>,
    pub(super) on_failure: OnFailure,
    /// How long a session is kept after its last use.
    pub(super) ttl: Duration,
}

impl SharedStore {
    /// Removes a session, and returns whether there was one.
    pub(super) async fn remove(&self, owner: &str, id: &str) -> Result<bool, ToolError> {
        self.store.delete(TABLE, &key(owner, id), Expected::Any).await.map_err(|error| store_failed(&error))
    }

    /// Stores the state, unless another process has changed the session.
    async fn put(&self, key: &str, stored: &Stored) -> Result<Option<u64>, StoreError> {
        // Twice the TTL, so that not every call must extend the expiry of the session.
        let (ttl, value) = (self.ttl.saturating_mul(2), stored.to_text());
        self.store.put(TABLE, key, value.as_bytes(), ttl, Expected::known(stored.version)).await
    }
}

/// Returns the key of a session: a digest, because an owner or an ID may contain any characters.
fn key(owner: &str, id: &str) -> String {
    digest(&json!([owner, id]))
}

fn store_failed(error: &StoreError) -> ToolError {
    ToolError::failed_with(SESSION_UNKNOWN, error.to_string())
}

/// The stored form of a session: `{"values": {…}, "called": {tool: milliseconds since 1970}}`.
#[derive(Clone, Default)]
struct Stored {
    /// `None` if nothing is stored.
    version: Option<u64>,
    values: BTreeMap<String, Value>,
    /// The times of the last successes.
    called: BTreeMap<Text, u64>,
}

impl Stored {
    fn from_row(row: Option<Row>) -> Result<Stored, StoreError> {
        let Some(row) = row else { return Ok(Stored::default()) };
        let read = || {
            let mut members = Members::read(serde_json::from_slice::<Value>(&row.value)?, "the session")?;
            let (values, called) = (members.take("values")?, members.take("called")?);
            Ok(Stored { version: Some(row.version), values, called })
        };
        read().map_err(|error: serde_json::Error| StoreError::unreadable("a session", error))
    }

    fn to_text(&self) -> String {
        json!({ "values": self.values, "called": self.called }).to_string()
    }

    /// Applies changes, and removes the oldest successes if there are too many.
    fn apply(&mut self, unsaved: &Unsaved, limits: SessionLimits) {
        for (key, (_, value)) in &unsaved.values {
            match value {
                Some(value) => drop(self.values.insert(key.clone(), value.clone())),
                None => drop(self.values.remove(key)),
            }
        }
        if unsaved.forgotten.is_some() {
            self.called.clear();
        }
        let now = now();
        for (tool, (_, at)) in &unsaved.called {
            let millis = now.saturating_sub(whole_millis(at.elapsed()));
            self.called.insert(tool.clone(), millis);
        }
        while self.called.len() > limits.history_tools.max(1) {
            let oldest = self.called.iter().min_by_key(|(_, at)| **at).map(|(tool, _)| tool.clone());
            oldest.map(|tool| self.called.remove(&tool));
        }
    }
}

/// Returns the time in milliseconds since 1970.
fn now() -> u64 {
    whole_millis(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// The state of a session that other processes see.
pub(super) struct Shared {
    store: SharedStore,
    key: String,
    /// The state that was last read or stored. Locked during requests to the store, so that older state never
    /// overwrites newer state.
    stored: tokio::sync::Mutex<Stored>,
    unsaved: Mutex<Unsaved>,
}

/// Changes that are possibly not stored yet, each with its number. They are removed when they are stored, not when they
/// are sent, because a caller may cancel in between.
#[derive(Clone, Default)]
struct Unsaved {
    count: u64,
    values: BTreeMap<String, (u64, Option<Value>)>,
    forgotten: Option<u64>,
    called: BTreeMap<Text, (u64, Instant)>,
}

impl Shared {
    pub(super) fn new(store: SharedStore, owner: &str, id: &str) -> Shared {
        let key = key(owner, id);
        Shared { store, key, stored: tokio::sync::Mutex::default(), unsaved: Mutex::default() }
    }

    async fn read(&self) -> Result<Option<Row>, StoreError> {
        self.store.store.get(TABLE, &self.key).await
    }

    pub(super) fn record_value(&self, key: String, value: Option<Value>) {
        let mut unsaved = unpoisoned(self.unsaved.lock());
        let number = unsaved.next();
        unsaved.values.insert(key, (number, value));
    }

    pub(super) fn record_called(&self, tool: Text, at: Instant) {
        let mut unsaved = unpoisoned(self.unsaved.lock());
        let number = unsaved.next();
        unsaved.called.insert(tool, (number, at));
    }

    pub(super) fn record_forgotten(&self) {
        let mut unsaved = unpoisoned(self.unsaved.lock());
        unsaved.forgotten = Some(unsaved.next());
        unsaved.called.clear();
    }
}

impl Unsaved {
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    fn is_empty(&self) -> bool {
        self.values.is_empty() && self.called.is_empty() && self.forgotten.is_none()
    }

    /// Removes the changes up to a number, which are now stored.
    fn remove_up_to(&mut self, last: u64) {
        self.values.retain(|_, (number, _)| *number > last);
        self.called.retain(|_, (number, _)| *number > last);
        self.forgotten = self.forgotten.filter(|number| *number > last);
    }
}

impl Session {
    /// Whether other processes share the session, see [`Sessions::shared`](super::Sessions::shared).
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.0.shared.is_some()
    }

    /// Reads the changes of other processes. Changes of this process that are not stored yet are kept. A toolbox does
    /// this before each call of a [shared](super::Sessions::shared) session; for other sessions nothing happens.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read and the failure mode of the sessions is not
    /// [`Degrade`](OnFailure::Degrade).
    pub async fn refresh(&self) -> Result<(), ToolError> {
        let Some(shared) = &self.0.shared else { return Ok(()) };
        let mut stored = shared.stored.lock().await;
        match self.read(shared, &mut stored).await {
            Err(error) if shared.store.on_failure == OnFailure::Refuse => {
                let text = "The call was not executed: the state of the session is not known, because the server that \
                            keeps it cannot be reached. Try again in a moment.";
                Err(ToolError::failed_with(SESSION_UNKNOWN, text).with_operator_detail(error.to_string()))
            }
            _ => Ok(()),
        }
    }

    async fn read(&self, shared: &Shared, stored: &mut Stored) -> Result<(), StoreError> {
        let row = shared.read().await?;
        let remaining = row.as_ref().map(|row| row.left);
        if row.as_ref().map(|row| row.version) != stored.version {
            *stored = Stored::from_row(row)?;
            self.adopt(shared, stored);
        }
        // If extending the expiry fails, the session was still read.
        if remaining.is_some_and(|remaining| remaining < shared.store.ttl)
            && let Ok(Some(version)) = shared.store.put(&shared.key, stored).await
        {
            stored.version = Some(version);
        }
        Ok(())
    }

    /// Stores the changes of this process. A toolbox does this after each call of a [shared](super::Sessions::shared)
    /// session; for other sessions nothing happens.
    ///
    /// # Errors
    ///
    /// Returns an error if the changes cannot be stored. They are kept, and stored the next time.
    pub async fn save(&self) -> Result<(), ToolError> {
        let Some(shared) = &self.0.shared else { return Ok(()) };
        let mut stored = shared.stored.lock().await;
        for _ in 0..MAX_ATTEMPTS {
            let changes = unpoisoned(shared.unsaved.lock()).clone();
            if changes.is_empty() {
                return Ok(());
            }
            let mut changed = stored.clone();
            changed.apply(&changes, self.0.limits);
            if let Some(version) =
                shared.store.put(&shared.key, &changed).await.map_err(|error| store_failed(&error))?
            {
                *stored = Stored { version: Some(version), ..changed };
                unpoisoned(shared.unsaved.lock()).remove_up_to(changes.count);
                return Ok(());
            }
            // Another process also changed the session: apply the changes to the new state.
            let row = shared.read().await.map_err(|error| store_failed(&error))?;
            *stored = Stored::from_row(row).map_err(|error| store_failed(&error))?;
            self.adopt(shared, &stored);
        }
        Err(store_failed(&StoreError::new(format!(
            "other processes changed the session {MAX_ATTEMPTS} times while it was being stored"
        ))))
    }

    /// Replaces the state with the stored state, then applies the changes that are not stored yet.
    fn adopt(&self, shared: &Shared, stored: &Stored) {
        // Locks in the same order as changes do.
        let mut values = unpoisoned(self.0.values.lock());
        let mut history = unpoisoned(self.0.history.lock());
        let unsaved = unpoisoned(shared.unsaved.lock());
        let mut stored = stored.clone();
        stored.apply(&unsaved, self.0.limits);
        *values = stored.values;
        history.clear();
        let (now, unix_now) = (Instant::now(), now());
        // A time before the start of the clock has expired anyway.
        let instant = |millis: u64| now.checked_sub(Duration::from_millis(unix_now.saturating_sub(millis)));
        let mut called: Vec<(Text, Instant)> =
            stored.called.into_iter().filter_map(|(tool, millis)| Some((tool, instant(millis)?))).collect();
        called.sort_by_key(|(_, at)| *at);
        for (tool, at) in called {
            remember(&mut history, tool, at, self.0.limits);
        }
    }
}

impl fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedStore")
            .field("store", &self.store)
            .field("on_failure", &self.on_failure)
            .field("ttl", &self.ttl)
            .finish()
    }
}
