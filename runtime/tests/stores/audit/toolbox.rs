//! Tests of the records of calls through a toolbox: one row per response, and no secret in any row.

use toolgen_runtime::agent::dispatch::Strategy;
use toolgen_runtime::layers::audit::{AuditError, AuditIntent, AuditOutcome, MemoryRecord};
use toolgen_runtime::layers::control::{InputHandler, InputQuestion, InputReply};
use toolgen_runtime::{Content, Control, InputRequest};

use super::{Scratch, login};
use crate::prelude::*;

/// The actions of the tools, in order.
#[derive(Clone, Default)]
struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    fn note(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Does something to the world.
#[tool(undocumented)]
fn act(ctx: &ToolContext, what: &str) -> String {
    if let Some(journal) = ctx.service::<Journal>() {
        journal.note(format!("effect {what}"));
    }
    format!("did {what}")
}

/// Takes its time.
#[tool(timeout = "20ms")]
async fn hang() -> String {
    tokio::time::sleep(Duration::from_secs(60)).await;
    String::new()
}

/// Takes more of it.
#[tool]
async fn wait() -> String {
    tokio::time::sleep(Duration::from_secs(60)).await;
    String::new()
}

/// Breaks.
#[tool(undocumented)]
fn crash(#[arg(secret)] pin: &str) -> String {
    unreachable!("cannot work with {pin}")
}

/// Calls another tool.
#[tool]
async fn forward(ctx: &ToolContext) -> Result<ToolResult, ToolError> {
    ctx.call("login", json!({"user": "me", "pin": "hunter2"})).await
}

/// Asks for a code.
#[tool]
fn confirm(ctx: &ToolContext) -> ToolResult {
    match ctx.inputs().first() {
        Some(response) => ToolResult::text(format!(
            "{} from {}",
            response["code"].as_str().unwrap_or_default(),
            response["city"].as_str().unwrap_or_default()
        )),
        None => {
            let code = json!({"type": "string", "format": "password"});
            let schema = json!({"type": "object", "properties": {"code": code, "city": {"type": "string"}}});
            ToolResult::empty().with_control(Control::NeedInput(InputRequest::new("Which code?", schema)))
        }
    }
}

/// Shows a picture.
#[tool]
fn picture() -> ToolResult {
    ToolResult::text("here")
        .with_content(Content::Image { data: "QUJD".repeat(1000), mime_type: "image/png".into() })
}

fn toolbox(auditor: &Auditor) -> ToolboxBuilder {
    let registry = Registry::new(toolset![login, act, hang, wait, crash, forward, picture, confirm]).unwrap();
    Toolbox::builder(&registry).layer(auditor.clone()).max_repeated_failures(None)
}

fn memory() -> (MemorySink, Auditor) {
    let sink = MemorySink::new();
    (sink.clone(), Auditor::builder(sink).start().unwrap())
}

fn turn() -> Turn {
    Turn::new("turn")
        .with_agent_id("coder-1")
        .with_session(Session::new("s-1"))
        .with_principal(Principal::new("ada").with_scopes(["read", "write"]))
}

async fn call(toolbox: &Toolbox, name: &str, arguments: Value) -> ToolResponse {
    toolbox.run(ToolCall::new("c-1", name, arguments), &turn()).await
}

fn statuses(rows: &[MemoryRecord]) -> Vec<&'static str> {
    rows.iter().map(|row| row.status().as_str()).collect()
}

/// Returns the content of all records.
fn written(rows: &[MemoryRecord]) -> String {
    rows.iter().map(|row| json!([row.intent, row.outcome]).to_string()).collect()
}

fn code(row: &MemoryRecord) -> &str {
    row.outcome.as_ref().and_then(|outcome| outcome.error_code.as_deref()).unwrap_or("")
}

#[tokio::test]
async fn call_is_recorded_with_its_caller() {
    let (sink, auditor) = memory();
    let toolbox = toolbox(&auditor).build().unwrap();
    let response = call(&toolbox, "login", json!({"user": "me", "pin": "hunter2"})).await;
    // The model sees the text of the tool; the record does not contain it.
    assert_eq!(response.text(), "welcome me, your pin is hunter2");
    auditor.flush().await.unwrap();
    let [row] = sink.rows().try_into().unwrap();
    let intent = &row.intent;
    assert_eq!((&*intent.session_id, &*intent.agent_id, &*intent.principal), ("s-1", "coder-1", "ada"));
    assert_eq!((&*intent.tool_name, &*intent.tool_call_id, intent.attempt), ("login", "c-1", 1));
    assert_eq!(intent.parameters, json!({"user": "me", "pin": "[REDACTED]"}));
    let result = &row.outcome.unwrap().result;
    assert_eq!(result["content"][0]["text"], "welcome me, your pin is [REDACTED]");
}

#[tokio::test]
async fn every_response_is_one_row_even_if_the_call_did_not_run() {
    struct NoRoot;
    impl Middleware for NoRoot {
        fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
            let decision = match request.arguments["user"].as_str() {
                Some("root") => MiddlewareDecision::Deny("not root".into()),
                Some("boss") => MiddlewareDecision::NeedApproval("the boss must say so".into()),
                _ => MiddlewareDecision::Allow,
            };
            Box::pin(std::future::ready(decision))
        }
    }
    let (sink, auditor) = memory();
    let allowed = ["login", "hang", "crash", "act"];
    let toolbox = toolbox(&auditor).allow(allowed).middleware(NoRoot).build().unwrap();
    let pin = "s3cr3t-p1n";
    let cases = [
        ("login", json!({"user": "me", "pin": pin}), "ok", ""),
        ("login", json!({"user": "me", "pin": "wrong-pin"}), "error", "EXECUTION_ERROR"),
        ("login", json!({"user": "root", "pin": pin}), "refused", "PERMISSION_DENIED"),
        ("login", json!({"user": "boss", "pin": pin}), "refused", "APPROVAL_REQUIRED"),
        ("login", json!({"user": "me", "pin": [pin]}), "refused", "INVALID_PARAMS"),
        ("login", json!({"user": "me", "pin": pin, "x": pin}), "refused", "INVALID_PARAMS"),
        ("login", json!({"pin": pin}), "refused", "MISSING_PARAMETER"),
        ("login", json!(format!("{{\"user\": \"me\", \"pin\": \"{pin}")), "refused", "INVALID_INPUT"),
        ("forward", json!({"pin": pin}), "refused", "PERMISSION_DENIED"),
        ("logn", json!({"user": "me", "pin": pin}), "refused", "TOOL_NOT_FOUND"),
        ("hang", json!({}), "timeout", "TIMEOUT"),
        ("crash", json!({"pin": pin}), "error", "EXECUTION_ERROR"),
    ];
    let mut waits = Vec::new();
    for (name, arguments, ..) in &cases {
        let response = call(&toolbox, name, arguments.clone()).await;
        assert_eq!(response.name, *name);
        if let Err(ToolError::ApprovalRequired(request)) = response.outcome {
            waits.push(request.queue_id().to_owned());
        }
    }
    let cut = ToolCall::new("c-1", "login", json!("{\"pin\": \"s3cr3t-p1n")).truncated();
    toolbox.run(cut, &turn()).await;
    auditor.flush().await.unwrap();
    let rows = sink.rows();
    assert_eq!(rows.len(), cases.len() + 1);
    for (row, (name, arguments, status, error)) in rows.iter().zip(&cases) {
        assert_eq!(
            (&*row.intent.tool_name, row.status().as_str(), code(row)),
            (*name, *status, *error),
            "{arguments}"
        );
    }
    assert_eq!((rows[cases.len()].status(), code(&rows[cases.len()])), (AuditStatus::Refused, "TRUNCATED"));
    // The approval that a call waits for is recorded: a model may use one ID for two calls.
    let recorded: Vec<&str> =
        rows.iter().filter_map(|row| row.outcome.as_ref().and_then(AuditOutcome::approval)).collect();
    assert_eq!(recorded, waits);
    assert_eq!(waits.len(), 1);
    let all = written(&rows);
    assert!(!all.contains("s3cr3t") && !all.contains("wrong-pin"), "{all}");
}

#[tokio::test]
async fn panic_message_is_shown_to_operators_only() {
    let (sink, auditor) = memory();
    let toolbox = toolbox(&auditor).build().unwrap();
    let response = call(&toolbox, "crash", json!({"pin": "s3cr3t-p1n"})).await;
    assert_eq!(response.text(), "tool panicked");
    assert_eq!(response.to_json()["error_code"], "EXECUTION_ERROR");
    assert!(!response.to_json().to_string().contains("cannot work"));
    auditor.flush().await.unwrap();
    let outcome = sink.rows().remove(0).outcome.unwrap();
    let text = outcome.error.unwrap();
    assert!(text.starts_with("tool panicked: ") && text.contains("cannot work with [REDACTED]"), "{text}");
}

#[tokio::test]
async fn skipped_calls_of_a_turn_are_recorded() {
    let (sink, auditor) = memory();
    let toolbox = toolbox(&auditor).build().unwrap();
    let interrupted = || true;
    let options = DispatchOptions::new().with_strategy(Strategy::Sequential).with_steering(interrupted);
    let calls = ["1", "2", "3"].map(|id| ToolCall::new(id, "act", json!({"what": id})));
    let dispatched = toolbox.dispatch(calls.into(), &turn(), &options).await;
    assert!(dispatched.interrupted);
    auditor.flush().await.unwrap();
    let rows = sink.rows();
    assert_eq!(rows.len(), dispatched.responses.len());
    assert_eq!(statuses(&rows), ["ok", "refused", "refused"]);
    assert_eq!(code(&rows[2]), "SKIPPED");
}

#[tokio::test]
async fn secret_inputs_of_a_person_are_not_recorded() {
    struct Person;
    impl InputHandler for Person {
        fn ask<'a>(
            &'a self,
            _: InputQuestion<'a>,
            _: &'a ToolContext,
        ) -> BoxFuture<'a, Result<InputReply, ToolError>> {
            let response = json!({"code": "998-877", "city": "Ghent"});
            Box::pin(std::future::ready(Ok(InputReply::Given(response))))
        }
    }
    let (sink, auditor) = memory();
    let toolbox = toolbox(&auditor).input_handler(Person).build().unwrap();
    let response = call(&toolbox, "confirm", json!({})).await;
    assert_eq!(response.text(), "998-877 from Ghent");
    // There is no input handler, so the input arrives later.
    let toolbox = self::toolbox(&auditor).build().unwrap();
    let response = call(&toolbox, "confirm", json!({})).await;
    let Err(ToolError::InputRequired(pending)) = response.outcome else { panic!("it asks") };
    let reply = json!({"code": "998-877", "city": "Ghent"});
    toolbox.resume_with_input(*pending, reply, &turn()).await.unwrap();
    auditor.flush().await.unwrap();
    let texts = sink.rows().into_iter().map(|row| row.outcome.unwrap().result["content"][0]["text"].clone());
    let all = "[REDACTED] from [REDACTED]";
    assert_eq!(texts.collect::<Vec<_>>(), [json!("[REDACTED] from Ghent"), json!(null), json!(all)]);
}

#[tokio::test]
async fn cancelled_calls_are_recorded() {
    let (sink, auditor) = memory();
    let toolbox = toolbox(&auditor).build().unwrap();
    // With the token.
    let ctx = turn();
    let token = ctx.cancel().clone();
    let run = toolbox.run(ToolCall::new("token", "wait", json!({})), &ctx);
    let stop = async { token.cancel() };
    let (response, ()) = tokio::join!(run, stop);
    assert_eq!(response.outcome, Err(ToolError::Cancelled));
    // By dropping the future.
    let ctx = turn();
    let dropped = toolbox.run(ToolCall::new("dropped", "wait", json!({})), &ctx);
    let late = tokio::time::timeout(Duration::from_millis(5), dropped).await;
    late.unwrap_err();
    auditor.flush().await.unwrap();
    let rows = sink.rows();
    assert_eq!(statuses(&rows), ["cancelled", "cancelled"]);
    assert_eq!(rows.iter().map(code).collect::<Vec<_>>(), ["CANCELLED", "CANCELLED"]);
}

#[tokio::test]
async fn nested_call_has_its_own_row() {
    let (sink, auditor) = memory();
    let toolbox = toolbox(&auditor).build().unwrap();
    call(&toolbox, "forward", json!({})).await;
    auditor.flush().await.unwrap();
    let rows = sink.rows();
    let names: Vec<_> = rows.iter().map(|row| (&*row.intent.tool_name, &*row.intent.tool_call_id)).collect();
    assert_eq!(names, [("forward", "c-1"), ("login", "c-1.1")]);
    assert_eq!(statuses(&rows), ["ok", "ok"]);
}

#[tokio::test]
async fn modified_arguments_are_recorded() {
    struct Rename;
    impl Middleware for Rename {
        fn before<'a>(&'a self, _: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
            Box::pin(std::future::ready(MiddlewareDecision::Modify(json!({"what": "less"}))))
        }
    }
    let (sink, auditor) = memory();
    let toolbox = toolbox(&auditor).middleware(Rename).build().unwrap();
    call(&toolbox, "act", json!({"what": "more"})).await;
    auditor.flush().await.unwrap();
    assert_eq!(sink.rows()[0].intent.parameters, json!({"what": "less"}));
}

#[tokio::test]
async fn image_bytes_are_not_recorded() {
    let (sink, auditor) = memory();
    let toolbox = toolbox(&auditor).build().unwrap();
    call(&toolbox, "picture", json!({})).await;
    auditor.flush().await.unwrap();
    let result = sink.rows().remove(0).outcome.unwrap().result;
    assert_eq!(result["content"][1]["data"], "[BASE64: 4000 characters]");
}

#[tokio::test]
async fn durable_intent_is_written_before_the_effect() {
    struct Noted(Journal);
    impl AuditSink for Noted {
        fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
            self.0.note(format!("intent {}", intent.tool_call_id));
            Ok(())
        }
        fn outcome(&mut self, intent: &AuditIntent, _: &AuditOutcome) -> Result<(), AuditError> {
            self.0.note(format!("outcome {}", intent.tool_call_id));
            Ok(())
        }
        fn flush(&mut self) -> Result<(), AuditError> {
            // Slow enough that the effect would happen first if it could.
            std::thread::sleep(Duration::from_millis(10));
            self.0.note("on disk");
            Ok(())
        }
    }
    let journal = Journal::default();
    let auditor = Auditor::builder(Noted(journal.clone())).durable(true).start().unwrap();
    let toolbox = toolbox(&auditor).build().unwrap();
    let turn = turn().with_service(Arc::new(journal.clone()));
    toolbox.run(ToolCall::new("c-1", "act", json!({"what": "it"})), &turn).await;
    auditor.flush().await.unwrap();
    let lines = journal.lines();
    assert_eq!(lines[..4], ["intent c-1", "on disk", "effect it", "outcome c-1"]);
}

#[tokio::test]
async fn durable_call_is_refused_if_it_cannot_be_recorded() {
    struct Full;
    impl AuditSink for Full {
        fn intent(&mut self, _: &AuditIntent) -> Result<(), AuditError> {
            Err(AuditError::new("the disk is full"))
        }
        fn outcome(&mut self, _: &AuditIntent, _: &AuditOutcome) -> Result<(), AuditError> {
            Err(AuditError::new("the disk is full"))
        }
    }
    let journal = Journal::default();
    let auditor = Auditor::builder(Full).durable(true).start().unwrap();
    let toolbox = toolbox(&auditor).build().unwrap();
    let turn = turn().with_service(Arc::new(journal.clone()));
    let response = toolbox.run(ToolCall::new("c-1", "act", json!({"what": "it"})), &turn).await;
    assert_eq!(response.text(), "The call could not be recorded, so it was not executed");
    assert_eq!(response.outcome.unwrap_err().code(), "AUDIT_FAILED");
    assert!(journal.lines().is_empty());
    // Without durability, the call is more important than its record.
    let auditor = Auditor::builder(Full).start().unwrap();
    let toolbox = self::toolbox(&auditor).build().unwrap();
    toolbox.run(ToolCall::new("c-1", "act", json!({"what": "it"})), &turn).await;
    assert_eq!(journal.lines(), ["effect it"]);
    auditor.flush().await.unwrap_err();
    assert_eq!(auditor.errors(), 2);
}

#[tokio::test]
async fn call_with_a_failed_intent_is_recorded_as_refused() {
    /// Fails once: at the intent, or at the flush.
    struct Once(MemorySink, bool, bool);
    impl Once {
        fn pass(&mut self, at_intent: bool) -> Result<(), AuditError> {
            let fails = self.1 == at_intent && std::mem::take(&mut self.2);
            if fails { Err(AuditError::new("the disk is full")) } else { Ok(()) }
        }
    }
    impl AuditSink for Once {
        fn intent(&mut self, intent: &AuditIntent) -> Result<(), AuditError> {
            self.pass(true)?;
            self.0.intent(intent)
        }
        fn outcome(&mut self, intent: &AuditIntent, outcome: &AuditOutcome) -> Result<(), AuditError> {
            self.0.outcome(intent, outcome)
        }
        fn flush(&mut self) -> Result<(), AuditError> {
            self.pass(false)
        }
    }
    for at_intent in [true, false] {
        let sink = MemorySink::new();
        let auditor = Auditor::builder(Once(sink.clone(), at_intent, true)).durable(true).start().unwrap();
        let toolbox = toolbox(&auditor).build().unwrap();
        let response = call(&toolbox, "act", json!({"what": "it"})).await;
        assert_eq!(response.outcome.unwrap_err().code(), "AUDIT_FAILED");
        call(&toolbox, "act", json!({"what": "it"})).await;
        auditor.flush().await.unwrap_err();
        let rows = sink.rows();
        assert_eq!((statuses(&rows), code(&rows[0])), (vec!["refused", "ok"], "AUDIT_FAILED"));
    }
}

#[tokio::test]
async fn hanging_sink_does_not_block_a_durable_call() {
    struct Hanging(std::sync::mpsc::Receiver<()>);
    impl AuditSink for Hanging {
        fn intent(&mut self, _: &AuditIntent) -> Result<(), AuditError> {
            let _ = self.0.recv();
            Ok(())
        }
        fn outcome(&mut self, _: &AuditIntent, _: &AuditOutcome) -> Result<(), AuditError> {
            Ok(())
        }
    }
    let (let_go, held) = std::sync::mpsc::channel();
    let journal = Journal::default();
    let auditor = Auditor::builder(Hanging(held)).durable(true).start().unwrap();
    let patient = Duration::from_millis(50);
    let toolbox = toolbox(&auditor).callback_timeout(patient).build().unwrap();
    let turn = turn().with_service(Arc::new(journal.clone()));
    let response = toolbox.run(ToolCall::new("c-1", "act", json!({"what": "it"})), &turn).await;
    assert_eq!(response.outcome.unwrap_err().code(), "AUDIT_FAILED");
    assert!(journal.lines().is_empty());
    drop(let_go);
}

/// Tests all kinds of secrets with a tool that returns its arguments.
#[tokio::test]
async fn secrets_reach_no_sink() {
    let file = Scratch::new("audit.jsonl");
    let (memory_sink, memory_auditor) = memory();
    let mut auditors =
        vec![memory_auditor, Auditor::builder(JsonLinesSink::open(&file.0).unwrap()).start().unwrap()];
    let database = Scratch::new("audit.db");
    auditors.push(Auditor::builder(SqliteSink::open(&database.0).unwrap()).start().unwrap());

    let token = format!("ghp_{}", "Zz9".repeat(12));
    let arguments =
        json!({"user": format!("me {token} https://u:p4ss-w0rd@host/"), "pin": "hunter2-hunter2"});
    for auditor in &auditors {
        let toolbox = toolbox(auditor).build().unwrap();
        call(&toolbox, "login", arguments.clone()).await;
        call(&toolbox, "crash", arguments.clone()).await;
        call(&toolbox, "unknown", arguments.clone()).await;
        call(&toolbox, "act", json!({"what": "API_KEY=k3y-k3y-k3y"})).await;
        // Quoted by the decoder, and truncated.
        call(&toolbox, "login", json!({"user": "me", "pin": {"is": "hunter2-hunter2"}})).await;
        auditor.shutdown().await;
    }
    let mut files = vec![written(&memory_sink.rows()).into_bytes(), std::fs::read(&file.0).unwrap()];
    files.push(std::fs::read(&database.0).unwrap());
    for bytes in files {
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains("login") && text.contains("[REDACTED]"));
        for secret in ["hunter2", "p4ss-w0rd", "k3y-k3y", "Zz9Zz9"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_calls_are_all_recorded() {
    let (sink, auditor) = memory();
    let toolbox = toolbox(&auditor).default_timeout(Duration::from_secs(5)).build().unwrap();
    let tasks = (0..16).map(|task| {
        let toolbox = toolbox.clone();
        tokio::spawn(async move {
            let mut responses = 0;
            for number in 0..50 {
                let name = ["act", "login", "nobody", "crash"][(task + number) % 4];
                let call = ToolCall::new(format!("{task}-{number}"), name, json!({"what": "x", "pin": "1"}));
                let turn = turn();
                let run = toolbox.run(call, &turn);
                if number % 7 == 0 {
                    // Cancelled, perhaps before it started.
                    let _ = tokio::time::timeout(Duration::from_micros(50), run).await;
                } else {
                    run.await;
                }
                responses += 1;
            }
            responses
        })
    });
    let mut responses = 0;
    for task in tasks.collect::<Vec<_>>() {
        responses += task.await.unwrap();
    }
    auditor.shutdown().await;
    let rows = sink.rows();
    assert_eq!(rows.len() as u64 + auditor.dropped(), responses);
    assert_eq!(auditor.dropped(), 0);
    assert!(rows.iter().all(|row| row.outcome.is_some()));
}
