//! Tests of `cargo toolgen approvals`: decisions about calls of another process, and what approvers see.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use toolgen_runtime::layers::approval::Approvals;
use toolgen_runtime::layers::audit::Auditor;
use toolgen_runtime::layers::middleware::{MiddlewareDecision, ToolRequest};
use toolgen_runtime::store::audit::SqliteSink;
use toolgen_runtime::store::audit::rusqlite::Connection;
use toolgen_runtime::store::{Expected, SqliteStore, Store};
use toolgen_runtime::{
    AgentTool, BoxFuture, Registry, Text, ToolCall, ToolContext, ToolError, ToolName, ToolResult, ToolSpec,
    Toolbox, Turn,
};

#[cfg(target_os = "linux")]
use toolgen_test_support::postgres;
use toolgen_test_support::redis;

use crate::support::{Folder, Ran, data};

/// A directory of a test, for a database `db` that does not exist yet.
fn folder(name: &str) -> Folder {
    Folder::new(&format!("approvals/{name}"))
}

fn run(dir: &Folder, line: &str) -> Ran {
    dir.run(format!("approvals {line}"))
}

fn good(dir: &Folder, line: &str) -> String {
    run(dir, line).exits(0).stdout
}

/// Returns the error message of a failing command.
fn bad(dir: &Folder, line: &str, code: i32) -> String {
    run(dir, line).exits(code).printed("").stderr
}

const FIRST: &str = "3f9a0000000000000000000000000000";
const SECOND: &str = "3f9b0000000000000000000000000000";

/// Stores a waiting call, like a toolbox.
async fn insert(store: &impl Store, id: &str, expires_at: SystemTime) {
    let millis =
        |time: SystemTime| u64::try_from(time.duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let entry = json!({
        "id": id, "state": "waiting", "call_id": "call_1", "tool": "pay", "principal": "alice",
        "shown": {"to": "Ada", "pin": "[REDACTED]"}, "reasons": ["It costs\nmoney."],
        "asked_at": millis(SystemTime::now() - Duration::from_secs(180)), "expires_at": millis(expires_at),
    });
    let request = json!({
        "id": "call_1", "name": "pay", "principal": "alice", "arguments": {"to": "Ada", "pin": "0815"},
        "shown": {"to": "Ada", "pin": "[REDACTED]"}, "reasons": ["It costs\nmoney."], "approved": [],
        "expires_at": millis(expires_at), "inputs": [], "seal": format!("{id}.ab"),
    });
    let remaining = expires_at.duration_since(SystemTime::now()).unwrap_or_default();
    for (table, value, ttl) in [
        ("approval-requests", request, remaining),
        ("approvals", entry, remaining + Duration::from_secs(3600)),
    ] {
        let value = value.to_string();
        store.put(table, id, value.as_bytes(), ttl, Expected::Absent).await.unwrap().unwrap();
    }
}

async fn filled(name: &str) -> Folder {
    let dir = folder(name);
    let store = SqliteStore::open(dir.join("db")).unwrap();
    let later = SystemTime::now() + Duration::from_secs(2 * 60 * 60 + 5);
    insert(&store, FIRST, later).await;
    insert(&store, SECOND, later).await;
    dir
}

#[tokio::test]
async fn approvals_are_listed_and_shown_as_for_approvers() {
    let dir = &filled("shown").await;
    let table = good(dir, "list db");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert_eq!(
        lines[0].split_whitespace().collect::<Vec<_>>(),
        ["ID", "STATE", "TOOL", "PRINCIPAL", "SINCE"]
    );
    assert_eq!(lines[1], "3f9a0000  waiting  pay   alice      3 min ago  It costs money.; for 2 h more");
    let one = good(dir, "show db 3f9a");
    for text in
        [FIRST, "waiting", "\"[REDACTED]\"", "It costs\n           money.", "principal  alice", "call_1"]
    {
        assert!(one.contains(text), "{text}: {one}");
    }
    let all: Value = serde_json::from_str(&good(dir, "list db --format json")).unwrap();
    assert_eq!(all["approvals"][0]["shown"], json!({"to": "Ada", "pin": "[REDACTED]"}));
    let json: Value = serde_json::from_str(&good(dir, &format!("show db {FIRST} --format json"))).unwrap();
    assert_eq!(
        (&json["id"], &json["state"], &json["principal"]),
        (&json!(FIRST), &json!("waiting"), &json!("alice"))
    );
    for text in [table, one, all.to_string(), json.to_string()] {
        assert!(!text.contains("0815"), "{text}");
    }
}

#[tokio::test]
async fn first_decision_counts_and_the_second_is_rejected() {
    let dir = &filled("decided").await;
    let text = good(dir, "grant db 3f9a --by Eve --note 'it is due'");
    assert!(text.starts_with(&format!("{FIRST} pay is granted: a worker can run it, for 2 h")), "{text}");
    let message = bad(dir, "deny db 3f9a --by Bob", 1);
    assert!(message.contains("Eve has already granted it, and that is final: it is due"), "{message}");
    let json = good(dir, &format!("deny db {SECOND} --by Bob --format json"));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["state"], &json["decision"]["by"]), (&json!("denied"), &json!("Bob")));
    assert!(good(dir, "list db --state granted").contains("by Eve; for 2 h more"));
    let denied = good(dir, "show db 3f9b");
    assert!(denied.contains("denied by Bob") && denied.contains("\nasked "), "{denied}");
    assert!(!denied.contains(" more"), "what is over does not wait: {denied}");
    run(dir, "list db --state waiting").exits(0).printed("");
}

#[tokio::test]
async fn invalid_requests_are_rejected_with_help() {
    let dir = &filled("refused").await;
    for (id, text) in [("3f9", "the IDs of 2 calls begin with '3f9'"), ("77", "no call with the ID '77'")] {
        let message = bad(dir, &format!("grant db {id} --by Eve"), 1);
        assert!(message.contains(text) && message.contains("--all"), "{message}");
    }
    for words in
        [&format!("grant db {FIRST}")[..], &format!("deny db {FIRST} --by ' '"), "list", "list db --state x"]
    {
        bad(dir, words, 2);
    }
    // None of these commands decided a call.
    assert_eq!(good(dir, "list db --state waiting").lines().count(), 3);
    let store = SqliteStore::open(dir.join("late")).unwrap();
    insert(&store, FIRST, SystemTime::now() - Duration::from_secs(60)).await;
    assert!(bad(dir, &format!("grant late {FIRST} --by Eve"), 1).contains("has waited too long"));
    assert!(good(dir, "list late --all").contains("expired"));
    assert!(good(dir, &format!("show late {FIRST}")).contains("until 1 min ago"));

    assert!(bad(dir, "list missing", 1).contains("cannot be opened"));
    assert!(!dir.join("missing").exists());
    Connection::open(dir.join("other")).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
    assert!(bad(dir, "list other", 1).contains("approval_queue"));
    dir.write("other", "hello, this is not a database at all");
    assert!(bad(dir, "show other x", 1).contains("not a database"));
}

#[tokio::test]
async fn externally_modified_row_cannot_be_granted() {
    let dir = &filled("damaged").await;
    let change = "UPDATE toolgen_rows SET value = '{' WHERE kind = 'approval-requests' AND key = ?";
    Connection::open(dir.join("db")).unwrap().execute(change, [FIRST]).unwrap();
    assert!(good(dir, "list db").contains("cannot be read"));
    assert!(good(dir, &format!("show db {FIRST}")).contains("damage"));
    assert!(bad(dir, &format!("grant db {FIRST} --by Eve"), 1).contains("was changed and cannot be read"));
    good(dir, &format!("grant db {SECOND} --by Eve"));
}

/// A tool that needs an approval.
struct Act;

static ACT: ToolSpec =
    ToolSpec { name: ToolName::new("act"), description: Text::Static("Acts."), ..ToolSpec::EMPTY };

impl AgentTool for Act {
    fn spec(&self) -> &ToolSpec {
        &ACT
    }

    fn execute<'a>(&'a self, _: Value, _: &'a ToolContext) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async { Ok(ToolResult::text("done")) })
    }
}

#[tokio::test]
async fn granted_call_appears_in_the_timeline() {
    let dir = &folder("program");
    let path = dir.join("db");
    let auditor = Auditor::builder(SqliteSink::open(&path).unwrap()).start().unwrap();
    let approvals = Approvals::on(SqliteStore::open(&path).unwrap()).with_worker("worker-1");
    let toolbox = Toolbox::builder(
        &Registry::new([std::sync::Arc::new(Act) as std::sync::Arc<dyn AgentTool>]).unwrap(),
    )
    .middleware(|_: &ToolRequest<'_>| MiddlewareDecision::NeedApproval("It acts.".to_owned()))
    .approval_queue(approvals)
    .layer(auditor.clone())
    .build()
    .unwrap();
    let turn = Turn::new("turn");
    let response = toolbox.run(ToolCall::new("call_7", "act", json!({})), &turn).await;
    let Err(ToolError::ApprovalRequired(request)) = response.outcome else { panic!("it waits") };
    let waiting = timeline(dir, "db");
    assert_eq!(waiting["rows"][0]["state"], "waiting");
    // The record of the call names its approval, which contains the sealed arguments.
    assert_eq!(page(dir, "db")["rows"][0][20], waiting["rows"][0]["id"]);
    assert_eq!(waiting["rows"][0]["shown"], json!({}));
    good(dir, &format!("grant db {} --by Eve", &request.queue_id()[..10]));
    let response = toolbox.resume_decided(request.queue_id(), &turn).await.unwrap().unwrap();
    assert_eq!(response.text(), "done");
    auditor.flush().await.unwrap();
    assert!(good(dir, "list db --all").contains("decided by Eve: it ran"));

    let visible = timeline(dir, "db");
    let row = &visible["rows"][0];
    assert_eq!(
        [&row["tool"], &row["call_id"], &row["state"], &row["decision"]["by"], &row["claim"]["worker"]],
        [&json!("act"), &json!("call_7"), &json!("finished"), &json!("Eve"), &json!("worker-1")]
    );
    assert_eq!(visible["file"], "db");
    // A JSON Lines log has its queue elsewhere.
    dir.write("lines.jsonl", "");
    assert_eq!(timeline(dir, "lines.jsonl"), Value::Null);
    assert_eq!(timeline(dir, "lines.jsonl --approvals db"), visible);
}

/// Lists and decides calls in a database whose URL is in an environment variable.
fn decided_behind(dir: &Folder, url: &str, secret: &str) {
    let run = |line: &str| {
        let ran = dir.run_with(format!("approvals {line}"), &[("QUEUE_URL", url)]);
        ran.prints_no(secret).tells_no(secret)
    };
    run("list env:QUEUE_URL").exits(0).prints("pay").prints("3f9a0000");
    run("grant env:QUEUE_URL 3f9a --by Eve").exits(0).prints("is granted");
    run("deny env:QUEUE_URL 3f9a --by Mallory").exits(1).tells("Eve has already granted it");
    run("show env:QUEUE_URL 77").exits(1).tells("approvals list");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn approvals_in_postgresql_can_be_decided() {
    use toolgen_runtime::store::PostgresStore;

    let Some(server) = postgres::shared() else { return };
    let url = server.database("decided");
    let dir = &folder("postgres");
    run(dir, &format!("list {url}"))
        .exits(1)
        .tells("this database has no approval queue")
        .tells_no("hunter2");
    let store = PostgresStore::connect(&url).await.unwrap();
    insert(&store, FIRST, SystemTime::now() + Duration::from_secs(60)).await;
    decided_behind(dir, &url, "hunter2");
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_in_redis_can_be_decided() {
    use toolgen_runtime::store::RedisStore;

    let Some(server) = redis::Server::start() else { return };
    let dir = &folder("redis");
    let store = RedisStore::builder(server.url(), "shop").build().unwrap();
    insert(&store, FIRST, SystemTime::now() + Duration::from_secs(60)).await;
    decided_behind(dir, &format!("{}/0#shop", server.url()), "no secret");
    run(dir, &format!("list {}/0#other", server.url())).exits(0).prints_no("pay");
}

/// Returns the data about approvals in the page of a log.
fn timeline(dir: &Folder, line: &str) -> Value {
    page(dir, line)["approvals"].clone()
}

/// Returns the data in the page of a log.
fn page(dir: &Folder, line: &str) -> Value {
    dir.run(format!("timeline --force --out page.html {line}")).exits(0);
    data(&dir.read("page.html"))
}
