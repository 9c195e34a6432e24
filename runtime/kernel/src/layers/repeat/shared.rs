//! Failures that processes count together.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::base::data::Members;
use crate::base::sha256::sha256;
use crate::call::store::{Expected, Row, Store, StoreError};

const TABLE: &str = "repeats";

/// How often a failure is counted again because another process was faster.
const TRIES: u32 = 100;

/// Counts failures where other processes see them, in addition to the memory of this one.
///
/// The key of a call stands for the caller, the session, the tool and the arguments: it is a digest.
#[derive(Clone, Debug)]
pub(super) struct Failures(pub(super) Arc<dyn Store>);

/// A call that failed several times in a row with the same error: `{"count", "error", "shown"}`.
#[derive(Clone, Debug, Default)]
pub(super) struct FailedCall {
    /// The version of the row; `None` if there is none.
    version: Option<u64>,
    /// How often it failed; 0 if its last run did not, or that is forgotten.
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
        // What cannot be read counts for nothing, and is replaced.
        FailedCall { version: Some(row.version), ..read().unwrap_or_default() }
    }
}

impl Failures {
    /// Returns the failures of a call.
    pub(super) async fn of(&self, call: &str) -> Result<FailedCall, StoreError> {
        self.0.get(TABLE, call).await.map(FailedCall::of)
    }

    /// Counts a failure, starting again from one if the error differs from the last one, and remembers it for a time.
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
