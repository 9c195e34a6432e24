//! Failure counts that several processes share through a store.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::base::data::Members;
use crate::base::sha256::sha256;
use crate::call::store::{Expected, Row, Store, StoreError};

const TABLE: &str = "repeats";

/// Maximum number of attempts to count a failure while other processes change the same row.
const TRIES: u32 = 100;

/// Counts failures in a store that other processes read, in addition to the counts of this process.
///
/// The key of a call is a digest of the caller, the session, the tool and the arguments.
#[derive(Clone, Debug)]
pub(super) struct Failures(pub(super) Arc<dyn Store>);

/// A call that failed several times in a row with the same error: `{"count", "error", "shown"}`.
#[derive(Clone, Debug, Default)]
pub(super) struct FailedCall {
    /// The version of the row; `None` if there is none.
    version: Option<u64>,
    /// Number of consecutive failures; 0 if the last run succeeded, or the count has expired.
    pub(super) count: u32,
    /// The digest of the error.
    error: String,
    /// The beginning of the error, which the model reads again.
    pub(super) shown: String,
}

impl FailedCall {
    fn of(row: Option<Row>) -> FailedCall {
        let Some(row) = row else { return FailedCall::default() };
        let read = || {
            let mut members = Members::read(serde_json::from_slice::<Value>(&row.value)?, "the failures")?;
            let (count, error) = (members.take("count")?, members.take("error")?);
            Ok::<_, serde_json::Error>(FailedCall {
                version: None,
                count,
                error,
                shown: members.take("shown")?,
            })
        };
        // An unreadable row counts as zero, and is replaced.
        FailedCall { version: Some(row.version), ..read().unwrap_or_default() }
    }
}

impl Failures {
    /// Returns the failures of a call.
    pub(super) async fn of(&self, call: &str) -> Result<FailedCall, StoreError> {
        self.0.get(TABLE, call).await.map(FailedCall::of)
    }

    /// Counts a failure, restarting from one if the error differs from the last one, and stores it for a limited time.
    pub(super) async fn failed(
        &self,
        call: &str,
        mut known: FailedCall,
        error: &str,
        memory: Duration,
    ) -> Result<(), StoreError> {
        let (error, visible) = (sha256(error.as_bytes()), super::error_summary(error));
        for _ in 0..TRIES {
            let before = if known.error == error { known.count } else { 0 };
            let value = json!({ "count": before.saturating_add(1), "error": error, "shown": visible });
            let (value, expected) = (value.to_string(), Expected::known(known.version));
            if self.0.put(TABLE, call, value.as_bytes(), memory, expected).await?.is_some() {
                break;
            }
            known = self.of(call).await?;
        }
        Ok(())
    }

    /// Forgets the failures of a call, since it succeeded.
    pub(super) async fn succeeded(&self, call: &str) -> Result<(), StoreError> {
        self.0.delete(TABLE, call, Expected::Any).await.map(drop)
    }
}
