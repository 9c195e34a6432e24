//! Tests of several processes and one store: nothing is lost, and nothing happens twice, even if processes are
//! killed.

use std::io::Write as _;

use toolgen_runtime::layers::breaker::BreakerState;
use toolgen_runtime::layers::rate::WindowLimit;
use toolgen_test_support::processes::{Process, say, wait_for_others};

use super::breaker::{started, until};
use super::rate::burst;
use super::sessions::sessions;
use super::{Home, at, shared_homes};
use crate::prelude::*;

/// The location of the store, the task of another process, and its argument.
const PLACE: &str = "TOOLGEN_STORE_TEST_PLACE";
const TASK: &str = "TOOLGEN_STORE_TEST_TASK";
const GIVEN: &str = "TOOLGEN_STORE_TEST_GIVEN";

const HOUR: Duration = Duration::from_secs(3600);

/// Starts other processes with a task.
fn others(count: usize, home: &Home, task: &str, given: &str) -> Vec<Process> {
    let location = home.place().unwrap();
    let start = || {
        Process::start(
            "shared::processes::child_process",
            &[(PLACE, &location), (TASK, &task), (GIVEN, &given)],
        )
    };
    (0..count).map(|_| start()).collect()
}

/// Starts the task in all processes at once, and returns their output.
fn said(mut others: Vec<Process>) -> Vec<String> {
    others.iter_mut().for_each(Process::begin);
    let messages = others.iter_mut().flat_map(|other| other.collect::<Vec<_>>()).collect();
    assert!(others.iter_mut().all(Process::succeeded));
    messages
}

/// Not a test: the code of the other processes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_process() {
    let Some(location) = std::env::var_os(PLACE) else { return };
    let store = at(location.to_str().unwrap());
    // Connects to the store.
    store.get("t", "t").await.unwrap();
    let given = std::env::var(GIVEN).unwrap();
    match std::env::var(TASK).unwrap().as_str() {
        "count" => count(store).await,
        "resume" => resume(store, &given).await,
        "write" => write(store, &given).await,
        "watch" => watch(store).await,
        task => panic!("{task}"),
    }
}

/// Makes 100 calls of two tools, 4 concurrently.
async fn count(store: Arc<dyn Store>) {
    let limit = WindowLimit::new().with_window(HOUR).with_per_tool(75).with_per_principal(110);
    let limit = Arc::new(limit.shared(store));
    wait_for_others();
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..4 {
        let (limit, tool) = (Arc::clone(&limit), if number % 2 == 0 { "x" } else { "y" });
        tasks.spawn(async move { (tool, burst(&*limit, &Principal::new("ada"), tool, 25).await) });
    }
    let passed = tasks.join_all().await;
    let of = |tool| passed.iter().filter(|(of, _)| *of == tool).map(|(_, passed)| passed).sum::<usize>();
    say(format!("{} {}", of("x"), of("y")));
}

#[test]
fn limits_are_exact_across_processes() {
    for home in shared_homes() {
        let messages = said(others(3, &home, "count", ""));
        assert_eq!(messages.len(), 3, "{messages:?}");
        let numbers = |at: usize| messages.iter().map(move |line| line.split(' ').nth(at).unwrap());
        let sum = |at: usize| numbers(at).map(|number| number.parse::<usize>().unwrap()).sum::<usize>();
        // 150 calls of each tool, of which 75 are allowed, and 110 of all calls.
        let (x, y) = (sum(0), sum(1));
        assert_eq!(x + y, 110, "{}: {messages:?}", home.name());
        assert!(x <= 75 && y <= 75, "{}: {messages:?}", home.name());
    }
}

/// Has an effect that can be counted: a line in a file.
#[tool(undocumented)]
fn pay(to: &str) -> String {
    let mut effects = OpenOptions::new().create(true).append(true).open(to).unwrap();
    writeln!(effects, "paid").unwrap();
    "paid".to_owned()
}

fn toolbox(store: Arc<dyn Store>) -> Toolbox {
    Toolbox::builder(&Registry::new(toolset![pay]).unwrap())
        .middleware(|_: &ToolRequest<'_>| MiddlewareDecision::NeedApproval("It costs money.".to_owned()))
        .approval_key(b"a key of thirty-two random bytes")
        .approval_store(Approvals::on(store))
        .build()
        .unwrap()
}

fn turn() -> Turn {
    Turn::new("turn")
}

/// Resumes the request in `given`, four times concurrently.
async fn resume(store: Arc<dyn Store>, given: &str) {
    let request: ApprovalRequest = serde_json::from_str(given).unwrap();
    let toolbox = toolbox(store);
    wait_for_others();
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let (toolbox, request) = (toolbox.clone(), request.clone());
        workers.spawn(async move { toolbox.resume(request.approved_by("Eve"), &turn()).await.outcome });
    }
    for outcome in workers.join_all().await {
        match outcome {
            Ok(result) => say(result.to_text()),
            Err(error) => say(error.code()),
        }
    }
}

#[tokio::test]
async fn one_of_sixteen_workers_runs_a_granted_call() {
    for home in shared_homes() {
        let scratch = super::Scratch::new();
        let effects = scratch.folder().join("effects");
        let call = ToolCall::new("c", "pay", json!({"to": effects.to_str().unwrap()}));
        let outcome = toolbox(home.open()).run(call, &turn()).await.outcome;
        let Err(ToolError::ApprovalRequired(request)) = outcome else { panic!("it waits: {outcome:?}") };
        let messages = said(others(4, &home, "resume", &serde_json::to_string(&request).unwrap()));
        let name = home.name();
        assert_eq!(messages.len(), 16, "{name}: {messages:?}");
        assert_eq!(messages.iter().filter(|text| *text == "paid").count(), 1, "{name}: {messages:?}");
        assert_eq!(
            messages.iter().filter(|text| *text == "APPROVAL_USED").count(),
            15,
            "{name}: {messages:?}"
        );
        assert_eq!(std::fs::read_to_string(&effects).unwrap(), "paid\n", "{name}");
    }
}

/// Writes its session repeatedly, and prints what is certainly stored, until it is killed or done.
async fn write(store: Arc<dyn Store>, given: &str) {
    let session = sessions(store).open("s");
    let process = std::process::id();
    wait_for_others();
    for round in 0..given.parse().unwrap() {
        session.set(format!("{process}-{round}"), round);
        session.record_success(format!("tool_{process}"));
        session.save().await.unwrap();
        say(format!("{process}-{round}"));
    }
}

#[tokio::test]
async fn stored_data_survives_a_killed_process() {
    for home in shared_homes() {
        let name = home.name();
        let mut killed = others(2, &home, "write", "100000");
        let going_on = others(2, &home, "write", "15");
        killed.iter_mut().for_each(Process::begin);
        let mut stored = Vec::new();
        for process in &mut killed {
            stored.extend(process.take(5));
        }
        killed.iter_mut().for_each(Process::kill);
        stored.extend(said(going_on));
        for process in &mut killed {
            stored.extend(process);
        }
        assert!(stored.len() >= 40, "{name}: {stored:?}");
        let all = sessions(home.open()).open("s");
        all.refresh().await.unwrap();
        for key in stored {
            assert!(all.get(&key).is_some(), "{name}: {key}");
        }
        assert_eq!(all.called().len(), 4, "{name}");
    }
}

/// Waits for a circuit to open, and to close.
async fn watch(store: Arc<dyn Store>) {
    let breaker = started(store, HOUR, OnFailure::Degrade);
    wait_for_others();
    say("ready");
    until(&breaker, BreakerState::Open).await;
    say("open");
    until(&breaker, BreakerState::Closed).await;
    say("closed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn circuit_opens_and_closes_in_all_processes() {
    for home in shared_homes() {
        let mut others = others(2, &home, "watch", "");
        let breaker = started(home.open(), HOUR, OnFailure::Degrade);
        others.iter_mut().for_each(Process::begin);
        let mut all_say = |what: &str| {
            for other in &mut others {
                assert_eq!(other.next().as_deref(), Some(what), "{}", home.name());
            }
        };
        all_say("ready");
        for _ in 0..2 {
            breaker.admit("db").unwrap().failure();
        }
        all_say("open");
        breaker.reset("db");
        all_say("closed");
    }
}
