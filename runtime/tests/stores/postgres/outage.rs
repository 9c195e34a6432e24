//! Tests of records while the database is unreachable, slow, or does not respond.

use super::proxy::Proxy;
use super::{call, durable, record, server, started, welcome};
use crate::prelude::*;

#[tokio::test]
async fn commit_with_a_lost_response_is_stored_exactly_once() {
    let Some(server) = server::shared() else { return };
    let url = server.database("lost");
    let network = Proxy::to(server.port);
    for (number, is_durable) in [true, false].into_iter().enumerate() {
        let sink = PostgresSink::open(&network.url(&url)).unwrap();
        let auditor = Auditor::builder(sink).durable(is_durable).start().unwrap();
        for attempt in 0..5 {
            let mut record = record(&auditor, &format!("{number}-{attempt}"));
            network.lose_an_answer();
            record.intent().await.unwrap();
            auditor.flush().await.unwrap();
            network.lose_an_answer();
            record.finish(&welcome()).await;
            auditor.flush().await.unwrap();
        }
        assert_eq!(auditor.errors(), 0);
        auditor.shutdown().await;
    }
    assert!(network.lost() >= 20, "{}", network.lost());
    let rows = "SELECT count(*), count(DISTINCT tool_call_id), count(*) FILTER (WHERE status = 'ok') FROM tool_executions";
    assert_eq!(server.query("lost", rows), "10|10|10");
}

#[tokio::test]
async fn durable_call_during_an_outage_is_refused_and_recorded() {
    let Some(server) = server::shared() else { return };
    let url = server.database("refused");
    let network = Proxy::to(server.port);
    let patience = Duration::from_secs(2);
    let sink = PostgresSink::builder(&network.url(&url)).wait_timeout(patience).open().unwrap();
    let auditor = durable(sink);
    let mut running = record(&auditor, "running");
    running.intent().await.unwrap();
    network.cut();
    let start = Instant::now();
    let mut refused = record(&auditor, "refused");
    let error = refused.intent().await.unwrap_err();
    assert_eq!(error.code(), "AUDIT_FAILED");
    assert!(start.elapsed() >= patience / 2 && start.elapsed() < patience * 3, "{:?}", start.elapsed());
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    refused.finish(&Err(error)).await;
    // The outcomes of earlier calls are written when that is possible again.
    running.finish(&welcome()).await;
    let reason = auditor.flush().await.unwrap_err().to_string();
    assert!(reason.starts_with("postgres://audit@127.0.0.1:") && !reason.contains("hunter2"), "{reason}");
    network.mend();
    let start = Instant::now();
    let rows = "SELECT tool_call_id, status, error_code FROM tool_executions ORDER BY id";
    while server.query("refused", rows) != "running|ok|\nrefused|refused|AUDIT_FAILED" {
        assert!(start.elapsed() < Duration::from_secs(20), "{}", server.query("refused", rows));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    call(&auditor, "after", welcome()).await;
    auditor.flush().await.unwrap();
    // The intent that was rejected.
    assert_eq!(auditor.errors(), 1);
}

#[tokio::test]
async fn buffer_is_bounded_and_excess_records_are_counted() {
    let Some(server) = server::shared() else { return };
    let url = server.database("kept");
    let network = Proxy::to(server.port);
    let patience = Duration::from_secs(2);
    let sink =
        PostgresSink::builder(&network.url(&url)).wait_timeout(patience).max_buffered(6).open().unwrap();
    let auditor = started(sink);
    network.cut();
    let start = Instant::now();
    for number in 0..5 {
        call(&auditor, &number.to_string(), welcome()).await;
    }
    assert!(start.elapsed() < patience, "callers wait: {:?}", start.elapsed());
    assert!(auditor.flush().await.is_err());
    // Of five calls with two records each.
    assert_eq!((auditor.errors(), auditor.dropped()), (4, 0));
    network.mend();
    let start = Instant::now();
    while auditor.flush().await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(20), "it is not tried again");
    }
    call(&auditor, "5", welcome()).await;
    auditor.flush().await.unwrap();
    let rows = "SELECT string_agg(tool_call_id || status, ' ' ORDER BY id) FROM tool_executions";
    assert_eq!(server.query("kept", rows), "0ok 1ok 2ok 5ok");
    assert_eq!(auditor.errors(), 4);
    // Records that cannot be written at the end are lost, and counted.
    network.cut();
    call(&auditor, "last", welcome()).await;
    auditor.shutdown().await;
    assert_eq!(auditor.errors(), 6);
}

#[tokio::test]
async fn locked_table_is_awaited_up_to_the_timeout() {
    let Some(server) = server::shared() else { return };
    let url = server.database("locked");
    let patience = Duration::from_secs(2);
    let auditor = durable(PostgresSink::builder(&url).wait_timeout(patience).open().unwrap());
    let locking = std::thread::spawn({
        let server = Arc::clone(&server);
        move || server.query("locked", "BEGIN; LOCK TABLE tool_executions; SELECT pg_sleep(6)")
    });
    let locked = "SELECT count(*) FROM pg_locks WHERE relation = 'tool_executions'::regclass \
                  AND mode = 'AccessExclusiveLock' AND granted";
    while server.query("locked", locked) != "1" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let start = Instant::now();
    let error = record(&auditor, "one").intent().await.unwrap_err();
    assert!(start.elapsed() < patience * 2, "{:?}", start.elapsed());
    assert!(format!("{error:?}").contains("no response within"), "{error:?}");
    locking.join().unwrap();
    while auditor.flush().await.is_err() {}
    call(&auditor, "two", welcome()).await;
    auditor.flush().await.unwrap();
    // Whether the first intent was written was unknown, but its outcome is: the call did not run.
    let rows = "SELECT tool_call_id, status FROM tool_executions ORDER BY id";
    assert_eq!(server.query("locked", rows), "one|cancelled\ntwo|ok");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stalled_server_delays_calls_at_most_by_the_timeout() {
    let Some(server) = server::Server::start(&["fsync=off"]) else { return };
    let url = server.database("stalled");
    let patience = Duration::from_secs(2);
    // The connection is checked every second, also while calls arrive.
    let sink = PostgresSink::builder(&url).wait_timeout(patience).lease(Duration::from_secs(4));
    let auditor = durable(sink.open().unwrap());
    call(&auditor, "before", welcome()).await;
    let stalled = server.stall();
    let calls = (0..8u32).map(|number| {
        let auditor = auditor.clone();
        tokio::spawn(async move {
            tokio::time::sleep(patience * number / 4).await;
            let start = Instant::now();
            let mut record = record(&auditor, &number.to_string());
            let error = record.intent().await.unwrap_err();
            record.finish(&Err(error)).await;
            start.elapsed()
        })
    });
    let calls: Vec<_> = calls.collect();
    let mut longest = Duration::ZERO;
    for call in calls {
        longest = longest.max(call.await.unwrap());
    }
    assert!(longest < patience * 3 / 2, "{longest:?}");
    drop(stalled);
    let start = Instant::now();
    while auditor.flush().await.is_err() {
        assert!(start.elapsed() < Duration::from_secs(20), "it is not tried again");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    call(&auditor, "after", welcome()).await;
    auditor.flush().await.unwrap();
    let rows = "SELECT count(*) FILTER (WHERE status = 'ok'), count(*) FILTER (WHERE error_code = 'AUDIT_FAILED') \
                FROM tool_executions";
    assert_eq!(server.query("stalled", rows), "2|8");
}

#[test]
fn missing_database_is_reported_within_the_timeout() {
    // A port on which no server listens.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let start = Instant::now();
    let url = format!("postgres://audit:hunter2@127.0.0.1:{port}/audit");
    let sink = PostgresSink::builder(&url).wait_timeout(Duration::from_millis(300));
    assert!(!format!("{sink:?}").contains("hunter2"));
    let reason = sink.open().unwrap_err().to_string();
    assert!(
        reason.contains("refused") && reason.contains("/audit") && !reason.contains("hunter2"),
        "{reason}"
    );
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}
