//! Tests of the audit log in SQLite, and of the queries of other systems.

use toolgen_runtime::store::audit::rusqlite;

use super::{Scratch, call, login_tool, record, welcome};
use crate::prelude::*;

/// The table of another system whose queries must keep working.
const NINE_COLUMNS: &str = "CREATE TABLE tool_executions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    tool_name TEXT NOT NULL,
    parameters JSON,
    result JSON,
    error TEXT,
    duration_ms INTEGER,
    timestamp DATETIME DEFAULT CURRENT_TIMESTAMP
)";

fn column(database: &Connection, query: &str) -> Vec<Value> {
    let mut query = database.prepare(query).unwrap();
    let rows = query.query_map([], |row| {
        let columns = (0..row.as_ref().column_count()).map(|index| {
            Ok(match row.get_ref(index)? {
                rusqlite::types::ValueRef::Null => Value::Null,
                rusqlite::types::ValueRef::Integer(number) => Value::from(number),
                rusqlite::types::ValueRef::Real(number) => Value::from(number),
                rusqlite::types::ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
                rusqlite::types::ValueRef::Blob(_) => json!("blob"),
            })
        });
        columns.collect::<Result<Value, rusqlite::Error>>()
    });
    rows.unwrap().map(Result::unwrap).collect()
}

async fn one(auditor: &Auditor, session: &str, tool: &'static str, outcome: Result<ToolResult, ToolError>) {
    let mut record = auditor.record(|| {
        let mut info = CallInfo::new("c", tool, json!({"user": session})).with_tool(login_tool());
        (info.session_id, info.agent_id) = (session.to_owned().into(), "coder-1".into());
        info
    });
    record.intent().await.unwrap();
    if tool == "slow" {
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    record.finish(&outcome).await;
}

#[tokio::test]
async fn queries_of_the_nine_column_table_run() {
    let file = Scratch::new("audit.db");
    let auditor = Auditor::builder(SqliteSink::open(&file.0).unwrap()).start().unwrap();
    for number in 0..55 {
        one(&auditor, &format!("s-{number}"), "fast", welcome()).await;
        // Rows of the same millisecond have no defined order.
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    for _ in 0..3 {
        one(&auditor, "s-x", "fast", Err(ToolError::failed("disk full"))).await;
    }
    one(&auditor, "s-x", "slow", Ok(ToolResult::json(json!({"success": false, "error": "no such file"}))))
        .await;
    one(&auditor, "s-x", "slow", welcome()).await;
    auditor.flush().await.unwrap();

    // While the program continues.
    let database = Connection::open(&file.0).unwrap();
    let recent = column(
        &database,
        "SELECT agent_id, tool_name, parameters, result, error, duration_ms, timestamp
         FROM tool_executions ORDER BY timestamp DESC LIMIT 50",
    );
    assert_eq!(recent.len(), 50);
    assert_eq!(recent[0][1], "slow");
    assert_eq!(recent[5][2], "{\"user\":\"s-54\"}");
    assert!(recent[5][3].as_str().unwrap().contains("welcome") && recent[5][4].is_null());
    let failures = column(
        &database,
        "SELECT tool_name, error, COUNT(*) AS count FROM tool_executions
         WHERE error IS NOT NULL GROUP BY tool_name, error ORDER BY count DESC",
    );
    assert_eq!(failures, [json!(["fast", "disk full", 3]), json!(["slow", "no such file", 1])]);
    let durations = column(
        &database,
        "SELECT tool_name, AVG(duration_ms), MAX(duration_ms), COUNT(*)
         FROM tool_executions GROUP BY tool_name ORDER BY AVG(duration_ms) DESC",
    );
    assert_eq!(
        (&durations[0][0], &durations[0][3], &durations[1][3]),
        (&json!("slow"), &json!(2), &json!(58))
    );
    assert!(durations[0][1].as_f64().unwrap() >= 30.0 && durations[0][2].as_i64().unwrap() >= 30);
    // The database treats times as times, and JSON as JSON.
    let ages = "SELECT COUNT(*) FROM tool_executions WHERE julianday('now') - julianday(timestamp) < 1";
    assert_eq!(column(&database, ages), [json!([60])]);
    let users = "SELECT COUNT(*) FROM tool_executions WHERE json_extract(parameters, '$.user') = 's-x'";
    assert_eq!(column(&database, users), [json!([5])]);
}

#[tokio::test]
async fn call_is_one_row_from_start_to_end() {
    let file = Scratch::new("audit.db");
    let auditor = Auditor::builder(SqliteSink::open(&file.0).unwrap()).start().unwrap();
    let database = Connection::open(&file.0).unwrap();
    let all = "SELECT id, tool_call_id, status, error_code, is_error, attempt, parameters, duration_ms IS NULL \
               FROM tool_executions ORDER BY id";
    let parameters = "{\"user\":\"me\",\"pin\":\"[REDACTED]\"}";
    let mut running = record(&auditor, "one");
    running.intent().await.unwrap();
    auditor.flush().await.unwrap();
    assert_eq!(column(&database, all), [json!([1, "one", "started", null, null, 1, parameters, 1])]);
    record(&auditor, "two").finish(&Err(ToolError::denied("no"))).await;
    running.finish(&welcome()).await;
    auditor.flush().await.unwrap();
    let wanted = [
        json!([1, "one", "ok", null, 0, 1, parameters, 0]),
        json!([2, "two", "refused", "PERMISSION_DENIED", 1, 1, parameters, 0]),
    ];
    assert_eq!(column(&database, all), wanted);
}

#[tokio::test]
async fn row_contains_approval_and_approver() {
    let file = Scratch::new("audit.db");
    let auditor = Auditor::builder(SqliteSink::open(&file.0).unwrap()).start().unwrap();
    let database = Connection::open(&file.0).unwrap();
    for by in [None, Some(""), Some("Ada")] {
        let mut record = record(&auditor, "one");
        if let Some(by) = by {
            record.set_approved(by.into());
        }
        record.intent().await.unwrap();
        record.finish(&welcome()).await;
    }
    auditor.flush().await.unwrap();
    let rows = column(&database, "SELECT approved, approved_by FROM tool_executions ORDER BY id");
    assert_eq!(rows, [json!([0, null]), json!([1, null]), json!([1, "Ada"])]);
}

#[tokio::test]
async fn nine_column_table_is_migrated_without_losing_rows() {
    let file = Scratch::new("audit.db");
    let database = Connection::open(&file.0).unwrap();
    database.execute_batch(NINE_COLUMNS).unwrap();
    let old = "INSERT INTO tool_executions (session_id, agent_id, tool_name) VALUES ('s', 'a', 'old')";
    database.execute_batch(old).unwrap();
    // Twice: the second time there is nothing to do.
    for _ in 0..2 {
        let auditor = Auditor::builder(SqliteSink::open(&file.0).unwrap()).start().unwrap();
        call(&auditor, "one", welcome()).await;
        auditor.shutdown().await;
    }
    let rows = column(&database, "SELECT tool_name, status FROM tool_executions ORDER BY id");
    assert_eq!(rows, [json!(["old", null]), json!(["login", "ok"]), json!(["login", "ok"])]);
    // A program that knows only the nine columns can still write.
    database.execute_batch(old).unwrap();
}

#[test]
fn file_of_another_format_is_rejected_on_open() {
    let file = Scratch::new("audit.db");
    std::fs::write(&file.0, "this is a letter, not a database, and long enough to be sure").unwrap();
    assert!(SqliteSink::open(&file.0).unwrap_err().to_string().contains("not a database"));
}

#[tokio::test]
async fn full_database_refuses_durable_calls_and_recovers() {
    let connection = Connection::open_in_memory().unwrap();
    let sink = SqliteSink::new(connection).unwrap();
    drop(sink);

    let file = Scratch::new("audit.db");
    drop(SqliteSink::open(&file.0).unwrap());
    let connection = Connection::open(&file.0).unwrap();
    let pages: u32 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    connection.pragma_update(None, "max_page_count", pages).unwrap();
    let auditor = Auditor::builder(SqliteSink::new(connection).unwrap()).durable(true).start().unwrap();
    let (mut ran, mut refused) = (0, 0);
    for number in 0..20 {
        let big = json!({"user": "x".repeat(2000)});
        let mut record =
            auditor.record(|| CallInfo::new(format!("{number}"), "login", big).with_tool(login_tool()));
        match record.intent().await {
            Ok(()) => ran += 1,
            Err(_) => refused += 1,
        }
    }
    auditor.shutdown().await;
    assert!(refused > 0, "{ran} {refused}");
    let database = Connection::open(&file.0).unwrap();
    let rows = column(&database, "SELECT COUNT(*) FROM tool_executions");
    assert!(rows[0][0].as_u64().unwrap() >= ran, "{rows:?} {ran}");
}

#[tokio::test]
async fn locked_database_delays_a_batch_once_and_is_retried() {
    let file = Scratch::new("audit.db");
    let sink = SqliteSink::open(&file.0).unwrap().with_busy_timeout(Duration::from_millis(100)).unwrap();
    let auditor = Auditor::builder(sink).start().unwrap();
    let other = Connection::open(&file.0).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let start = Instant::now();
    for number in 0..200 {
        call(&auditor, &number.to_string(), welcome()).await;
    }
    assert!(start.elapsed() < Duration::from_secs(2), "callers wait: {:?}", start.elapsed());
    assert!(auditor.flush().await.unwrap_err().to_string().contains("locked"));
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!((auditor.errors(), auditor.dropped()), (0, 0), "nothing is lost, it only waits");
    // Long enough for another failing attempt.
    tokio::time::sleep(Duration::from_millis(1300)).await;
    other.execute_batch("ROLLBACK").unwrap();
    // Writing continues automatically when that is possible.
    let count = "SELECT COUNT(*) FROM tool_executions WHERE status = 'ok'";
    while column(&other, count) != [json!([200])] {
        assert!(start.elapsed() < Duration::from_secs(20), "it is not tried again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    auditor.flush().await.unwrap();
    assert_eq!(auditor.errors(), 0);
}

#[tokio::test]
async fn buffer_is_bounded_and_excess_records_are_counted() {
    let file = Scratch::new("audit.db");
    let sink = SqliteSink::open(&file.0).unwrap();
    let sink = sink.with_busy_timeout(Duration::from_millis(1)).unwrap().with_max_buffered(6);
    let auditor = Auditor::builder(sink).start().unwrap();
    let other = Connection::open(&file.0).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for number in 0..5 {
        // An intent and an outcome each.
        call(&auditor, &number.to_string(), welcome()).await;
        assert!(auditor.flush().await.unwrap_err().to_string().contains("locked"));
    }
    assert_eq!(auditor.errors(), 4);
    other.execute_batch("ROLLBACK").unwrap();
    auditor.flush().await.unwrap();
    let rows = column(&other, "SELECT tool_call_id, status FROM tool_executions");
    assert_eq!(rows, [json!(["0", "ok"]), json!(["1", "ok"]), json!(["2", "ok"])]);
    // Records that cannot be written at the end are lost, and counted.
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    call(&auditor, "last", welcome()).await;
    auditor.shutdown().await;
    assert_eq!(auditor.errors(), 6);
}

#[tokio::test]
async fn full_database_is_retried() {
    let file = Scratch::new("audit.db");
    drop(SqliteSink::open(&file.0).unwrap());
    let connection = Connection::open(&file.0).unwrap();
    let pages: u32 = connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    connection.pragma_update(None, "max_page_count", pages).unwrap();
    let auditor = Auditor::builder(SqliteSink::new(connection).unwrap()).start().unwrap();
    let big = Ok(ToolResult::text("x".repeat(20_000)));
    call(&auditor, "big", big).await;
    assert!(auditor.flush().await.unwrap_err().to_string().contains("full"));
    assert_eq!(auditor.errors(), 0);
    auditor.shutdown().await;
    // The small intent fits if the writer takes it before the outcome arrives. Records that are not written are
    // counted.
    let reader = Connection::open(&file.0).unwrap();
    let written = column(&reader, "SELECT status FROM tool_executions");
    assert!([vec![], vec![json!(["started"])]].contains(&written), "{written:?}");
    assert_eq!(auditor.errors(), 2 - written.len() as u64);
}

#[tokio::test]
async fn only_calls_of_ended_programs_are_recovered() {
    let file = Scratch::new("audit.db");
    let first = Auditor::builder(SqliteSink::open(&file.0).unwrap()).start().unwrap();
    let mut running = record(&first, "running");
    running.intent().await.unwrap();
    first.flush().await.unwrap();
    // A call of a program that has ended, and one that was written before the column `owner` existed.
    let database = Connection::open(&file.0).unwrap();
    for owner in ["'gone'", "NULL"] {
        let sql = format!(
            "INSERT INTO tool_executions (session_id, agent_id, tool_name, status, owner) \
             VALUES ('', '', 'login', 'started', {owner})"
        );
        database.execute_batch(&sql).unwrap();
    }
    let mut second = SqliteSink::open(&file.0).unwrap();
    assert_eq!(second.recover().unwrap(), 2);
    let statuses = || column(&database, "SELECT status FROM tool_executions ORDER BY id");
    assert_eq!(statuses(), [json!(["started"]), json!(["unknown"]), json!(["unknown"])]);
    running.finish(&welcome()).await;
    first.flush().await.unwrap();
    assert_eq!(statuses()[0], json!(["ok"]));
    // No file remains next to the database when all sinks have ended.
    drop(second);
    first.shutdown().await;
    drop(database);
    let left = std::fs::read_dir(file.0.parent().unwrap()).unwrap();
    let left: Vec<_> = left.map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, ["audit.db"]);
}

#[tokio::test]
async fn two_programs_can_write_to_one_database() {
    let file = Scratch::new("audit.db");
    let auditors =
        [(); 2].map(|()| Auditor::builder(SqliteSink::open(&file.0).unwrap()).durable(true).start().unwrap());
    let calls = (0..100).map(|number: usize| {
        let auditor = auditors[number % 2].clone();
        tokio::spawn(async move { call(&auditor, &number.to_string(), welcome()).await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    for auditor in &auditors {
        auditor.flush().await.unwrap();
    }
    let database = Connection::open(&file.0).unwrap();
    assert_eq!(column(&database, "SELECT COUNT(*) FROM tool_executions WHERE status = 'ok'"), [json!([100])]);
}

#[test]
fn concurrent_starts_open_a_new_database() {
    for _ in 0..8 {
        let file = Scratch::new("new.db");
        std::thread::scope(|scope| {
            let opened: Vec<_> =
                (0..6).map(|_| scope.spawn(|| SqliteSink::open(&file.0).map(drop))).collect();
            for sink in opened {
                sink.join().unwrap().unwrap();
            }
        });
    }
}
