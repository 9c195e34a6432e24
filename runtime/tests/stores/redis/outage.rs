//! What becomes of calls while the server is down, and after.

use toolgen_runtime::layers::rate::{RateLimit, WindowLimit};
use toolgen_runtime::layers::redis::{RATE_LIMIT_UNKNOWN, StateChange};

use crate::prelude::*;
use crate::redis::server::Server;
use crate::redis::{builder, spec, state};

/// Adds.
#[tool(undocumented)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Asks until the server is there again: after a failure the state pauses.
async fn until_up(state: &RedisState) {
    for _ in 0..500 {
        if state.ping().await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{state:?} is not up again: {:?}", state.ping().await);
}

fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(60)
}

#[tokio::test]
async fn each_layer_does_what_was_chosen_for_it_when_the_server_is_killed() {
    let Some(mut server) = Server::start() else { return };
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let state = builder(&server.url())
        .on_change(move |change| heard.lock().unwrap().push(change.clone()))
        .build()
        .unwrap();
    let limit = || state.rate_limit(WindowLimit::new().with_per_tool(2));
    let registry = Registry::new(toolset![add]).unwrap();
    let closed = Provider::builder(&registry).rate_limit(limit()).build().unwrap();
    let degraded = limit().on_failure(OnFailure::Degrade);
    let degraded = Provider::builder(&registry).rate_limit(degraded).build().unwrap();
    let turn = ToolContext::new("turn", "");
    let call = async |provider: &Provider| {
        let call = ToolCall::new("c", "add", json!({"a": 1, "b": 2}));
        provider.call(call, &turn).await.outcome
    };
    assert!(call(&closed).await.is_ok() && call(&degraded).await.is_ok());
    assert_eq!(call(&closed).await.unwrap_err().code(), "RATE_LIMITED", "both count at one place");

    server.kill();
    let why = call(&closed).await.unwrap_err();
    assert_eq!(why.code(), RATE_LIMIT_UNKNOWN);
    let text = why.to_string();
    assert!(
        text.contains("'add'") && text.contains("cannot be reached") && text.contains("Try again"),
        "{text}"
    );
    let detail = why.operator_text();
    assert!(detail.contains(&format!("redis://127.0.0.1:{}", server.port())), "{detail}");
    // Alone, from zero.
    assert!(call(&degraded).await.is_ok() && call(&degraded).await.is_ok());
    assert_eq!(call(&degraded).await.unwrap_err().code(), "RATE_LIMITED");

    let (strict, loose) = (state.approvals(), state.approvals().on_failure(OnFailure::Degrade));
    assert!(strict.take("n", later()).await.unwrap_err().to_string().contains("shared state"));
    assert_eq!((loose.take("n", later()).await, loose.take("n", later()).await), (Ok(true), Ok(false)));
    assert!(!state.is_up());

    server.start_again();
    until_up(&state).await;
    assert!(state.is_up() && call(&closed).await.is_ok(), "it forgot everything, and counts again");
    assert_eq!(loose.take("n", later()).await, Ok(false), "what was resumed alone is not resumed again");
    let told = told.lock().unwrap();
    assert!(matches!(told.as_slice(), [StateChange::Down(_), StateChange::Up]), "{told:?}");
}

/// Stops the server or lets it go on: it keeps its connections and does not answer.
#[cfg(unix)]
fn signal(server: &Server, signal: rustix::process::Signal) {
    let process = rustix::process::Pid::from_child(server.process());
    rustix::process::kill_process(process, signal).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn no_call_waits_longer_than_the_bound_and_most_do_not_wait_at_all() {
    let Some(server) = Server::start() else { return };
    let bound = Duration::from_millis(300);
    let state = builder(&server.url()).timeout(bound).build().unwrap();
    until_up(&state).await;
    let limit = state.rate_limit(WindowLimit::new());
    let (who, spec) = (Principal::new("ada"), spec("x"));
    // It has the connection and does not answer.
    signal(&server, rustix::process::Signal::STOP);
    let begun = Instant::now();
    let why = limit.ask(&who, &spec).await.unwrap_err();
    let waited = begun.elapsed();
    assert!(why.operator_text().contains("no answer within 300ms"), "{why:?}");
    assert!(waited >= bound && waited < bound + Duration::from_secs(5), "{waited:?}");
    // As long as nothing is tried again, nobody waits.
    let (mut at_once, begun) = (0, Instant::now());
    while begun.elapsed() < Duration::from_millis(200) {
        assert!(limit.ask(&who, &spec).await.is_err());
        at_once += 1;
    }
    assert!(at_once > 20, "{at_once} calls in 200 ms");
    signal(&server, rustix::process::Signal::CONT);
    until_up(&state).await;
    assert_eq!(limit.ask(&who, &spec).await, Ok(()));
}

#[tokio::test]
async fn a_program_may_start_before_its_server_and_survives_its_restart() {
    let Some(mut server) = Server::start() else { return };
    server.kill();
    let state = state(&server.url());
    let why = state.ping().await.unwrap_err().to_string();
    assert!(why.contains("cannot connect") && why.contains("refused"), "{why}");
    server.start_again();
    until_up(&state).await;
    for _ in 0..3 {
        server.kill();
        server.start_again();
        until_up(&state).await;
    }
}

#[tokio::test]
async fn a_wrong_password_is_told_and_not_shown() {
    let Some(server) = Server::start_with(|_| vec!["--requirepass".into(), "right".into()]) else { return };
    let at = |password: &str| format!("redis://:{password}@127.0.0.1:{}", server.port());
    let why = state(&at("s3cret")).ping().await.unwrap_err().to_string();
    assert!(!why.contains("s3cret") && why.to_lowercase().contains("pass"), "{why}");
    assert_eq!(state(&at("right")).ping().await, Ok(()));
}

#[test]
fn a_state_without_a_namespace_is_none() {
    let why = RedisState::builder("redis://127.0.0.1", " ").build().unwrap_err().to_string();
    assert!(why.contains("namespace"), "{why}");
}
