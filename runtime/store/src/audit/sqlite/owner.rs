//! The sinks that write to a database, and whether they still exist.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, OpenFlags};

/// A sink that writes to a database. While it exists, it holds a lock on a file next to the database. The system
/// releases the lock even if the program is killed. The file is also an SQLite database, because SQLite can lock its
/// databases on every system.
#[derive(Debug)]
pub(super) struct OwnerLock {
    id: String,
    /// The common prefix of the files of all owners, without their IDs. `None` if the database is in memory, and has
    /// no other owners.
    path_prefix: Option<String>,
    lock: Option<Connection>,
}

impl OwnerLock {
    /// Registers a sink as an owner of a database.
    pub(super) fn acquire(database: &Connection) -> Result<OwnerLock, rusqlite::Error> {
        static NEXT_NUMBER: AtomicU64 = AtomicU64::new(0);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
        let id = format!("{:x}-{:x}-{number:x}", now.as_nanos(), std::process::id());
        let path_prefix =
            database.path().filter(|path| !path.is_empty()).map(|path| format!("{path}-writer-"));
        let mut owner = OwnerLock { id, path_prefix, lock: None };
        if let Some(file) = owner.file(&owner.id) {
            let lock = Connection::open(file)?;
            lock.execute_batch("BEGIN EXCLUSIVE")?;
            owner.lock = Some(lock);
        }
        Ok(owner)
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Returns whether an owner still exists, and removes its file if not. In doubt, returns `true`.
    pub(super) fn is_alive(&self, id: &str) -> bool {
        if id == self.id {
            return true;
        }
        let Some(file) = self.file(id).filter(|file| file.exists()) else { return false };
        // These flags do not create the file if it has just been removed.
        let Ok(lock) = Connection::open_with_flags(&file, OpenFlags::SQLITE_OPEN_READ_WRITE) else {
            return file.exists();
        };
        let result = lock.busy_timeout(Duration::ZERO).and_then(|()| lock.execute_batch("BEGIN EXCLUSIVE"));
        if result.is_err() {
            return true;
        }
        drop(lock);
        // A file that remains is not locked.
        let _ = std::fs::remove_file(file);
        false
    }

    /// Returns the file of an owner. Returns `None` if the ID, which comes from the database, is invalid.
    fn file(&self, id: &str) -> Option<PathBuf> {
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        self.path_prefix
            .as_ref()
            .filter(|_| is_id)
            .map(|path_prefix| PathBuf::from(format!("{path_prefix}{id}")))
    }
}

impl Drop for OwnerLock {
    fn drop(&mut self) {
        if self.lock.take().is_some()
            && let Some(file) = self.file(&self.id)
        {
            // A file that remains is not locked.
            let _ = std::fs::remove_file(file);
        }
    }
}
