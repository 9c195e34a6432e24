//! What the page needs of the calls that wait, or have waited, for an approval.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolgen_runtime::layers::approval::{ApprovalState, Approvals, SqliteApprovals};

use super::super::approvals;

/// The queue of calls, if there is one.
pub(super) struct Queue(Option<(Approvals, PathBuf)>);

impl Queue {
    /// Opens the queue in the database that is named, or that in the log, if it is a database that has one.
    pub(super) fn open(named: Option<&Path>, log: &Path) -> Result<Queue, String> {
        let opened = match named {
            Some(path) => Some((approvals::open(path, false)?, path)),
            // A log of lines is no database.
            None => {
                SqliteApprovals::open_read_only(log).ok().flatten().map(|store| (Approvals::new(store), log))
            }
        };
        Ok(Queue(opened.map(|(approvals, path)| (approvals, path.to_owned()))))
    }

    /// Returns the calls, and a mark of how they are now; `null` if they are still as they were at another mark. Their
    /// arguments are those of the log.
    pub(super) async fn changed(&self, mark: &str) -> Result<Value, String> {
        let Some((approvals, path)) = &self.0 else { return Ok(Value::Null) };
        let named = |why| format!("{}: {why}", path.display());
        let all = approvals.list(&ApprovalState::ALL).await.map_err(named)?;
        let mut rows = Vec::with_capacity(all.len());
        for entry in &all {
            let mut row = json!(entry);
            row.as_object_mut().map(|members| (members.remove("shown"), members.remove("calls")));
            rows.push(row);
        }
        let rows = Value::from(rows);
        let mut hasher = DefaultHasher::new();
        rows.to_string().hash(&mut hasher);
        let now = format!("{:016x}", hasher.finish());
        if now == mark {
            return Ok(Value::Null);
        }
        Ok(json!({ "mark": now, "file": path.display().to_string(), "rows": rows }))
    }
}
