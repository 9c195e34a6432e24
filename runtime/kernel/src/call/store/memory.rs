//! A store in the memory of one process.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::Instant;

use super::{Expected, Row, Store, StoreError, WINDOW_PARTS};
use crate::base::future::BoxFuture;
use crate::base::sync::unpoisoned;

/// The number of rows or counters up to which expired ones are not searched for.
const MIN_SWEEP_LEN: usize = 1024;

/// A store in memory: for programs of one process, and for tests, in which clones represent processes.
#[derive(Clone, Default)]
pub struct MemoryStore(Arc<Mutex<MemoryState>>);

/// The table and the key of a row or a counter.
type Place = (String, String);

#[derive(Default)]
struct MemoryState {
    rows: BTreeMap<Place, Held>,
    counters: BTreeMap<Place, Counter>,
    /// The last version.
    version: u64,
    /// The number of rows and counters at which expired ones are removed.
    sweep_at: usize,
    /// The start of the first part of windows.
    start: Option<Instant>,
}

struct Held {
    version: u64,
    value: Vec<u8>,
    /// `None` if the time is beyond the range of the clock.
    until: Option<Instant>,
}

struct Counter {
    /// The calls by part.
    parts: BTreeMap<u128, u32>,
    until: Option<Instant>,
}

fn is_over(until: Option<Instant>, now: Instant) -> bool {
    until.is_some_and(|until| until <= now)
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
            let mut kept = unpoisoned(self.0.lock());
            Ok(run(&mut kept, Instant::now()))
        })
    }
}

impl MemoryState {
    fn sweep(&mut self, now: Instant) {
        if self.rows.len() + self.counters.len() >= self.sweep_at.max(MIN_SWEEP_LEN) {
            self.rows.retain(|_, held| !is_over(held.until, now));
            self.counters.retain(|_, counter| !is_over(counter.until, now));
            self.sweep_at = (self.rows.len() + self.counters.len()) * 2;
        }
    }

    fn row(&self, location: &Place, now: Instant) -> Option<Row> {
        let held = self.rows.get(location).filter(|held| !is_over(held.until, now))?;
        Some(Row {
            key: location.1.clone(),
            version: held.version,
            value: held.value.clone(),
            left: held.until.map_or(Duration::MAX, |until| until - now),
        })
    }

    fn count(&mut self, places: Vec<(Place, u32)>, window: Duration, now: Instant) -> bool {
        let start = *self.start.get_or_insert(now);
        let length = (window.as_nanos() / u128::from(WINDOW_PARTS)).max(1);
        let part = (now - start).as_nanos() / length;
        for (location, limit) in &places {
            let Some(counter) = self.counters.get_mut(location) else { continue };
            counter.parts.retain(|at, _| at + u128::from(WINDOW_PARTS) >= part);
            if counter.parts.values().copied().fold(0, u32::saturating_add) >= *limit {
                return false;
            }
        }
        let until = now.checked_add(window.saturating_mul(2));
        for (location, _) in places {
            let new = || Counter { parts: BTreeMap::new(), until };
            let counter = self.counters.entry(location).or_insert_with(new);
            *counter.parts.entry(part).or_default() += 1;
            counter.until = until;
        }
        true
    }
}

fn place(table: &str, key: &str) -> Place {
    (table.to_owned(), key.to_owned())
}

impl Store for MemoryStore {
    fn get<'a>(&'a self, table: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<Row>, StoreError>> {
        self.with(move |kept, now| kept.row(&place(table, key), now))
    }

    fn scan<'a>(&'a self, table: &'a str, prefix: &'a str) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
        self.with(move |kept, now| {
            let from = kept.rows.range(place(table, prefix)..);
            let of = from.take_while(|((of, key), _)| of == table && key.starts_with(prefix));
            of.filter_map(|(location, _)| kept.row(location, now)).collect()
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
        self.with(move |kept, now| {
            kept.sweep(now);
            let location = place(table, key);
            let known = kept.rows.get(&location).filter(|held| !is_over(held.until, now));
            if !expected.fits(known.map(|held| held.version)) {
                return None;
            }
            kept.version += 1;
            let held = Held { version: kept.version, value: value.to_vec(), until: now.checked_add(ttl) };
            kept.rows.insert(location, held);
            Some(kept.version)
        })
    }

    fn delete<'a>(
        &'a self,
        table: &'a str,
        key: &'a str,
        expected: Expected,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.with(move |kept, now| {
            let location = place(table, key);
            let known = kept.rows.get(&location).filter(|held| !is_over(held.until, now));
            let is_there = known.is_some_and(|held| expected.fits(Some(held.version)));
            if is_there {
                kept.rows.remove(&location);
            }
            is_there
        })
    }

    fn count<'a>(
        &'a self,
        table: &'a str,
        counters: &'a [(&'a str, u32)],
        window: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.with(move |kept, now| {
            kept.sweep(now);
            let places = counters.iter().map(|(key, max)| (place(table, key), *max)).collect();
            kept.count(places, window, now)
        })
    }
}

/// Prints how much is stored, but not what: some of it is secret.
impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = unpoisoned(self.0.lock());
        f.debug_struct("MemoryStore")
            .field("rows", &kept.rows.len())
            .field("counters", &kept.counters.len())
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
        let kept = || {
            let state = unpoisoned(store.0.lock());
            (state.rows.len(), state.counters.len())
        };
        assert_eq!(kept(), (MIN_SWEEP_LEN / 2, 1), "this swept");
        // An expired row counts as deleted. A row that expires beyond the range of the clock is kept.
        assert!(store.put("t", "0", b"", Duration::MAX, Expected::Absent).await.unwrap().is_some());
        tokio::time::advance(second * 3600).await;
        assert_eq!(store.scan("t", "").await.unwrap().len(), 1);
    }
}
