//! Nothing is left after a turn was dropped.
use toolgen_runtime::engine::dynamic::DynamicTool;

use crate::dispatch::support::{spec, turn};
use crate::prelude::*;

async fn dropping_leaves_nothing(options: DispatchOptions) {
    let (held, tokens) = (Arc::new(()), Arc::new(Mutex::new(Vec::new())));
    // It passes on its token and waits forever, while it holds `held`.
    let (hold, hand_out) = (Arc::clone(&held), Arc::clone(&tokens));
    let waiter = DynamicTool::new(spec("wait"), move |_, ctx| {
        let (held, tokens) = (Arc::clone(&hold), Arc::clone(&hand_out));
        async move {
            let _held = held;
            tokens.lock().unwrap().push(ctx.cancel().clone());
            std::future::pending::<Result<ToolResult, ToolError>>().await
        }
    });
    let toolbox = Toolbox::builder(&Registry::builder().add(waiter).seal().unwrap()).build().unwrap();
    let calls = (1..=3).map(|id| ToolCall::new(id.to_string(), "wait", json!({}))).collect();
    let (turn, token) = (turn(), CancellationToken::new());
    let turn = turn.with_cancel(token.clone());
    let running = toolbox.dispatch(calls, &turn, &options);
    assert!(tokio::time::timeout(Duration::from_millis(10), running).await.is_err());
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(Arc::strong_count(&held), 2, "the tool's and this one");
    let tokens = tokens.lock().unwrap();
    assert_eq!(tokens.len(), 3);
    assert!(
        tokens.iter().all(CancellationToken::is_cancelled),
        "the work that the calls started is notified"
    );
    assert!(!token.is_cancelled(), "the turn's own token does not fire");
}

#[tokio::test(start_paused = true)]
async fn dropped_turn_drops_its_calls_and_fires_their_tokens() {
    dropping_leaves_nothing(DispatchOptions::new()).await;
}

#[tokio::test(start_paused = true)]
async fn dropped_turn_drops_calls_in_separate_tasks() {
    dropping_leaves_nothing(DispatchOptions::new().in_tasks()).await;
}
