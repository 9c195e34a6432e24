//! Records in memory, for tests and for programs that show their last calls.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{AuditError, AuditIntent, AuditOutcome, AuditSink, AuditStatus};
use toolgen_kernel::base::sync::unpoisoned;

/// A sink that keeps all records in memory. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemorySink(Arc<Mutex<Rows>>);

#[derive(Debug, Default)]
struct Rows {
    rows: Vec<MemoryRecord>,
    /// The rows of running calls.
    running: BTreeMap<u64, usize>,
}

/// The record of a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct MemoryRecord {
    /// The intent.
    pub intent: AuditIntent,
    /// The outcome, if it is known.
    pub outcome: Option<AuditOutcome>,
}

impl MemoryRecord {
    /// Returns the status of the call.
    #[must_use]
    pub fn status(&self) -> AuditStatus {
        self.outcome.as_ref().map_or(AuditStatus::Started, |outcome| outcome.status)
    }
}

impl MemorySink {
    /// Creates an empty sink.
    #[must_use]
    pub fn new() -> MemorySink {
        MemorySink::default()
    }

    /// Returns the records, in the order in which they were started.
    #[must_use]
    pub fn rows(&self) -> Vec<MemoryRecord> {
        self.lock().rows.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        unpoisoned(self.0.lock())
    }
}

impl AuditSink for MemorySink {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        let mut rows = self.lock();
        let index = rows.rows.len();
        rows.running.insert(intent.key, index);
        rows.rows.push(MemoryRecord { intent: intent.clone(), outcome: None });
        Ok(())
    }

    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError> {
        let mut rows = self.lock();
        let index = rows.running.remove(&intent.key);
        match index.and_then(|index| rows.rows.get_mut(index)) {
            Some(row) => row.outcome = Some(outcome.clone()),
            None => rows.rows.push(MemoryRecord { intent: intent.clone(), outcome: Some(outcome.clone()) }),
        }
        Ok(())
    }
}
