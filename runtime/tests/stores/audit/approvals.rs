//! Tests that an approved call runs once, even if the program crashes in between.

use std::io::Write as _;

use toolgen_test_support::processes::{Process, say};

use super::Scratch;
use crate::prelude::*;

/// The directory of the child process.
const FOLDER: &str = "TOOLGEN_APPROVAL_TEST_FOLDER";

/// Has an effect, and does not return.
#[tool(undocumented, timeout = "none")]
async fn pay(ctx: &ToolContext, to: &str) -> String {
    let dir = std::env::var(FOLDER).unwrap();
    let mut effects =
        OpenOptions::new().create(true).append(true).open(Path::new(&dir).join("effects")).unwrap();
    writeln!(effects, "paid {to}").unwrap();
    effects.sync_all().unwrap();
    say("ran");
    ctx.cancel().cancelled().await;
    String::new()
}

fn asks(_: &ToolRequest<'_>) -> MiddlewareDecision {
    MiddlewareDecision::NeedApproval("It costs money.".to_owned())
}

/// Not a test: the code of the processes that are killed. The first process requests an approval and waits to be
/// killed. The following ones resume the approved call.
#[tokio::test]
async fn child_process() {
    let Some(dir) = std::env::var_os(FOLDER) else { return };
    let (database, kept) = (Path::new(&dir).join("calls.db"), Path::new(&dir).join("request.json"));
    let auditor = Auditor::builder(SqliteSink::open(&database).unwrap()).durable(true).start().unwrap();
    let toolbox = Toolbox::builder(&Registry::new(toolset![pay]).unwrap())
        .middleware(asks)
        .layer(auditor)
        .approval_key(b"a key of thirty-two random bytes")
        .approval_store(Approvals::on(SqliteStore::open(&database).unwrap()))
        .build()
        .unwrap();
    let turn = Turn::new("turn");
    let Ok(stored) = std::fs::read_to_string(&kept) else {
        let response = toolbox.run(ToolCall::new("c1", "pay", json!({"to": "Ada"})), &turn).await;
        let Err(ToolError::ApprovalRequired(request)) = response.outcome else { panic!("it waits") };
        // The call is granted, but the process is killed before it runs.
        std::fs::write(&kept, serde_json::to_string(&request).unwrap()).unwrap();
        say("granted");
        return std::future::pending::<()>().await;
    };
    let request: ApprovalRequest = serde_json::from_str(&stored).unwrap();
    let response = toolbox.resume(request.approved_by("Eve"), &turn).await;
    say(response.outcome.unwrap_err().code());
    std::future::pending::<()>().await;
}

/// Runs the child until it prints a line, kills it, and returns the line.
fn killed(dir: &Path) -> String {
    Process::start("audit::approvals::child_process", &[(FOLDER, &dir)]).next().unwrap()
}

#[test]
fn granted_call_runs_once_despite_kills() {
    let file = Scratch::new("calls.db");
    let dir = file.0.parent().unwrap();
    let messages: Vec<_> = (0..4).map(|_| killed(dir)).collect();
    assert_eq!(messages, ["granted", "ran", "APPROVAL_USED", "APPROVAL_USED"]);
    assert_eq!(std::fs::read_to_string(dir.join("effects")).unwrap(), "paid Ada\n");
    // The audit log shows it as well.
    SqliteSink::open(&file.0).unwrap().recover().unwrap();
    let database = Connection::open(&file.0).unwrap();
    let mut rows = database.prepare("SELECT status, approved_by FROM tool_executions ORDER BY id").unwrap();
    let rows = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let rows: Vec<(String, Option<String>)> = rows.map(Result::unwrap).collect();
    let rows: Vec<_> = rows.iter().map(|(status, by)| (status.as_str(), by.as_deref())).collect();
    assert_eq!(rows[..2], [("refused", None), ("unknown", Some("Eve"))]);
    // The outcomes of the other calls were reported, but perhaps not on disk when the process was killed.
    let is_late =
        |row: &(&str, Option<&str>)| [("error", Some("Eve")), ("unknown", Some("Eve"))].contains(row);
    assert!(rows.len() == 4 && rows[2..].iter().all(is_late), "{rows:?}");
}
