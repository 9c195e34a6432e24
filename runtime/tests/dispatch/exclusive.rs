//! Tools that run alone, also when other tools and other turns call them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use toolgen_runtime::agent::dispatch::DispatchOptions;
use toolgen_runtime::{
    CancellationToken, Provider, ProviderContext, Registry, Service, ToolCall, ToolContext, ToolError,
    ToolResult, tool, toolset,
};

use crate::support::{texts, turn};

/// How many calls run, and the most that ever ran beside an exclusive one.
#[derive(Default)]
struct Crowd {
    running: AtomicUsize,
    alone: AtomicUsize,
    clashes: AtomicUsize,
}

impl Crowd {
    async fn work(&self, alone: bool) {
        let own = if alone { &self.alone } else { &self.running };
        own.fetch_add(1, Ordering::SeqCst);
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_millis(10)).await;
            let (running, alone) = (self.running.load(Ordering::SeqCst), self.alone.load(Ordering::SeqCst));
            if alone > 1 || (alone == 1 && running > 0) {
                self.clashes.fetch_add(1, Ordering::SeqCst);
            }
        }
        own.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Works alone.
#[tool(undocumented, exclusive)]
async fn migrate(crowd: Service<Crowd>) -> &'static str {
    crowd.work(true).await;
    "migrated"
}

/// Works beside others.
#[tool(undocumented, read_only)]
async fn read(crowd: Service<Crowd>) -> &'static str {
    crowd.work(false).await;
    "read"
}

/// Calls these tools at once, and waits for them.
#[tool(undocumented)]
async fn both(first: &str, second: &str, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
    let (first, second) = tokio::join!(ctx.call(first, json!({})), ctx.call(second, json!({})));
    Ok(ToolResult::text(format!("{} {}", first?.to_text(), second?.to_text())))
}

/// Works alone, and calls itself and others.
#[tool(undocumented, exclusive)]
async fn deep(depth: u32, ctx: &ToolContext) -> Result<ToolResult, ToolError> {
    if depth == 0 {
        return ctx.call("both", json!({"first": "migrate", "second": "read"})).await;
    }
    ctx.call("deep", json!({"depth": depth - 1})).await
}

fn provider() -> (Provider, Arc<Crowd>) {
    let crowd = Arc::<Crowd>::default();
    let context = ProviderContext::new().with_service(Arc::clone(&crowd));
    let registry = Registry::new(toolset![migrate, read, both, deep]).unwrap();
    (registry.provider(context).unwrap(), crowd)
}

fn calls(calls: &[(&str, serde_json::Value)]) -> Vec<ToolCall> {
    calls
        .iter()
        .enumerate()
        .map(|(id, (name, args))| ToolCall::new(id.to_string(), *name, args.clone()))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn exclusive_calls_run_alone_across_turns_and_below_other_tools() {
    let (provider, crowd) = provider();
    let (turn, options) = (turn(), DispatchOptions::new());
    let mixed = json!({"first": "read", "second": "migrate"});
    let twice = json!({"first": "migrate", "second": "migrate"});
    let (one, two, three) = tokio::join!(
        provider.dispatch(
            calls(&[("read", json!({})), ("both", mixed.clone()), ("both", twice)]),
            &turn,
            &options
        ),
        provider.dispatch(calls(&[("migrate", json!({})), ("read", json!({}))]), &turn, &options),
        provider.dispatch(calls(&[("both", mixed), ("deep", json!({"depth": 3}))]), &turn, &options),
    );
    assert_eq!(texts(&one), ["read", "read migrated", "migrated migrated"]);
    assert_eq!(texts(&two), ["migrated", "read"]);
    assert_eq!(texts(&three), ["read migrated", "migrated read"]);
    assert_eq!(crowd.clashes.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_to_run_alone_can_be_cancelled() {
    let (provider, crowd) = provider();
    let token = CancellationToken::new();
    let (free, cancelled) = (turn(), turn().with_cancel(token.clone()));
    let call = |name| ToolCall::new("1", name, json!({}));
    let (first, second, ()) =
        tokio::join!(provider.call(call("read"), &free), provider.call(call("migrate"), &cancelled), async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            token.cancel();
        });
    assert_eq!((first.text().as_str(), second.outcome), ("read", Err(ToolError::Cancelled)));
    assert_eq!(crowd.alone.load(Ordering::SeqCst), 0);
    assert_eq!(provider.call(call("read"), &free).await.text(), "read");
}
