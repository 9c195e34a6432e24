//! The data of the page about calls that wait, or have waited, for an approval.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tokio::runtime::Handle;
use toolgen_runtime::layers::approval::{ApprovalState, Approvals, QueuedApproval};

use super::super::approvals;
use super::super::store_location::StoreLocation;

/// Maximum number of calls for a page: waiting calls first, then the newest of the others.
const MAX_CALLS: usize = 1000;

/// Maximum age of a snapshot if no file of the database has changed.
const CACHE_TTL: Duration = Duration::from_secs(60);

/// Minimum time between two reads, as a multiple of the duration of the last read, so that a long queue is not read
/// continuously.
const IDLE_FACTOR: u32 = 10;

/// The queue of calls, if there is one.
pub(super) struct Queue(Option<OpenQueue>);

struct OpenQueue {
    approvals: Approvals,
    location: StoreLocation,
    snapshot: Mutex<Option<QueueSnapshot>>,
}

/// A snapshot of the queue.
#[derive(Clone)]
struct QueueSnapshot {
    stamp: Option<Stamp>,
    started: Instant,
    duration: Duration,
    /// The time at which the next call expires, which does not change a file.
    next_expiry: Option<SystemTime>,
    mark: String,
    response: Value,
}

/// The modification times and sizes of the files of a database.
type Stamp = Vec<Option<(SystemTime, u64)>>;

impl Queue {
    /// Opens the queue in the named database, or in the log if that is a database with a queue.
    pub(super) async fn open(explicit: Option<&StoreLocation>, log: &StoreLocation) -> Result<Queue, String> {
        let opened = match explicit {
            Some(location) => Some((approvals::open(location, false).await?, location)),
            // A JSON Lines log has no queue.
            None => log.queue(false).await.ok().flatten().map(|queue| (queue, log)),
        };
        let open = opened.map(|(approvals, location)| OpenQueue {
            approvals,
            location: location.clone(),
            snapshot: Mutex::new(None),
        });
        Ok(Queue(open))
    }

    /// Returns the calls, with the arguments that approvers see, and a mark of their state; `null` if the state has not
    /// changed since `mark`.
    pub(super) async fn changed(&self, mark: &str) -> Result<Value, String> {
        let Some(open) = &self.0 else { return Ok(Value::Null) };
        // Taken before the read, so that a concurrent change is seen the next time.
        let stamp = stamp(&open.location);
        let cached = open.snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let snapshot = match cached.filter(|snapshot| snapshot.is_valid(stamp.as_ref())) {
            Some(snapshot) => snapshot,
            None => {
                let snapshot = open.read(stamp).await?;
                *open.snapshot.lock().unwrap_or_else(PoisonError::into_inner) = Some(snapshot.clone());
                snapshot
            }
        };
        Ok(if snapshot.mark == mark { Value::Null } else { snapshot.response })
    }
}

impl OpenQueue {
    /// Reads the queue on a separate thread, because a long queue takes seconds.
    async fn read(&self, stamp: Option<Stamp>) -> Result<QueueSnapshot, String> {
        let (approvals, location, handle) =
            (self.approvals.clone(), self.location.to_string(), Handle::current());
        let read = tokio::task::spawn_blocking(move || {
            let started = Instant::now();
            let all = handle.block_on(approvals.list(&ApprovalState::ALL));
            let all = all.map_err(|error| format!("{location}: {error}"))?;
            let now = SystemTime::now();
            let next_expiry = all.iter().map(|entry| entry.expires_at).filter(|at| *at > now).min();
            let count = all.len();
            let rows = json!(sort_and_limit(all));
            let left_out = count.saturating_sub(MAX_CALLS);
            let mut hasher = DefaultHasher::new();
            (rows.to_string(), left_out).hash(&mut hasher);
            let mark = format!("{:016x}", hasher.finish());
            let response = json!({ "mark": mark, "file": location, "rows": rows, "left_out": left_out });
            Ok(QueueSnapshot { stamp, started, duration: started.elapsed(), next_expiry, mark, response })
        });
        read.await.unwrap_or_else(|error| Err(format!("reading the approvals failed: {error}")))
    }
}

impl QueueSnapshot {
    /// Whether the snapshot is still valid, given the current state of the files.
    fn is_valid(&self, stamp: Option<&Stamp>) -> bool {
        let elapsed = self.started.elapsed();
        if elapsed < self.duration * IDLE_FACTOR {
            return true;
        }
        let is_same = stamp.is_some() && stamp == self.stamp.as_ref();
        is_same && elapsed < CACHE_TTL && self.next_expiry.is_none_or(|at| at > SystemTime::now())
    }
}

/// Returns the calls for a page, the longest waiting first.
fn sort_and_limit(mut all: Vec<QueuedApproval>) -> Vec<QueuedApproval> {
    if all.len() > MAX_CALLS {
        all.sort_by_key(|entry| {
            (entry.state != ApprovalState::Waiting, std::cmp::Reverse(entry.requested_at))
        });
        all.truncate(MAX_CALLS);
        all.sort_by_key(|entry| entry.requested_at);
    }
    all
}

/// Returns the state of the files of a database. `None` for a database server.
fn stamp(location: &StoreLocation) -> Option<Stamp> {
    let StoreLocation::File(path) = location else { return None };
    let mut log = OsString::from(path);
    log.push("-wal");
    let file_state = |path: &Path| {
        let metadata = fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    Some(vec![file_state(path), file_state(Path::new(&log))])
}

#[cfg(test)]
mod tests {
    use toolgen_runtime::store::{Expected, SqliteStore, Store as _};

    use super::*;

    async fn insert(store: &SqliteStore, number: u64, state: ApprovalState) {
        let expires_at =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() + 600_000;
        let entry = json!({
            "state": state.as_str(), "call_id": "c", "tool": "pay", "shown": {"n": number}, "reasons": [],
            "asked_at": number * 1000, "expires_at": u64::try_from(expires_at).unwrap(),
        });
        let (id, entry, hour) = (format!("{number:032x}"), entry.to_string(), Duration::from_secs(3600));
        store.put("approvals", &id, entry.as_bytes(), hour, Expected::Absent).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn long_queue_is_truncated_and_reloaded_on_change() {
        let dir = std::env::temp_dir().join(format!("toolgen-timeline-queue-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = dir.join("queue.sqlite");
        let store = SqliteStore::open(&path).unwrap();
        insert(&store, 1, ApprovalState::Waiting).await;
        for number in 2..=1005 {
            insert(&store, number, ApprovalState::Finished).await;
        }
        let location = StoreLocation::of(&path).unwrap();
        let queue = Queue::open(None, &location).await.unwrap();
        let all = queue.changed("").await.unwrap();
        let rows = all["rows"].as_array().unwrap();
        assert_eq!((rows.len(), &all["left_out"]), (MAX_CALLS, &json!(5)));
        // The waiting call is included, although it is the oldest.
        assert_eq!((&rows[0]["state"], &rows[1]["shown"]), (&json!("waiting"), &json!({"n": 7})));
        let mark = all["mark"].as_str().unwrap();
        assert_eq!(queue.changed(mark).await.unwrap(), Value::Null);
        let snapshot = |queue: &Queue| {
            queue.0.as_ref().map(|open| open.snapshot.lock().unwrap().as_ref().unwrap().clone()).unwrap()
        };
        let mut before = snapshot(&queue);
        before.duration = Duration::ZERO;
        assert!(before.is_valid(stamp(&location).as_ref()));
        before.next_expiry = Some(SystemTime::now());
        assert!(!before.is_valid(stamp(&location).as_ref()));
        before.next_expiry = None;
        insert(&store, 2000, ApprovalState::Waiting).await;
        assert!(!before.is_valid(stamp(&location).as_ref()));
        drop(store);
        fs::remove_dir_all(&dir).unwrap();
    }
}
