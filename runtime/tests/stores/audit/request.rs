//! Tests of the request to the model in the records of an agent's calls.

use toolgen_runtime::agent::agent_loop::{Agent, WireModel};
use toolgen_runtime::wire::WireFormat;

use super::login;
use crate::prelude::*;

/// Calls another tool.
#[tool]
async fn forward(ctx: &ToolContext) -> Result<ToolResult, ToolError> {
    ctx.call("login", json!({"user": "me", "pin": "hunter2"})).await
}

/// Runs an agent whose model makes two calls, then one, then replies. Returns the parameters of its records.
async fn recorded(prompt: &str, prompts: bool) -> Vec<Value> {
    let call = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    let login_input = || json!({"user": "me", "pin": "hunter2"});
    let reply = |content: Value, input: u32, output: u32| json!({"content": content, "usage": {"input_tokens": input, "output_tokens": output}});
    let mut replies = [
        reply(json!([call("a", "login", login_input()), call("b", "forward", json!({}))]), 100, 20),
        reply(json!([call("c", "login", login_input())]), 150, 30),
        reply(json!([{"type": "text", "text": "Done."}]), 200, 5),
    ]
    .into_iter();
    let send = move |_: Value| {
        let reply = replies.next().unwrap();
        async { Ok::<_, String>(reply) }
    };
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).record_prompts(prompts).start().unwrap();
    let registry = Registry::new(toolset![login, forward]).unwrap();
    let toolbox = Toolbox::builder(&registry).layer(auditor.clone()).build().unwrap();
    let model = WireModel::new(WireFormat::Anthropic, send).with_model("claude-sonnet-5-5");
    assert_eq!(Agent::new(model, &toolbox).run(prompt).await.text().unwrap(), "Done.");
    auditor.flush().await.unwrap();
    sink.rows().into_iter().map(|row| row.intent.parameters).collect()
}

#[tokio::test]
async fn calls_of_an_agent_record_prompt_model_and_tokens() {
    let records = recorded("Log me in.", true).await;
    let requests: Vec<&Value> = records.iter().map(|parameters| &parameters["@request"]).collect();
    let first = requests[0]["number"].as_u64().unwrap();
    let request = |number: u64, input: u32, output: u32| {
        json!({
            "number": number, "prompt": "Log me in.", "model": "claude-sonnet-5-5",
            "input_tokens": input, "output_tokens": output,
        })
    };
    let second = requests[3]["number"].as_u64().unwrap();
    assert!(second > first, "{requests:?}");
    // Calls of a turn and the calls that they make share the request, so that its tokens are counted once.
    let (one, two) = (request(first, 100, 20), request(second, 150, 30));
    assert_eq!(requests, [&one, &one, &one, &two]);
}

#[tokio::test]
async fn recorded_prompt_is_redacted_before_it_is_shortened() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    // The token would be cut in the middle.
    let prompt = format!("{} {token} and my pin hunter2", "é".repeat(180));
    let records = recorded(&prompt, true).await;
    let shown = records[0]["@request"]["prompt"].as_str().unwrap();
    assert!(shown.starts_with("ééé") && shown.ends_with('…') && shown.chars().count() == 201, "{shown}");
    assert!(shown.contains("[REDACTED") && !shown.contains("ghp_"), "{shown}");

    let records = recorded("My pin is hunter2, log me in.", true).await;
    assert_eq!(records[0]["@request"]["prompt"], "My pin is [REDACTED], log me in.");
}

#[tokio::test]
async fn auditor_can_omit_prompts() {
    let records = recorded("Log me in.", false).await;
    let request = &records[0]["@request"];
    assert_eq!((&request["prompt"], &request["input_tokens"]), (&Value::Null, &json!(100)));
}
