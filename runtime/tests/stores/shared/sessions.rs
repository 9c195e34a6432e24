//! Tests of sessions that several processes share.

use toolgen_runtime::call::session::{SessionLimits, Sessions, SessionsLimits};

use super::homes;
use crate::prelude::*;

/// Begins.
#[tool(undocumented)]
fn start(ctx: &ToolContext) -> Result<String, ToolError> {
    let session = ctx.session().ok_or_else(|| ToolError::failed("no session"))?;
    session.set("plan", "launch");
    Ok("started".to_owned())
}

/// Continues.
#[tool(undocumented, requires(tool("start"), session("plan")))]
fn go_on(ctx: &ToolContext) -> String {
    ctx.session().and_then(|session| session.get("plan")).unwrap_or_default().to_string()
}

fn toolbox() -> Toolbox {
    Toolbox::builder(&Registry::new(toolset![start, go_on]).unwrap()).build().unwrap()
}

/// Returns sessions as another process would have them, with a separate connection and memory.
pub(crate) fn sessions(store: Arc<dyn Store>) -> Sessions {
    Sessions::shared(SessionsLimits::DEFAULT, store)
}

pub(crate) async fn call(session: &Session, tool: &str) -> Result<String, ToolError> {
    let turn = Turn::new("turn").with_session(session.clone());
    let outcome = toolbox().run(ToolCall::new("c", tool, json!({})), &turn).await.outcome;
    outcome.map(|result| result.to_text())
}

#[tokio::test]
async fn conversation_continues_in_another_process() {
    for home in homes() {
        let (here, there, name) = (sessions(home.open()), sessions(home.open()), home.name());
        assert!(call(&there.open("s-1"), "go_on").await.is_err(), "{name}: nothing was called yet");
        assert_eq!(call(&here.open("s-1"), "start").await.unwrap(), "started", "{name}");
        assert_eq!(call(&there.open("s-1"), "go_on").await.unwrap(), "\"launch\"", "{name}");
        // A session of another owner, or with another ID, is a different session; `:` in an ID has no special
        // meaning.
        for other in [there.open_for("tenant-2", "s-1"), there.open("s-2"), there.open_for("s", "1")] {
            assert!(call(&other, "go_on").await.is_err(), "{name}");
        }

        // A changed value is visible, and so is its removal.
        let (one, other) = (here.open("s-1"), there.open("s-1"));
        one.set("plan", "wait");
        one.save().await.unwrap();
        assert_eq!(call(&other, "go_on").await.unwrap(), "\"wait\"", "{name}");
        one.remove("plan");
        one.save().await.unwrap();
        assert!(call(&other, "go_on").await.is_err(), "{name}");

        // Changes that are not stored yet remain when another process stores changes, and both are stored in the end.
        one.set("mine", 1);
        other.set("theirs", 2);
        other.save().await.unwrap();
        one.refresh().await.unwrap();
        assert_eq!((one.get("mine"), one.get("theirs")), (Some(json!(1)), Some(json!(2))), "{name}");
        other.set("more", 3);
        other.save().await.unwrap();
        one.save().await.unwrap();
        assert_eq!(one.get("more"), Some(json!(3)), "{name}: it was stored on top of that");
        other.refresh().await.unwrap();
        assert_eq!(other.get("mine"), Some(json!(1)), "{name}");

        one.forget_calls();
        one.save().await.unwrap();
        other.refresh().await.unwrap();
        assert!(other.called().is_empty(), "{name}");

        assert!(here.end_for("", "s-1").await.unwrap(), "{name}");
        other.refresh().await.unwrap();
        assert_eq!(other.get("mine"), None, "{name}");
        assert!(!here.end_for("", "s-1").await.unwrap(), "{name}");
    }
}

#[tokio::test]
async fn concurrent_writers_lose_nothing() {
    for home in homes() {
        let mut writers = tokio::task::JoinSet::new();
        for number in 0..8 {
            let session = sessions(home.open()).open("s");
            writers.spawn(async move {
                for round in 0..10 {
                    session.set(format!("{number}-{round}"), round);
                    session.record_success(format!("tool_{number}"));
                    session.refresh().await.unwrap();
                    session.save().await.unwrap();
                }
            });
        }
        writers.join_all().await;
        let (all, name) = (sessions(home.open()).open("s"), home.name());
        all.refresh().await.unwrap();
        for number in 0..8 {
            assert!(all.has_called(&format!("tool_{number}")), "{name}");
            for round in 0..10 {
                assert_eq!(all.get(&format!("{number}-{round}")), Some(json!(round)), "{name}");
            }
        }
    }
}

#[tokio::test]
async fn history_limits_apply_in_the_store() {
    for home in homes() {
        let session = SessionLimits { history_tools: 3, history_ttl: Duration::from_secs(60) };
        let limits = SessionsLimits { session, ..SessionsLimits::DEFAULT };
        let of = || Sessions::shared(limits, home.open()).open("s");
        let one = of();
        for number in 0..10 {
            one.record_success(format!("tool_{number}"));
            one.save().await.unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let other = of();
        other.refresh().await.unwrap();
        assert_eq!(other.called(), ["tool_7", "tool_8", "tool_9"], "{}", home.name());
    }
}

#[tokio::test(start_paused = true)]
async fn session_in_use_does_not_expire() {
    let store = MemoryStore::new();
    let hour = Duration::from_secs(3600);
    let limits = SessionsLimits { ttl: hour, ..SessionsLimits::DEFAULT };
    let of = || Sessions::shared(limits, store.clone()).open("s");
    let one = of();
    one.set("plan", 1);
    one.save().await.unwrap();
    for _ in 0..20 {
        tokio::time::advance(hour * 9 / 10).await;
        // Only read, by a process that knows the session and by one that does not.
        one.refresh().await.unwrap();
        let other = of();
        other.refresh().await.unwrap();
        assert_eq!((one.get("plan"), other.get("plan")), (Some(json!(1)), Some(json!(1))));
    }
    tokio::time::advance(hour * 3).await;
    one.refresh().await.unwrap();
    assert_eq!(one.get("plan"), None);
}
