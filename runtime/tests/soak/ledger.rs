//! Checks the audit records: every call has exactly one, regardless of its outcome.

use std::collections::BTreeSet;

use toolgen_runtime::layers::audit::{AuditError, AuditIntent, AuditOutcome, AuditSink};

use crate::layers::count;
use crate::prelude::*;

/// The set of recorded calls: one bit per call, so that it does not grow, and the keys of running calls.
#[derive(Clone)]
pub(crate) struct Ledger(Arc<Inner>, BTreeSet<u64>);

struct Inner {
    seen: Vec<AtomicU64>,
    twice: AtomicU64,
    begun: AtomicU64,
    running: AtomicU64,
    ended: AtomicU64,
    /// Nested calls of tools by tools.
    nested: AtomicU64,
}

impl Ledger {
    pub(crate) fn new(calls: u64) -> Ledger {
        let words = usize::try_from(calls / 64 + 1).unwrap();
        Ledger(
            Arc::new(Inner {
                seen: (0..words).map(|_| AtomicU64::new(0)).collect(),
                twice: AtomicU64::new(0),
                begun: AtomicU64::new(0),
                running: AtomicU64::new(0),
                ended: AtomicU64::new(0),
                nested: AtomicU64::new(0),
            }),
            BTreeSet::new(),
        )
    }

    /// Checks that each of these calls has one record, and that all calls that began have ended. Returns the number
    /// of records, including those of nested calls.
    pub(crate) fn check(&self, calls: u64) -> u64 {
        let get = |counter: &AtomicU64| counter.load(Ordering::SeqCst);
        let seen: u64 = self.0.seen.iter().map(|word| u64::from(get(word).count_ones())).sum();
        let (started, ended, nested) = (get(&self.0.begun), get(&self.0.ended), get(&self.0.nested));
        println!("records: {ended} of calls that ended, {started} of which had been begun");
        assert_eq!((seen, get(&self.0.twice)), (calls, 0), "calls without a record, or with two");
        assert_eq!((get(&self.0.running), ended), (0, calls + nested));
        assert!(started < ended, "a rejected call was started");
        ended
    }
}

impl AuditSink for Ledger {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        if !self.1.insert(intent.key) {
            return Err(AuditError::new("a call began twice"));
        }
        count(&self.0.begun);
        count(&self.0.running);
        Ok(())
    }

    fn outcome(&mut self, intent: &AuditIntent, _: &AuditOutcome) -> Result<(), AuditError> {
        count(&self.0.ended);
        if self.1.remove(&intent.key) {
            self.0.running.fetch_sub(1, Ordering::Relaxed);
        }
        let (_, number) = intent.tool_call_id.rsplit_once('-').unwrap();
        let Ok(number) = number.parse::<u64>() else {
            count(&self.0.nested);
            return Ok(());
        };
        let bit = 1 << (number % 64);
        if self.0.seen[usize::try_from(number / 64).unwrap()].fetch_or(bit, Ordering::Relaxed) & bit != 0 {
            count(&self.0.twice);
        }
        Ok(())
    }
}
