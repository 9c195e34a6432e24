//! Tools that run exclusively, also when other tools and other turns call them.

use std::task::Poll;

use proptest::collection::vec;
use proptest::prelude::*;

use crate::dispatch::support::{spec, texts, turn};
use crate::prelude::*;

/// The number of running calls, and the maximum number that ran next to an exclusive one.
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

fn toolbox() -> (Toolbox, Arc<Crowd>) {
    let crowd = Arc::<Crowd>::default();
    let context = ToolboxContext::new().with_service(Arc::clone(&crowd));
    let registry = Registry::new(toolset![migrate, read, both, deep]).unwrap();
    (registry.toolbox(context), crowd)
}

fn calls(calls: &[(&str, Value)]) -> Vec<ToolCall> {
    calls
        .iter()
        .enumerate()
        .map(|(id, (name, args))| ToolCall::new(id.to_string(), *name, args.clone()))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn exclusive_calls_run_alone_across_turns_and_nesting() {
    let (toolbox, crowd) = toolbox();
    let (turn, options) = (turn(), DispatchOptions::new());
    let mixed = json!({"first": "read", "second": "migrate"});
    let twice = json!({"first": "migrate", "second": "migrate"});
    let (one, two, three) = tokio::join!(
        toolbox.dispatch(
            calls(&[("read", json!({})), ("both", mixed.clone()), ("both", twice)]),
            &turn,
            &options
        ),
        toolbox.dispatch(calls(&[("migrate", json!({})), ("read", json!({}))]), &turn, &options),
        toolbox.dispatch(calls(&[("both", mixed), ("deep", json!({"depth": 3}))]), &turn, &options),
    );
    assert_eq!(texts(&one), ["read", "read migrated", "migrated migrated"]);
    assert_eq!(texts(&two), ["migrated", "read"]);
    assert_eq!(texts(&three), ["read migrated", "migrated read"]);
    assert_eq!(crowd.clashes.load(Ordering::SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn waiting_exclusive_call_can_be_cancelled() {
    let (toolbox, crowd) = toolbox();
    let token = CancellationToken::new();
    let (free, cancelled) = (turn(), turn().with_cancel(token.clone()));
    let call = |name| ToolCall::new("1", name, json!({}));
    let (first, second, ()) =
        tokio::join!(toolbox.run(call("read"), &free), toolbox.run(call("migrate"), &cancelled), async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            token.cancel();
        });
    assert_eq!((first.text().as_str(), second.outcome), ("read", Err(ToolError::Cancelled)));
    assert_eq!(crowd.alone.load(Ordering::SeqCst), 0);
    assert_eq!(toolbox.run(call("read"), &free).await.text(), "read");
}

/// Makes the calls in its arguments, sequentially or concurrently, and works between them.
struct Node {
    spec: ToolSpec,
    crowd: Arc<Crowd>,
}

impl AgentTool for Node {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            self.crowd.work(self.spec.exclusive).await;
            let below = params["below"].as_array().cloned().unwrap_or_default();
            let mut calls = below.into_iter().map(|call| async move {
                ctx.call(call["tool"].as_str().unwrap(), call["args"].clone()).await.map(drop)
            });
            if params["at_once"] == true {
                let mut running: Vec<_> = calls.map(Box::pin).collect();
                let all = std::future::poll_fn(|cx| {
                    running.retain_mut(|call| match call.as_mut().poll(cx) {
                        Poll::Ready(outcome) => outcome.is_err(),
                        Poll::Pending => true,
                    });
                    if running.is_empty() { Poll::Ready(()) } else { Poll::Pending }
                });
                all.await;
            } else {
                for call in &mut calls {
                    call.await?;
                }
            }
            Ok(ToolResult::text("done"))
        })
    }
}

/// A call and its nested calls.
fn tree() -> impl Strategy<Value = Value> {
    let node = |below: Vec<Value>, at_once: bool, alone: bool| {
        let tool = if alone { "alone" } else { "beside" };
        json!({ "tool": tool, "args": { "below": below, "at_once": at_once } })
    };
    let leaf = any::<bool>().prop_map(move |alone| node(Vec::new(), false, alone));
    leaf.prop_recursive(3, 12, 3, move |inner| {
        (vec(inner, 0..3), any::<bool>(), any::<bool>())
            .prop_map(move |(below, at_once, alone)| node(below, at_once, alone))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exclusive_calls_never_deadlock(turns in vec(vec(tree(), 1..3), 1..4)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let crowd = Arc::<Crowd>::default();
            let node = |name, exclusive| {
                let spec = ToolSpec { exclusive, timeout: Timeout::Millis(3_600_000), ..spec(name) };
                Node { spec, crowd: Arc::clone(&crowd) }
            };
            let registry = Registry::builder().add(node("alone", true)).add(node("beside", false)).seal().unwrap();
            let toolbox = registry.toolbox(ToolboxContext::new());
            let running: Vec<_> = turns.into_iter().map(|trees| {
                let calls = trees.iter().map(|tree| ToolCall::new("1", tree["tool"].as_str().unwrap(), tree["args"].clone()));
                let (toolbox, calls) = (toolbox.clone(), calls.collect());
                tokio::spawn(async move { texts(&toolbox.dispatch(calls, &turn(), &DispatchOptions::new()).await) })
            }).collect();
            for turn in running {
                assert!(turn.await.unwrap().iter().all(|text| text == "done"));
            }
            assert_eq!(crowd.clashes.load(Ordering::SeqCst), 0);
        });
    }
}
