//! Identical calls that fail in several processes.

use toolgen_runtime::layers::repeat::REPEATED_FAILURE;

use crate::prelude::*;
use crate::redis::server::Server;
use crate::redis::state;

/// Fails, or does not.
#[tool(undocumented)]
fn brittle(fails: bool, why: &str) -> Result<String, ToolError> {
    if fails { Err(ToolError::failed(why)) } else { Ok("fine".to_owned()) }
}

/// Fails with a secret.
#[tool(undocumented)]
fn secret(#[arg(secret)] password: &str) -> Result<String, ToolError> {
    Err(ToolError::failed(format!("{password} is wrong")))
}

/// As another process has it: with a connection and a memory of its own.
fn provider(url: &str) -> Provider {
    let registry = Registry::new(toolset![brittle, secret]).unwrap();
    Provider::builder(&registry).repeat_store(state(url).failures()).build().unwrap()
}

fn turn(session: &Session) -> ToolContext {
    ToolContext::new("turn", "")
        .with_principal(Principal::new("ada").with_scopes(["write"]))
        .with_session(session.clone())
}

async fn code(provider: &Provider, session: &Session, tool: &str, arguments: Value) -> String {
    let outcome = provider.call(ToolCall::new("c", tool, arguments), &turn(session)).await.outcome;
    outcome.err().map_or_else(String::new, |why| why.code().to_owned())
}

#[tokio::test]
async fn failures_count_in_all_processes_and_a_success_ends_them() {
    let Some(mut server) = Server::start() else { return };
    let of = || provider(&server.url());
    let (first, second, third, fourth) = (of(), of(), of(), of());
    let fails = json!({"fails": true, "why": "no makefile"});
    // Each process has its own, of the same ID.
    let [one, two, three, four] = [(); 4].map(|()| Session::new("s-1"));
    for (provider, session) in [(&first, &one), (&second, &two), (&third, &three)] {
        assert_ne!(code(provider, session, "brittle", fails.clone()).await, REPEATED_FAILURE);
    }
    let call = ToolCall::new("c", "brittle", fails.clone());
    let refused = fourth.call(call, &turn(&four)).await;
    assert!(refused.text().contains("failed 3 consecutive times"), "{}", refused.text());
    assert!(refused.text().contains("no makefile"), "{}", refused.text());
    // Other arguments, and another session, have failed nowhere.
    let others = json!({"fails": true, "why": "no target"});
    assert_ne!(code(&fourth, &four, "brittle", others.clone()).await, REPEATED_FAILURE);
    assert_ne!(code(&fourth, &Session::new("s-2"), "brittle", fails.clone()).await, REPEATED_FAILURE);

    // What can only be guessed from its digest is counted by each process alone.
    for _ in 0..3 {
        assert_ne!(code(&first, &one, "secret", json!({"password": "0815"})).await, REPEATED_FAILURE);
    }
    assert_eq!(code(&first, &one, "secret", json!({"password": "0815"})).await, REPEATED_FAILURE);
    assert_ne!(code(&second, &two, "secret", json!({"password": "0815"})).await, REPEATED_FAILURE);

    server.kill();
    assert_ne!(code(&second, &two, "brittle", others.clone()).await, REPEATED_FAILURE);
    assert_ne!(code(&second, &two, "brittle", others.clone()).await, REPEATED_FAILURE);
    assert_ne!(code(&second, &two, "brittle", others.clone()).await, REPEATED_FAILURE);
    assert_eq!(code(&second, &two, "brittle", others).await, REPEATED_FAILURE, "it has seen these itself");
}

#[tokio::test]
async fn a_success_anywhere_begins_anew() {
    use toolgen_runtime::layers::repeat::FailureStore;

    let Some(server) = Server::start() else { return };
    let (one, other) = (state(&server.url()).failures(), state(&server.url()).failures());
    let memory = Duration::from_secs(60);
    one.failed("call", "e1", "first", memory).await.unwrap();
    other.failed("call", "e1", "first", memory).await.unwrap();
    let found = one.failures("call").await.unwrap().unwrap();
    assert_eq!((found.count, found.error.as_str()), (2, "first"));
    one.failed("call", "e2", "second", memory).await.unwrap();
    let found = other.failures("call").await.unwrap().unwrap();
    assert_eq!((found.count, found.error.as_str()), (1, "second"), "another error is another row");
    other.succeeded("call").await.unwrap();
    assert_eq!(one.failures("call").await.unwrap(), None);
    one.failed("short", "e", "gone", Duration::from_millis(1)).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(one.failures("short").await.unwrap(), None);
}
