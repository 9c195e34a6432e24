//! `cargo toolgen approvals`: who decides about calls of another process, and what they are shown.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use toolgen_runtime::layers::approval::{ApprovalQueue, ApprovalState, Approvals, QueueRow, SqliteApprovals};
use toolgen_runtime::layers::audit::rusqlite::Connection;
use toolgen_runtime::layers::audit::{Auditor, SqliteSink};
use toolgen_runtime::layers::middleware::{Decision, ToolRequest};
use toolgen_runtime::{
    AgentTool, BoxFuture, Provider, Registry, Text, ToolCall, ToolContext, ToolError, ToolName, ToolResult,
    ToolSpec,
};

use toolgen_test_support::postgres;
use toolgen_test_support::redis;

/// A database that is not there yet.
fn database(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("approvals-{name}.sqlite"));
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", path.display()));
    }
    path
}

/// Runs the command. Returns the exit code, and what it says on both channels.
fn run(words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-toolgen"));
    let output = command.arg("approvals").args(words).env("NO_COLOR", "1").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn good(words: &[&str]) -> String {
    let (code, out, told) = run(words);
    assert_eq!(code, Some(0), "{words:?}: {told}");
    out
}

/// The words of a refusal.
fn bad(words: &[&str], code: i32) -> String {
    let (given, out, told) = run(words);
    assert_eq!((given, out.as_str()), (Some(code), ""), "{words:?}: {told}");
    told
}

const FIRST: &str = "3f9a0000000000000000000000000000";
const SECOND: &str = "3f9b0000000000000000000000000000";

/// A row of a call that waits, as a provider puts it there.
fn row(id: &'static str, expires_at: SystemTime) -> QueueRow {
    let millis = expires_at.duration_since(UNIX_EPOCH).unwrap().as_millis();
    let entry = json!({
        "id": id, "state": "waiting", "call_id": "call_1", "tool": "pay", "principal": "alice",
        "shown": {"to": "Ada", "pin": "[REDACTED]"}, "reasons": ["It costs\nmoney."], "asked_at": 0, "expires_at": 0,
    });
    let request = json!({
        "id": "call_1", "name": "pay", "principal": "alice", "arguments": {"to": "Ada", "pin": "0815"},
        "shown": {"to": "Ada", "pin": "[REDACTED]"}, "reasons": ["It costs\nmoney."], "approved": [],
        "expires_at": u64::try_from(millis).unwrap(), "inputs": [], "seal": format!("{id}.ab"),
    });
    QueueRow {
        id: Text::Static(id),
        version: 1,
        state: ApprovalState::Waiting,
        asked_at: SystemTime::now() - Duration::from_secs(180),
        expires_at,
        entry: entry.to_string(),
        request: Some(request.to_string()),
    }
}

async fn filled(name: &str) -> PathBuf {
    let path = database(name);
    let store = SqliteApprovals::open(&path).unwrap();
    let later = SystemTime::now() + Duration::from_secs(2 * 60 * 60 + 5);
    store.insert(row(FIRST, later)).await.unwrap();
    store.insert(row(SECOND, later)).await.unwrap();
    path
}

#[tokio::test]
async fn calls_are_listed_and_shown_as_approvers_see_them() {
    let path = filled("shown").await;
    let db = path.to_str().unwrap();
    let table = good(&["list", db]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert_eq!(
        lines[0].split_whitespace().collect::<Vec<_>>(),
        ["ID", "STATE", "TOOL", "PRINCIPAL", "SINCE"]
    );
    assert_eq!(lines[1], "3f9a0000  waiting  pay   alice      3 min ago  It costs money.; for 2 h more");
    let one = good(&["show", db, "3f9a"]);
    for said in
        [FIRST, "waiting", "\"[REDACTED]\"", "It costs\n           money.", "principal  alice", "call_1"]
    {
        assert!(one.contains(said), "{said}: {one}");
    }
    let all: Value = serde_json::from_str(&good(&["list", db, "--format", "json"])).unwrap();
    assert_eq!(all["approvals"][0]["shown"], json!({"to": "Ada", "pin": "[REDACTED]"}));
    let json: Value = serde_json::from_str(&good(&["show", db, FIRST, "--format", "json"])).unwrap();
    assert_eq!(
        (&json["id"], &json["state"], &json["principal"]),
        (&json!(FIRST), &json!("waiting"), &json!("alice"))
    );
    for said in [table, one, all.to_string(), json.to_string()] {
        assert!(!said.contains("0815"), "{said}");
    }
}

#[tokio::test]
async fn the_first_decision_counts_and_the_second_is_told_of_it() {
    let path = filled("decided").await;
    let db = path.to_str().unwrap();
    let said = good(&["grant", db, "3f9a", "--by", "Eve", "--note", "it is due"]);
    assert!(said.starts_with(&format!("{FIRST} pay is granted: a worker can run it, for 2 h")), "{said}");
    let told = bad(&["deny", db, "3f9a", "--by", "Bob"], 1);
    assert!(told.contains("Eve has granted it before, and that stands: it is due"), "{told}");
    let json = good(&["deny", db, SECOND, "--by", "Bob", "--format", "json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["state"], &json["decision"]["by"]), (&json!("denied"), &json!("Bob")));
    assert!(good(&["list", db, "--state", "granted"]).contains("by Eve; for 2 h more"));
    let denied = good(&["show", db, "3f9b"]);
    assert!(denied.contains("denied by Bob") && denied.contains("\nasked "), "{denied}");
    assert!(!denied.contains(" more"), "what is over does not wait: {denied}");
    let (code, out, told) = run(&["list", db, "--state", "waiting"]);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{told}");
}

#[tokio::test]
async fn what_cannot_be_done_is_told_with_the_remedy() {
    let path = filled("refused").await;
    let db = path.to_str().unwrap();
    for (id, said) in [("3f9", "the IDs of 2 calls begin with '3f9'"), ("77", "no call with the ID '77'")] {
        let told = bad(&["grant", db, id, "--by", "Eve"], 1);
        assert!(told.contains(said) && told.contains("--all"), "{told}");
    }
    for words in [
        &["grant", db, FIRST][..],
        &["deny", db, FIRST, "--by", " "],
        &["list"],
        &["list", db, "--state", "x"],
    ] {
        bad(words, 2);
    }
    // Nothing of it decided anything.
    assert_eq!(good(&["list", db, "--state", "waiting"]).lines().count(), 3);
    let late = database("late");
    let store = SqliteApprovals::open(&late).unwrap();
    store.insert(row(FIRST, SystemTime::now() - Duration::from_secs(60))).await.unwrap();
    let late = late.to_str().unwrap();
    assert!(bad(&["grant", late, FIRST, "--by", "Eve"], 1).contains("has waited too long"));
    assert!(good(&["list", late, "--all"]).contains("expired"));
    assert!(good(&["show", late, FIRST]).contains("until 1 min ago"));

    let missing = database("missing");
    assert!(bad(&["list", missing.to_str().unwrap()], 1).contains("cannot be opened"));
    assert!(!missing.exists());
    let other = database("other");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
    assert!(bad(&["list", other.to_str().unwrap()], 1).contains("approval_queue"));
    fs::write(&other, "hello, this is not a database at all").unwrap();
    assert!(bad(&["show", other.to_str().unwrap(), "x"], 1).contains("not a database"));
}

#[tokio::test]
async fn a_row_that_something_else_has_changed_is_told_and_cannot_be_granted() {
    let path = filled("damaged").await;
    let db = path.to_str().unwrap();
    let change = "UPDATE tool_approval_queue SET request = '{' WHERE id = ?";
    Connection::open(&path).unwrap().execute(change, [FIRST]).unwrap();
    assert!(good(&["list", db]).contains("cannot be read"));
    assert!(good(&["show", db, FIRST]).contains("damage"));
    assert!(bad(&["grant", db, FIRST, "--by", "Eve"], 1).contains("was changed and cannot be read"));
    good(&["grant", db, SECOND, "--by", "Eve"]);
}

/// Acts.
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
async fn a_call_of_a_program_is_granted_here_and_the_timeline_shows_it() {
    let path = database("program");
    let db = path.to_str().unwrap();
    let auditor = Auditor::builder(SqliteSink::open(&path).unwrap()).start().unwrap();
    let approvals = Approvals::new(SqliteApprovals::open(&path).unwrap()).with_worker("worker-1");
    let provider = Provider::builder(
        &Registry::new([std::sync::Arc::new(Act) as std::sync::Arc<dyn AgentTool>]).unwrap(),
    )
    .middleware(|_: &ToolRequest<'_>| Decision::NeedApproval("It acts.".to_owned()))
    .approval_queue(approvals)
    .auditor(auditor.clone())
    .build()
    .unwrap();
    let turn = ToolContext::new("turn", "");
    let response = provider.call(ToolCall::new("call_7", "act", json!({})), &turn).await;
    let Err(ToolError::ApprovalRequired(request)) = response.outcome else { panic!("it waits") };
    let waiting = timeline(db, &[]);
    assert_eq!(waiting["rows"][0]["state"], "waiting");
    // The record of the call names its approval, which has the arguments that are sealed.
    assert_eq!(page(db, &[])["rows"][0][20], waiting["rows"][0]["id"]);
    assert_eq!(waiting["rows"][0]["shown"], json!({}));
    good(&["grant", db, &request.queue_id()[..10], "--by", "Eve"]);
    let response = provider.resume_decided(request.queue_id(), &turn).await.unwrap().unwrap();
    assert_eq!(response.text(), "done");
    auditor.flush().await.unwrap();
    assert!(good(&["list", db, "--all"]).contains("decided by Eve: it ran"));

    let shown = timeline(db, &[]);
    let row = &shown["rows"][0];
    assert_eq!(
        [&row["tool"], &row["call_id"], &row["state"], &row["decision"]["by"], &row["claim"]["worker"]],
        [&json!("act"), &json!("call_7"), &json!("finished"), &json!("Eve"), &json!("worker-1")]
    );
    assert_eq!(shown["file"], db);
    // A log of lines has its queue elsewhere.
    let lines = path.with_extension("jsonl");
    fs::write(&lines, "").unwrap();
    assert_eq!(timeline(lines.to_str().unwrap(), &[]), Value::Null);
    assert_eq!(timeline(lines.to_str().unwrap(), &["--approvals", db]), shown);
}

/// Shows and decides about what waits behind a URL, which only the environment knows.
fn decided_behind(url: &str, secret: &str) {
    let run = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-toolgen"));
        let output = command.arg("approvals").args(words).env("QUEUE_URL", url).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (out, told) = (text(output.stdout), text(output.stderr));
        assert!(!out.contains(secret) && !told.contains(secret), "{out}{told}");
        (output.status.code(), out, told)
    };
    let (code, listed, _) = run(&["list", "env:QUEUE_URL"]);
    assert!(code == Some(0) && listed.contains("pay") && listed.contains("3f9a0000"), "{listed}");
    let (code, granted, _) = run(&["grant", "env:QUEUE_URL", "3f9a", "--by", "Eve"]);
    assert!(code == Some(0) && granted.contains("is granted"), "{granted}");
    let (code, _, told) = run(&["deny", "env:QUEUE_URL", "3f9a", "--by", "Mallory"]);
    assert!(code == Some(1) && told.contains("Eve has granted it before"), "{told}");
    let (code, _, told) = run(&["show", "env:QUEUE_URL", "77"]);
    assert!(code == Some(1) && told.contains("approvals list"), "{told}");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn calls_that_wait_in_postgresql_are_decided_about() {
    use toolgen_runtime::layers::approval::PostgresApprovals;

    let Some(server) = postgres::shared() else { return };
    let url = server.database("decided");
    let (code, _, told) = run(&["list", &url]);
    assert!(code == Some(1) && told.contains("no calls wait in this database"), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
    let store = PostgresApprovals::connect(&url).await.unwrap();
    store.insert(row(FIRST, SystemTime::now() + Duration::from_secs(60))).await.unwrap();
    decided_behind(&url, "hunter2");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_wait_in_redis_are_decided_about() {
    use toolgen_runtime::layers::redis::RedisState;

    let Some(server) = redis::Server::start() else { return };
    let state = RedisState::builder(server.url(), "shop").build().unwrap();
    state.approvals().insert(row(FIRST, SystemTime::now() + Duration::from_secs(60))).await.unwrap();
    decided_behind(&format!("{}/0#shop", server.url()), "no secret");
    let (code, listed, _) = run(&["list", &format!("{}/0#other", server.url())]);
    assert!(code == Some(0) && !listed.contains("pay"), "{listed}");
}

/// What the page of a log carries of approvals.
fn timeline(log: &str, more: &[&str]) -> Value {
    page(log, more)["approvals"].clone()
}

/// What the page of a log carries.
fn page(log: &str, more: &[&str]) -> Value {
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("approvals-timeline.html");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-toolgen"));
    let output = command
        .args(["timeline", log, "--force", "--out", page.to_str().unwrap()])
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once(r#"<script type="application/json" id="data">"#).unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}
