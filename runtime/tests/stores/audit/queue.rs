//! Tests of slow or broken sinks, and of their effect on callers.

use std::sync::atomic::AtomicBool;
use std::sync::mpsc;

use toolgen_runtime::layers::audit::{AuditError, AuditIntent, AuditOutcome};
use toolgen_runtime::layers::redact::Redactor;

use super::{call, info, record, welcome};
use crate::prelude::*;

/// A sink that waits for a signal before each record.
struct Slow {
    inner: MemorySink,
    go: mpsc::Receiver<()>,
}

impl AuditSink for Slow {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        // If the sender was dropped, the sink continues.
        let _ = self.go.recv();
        self.inner.intent(intent)
    }

    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError> {
        let _ = self.go.recv();
        self.inner.outcome(intent, outcome)
    }
}

/// A sink that fails on demand.
#[derive(Clone, Default)]
struct Broken {
    inner: MemorySink,
    intents: Arc<AtomicBool>,
    outcomes: Arc<AtomicBool>,
    flushes: Arc<AtomicBool>,
    panics: bool,
}

impl Broken {
    fn fail(&self, when: &AtomicBool) -> Result<(), AuditError> {
        let fails = when.load(Ordering::Relaxed);
        assert!(!(fails && self.panics), "the disk is gone");
        if fails { Err(AuditError::new("the disk is full")) } else { Ok(()) }
    }
}

impl AuditSink for Broken {
    fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
        self.fail(&self.intents)?;
        self.inner.intent(intent)
    }

    fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError> {
        self.fail(&self.outcomes)?;
        self.inner.outcome(intent, outcome)
    }

    fn flush(&mut self) -> Result<(), AuditError> {
        self.fail(&self.flushes)
    }
}

#[tokio::test]
async fn call_is_one_complete_row() {
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let call = || {
        let mut info = info("call-1", json!({"user": "me", "pin": "hunter2"})).with_attempt(2);
        info.session_id = "s-1".into();
        info.agent_id = "coder".into();
        info
    };
    let mut record = auditor.record(call);
    record.intent().await.unwrap();
    auditor.flush().await.unwrap();
    assert_eq!(sink.rows()[0].status(), AuditStatus::Started);
    tokio::time::sleep(Duration::from_millis(5)).await;
    record.finish(&Ok(ToolResult::json(json!({"echo": "hunter2", "token": "x", "n": 1})))).await;
    auditor.flush().await.unwrap();

    let [row] = sink.rows().try_into().unwrap();
    let (intent, outcome) = (&row.intent, row.outcome.as_ref().unwrap());
    assert_eq!(intent.to_json()["parameters"], json!({"user": "me", "pin": "[REDACTED]"}));
    assert_eq!((&*intent.session_id, &*intent.agent_id, intent.attempt), ("s-1", "coder", 2));
    assert_eq!((&*intent.tool_name, &*intent.tool_call_id), ("login", "call-1"));
    assert_eq!(intent.timestamp.len(), "2026-01-31T23:59:59.999Z".len());
    assert_eq!(intent.spec_hash.len(), 64);
    assert_eq!((outcome.status, outcome.is_error), (AuditStatus::Ok, false));
    assert_eq!((&outcome.error, &outcome.error_code), (&None, &None));
    assert!(outcome.duration_ms() >= 5);
    assert_eq!(outcome.result["details"], json!({"echo": "[REDACTED]", "token": "[REDACTED]", "n": 1}));
    assert!(!outcome.result.to_string().contains("hunter2"));
}

#[tokio::test]
async fn every_outcome_has_a_status() {
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let timeout = ToolError::Timeout { duration: Duration::from_secs(1) };
    let soft = ToolResult::text("no").with_details(json!({"error": "full", "code": "DISK"}));
    let ends = [
        (welcome(), AuditStatus::Ok, None),
        (Ok(soft), AuditStatus::Error, Some(("full", "DISK"))),
        (Err(ToolError::failed("it broke")), AuditStatus::Error, Some(("it broke", "EXECUTION_ERROR"))),
        (Err(timeout), AuditStatus::Timeout, Some(("Tool exceeded timeout of 1s", "TIMEOUT"))),
        (Err(ToolError::Cancelled), AuditStatus::Cancelled, Some(("Cancelled", "CANCELLED"))),
    ];
    for (end, ..) in &ends {
        call(&auditor, "1", end.clone()).await;
    }
    // Rejected, so there is no intent.
    record(&auditor, "2").finish(&Err(ToolError::denied("not hunter2"))).await;
    // Cancelled, before and after the intent.
    drop(record(&auditor, "3"));
    let mut given_up = record(&auditor, "4");
    given_up.intent().await.unwrap();
    drop(given_up);
    auditor.flush().await.unwrap();
    let denied = (AuditStatus::Refused, Some(("not [REDACTED]", "PERMISSION_DENIED")));
    let given_up = (AuditStatus::Cancelled, Some(("Cancelled", "CANCELLED")));
    let wanted =
        ends.into_iter().map(|(_, status, error)| (status, error)).chain([denied, given_up, given_up]);
    let rows = sink.rows();
    assert_eq!(rows.len(), wanted.clone().count());
    for (row, (status, error)) in rows.iter().zip(wanted) {
        let outcome = row.outcome.as_ref().unwrap();
        let message = outcome.error.as_deref().zip(outcome.error_code.as_deref());
        assert_eq!((outcome.status, message), (status, error));
        assert_eq!(outcome.is_error, error.is_some());
    }
}

#[tokio::test]
async fn call_ended_by_a_panic_has_an_unknown_outcome() {
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let inner = auditor.clone();
    let task = tokio::spawn(async move {
        let mut record = record(&inner, "1");
        record.intent().await.unwrap();
        panic!("this tears the task down");
    });
    assert!(task.await.is_err());
    auditor.flush().await.unwrap();
    assert_eq!(sink.rows()[0].status(), AuditStatus::Unknown);
}

#[tokio::test]
async fn slow_sink_does_not_slow_callers_and_drops_are_counted() {
    let (word, go) = mpsc::channel();
    let sink = MemorySink::new();
    let auditor = Auditor::builder(Slow { inner: sink.clone(), go }).capacity(10).start().unwrap();
    // The writer takes the first record and blocks.
    let mut first = record(&auditor, "first");
    first.intent().await.unwrap();
    while !sink_is_busy(&auditor) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let start = Instant::now();
    let mut open = Vec::new();
    for number in 0..100 {
        let mut record = record(&auditor, &number.to_string());
        record.intent().await.unwrap();
        open.push(record);
    }
    assert_eq!(auditor.dropped(), 90);
    // Outcomes of calls with an intent fit into the queue; other calls have no record at all.
    for record in open {
        record.finish(&welcome()).await;
    }
    first.finish(&welcome()).await;
    // Rejected calls need capacity as well.
    record(&auditor, "refused").finish(&Err(ToolError::denied("no"))).await;
    assert!(start.elapsed() < Duration::from_millis(500), "{:?}", start.elapsed());
    assert_eq!(auditor.dropped(), 91);
    drop(word);
    auditor.flush().await.unwrap();
    let rows = sink.rows();
    assert_eq!(rows.len(), 11);
    assert!(rows.iter().all(|row| row.status() == AuditStatus::Ok));
    assert_eq!(auditor.errors(), 0);
}

/// Whether the writer has taken the queued record, so that the queue has its full capacity.
fn sink_is_busy(auditor: &Auditor) -> bool {
    format!("{auditor:?}").contains("waiting: 0")
}

#[tokio::test]
async fn failing_sink_is_counted_and_retried() {
    for panics in [false, true] {
        let sink = Broken { panics, ..Broken::default() };
        let auditor = Auditor::builder(sink.clone()).start().unwrap();
        // An intent and an outcome.
        sink.intents.store(true, Ordering::Relaxed);
        sink.outcomes.store(true, Ordering::Relaxed);
        call(&auditor, "1", welcome()).await;
        let reason = auditor.flush().await.unwrap_err().to_string();
        assert_eq!(reason, if panics { "the sink panicked" } else { "the disk is full" });
        assert_eq!(auditor.errors(), 2);
        // Only the intent: the outcome contains all of its information.
        sink.outcomes.store(false, Ordering::Relaxed);
        call(&auditor, "2", welcome()).await;
        assert!(auditor.flush().await.is_err());
        assert_eq!((auditor.errors(), sink.inner.rows().len()), (3, 1));
        assert_eq!(sink.inner.rows()[0].status(), AuditStatus::Ok);
        // All records of a batch.
        sink.intents.store(false, Ordering::Relaxed);
        sink.flushes.store(true, Ordering::Relaxed);
        call(&auditor, "3", welcome()).await;
        assert!(auditor.flush().await.is_err());
        assert_eq!(auditor.errors(), 5);
        // It works again.
        sink.flushes.store(false, Ordering::Relaxed);
        call(&auditor, "4", welcome()).await;
        auditor.flush().await.unwrap();
        assert_eq!((auditor.errors(), auditor.dropped()), (5, 0));
    }
}

#[tokio::test]
async fn durable_call_is_refused_if_its_intent_fails() {
    for (panics, on_flush) in [(false, false), (false, true), (true, false), (true, true)] {
        let sink = Broken { panics, ..Broken::default() };
        let broken = if on_flush { &sink.flushes } else { &sink.intents };
        broken.store(true, Ordering::Relaxed);
        let auditor = Auditor::builder(sink.clone()).durable(true).start().unwrap();
        let mut record = record(&auditor, "1");
        let error = record.intent().await.unwrap_err();
        assert_eq!(error.code(), "AUDIT_FAILED");
        assert_eq!(error.to_string(), "The call could not be recorded, so it was not executed");
        assert!(error.operator_text().contains(if panics { "panicked" } else { "full" }), "{error:?}");
        record.finish(&Err(error)).await;
        assert!(auditor.errors() > 0);
    }
}

#[tokio::test]
async fn durable_calls_are_persisted_in_order() {
    /// Records the events in order.
    struct Ordered(Arc<Mutex<Vec<String>>>);
    impl Ordered {
        fn note(&self, what: String) {
            self.0.lock().unwrap().push(what);
        }
    }
    impl AuditSink for Ordered {
        fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
            self.note(format!("intent {}", intent.tool_call_id));
            Ok(())
        }
        fn outcome(&mut self, intent: &AuditIntent, _: &AuditOutcome) -> Result<(), AuditError> {
            self.note(format!("outcome {}", intent.tool_call_id));
            Ok(())
        }
        fn flush(&mut self) -> Result<(), AuditError> {
            self.note("flush".into());
            Ok(())
        }
        fn make_durable(&mut self) -> Result<(), AuditError> {
            self.note("durable".into());
            Ok(())
        }
    }
    let notes = Arc::new(Mutex::new(Vec::new()));
    let auditor = Auditor::builder(Ordered(Arc::clone(&notes))).durable(true).capacity(1).start().unwrap();
    let mut record_1 = record(&auditor, "1");
    record_1.intent().await.unwrap();
    notes.lock().unwrap().push("effect 1".into());
    record_1.finish(&welcome()).await;
    // In durable mode, a rejected call is also on disk when the response is returned.
    record(&auditor, "2").finish(&Err(ToolError::denied("no"))).await;
    let mut messages = notes.lock().unwrap().clone();
    messages.retain(|line| line != "flush");
    assert_eq!(messages, ["durable", "intent 1", "effect 1", "outcome 1", "outcome 2"]);
    assert_eq!(notes.lock().unwrap().last().unwrap(), "flush");

    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).durable(true).capacity(1).start().unwrap();
    let calls = (0..500).map(|number| {
        let auditor = auditor.clone();
        tokio::spawn(async move { call(&auditor, &number.to_string(), welcome()).await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    auditor.flush().await.unwrap();
    assert_eq!((sink.rows().len(), auditor.dropped()), (500, 0));
    assert!(sink.rows().iter().all(|row| row.status() == AuditStatus::Ok));
}

#[tokio::test]
async fn shutdown_loses_nothing() {
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    for number in 0..1000 {
        call(&auditor, &number.to_string(), welcome()).await;
    }
    let late = record(&auditor, "late");
    auditor.shutdown().await;
    assert_eq!(sink.rows().len(), 1000);
    late.finish(&welcome()).await;
    assert_eq!(auditor.dropped(), 1);
    assert!(auditor.flush().await.is_err());
    // A second call is harmless.
    auditor.shutdown().await;

    // The last handle waits on drop as well.
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    for number in 0..1000 {
        call(&auditor, &number.to_string(), welcome()).await;
    }
    drop(auditor);
    assert_eq!(sink.rows().len(), 1000);
}

#[tokio::test]
async fn durable_call_after_shutdown_is_refused() {
    let auditor = Auditor::builder(MemorySink::new()).durable(true).start().unwrap();
    auditor.shutdown().await;
    assert_eq!(record(&auditor, "1").intent().await.unwrap_err().code(), "AUDIT_FAILED");
}

#[tokio::test]
async fn missing_sink_records_nothing() {
    let auditor = Auditor::none();
    let asked = AtomicU32::new(0);
    let mut record = auditor.record(|| {
        asked.fetch_add(1, Ordering::Relaxed);
        CallInfo::new("1", "t", json!({}))
    });
    record.intent().await.unwrap();
    record.finish(&welcome()).await;
    auditor.flush().await.unwrap();
    auditor.shutdown().await;
    assert_eq!((asked.into_inner(), auditor.dropped(), auditor.is_on()), (0, 0, false));
}

#[tokio::test]
async fn values_of_unknown_tools_are_not_recorded() {
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let given = json!({"pin": "hunter2", "n": [5, true, null]});
    let record = auditor.record(|| CallInfo::new("1", "logn", given));
    record.finish(&Err(ToolError::NotFound { name: "logn".into(), suggestion: None })).await;
    auditor.flush().await.unwrap();
    let row = &sink.rows()[0];
    assert_eq!(row.intent.parameters, json!({"pin": "[REDACTED]", "n": ["[REDACTED]", true, null]}));
    assert_eq!((row.status(), &*row.intent.spec_hash), (AuditStatus::Refused, ""));
    assert_eq!(row.outcome.as_ref().unwrap().error.as_deref(), Some("Tool not found: logn"));
}

#[tokio::test]
async fn panicking_redactor_drops_the_values() {
    let sink = MemorySink::new();
    let redactor = Redactor::builder().rule(|_, _| panic!("broken rule")).build();
    let auditor = Auditor::builder(sink.clone()).redactor(redactor).start().unwrap();
    call(&auditor, "1", Ok(ToolResult::json(json!({"echo": "me"})))).await;
    auditor.flush().await.unwrap();
    let row = &sink.rows()[0];
    assert_eq!(row.intent.parameters, json!({"user": "[REDACTION_FAILED]", "pin": "[REDACTED]"}));
    assert_eq!(row.outcome.as_ref().unwrap().result["details"], json!({"echo": "[REDACTION_FAILED]"}));
}

/// Pays a recipient.
#[tool(undocumented)]
fn pay(to: &str) -> String {
    format!("paid {to}")
}

#[tokio::test]
async fn granted_call_stays_granted_if_recording_fails() {
    let sink = Broken::default();
    let auditor = Auditor::builder(sink.clone()).durable(true).start().unwrap();
    let approvals = Approvals::on(MemoryStore::new());
    let toolbox = Toolbox::builder(&Registry::new(toolset![pay]).unwrap())
        .middleware(|_: &ToolRequest<'_>| MiddlewareDecision::NeedApproval("It costs money.".to_owned()))
        .layer(auditor)
        .approval_queue(approvals.clone())
        .build()
        .unwrap();
    let turn = Turn::new("t");
    toolbox.run(ToolCall::new("1", "pay", json!({"to": "Bob"})), &turn).await;
    let id = approvals.list(&[ApprovalState::Waiting]).await.unwrap()[0].id.clone();
    approvals.grant(&id, "Eve", "").await.unwrap();
    sink.flushes.store(true, Ordering::Relaxed);
    let refused = toolbox.resume_decided(&id, &turn).await.unwrap().unwrap();
    assert_eq!(refused.outcome.unwrap_err().code(), "AUDIT_FAILED");
    assert_eq!(approvals.get(&id).await.unwrap().unwrap().state, ApprovalState::Granted);
    sink.flushes.store(false, Ordering::Relaxed);
    assert_eq!(approvals.decided().await.unwrap().len(), 1);
    assert_eq!(toolbox.resume_decided(&id, &turn).await.unwrap().unwrap().text(), "paid Bob");
}
