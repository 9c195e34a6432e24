//! Failure counts that several processes share through a store.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::base::data::Members;
use crate::base::sha256::sha256;
use crate::call::store::{Expected, Row, Store, StoreError};

const TABLE: &str = "repeats";

/// Maximum number of attempts to count a failure while other processes change the same row.
const MAX_ATTEMPTS: u32 = 100;

/// Counts failures in a store that other processes read, in addition to the counts of this process.
///
/// The key of a call is a digest of the caller, the session, the tool and the arguments.
#[derive(Clone, Debug)]
pub(super) struct Failures(pub(super) Arc<dyn Store>);

/// A call that failed several times in a row with the same error: `{"count", "error", "shown"}`.
#[derive(Clone, Debug, Default)]
pub(super) struct FailedCall {
    /// The version of the row; `None` if there is no row.
    version: Option<u64>,
    /// Number of consecutive failures; 0 if the last run succeeded, or the count has expired.
    pub(super) count: u32,
    /// The digest of the error.
    error: String,
    /// The beginning of the error, which the model reads again.
    pub(super) error_summary: String,
}

impl FailedCall {
    fn from_row(row: Option<Row>) -> FailedCall {
        let Some(row) = row else { return FailedCall::default() };
        let read = || {
            let mut members = Members::read(serde_json::from_slice::<Value>(&row.value)?, "the failures")?;
            let (count, error) = (members.take("count")?, members.take("error")?);
            Ok::<_, serde_json::Error>(FailedCall {
                version: None,
                count,
                error,
                error_summary: members.take("shown")?,
            })
        };
        // An unreadable row counts as zero, and is replaced.
        FailedCall { version: Some(row.version), ..read().unwrap_or_default() }
    }
}

impl Failures {
    /// Returns the failures of a call.
    pub(super) async fn get(&self, call: &str) -> Result<FailedCall, StoreError> {
        self.0.get(TABLE, call).await.map(FailedCall::from_row)
    }

    /// Counts a failure, and stores the count for a limited time. The count restarts at 1 if the error differs from the
    /// last one.
    pub(super) async fn record_failure(
        &self,
        call: &str,
        mut failures: FailedCall,
        error: &str,
        memory: Duration,
    ) -> Result<(), StoreError> {
        let (error, summary) = (sha256(error.as_bytes()), super::error_summary(error));
        for _ in 0..MAX_ATTEMPTS {
            let count = if failures.error == error { failures.count } else { 0 };
            let value = json!({ "count": count.saturating_add(1), "error": error, "shown": summary });
            let (value, expected) = (value.to_string(), Expected::known(failures.version));
            if self.0.put(TABLE, call, value.as_bytes(), memory, expected).await?.is_some() {
                break;
            }
            failures = self.get(call).await?;
        }
        Ok(())
    }

    /// Deletes the failures of a call that succeeded.
    pub(super) async fn record_success(&self, call: &str) -> Result<(), StoreError> {
        self.0.delete(TABLE, call, Expected::Any).await.map(drop)
    }
}
