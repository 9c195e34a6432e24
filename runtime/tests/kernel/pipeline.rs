//! The layers that a call passes on its way through a toolbox.

mod approval;
mod callbacks;
mod composition;
mod deep;
mod discovery;
mod ended;
mod failing;
mod layers;
mod middleware;
mod rights;
mod shared;
mod toolbox;
mod unknown;
mod voice;
mod watching;

use crate::prelude::*;

/// Adds two numbers.
#[tool(read_only, undocumented)]
pub(crate) fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Fails.
#[tool]
fn fail() -> Result<(), ToolError> {
    Err(ToolError::failed("it broke"))
}

fn toolbox() -> ToolboxBuilder {
    let registry = Registry::new(toolset![
        add,
        fail,
        composition::twice,
        composition::deeper,
        watching::slow,
        watching::login
    ]);
    Toolbox::builder(&registry.unwrap()).context(ToolboxContext::new().with_agent_id("agent-1"))
}

async fn call(toolbox: &Toolbox, name: &str, arguments: Value) -> ToolResponse {
    toolbox.run(ToolCall::new("c1", name, arguments), &Turn::new("turn")).await
}

/// A log of events.
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

#[tokio::test]
async fn truncated_call_gets_an_error_without_running() {
    let toolbox = toolbox().build().unwrap();
    let cut = ToolCall::new("c1", "add", json!({"a": 1, "b": 2})).truncated();
    let response = toolbox.run(cut, &Turn::new("turn")).await;
    assert_eq!(response.outcome.unwrap_err().code(), "TRUNCATED");
    assert_eq!(
        call(&toolbox, "add", json!("{\"a\": 1, \"b\":")).await.outcome.unwrap_err().code(),
        "INVALID_INPUT"
    );
}

#[tokio::test]
async fn long_call_id_is_returned_whole_and_recorded_shortened() {
    let (sink, events) = (MemorySink::new(), Journal::default());
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let message = events.clone();
    let toolbox =
        toolbox().layer(auditor.clone()).on_event(move |event| message.note(event.id.to_string())).build();
    let toolbox = toolbox.unwrap();
    let turn = Turn::new("turn");
    for (name, arguments) in
        [("add", json!({"a": 1, "b": 2})), ("twice", json!({"number": 1})), ("no_such", json!({}))]
    {
        let id = "i\u{e9}".repeat(100_000);
        let response = toolbox.run(ToolCall::new(id.as_str(), name, arguments), &turn).await;
        assert_eq!(response.id.as_str(), id);
    }
    let many = (0..3).map(|n| ToolCall::new(format!("{n}{}", "x".repeat(1_000)), "add", json!({}))).collect();
    let mut options = DispatchOptions::default();
    options.max_calls = NonZeroUsize::MIN;
    let answered = toolbox.dispatch(many, &turn, &options).await;
    assert!(answered.responses.iter().all(|response| response.id.len() == 1_001));
    auditor.flush().await.unwrap();
    let rows = sink.rows();
    assert_eq!(rows.len(), 7);
    assert!(rows.iter().all(|row| row.intent.tool_call_id.len() < 256), "{rows:?}");
    assert!(events.lines().iter().all(|id| id.len() < 256));
}

/// Waits for a moment.
#[tool]
async fn wait() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[test]
fn call_without_a_runtime_explains_what_is_needed() {
    let toolbox = Toolbox::builder(&Registry::new(toolset![wait]).unwrap()).build().unwrap();
    let turn = Turn::new("turn");
    let mut call = std::pin::pin!(toolbox.run(ToolCall::new("c1", "wait", json!({})), &turn));
    let std::task::Poll::Ready(response) =
        call.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
    else {
        panic!("no waker would wake it");
    };
    let message = response.operator_text().unwrap_or_default();
    assert!(message.contains("`tokio::runtime::Runtime::block_on`"), "{message}");
}

#[tokio::test]
async fn every_call_gets_a_response_with_its_id() {
    let toolbox = toolbox().build().unwrap();
    for (name, arguments, text) in [
        ("add", json!({"a": 1, "b": 2}), "3"),
        ("ad", json!({}), "Tool not found: ad; did you mean 'add'?"),
        ("fail", json!(""), "it broke"),
    ] {
        let response = call(&toolbox, name, arguments).await;
        assert_eq!((&*response.id, &*response.name, response.text().as_str()), ("c1", name, text));
    }
}
