//! One approval runs once, whoever resumes it.

use std::io::Write as _;
use toolgen_test_support::processes::{say, wait_for_others};

use crate::prelude::*;
use crate::redis::server::Server;
use crate::redis::{GIVEN, URL, others, said, state};

/// Has an effect that can be counted: a line in a file.
#[tool(undocumented)]
fn pay(to: &str) -> String {
    let mut effects = OpenOptions::new().create(true).append(true).open(to).unwrap();
    writeln!(effects, "paid").unwrap();
    "paid".to_owned()
}

fn asks(_: &ToolRequest<'_>) -> Decision {
    Decision::NeedApproval("It costs money.".to_owned())
}

fn provider(state: &RedisState) -> Provider {
    Provider::builder(&Registry::new(toolset![pay]).unwrap())
        .middleware(asks)
        .approval_key(b"a key of thirty-two random bytes")
        .approval_store(state.approvals())
        .build()
        .unwrap()
}

fn turn() -> ToolContext {
    ToolContext::new("turn", "")
}

/// Not a test of its own: a further process that resumes the request it is given, four times at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_process() {
    let Some(url) = std::env::var_os(URL) else { return };
    let request: ApprovalRequest = serde_json::from_str(&std::env::var(GIVEN).unwrap()).unwrap();
    let state = state(url.to_str().unwrap());
    state.ping().await.unwrap();
    let provider = provider(&state);
    wait_for_others();
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let (provider, request) = (provider.clone(), request.clone());
            tokio::spawn(async move { provider.resume(request.approved_by("Eve"), &turn()).await.outcome })
        })
        .collect();
    for worker in workers {
        match worker.await.unwrap() {
            Ok(result) => say(result.to_text()),
            Err(why) => say(why.code()),
        }
    }
}

#[tokio::test]
async fn of_sixteen_workers_in_four_processes_one_runs_what_was_granted() {
    let Some(server) = Server::start() else { return };
    let effects = std::env::temp_dir().join(format!("toolgen-redis-effects-{}", std::process::id()));
    let state = state(&server.url());
    for round in 1..=3 {
        let arguments = json!({"to": effects.to_str().unwrap()});
        let call = ToolCall::new(format!("c{round}"), "pay", arguments);
        let outcome = provider(&state).call(call, &turn()).await.outcome;
        let Err(ToolError::ApprovalRequired(request)) = outcome else { panic!("it waits: {outcome:?}") };
        let request = serde_json::to_string(&request).unwrap();
        let said = said(others(4, "redis::approvals::child_process", &server.url(), &request));
        assert_eq!(said.len(), 16, "{said:?}");
        assert_eq!(said.iter().filter(|said| *said == "paid").count(), 1, "{said:?}");
        assert_eq!(said.iter().filter(|said| *said == "APPROVAL_USED").count(), 15, "{said:?}");
        assert_eq!(std::fs::read_to_string(&effects).unwrap().lines().count(), round);
    }
    std::fs::remove_file(&effects).unwrap();
}

#[tokio::test]
async fn a_name_is_taken_once_and_forgotten_long_after_it_expired() {
    let Some(server) = Server::start() else { return };
    let (one, other) = (state(&server.url()).approvals(), state(&server.url()).approvals());
    let now = SystemTime::now();
    assert!(one.take("n", now + Duration::from_secs(60)).await.unwrap());
    assert!(!other.take("n", now + Duration::from_secs(60)).await.unwrap());
    assert!(other.take("expired", SystemTime::UNIX_EPOCH).await.unwrap());
    assert!(other.take("far", now + Duration::from_secs(100 * 365 * 24 * 60 * 60)).await.unwrap());
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let keys: Vec<String> = redis::cmd("KEYS").arg("tests:*").query_async(&mut connection).await.unwrap();
    assert_eq!(keys.len(), 3);
    for key in keys {
        let left: i64 = redis::cmd("PTTL").arg(&key).query_async(&mut connection).await.unwrap();
        assert!(left > 23 * 60 * 60 * 1000, "{key}: {left} ms");
    }
}
