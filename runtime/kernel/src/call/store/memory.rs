//! A store in the memory of one process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use super::{Expected, Row, Store, StoreError, WINDOW_PARTS};
use crate::base::future::BoxFuture;
use crate::base::sync::unpoisoned;

/// The number of rows and counters up to which expired ones are not removed.
const MIN_SWEEP_LEN: usize = 1024;

/// A store in memory: for programs of one process, and for tests, in which clones represent processes.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<MemoryState>>);

/// The table and the key of a row or a counter.
type Location = (String, String);

#[derive(Default)]
struct MemoryState {
    rows: BTreeMap<Location, StoredRow>,
    counters: BTreeMap<Location, Counter>,
    /// The last version.
    version: u64,
    /// The number of rows and counters at which expired ones are removed.
    sweep_at: usize,
    /// The start of the first part of windows.
    start: Option<Instant>,
}

struct StoredRow {
    version: u64,
    value: Vec<u8>,
    /// `None` if the time is beyond the range of the clock.
    expires_at: Option<Instant>,
}

struct Counter {
    /// The number of calls in each part.
    parts: BTreeMap<u128, u32>,
    expires_at: Option<Instant>,
}

fn is_expired(expires_at: Option<Instant>, now: Instant) -> bool {
    expires_at.is_some_and(|expires_at| expires_at <= now)
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// Runs a function when the future is polled, as other stores do.
    fn with<'a, T: 'a>(
        &'a self,
        run: impl FnOnce(&mut MemoryState, Instant) -> T + Send + 'a,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        Box::pin(async move {
            let mut state = unpoisoned(self.0.lock());
            Ok(run(&mut state, Instant::now()))
        })
    }
}

impl MemoryState {
    fn sweep(&mut self, now: Instant) {
        if self.rows.len() + self.counters.len() >= self.sweep_at.max(MIN_SWEEP_LEN) {
            self.rows.retain(|_, row| !is_expired(row.expires_at, now));
            self.counters.retain(|_, counter| !is_expired(counter.expires_at, now));
            self.sweep_at = (self.rows.len() + self.counters.len()) * 2;
        }
    }

    fn row(&self, location: &Location, now: Instant) -> Option<Row> {
        let row = self.rows.get(location).filter(|row| !is_expired(row.expires_at, now))?;
        Some(Row {
            key: location.1.clone(),
            version: row.version,
            value: row.value.clone(),
            left: row.expires_at.map_or(Duration::MAX, |expires_at| expires_at - now),
        })
    }

    fn count(&mut self, counters: Vec<(Location, u32)>, window: Duration, now: Instant) -> bool {
        let start = *self.start.get_or_insert(now);
        let length = (window.as_nanos() / u128::from(WINDOW_PARTS)).max(1);
        let part = (now - start).as_nanos() / length;
        for (location, limit) in &counters {
            let Some(counter) = self.counters.get_mut(location) else { continue };
            counter.parts.retain(|at, _| at + u128::from(WINDOW_PARTS) >= part);
            if counter.parts.values().copied().fold(0, u32::saturating_add) >= *limit {
                return false;
            }
        }
        let expires_at = now.checked_add(window.saturating_mul(2));
        for (location, _) in counters {
            let new = || Counter { parts: BTreeMap::new(), expires_at };
            let counter = self.counters.entry(location).or_insert_with(new);
            *counter.parts.entry(part).or_default() += 1;
            counter.expires_at = expires_at;
        }
        true
    }
}

fn location(table: &str, key: &str) -> Location {
    (table.to_owned(), key.to_owned())
}

impl Store for MemoryStore {
    fn get<'a>(&'a self, table: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<Row>, StoreError>> {
        self.with(move |state, now| state.row(&location(table, key), now))
    }

    fn scan<'a>(&'a self, table: &'a str, prefix: &'a str) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        self.with(move |state, now| {
            let rows = state.rows.range(location(table, prefix)..);
            let rows = rows.take_while(|((row_table, key), _)| row_table == table && key.starts_with(prefix));
            rows.filter_map(|(location, _)| state.row(location, now)).collect()
        })
    }

    fn put<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        value: &'a [u8],
        ttl: Duration,
        expected: Expected,
    ) -> BoxFuture<'a, Result<Option<u64>, StoreError>> {
        self.with(move |state, now| {
            state.sweep(now);
            let location = location(table, key);
            let current = state.rows.get(&location).filter(|row| !is_expired(row.expires_at, now));
            if !expected.fits(current.map(|row| row.version)) {
                return None;
            }
            state.version += 1;
            let expires_at = now.checked_add(ttl);
            let row = StoredRow { version: state.version, value: value.to_vec(), expires_at };
            state.rows.insert(location, row);
            Some(state.version)
        })
    }

    fn delete<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        expected: Expected,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.with(move |state, now| {
            let location = location(table, key);
            let current = state.rows.get(&location).filter(|row| !is_expired(row.expires_at, now));
            let matches = current.is_some_and(|row| expected.fits(Some(row.version)));
            if matches {
                state.rows.remove(&location);
            }
            matches
        })
    }

    fn count<'a>(
        &'a self,
        table: &'a str,
        counters: &'a [(&'a str, u32)],
        window: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.with(move |state, now| {
            state.sweep(now);
            let counters = counters.iter().map(|(key, max)| (location(table, key), *max)).collect();
            state.count(counters, window, now)
        })
    }
}

/// Prints the number of rows and counters. Their contents are omitted, since some are secret.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = unpoisoned(self.0.lock());
        f.debug_struct("MemoryStore")
            .field("rows", &state.rows.len())
            .field("counters", &state.counters.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn expired_rows_take_no_space() {
        let (store, second) = (MemoryStore::new(), Duration::from_secs(1));
        for number in 0..MIN_SWEEP_LEN {
            let ttl = if number % 2 == 0 { second } else { second * 60 };
            store.put("t", &number.to_string(), b"", ttl, Expected::Absent).await.unwrap();
        }
        tokio::time::advance(second * 2).await;
        assert_eq!(store.scan("t", "").await.unwrap().len(), MIN_SWEEP_LEN / 2);
        assert!(store.count("c", &[("one", 1)], second).await.unwrap());
        let sizes = || {
            let state = unpoisoned(store.0.lock());
            (state.rows.len(), state.counters.len())
        };
        assert_eq!(sizes(), (MIN_SWEEP_LEN / 2, 1), "counting removed the expired rows");
        // An expired row counts as deleted. A row that expires beyond the range of the clock is kept.
        assert!(store.put("t", "0", b"", Duration::MAX, Expected::Absent).await.unwrap().is_some());
        tokio::time::advance(second * 3600).await;
        assert_eq!(store.scan("t", "").await.unwrap().len(), 1);
    }
}
