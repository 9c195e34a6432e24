//! Large results that are read on in by another process.

use toolgen_runtime::layers::pages::READ_RESULT;
use toolgen_runtime::layers::redis::RESULT_UNKNOWN;

use crate::prelude::*;
use crate::redis::server::Server;
use crate::redis::state;

/// Tells all numbers.
#[tool(undocumented, read_only)]
fn numbers() -> String {
    (0..100).map(|number| format!("number {number}\n")).collect()
}

/// Fails at length.
#[tool(undocumented, read_only)]
fn fails() -> Result<String, ToolError> {
    Err(ToolError::failed(numbers()))
}

/// Repeats what nobody may record.
#[tool(undocumented, read_only)]
fn secret(#[arg(secret)] password: &str) -> String {
    format!("{password}\n").repeat(100)
}

/// As another process has it: with a connection and a memory of its own.
fn provider(state: &RedisState) -> Provider {
    let pages = Pages::new(ResultLimit::bytes(200)).with_shared(state.pages());
    Provider::builder(&Registry::new(toolset![numbers, fails, secret]).unwrap()).pages(pages).build().unwrap()
}

fn turn(principal: &'static str, session: &'static str) -> ToolContext {
    ToolContext::new("turn", "")
        .with_principal(Principal::new(principal).with_scopes(["read"]))
        .with_session(Session::new(session))
}

async fn call(provider: &Provider, turn: &ToolContext, tool: &str, arguments: Value) -> String {
    provider.call(ToolCall::new("c", tool, arguments), turn).await.text()
}

/// The handle that a cut result names.
fn handle(text: &str) -> String {
    text.split("\"handle\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_result_is_read_on_in_another_process_by_its_owner_alone() {
    let Some(mut server) = Server::start() else { return };
    let (here, there) = (provider(&state(&server.url())), provider(&state(&server.url())));
    let ada = turn("ada", "s-1");
    for tool in ["numbers", "fails"] {
        let handle = handle(&call(&here, &ada, tool, json!({})).await);
        let next = json!({"handle": handle, "offset": 190});
        let text = call(&there, &ada, READ_RESULT, next.clone()).await;
        assert_eq!(text, call(&here, &ada, READ_RESULT, next.clone()).await);
        assert!(text.contains("number 20"), "{text}");
        for other in [turn("bob", "s-1"), turn("ada", "s-2")] {
            let refused = call(&there, &other, READ_RESULT, next.clone()).await;
            assert!(refused.contains("There is no result"), "{refused}");
        }
    }
    let handle_of_secret = handle(&call(&here, &ada, "secret", json!({"password": "hunter2hunter2"})).await);
    let next = json!({"handle": handle_of_secret});
    assert!(call(&here, &ada, READ_RESULT, next.clone()).await.contains("hunter2"));
    assert!(call(&there, &ada, READ_RESULT, next).await.contains("There is no result"));

    server.kill();
    let handle = handle(&call(&here, &ada, "numbers", json!({})).await);
    let next = json!({"handle": handle, "offset": 190});
    assert!(call(&here, &ada, READ_RESULT, next.clone()).await.contains("number 20"), "it has it itself");
    let outcome = there.call(ToolCall::new("c", READ_RESULT, next), &ada).await.outcome;
    let why = outcome.unwrap_err();
    assert_eq!(why.code(), RESULT_UNKNOWN, "{why}");
    assert!(why.to_string().contains("cannot be reached"), "{why}");
}
