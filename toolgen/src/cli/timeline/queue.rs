//! What the page needs of the calls that wait, or have waited, for an approval.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};
use toolgen_runtime::layers::approval::{ApprovalState, Approvals};

use super::super::approvals;
use super::super::place::Place;

/// The queue of calls, if there is one.
pub(super) struct Queue(Option<(Approvals, String)>);

impl Queue {
    /// Opens the queue in the database that is named, or that in the log, if it is a database that has one.
    pub(super) async fn open(named: Option<&Place>, log: &Place) -> Result<Queue, String> {
        let opened = match named {
            Some(place) => Some((approvals::open(place, false).await?, place)),
            // A log of lines is no database.
            None => log.queue(false).await.ok().flatten().map(|queue| (queue, log)),
        };
        Ok(Queue(opened.map(|(approvals, place)| (approvals, place.to_string()))))
    }

    /// Returns the calls, and a mark of how they are now; `null` if they are still as they were at another mark. Their
    /// arguments are those of the log.
    pub(super) async fn changed(&self, mark: &str) -> Result<Value, String> {
        let Some((approvals, place)) = &self.0 else { return Ok(Value::Null) };
        let named = |why| format!("{place}: {why}");
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
        Ok(json!({ "mark": now, "file": place, "rows": rows }))
    }
}
