//! Records in memory, for tests and for programs that show their last calls.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::{AuditError, AuditIntent, AuditOutcome, AuditSink, AuditStatus};
use crate::base::sync::unpoisoned;

/// Keeps all records in memory. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemorySink(Arc<Mutex<Rows>>);

#[derive(Debug, Default)]
struct Rows {
    rows: Vec<Row>,
    /// Where the rows of running calls are.
    running: BTreeMap<u64, usize>,
}

/// The record of a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// What was to be done.
    pub intent: AuditIntent,
    /// What came of it, as far as it is known.
    pub outcome: Option<AuditOutcome>,
}

impl Row {
    /// How far the call has come.
    #[must_use]
    pub fn status(&self) -> AuditStatus {
        self.outcome.as_ref().map_or(AuditStatus::Started, |outcome| outcome.status)
    }
}

impl MemorySink {
    /// No records yet.
    #[must_use]
    pub fn new() -> MemorySink {
        MemorySink::default()
    }

    /// The records, in the order in which they began to be written.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        self.lock().rows.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Rows> {
        unpoisoned(self.0.lock())
    }
}

impl AuditSink for MemorySink {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        let mut all = self.lock();
        let index = all.rows.len();
        all.running.insert(intent.key, index);
        all.rows.push(Row { intent: intent.clone(), outcome: None });
        Ok(())
    }

    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError> {
        let mut all = self.lock();
        let index = all.running.remove(&intent.key);
        match index.and_then(|index| all.rows.get_mut(index)) {
            Some(row) => row.outcome = Some(outcome.clone()),
            None => all.rows.push(Row { intent: intent.clone(), outcome: Some(outcome.clone()) }),
        }
        Ok(())
    }
}
