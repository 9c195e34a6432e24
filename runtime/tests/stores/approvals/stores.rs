//! Queues on servers: seen by other processes, through outages, and without what they need not keep.

use crate::approvals::{World, ask, builder, turn};
use crate::prelude::*;

/// The URL of a database of its own on the server that the tests share.
#[cfg(target_os = "linux")]
#[track_caller]
fn database() -> Option<(String, Arc<crate::approvals::postgres::Server>)> {
    use std::sync::atomic::{AtomicU32, Ordering};

    static NEXT: AtomicU32 = AtomicU32::new(0);
    let server = crate::approvals::postgres::shared()?;
    let url = server.database(&format!("queue_{}", NEXT.fetch_add(1, Ordering::Relaxed)));
    Some((url, server))
}

#[cfg(target_os = "linux")]
pub(crate) async fn postgres()
-> Option<(toolgen_runtime::layers::approval::PostgresApprovals, Arc<crate::approvals::postgres::Server>)> {
    let (url, server) = database()?;
    Some((toolgen_runtime::layers::approval::PostgresApprovals::connect(&url).await.unwrap(), server))
}

pub(crate) fn redis(url: &str) -> RedisState {
    // Where the machine is busy a server may be slow.
    let builder = RedisState::builder(url, "approval-tests");
    builder.timeout(Duration::from_secs(20)).build().unwrap()
}

fn row(id: &str, expires_at: SystemTime) -> QueueRow {
    QueueRow {
        id: id.to_owned().into(),
        version: 1,
        state: ApprovalState::Waiting,
        asked_at: SystemTime::UNIX_EPOCH + Duration::from_millis(1_700_000_000_123),
        expires_at,
        entry: r#"{"note": "a \u0000 zero and ✓"}"#.to_owned(),
        request: Some(r#"{"pin": "0815"}"#.to_owned()),
    }
}

/// What every store has to do with rows, through two connections.
async fn keeps_rows(one: impl ApprovalQueue, other: impl ApprovalQueue) {
    let later = SystemTime::UNIX_EPOCH + Duration::from_secs(60 * 60 * 24 * 365 * 100);
    let first = row("aa", later);
    one.insert(first.clone()).await.unwrap();
    assert!(other.insert(first.clone()).await.is_err(), "there is one of this ID");
    assert_eq!(other.read("aa").await.unwrap(), Some(first.clone()));
    assert_eq!(other.read("a").await.unwrap(), None);

    let second = QueueRow { asked_at: SystemTime::UNIX_EPOCH, ..row("bb", later) };
    other.insert(second.clone()).await.unwrap();
    assert_eq!(one.list(&[ApprovalState::Waiting]).await.unwrap(), [second.clone(), first.clone()]);
    assert_eq!(one.list(&[ApprovalState::Granted]).await.unwrap(), []);

    let granted = QueueRow { version: 2, state: ApprovalState::Granted, ..first.clone() };
    assert!(one.replace(granted.clone(), 1).await.unwrap());
    assert!(!other.replace(QueueRow { state: ApprovalState::Denied, ..granted.clone() }, 1).await.unwrap());
    assert_eq!(other.list(&[ApprovalState::Waiting]).await.unwrap(), [second]);
    assert_eq!(other.list(&[ApprovalState::Granted]).await.unwrap(), vec![granted.clone()]);
    let finished = QueueRow { version: 3, state: ApprovalState::Finished, request: None, ..granted };
    assert!(other.replace(finished.clone(), 2).await.unwrap());
    assert_eq!(one.read("aa").await.unwrap(), Some(finished));
    assert!(!one.replace(row("cc", later), 1).await.unwrap(), "there is none");

    assert!(one.take("name", later).await.unwrap());
    assert!(!other.take("name", later).await.unwrap());
}

/// Calls that wait while the server is killed and started again.
async fn survives(approvals: Approvals, kill: impl FnOnce(), start: impl FnOnce(), keeps: bool) {
    let world = World::default();
    let provider = builder(&world, &approvals).build().unwrap();
    let id = ask(&provider, "Ada").await.queue_id().to_owned();
    approvals.grant(&id, "Eve", "").await.unwrap();
    kill();
    let why = approvals.get(&id).await.unwrap_err();
    assert!(matches!(why, ApprovalError::Queue(_)), "{why}");
    assert!(!why.to_string().contains("hunter2"), "{why}");
    assert!(provider.resume_decided(&id, &turn()).await.is_err());
    assert!(world.paid.lock().unwrap().is_empty());
    start();
    let mut tries = 0;
    let found = loop {
        match approvals.get(&id).await {
            Ok(found) => break found,
            Err(why) => assert!(tries < 100, "{why}"),
        }
        tries += 1;
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert_eq!(found.is_some(), keeps);
    if keeps {
        let done = provider.resume_decided(&id, &turn()).await.unwrap();
        assert!(done.is_some_and(|done| done.outcome.is_ok()));
        assert_eq!(*world.paid.lock().unwrap(), ["Ada"]);
    }
}

#[cfg(target_os = "linux")]
mod in_postgres {
    use toolgen_runtime::layers::approval::PostgresApprovals;

    use super::*;
    use crate::approvals::postgres::{End, Server};

    #[tokio::test]
    async fn rows_are_those_of_every_process() {
        let Some((url, _server)) = database() else { return };
        assert!(PostgresApprovals::connect_existing(&url).await.unwrap().is_none(), "nothing waits in it");
        // Both make the tables.
        let (one, other) = tokio::join!(PostgresApprovals::connect(&url), PostgresApprovals::connect(&url));
        keeps_rows(one.unwrap(), other.unwrap()).await;
        assert!(PostgresApprovals::connect_existing(&url).await.unwrap().is_some());
    }

    #[tokio::test]
    async fn what_is_over_is_forgotten_and_its_secrets_at_once() {
        let Some((url, server)) = database() else { return };
        let store = PostgresApprovals::connect(&url).await.unwrap();
        let now = SystemTime::now();
        let long_ago = now - toolgen_runtime::layers::approval::APPROVALS_KEPT - Duration::from_secs(1);
        store.insert(row("old", long_ago)).await.unwrap();
        store.insert(row("over", now - Duration::from_secs(1))).await.unwrap();
        store.insert(row("new", now + Duration::from_secs(60))).await.unwrap();
        let database = url.rsplit_once('/').unwrap().1.to_owned();
        let left = server.query(&database, "SELECT id, request FROM tool_approval_queue ORDER BY id");
        assert_eq!(left, "new|{\"pin\": \"0815\"}\nover|");
    }

    #[tokio::test]
    async fn calls_wait_through_the_death_of_the_server() {
        let Some(server) = Server::start(&[]) else { return };
        let url = server.database("calls");
        let approvals = Approvals::new(PostgresApprovals::connect(&url).await.unwrap());
        survives(approvals, || server.stop(End::Killed), || server.run(), true).await;
    }

    #[tokio::test]
    async fn what_is_no_database_is_told_without_the_password() {
        for url in ["mysql://me:hunter2@db/a", "postgres://me:hunter2@127.0.0.1:1/a"] {
            let why = PostgresApprovals::connect(url).await.unwrap_err().to_string();
            assert!(!why.contains("hunter2"), "{why}");
        }
    }
}

mod in_redis {
    use super::*;
    use crate::approvals::redis::Server;

    #[tokio::test]
    async fn rows_are_those_of_every_process() {
        let Some(server) = Server::start() else { return };
        let store = || redis(&server.url()).approvals();
        keeps_rows(store(), store()).await;
        // More than one request brings.
        let later = SystemTime::now() + Duration::from_secs(60);
        for number in 0..450 {
            store().insert(row(&format!("{number:04}"), later)).await.unwrap();
        }
        assert_eq!(store().list(&ApprovalState::ALL).await.unwrap().len(), 452);
    }

    #[tokio::test]
    async fn what_is_over_is_forgotten_and_its_secrets_at_once() {
        let Some(server) = Server::start() else { return };
        let store = redis(&server.url()).approvals();
        let now = SystemTime::now();
        let long_ago = now - toolgen_runtime::layers::approval::APPROVALS_KEPT - Duration::from_secs(1);
        store.insert(row("old", long_ago)).await.unwrap();
        store.insert(row("over", now - Duration::from_secs(1))).await.unwrap();
        store.insert(row("new", now + Duration::from_secs(60))).await.unwrap();
        let left: Vec<_> = store.list(&[ApprovalState::Waiting]).await.unwrap();
        let left: Vec<_> = left.iter().map(|row| (row.id.as_str(), row.request.is_some())).collect();
        assert_eq!(left, [("new", true), ("over", false)]);
    }

    #[tokio::test]
    async fn a_server_that_forgot_the_calls_runs_none() {
        let Some(server) = Server::start() else { return };
        let approvals = Approvals::new(redis(&server.url()).approvals());
        let server = std::cell::RefCell::new(server);
        survives(approvals, || server.borrow_mut().kill(), || server.borrow_mut().start_again(), false).await;
    }
}
