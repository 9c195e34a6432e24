//! Tools that block their thread.

use std::sync::Barrier;

use toolgen_runtime::Strategy;
use toolgen_runtime::engine::dynamic::DynamicTool;

use crate::dispatch::support::{Bench, call, call_of, ids, options, spec, texts, turn};
use crate::prelude::*;

fn meet(id: usize) -> ToolCall {
    ToolCall::new(id.to_string(), "meet", json!({}))
}

/// Blocks its thread until another call does the same.
#[tool(name = "meet", blocking)]
fn meet_on_the_pool(barrier: Service<Barrier>) -> String {
    barrier.wait();
    "met".to_owned()
}

// Two calls can only meet if neither blocks the other: with both in one task this would never end.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn calls_in_separate_tasks_do_not_block_each_other() {
    let barrier = Arc::new(Barrier::new(2));
    let meeting = DynamicTool::new(spec("meet"), move |_, _| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait();
            Ok("met")
        }
    });
    let toolbox = Toolbox::builder(&Registry::builder().add(meeting).seal().unwrap()).build().unwrap();
    let options = DispatchOptions::new().in_tasks();
    let done = toolbox.dispatch(vec![meet(1), meet(2)], &turn(), &options).await;
    assert_eq!((texts(&done), ids(&done)), (vec!["met".to_owned(), "met".to_owned()], vec!["1", "2"]));
}

#[tokio::test]
async fn blocking_tools_in_one_task_do_not_block_each_other() {
    let registry = Registry::new(toolset![meet_on_the_pool]).unwrap();
    let toolbox = Toolbox::builder(&registry).build().unwrap();
    let turn = turn().with_service(Arc::new(Barrier::new(2)));
    let done = toolbox.dispatch(vec![meet(1), meet(2)], &turn, &DispatchOptions::new()).await;
    assert_eq!(texts(&done), ["met", "met"]);
}

#[tokio::test(start_paused = true)]
async fn separate_tasks_keep_order_and_strategy() {
    for strategy in [Strategy::Sequential, Strategy::Parallel] {
        let toolbox = Bench::new().toolbox();
        let calls = vec![call(1, 20), call_of("t", 2, json!({ "how": "panic" })), call(3, 10)];
        let done = toolbox.dispatch(calls, &turn(), &options(strategy).in_tasks()).await;
        assert_eq!(texts(&done), ["1", "tool panicked", "3"]);
    }
}

#[test]
fn calls_without_a_runtime_stay_in_one_task() {
    let toolbox = Bench::new().toolbox();
    let call = call_of("t", 1, json!({}));
    let (turn, options) = (turn(), DispatchOptions::new().in_tasks());
    let mut running = Box::pin(toolbox.dispatch(vec![call], &turn, &options));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(done) = running.as_mut().poll(&mut cx) else { panic!("nothing to wait for") };
    assert_eq!(texts(&done), ["1"]);
}
