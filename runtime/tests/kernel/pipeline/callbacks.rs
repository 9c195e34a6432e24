//! Callbacks of the program that panic or time out.

use std::future::pending;

use super::{call, toolbox, watching};
use crate::prelude::*;

#[tokio::test]
async fn panicking_observer_does_not_fail_the_call() {
    let received = Arc::new(Mutex::new(Vec::new()));
    let events = Arc::clone(&received);
    let watched = toolbox()
        .on_event(move |event| {
            events.lock().unwrap().push(event.type_name());
            panic!("secret")
        })
        .build()
        .unwrap();
    let plain = toolbox().build().unwrap();
    for toolbox in [watched, plain] {
        let turn =
            Turn::new("turn").with_on_update(|_| panic!("secret")).with_on_progress(|_| panic!("secret"));
        let response = toolbox.run(ToolCall::new("c1", "slow", json!({})), &turn).await;
        assert_eq!(response.text(), "all");
    }
    assert_eq!(*received.lock().unwrap(), ["tool_call", "progress", "update", "tool_response"]);
    // The same outside of a toolbox.
    let turn = Turn::default().call_context("c1", "slow").with_on_progress(|_| panic!("secret"));
    let registry = Registry::new(toolset![watching::slow]).unwrap();
    assert_eq!(registry.call_without_layers("slow", json!({}), &turn).await.unwrap().to_text(), "all");
}

struct Hangs;

impl Middleware for Hangs {
    fn before<'a>(&'a self, _: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        Box::pin(pending())
    }
}

impl Approver for Hangs {
    fn approve<'a>(&'a self, _: &'a ApprovalRequest, _: &'a ToolContext) -> BoxFuture<'a, Approval> {
        Box::pin(pending())
    }
}

#[tokio::test(start_paused = true)]
async fn hanging_middleware_denies_the_call() {
    let since = Instant::now();
    let built = toolbox().middleware(Hangs).build().unwrap();
    let response = call(&built, "add", json!({"a": 1, "b": 2})).await;
    assert_eq!(response.outcome, Err(ToolError::denied("tool middleware did not respond in time")));
    assert_eq!(since.elapsed().as_secs(), 30);
    let built = toolbox().middleware(Hangs).callback_timeout(Duration::from_secs(2)).build().unwrap();
    call(&built, "add", json!({"a": 1, "b": 2})).await;
    assert_eq!(since.elapsed().as_secs(), 32);
}

#[tokio::test(start_paused = true)]
async fn hanging_approver_leaves_the_call_waiting() {
    struct Asks;
    impl Middleware for Asks {
        fn before<'a>(&'a self, _: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
            Box::pin(ready(MiddlewareDecision::NeedApproval("it adds".to_owned())))
        }
    }
    let built = toolbox()
        .middleware(Asks)
        .approver(Hangs)
        .approval_timeout(Duration::from_secs(3600))
        .callback_timeout(Duration::from_millis(1))
        .build()
        .unwrap();
    let since = Instant::now();
    let response = call(&built, "add", json!({"a": 1, "b": 2})).await;
    assert_eq!(since.elapsed().as_secs(), 3600);
    let Err(ToolError::ApprovalRequired(request)) = response.outcome else { panic!("it ran") };
    assert_eq!(built.resume(*request, &Turn::new("turn")).await.text(), "3");
}

/// Hangs before or after a call.
struct Hanging {
    before: bool,
}

impl Hooks for Hanging {
    fn before_tool_execution<'a>(&'a self, _: &'a ToolCall, _: &'a ToolContext) -> BoxFuture<'a, bool> {
        Box::pin(async {
            if self.before {
                pending::<()>().await;
            }
            true
        })
    }

    fn after_tool_execution<'a>(&'a self, _: &'a ToolResponse, _: &'a ToolContext) -> BoxFuture<'a, ()> {
        Box::pin(pending())
    }
}

#[tokio::test(start_paused = true)]
async fn hanging_hook_does_not_block_the_result() {
    let since = Instant::now();
    let built = toolbox().hooks(Hanging { before: false }).build().unwrap();
    assert_eq!(call(&built, "add", json!({"a": 1, "b": 2})).await.text(), "3");
    assert_eq!(since.elapsed().as_secs(), 30);
    let built =
        toolbox().hooks(Hanging { before: true }).callback_timeout(Duration::from_secs(1)).build().unwrap();
    let response = call(&built, "add", json!({"a": 1, "b": 2})).await;
    assert!(response.skipped && response.text().contains("in time"), "{}", response.text());
    assert_eq!(since.elapsed().as_secs(), 31);
}

#[tokio::test]
async fn panicking_host_callback_does_not_block_updates() {
    #[derive(Clone, Default)]
    struct After(Arc<Mutex<Vec<String>>>);
    impl Hooks for After {
        fn after_tool_execution_update(&self, _: &str, _: &str, update: &ToolResult) {
            self.0.lock().unwrap().push(update.to_text());
        }
    }
    let after = After::default();
    let built = toolbox().hooks(after.clone()).build().unwrap();
    let turn = Turn::new("turn").with_on_update(|_| panic!("secret"));
    assert_eq!(built.run(ToolCall::new("c1", "slow", json!({})), &turn).await.text(), "all");
    assert_eq!(*after.0.lock().unwrap(), ["so far"]);
}

/// Panics when dropped, with another bomb.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        std::panic::panic_any(Bomb);
    }
}

#[tokio::test]
async fn panic_payload_panicking_on_drop_is_contained() {
    let toolbox = toolbox().on_event(|_| std::panic::panic_any(Bomb)).build().unwrap();
    let response = call(&toolbox, "add", serde_json::json!({"a": 1, "b": 2})).await;
    assert_eq!(response.text(), "3");
}
