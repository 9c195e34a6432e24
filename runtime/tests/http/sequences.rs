//! Tests of responses that are sequences: an array for a model, single items as they arrive for Rust.

use tokio::time::timeout;
use toolgen_runtime::Shape;
use toolgen_runtime::engine::http::{CallError, PageLimits};
use toolgen_runtime::schema::shape::{ArrayRules, Field, Kind, ObjectRules, StringRules};

use crate::prelude::*;
use crate::server::{ctx, engine, plan, tool};

const EVENTS: &str = "Content-Type: text/event-stream\r\n";

/// A tool that declares events as its result, with this type of data.
fn events(url: &str, data: Kind) -> Tool {
    let mut tool = tool(RequestPlan { accept: "text/event-stream".into(), ..plan("GET", url, "/watch") });
    let field = Field { name: "data".into(), shape: Shape::of(data), required: true, ..Field::OPTIONAL };
    let item = Shape::of(Kind::Object(ObjectRules { fields: vec![field].into(), ..ObjectRules::ANY }));
    let list = ArrayRules { items: item.into(), ..ArrayRules::ANY };
    tool.spec.output = Some(Shape::of(Kind::Array(list)).into());
    tool
}

fn object() -> Kind {
    Kind::Object(ObjectRules::ANY)
}

#[tokio::test]
async fn model_gets_events_as_an_array() {
    let body = b"event: add\nid: 1\ndata: {\"n\": 1}\n\ndata: {\"n\": 2}\n\ndata: [DONE]\n\n";
    let server = Server::start(move |_| reply(200, EVENTS, body));
    for (kind, expected) in [
        (object(), json!([{"data": {"n": 1}, "event": "add", "id": "1"}, {"data": {"n": 2}}])),
        (
            Kind::String(StringRules::ANY),
            json!([{"data": "{\"n\": 1}", "event": "add", "id": "1"}, {"data": "{\"n\": 2}"}, {"data": "[DONE]"}]),
        ),
    ] {
        let engine = engine().build().unwrap();
        let registry = Registry::new([engine.tool(events(&server.url, kind))]).unwrap();
        let result = registry.call_without_layers("t", json!({}), &ctx()).await.unwrap();
        let text = result.to_text();
        let body = text.split_once("\n\n").unwrap().1;
        assert_eq!(serde_json::from_str::<Value>(body).unwrap(), expected);
    }
}

#[tokio::test]
async fn truncated_stream_shows_complete_items() {
    let server = Server::start(|_| vec![open(EVENTS), Step::Flood(b"data: {\"n\": 1}\n\n".to_vec())]);
    let engine = engine().max_bytes(100).build().unwrap();
    let registry = Registry::new([engine.tool(events(&server.url, object()))]).unwrap();
    let result = registry.call_without_layers("t", json!({}), &ctx()).await.unwrap();
    let text = result.to_text();
    let body = text.split_once("\n\n").unwrap().1.strip_suffix("\n... [truncated]").unwrap();
    let items: Vec<Value> = serde_json::from_str(body).unwrap();
    assert!(items.len() > 2 && items.iter().all(|item| *item == json!({"data": {"n": 1}})), "{body}");
}

#[tokio::test]
async fn rust_stream_yields_items_as_they_arrive() {
    for (head, first, second) in [
        ("text/event-stream", "data: {\"n\": 1}\n\ndata: {\"n\"", ": 2}\n\n"),
        ("application/x-ndjson", "{\"data\": {\"n\": 1}}\n{\"data\"", ": {\"n\": 2}}"),
        ("application/json-seq", "\u{1e}{\"data\":\n{\"n\": 1}}\n\u{1e}{\"data\"", ": {\"n\": 2}}\n"),
    ] {
        let (begin, end) = (first.as_bytes().to_vec(), second.as_bytes().to_vec());
        let server = Server::start(move |_| {
            let head = open(&format!("Content-Type: {head}\r\n"));
            let wait = Step::Wait(Duration::from_millis(400));
            vec![head, Step::Send(begin.clone()), wait, Step::Send(end.clone())]
        });
        let mut tool = events(&server.url, object());
        if let toolgen_runtime::spec::plan::ExecutionPlan::Http(plan) = &mut tool.call {
            plan.accept = head.into();
        }
        let mut items = engine().build().unwrap().items(tool, json!({}));
        let first = timeout(Duration::from_millis(300), items.next()).await.expect("the first comes at once");
        assert_eq!(first.unwrap().unwrap(), json!({"data": {"n": 1}}), "{head}");
        assert_eq!(items.next().await.unwrap().unwrap(), json!({"data": {"n": 2}}), "{head}");
        assert!(items.next().await.is_none());
    }
}

#[tokio::test]
async fn non_sequence_response_is_an_error_and_limits_apply() {
    let server = Server::start(|_| reply(200, "Content-Type: application/json\r\n", b"{\"n\": 1}"));
    let engine = engine().build().unwrap();
    let mut items = engine.items(events(&server.url, object()), json!({}));
    let error = items.next().await.unwrap().unwrap_err();
    assert!(
        matches!(&error, CallError::Decode { .. }) && error.to_string().contains("not a sequence"),
        "{error}"
    );
    assert!(items.next().await.is_none());

    let server = Server::start(|_| reply(503, EVENTS, b"data: busy\n\n"));
    let mut items = engine.items(events(&server.url, object()), json!({}));
    let error = items.next().await.unwrap().unwrap_err();
    assert!(matches!(error, CallError::Status { status: 503, .. }));
    assert!(error.to_string().starts_with("t: GET http://127.0.0.1:"), "{error}");
    assert!(error.to_string().ends_with(" → 503: data: busy"), "{error}");

    let body = "data: {}\n\n".repeat(100);
    let server = Server::start(move |_| reply(200, EVENTS, &body));
    let bounds = PageLimits { items: 3, ..PageLimits::default() };
    let mut items = engine.items(events(&server.url, object()), json!({})).bounds(bounds);
    for _ in 0..3 {
        assert_eq!(items.next().await.unwrap().unwrap(), json!({"data": {}}));
    }
    assert!(items.next().await.is_none());
}
