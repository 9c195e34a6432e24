//! The rows of a queue in a store: the entry that people may see, the sealed call beside it, and the names of the calls
//! that were used up.

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

/// The sealed calls by the ID of their entry, as JSON, until they start or can no longer run. They are kept apart, since
/// secrets are among their arguments.
const REQUESTS: &str = "approval-requests";

/// The names of the calls that were used up.
const USED: &str = "approvals-used";

impl Approvals {
    /// Takes a name and returns whether it was free: of all that take it, in whatever processes, one is told so. It is
    /// forgotten some time after its request can no longer run.
    pub(super) async fn take(&self, name: &str, expires_at: SystemTime) -> Result<bool, ToolError> {
        let ttl = left(expires_at).saturating_add(CLOCK_SKEW);
        let taken = self.store.put(USED, name, b"", ttl, Expected::Absent).await.map(|taken| taken.is_some());
        match self.on_failure {
            OnFailure::Refuse => Ok(taken?),
            // What was resumed while the store was away is not resumed again when it is back.
            OnFailure::Degrade => Ok(self.own.take(name, expires_at) && taken.unwrap_or(true)),
        }
    }

    /// Adds an entry, and its sealed call first: whoever finds the entry finds it, too.
    pub(super) async fn insert(&self, entry: &QueuedApproval) -> Result<(), ApprovalError> {
        let (id, value) = (entry.id.as_str(), entry.written()?);
        if let Some(request) = entry.sealed()? {
            let ttl = left(entry.expires_at);
            self.store.put(REQUESTS, id, request.as_bytes(), ttl, Expected::Absent).await?;
        }
        match self.store.put(ENTRIES, id, value.as_bytes(), kept(entry), Expected::Absent).await? {
            Some(_) => Ok(()),
            None => {
                let reason = format!("there is already a call '{id}' in the queue");
                Err(ApprovalError::Queue(ToolError::failed(reason)))
            }
        }
    }

    /// Replaces an entry if it still has its version, and returns the next one. A call that can no longer run loses its
    /// sealed part.
    pub(super) async fn replace(&self, entry: &QueuedApproval) -> Result<Option<u64>, ApprovalError> {
        let (id, value, expected) = (&entry.id, entry.written()?, Expected::Version(entry.version));
        let version = self.store.put(ENTRIES, id, value.as_bytes(), kept(entry), expected).await?;
        if version.is_some() && entry.is_begun() {
            // If this fails, it is forgotten when it expires; it does not run again.
            let _ = self.unseal(id).await;
        }
        Ok(version)
    }

    /// Forgets the sealed call of an entry.
    pub(super) async fn unseal(&self, id: &str) -> Result<bool, StoreError> {
        self.store.delete(REQUESTS, id, Expected::Any).await
    }

    /// Returns an entry with its sealed call.
    pub(super) async fn read(&self, id: &str) -> Result<Option<QueuedApproval>, StoreError> {
        loop {
            let Some(row) = self.store.get(ENTRIES, id).await? else { return Ok(None) };
            let request = self.store.get(REQUESTS, id).await?;
            let (lacks, version) = (request.is_none(), row.version);
            let entry = QueuedApproval::of(row, request.as_ref(), now());
            // Perhaps it was started in between, and lost it for that reason.
            let may_differ = lacks && entry.damage.is_some();
            if !may_differ || self.store.get(ENTRIES, id).await?.map(|row| row.version) == Some(version) {
                return Ok(Some(entry));
            }
        }
    }

    /// Returns all entries, those that have waited longest first.
    pub(super) async fn all(&self) -> Result<Vec<QueuedApproval>, StoreError> {
        // An entry that is added meanwhile lacks its sealed call below, and is read by itself.
        let mut requests: BTreeMap<String, Row> =
            self.store.scan(REQUESTS, "").await?.into_iter().map(|row| (row.key.clone(), row)).collect();
        let mut all = Vec::new();
        for row in self.store.scan(ENTRIES, "").await? {
            let request = requests.remove(&row.key);
            let lacks = request.is_none();
            let entry = QueuedApproval::of(row, request.as_ref(), now());
            if lacks && entry.damage.is_some() {
                all.extend(self.read(&entry.id).await?);
            } else {
                all.push(entry);
            }
        }
        all.sort_by_key(|entry| entry.requested_at);
        Ok(all)
    }

    /// Returns the entries whose calls may still run. There are few of them, while the others stay for a month.
    pub(super) async fn open(&self) -> Result<Vec<QueuedApproval>, StoreError> {
        let mut open = Vec::new();
        for request in self.store.scan(REQUESTS, "").await? {
            let row = self.store.get(ENTRIES, &request.key).await?;
            open.extend(row.map(|row| QueuedApproval::of(row, Some(&request), now())));
        }
        open.sort_by_key(|entry| entry.requested_at);
        Ok(open)
    }

    /// Returns the IDs that begin with a text.
    pub(super) async fn ids(&self, start: &str) -> Result<Vec<Text>, StoreError> {
        let rows = self.store.scan(ENTRIES, start).await?;
        Ok(rows.into_iter().map(|row| Text::from(row.key)).collect())
    }
}

impl QueuedApproval {
    /// Whether the call was started or is over, so that it can no longer run.
    fn is_begun(&self) -> bool {
        matches!(self.state, ApprovalState::Started | ApprovalState::Finished)
    }
}

/// For how long a call can still run.
fn left(expires_at: SystemTime) -> Duration {
    expires_at.duration_since(SystemTime::now()).unwrap_or_default()
}

/// For how long an entry is kept.
fn kept(entry: &QueuedApproval) -> Duration {
    let end = entry.expires_at.checked_add(APPROVAL_RETENTION).unwrap_or(entry.expires_at);
    left(end)
}
