//! The rows of a queue in a store: the entry that people may see, the separate row with the sealed call, and the names
//! of used calls.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use super::approvals::{Approvals, now};
use super::entry::QueuedApproval;
use super::error::ApprovalError;
use super::state::ApprovalState;
use super::{APPROVAL_RETENTION, CLOCK_SKEW};
use crate::base::frozen::Text;
use crate::call::error::ToolError;
use crate::call::store::{Expected, OnFailure, Row, StoreError};

/// The entries by their ID, as JSON.
const ENTRIES: &str = "approvals";

/// The sealed calls by the ID of their entry, as JSON, until they start or can no longer run. They are separate
/// because their arguments contain secrets.
const REQUESTS: &str = "approval-requests";

/// The names of used calls.
const USED: &str = "approvals-used";

impl Approvals {
    /// Takes a name and returns whether it was free. If several processes take a name, exactly one of them gets
    /// `true`. The name is deleted some time after its request can no longer run.
    pub(super) async fn take(&self, name: &str, expires_at: SystemTime) -> Result<bool, ToolError> {
        let ttl = remaining_time(expires_at).saturating_add(CLOCK_SKEW);
        let is_free =
            self.store.put(USED, name, b"", ttl, Expected::Absent).await.map(|version| version.is_some());
        match self.on_failure {
            OnFailure::Refuse => Ok(is_free?),
            // A call that was resumed while the store was unavailable is not resumed again after the store is back.
            OnFailure::Degrade => Ok(self.local_names.take(name, expires_at) && is_free.unwrap_or(true)),
        }
    }

    /// Adds an entry, after its sealed call: a reader that finds the entry also finds the sealed call.
    pub(super) async fn insert(&self, entry: &QueuedApproval) -> Result<(), ApprovalError> {
        let (id, value) = (entry.id.as_str(), entry.to_json()?);
        if let Some(request) = entry.sealed_call()? {
            let ttl = remaining_time(entry.expires_at);
            self.store.put(REQUESTS, id, request.as_bytes(), ttl, Expected::Absent).await?;
        }
        match self.store.put(ENTRIES, id, value.as_bytes(), retention(entry), Expected::Absent).await? {
            Some(_) => Ok(()),
            None => {
                let reason = format!("there is already a call '{id}' in the queue");
                Err(ApprovalError::Queue(ToolError::failed(reason)))
            }
        }
    }

    /// Replaces an entry if it still has its version, and returns the next version. If the call can no longer run, its
    /// sealed call is deleted.
    pub(super) async fn replace(&self, entry: &QueuedApproval) -> Result<Option<u64>, ApprovalError> {
        let (id, value, expected) = (&entry.id, entry.to_json()?, Expected::Version(entry.version));
        let version = self.store.put(ENTRIES, id, value.as_bytes(), retention(entry), expected).await?;
        if version.is_some() && entry.has_started() {
            // If this fails, the sealed call is deleted when it expires. It does not run again.
            let _ = self.delete_sealed_call(id).await;
        }
        Ok(version)
    }

    /// Deletes the sealed call of an entry.
    pub(super) async fn delete_sealed_call(&self, id: &str) -> Result<bool, StoreError> {
        self.store.delete(REQUESTS, id, Expected::Any).await
    }

    /// Returns an entry with its sealed call.
    pub(super) async fn read(&self, id: &str) -> Result<Option<QueuedApproval>, StoreError> {
        loop {
            let Some(row) = self.store.get(ENTRIES, id).await? else { return Ok(None) };
            let request = self.store.get(REQUESTS, id).await?;
            let (has_no_sealed_call, version) = (request.is_none(), row.version);
            let entry = QueuedApproval::from_row(row, request.as_ref(), now());
            // The call may have been started in between, which deletes its sealed call.
            let may_differ = has_no_sealed_call && entry.damage.is_some();
            if !may_differ || self.store.get(ENTRIES, id).await?.map(|row| row.version) == Some(version) {
                return Ok(Some(entry));
            }
        }
    }

    /// Returns all entries, those that have waited longest first.
    pub(super) async fn all(&self) -> Result<Vec<QueuedApproval>, StoreError> {
        // An entry that is added concurrently has no sealed call in this map, so it is read separately.
        let mut requests: BTreeMap<String, Row> =
            self.store.scan(REQUESTS, "").await?.into_iter().map(|row| (row.key.clone(), row)).collect();
        let mut all = Vec::new();
        for row in self.store.scan(ENTRIES, "").await? {
            let request = requests.remove(&row.key);
            let has_no_sealed_call = request.is_none();
            let entry = QueuedApproval::from_row(row, request.as_ref(), now());
            if has_no_sealed_call && entry.damage.is_some() {
                all.extend(self.read(&entry.id).await?);
            } else {
                all.push(entry);
            }
        }
        all.sort_by_key(|entry| entry.requested_at);
        Ok(all)
    }

    /// Returns the entries whose calls may still run. There are few of them, while finished entries stay for a month.
    pub(super) async fn pending(&self) -> Result<Vec<QueuedApproval>, StoreError> {
        let mut pending = Vec::new();
        for request in self.store.scan(REQUESTS, "").await? {
            let row = self.store.get(ENTRIES, &request.key).await?;
            pending.extend(row.map(|row| QueuedApproval::from_row(row, Some(&request), now())));
        }
        pending.sort_by_key(|entry| entry.requested_at);
        Ok(pending)
    }

    /// Returns the IDs that begin with a prefix.
    pub(super) async fn ids(&self, prefix: &str) -> Result<Vec<Text>, StoreError> {
        let rows = self.store.scan(ENTRIES, prefix).await?;
        Ok(rows.into_iter().map(|row| Text::from(row.key)).collect())
    }
}

impl QueuedApproval {
    /// Whether the call was started or has ended, so that it can no longer run.
    fn has_started(&self) -> bool {
        matches!(self.state, ApprovalState::Started | ApprovalState::Finished)
    }
}

/// Returns the time until a call expires.
fn remaining_time(expires_at: SystemTime) -> Duration {
    expires_at.duration_since(SystemTime::now()).unwrap_or_default()
}

/// Returns how long the store keeps an entry.
fn retention(entry: &QueuedApproval) -> Duration {
    let end = entry.expires_at.checked_add(APPROVAL_RETENTION).unwrap_or(entry.expires_at);
    remaining_time(end)
}
