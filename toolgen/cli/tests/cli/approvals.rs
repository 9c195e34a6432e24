//! `cargo toolgen approvals`: who decides about calls of another process, and what they are shown.

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
    Toolbox,
};

#[cfg(target_os = "linux")]
use toolgen_test_support::postgres;
use toolgen_test_support::redis;

use crate::support::{Folder, Ran, data};

/// A folder of a test, for a database `db` that is not there yet.
fn folder(name: &str) -> Folder {
    Folder::new(&format!("approvals/{name}"))
}

fn run(folder: &Folder, line: &str) -> Ran {
    folder.run(format!("approvals {line}"))
}

fn good(folder: &Folder, line: &str) -> String {
    run(folder, line).exits(0).stdout
}

/// The words of a refusal.
fn bad(folder: &Folder, line: &str, code: i32) -> String {
    run(folder, line).exits(code).printed("").stderr
}

const FIRST: &str = "3f9a0000000000000000000000000000";
const SECOND: &str = "3f9b0000000000000000000000000000";

/// Stores a call that waits, as a toolbox does.
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
    let left = expires_at.duration_since(SystemTime::now()).unwrap_or_default();
    for (table, value, ttl) in
        [("approval-requests", request, left), ("approvals", entry, left + Duration::from_secs(3600))]
    {
        let value = value.to_string();
        store.put(table, id, value.as_bytes(), ttl, Expected::Absent).await.unwrap().unwrap();
    }
}

async fn filled(name: &str) -> Folder {
    let folder = folder(name);
    let store = SqliteStore::open(folder.join("db")).unwrap();
    let later = SystemTime::now() + Duration::from_secs(2 * 60 * 60 + 5);
    insert(&store, FIRST, later).await;
    insert(&store, SECOND, later).await;
    folder
}

#[tokio::test]
async fn approvals_are_listed_and_shown_as_for_approvers() {
    let place = &filled("shown").await;
    let table = good(place, "list db");
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert_eq!(
        lines[0].split_whitespace().collect::<Vec<_>>(),
        ["ID", "STATE", "TOOL", "PRINCIPAL", "SINCE"]
    );
    assert_eq!(lines[1], "3f9a0000  waiting  pay   alice      3 min ago  It costs money.; for 2 h more");
    let one = good(place, "show db 3f9a");
    for said in
        [FIRST, "waiting", "\"[REDACTED]\"", "It costs\n           money.", "principal  alice", "call_1"]
    {
        assert!(one.contains(said), "{said}: {one}");
    }
    let all: Value = serde_json::from_str(&good(place, "list db --format json")).unwrap();
    assert_eq!(all["approvals"][0]["shown"], json!({"to": "Ada", "pin": "[REDACTED]"}));
    let json: Value = serde_json::from_str(&good(place, &format!("show db {FIRST} --format json"))).unwrap();
    assert_eq!(
        (&json["id"], &json["state"], &json["principal"]),
        (&json!(FIRST), &json!("waiting"), &json!("alice"))
    );
    for said in [table, one, all.to_string(), json.to_string()] {
        assert!(!said.contains("0815"), "{said}");
    }
}

#[tokio::test]
async fn first_decision_counts_and_the_second_is_rejected() {
    let place = &filled("decided").await;
    let said = good(place, "grant db 3f9a --by Eve --note 'it is due'");
    assert!(said.starts_with(&format!("{FIRST} pay is granted: a worker can run it, for 2 h")), "{said}");
    let told = bad(place, "deny db 3f9a --by Bob", 1);
    assert!(told.contains("Eve has granted it before, and that stands: it is due"), "{told}");
    let json = good(place, &format!("deny db {SECOND} --by Bob --format json"));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["state"], &json["decision"]["by"]), (&json!("denied"), &json!("Bob")));
    assert!(good(place, "list db --state granted").contains("by Eve; for 2 h more"));
    let denied = good(place, "show db 3f9b");
    assert!(denied.contains("denied by Bob") && denied.contains("\nasked "), "{denied}");
    assert!(!denied.contains(" more"), "what is over does not wait: {denied}");
    run(place, "list db --state waiting").exits(0).printed("");
}

#[tokio::test]
async fn invalid_requests_are_rejected_with_help() {
    let place = &filled("refused").await;
    for (id, said) in [("3f9", "the IDs of 2 calls begin with '3f9'"), ("77", "no call with the ID '77'")] {
        let told = bad(place, &format!("grant db {id} --by Eve"), 1);
        assert!(told.contains(said) && told.contains("--all"), "{told}");
    }
    for words in
        [&format!("grant db {FIRST}")[..], &format!("deny db {FIRST} --by ' '"), "list", "list db --state x"]
    {
        bad(place, words, 2);
    }
    // Nothing of it decided anything.
    assert_eq!(good(place, "list db --state waiting").lines().count(), 3);
    let store = SqliteStore::open(place.join("late")).unwrap();
    insert(&store, FIRST, SystemTime::now() - Duration::from_secs(60)).await;
    assert!(bad(place, &format!("grant late {FIRST} --by Eve"), 1).contains("has waited too long"));
    assert!(good(place, "list late --all").contains("expired"));
    assert!(good(place, &format!("show late {FIRST}")).contains("until 1 min ago"));

    assert!(bad(place, "list missing", 1).contains("cannot be opened"));
    assert!(!place.join("missing").exists());
    Connection::open(place.join("other")).unwrap().execute_batch("CREATE TABLE x (y)").unwrap();
    assert!(bad(place, "list other", 1).contains("approval_queue"));
    place.write("other", "hello, this is not a database at all");
    assert!(bad(place, "show other x", 1).contains("not a database"));
}

#[tokio::test]
async fn externally_modified_row_cannot_be_granted() {
    let place = &filled("damaged").await;
    let change = "UPDATE toolgen_rows SET value = '{' WHERE kind = 'approval-requests' AND key = ?";
    Connection::open(place.join("db")).unwrap().execute(change, [FIRST]).unwrap();
    assert!(good(place, "list db").contains("cannot be read"));
    assert!(good(place, &format!("show db {FIRST}")).contains("damage"));
    assert!(bad(place, &format!("grant db {FIRST} --by Eve"), 1).contains("was changed and cannot be read"));
    good(place, &format!("grant db {SECOND} --by Eve"));
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
async fn granted_call_appears_in_the_timeline() {
    let place = &folder("program");
    let path = place.join("db");
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
    let turn = ToolContext::new("turn", "");
    let response = toolbox.call(ToolCall::new("call_7", "act", json!({})), &turn).await;
    let Err(ToolError::ApprovalRequired(request)) = response.outcome else { panic!("it waits") };
    let waiting = timeline(place, "db");
    assert_eq!(waiting["rows"][0]["state"], "waiting");
    // The record of the call names its approval, which has the arguments that are sealed.
    assert_eq!(page(place, "db")["rows"][0][20], waiting["rows"][0]["id"]);
    assert_eq!(waiting["rows"][0]["shown"], json!({}));
    good(place, &format!("grant db {} --by Eve", &request.queue_id()[..10]));
    let response = toolbox.resume_decided(request.queue_id(), &turn).await.unwrap().unwrap();
    assert_eq!(response.text(), "done");
    auditor.flush().await.unwrap();
    assert!(good(place, "list db --all").contains("decided by Eve: it ran"));

    let shown = timeline(place, "db");
    let row = &shown["rows"][0];
    assert_eq!(
        [&row["tool"], &row["call_id"], &row["state"], &row["decision"]["by"], &row["claim"]["worker"]],
        [&json!("act"), &json!("call_7"), &json!("finished"), &json!("Eve"), &json!("worker-1")]
    );
    assert_eq!(shown["file"], "db");
    // A log of lines has its queue elsewhere.
    place.write("lines.jsonl", "");
    assert_eq!(timeline(place, "lines.jsonl"), Value::Null);
    assert_eq!(timeline(place, "lines.jsonl --approvals db"), shown);
}

/// Shows and decides about what waits behind a URL, which only the environment knows.
fn decided_behind(place: &Folder, url: &str, secret: &str) {
    let run = |line: &str| {
        let ran = place.run_with(format!("approvals {line}"), &[("QUEUE_URL", url)]);
        ran.prints_no(secret).tells_no(secret)
    };
    run("list env:QUEUE_URL").exits(0).prints("pay").prints("3f9a0000");
    run("grant env:QUEUE_URL 3f9a --by Eve").exits(0).prints("is granted");
    run("deny env:QUEUE_URL 3f9a --by Mallory").exits(1).tells("Eve has granted it before");
    run("show env:QUEUE_URL 77").exits(1).tells("approvals list");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn approvals_in_postgresql_can_be_decided() {
    use toolgen_runtime::store::PostgresStore;

    let Some(server) = postgres::shared() else { return };
    let url = server.database("decided");
    let place = &folder("postgres");
    run(place, &format!("list {url}")).exits(1).tells("no calls wait in this database").tells_no("hunter2");
    let store = PostgresStore::connect(&url).await.unwrap();
    insert(&store, FIRST, SystemTime::now() + Duration::from_secs(60)).await;
    decided_behind(place, &url, "hunter2");
}

#[tokio::test(flavor = "multi_thread")]
async fn approvals_in_redis_can_be_decided() {
    use toolgen_runtime::store::RedisStore;

    let Some(server) = redis::Server::start() else { return };
    let place = &folder("redis");
    let store = RedisStore::builder(server.url(), "shop").build().unwrap();
    insert(&store, FIRST, SystemTime::now() + Duration::from_secs(60)).await;
    decided_behind(place, &format!("{}/0#shop", server.url()), "no secret");
    run(place, &format!("list {}/0#other", server.url())).exits(0).prints_no("pay");
}

/// What the page of a log carries of approvals.
fn timeline(place: &Folder, line: &str) -> Value {
    page(place, line)["approvals"].clone()
}

/// What the page of a log carries.
fn page(place: &Folder, line: &str) -> Value {
    place.run(format!("timeline --force --out page.html {line}")).exits(0);
    data(&place.read("page.html"))
}
