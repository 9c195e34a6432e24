//! The state that auditors and records share.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread::ThreadId;
use std::time::Duration;

use super::AuditError;
use super::queue::Queue;
use super::writer::Counts;

/// How long dropping the last handle waits for the writer. Only a sink that hangs takes that long.
const DROP_TIMEOUT: Duration = Duration::from_secs(5);

/// The connection to the writer. When the last handle is dropped, the queue is closed and written.
pub(super) struct Handle {
    /// The ID, unique among the auditors of the program.
    pub(super) id: u64,
    pub(super) queue: Arc<Queue>,
    pub(super) counts: Arc<Counts>,
    pub(super) next_key: AtomicU64,
    pub(super) capacity: usize,
    pub(super) durable: bool,
    /// Whether bytes of results are recorded.
    pub(super) bytes: bool,
    pub(super) writer: ThreadId,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue.close();
        // A tool may hold the last handle, and the writer may hold the tool: the writer must not wait for itself.
        if std::thread::current().id() != self.writer {
            self.queue.wait_for_end(DROP_TIMEOUT);
        }
    }
}

/// Returns the error for records after shutdown.
pub(super) fn shut_down_error() -> AuditError {
    AuditError::new("the auditor is shut down")
}
