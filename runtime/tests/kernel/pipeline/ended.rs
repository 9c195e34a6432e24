//! Every call that starts also ends, and reports nothing afterwards.

use super::add;
use crate::prelude::*;

/// Contexts that tools left behind.
#[derive(Clone, Default)]
struct Leaked(Arc<Mutex<Vec<ToolContext>>>);

/// Leaves its context behind.
#[tool]
async fn leak(ctx: &ToolContext, #[inject] leaked: Service<Leaked>) -> &'static str {
    ctx.progress("working");
    leaked.0.lock().unwrap().extend([ctx.clone(), ctx.child("c9", "leak")]);
    "done"
}

/// Reports from a thread of its own, before and after its answer.
#[tool]
async fn chatter(ctx: &ToolContext) -> &'static str {
    let own = ctx.clone();
    let (started, began) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        own.progress("first");
        let _ = started.send(());
        for _ in 0..200 {
            own.progress("more");
        }
    });
    let _ = began.await;
    "done"
}

/// Waits for ever.
#[tool]
async fn wait() {
    std::future::pending::<()>().await;
}

type Seen = Arc<Mutex<Vec<Event>>>;

fn toolbox(leaked: &Leaked) -> (Toolbox, Seen) {
    let (seen, registry) = (Seen::default(), Registry::new(toolset![leak, chatter, wait, add]).unwrap());
    let events = Arc::clone(&seen);
    let context = ToolboxContext::new().with_service(Arc::new(leaked.clone()));
    let builder = Toolbox::builder(&registry).context(context);
    (builder.on_event(move |event| events.lock().unwrap().push(event)).build().unwrap(), seen)
}

fn types(seen: &Seen) -> Vec<&'static str> {
    seen.lock().unwrap().iter().map(Event::type_name).collect()
}

#[tokio::test]
async fn context_of_an_ended_call_is_closed() {
    let leaked = Leaked::default();
    let (toolbox, seen) = toolbox(&leaked);
    let updates = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&updates);
    let turn = Turn::new("turn").with_on_update(move |_| *counted.lock().unwrap() += 1);
    assert_eq!(toolbox.run(ToolCall::new("c1", "leak", json!({})), &turn).await.text(), "done");
    let left = leaked.0.lock().unwrap().clone();
    assert_eq!(left.len(), 2);
    for ctx in left {
        ctx.progress("late");
        ctx.update(ToolResult::text("late"));
        let error = ctx.call("add", json!({"a": 1, "b": 2})).await.unwrap_err();
        assert_eq!(error.code(), "CALL_ENDED");
    }
    assert_eq!(types(&seen), ["tool_call", "progress", "tool_response"]);
    assert_eq!(*updates.lock().unwrap(), 0);
    // The turn continues.
    assert_eq!(toolbox.run(ToolCall::new("c2", "leak", json!({})), &turn).await.text(), "done");
}

#[tokio::test]
async fn response_is_the_last_event_from_any_thread() {
    let (toolbox, seen) = toolbox(&Leaked::default());
    for _ in 0..50 {
        toolbox.run(ToolCall::new("c1", "chatter", json!({})), &Turn::new("turn")).await;
        let types = std::mem::take(&mut *seen.lock().unwrap());
        let types: Vec<_> = types.iter().map(Event::type_name).collect();
        assert_eq!((types[0], *types.last().unwrap()), ("tool_call", "tool_response"), "{types:?}");
        assert_eq!(types.iter().filter(|name| **name == "tool_response").count(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_call_emits_its_end() {
    for options in [DispatchOptions::new(), DispatchOptions::new().in_tasks()] {
        let (toolbox, seen) = toolbox(&Leaked::default());
        let calls = (1..=3).map(|id| ToolCall::new(id.to_string(), "wait", json!({}))).collect();
        let turn = Turn::new("turn");
        let running = toolbox.dispatch(calls, &turn, &options);
        assert!(tokio::time::timeout(Duration::from_millis(10), running).await.is_err());
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let types = types(&seen);
        assert_eq!(types.iter().filter(|name| **name == "tool_call").count(), 3);
        assert_eq!(types.iter().filter(|name| **name == "error").count(), 3);
        let last = seen.lock().unwrap().pop().unwrap().to_json();
        assert_eq!((&last["code"], &last["error"]), (&json!("CANCELLED"), &json!("Cancelled")));
    }
}

#[tokio::test]
async fn events_name_principal_and_session() {
    let (toolbox, seen) = toolbox(&Leaked::default());
    let turn = Turn::new("turn")
        .with_principal(Principal::new("alice").with_scopes(["read", "write"]))
        .with_session(Session::new("s-1"));
    toolbox.run(ToolCall::new("c1", "add", json!({"a": 1, "b": 2})), &turn).await;
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 2);
    for event in seen.iter() {
        let event = event.to_json();
        assert_eq!((&event["principal"], &event["session_id"]), (&json!("alice"), &json!("s-1")));
    }
}
