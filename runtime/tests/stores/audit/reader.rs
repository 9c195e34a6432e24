//! Tests of reading an audit log: parent calls, and records that are written while others read.

use std::io::Write as _;

use toolgen_runtime::layers::audit::AuditRecord;

use super::{Scratch, call, record, welcome};
use crate::prelude::*;

/// Adds up.
#[tool(undocumented)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Doubles, by adding twice.
#[tool(undocumented)]
async fn double(ctx: &ToolContext, value: i64) -> Result<String, ToolError> {
    ctx.call("add", json!({"a": value, "b": 0})).await?;
    Ok(ctx.call("add", json!({"a": value, "b": value})).await?.to_text())
}

fn toolbox(sink: impl AuditSink + 'static) -> (Toolbox, Auditor) {
    let auditor = Auditor::builder(sink).start().unwrap();
    let registry = Registry::new(toolset![add, double]).unwrap();
    (Toolbox::builder(&registry).layer(auditor.clone()).build().unwrap(), auditor)
}

/// Two turns, the first with two calls that make nested calls, and a call of the program.
async fn conversation(toolbox: &Toolbox, auditor: &Auditor) {
    let turn = Turn::new("");
    let double = |id: &'static str| ToolCall::new(id, "double", json!({"value": 2}));
    let options = DispatchOptions::default();
    toolbox.dispatch(vec![double("a"), double("b")], &turn, &options).await;
    toolbox.dispatch(vec![double("c")], &turn, &options).await;
    toolbox.run(ToolCall::new("d", "add", json!({"a": 1, "b": 1})), &turn).await;
    auditor.flush().await.unwrap();
}

fn all(reader: &mut AuditReader) -> Vec<AuditRecord> {
    let mut all = Vec::new();
    reader.for_each_change(&mut |record| all.push(record)).unwrap();
    all
}

/// Returns the parent of each call, by the model's IDs, and whether it belongs to a turn.
fn structure(all: &[AuditRecord]) -> Vec<(String, Option<String>, bool)> {
    let of = |id: &str| all.iter().find(|it| it.id == id).unwrap().intent.tool_call_id.to_string();
    let first = all[0].intent.turn;
    let mut found: Vec<_> = all
        .iter()
        .map(|it| {
            let name = format!("{} {}", it.intent.tool_name, it.intent.parameters);
            (name, it.parent.as_deref().map(of), it.intent.turn == first)
        })
        .collect();
    found.sort();
    found
}

fn check_conversation(all: &[AuditRecord]) {
    assert_eq!(all.len(), 10);
    let of = |id: &str| {
        let made = structure(all).into_iter().filter(|(_, parent, _)| parent.as_deref() == Some(id));
        made.map(|(name, ..)| name).collect::<Vec<_>>()
    };
    for id in ["a", "b", "c"] {
        assert_eq!(of(id), [r#"add {"a":2,"b":0}"#, r#"add {"a":2,"b":2}"#], "{id}");
    }
    assert_eq!(structure(all).iter().filter(|(_, parent, _)| parent.is_none()).count(), 4);
    assert_eq!(structure(all).iter().filter(|(_, _, first)| *first).count(), 6);
    let alone = all.iter().find(|it| it.intent.tool_call_id == "d").unwrap();
    assert_eq!((alone.intent.turn, &alone.parent, alone.status()), (0, &None, AuditStatus::Ok));
    assert!(all.iter().all(|it| it.status() == AuditStatus::Ok && !it.owner.is_empty()));
}

#[tokio::test]
async fn records_name_their_parent_call_and_turn() {
    let sink = MemorySink::new();
    let (toolbox, auditor) = toolbox(sink.clone());
    conversation(&toolbox, &auditor).await;
    let rows = sink.rows();
    let of = |id: &str| rows.iter().find(|row| row.intent.tool_call_id == id).unwrap();
    let below = |id: &str| rows.iter().filter(|row| row.intent.parent == of(id).intent.key).count();
    assert_eq!([below("a"), below("b"), below("c"), below("d")], [2, 2, 2, 0]);
    assert!(of("a").intent.turn > 0 && of("a").intent.turn == of("b").intent.turn);
    assert!(of("c").intent.turn > of("a").intent.turn);
    assert!(rows.iter().filter(|row| row.intent.parent > 0).all(|row| row.intent.turn > 0));
}

#[tokio::test]
async fn json_lines_round_trip() {
    let file = Scratch::new("audit.jsonl");
    let (toolbox, auditor) = toolbox(JsonLinesSink::open(&file.0).unwrap());
    conversation(&toolbox, &auditor).await;
    check_conversation(&all(&mut store::audit::open(&file.0).unwrap()));
}

#[tokio::test]
async fn sqlite_rows_round_trip() {
    let file = Scratch::new("audit.sqlite");
    let sink = SqliteSink::open(&file.0).unwrap();
    let (toolbox, auditor) = toolbox(sink);
    conversation(&toolbox, &auditor).await;
    check_conversation(&all(&mut store::audit::open(&file.0).unwrap()));
}

/// A running call is returned, and returned again after it has ended, for every sink.
async fn follow(path: &Path, auditor: &Auditor) {
    call(auditor, "one", welcome()).await;
    let mut running = record(auditor, "two");
    running.intent().await.unwrap();
    auditor.flush().await.unwrap();
    let mut reader = store::audit::open(path).unwrap();
    let seen = all(&mut reader);
    let summary = |all: &[AuditRecord]| {
        let each = all.iter().map(|it| (it.intent.tool_call_id.to_string(), it.status()));
        each.collect::<Vec<_>>()
    };
    assert_eq!(
        summary(&seen),
        [("one".to_owned(), AuditStatus::Ok), ("two".to_owned(), AuditStatus::Started)]
    );
    assert_eq!(all(&mut reader), []);

    running.finish(&Err(ToolError::failed("no"))).await;
    record(auditor, "three").finish(&Err(ToolError::denied("not allowed"))).await;
    auditor.flush().await.unwrap();
    let later = all(&mut reader);
    assert_eq!(
        summary(&later),
        [("two".to_owned(), AuditStatus::Error), ("three".to_owned(), AuditStatus::Refused)]
    );
    assert_eq!(later[0].intent, seen[1].intent);
    for record in later {
        assert_eq!(record.intent.parameters, json!({"user": "me", "pin": "[REDACTED]"}));
        assert_eq!(reader.record(&record.id).unwrap().unwrap(), record);
    }
    assert_eq!(reader.record("no such call").unwrap(), None);
    assert_eq!(all(&mut reader), []);
}

#[tokio::test]
async fn json_lines_are_followed_while_written() {
    let file = Scratch::new("audit.jsonl");
    follow(&file.0, &Auditor::builder(JsonLinesSink::open(&file.0).unwrap()).start().unwrap()).await;
}

#[tokio::test]
async fn sqlite_rows_are_followed_while_written() {
    let file = Scratch::new("audit.sqlite");
    let sink = SqliteSink::open(&file.0).unwrap();
    follow(&file.0, &Auditor::builder(sink).start().unwrap()).await;
}

#[test]
fn nine_column_table_is_readable() {
    use toolgen_runtime::store::audit::rusqlite::Connection;

    let file = Scratch::new("old.sqlite");
    let old = Connection::open(&file.0).unwrap();
    old.execute_batch(
        "CREATE TABLE tool_executions (id INTEGER PRIMARY KEY, session_id TEXT, agent_id TEXT, tool_name TEXT, \
         parameters JSON, result JSON, error TEXT, duration_ms INTEGER, timestamp DATETIME DEFAULT CURRENT_TIMESTAMP);
         INSERT INTO tool_executions (session_id, agent_id, tool_name, parameters, result, error, duration_ms) VALUES
         ('s', 'a', 'add', '{\"a\": 1}', '{\"content\": []}', NULL, 12), ('s', 'a', 'add', 'not JSON', NULL, 'no', 3);",
    )
    .unwrap();
    let read = all(&mut store::audit::open(&file.0).unwrap());
    assert_eq!([read[0].status(), read[1].status()], [AuditStatus::Ok, AuditStatus::Error]);
    assert_eq!(
        [&read[0].intent.parameters, &read[1].intent.parameters],
        [&json!({"a": 1}), &json!("not JSON")]
    );
    assert_eq!(read[0].outcome.as_ref().unwrap().duration.as_millis(), 12);
}

#[test]
fn endless_view_is_not_accepted_as_a_log() {
    use toolgen_runtime::store::audit::rusqlite::Connection;

    let file = Scratch::new("view.sqlite");
    let endless = Connection::open(&file.0).unwrap();
    endless
        .execute_batch(
            "CREATE VIEW tool_executions AS WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) \
             SELECT id, '' AS session_id FROM n WHERE id < 0",
        )
        .unwrap();
    let reason = store::audit::open(&file.0).unwrap_err().to_string();
    assert!(reason.contains("contains no audit records"), "{reason}");
}

#[tokio::test]
async fn foreign_lines_are_counted_and_a_partial_line_waits() {
    let file = Scratch::new("audit.jsonl");
    let auditor = Auditor::builder(JsonLinesSink::open(&file.0).unwrap()).start().unwrap();
    call(&auditor, "one", welcome()).await;
    auditor.shutdown().await;
    let mut out = OpenOptions::new().append(true).open(&file.0).unwrap();
    out.write_all(b"{\"event\":\"inte\n\n[1]\n{\"event\":\"intent\",\"call\":\"x-1\"").unwrap();
    let mut reader = store::audit::open(&file.0).unwrap();
    assert_eq!(all(&mut reader).len(), 1);
    assert_eq!(reader.unreadable(), 2);
    assert_eq!(all(&mut reader).len(), 0);
    assert_eq!(reader.unreadable(), 2);
    std::fs::write(&file.0, "").unwrap();
    assert!(reader.for_each_change(&mut |_| ()).unwrap_err().to_string().contains("replaced"));
}

#[test]
fn file_of_another_format_is_rejected() {
    let file = Scratch::new("other.txt");
    std::fs::write(&file.0, "one\ntwo\n").unwrap();
    let error = store::audit::open(&file.0).unwrap().for_each_change(&mut |_| ()).unwrap_err();
    assert!(error.to_string().contains("not an audit log"), "{error}");
    let reason = store::audit::open(file.0.with_extension("missing")).unwrap_err().to_string();
    assert!(reason.contains("other.missing"), "{reason}");
    std::fs::write(&file.0, "").unwrap();
    assert_eq!(all(&mut store::audit::open(&file.0).unwrap()), []);
}
