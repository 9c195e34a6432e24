//! Tests of several processes and one call: it runs once, even if processes are killed.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use toolgen_test_support::processes::{Process, say};

use crate::prelude::*;
use crate::shared::Scratch;

/// The directory of a child process, and its task.
const FOLDER: &str = "TOOLGEN_APPROVAL_QUEUE_TEST_FOLDER";
const TASK: &str = "TOOLGEN_APPROVAL_QUEUE_TEST_TASK";

/// Maximum time that a worker waits for work.
const LONG: Duration = Duration::from_secs(60);

/// Has an external effect, and does not return if the process is to be killed during the call.
#[tool(undocumented, timeout = "none")]
async fn transfer(to: &str) -> String {
    let effects = PathBuf::from(std::env::var_os(FOLDER).unwrap()).join("effects");
    let mut effects = OpenOptions::new().create(true).append(true).open(effects).unwrap();
    writeln!(effects, "paid {to}").unwrap();
    effects.sync_all().unwrap();
    if task() == "killed in the tool" {
        say("ran");
        std::future::pending::<()>().await;
    }
    format!("paid {to}")
}

/// Requires approval, and does not return if the process is to be killed before the tool runs.
struct Asks;

impl Middleware for Asks {
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        Box::pin(async {
            if request.approved() && task() == "killed before the tool" {
                say("claimed");
                std::future::pending::<()>().await;
            }
            MiddlewareDecision::NeedApproval("It costs money.".to_owned())
        })
    }
}

fn task() -> String {
    std::env::var(TASK).unwrap_or_default()
}

fn toolbox(database: &Path) -> (Toolbox, Approvals) {
    let mut approvals = Approvals::on(SqliteStore::open(database).unwrap());
    if task() == "impatient" {
        approvals = approvals.with_claim_expiry(Duration::ZERO);
    }
    let toolbox = Toolbox::builder(&Registry::new(toolset![transfer]).unwrap())
        .middleware(Asks)
        .callback_timeout(LONG)
        .approval_key(b"a key of thirty-two random bytes")
        .approval_queue(approvals.clone().with_worker(std::process::id().to_string()))
        .build()
        .unwrap();
    (toolbox, approvals)
}

/// Not a test: the code of the worker processes. Each runs the decided calls, as a worker that waits for work would,
/// until no call is left, and prints what it has done.
#[tokio::test]
async fn child_process() {
    let Some(dir) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let (toolbox, approvals) = toolbox(&dir.join("calls.db"));
    say("ready");
    let began = Instant::now();
    while !dir.join("go").exists() {
        assert!(began.elapsed() < LONG, "the test does not continue");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let mut done = Vec::new();
    let open = [ApprovalState::Waiting, ApprovalState::Granted, ApprovalState::Denied];
    while began.elapsed() < LONG {
        for entry in approvals.decided().await.unwrap() {
            let turn = Turn::new("turn");
            match toolbox.resume_decided(&entry.id, &turn).await {
                Ok(Some(response)) => done.push(response.text()),
                Ok(None) => {}
                Err(error) => done.push(error.to_string()),
            }
        }
        if approvals.list(&open).await.unwrap().is_empty() {
            break;
        }
    }
    say(format!("done {}", done.join(", ")));
}

/// Starts a worker.
fn start(dir: &Path, task: &str) -> Process {
    Process::start("approvals::processes::child_process", &[(FOLDER, &dir), (TASK, &task)])
}

/// Starts a worker and returns its output.
fn done(dir: &Path, task: &str) -> String {
    let mut worker = start(dir, task);
    assert_eq!(worker.next().unwrap(), "ready");
    worker.next().unwrap()
}

/// Makes a call that waits for approval, and grants it.
async fn granted(scratch: &Scratch) -> (Approvals, String) {
    let (toolbox, approvals) = toolbox(&scratch.database());
    let call = ToolCall::new("c1", "transfer", json!({"to": "Ada"}));
    let response = toolbox.run(call, &Turn::new("turn")).await;
    let Err(ToolError::ApprovalRequired(request)) = response.outcome else { panic!("it waits") };
    approvals.grant(request.queue_id(), "Eve", "").await.unwrap();
    (approvals, request.queue_id().to_owned())
}

async fn state(approvals: &Approvals, id: &str) -> ApprovalState {
    approvals.get(id).await.unwrap().unwrap().state
}

fn effects(dir: &Path) -> String {
    fs::read_to_string(dir.join("effects")).unwrap_or_default()
}

/// Starts sixteen processes that look for the same work concurrently.
async fn race(task: &str) {
    let scratch = Scratch::new();
    let dir = scratch.folder();
    let (approvals, id) = granted(&scratch).await;
    let mut workers: Vec<Process> = (0..16).map(|_| start(dir, task)).collect();
    for worker in &mut workers {
        assert_eq!(worker.next().unwrap(), "ready");
    }
    fs::write(dir.join("go"), "").unwrap();
    let mut messages: Vec<String> = workers.iter_mut().map(|worker| worker.next().unwrap()).collect();
    messages.retain(|text| text != "done ");
    assert_eq!(messages, ["done paid Ada"], "{task}");
    assert_eq!(effects(dir), "paid Ada\n", "{task}");
    assert_eq!(state(&approvals, &id).await, ApprovalState::Finished, "{task}");
}

#[tokio::test]
async fn one_of_sixteen_processes_runs_a_granted_call() {
    race("").await;
}

#[tokio::test]
async fn one_process_runs_a_call_despite_stolen_claims() {
    race("impatient").await;
}

#[tokio::test]
async fn worker_killed_before_the_tool_loses_nothing() {
    let scratch = Scratch::new();
    let dir = scratch.folder();
    fs::write(dir.join("go"), "").unwrap();
    let (approvals, id) = granted(&scratch).await;
    assert_eq!(done(dir, "killed before the tool"), "claimed");
    assert_eq!(state(&approvals, &id).await, ApprovalState::Claimed);
    // Other workers wait for a while, because the first may only be slow.
    assert_eq!(done(dir, ""), "done ");
    assert_eq!(effects(dir), "");
    assert_eq!(done(dir, "impatient"), "done paid Ada");
    assert_eq!(effects(dir), "paid Ada\n");
    assert_eq!(state(&approvals, &id).await, ApprovalState::Finished);
}

#[tokio::test]
async fn call_of_a_worker_killed_in_the_tool_never_reruns() {
    let scratch = Scratch::new();
    let dir = scratch.folder();
    fs::write(dir.join("go"), "").unwrap();
    let (approvals, id) = granted(&scratch).await;
    let mut worker = start(dir, "killed in the tool");
    assert_eq!((worker.next().unwrap(), worker.next().unwrap()), ("ready".to_owned(), "ran".to_owned()));
    let process = worker.id().to_string();
    drop(worker);
    for task in ["", "impatient"] {
        assert_eq!(done(dir, task), "done ");
    }
    assert_eq!(effects(dir), "paid Ada\n");
    let left = approvals.get(&id).await.unwrap().unwrap();
    assert_eq!((left.state, left.outcome), (ApprovalState::Started, None));
    assert_eq!(left.claim.unwrap().worker.as_str(), process);
}
