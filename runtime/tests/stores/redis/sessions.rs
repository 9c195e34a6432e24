//! Sessions that several processes have.

use toolgen_runtime::call::session::{SessionLimits, Sessions, SessionsLimits};
use toolgen_runtime::layers::redis::SESSION_UNKNOWN;

use crate::prelude::*;
use crate::redis::server::Server;
use crate::redis::state;

/// Begins.
#[tool(undocumented)]
fn start(ctx: &ToolContext) -> Result<String, ToolError> {
    let session = ctx.session().ok_or_else(|| ToolError::failed("no session"))?;
    session.set("plan", "launch");
    Ok("started".to_owned())
}

/// Goes on.
#[tool(undocumented, requires(tool("start"), session("plan")))]
fn go_on(ctx: &ToolContext) -> String {
    ctx.session().and_then(|session| session.get("plan")).unwrap_or_default().to_string()
}

fn provider() -> Provider {
    Provider::builder(&Registry::new(toolset![start, go_on]).unwrap()).build().unwrap()
}

/// As another process has them: with a connection and a memory of their own.
fn sessions(url: &str) -> Sessions {
    Sessions::shared(SessionsLimits::DEFAULT, state(url).sessions())
}

async fn call(session: &Session, tool: &str) -> Result<String, ToolError> {
    let turn = ToolContext::new("turn", "").with_session(session.clone());
    let outcome = provider().call(ToolCall::new("c", tool, json!({})), &turn).await.outcome;
    outcome.map(|result| result.to_text())
}

#[tokio::test]
async fn a_conversation_goes_on_in_another_process() {
    let Some(server) = Server::start() else { return };
    let (here, there) = (sessions(&server.url()), sessions(&server.url()));
    assert!(call(&there.open("s-1"), "go_on").await.is_err(), "nothing was called yet");
    assert_eq!(call(&here.open("s-1"), "start").await.unwrap(), "started");
    assert_eq!(call(&there.open("s-1"), "go_on").await.unwrap(), "\"launch\"");
    // Of another owner, or with another ID, it is another one; and `:` in one is nothing special.
    for other in [there.open_for("tenant-2", "s-1"), there.open("s-2"), there.open_for("s", "1")] {
        assert!(call(&other, "go_on").await.is_err());
    }

    // A change of a value is seen, and its removal.
    let (one, other) = (here.open("s-1"), there.open("s-1"));
    one.set("plan", "wait");
    one.save().await.unwrap();
    assert_eq!(call(&other, "go_on").await.unwrap(), "\"wait\"");
    one.remove("plan");
    one.save().await.unwrap();
    assert!(call(&other, "go_on").await.is_err());

    // What is not stored yet stays when others have changed something.
    one.set("mine", 1);
    other.set("theirs", 2);
    other.save().await.unwrap();
    one.refresh().await.unwrap();
    assert_eq!((one.get("mine"), one.get("theirs")), (Some(json!(1)), Some(json!(2))));
    one.save().await.unwrap();
    other.refresh().await.unwrap();
    assert_eq!(other.get("mine"), Some(json!(1)));

    one.forget_calls();
    one.save().await.unwrap();
    other.refresh().await.unwrap();
    assert!(other.called().is_empty());

    assert!(here.end_for("", "s-1").await.unwrap());
    other.refresh().await.unwrap();
    assert_eq!(other.get("mine"), None);
    assert!(!here.end_for("", "s-1").await.unwrap());
}

#[tokio::test]
async fn many_writers_lose_nothing() {
    let Some(server) = Server::start() else { return };
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..16 {
        let session = sessions(&server.url()).open("s");
        writers.spawn(async move {
            for round in 0..20 {
                session.set(format!("{number}-{round}"), round);
                session.record_success(format!("tool_{number}"));
                session.refresh().await.unwrap();
                session.save().await.unwrap();
            }
        });
    }
    writers.join_all().await;
    let all = sessions(&server.url()).open("s");
    all.refresh().await.unwrap();
    for number in 0..16 {
        assert!(all.has_called(&format!("tool_{number}")));
        for round in 0..20 {
            assert_eq!(all.get(&format!("{number}-{round}")), Some(json!(round)));
        }
    }
}

#[tokio::test]
async fn the_history_has_its_limits_on_the_server_too() {
    let Some(server) = Server::start() else { return };
    let session = SessionLimits { history_tools: 3, history_ttl: Duration::from_secs(60) };
    let limits = SessionsLimits { session, ..SessionsLimits::DEFAULT };
    let of = || Sessions::shared(limits, state(&server.url()).sessions()).open("s");
    let one = of();
    for number in 0..10 {
        one.record_success(format!("tool_{number}"));
        one.save().await.unwrap();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let other = of();
    other.refresh().await.unwrap();
    assert_eq!(other.called(), ["tool_7", "tool_8", "tool_9"]);
}

#[tokio::test]
async fn without_the_server_calls_are_refused_or_go_by_what_is_known_here() {
    let Some(mut server) = Server::start() else { return };
    let closed = sessions(&server.url()).open("s");
    let degraded = state(&server.url()).sessions().on_failure(OnFailure::Degrade);
    let degraded = Sessions::shared(SessionsLimits::DEFAULT, degraded).open("s");
    assert!(call(&degraded, "start").await.is_ok());
    assert!(call(&closed, "go_on").await.is_ok());
    server.kill();
    let why = call(&closed, "go_on").await.unwrap_err();
    assert_eq!(why.code(), SESSION_UNKNOWN);
    assert!(why.to_string().contains("cannot be reached"), "{why}");
    assert_eq!(call(&degraded, "go_on").await.unwrap(), "\"launch\"");
    degraded.set("plan", "later");
    assert!(degraded.save().await.is_err());

    // The server is back, and has forgotten everything: what could not be stored is stored, and the rest is gone.
    server.start_again();
    let mut tries = 0;
    while degraded.save().await.is_err() {
        assert!(tries < 100);
        tries += 1;
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let other = sessions(&server.url()).open("s");
    other.refresh().await.unwrap();
    assert_eq!(other.get("plan"), Some(json!("later")));
    assert!(other.has_called("go_on"), "that was called while the server was away");
}
