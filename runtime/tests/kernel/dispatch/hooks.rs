//! What hooks see of a turn, in which order and with which texts.

use toolgen_runtime::agent::dispatch::Strategy;
use toolgen_runtime::engine::dynamic::DynamicTool;
use toolgen_runtime::layers::events::EventKind;

use crate::dispatch::support::{Bench, call, options, spec, texts, turn};
use crate::prelude::*;

type Seen = Arc<Mutex<Vec<String>>>;

/// Records its calls; rejects calls and updates with these names.
struct Watcher {
    seen: Seen,
    refuses: &'static [&'static str],
}

impl Watcher {
    fn note(&self, line: String) {
        self.seen.lock().unwrap().push(line);
    }
}

impl Hooks for Watcher {
    fn before_tool_execution<'a>(&'a self, call: &'a ToolCall, _: &'a ToolContext) -> BoxFuture<'a, bool> {
        self.note(format!("before {}", call.id));
        Box::pin(ready(!self.refuses.contains(&call.id.as_str())))
    }

    fn after_tool_execution<'a>(
        &'a self,
        response: &'a ToolResponse,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, ()> {
        self.note(format!("after {} {}", response.id, response.is_error()));
        Box::pin(ready(()))
    }

    fn before_tool_execution_update(&self, id: &str, _: &str, update: &ToolResult) -> bool {
        self.note(format!("before update {id} {}", update.to_text()));
        !self.refuses.contains(&update.to_text().as_str())
    }

    fn after_tool_execution_update(&self, id: &str, _: &str, update: &ToolResult) {
        self.note(format!("after update {id} {}", update.to_text()));
    }
}

fn event_line(event: &Event) -> String {
    match &event.kind {
        EventKind::ToolCall { arguments } => format!("start {} {arguments}", event.id),
        EventKind::ToolResponse { .. } => format!("end {}", event.id),
        EventKind::Error { message, .. } => format!("error {} {message}", event.id),
        EventKind::Update { .. } => format!("update {}", event.id),
        other => format!("{other:?}"),
    }
}

fn watched(refuses: &'static [&'static str]) -> (Toolbox, Seen) {
    let seen = Seen::default();
    let (hook, events) = (Arc::clone(&seen), Arc::clone(&seen));
    let toolbox = Bench::new()
        .builder()
        .hooks(Watcher { seen: hook, refuses })
        .on_event(move |event| events.lock().unwrap().push(event_line(&event)))
        .build()
        .unwrap();
    (toolbox, seen)
}

fn seen(seen: &Seen) -> Vec<String> {
    std::mem::take(&mut seen.lock().unwrap())
}

#[tokio::test(start_paused = true)]
async fn order_is_hook_start_end_hook() {
    let (toolbox, log) = watched(&[]);
    toolbox.dispatch(vec![call(1, 1)], &turn(), &DispatchOptions::new()).await;
    assert_eq!(seen(&log), ["before 1", "start 1 {\"ms\":1,\"id\":1}", "end 1", "after 1 false"]);
}

#[tokio::test(start_paused = true)]
async fn hook_refusal_emits_no_events() {
    let (toolbox, log) = watched(&["2"]);
    let calls = vec![call(1, 0), call(2, 0), call(3, 0)];
    let done = toolbox.dispatch(calls, &turn(), &options(Strategy::Sequential)).await;
    assert_eq!(texts(&done), ["1", "Tool execution skipped by before_tool_execution hook.", "3"]);
    assert!(done.responses[1].is_error() && done.responses[1].skipped);
    let of_second: Vec<String> = seen(&log).into_iter().filter(|line| line.contains(" 2")).collect();
    assert_eq!(of_second, ["before 2"]);
}

#[tokio::test(start_paused = true)]
async fn hook_runs_for_unknown_tools() {
    let (toolbox, log) = watched(&[]);
    let call = ToolCall::new("1", "nothing_like_it", json!({}));
    toolbox.dispatch(vec![call], &turn(), &DispatchOptions::new()).await;
    assert_eq!(
        seen(&log),
        ["before 1", "start 1 {}", "error 1 Tool not found: nothing_like_it", "after 1 true"]
    );
}

#[tokio::test(start_paused = true)]
async fn skipped_call_emits_start_and_end_without_hooks() {
    let (toolbox, log) = watched(&[]);
    let options = options(Strategy::Sequential).with_steering(|| true);
    toolbox.dispatch(vec![call(1, 0), call(2, 0)], &turn(), &options).await;
    assert_eq!(
        seen(&log)[4..],
        ["start 2 null", "error 2 Skipped due to queued user message."],
        "behind the four lines of the first"
    );
}

#[tokio::test(start_paused = true)]
async fn call_cancelled_before_running_emits_start_and_end() {
    let (toolbox, log) = watched(&[]);
    let token = CancellationToken::new();
    token.cancel();
    toolbox.dispatch(vec![call(1, 0)], &turn().with_cancel(token), &DispatchOptions::new()).await;
    assert_eq!(seen(&log), ["start 1 null", "error 1 Cancelled"]);
}

#[tokio::test(start_paused = true)]
async fn suppressed_update_emits_no_event() {
    let (log, watched) = (Seen::default(), Seen::default());
    let (hook, events, received) = (Arc::clone(&log), Arc::clone(&log), Arc::clone(&watched));
    let talker = DynamicTool::new(spec("talk"), |_, ctx| {
        ["one", "two", "three"].into_iter().for_each(|text| ctx.update(ToolResult::text(text)));
        ready(Ok("done"))
    });
    let registry = Registry::builder().add(talker).seal().unwrap();
    let toolbox = Toolbox::builder(&registry)
        .hooks(Watcher { seen: hook, refuses: &["two"] })
        .on_event(move |event| events.lock().unwrap().push(event_line(&event)))
        .build()
        .unwrap();
    let turn = turn().with_on_update(move |update| received.lock().unwrap().push(update.to_text()));
    let call = ToolCall::new("1", "talk", json!({}));
    toolbox.dispatch(vec![call], &turn, &DispatchOptions::new()).await;
    assert_eq!(
        seen(&log),
        [
            "before 1",
            "start 1 {}",
            "before update 1 one",
            "update 1",
            "after update 1 one",
            "before update 1 two",
            "before update 1 three",
            "update 1",
            "after update 1 three",
            "end 1",
            "after 1 false"
        ]
    );
    assert_eq!(seen(&watched), ["one", "three"]);
}
