//! Tests that the secrets of a call are masked in all its results: nested calls at any depth, pages of its result
//! that are read later, and the events that people see.

use toolgen_runtime::layers::control::{InputHandler, InputQuestion, InputReply};
use toolgen_runtime::layers::middleware::Approver;
use toolgen_runtime::{Control, InputRequest};

use crate::prelude::*;

const PIN: &str = "4711-s3cr3t";

/// Notes a text.
#[tool(undocumented)]
fn note(ctx: &ToolContext, text: &str) -> String {
    ctx.progress(format!("noting {text}"));
    ctx.update(ToolResult::text(format!("noted {text}")).with_details(json!({ "noted": [text] })));
    format!("noted {text}")
}

/// Has another tool note a text.
#[tool(undocumented)]
async fn relay(ctx: &ToolContext, text: &str) -> Result<ToolResult, ToolError> {
    ctx.call("note", json!({ "text": format!("relayed {text}") })).await
}

/// Opens a safe, and tells the others.
#[tool(undocumented)]
async fn open(ctx: &ToolContext, #[arg(secret)] pin: &str) -> Result<String, ToolError> {
    ctx.call("relay", json!({ "text": format!("opened with {pin}") })).await?;
    Ok("open".to_owned())
}

/// Sends headers.
#[tool(undocumented)]
async fn send(
    ctx: &ToolContext,
    headers: std::collections::BTreeMap<String, String>,
) -> Result<String, ToolError> {
    let token = headers.get("x-api-key").cloned().unwrap_or_default();
    ctx.call("note", json!({ "text": format!("sent {token}") })).await?;
    Ok("sent".to_owned())
}

/// Says its secret many times.
#[tool(undocumented)]
fn shout(#[arg(secret)] pin: &str) -> String {
    format!("{pin}\n").repeat(20)
}

/// Fails with its secret as the code.
#[tool(undocumented)]
async fn refuse(#[arg(secret)] pin: &str) -> Result<ToolResult, ToolError> {
    Ok(ToolResult::text("no").with_details(json!({ "success": false, "code": pin })))
}

/// Fails with its secret at the end of a long text, and as the code.
#[tool(undocumented)]
async fn fail(#[arg(secret)] pin: &str) -> Result<ToolResult, ToolError> {
    Err(ToolError::failed_with(pin.to_owned(), format!("{}{pin}", "x".repeat(190))))
}

/// Asks for a code, and has it noted.
#[tool]
async fn ask(ctx: &ToolContext) -> Result<ToolResult, ToolError> {
    let Some(response) = ctx.input() else {
        let code = json!({"type": "string", "format": "password"});
        let schema = json!({"type": "object", "properties": {"code": code}});
        return Ok(ToolResult::empty().with_control(Control::NeedInput(InputRequest::new("Which?", schema))));
    };
    let code = response["code"].as_str().unwrap_or_default().to_owned();
    ctx.call("note", json!({ "text": format!("the code is {code}") })).await?;
    Ok(ToolResult::text(code))
}

/// An agent that passes its task to `note`.
fn agent() -> impl toolgen_runtime::AgentTool + 'static {
    use toolgen_runtime::agent::agent_loop::{ModelTurn, Transcript};
    use toolgen_runtime::agent::sub_agent::{AgentMonitor, AgentTask, LoopRunner, SubAgentTool};
    let runner = LoopRunner::new(|task: &AgentTask, _: &AgentMonitor| {
        let mut first = Some(ToolCall::new("1", "note", json!({ "text": task.task })));
        move |_: Transcript| {
            let turn = first.take().map_or_else(|| ModelTurn::text("done"), |call| ModelTurn::calls([call]));
            async { Ok::<_, String>(turn) }
        }
    });
    SubAgentTool::builder("helper", runner).tools(toolset![note]).build().unwrap()
}

#[tokio::test]
async fn secret_streamed_in_pieces_by_a_sub_agent_is_redacted() {
    use toolgen_runtime::agent::agent_loop::{ModelTurn, Transcript};
    use toolgen_runtime::agent::sub_agent::{AgentMonitor, AgentTask, LoopRunner, SubAgentTool};
    let runner = LoopRunner::new(|task: &AgentTask, monitor: &AgentMonitor| {
        let (task, monitor) = (task.task.clone(), monitor.clone());
        move |_: Transcript| {
            task.chars().for_each(|piece| monitor.text(&piece.to_string()));
            async { Ok::<_, String>(ModelTurn::text("done")) }
        }
    });
    let (_, _, _, seen) = watched();
    let agent = SubAgentTool::builder("helper", runner).tools(toolset![note]).build().unwrap();
    let registry = Registry::builder().add(agent).add_all(toolset![delegate]).seal().unwrap();
    let toolbox = Toolbox::builder(&registry).build().unwrap();
    assert_eq!(call(&toolbox, "delegate", json!({ "pin": PIN }), &seen).await.text(), "done");
    let updates = seen.lock().unwrap();
    let texts = updates.iter().map(|update| {
        let update: ToolResult = serde_json::from_str(update).unwrap();
        update.to_text()
    });
    assert_eq!(texts.collect::<String>(), "the pin is [REDACTED]");
}

/// Has an agent do something with a secret.
#[tool(undocumented)]
async fn delegate(ctx: &ToolContext, #[arg(secret)] pin: &str) -> Result<ToolResult, ToolError> {
    ctx.call("helper", json!({ "task": format!("the pin is {pin}") })).await
}

#[tokio::test]
async fn secret_is_redacted_in_calls_of_a_sub_agent() {
    let registry = Registry::builder().add(agent()).add_all(toolset![delegate]).seal().unwrap();
    let (toolbox, sink, auditor, seen) = watching(&registry);
    let toolbox = toolbox.build().unwrap();
    assert_eq!(call(&toolbox, "delegate", json!({ "pin": PIN }), &seen).await.text(), "done");
    let all = everything(&auditor, &sink, &seen).await;
    assert_eq!(sink.rows().len(), 3);
    assert!(all.contains("noted the pin is [REDACTED]") && !all.contains(PIN), "{all}");
}

/// The events that people see of calls: events, updates, progress.
type Seen = Arc<Mutex<Vec<String>>>;

fn watched() -> (ToolboxBuilder, MemorySink, Auditor, Seen) {
    watching(&Registry::new(toolset![note, relay, open, send, shout, refuse, fail, ask]).unwrap())
}

fn watching(registry: &Registry) -> (ToolboxBuilder, MemorySink, Auditor, Seen) {
    let (sink, seen) = (MemorySink::new(), Seen::default());
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let events = seen.clone();
    let toolbox = Toolbox::builder(registry)
        .layer(auditor.clone())
        .on_event(move |event| events.lock().unwrap().push(event.to_json().to_string()));
    (toolbox, sink, auditor, seen)
}

fn turn(seen: &Seen) -> Turn {
    let (updates, lines) = (seen.clone(), seen.clone());
    Turn::new("turn")
        .with_session(Session::new("s-1"))
        .with_on_update(move |update| updates.lock().unwrap().push(serde_json::to_string(&update).unwrap()))
        .with_on_progress(move |line| lines.lock().unwrap().push(line))
}

async fn call(toolbox: &Toolbox, name: &str, arguments: Value, seen: &Seen) -> ToolResponse {
    toolbox.run(ToolCall::new("c-1", name, arguments), &turn(seen)).await
}

/// Returns everything that was recorded and shown of all calls so far.
async fn everything(auditor: &Auditor, sink: &MemorySink, seen: &Seen) -> String {
    auditor.flush().await.unwrap();
    let rows: Vec<Value> = sink.rows().iter().map(|row| json!([row.intent, row.outcome])).collect();
    format!("{}\n{}", serde_json::to_string_pretty(&rows).unwrap(), seen.lock().unwrap().join("\n"))
}

/// Says its secret wherever a tool can say something, each time in another form.
#[tool(undocumented)]
async fn leak(ctx: &ToolContext, #[arg(secret)] pin: &str, form: usize) -> Result<ToolResult, ToolError> {
    use base64::Engine as _;
    let base64 = |text: &str| base64::engine::general_purpose::STANDARD.encode(text);
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let part = |with: &str| pin.chars().map(|char| format!("{char}{with}")).collect::<String>();
    let forms = [
        pin.to_owned(),
        part("\u{200b}"),
        part("\u{ad}"),
        part("\u{2060}\u{feff}"),
        part("\u{202e}"),
        part("\u{e0020}"),
        base64(&base64(pin)),
        base64(&base64(&base64(pin))),
        base64(&json!({"a": base64(pin)}).to_string()),
        hex(&base64(pin)),
        base64(&hex(pin)),
        hex(&hex(pin)),
        pin.replace('-', "%252D"),
        pin.bytes().map(|byte| format!("%25{byte:02X}")).collect(),
        pin.bytes().map(|byte| format!("\\u{byte:04x}")).collect(),
        base64(&pin.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>()),
    ];
    let message = forms[form].clone();
    let _ = ctx.call(&message, json!({})).await;
    let _ = ctx.call(&format!("note {message}"), json!({ message.as_str(): [message] })).await;
    ctx.call("note", json!({ "text": message })).await?;
    if form.is_multiple_of(2) {
        return Err(ToolError::failed_with("X", &message).with_operator_detail(&message));
    }
    Ok(ToolResult::text(&message).with_details(json!({ message.as_str(): { "of": message } })))
}

#[tokio::test]
async fn secret_is_redacted_in_every_encoding_and_output() {
    for form in 0..16 {
        let registry = Registry::new(toolset![note, leak]).unwrap();
        let (toolbox, sink, auditor, seen) = watching(&registry);
        let toolbox = toolbox.build().unwrap();
        call(&toolbox, "leak", json!({ "pin": PIN, "form": form }), &seen).await;
        let all = everything(&auditor, &sink, &seen).await;
        assert_eq!(sink.rows().len(), 4, "{all}");
        // The text with all encodings removed.
        let mut undone = vec![all.clone()];
        for _ in 0..4 {
            let again: Vec<String> = undone.iter().flat_map(|text| decoded(text)).collect();
            undone.extend(again);
        }
        for text in undone {
            let plain: String = text.chars().filter(|char| char.is_ascii_alphanumeric()).collect();
            assert!(!plain.contains("4711s3cr3t"), "form {form}: {text}\n{all}");
        }
    }
}

/// Returns the decoded words of a text.
fn decoded(text: &str) -> Vec<String> {
    use base64::Engine as _;
    let of = |char: char| char.is_ascii_alphanumeric() || "+/=%".contains(char);
    let mut found = Vec::new();
    for word in text.split(|char| !of(char)).filter(|word| word.len() >= 12) {
        let bytes = base64::engine::general_purpose::STANDARD.decode(word).unwrap_or_default();
        found.extend(String::from_utf8(bytes).ok().filter(|text| !text.is_empty()));
        let hex = word.replace("%25", "").replace('%', "");
        if hex.len() % 2 == 0 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let bytes = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap());
            found.extend(String::from_utf8(bytes.collect()).ok());
        }
    }
    found
}

#[tokio::test]
async fn secret_is_redacted_in_nested_calls() {
    for text in [false, true] {
        let (toolbox, sink, auditor, seen) = watched();
        let toolbox = toolbox.build().unwrap();
        let arguments = json!({ "pin": PIN });
        let arguments = if text { Value::from(arguments.to_string()) } else { arguments };
        assert_eq!(call(&toolbox, "open", arguments, &seen).await.text(), "open");
        let all = everything(&auditor, &sink, &seen).await;
        assert_eq!(sink.rows().len(), 3);
        assert!(all.contains("noted relayed opened with [REDACTED]"), "{all}");
        assert!(all.contains("noting relayed opened with [REDACTED]"), "{all}");
        assert!(!all.contains(PIN), "{all}");
    }
}

#[tokio::test]
async fn secret_recognized_by_key_is_redacted_everywhere() {
    let (toolbox, sink, auditor, seen) = watched();
    let toolbox = toolbox.build().unwrap();
    call(&toolbox, "send", json!({ "headers": { "x-api-key": PIN } }), &seen).await;
    let all = everything(&auditor, &sink, &seen).await;
    assert!(all.contains("noted sent [REDACTED]") && !all.contains(PIN), "{all}");
}

#[tokio::test]
async fn secret_of_one_call_does_not_affect_the_next() {
    let (toolbox, sink, auditor, seen) = watched();
    let toolbox = toolbox.build().unwrap();
    call(&toolbox, "open", json!({ "pin": "noted" }), &seen).await;
    let before = everything(&auditor, &sink, &seen).await;
    assert!(before.contains("[REDACTED] relayed opened with [REDACTED]"), "{before}");
    call(&toolbox, "note", json!({ "text": "that" }), &seen).await;
    let after = everything(&auditor, &sink, &seen).await;
    assert!(after.contains("noted that"), "{after}");
}

#[tokio::test]
async fn later_pages_contain_no_secret() {
    let (toolbox, sink, auditor, seen) = watched();
    let toolbox = toolbox.paging(Pages::new(ResultLimit::bytes(60))).build().unwrap();
    let first = call(&toolbox, "shout", json!({ "pin": PIN }), &seen).await.text();
    assert!(first.contains(PIN), "the model sees what the tool says");
    let handle = first.split('"').nth(3).unwrap();
    let page = call(&toolbox, "read_result", json!({ "handle": handle, "offset": 60 }), &seen).await.text();
    assert!(page.contains(PIN), "and so it does here");
    let all = everything(&auditor, &sink, &seen).await;
    assert_eq!(sink.rows().len(), 2);
    assert!(all.contains("[REDACTED]") && !all.contains(PIN) && !all.contains("s3cr3t"), "{all}");
}

#[tokio::test]
async fn page_boundary_within_a_secret_shows_no_part_of_it() {
    let (toolbox, sink, auditor, seen) = watched();
    let toolbox = toolbox.paging(Pages::new(ResultLimit::bytes(18))).build().unwrap();
    // The first page ends within the secret, and the next one begins there.
    let first = call(&toolbox, "shout", json!({ "pin": PIN.repeat(2) }), &seen).await.text();
    let handle = first.split('"').nth(3).unwrap();
    for offset in [5, 18] {
        let arguments = json!({ "handle": handle, "offset": offset });
        let page = call(&toolbox, "read_result", arguments, &seen).await.text();
        assert!(page.contains("s3cr") || page.contains("r3t"), "the model sees the page: {page}");
    }
    let all = everything(&auditor, &sink, &seen).await;
    assert_eq!(sink.rows().len(), 3);
    assert!(all.contains("[REDACTED]") && !all.contains("3cr") && !all.contains("4711"), "{all}");
}

#[tokio::test]
async fn error_code_shows_no_secret() {
    let (toolbox, sink, auditor, seen) = watched();
    let toolbox = toolbox.build().unwrap();
    for tool in ["refuse", "fail"] {
        call(&toolbox, tool, json!({ "pin": PIN }), &seen).await;
    }
    let all = everything(&auditor, &sink, &seen).await;
    assert_eq!(sink.rows().len(), 2);
    assert!(!all.contains(PIN), "{all}");
}

#[tokio::test]
async fn repeated_error_shows_no_part_of_a_secret() {
    let (toolbox, sink, auditor, seen) = watched();
    let toolbox = toolbox.build().unwrap();
    let turn = turn(&seen);
    for _ in 0..4 {
        toolbox.run(ToolCall::new("c-1", "fail", json!({ "pin": PIN })), &turn).await;
    }
    let all = everything(&auditor, &sink, &seen).await;
    assert!(all.contains("consecutive times") && !all.contains("4711"), "{all}");
}

#[tokio::test]
async fn secret_input_of_a_person_is_redacted() {
    struct Person;
    impl InputHandler for Person {
        fn ask<'a>(
            &'a self,
            _: InputQuestion<'a>,
            _: &'a ToolContext,
        ) -> BoxFuture<'a, Result<InputReply, ToolError>> {
            Box::pin(std::future::ready(Ok(InputReply::Given(json!({ "code": PIN })))))
        }
    }
    let (toolbox, sink, auditor, seen) = watched();
    let toolbox = toolbox.input_handler(Person).build().unwrap();
    assert_eq!(call(&toolbox, "ask", json!({}), &seen).await.text(), PIN);
    let all = everything(&auditor, &sink, &seen).await;
    assert!(all.contains("noted the code is [REDACTED]") && !all.contains(PIN), "{all}");
    // Later, and in another way.
    let (toolbox, sink, auditor, seen) = watched();
    let toolbox = toolbox.build().unwrap();
    let Err(ToolError::InputRequired(pending)) = call(&toolbox, "ask", json!({}), &seen).await.outcome else {
        panic!("it asks")
    };
    let response = toolbox.resume_with_input(*pending, json!({ "code": PIN }), &turn(&seen)).await.unwrap();
    assert_eq!(response.text(), PIN);
    let all = everything(&auditor, &sink, &seen).await;
    assert!(all.contains("noted the code is [REDACTED]") && !all.contains(PIN), "{all}");
}

/// Requires approval for every safe that is opened.
fn guard(request: &ToolRequest<'_>) -> MiddlewareDecision {
    match (request.spec.name.as_str(), &request.arguments["pin"]) {
        ("open", Value::String(pin)) if pin == "mine" => MiddlewareDecision::Modify(json!({ "pin": PIN })),
        ("open", Value::String(pin)) => MiddlewareDecision::NeedApproval(format!("It is opened with {pin}.")),
        _ => MiddlewareDecision::Allow,
    }
}

#[tokio::test]
async fn secret_added_by_middleware_is_redacted() {
    let (toolbox, sink, auditor, seen) = watched();
    let toolbox = toolbox.middleware(guard).build().unwrap();
    assert_eq!(call(&toolbox, "open", json!({ "pin": "mine" }), &seen).await.text(), "open");
    let all = everything(&auditor, &sink, &seen).await;
    assert!(all.contains("opened with [REDACTED]") && !all.contains(PIN), "{all}");
}

#[tokio::test]
async fn approvers_see_no_secret() {
    struct Person(Seen);
    impl Approver for Person {
        fn approve<'a>(
            &'a self,
            request: &'a ApprovalRequest,
            _: &'a ToolContext,
        ) -> BoxFuture<'a, Approval> {
            self.0
                .lock()
                .unwrap()
                .push(format!("{} {:?} {request:?}", request.redacted_arguments, request.reasons));
            Box::pin(std::future::ready(Approval::Later))
        }
    }
    let (toolbox, sink, auditor, seen) = watched();
    let toolbox = toolbox.middleware(guard).approver(Person(seen.clone())).build().unwrap();
    let Err(ToolError::ApprovalRequired(request)) =
        call(&toolbox, "open", json!({ "pin": PIN }), &seen).await.outcome
    else {
        panic!("it waits")
    };
    assert_eq!(request.redacted_arguments, json!({ "pin": "[REDACTED]" }));
    assert_eq!(request.reasons, ["It is opened with [REDACTED]."]);
    // It is stored, and runs unchanged.
    let stored = serde_json::to_string(&request).unwrap();
    let request: ApprovalRequest = serde_json::from_str(&stored).unwrap();
    assert_eq!(toolbox.resume(request, &turn(&seen)).await.text(), "open");
    let all = everything(&auditor, &sink, &seen).await;
    assert!(!all.contains(PIN), "{all}");
}
