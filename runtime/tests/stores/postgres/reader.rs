//! Tests of reading records while they are written.

use super::{call, record, server, started, welcome};
use crate::prelude::*;

fn changes(reader: &mut AuditReader) -> Vec<(String, AuditStatus)> {
    let mut seen = Vec::new();
    reader.for_each_change(&mut |it| seen.push((it.intent.tool_call_id.to_string(), it.status()))).unwrap();
    seen
}

#[tokio::test]
async fn each_change_is_read_once() {
    let Some(server) = server::shared() else { return };
    let url = server.database("reader");
    let auditor = started(PostgresSink::builder(&url).name("reader").open().unwrap());
    let mut reader = store::audit::connect(&url).unwrap();
    assert!(changes(&mut reader).is_empty());
    let mut running = record(&auditor, "one");
    running.intent().await.unwrap();
    // Records are ordered by their times, which are milliseconds.
    tokio::time::sleep(Duration::from_millis(3)).await;
    call(&auditor, "two", Err(ToolError::failed("no"))).await;
    auditor.flush().await.unwrap();
    let is = |id: &str, status| (id.to_owned(), status);
    assert_eq!(changes(&mut reader), [is("one", AuditStatus::Started), is("two", AuditStatus::Error)]);
    assert!(changes(&mut reader).is_empty());
    running.finish(&Ok(ToolResult::text("welcome"))).await;
    auditor.flush().await.unwrap();
    assert_eq!(changes(&mut reader), [is("one", AuditStatus::Ok)]);

    // Complete records, also one at a time, and from the start.
    let mut again = reader.reopen().unwrap();
    let mut all = Vec::new();
    again.for_each_change(&mut |record| all.push(record)).unwrap();
    assert_eq!(all.len(), 2);
    let one = reader.record(&all[0].id).unwrap().unwrap();
    assert_eq!(one, all[0]);
    assert_eq!(one.intent.parameters.to_string(), "{\"user\":\"me\",\"password\":\"[REDACTED]\"}");
    assert_eq!(one.intent.timestamp.len(), "2026-01-31T23:59:59.999Z".len());
    assert!(one.owner.starts_with("reader-"), "{}", one.owner);
    let outcome = all[1].outcome.as_ref().unwrap();
    assert_eq!((outcome.error.as_deref(), outcome.is_error), (Some("no"), true));
    assert_eq!(reader.record("0").unwrap(), None);
    assert_eq!(reader.record("x").unwrap(), None);
    assert_eq!(reader.name(), format!("postgres://audit@127.0.0.1:{}/reader", server.port));
}

#[tokio::test]
async fn late_commits_are_not_missed() {
    let Some(server) = server::shared() else { return };
    let url = server.database("late");
    let auditor = started(PostgresSink::open(&url).unwrap());
    call(&auditor, "first", welcome()).await;
    auditor.flush().await.unwrap();
    // A writer that starts before others, and commits after them.
    let insert = "INSERT INTO tool_executions (id, session_id, agent_id, tool_name, timestamp, tool_call_id, spec_hash, \
                  attempt, status, approved, approved_by, principal, owner) \
                  VALUES (1, '', '', 'slow', now(), 'slow', '', 1, 'ok', false, '', '', 'x')";
    let slow = std::thread::spawn({
        let server = Arc::clone(&server);
        move || server.query("late", &format!("BEGIN; {insert}; SELECT pg_sleep(2); COMMIT"))
    });
    let writes = "SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND mode = 'RowExclusiveLock' \
                  AND relation = 'tool_executions'::regclass AND pid <> pg_backend_pid()";
    while server.query("late", writes) == "0" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut reader = store::audit::connect(&url).unwrap();
    call(&auditor, "second", welcome()).await;
    auditor.flush().await.unwrap();
    let ids = |reader: &mut AuditReader| changes(reader).into_iter().map(|it| it.0).collect::<Vec<_>>();
    assert_eq!(ids(&mut reader), ["first", "second"]);
    assert!(ids(&mut reader).is_empty());
    slow.join().unwrap();
    assert_eq!(ids(&mut reader), ["slow"]);
    assert!(ids(&mut reader).is_empty());
}

#[tokio::test]
async fn reader_rejects_other_databases_and_survives_a_restart() {
    let Some(server) = server::Server::start(&["fsync=off"]) else { return };
    let url = server.database("empty");
    let reason = store::audit::connect(&url).unwrap_err().to_string();
    assert!(reason.contains("contains no audit records") && !reason.contains("hunter2"), "{reason}");
    let auditor = started(PostgresSink::open(&url).unwrap());
    let mut reader = store::audit::connect(&url).unwrap();
    call(&auditor, "one", welcome()).await;
    auditor.flush().await.unwrap();
    assert_eq!(changes(&mut reader).len(), 1);
    server.stop(server::End::Fast);
    let reason = reader.for_each_change(&mut |_| ()).unwrap_err().to_string();
    assert!(reason.starts_with("postgres://audit@127.0.0.1:"), "{reason}");
    server.run();
    call(&auditor, "two", welcome()).await;
    auditor.flush().await.unwrap();
    assert_eq!(changes(&mut reader).pop().unwrap().0, "two");
    // A wrong password is not shown, and not retried for long.
    let wrong = url.replace("hunter2", "hunter3");
    let reason = PostgresSink::open(&wrong).unwrap_err().to_string();
    assert!(reason.contains("password authentication failed") && !reason.contains("hunter"), "{reason}");
}
