//! Tests of recovery: which calls are closed, by whom, and when.

use super::proxy::Proxy;
use super::{durable, record, server, welcome};
use crate::prelude::*;

const STATUSES: &str = "SELECT tool_call_id, status FROM tool_executions ORDER BY tool_call_id";

#[tokio::test]
async fn restarted_program_closes_its_own_calls_immediately() {
    let Some(server) = server::shared() else { return };
    let url = server.database("named");
    let network = Proxy::to(server.port);
    let named = |name: &str| PostgresSink::builder(&url).name(name);
    let first = durable(PostgresSink::builder(&network.url(&url)).name("first").open().unwrap());
    let other = durable(named("other").open().unwrap());
    let mut running = [record(&first, "first"), record(&other, "other")];
    for record in &mut running {
        record.intent().await.unwrap();
    }
    // No other program can use its name while it is alive.
    let reason = named("first").wait_timeout(Duration::from_secs(2)).open().unwrap_err().to_string();
    assert!(reason.contains("another program writes its records as `first`"), "{reason}");
    let mut third = named("third").open().unwrap();
    assert_eq!(third.recover().unwrap(), 0);

    // To the database, the program seems killed: its connection breaks without a goodbye.
    network.cut();
    let mut again = named("first").open().unwrap();
    assert_eq!(third.recover().unwrap(), 0, "its lease has not run out");
    assert_eq!(again.recover().unwrap(), 1);
    assert_eq!(again.recover().unwrap(), 0);
    assert_eq!(server.query("named", STATUSES), "first|unknown\nother|started");
    let [_, two] = running;
    two.finish(&welcome()).await;
    other.flush().await.unwrap();
    assert_eq!(server.query("named", STATUSES), "first|unknown\nother|ok");
    let reason = "SELECT error, error_code, is_error FROM tool_executions WHERE status = 'unknown'";
    let wanted = "the program ended before the outcome was recorded|UNKNOWN|t";
    assert_eq!(server.query("named", reason), wanted);
}

#[tokio::test]
async fn disconnected_program_may_still_report_an_outcome() {
    let Some(server) = server::shared() else { return };
    let url = server.database("lease");
    let ask = |query: &str| server.query("lease", query);
    let network = Proxy::to(server.port);
    let lease = Duration::from_secs(2);
    let open = |url: &str| PostgresSink::builder(url).lease(lease).open().unwrap();
    let auditor = durable(open(&network.url(&url)));
    let mut running = record(&auditor, "one");
    running.intent().await.unwrap();
    let mut other = open(&url);
    // Idle for longer than its lease, but alive all the time.
    let start = Instant::now();
    while start.elapsed() < lease * 2 {
        assert_eq!(other.recover().unwrap(), 0);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    network.cut();
    let start = Instant::now();
    while other.recover().unwrap() == 0 {
        assert!(start.elapsed() < lease * 5, "its lease does not run out");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(start.elapsed() > lease / 4, "it is closed before its lease has expired");
    assert_eq!(ask(STATUSES), "one|unknown");
    // It was alive all the time, and records the outcome of the call.
    network.mend();
    running.finish(&welcome()).await;
    while auditor.flush().await.is_err() {}
    assert_eq!(ask(STATUSES), "one|ok");
    assert_eq!(ask("SELECT count(*) FROM tool_audit_writers"), "2");
}

#[tokio::test]
async fn all_programs_may_reconnect_after_an_outage() {
    let Some(server) = server::Server::start(&["fsync=off"]) else { return };
    let url = server.database("outage");
    let lease = Duration::from_secs(2);
    let open =
        || PostgresSink::builder(&url).lease(lease).wait_timeout(Duration::from_secs(20)).open().unwrap();
    let auditor = durable(open());
    let mut running = record(&auditor, "one");
    running.intent().await.unwrap();
    let mut other = open();
    server.stop(server::End::Immediate);
    tokio::time::sleep(lease + Duration::from_secs(1)).await;
    server.run();
    // The first program to return must not close the calls of the others, although their leases have expired.
    let start = Instant::now();
    while start.elapsed() < lease * 2 {
        assert_eq!(other.recover().unwrap(), 0);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    running.finish(&welcome()).await;
    auditor.flush().await.unwrap();
    assert_eq!(server.query("outage", STATUSES), "one|ok");
}
