//! Sessions that several processes have.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{Session, SessionLimits, remember};
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::base::sync::unpoisoned;
use crate::call::error::ToolError;

/// The key of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionKey<'a> {
    /// The owner of the session, see [`Sessions::open_for`](super::Sessions::open_for). May be empty.
    pub owner: &'a str,
    /// Its ID. Never blank.
    pub id: &'a str,
}

/// The part of a session that processes share.
#[derive(Clone, PartialEq)]
pub struct SessionData {
    /// The version, which differs after each change; 0 if nothing is stored.
    pub version: u64,
    /// The values by their key.
    pub values: BTreeMap<String, Value>,
    /// The tools that were called successfully, and how long ago.
    pub called: Vec<(Text, Duration)>,
}

/// What a process changed in a session.
#[derive(Clone, Default, PartialEq)]
pub struct SessionChanges {
    /// The values that were set, and `None` for those that were removed.
    pub values: BTreeMap<String, Option<Value>>,
    /// Whether the call history was cleared, before the calls of `called`.
    pub forget_calls: bool,
    /// The tools that were called successfully, and how long ago.
    pub called: Vec<(Text, Duration)>,
}

/// Keeps sessions where other processes find them. Set with [`Sessions::shared`](super::Sessions::shared). Values may be
/// secrets: keep them as safe as those.
pub trait SessionStore: Send + Sync {
    /// Returns what is stored, or `None` if that is still `known`, the version that was returned last; 0 at first. What
    /// is stored is kept for `ttl` from now on.
    ///
    /// # Errors
    ///
    /// If it cannot be read. Then a call of the session fails with this error. A store that would rather go by what the
    /// process knows returns `None`.
    fn load<'a>(
        &'a self,
        key: SessionKey<'a>,
        known: u64,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<Option<SessionData>, ToolError>>;

    /// Applies changes at once, keeps the result for `ttl` from now on, and returns its version. Of the call history at
    /// least the latest success of as many tools is kept as the limits say.
    ///
    /// # Errors
    ///
    /// If it is not certain that they are stored. They are given again then, with later ones, so a change must have the
    /// same effect when it is applied twice.
    fn save<'a>(
        &'a self,
        key: SessionKey<'a>,
        changes: &'a SessionChanges,
        limits: SessionLimits,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<u64, ToolError>>;

    /// Removes a session, and returns whether there was one.
    ///
    /// # Errors
    ///
    /// If it is not certain that it is removed.
    fn remove<'a>(&'a self, key: SessionKey<'a>) -> BoxFuture<'a, Result<bool, ToolError>>;
}

/// The side of a session that other processes see.
pub(super) struct Shared {
    store: Arc<dyn SessionStore>,
    owner: Text,
    ttl: Duration,
    /// The version that was read last. Held by whoever talks to the store, so that nothing older comes after something
    /// newer.
    version: tokio::sync::Mutex<u64>,
    unsaved: Mutex<Unsaved>,
}

/// Changes that may not be stored yet, each with its number. They are forgotten when they are stored, not when they are
/// sent: a caller may give up in between.
#[derive(Default)]
struct Unsaved {
    count: u64,
    values: BTreeMap<String, (u64, Option<Value>)>,
    forgotten: Option<u64>,
    called: BTreeMap<Text, (u64, Instant)>,
}

impl Shared {
    pub(super) fn new(store: Arc<dyn SessionStore>, owner: Text, ttl: Duration) -> Shared {
        Shared { store, owner, ttl, version: tokio::sync::Mutex::default(), unsaved: Mutex::default() }
    }

    pub(super) fn note_value(&self, key: String, value: Option<Value>) {
        let mut unsaved = unpoisoned(self.unsaved.lock());
        let number = unsaved.next();
        unsaved.values.insert(key, (number, value));
    }

    pub(super) fn note_called(&self, tool: Text, at: Instant) {
        let mut unsaved = unpoisoned(self.unsaved.lock());
        let number = unsaved.next();
        unsaved.called.insert(tool, (number, at));
    }

    pub(super) fn note_forgotten(&self) {
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

    /// Returns what is to be stored, and the number of the latest change; `None` if there is nothing to store.
    fn changes(&self) -> Option<(SessionChanges, u64)> {
        if self.values.is_empty() && self.called.is_empty() && self.forgotten.is_none() {
            return None;
        }
        let now = Instant::now();
        let changes = SessionChanges {
            values: self.values.iter().map(|(key, (_, value))| (key.clone(), value.clone())).collect(),
            forget_calls: self.forgotten.is_some(),
            called: self.called.iter().map(|(tool, (_, at))| (tool.clone(), now - *at)).collect(),
        };
        Some((changes, self.count))
    }

    /// Forgets the changes up to a number.
    fn saved(&mut self, last: u64) {
        self.values.retain(|_, (number, _)| *number > last);
        self.called.retain(|_, (number, _)| *number > last);
        self.forgotten = self.forgotten.filter(|number| *number > last);
    }
}

impl Session {
    /// Whether other processes have the session, too, see [`Sessions::shared`](super::Sessions::shared).
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.0.shared.is_some()
    }

    /// Reads what other processes changed. Changes of this one that are not stored yet stay. Providers do so before each
    /// call of a [shared](super::Sessions::shared) session; nothing happens with others.
    ///
    /// # Errors
    ///
    /// If the store cannot be read and does not let the process go by what it knows.
    pub async fn refresh(&self) -> Result<(), ToolError> {
        let Some(shared) = &self.0.shared else { return Ok(()) };
        let mut version = shared.version.lock().await;
        if let Some(data) = shared.store.load(self.key(shared), *version, shared.ttl).await? {
            *version = data.version;
            self.adopt(shared, data);
        }
        Ok(())
    }

    /// Stores what this process changed. Providers do so after each call of a [shared](super::Sessions::shared)
    /// session; nothing happens with others.
    ///
    /// # Errors
    ///
    /// If it cannot be stored. It is kept, and stored the next time.
    pub async fn save(&self) -> Result<(), ToolError> {
        let Some(shared) = &self.0.shared else { return Ok(()) };
        let mut version = shared.version.lock().await;
        let Some((changes, last)) = unpoisoned(shared.unsaved.lock()).changes() else { return Ok(()) };
        let stored = shared.store.save(self.key(shared), &changes, self.0.limits, shared.ttl).await?;
        unpoisoned(shared.unsaved.lock()).saved(last);
        // Otherwise somebody else changed it, too, which is still to be read.
        if stored == *version + 1 {
            *version = stored;
        }
        Ok(())
    }

    fn key<'a>(&'a self, shared: &'a Shared) -> SessionKey<'a> {
        SessionKey { owner: &shared.owner, id: &self.0.id }
    }

    /// Takes over the stored data, with the changes that are not stored yet.
    fn adopt(&self, shared: &Shared, data: SessionData) {
        // In the order in which changes take them.
        let mut values = unpoisoned(self.0.values.lock());
        let mut history = unpoisoned(self.0.history.lock());
        let unsaved = unpoisoned(shared.unsaved.lock());
        *values = data.values;
        for (key, (_, value)) in &unsaved.values {
            match value {
                Some(value) => drop(values.insert(key.clone(), value.clone())),
                None => drop(values.remove(key)),
            }
        }
        history.clear();
        let now = Instant::now();
        let stored = data.called.into_iter().filter(|_| unsaved.forgotten.is_none());
        // A time before the clock began is too long ago for everybody.
        let stored = stored.filter_map(|(tool, ago)| Some((tool, now.checked_sub(ago)?)));
        let own = unsaved.called.iter().map(|(tool, (_, at))| (tool.clone(), *at));
        let mut called: Vec<(Text, Instant)> = stored.chain(own).collect();
        called.sort_by_key(|(_, at)| *at);
        for (tool, at) in called {
            remember(&mut history, tool, at, self.0.limits);
        }
    }
}

/// Names the values that it holds but does not show them: some are secrets.
impl fmt::Debug for SessionData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionData")
            .field("version", &self.version)
            .field("values", &self.values.keys())
            .field("called", &self.called)
            .finish()
    }
}

/// Names the values that were changed but does not show them: some are secrets.
impl fmt::Debug for SessionChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionChanges")
            .field("values", &self.values.keys())
            .field("forget_calls", &self.forget_calls)
            .field("called", &self.called)
            .finish()
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("owner", &self.owner).field("ttl", &self.ttl).finish_non_exhaustive()
    }
}
