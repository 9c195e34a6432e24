//! Requests of a server to its client.

use toolgen_runtime::BoxFuture;
use toolgen_runtime::layers::control::{InputHandler, InputQuestion, InputReply};

use crate::mcp::basics::{tool, turn};
use crate::mcp::support::{call, options, run, server};
use crate::prelude::*;

fn declaring(words: &str) -> McpServer {
    let names = ["elicitation", "sampling", "roots"].map(Into::into);
    McpServer { capabilities: names.into_iter().collect(), ..server(words) }
}

async fn wanted(client: &McpClient, method: &str) -> Value {
    let described =
        call(client, "want", json!({"method": method, "params": {"message": "?"}})).await.unwrap();
    serde_json::from_str(&described).unwrap()
}

#[test]
fn undeclared_capabilities_are_rejected() {
    run(async {
        let client = McpClient::connect(server("legacy"), options()).await.unwrap();
        for method in ["sampling/createMessage", "elicitation/create", "roots/list", "no/such"] {
            assert_eq!(wanted(&client, method).await["code"], -32601, "{method}");
        }
        assert_eq!(wanted(&client, "ping").await, json!({}));
    });
}

fn handling() -> McpOptions {
    options()
        .sampling(|asked: McpServerRequest| async move {
            Ok(json!({"role": "assistant", "by": asked.server.as_str()}))
        })
        .elicitation(|asked: McpServerRequest| async move {
            // Longer than the idle timeout.
            tokio::time::sleep(Duration::from_millis(300)).await;
            Ok(json!({"action": "accept", "content": asked.params["message"]}))
        })
        .roots(|_| async { Err(ToolError::failed("there are no roots today")) })
        .idle_timeout(Duration::from_millis(200))
}

#[test]
fn program_handlers_answer_server_requests() {
    run(async {
        let client = McpClient::connect(declaring("legacy"), handling()).await.unwrap();
        assert_eq!(
            wanted(&client, "sampling/createMessage").await,
            json!({"role": "assistant", "by": "hostile"})
        );
        assert_eq!(wanted(&client, "roots/list").await["message"], "there are no roots today");
        let accepted = |content: &str| json!({"action": "accept", "content": content}).to_string();
        let described = call(&client, "ask", json!({})).await.unwrap();
        assert_eq!(described, format!("{} {}", accepted("Which name?"), accepted("Which colour?")));
        let client = McpClient::connect(declaring("modern"), handling()).await.unwrap();
        let described = call(&client, "ask", json!({})).await.unwrap();
        assert_eq!(described, format!("has {} {}", accepted("Which name?"), accepted("Which colour?")));
    });
}

/// Answers each elicitation with the requested input.
struct Person;

impl InputHandler for Person {
    fn ask<'a>(
        &'a self,
        question: InputQuestion<'a>,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<InputReply, ToolError>> {
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let what = question.request.schema["required"][0].as_str().unwrap().to_owned();
            Ok(InputReply::Given(json!({ what: question.request.message })))
        })
    }
}

fn asking(words: &str) -> Registry {
    // A call that waits for input holds no concurrency permit.
    let server =
        McpServer { idle_timeout: Some(Duration::from_millis(200)), concurrency: 1, ..declaring(words) };
    let engines = Engines::new().with(McpEngine::with_options(options()));
    let server = Frozen::from(server);
    Registry::new(engines.tools_from(["ask", "calls"].map(|name| tool(&server, name))).unwrap()).unwrap()
}

const BOTH: [(&str, &str); 2] = [
    (
        "legacy",
        r#"{"action":"accept","content":{"name":"Which name?"}} {"action":"accept","content":{"colour":"Which colour?"}}"#,
    ),
    (
        "modern",
        r#"has {"action":"accept","content":{"name":"Which name?"}} {"action":"accept","content":{"colour":"Which colour?"}}"#,
    ),
];

#[test]
fn question_becomes_an_input_request() {
    run(async {
        for (words, message) in BOTH {
            let toolbox = Toolbox::builder(&asking(words)).input_handler(Person).build().unwrap();
            let response = toolbox.run(ToolCall::new("1", "ask", json!({})), &turn()).await;
            assert_eq!(response.text(), message);
            // It was one call all the time, not three; without a handshake, each input is a call.
            let calls = toolbox.run(ToolCall::new("2", "calls", json!({})), &turn()).await;
            assert_eq!(calls.text(), if words == "legacy" { "2" } else { "4" });
        }
    });
}

#[test]
fn call_waits_for_later_input() {
    run(async {
        for (words, described) in BOTH {
            let toolbox = Toolbox::builder(&asking(words)).build().unwrap();
            let mut response = toolbox.run(ToolCall::new("1", "ask", json!({})), &turn()).await;
            for what in ["name", "colour"] {
                let Err(ToolError::InputRequired(pending)) = response.outcome else { panic!("{response:?}") };
                assert_eq!(pending.request.message, format!("Which {what}?"));
                tokio::time::sleep(Duration::from_millis(300)).await;
                let beside = toolbox.run(ToolCall::new("2", "calls", json!({})), &turn()).await;
                assert!(!beside.is_error(), "{}", beside.text());
                let reply = json!({ what: pending.request.message });
                response = toolbox.resume_with_input(*pending, reply, &turn()).await.unwrap();
            }
            assert_eq!(response.text(), described);
        }
    });
}

#[test]
fn unanswered_question_is_declined() {
    run(async {
        // With two concurrent calls, the call that an elicitation belongs to is unknown.
        let client = McpClient::connect(declaring("legacy"), options()).await.unwrap();
        let message = call(&client, "ask", json!({})).await.unwrap();
        assert_eq!(message, r#"{"action":"decline"} {"action":"decline"}"#);
        let client = McpClient::connect(declaring("modern"), options()).await.unwrap();
        let message = call(&client, "ask", json!({})).await.unwrap();
        assert_eq!(message, r#"has {"action":"decline"} {"action":"decline"}"#);
        assert_eq!(wanted(&client, "sampling/createMessage").await["code"], -1);
    });
}
