//! What a call passes on its way through a provider.

mod approval;
mod callbacks;
mod composition;
mod deep;
mod discovery;
mod ended;
mod failing;
mod middleware;
mod provider;
mod rights;
mod shared;
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

fn provider() -> ProviderBuilder {
    let registry = Registry::new(toolset![
        add,
        fail,
        composition::twice,
        composition::deeper,
        watching::slow,
        watching::login
    ]);
    Provider::builder(&registry.unwrap()).context(ProviderContext::new().with_agent_id("agent-1"))
}

async fn call(provider: &Provider, name: &str, arguments: Value) -> ToolResponse {
    provider.call(ToolCall::new("c1", name, arguments), &ToolContext::new("turn", "")).await
}

/// Something to write what happened on.
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
async fn a_call_that_was_cut_off_is_answered_and_not_run() {
    let provider = provider().build().unwrap();
    let cut = ToolCall::new("c1", "add", json!({"a": 1, "b": 2})).truncated();
    let response = provider.call(cut, &ToolContext::new("turn", "")).await;
    assert_eq!(response.outcome.unwrap_err().code(), "TRUNCATED");
    assert_eq!(
        call(&provider, "add", json!("{\"a\": 1, \"b\":")).await.outcome.unwrap_err().code(),
        "INVALID_INPUT"
    );
}

#[tokio::test]
async fn every_call_has_an_answer_with_its_own_id() {
    let provider = provider().build().unwrap();
    for (name, arguments, text) in [
        ("add", json!({"a": 1, "b": 2}), "3"),
        ("ad", json!({}), "Tool not found: ad; did you mean 'add'?"),
        ("fail", json!(""), "it broke"),
    ] {
        let response = call(&provider, name, arguments).await;
        assert_eq!((&*response.id, &*response.name, response.text().as_str()), ("c1", name, text));
    }
}
