//! Tests of calls while the server of a store is down, and afterwards.

use std::cell::RefCell;

use toolgen_runtime::call::session::{SESSION_UNKNOWN, Sessions, SessionsLimits};
use toolgen_runtime::layers::breaker::{BreakerState, SERVICE_UNAVAILABLE};
use toolgen_runtime::layers::pages::{READ_RESULT, RESULT_UNKNOWN};
use toolgen_runtime::layers::rate::{RATE_LIMIT_UNKNOWN, RateLimit, WindowLimit};
use toolgen_runtime::layers::repeat::REPEATED_FAILURE;
use toolgen_runtime::store::StoreChange;

use super::breaker::{started, until};
use super::repeats::One;
use super::{pages, sessions, spec};
use crate::approvals::{World, ask, builder, turn};
use crate::prelude::*;

/// A server of one test, which is killed and restarted.
enum Server {
    #[cfg(target_os = "linux")]
    Postgres(super::postgres::Server, String),
    Redis(RefCell<super::redis::Server>),
}

impl Server {
    fn all() -> Vec<Server> {
        let mut all = Vec::new();
        #[cfg(target_os = "linux")]
        if let Some(server) = super::postgres::Server::start(&[]) {
            let url = server.database("outage");
            all.push(Server::Postgres(server, url));
        }
        all.extend(super::redis::Server::start().map(|server| Server::Redis(RefCell::new(server))));
        all
    }

    fn store(&self) -> Arc<dyn Store> {
        match self {
            #[cfg(target_os = "linux")]
            Server::Postgres(_, url) => super::at(url),
            Server::Redis(server) => super::at(&server.borrow().url()),
        }
    }

    fn kill(&self) {
        match self {
            #[cfg(target_os = "linux")]
            // With all its processes, which may outlive the killed one for a while.
            Server::Postgres(server, _) => server.stop(super::postgres::End::Immediate),
            Server::Redis(server) => server.borrow_mut().kill(),
        }
    }

    fn start_again(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Server::Postgres(server, _) => server.run(),
            Server::Redis(server) => server.borrow_mut().start_again(),
        }
    }

    /// Whether its data survives a restart.
    fn keeps(&self) -> bool {
        !matches!(self, Server::Redis(_))
    }
}

/// Retries until the server is up again: the store pauses after a failure.
async fn until_up(store: &Arc<dyn Store>) {
    for _ in 0..500 {
        if store.get("t", "t").await.is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it is not up again: {:?}", store.get("t", "t").await);
}

/// Adds.
#[tool(undocumented)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn limited(store: &Arc<dyn Store>, on_failure: OnFailure) -> Toolbox {
    let limit = WindowLimit::new().with_per_tool(2).shared(Arc::clone(store)).on_failure(on_failure);
    Toolbox::builder(&Registry::new(toolset![add]).unwrap()).rate_limit(limit).build().unwrap()
}

async fn add_with(toolbox: &Toolbox) -> Result<String, ToolError> {
    let call = ToolCall::new("c", "add", json!({"a": 1, "b": 2}));
    toolbox.run(call, &Turn::new("turn")).await.outcome.map(|result| result.to_text())
}

#[tokio::test]
async fn rate_limit_degrades_or_refuses_during_an_outage() {
    for server in Server::all() {
        let store = server.store();
        let strict = limited(&store, OnFailure::Refuse);
        let loose = limited(&store, OnFailure::Degrade);
        assert!(add_with(&strict).await.is_ok() && add_with(&loose).await.is_ok());
        assert_eq!(add_with(&strict).await.unwrap_err().code(), "RATE_LIMITED", "both count at one place");
        server.kill();
        let error = add_with(&strict).await.unwrap_err();
        assert_eq!(error.code(), RATE_LIMIT_UNKNOWN);
        let text = error.to_string();
        assert!(text.contains("'add'") && text.contains("cannot be reached"), "{text}");
        let detail = error.operator_text();
        assert!(detail.contains("shared state at ") && detail.contains("127.0.0.1:"), "{detail}");
        assert!(!detail.contains("hunter2"), "{detail}");
        // Alone, from zero.
        assert!(add_with(&loose).await.is_ok() && add_with(&loose).await.is_ok());
        assert_eq!(add_with(&loose).await.unwrap_err().code(), "RATE_LIMITED");
        server.start_again();
        until_up(&store).await;
        // Counters do not wait for the disk, so a server may have lost them.
        assert!(add_with(&strict).await.is_ok() || server.keeps());
    }
}

#[tokio::test]
async fn resume_during_an_outage_is_local_or_refused() {
    for server in Server::all() {
        let (world, store) = (World::default(), server.store());
        let of = |on_failure| {
            let approvals = Approvals::on(Arc::clone(&store)).on_failure(on_failure);
            builder(&world, &approvals).approval_store(approvals.clone()).build().unwrap()
        };
        let (strict, loose) = (of(OnFailure::Refuse), of(OnFailure::Degrade));
        let (one, other) = (ask(&strict, "Ada").await, ask(&loose, "Bob").await);
        server.kill();
        let error = strict.resume(one.clone(), &turn()).await.outcome.unwrap_err();
        assert_eq!(error.code(), "APPROVAL_UNKNOWN");
        assert!(
            !error.to_string().contains("shared state") && error.operator_text().contains("shared state")
        );
        assert_eq!(loose.resume(other.clone(), &turn()).await.text(), "paid Bob");
        server.start_again();
        until_up(&store).await;
        let again = loose.resume(other, &turn()).await.outcome.unwrap_err();
        assert_eq!(again.code(), "APPROVAL_USED", "what was resumed alone is not resumed again");
        assert_eq!(strict.resume(one, &turn()).await.text(), "paid Ada");
    }
}

#[tokio::test]
async fn waiting_calls_survive_an_outage_or_never_run() {
    for server in Server::all() {
        let (world, approvals) = (World::default(), Approvals::on(server.store()));
        let toolbox = builder(&world, &approvals).build().unwrap();
        let id = ask(&toolbox, "Ada").await.queue_id().to_owned();
        approvals.grant(&id, "Eve", "").await.unwrap();
        server.kill();
        let error = approvals.get(&id).await.unwrap_err();
        assert!(matches!(error, ApprovalError::Queue(_)), "{error}");
        assert!(!error.to_string().contains("hunter2"), "{error}");
        assert!(toolbox.resume_decided(&id, &turn()).await.is_err());
        let call = ToolCall::new("c", "pay", json!({"to": "Bob", "pin": "0815"}));
        let refused = toolbox.run(call, &turn()).await.outcome.unwrap_err();
        assert_eq!(refused.code(), "APPROVAL_NOT_QUEUED");
        assert!(world.paid.lock().unwrap().is_empty());
        server.start_again();
        until_up(&server.store()).await;
        let mut found = approvals.get(&id).await;
        while found.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
            found = approvals.get(&id).await;
        }
        assert_eq!(found.unwrap().is_some(), server.keeps());
        if server.keeps() {
            let done = toolbox.resume_decided(&id, &turn()).await.unwrap();
            assert!(done.is_some_and(|done| done.outcome.is_ok()));
        }
        let paid = if server.keeps() { vec!["Ada".to_owned()] } else { Vec::new() };
        assert_eq!(*world.paid.lock().unwrap(), paid);
    }
}

#[tokio::test]
async fn sessions_degrade_or_refuse_during_an_outage() {
    for server in Server::all() {
        let strict = sessions::sessions(server.store()).open("s");
        let shared = Sessions::shared(SessionsLimits::DEFAULT, server.store());
        let loose = shared.on_failure(OnFailure::Degrade).open("s");
        assert!(sessions::call(&loose, "start").await.is_ok());
        assert!(sessions::call(&strict, "go_on").await.is_ok());
        server.kill();
        let error = sessions::call(&strict, "go_on").await.unwrap_err();
        assert_eq!(error.code(), SESSION_UNKNOWN);
        assert!(error.to_string().contains("cannot be reached"), "{error}");
        assert_eq!(sessions::call(&loose, "go_on").await.unwrap(), "\"launch\"");
        loose.set("plan", "later");
        assert!(loose.save().await.is_err());
        // The server is up again, and may have lost its data. Unsaved changes are stored now.
        server.start_again();
        let mut tries = 0;
        while loose.save().await.is_err() {
            assert!(tries < 200);
            tries += 1;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let other = sessions::sessions(server.store()).open("s");
        other.refresh().await.unwrap();
        assert_eq!(other.get("plan"), Some(json!("later")));
        assert!(other.has_called("go_on"), "that was called while the server was away");
    }
}

#[tokio::test]
async fn pages_and_failures_stay_local_during_an_outage() {
    for server in Server::all() {
        let (here, there) = (pages::toolbox(server.store()), pages::toolbox(server.store()));
        let (ada, one) = (pages::turn("ada", "s-1"), One::on(server.store()));
        assert_ne!(one.call("a").await, REPEATED_FAILURE);
        server.kill();
        let handle = pages::handle(&pages::call(&here, &ada, "numbers", json!({})).await);
        let next = json!({"handle": handle, "offset": 190});
        let text = pages::call(&here, &ada, READ_RESULT, next.clone()).await.text();
        assert!(text.contains("number 20"), "it has it itself");
        let error = pages::call(&there, &ada, READ_RESULT, next).await.outcome.unwrap_err();
        assert_eq!(error.code(), RESULT_UNKNOWN, "{error}");
        assert!(error.to_string().contains("cannot be reached"), "{error}");
        assert_ne!(one.call("a").await, REPEATED_FAILURE);
        assert_ne!(one.call("a").await, REPEATED_FAILURE);
        assert_eq!(one.call("a").await, REPEATED_FAILURE, "it has seen these itself");
    }
}

#[tokio::test]
async fn circuits_stay_local_and_synchronize_after_an_outage() {
    for server in Server::all() {
        let hour = Duration::from_secs(3600);
        let of = |on_failure| started(server.store(), hour, on_failure);
        let (one, other, strict) = (of(OnFailure::Degrade), of(OnFailure::Degrade), of(OnFailure::Refuse));
        let begun = Instant::now();
        while strict.admit("db").is_err() {
            assert!(begun.elapsed() < Duration::from_secs(30));
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        server.kill();
        let begun = Instant::now();
        let error = loop {
            match strict.admit("db") {
                Ok(permit) => drop(permit),
                Err(error) => break error,
            }
            assert!(begun.elapsed() < Duration::from_secs(30));
            tokio::time::sleep(Duration::from_millis(2)).await;
        };
        assert_eq!(error.code(), SERVICE_UNAVAILABLE);
        assert!(
            error.to_string().contains("'db'") && error.to_string().contains("cannot be reached"),
            "{error}"
        );
        for _ in 0..2 {
            one.admit("db").unwrap().failure();
        }
        assert_eq!(one.state("db"), BreakerState::Open);
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(other.state("db"), BreakerState::Closed, "the other process cannot know it");
        server.start_again();
        until(&other, BreakerState::Open).await;
        let remaining = other.stats("db").retry_after.unwrap();
        assert!(remaining <= hour && remaining > hour - Duration::from_secs(60), "{remaining:?}");
        // By hand, in all processes.
        other.reset("db");
        until(&one, BreakerState::Closed).await;
        until(&strict, BreakerState::Closed).await;
    }
}

#[tokio::test]
async fn store_reports_outages_and_may_start_before_its_server() {
    let Some(mut server) = super::redis::Server::start() else { return };
    let messages = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&messages);
    server.kill();
    let store = RedisStore::builder(server.url(), "tests")
        .timeout(super::LONG)
        .on_change(move |change| received.lock().unwrap().push(change.clone()))
        .build()
        .unwrap();
    let reason = store.ping().await.unwrap_err().to_string();
    assert!(reason.contains("cannot connect") && reason.contains("refused"), "{reason}");
    let shared: Arc<dyn Store> = Arc::new(store.clone());
    server.start_again();
    until_up(&shared).await;
    assert!(store.is_up());
    for _ in 0..2 {
        server.kill();
        assert!(store.ping().await.is_err() && !store.is_up());
        server.start_again();
        until_up(&shared).await;
    }
    let messages = messages.lock().unwrap();
    let (down, up): (Vec<_>, Vec<_>) =
        messages.iter().partition(|change| matches!(change, StoreChange::Down(_)));
    assert_eq!((down.len(), up.len()), (3, 3), "{messages:?}");
    assert!(
        messages.chunks(2).all(|pair| matches!(pair, [StoreChange::Down(_), StoreChange::Up])),
        "{messages:?}"
    );
}

/// Suspends or resumes the server: it keeps its connections and does not respond.
#[cfg(unix)]
fn signal(server: &super::redis::Server, signal: rustix::process::Signal) {
    let process = rustix::process::Pid::from_child(server.process());
    rustix::process::kill_process(process, signal).unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn outage_delays_calls_at_most_by_the_timeout() {
    let Some(server) = super::redis::Server::start() else { return };
    let bound = Duration::from_millis(300);
    let store = RedisStore::builder(server.url(), "tests").timeout(bound).build().unwrap();
    let shared: Arc<dyn Store> = Arc::new(store);
    until_up(&shared).await;
    let limit = WindowLimit::new().shared(Arc::clone(&shared));
    let (who, spec) = (Principal::new("ada"), spec("x"));
    // The server keeps the connection and does not respond.
    signal(&server, rustix::process::Signal::STOP);
    let started = Instant::now();
    let error = limit.ask(&who, &spec).await.unwrap_err();
    let waited = started.elapsed();
    assert!(error.operator_text().contains("no response within 300ms"), "{error:?}");
    assert!(waited >= bound && waited < bound + Duration::from_secs(5), "{waited:?}");
    // During the pause, no request waits.
    let (mut at_once, started) = (0, Instant::now());
    while started.elapsed() < Duration::from_millis(200) {
        assert!(limit.ask(&who, &spec).await.is_err());
        at_once += 1;
    }
    assert!(at_once > 20, "{at_once} calls in 200 ms");
    signal(&server, rustix::process::Signal::CONT);
    until_up(&shared).await;
    assert_eq!(limit.ask(&who, &spec).await, Ok(()));
}
