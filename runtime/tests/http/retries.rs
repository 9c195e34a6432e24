//! Tests of retries: when requests are retried, and how that is reported.

use std::sync::atomic::{AtomicUsize, Ordering};

use toolgen_runtime::engine::http::RetryPolicy;
use toolgen_runtime::spec::Effects;
use toolgen_test_support::http::nobody;

use crate::prelude::*;
use crate::server::{call, ctx, engine, plan, tool};

/// Returns these statuses and headers in order, and then `ok`.
fn answering(responses: &'static [(u16, &'static str)]) -> Server {
    let next = AtomicUsize::new(0);
    Server::start(move |_| match responses.get(next.fetch_add(1, Ordering::SeqCst)) {
        Some((0, _)) => vec![Step::Send(Vec::new())],
        Some((status, headers)) => reply(*status, headers, b"not now"),
        None => reply(200, "X-RateLimit-Remaining: 4\r\n", b"ok"),
    })
}

fn with(plan: RequestPlan, effects: Effects) -> Tool {
    let mut tool = tool(plan);
    tool.spec.effects = effects;
    tool
}

const IDEMPOTENT: Effects = Effects { read_only: false, ..Effects::NONE };
const ONCE: Effects = Effects { idempotent: false, ..IDEMPOTENT };

fn quick() -> RetryPolicy {
    RetryPolicy::default().initial_delay(Duration::from_millis(2))
}

async fn called(tool: Tool, retries: RetryPolicy, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
    let engine = engine().retries(retries).build().unwrap();
    Registry::new([engine.tool(tool)]).unwrap().call_without_layers("t", json!({}), ctx).await
}

#[tokio::test]
async fn idempotent_request_is_retried_and_reported() {
    for method in ["GET", "PUT"] {
        let server = answering(&[(503, ""), (429, "Retry-After: 0\r\n")]);
        let lines = Arc::new(Mutex::new(Vec::new()));
        let received = Arc::clone(&lines);
        let ctx = ctx().with_on_progress(move |line| received.lock().unwrap().push(line));
        let result = called(with(plan(method, &server.url, "/x"), IDEMPOTENT), quick(), &ctx).await.unwrap();
        assert!(result.to_text().ends_with("→ 200\n\nok"), "{}", result.to_text());
        let messages = result.details["repeated_after"].as_array().unwrap();
        assert_eq!((&messages[0]["status"], &messages[1]["status"]), (&json!(503), &json!(429)));
        assert_eq!(messages[1]["waited_ms"], 0);
        assert_eq!(result.details["rate_limit"], json!({"remaining": 4}));
        assert_eq!(server.seen().len(), 3);
        let lines = lines.lock().unwrap();
        assert_eq!(lines[1], "the service returned 429; retrying in 0 ms");
        assert_eq!(lines.len(), 2);
    }
}

#[tokio::test]
async fn non_idempotent_request_is_sent_once() {
    let server = answering(&[(503, "Retry-After: 0\r\n")]);
    let result = called(with(plan("POST", &server.url, "/x"), ONCE), quick(), &ctx()).await.unwrap();
    assert!(result.to_text().ends_with("→ 503\nRetry-After: 0\n\nnot now"), "{}", result.to_text());
    assert_eq!(result.details.get("repeated_after"), None);
    assert_eq!(result.details["rate_limit"], json!({"retry_after_ms": 0}));
    assert_eq!(server.seen().len(), 1);
    // Nor is it retried if the connection breaks after it was sent.
    let server = answering(&[(0, "")]);
    called(with(plan("POST", &server.url, "/x"), ONCE), quick(), &ctx()).await.unwrap_err();
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn broken_connection_is_retried_for_idempotent_requests() {
    let server = answering(&[(0, ""), (0, "")]);
    let result = called(with(plan("DELETE", &server.url, "/x"), IDEMPOTENT), quick(), &ctx()).await.unwrap();
    assert_eq!(result.details["repeated_after"][1]["error"], "the connection broke");
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn unsent_request_is_always_retried() {
    // No server listens on this port at first.
    let url = nobody();
    let address = url.strip_prefix("http://").unwrap().to_owned();
    let later = tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        Server::at(&address, |_| reply(200, "", "ok"))
    });
    let retries =
        quick().max_retries(20).initial_delay(Duration::from_millis(40)).max_delay(Duration::from_millis(40));
    let result = called(with(plan("POST", &url, "/x"), ONCE), retries, &ctx()).await.unwrap();
    assert_eq!(result.details["repeated_after"][0]["error"], "there was no connection");
    assert!(later.await.unwrap().only().line().starts_with("POST /x "));
}

#[tokio::test]
async fn idempotency_key_allows_retries_and_stays_the_same() {
    let server = answering(&[(503, "")]);
    let keyed = RequestPlan { idempotency_key: "Idempotency-Key".into(), ..plan("POST", &server.url, "/x") };
    for _ in 0..2 {
        let result = called(with(keyed.clone(), ONCE), quick(), &ctx()).await.unwrap();
        assert!(!result.is_error(), "{}", result.to_text());
    }
    let keys: Vec<String> =
        server.seen().iter().map(|seen| seen.header("idempotency-key").unwrap().to_owned()).collect();
    assert_eq!(keys[0], keys[1]);
    assert_ne!(keys[1], keys[2]);
    assert_eq!(keys[0].len(), 36);
}

#[tokio::test]
async fn retries_are_limited_in_number_and_time() {
    let always: &[(u16, &str)] = &[(503, ""), (503, ""), (503, ""), (503, "")];
    let server = answering(always);
    let result = called(with(plan("GET", &server.url, "/x"), IDEMPOTENT), quick(), &ctx()).await.unwrap();
    assert_eq!((result.is_error(), server.seen().len()), (true, 3));
    let result =
        called(with(plan("GET", &server.url, "/x"), IDEMPOTENT), RetryPolicy::NONE, &ctx()).await.unwrap();
    assert_eq!((result.is_error(), server.seen().len()), (true, 4));
    // A longer delay than the policy or the call allows is not waited for.
    for (retries, ctx) in [
        (quick(), ctx()),
        (
            quick().max_delay(Duration::from_secs(90)).max_total_delay(Duration::from_secs(90)),
            ctx().with_timeout(Duration::from_secs(9)),
        ),
    ] {
        let server = answering(&[(429, "Retry-After: 60\r\n")]);
        let result = called(with(plan("GET", &server.url, "/x"), IDEMPOTENT), retries, &ctx).await.unwrap();
        assert_eq!((result.is_error(), server.seen().len()), (true, 1));
        assert_eq!(result.details["rate_limit"], json!({"retry_after_ms": 60_000}));
        // Only the model can retry later.
        assert!(result.to_text().contains(" → 429\nRetry-After: 60"), "{}", result.to_text());
    }
}

#[tokio::test]
async fn undeclared_tool_is_sent_once() {
    let server = answering(&[(503, "Retry-After: 0\r\n")]);
    let result =
        call(engine(), plan("GET", &server.url, "/x"), Value::Object(Default::default())).await.unwrap();
    assert_eq!((result.is_error(), server.seen().len()), (true, 1));
}
