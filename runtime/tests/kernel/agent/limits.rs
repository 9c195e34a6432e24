//! Limits of a sub-agent, and its cancellation.

use std::sync::atomic::AtomicBool;

use super::{By, SubAgentTool, call, call_in, toolbox, turn};
use crate::prelude::*;

#[tokio::test]
async fn limit_applies_even_if_the_runner_ignores_it() {
    // Neither of the two checks the monitor.
    let turns = By(|_, monitor: AgentMonitor| async move {
        for _ in 0..3 {
            let _ = monitor.begin_turn();
        }
        Ok("went on".to_owned())
    });
    let error = call(SubAgentTool::builder("helper", turns).max_turns(2)).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "Sub-agent 'helper' reached its limit of 2 turns");
    let tokens = By(|_, monitor: AgentMonitor| async move {
        let _ = monitor.add_tokens(60);
        let _ = monitor.add_tokens(41);
        std::future::pending().await
    });
    let error = call(SubAgentTool::builder("helper", tokens).max_tokens(100)).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "Sub-agent 'helper' reached its limit of 100 tokens");
}

#[tokio::test(start_paused = true)]
async fn limits_of_an_inner_loop_limit_the_sub_agent() {
    let thinks = |_: &AgentTask, _: &AgentMonitor| {
        |_: Transcript| std::future::pending::<Result<ModelTurn, AgentFailure>>()
    };
    let looped = |limits| LoopRunner::new(thinks).with_options(limits);
    let timed = looped(LoopOptions::new().with_max_time(Duration::from_secs(3)));
    let error = call(SubAgentTool::builder("helper", timed)).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "Sub-agent 'helper' was aborted: maximum time (3s) exceeded");
    let poor = looped(LoopOptions::new().with_max_tokens(0));
    let error = call(SubAgentTool::builder("helper", poor)).await.outcome.unwrap_err();
    assert_eq!(error.to_string(), "Sub-agent 'helper' reached its limit of 0 tokens");
}

#[tokio::test]
async fn reaching_a_limit_exactly_is_allowed() {
    let runner = By(|_, monitor: AgentMonitor| async move {
        monitor.begin_turn()?;
        monitor.add_tokens(100)?;
        monitor.begin_turn()?;
        Ok(format!("{} {}", monitor.turns(), monitor.tokens()))
    });
    let tool = SubAgentTool::builder("helper", runner).max_turns(2).max_tokens(100);
    assert_eq!(call(tool).await.text(), "2 100");
}

/// Records whether it was dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[tokio::test(start_paused = true)]
async fn timeout_stops_the_sub_agent_and_its_work() {
    let (dropped, token) = (Arc::new(AtomicBool::new(false)), Arc::new(std::sync::OnceLock::new()));
    let (flag, seen) = (dropped.clone(), token.clone());
    let runner = By(move |task: AgentTask, _| {
        seen.set(task.turn.cancel().clone()).unwrap();
        let dropped = Dropped(flag.clone());
        async move {
            let _dropped = dropped;
            std::future::pending().await
        }
    });
    let started = Instant::now();
    let error = call(SubAgentTool::builder("helper", runner)).await.outcome.unwrap_err();
    assert_eq!(error, ToolError::Timeout { duration: Duration::from_secs(300) });
    assert_eq!(started.elapsed(), Duration::from_secs(300));
    assert!(dropped.load(Ordering::SeqCst) && token.get().unwrap().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn timeout_applies_without_a_toolbox() {
    let runner = By(|_, _| std::future::pending());
    let tool = SubAgentTool::builder("helper", runner).max_time(Duration::from_secs(2)).build().unwrap();
    let error = tool.execute(json!({"task": "x"}), &turn().call_context("1", "t")).await.unwrap_err();
    assert_eq!(error, ToolError::Timeout { duration: Duration::from_secs(2) });
}

#[tokio::test(start_paused = true)]
async fn caller_may_shorten_the_timeout() {
    let runner = By(|_, _| std::future::pending());
    let turn = turn().with_timeout(Duration::from_secs(1));
    let response =
        call_in(&toolbox(SubAgentTool::builder("helper", runner)), json!({"task": "x"}), &turn).await;
    assert_eq!(response.outcome, Err(ToolError::Timeout { duration: Duration::from_secs(1) }));
}

#[tokio::test(start_paused = true)]
async fn cancellation_reaches_the_sub_agent() {
    let token = CancellationToken::new();
    // A runner that notices the cancellation, and still returns something.
    let runner = By(|task: AgentTask, _| async move {
        task.turn.cancel().cancelled().await;
        Ok("half of it".to_owned())
    });
    let tool = SubAgentTool::builder("helper", runner).build().unwrap();
    let turn = turn().with_cancel(token.clone());
    let ctx = turn.call_context("1", "t");
    let (outcome, ()) = tokio::join!(tool.execute(json!({"task": "x"}), &ctx), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        token.cancel();
    });
    assert_eq!(outcome, Err(ToolError::Cancelled));

    let toolbox = toolbox(SubAgentTool::builder("helper", By(|_, _| std::future::pending())));
    assert_eq!(call_in(&toolbox, json!({"task": "x"}), &turn).await.outcome, Err(ToolError::Cancelled));
}

#[tokio::test]
async fn background_work_of_a_sub_agent_ends_with_it() {
    let token = Arc::new(std::sync::OnceLock::new());
    let seen = token.clone();
    let runner = By(move |task: AgentTask, _| {
        seen.set(task.turn.cancel().clone()).unwrap();
        async { Ok("done".to_owned()) }
    });
    assert_eq!(call(SubAgentTool::builder("helper", runner)).await.text(), "done");
    assert!(token.get().unwrap().is_cancelled());
}
