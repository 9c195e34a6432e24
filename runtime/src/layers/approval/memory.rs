//! Keeps waiting calls, and the names of those that were resumed, in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::future::ready;
use std::sync::Mutex;
use std::time::SystemTime;

use super::queue::{ApprovalQueue, ApprovalState, QueueRow, forget_expired};
use super::{APPROVALS_KEPT, ApprovalStore};
use crate::base::frozen::Text;
use crate::base::future::BoxFuture;
use crate::base::sync::unpoisoned;
use crate::call::error::ToolError;

/// Keeps in memory which calls were resumed, until their requests would have expired, and as an [`ApprovalQueue`] the
/// calls that wait.
#[derive(Default)]
pub struct MemoryApprovals(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    names: BTreeMap<Text, SystemTime>,
    /// The number of names at which expired ones are swept.
    sweep_at: usize,
    rows: BTreeMap<Text, QueueRow>,
    /// The number of rows at which old ones are swept.
    sweep_rows_at: usize,
}

/// The number of names or rows below which there is no sweep.
const FEW: usize = 1024;

impl MemoryApprovals {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> MemoryApprovals {
        MemoryApprovals::default()
    }

    fn take_now(&self, name: &str, expires_at: SystemTime) -> bool {
        let mut kept = unpoisoned(self.0.lock());
        if kept.names.len() >= kept.sweep_at.max(FEW) {
            let now = SystemTime::now();
            kept.names.retain(|_, expires_at| *expires_at > now);
            kept.sweep_at = kept.names.len() * 2;
        }
        kept.names.insert(Text::copy_of(name), expires_at).is_none()
    }

    /// Whether a name was taken, and has not been forgotten since.
    pub(super) fn knows(&self, name: &Text) -> bool {
        unpoisoned(self.0.lock()).names.contains_key(name)
    }

    /// Takes a name, whether it was free or not.
    pub(super) fn note(&self, name: &Text, expires_at: SystemTime) {
        self.take_now(name, expires_at);
    }

    fn insert_now(&self, row: QueueRow) -> Result<(), ToolError> {
        let mut kept = unpoisoned(self.0.lock());
        if kept.rows.len() >= kept.sweep_rows_at.max(FEW) {
            let now = SystemTime::now();
            let is_kept =
                |row: &QueueRow| row.expires_at.checked_add(APPROVALS_KEPT).is_none_or(|end| end > now);
            kept.rows.retain(|_, row| is_kept(row));
            forget_expired(kept.rows.values_mut(), now);
            kept.sweep_rows_at = kept.rows.len() * 2;
        }
        if kept.rows.contains_key(&row.id) {
            return Err(ToolError::failed(format!("a call with the ID '{}' waits already", row.id)));
        }
        kept.rows.insert(row.id.clone(), row);
        Ok(())
    }

    fn list_now(&self, states: &[ApprovalState]) -> Vec<QueueRow> {
        let mut kept = unpoisoned(self.0.lock());
        forget_expired(kept.rows.values_mut(), SystemTime::now());
        let mut rows: Vec<QueueRow> =
            kept.rows.values().filter(|row| states.contains(&row.state)).cloned().collect();
        rows.sort_by_key(|row| row.asked_at);
        rows
    }

    fn replace_now(&self, row: QueueRow, version: u64) -> bool {
        let mut kept = unpoisoned(self.0.lock());
        match kept.rows.get_mut(&row.id) {
            Some(known) if known.version == version => {
                *known = row;
                true
            }
            _ => false,
        }
    }
}

impl ApprovalStore for MemoryApprovals {
    fn take<'a>(&'a self, name: &'a str, expires_at: SystemTime) -> BoxFuture<'a, Result<bool, ToolError>> {
        Box::pin(ready(Ok(self.take_now(name, expires_at))))
    }
}

impl ApprovalQueue for MemoryApprovals {
    fn insert(&self, row: QueueRow) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(ready(self.insert_now(row)))
    }

    fn read<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<QueueRow>, ToolError>> {
        let mut kept = unpoisoned(self.0.lock());
        let mut row = kept.rows.get_mut(&Text::copy_of(id));
        forget_expired(row.as_deref_mut(), SystemTime::now());
        Box::pin(ready(Ok(row.cloned())))
    }

    fn list<'a>(&'a self, states: &'a [ApprovalState]) -> BoxFuture<'a, Result<Vec<QueueRow>, ToolError>> {
        Box::pin(ready(Ok(self.list_now(states))))
    }

    fn replace(&self, row: QueueRow, version: u64) -> BoxFuture<'_, Result<bool, ToolError>> {
        Box::pin(ready(Ok(self.replace_now(row, version))))
    }
}

impl fmt::Debug for MemoryApprovals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = unpoisoned(self.0.lock());
        let (names, rows) = (kept.names.len(), kept.rows.len());
        f.debug_struct("MemoryApprovals").field("names", &names).field("rows", &rows).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn names_are_remembered_until_they_expire() {
        let store = MemoryApprovals::new();
        let (past, later) = (SystemTime::UNIX_EPOCH, SystemTime::now() + Duration::from_secs(60));
        for number in 0..FEW {
            assert!(store.take_now(&number.to_string(), if number % 2 == 0 { past } else { later }));
        }
        assert!(!store.take_now("1", later), "this swept");
        assert_eq!(unpoisoned(store.0.lock()).names.len(), FEW / 2);
        assert!(!store.take_now("3", later));
    }

    #[test]
    fn rows_are_remembered_for_a_while_after_they_expired() {
        let store = MemoryApprovals::new();
        let now = SystemTime::now();
        let row = |number: usize, expires_at| QueueRow {
            id: number.to_string().into(),
            version: 1,
            state: ApprovalState::Waiting,
            asked_at: now,
            expires_at,
            entry: String::new(),
            request: Some("secret".to_owned()),
        };
        let long_ago = now - APPROVALS_KEPT - Duration::from_secs(1);
        for number in 0..FEW {
            let ago = if number % 2 == 0 { long_ago } else { now - Duration::from_secs(1) };
            store.insert_now(row(number, ago)).unwrap();
        }
        store.insert_now(row(FEW, now + Duration::from_secs(60))).unwrap();
        let rows = store.list_now(&ApprovalState::ALL);
        assert_eq!(rows.len(), FEW / 2 + 1, "this swept");
        assert_eq!(rows.iter().filter(|row| row.request.is_some()).count(), 1);
        assert!(store.insert_now(row(FEW, now)).is_err());
    }
}
