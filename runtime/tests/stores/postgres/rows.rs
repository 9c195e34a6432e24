//! Tests of the content of rows, and of their types in the database.

use super::{call, durable, info, record, server, started, welcome};
use crate::prelude::*;

#[tokio::test]
async fn call_is_one_row_from_start_to_end() {
    let Some(server) = server::shared() else { return };
    let url = server.database("one_row");
    let auditor = started(PostgresSink::open(&url).unwrap());
    let all = || {
        let columns = "tool_call_id, status, error_code, is_error, attempt, parameters, duration_ms IS NULL";
        server.query("one_row", &format!("SELECT {columns} FROM tool_executions ORDER BY id"))
    };
    let parameters = "{\"user\":\"me\",\"password\":\"[REDACTED]\"}";
    let mut running = record(&auditor, "one");
    running.intent().await.unwrap();
    auditor.flush().await.unwrap();
    assert_eq!(all(), format!("one|started|||1|{parameters}|t"));
    record(&auditor, "two").finish(&Err(ToolError::denied("no"))).await;
    running.finish(&welcome()).await;
    auditor.flush().await.unwrap();
    let wanted = format!("one|ok||f|1|{parameters}|f\ntwo|refused|PERMISSION_DENIED|t|1|{parameters}|f");
    assert_eq!(all(), wanted);
}

#[tokio::test]
async fn queries_of_the_sqlite_table_also_run_here() {
    let Some(server) = server::shared() else { return };
    let url = server.database("queries");
    let auditor = started(PostgresSink::open(&url).unwrap());
    for number in 0..55 {
        call(&auditor, &number.to_string(), welcome()).await;
    }
    for _ in 0..3 {
        call(&auditor, "x", Err(ToolError::failed("disk full"))).await;
    }
    let failed = ToolResult::json(json!({"success": false, "error": "no such file"}));
    call(&auditor, "y", Ok(failed)).await;
    auditor.flush().await.unwrap();
    let ask = |query: &str| server.query("queries", query);
    let recent = "SELECT agent_id, tool_name, parameters, result, error, duration_ms, timestamp \
                  FROM tool_executions ORDER BY timestamp DESC LIMIT 50";
    assert_eq!(ask(recent).lines().count(), 50);
    let failures = "SELECT tool_name, error, COUNT(*) AS count FROM tool_executions \
                    WHERE error IS NOT NULL GROUP BY tool_name, error ORDER BY count DESC";
    assert_eq!(ask(failures), "login|disk full|3\nlogin|no such file|1");
    // The database treats times as times, JSON as JSON, and booleans as booleans.
    let typed = "SELECT count(*) FROM tool_executions WHERE now() - timestamp < interval '1 hour' \
                 AND parameters ->> 'user' = 'me' AND is_error AND NOT approved";
    assert_eq!(ask(typed), "4");
}

#[tokio::test]
async fn any_string_is_stored_and_a_rejected_row_affects_no_other() {
    let Some(server) = server::shared() else { return };
    let url = server.database("texts");
    // This database rejects one tool.
    drop(PostgresSink::open(&url).unwrap());
    server.query("texts", "ALTER TABLE tool_executions ADD CHECK (tool_name <> 'forbidden')");
    let auditor = started(PostgresSink::open(&url).unwrap());
    let odd = |text: &str, tool: &str| {
        let mut info = info(text, tool, json!({"user": text}));
        info.session_id = text.to_owned().into();
        info
    };
    let texts = ["nul \0 inside", "quote ' \" \\ {,} \n", "refused", "ünï ☃ 🦀", "NULL", ""];
    for text in texts {
        let tool = if text == "refused" { "forbidden" } else { "odd\0" };
        let mut record = auditor.record(|| odd(text, tool));
        record.intent().await.unwrap();
        let result = json!({"z\0y": text, "n": 12345678901234567890_u64, "a": 1});
        record.finish(&Ok(ToolResult::json(result))).await;
    }
    let reason = auditor.flush().await.unwrap_err().to_string();
    assert!(reason.contains("violates check constraint") && reason.contains("23514"), "{reason}");
    assert!(!reason.contains("hunter2"), "{reason}");
    // An intent and an outcome.
    assert_eq!(auditor.errors(), 2);
    let ask = |query: &str| server.query("texts", query);
    let all = ask("SELECT to_json(session_id), to_json(tool_name) FROM tool_executions ORDER BY id");
    let found: Vec<(Value, Value)> = all
        .lines()
        .map(|line| line.split_once('|').unwrap())
        .map(|(session, tool)| (serde_json::from_str(session).unwrap(), serde_json::from_str(tool).unwrap()))
        .collect();
    let sessions: Vec<&str> = found.iter().map(|(session, _)| session.as_str().unwrap()).collect();
    assert_eq!(sessions, ["nul \u{fffd} inside", "quote ' \" \\ {,} \n", "ünï ☃ 🦀", "NULL", ""]);
    assert!(found.iter().all(|(_, tool)| tool == "odd\u{fffd}"));
    // The text of JSON is unchanged, including the order of its members and all digits.
    let second = ask("SELECT result FROM tool_executions ORDER BY id OFFSET 1 LIMIT 1");
    let wanted = json!({"z\0y": texts[1], "n": 12345678901234567890_u64, "a": 1}).to_string();
    assert!(second.contains(&wanted), "{second} {wanted}");
}

#[tokio::test]
async fn large_batches_are_split() {
    let Some(server) = server::shared() else { return };
    let url = server.database("pieces");
    let sink = PostgresSink::open(&url).unwrap();
    let auditor = Auditor::builder(sink).capacity(usize::MAX).start().unwrap();
    for number in 0..10_000 {
        call(&auditor, &number.to_string(), welcome()).await;
    }
    for number in 0..6 {
        let mut record = auditor.record(|| info("large", "read", json!({"number": number})));
        record.intent().await.unwrap();
        record.finish(&Ok(ToolResult::json(json!({"text": "x".repeat(3 << 20)})))).await;
    }
    auditor.flush().await.unwrap();
    let count =
        "SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE status = 'ok') FROM tool_executions";
    assert_eq!(server.query("pieces", count), "10006|10006|10006");
    assert_eq!((auditor.errors(), auditor.dropped()), (0, 0));
}

/// Adds up.
#[tool(undocumented)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Doubles.
#[tool(undocumented)]
async fn double(ctx: &ToolContext, value: i64) -> Result<String, ToolError> {
    Ok(ctx.call("add", json!({"a": value, "b": value})).await?.to_text())
}

#[tokio::test]
async fn nested_calls_refer_to_their_parent() {
    let Some(server) = server::shared() else { return };
    let url = server.database("parents");
    for is_durable in [true, false] {
        let sink = PostgresSink::open(&url).unwrap();
        let auditor = Auditor::builder(sink).durable(is_durable).start().unwrap();
        let registry = Registry::new(toolset![add, double]).unwrap();
        let toolbox = Toolbox::builder(&registry).layer(auditor.clone()).build().unwrap();
        let context = Turn::new("");
        toolbox.run(ToolCall::new("c", "double", json!({"value": 2})), &context).await;
        auditor.flush().await.unwrap();
    }
    let calls = "SELECT child.tool_name, parent.tool_name, child.status FROM tool_executions AS child \
                 LEFT JOIN tool_executions AS parent ON parent.id = child.parent ORDER BY child.id";
    assert_eq!(server.query("parents", calls), "double||ok\nadd|double|ok\ndouble||ok\nadd|double|ok");
}

#[test]
fn concurrent_starts_create_the_tables_once() {
    let Some(server) = server::shared() else { return };
    let url = server.database("at_once");
    let displayed: Vec<String> = std::thread::scope(|scope| {
        let start = || {
            let sink = PostgresSink::open(&url).unwrap();
            let displayed = format!("{sink:?}");
            let auditor = durable(sink);
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                call(&auditor, "one", welcome()).await;
                auditor.flush().await.unwrap();
            });
            displayed
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(
        displayed.iter().all(|it| !it.contains("hunter2") && it.contains("audit@127.0.0.1")),
        "{displayed:?}"
    );
    let ask = |query: &str| server.query("at_once", query);
    assert_eq!(ask("SELECT count(*), max(version) FROM tool_audit_versions"), "2|2");
    let rows =
        "SELECT count(*), count(DISTINCT owner), count(DISTINCT id) FROM tool_executions WHERE status = 'ok'";
    assert_eq!(ask(rows), "8|8|8");
    // All programs have ended, and no call of theirs is open.
    assert_eq!(ask("SELECT count(*) FROM tool_audit_writers"), "0");
}

#[tokio::test]
async fn missing_approver_is_null_in_first_version_tables() {
    let Some(server) = server::shared() else { return };
    let url = server.database("first_version");
    let once = async || {
        let auditor = durable(PostgresSink::open(&url).unwrap());
        call(&auditor, "one", welcome()).await;
        auditor.flush().await.unwrap();
        auditor.shutdown().await;
    };
    once().await;
    // As the first version created it.
    server.query(
        "first_version",
        "DELETE FROM tool_audit_versions WHERE version = 2; UPDATE tool_executions SET approved_by = ''; \
         ALTER TABLE tool_executions ALTER COLUMN approved_by SET NOT NULL",
    );
    once().await;
    let rows = "SELECT count(*), count(approved_by) FROM tool_executions";
    assert_eq!(server.query("first_version", rows), "2|1");
    let mut read = Vec::new();
    store::audit::connect(&url)
        .unwrap()
        .for_each_change(&mut |record| read.push(record.intent.approved_by))
        .unwrap();
    assert_eq!(read, [None, None]);
}

#[test]
fn tables_of_a_later_version_are_not_changed() {
    let Some(server) = server::shared() else { return };
    let url = server.database("later");
    drop(PostgresSink::open(&url).unwrap());
    server.query("later", "INSERT INTO tool_audit_versions VALUES (99)");
    let reason = PostgresSink::open(&url).unwrap_err().to_string();
    assert!(reason.contains("version 99") && reason.contains("newer toolgen-runtime"), "{reason}");
    // Nor are tables of other applications.
    let url = server.database("somebody");
    server.query("somebody", "CREATE TABLE tool_executions (id INTEGER)");
    let reason = PostgresSink::open(&url).unwrap_err().to_string();
    assert!(reason.contains("\"tool_executions\" already exists"), "{reason}");
}
