//! Programs that a vendor runs for the model, which call tools: their calls are read, pass all layers, and get results
//! that the program can parse.

use std::fs;
use std::path::Path;

use toolgen_runtime::agent::agent_loop::{Agent, SteeringMessages, WireModel};
use toolgen_runtime::call::structured::Structured;
use toolgen_runtime::layers::audit::PROGRAM;
use toolgen_runtime::wire::{ModelReply, PlanOptions, Request};

use crate::prelude::*;

/// A reply with two calls of a program, as events and whole.
pub(crate) struct Program {
    pub(crate) format: WireFormat,
    pub(crate) events: Vec<Value>,
    pub(crate) whole: Value,
    id: &'static str,
}

pub(crate) fn all() -> [Program; 2] {
    [(WireFormat::Anthropic, "srvtoolu_01"), (WireFormat::OpenAiResponses, "prog_01")].map(|(format, id)| {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/conversation/recorded/programs");
        let text = fs::read_to_string(dir.join(format!("{format}.json"))).unwrap();
        let mut file: Value = serde_json::from_str(&text).unwrap();
        let events = file["events"].as_array().unwrap().clone();
        Program { format, events, whole: file["whole"].take(), id }
    })
}

/// The requests with the results of the calls, for `tests/conversation/validate.py`.
pub(crate) fn requests() -> Vec<Value> {
    let request = |program: Program| {
        let format = program.format;
        let turn = ModelTurn::from(format.turn(&program.whole).unwrap());
        let mut transcript = Transcript::user("Pay the orders of Ada.");
        let answers = turn.calls.iter().map(|call| ToolResponse::new(call, Ok(ToolResult::json(json!([])))));
        let answers: Vec<Entry> = answers.map(|answer| Entry::Answer(Box::new(answer))).collect();
        transcript.push(Entry::Model(turn));
        answers.into_iter().for_each(|answer| transcript.push(answer));
        let messages = transcript.messages(format).messages;
        let request = Request::new(messages).with_model("model-1").with_system("Be brief.");
        let request = format.request(request).unwrap();
        json!({ "from": "program", "format": format.name(), "request": request })
    };
    let call = ToolCall::new("c1", "draw", json!({}));
    let image = Content::Image { data: "aGk=".into(), mime_type: "image/png".into() };
    let answer = ToolResponse::new(&call, Ok(ToolResult::text("A cat.").with_content(image)));
    let messages = WireFormat::Gemini.tool_results(&[answer]);
    let image = WireFormat::Gemini.request(Request::new(messages).with_system("Be brief.")).unwrap();
    let image = json!({ "from": "image", "format": "gemini", "request": image });
    all().into_iter().map(request).chain([image]).collect()
}

/// The final reply of the model in a format.
fn done(format: WireFormat) -> Value {
    match format {
        WireFormat::Anthropic => json!({"role": "assistant", "stop_reason": "end_turn", "content": [
            {"type": "text", "text": "Paid."},
        ]}),
        _ => json!({"status": "completed", "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Paid."}]},
        ]}),
    }
}

/// Lists the orders of a customer, as a service would: a status line for the model, and the body.
#[tool(read_only, undocumented, hints(callers = "programs"))]
fn list_orders(customer: String) -> ToolResult {
    let body = format!("[{{\"of\":\"{customer}\",\"cents\":700}}]");
    let mut result = ToolResult::text(format!("HTTP 200\n\n{body}"));
    result.structured = Structured::Json(body.into());
    result
}

/// Pays an amount.
#[tool(undocumented, hints(callers = "both"))]
fn pay(cents: u32) -> String {
    format!("{{\"paid\":{cents}}}")
}

fn read(program: &Program, streamed: bool) -> ModelReply {
    if !streamed {
        return program.format.turn(&program.whole).unwrap();
    }
    let mut stream = program.format.stream();
    for event in &program.events {
        stream.push(event).unwrap();
    }
    stream.finish().unwrap()
}

#[test]
fn calls_of_programs_are_read_with_their_program() {
    for program in all() {
        for streamed in [false, true] {
            let turn = read(&program, streamed);
            let calls: Vec<(&str, Option<&str>)> =
                turn.calls.iter().map(|call| (call.name.as_str(), call.program.as_deref())).collect();
            assert_eq!(
                calls,
                [("list_orders", Some(program.id)), ("pay", Some(program.id))],
                "{}",
                program.format
            );
            let container = json!({"container": {"id": "container_011"}});
            let expected = if program.format == WireFormat::Anthropic { container } else { Value::Null };
            assert_eq!(turn.raw.next_request, expected);
            // A stored transcript keeps both.
            let stored = serde_json::to_string(&ModelTurn::from(turn.clone())).unwrap();
            let restored: ModelTurn = serde_json::from_str(&stored).unwrap();
            assert_eq!((restored.raw, restored.calls), (turn.raw, turn.calls.calls));
        }
    }
    let direct = json!({"role": "assistant", "content": [
        {"type": "tool_use", "id": "1", "name": "pay", "input": {}, "caller": {"type": "direct"}},
    ]});
    assert_eq!(WireFormat::Anthropic.tool_calls(&direct).unwrap()[0].program, None);
}

struct AskBeforePaying;

impl Middleware for AskBeforePaying {
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        Box::pin(ready(match request.name() {
            "pay" => MiddlewareDecision::NeedApproval("It costs money.".into()),
            _ => MiddlewareDecision::Allow,
        }))
    }
}

#[derive(Clone, Default)]
struct Approves(Arc<Mutex<Vec<ApprovalRequest>>>);

impl Approver for Approves {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest, _: &'a ToolContext) -> BoxFuture<'a, Approval> {
        self.0.lock().unwrap().push(request.clone());
        Box::pin(ready(Approval::Approved))
    }
}

#[tokio::test]
async fn programs_get_json_after_all_layers() {
    for program in all() {
        let (approver, sink) = (Approves::default(), MemorySink::new());
        let auditor = Auditor::builder(sink.clone()).start().unwrap();
        let registry = Registry::new(toolset![list_orders, pay]).unwrap();
        let toolbox = Toolbox::builder(&registry)
            .middleware(AskBeforePaying)
            .approver(approver.clone())
            .layer(auditor.clone())
            .build()
            .unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, replies) = (Arc::clone(&requests), [program.whole.clone(), done(program.format)]);
        let send = move |request: Value| {
            let mut seen = seen.lock().unwrap();
            seen.push(request);
            ready(Ok::<_, String>(replies[seen.len() - 1].clone()))
        };
        let model =
            WireModel::new(program.format, send).with_tool_options(PlanOptions::default().with_programs());
        let run = Agent::new(model, &toolbox).run("Pay the orders of Ada.").await;
        assert_eq!(run.text().unwrap(), "Paid.");

        let requests = requests.lock().unwrap().clone();
        assert!(requests[0]["tools"].to_string().contains("allowed_callers"), "{}", requests[0]);
        let second = &requests[1];
        let results = match program.format {
            WireFormat::Anthropic => {
                assert_eq!(second["container"]["id"], "container_011");
                let blocks = second["messages"][2]["content"].as_array().unwrap();
                assert_eq!(blocks.len(), 2);
                blocks.iter().map(|block| block["content"].clone()).collect::<Vec<_>>()
            }
            _ => {
                let outputs = second["input"].as_array().unwrap().iter();
                let outputs = outputs.filter(|item| item["type"] == "function_call_output");
                outputs
                    .map(|item| {
                        assert_eq!(item["caller"], json!({"type": "program", "caller_id": program.id}));
                        item["output"].clone()
                    })
                    .collect()
            }
        };
        // The program parses the results.
        assert_eq!(results, [r#"[{"of":"ada","cents":700}]"#, r#"{"paid":700}"#]);
        let asked = approver.0.lock().unwrap().clone();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].program.as_deref(), Some(program.id));
        auditor.flush().await.unwrap();
        for row in sink.rows() {
            assert_eq!(row.intent.parameters[PROGRAM], program.id, "{}", program.format);
        }
        assert_eq!(sink.rows().len(), 2);
    }
}

#[tokio::test]
async fn approved_calls_of_programs_are_answered_to_the_program() {
    struct Later;
    impl Approver for Later {
        fn approve<'a>(&'a self, _: &'a ApprovalRequest, _: &'a ToolContext) -> BoxFuture<'a, Approval> {
            Box::pin(ready(Approval::Later))
        }
    }
    let registry = Registry::new(toolset![pay]).unwrap();
    let toolbox = Toolbox::builder(&registry).middleware(AskBeforePaying).approver(Later).build().unwrap();
    let call = ToolCall::new("call_02", "pay", json!({"cents": 700})).by_program("prog_01");
    let response = toolbox.run(call, &Turn::new("t")).await;
    let Err(ToolError::ApprovalRequired(request)) = response.outcome else { panic!("{response:?}") };
    // The request is stored until a person decides.
    let stored = serde_json::to_string(&request).unwrap();
    let restored: ApprovalRequest = serde_json::from_str(&stored).unwrap();
    let response = toolbox.resume(restored, &Turn::new("t")).await;
    let result = &WireFormat::OpenAiResponses.tool_results(&[response])[0];
    assert_eq!(result["caller"]["caller_id"], "prog_01");
    assert_eq!(result["output"], r#"{"paid":700}"#);
}

/// Returns many rows.
#[tool(read_only, undocumented)]
fn many() -> ToolResult {
    ToolResult::json((0..40_000).collect())
}

#[tokio::test]
async fn results_of_programs_are_not_cut() {
    let registry = Registry::new(toolset![many]).unwrap();
    let toolbox = Toolbox::builder(&registry).build().unwrap();
    let turn = Turn::new("t");
    let direct = toolbox.run(ToolCall::new("1", "many", json!({})), &turn).await;
    assert!(direct.text().contains("Result cut"));
    let response = toolbox.run(ToolCall::new("2", "many", json!({})).by_program("p"), &turn).await;
    let result = &WireFormat::Anthropic.tool_results(&[response])[0]["content"][0];
    let rows: Vec<u32> = serde_json::from_str(result["content"].as_str().unwrap()).unwrap();
    assert_eq!(rows.len(), 40_000);
}

#[tokio::test]
async fn programs_read_errors_of_their_calls() {
    let registry = Registry::new(toolset![pay]).unwrap();
    let toolbox = Toolbox::builder(&registry).build().unwrap();
    let call = ToolCall::new("1", "pay", json!({"cents": "many"})).by_program("p");
    let response = toolbox.run(call, &Turn::new("t")).await;
    let result = &WireFormat::Anthropic.tool_results(std::slice::from_ref(&response))[0]["content"][0];
    assert_eq!(result["is_error"], true);
    let result = &WireFormat::OpenAiResponses.tool_results(&[response])[0];
    assert!(result["output"].as_str().unwrap().starts_with("Error: "), "{result}");
    assert_eq!(result["caller"]["type"], "program");
}

/// Draws a picture.
#[tool(read_only, undocumented)]
fn draw() -> ToolResult {
    let image = Content::Image { data: "aGk=".into(), mime_type: "image/png".into() };
    ToolResult::text("A cat.").with_content(image)
}

#[tokio::test]
async fn programs_get_no_images() {
    let registry = Registry::new(toolset![draw]).unwrap();
    let toolbox = Toolbox::builder(&registry).build().unwrap();
    let response = toolbox.run(ToolCall::new("1", "draw", json!({})).by_program("p"), &Turn::new("t")).await;
    let result = WireFormat::Anthropic.tool_results(&[response])[0]["content"][0].to_string();
    assert!(result.contains("A cat.") && result.contains("not shown: programs get only text"), "{result}");
    assert!(!result.contains("aGk="), "{result}");
}

#[test]
fn other_vendors_do_not_get_the_program() {
    for program in all() {
        let turn = ModelTurn::from(read(&program, false));
        let answer = ToolResponse::new(&turn.calls[0], Ok(ToolResult::text("done")));
        let mut transcript = Transcript::user("Pay.");
        transcript.push(Entry::Model(turn));
        transcript.push(Entry::Answer(Box::new(answer)));
        for format in [WireFormat::Anthropic, WireFormat::OpenAiResponses, WireFormat::Gemini] {
            let messages = json!(transcript.messages(format).messages).to_string();
            assert_eq!(messages.contains(program.id), format == program.format, "{messages}");
        }
    }
}

#[tokio::test]
async fn messages_wait_while_a_program_waits() {
    for program in all() {
        let registry = Registry::new(toolset![list_orders, pay]).unwrap();
        let toolbox = Toolbox::builder(&registry).build().unwrap();
        let messages = SteeringMessages::new();
        let options = LoopOptions::new().with_messages(messages.clone());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, replies) = (Arc::clone(&requests), [program.whole.clone(), done(program.format)]);
        let send = move |request: Value| {
            let mut seen = seen.lock().unwrap();
            if seen.is_empty() {
                messages.push("Hurry!");
            }
            seen.push(request);
            ready(Ok::<_, String>(replies[(seen.len() - 1).min(1)].clone()))
        };
        let model = WireModel::new(program.format, send);
        let _ = Agent::new(model, &toolbox).with_limits(options).run("Pay.").await;
        let requests = requests.lock().unwrap();
        assert!(!requests[1].to_string().contains("Hurry!"), "{}", requests[1]);
        assert!(requests[2].to_string().contains("Hurry!"), "{}", requests.len());
    }
}
