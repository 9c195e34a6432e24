//! Tests of the results of a replay, and of the layers that still apply.

use toolgen_runtime::replay_test;

use super::{builder, call, called, dispatch, recorded, replaying, turn, world};
use crate::prelude::*;

/// Makes calls with every kind of outcome.
async fn program(toolbox: &Toolbox) -> Vec<ToolResponse> {
    let mut responses = vec![call(toolbox, "find_orders", json!({"customer": "ada"})).await];
    responses.extend(
        dispatch(
            toolbox,
            vec![
                called("refund", json!({"order": 7, "cents": 5})),
                called("refund", json!({"order": 13, "cents": 5})),
                called("picture", json!({})),
            ],
        )
        .await,
    );
    responses.push(call(toolbox, "refund_all", json!({"customer": "bob"})).await);
    responses.push(call(toolbox, "refund", json!({"order": "x"})).await);
    responses.push(call(toolbox, "refnd", json!({"order": 1})).await);
    responses
}

#[tokio::test]
async fn replay_returns_recorded_results_without_running_tools() {
    let mut first = Vec::new();
    let run = recorded(async |toolbox| first = program(toolbox).await).await;
    let asked = world::asked();
    assert_eq!(asked, 7);
    let (replay, toolbox) = replaying(&run);
    let again = program(&toolbox).await;
    assert_eq!(replay.finish(), Ok(()));
    assert_eq!(world::asked(), asked);
    for (first, again) in first.iter().zip(&again) {
        assert_eq!(first.text(), again.text());
        assert_eq!(first.outcome, again.outcome, "{}", first.name);
    }
}

#[tokio::test]
async fn run_file_snapshot() {
    let run = recorded(async |toolbox| {
        dispatch(
            toolbox,
            vec![
                called("refund_all", json!({"customer": "ada"})),
                called("refund", json!({"order": 13, "cents": 5})),
            ],
        )
        .await;
        call(toolbox, "login", json!({"user": "me", "pin": "hunter2"})).await;
        call(toolbox, "refund", json!({"order": 7})).await;
    })
    .await;
    let text = run.text();
    assert!(!text.contains("hunter2"));
    let lines: Vec<String> = run
        .calls()
        .iter()
        .map(|call| {
            format!(
                "{} in {:?}, {}: {} {}",
                call.group,
                call.inside,
                call.tool,
                call.arguments,
                call.outcome.kind()
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            r#"1 in None, refund_all: {"customer":"ada"} result"#,
            r#"2 in Some(1), find_orders: {"customer":"ada"} result"#,
            r#"3 in Some(1), refund: {"order":7,"cents":100} result"#,
            r#"4 in Some(1), refund: {"order":9,"cents":100} result"#,
            r#"1 in None, refund: {"order":13,"cents":5} error"#,
            r#"5 in None, login: {"user":"me","pin":"[REDACTED]"} result"#,
            r#"6 in None, refund: {"order":7} refused"#,
        ]
    );
}

#[tokio::test]
async fn calls_of_one_turn_replay_in_any_order() {
    let calls = || {
        vec![
            called("find_orders", json!({"customer": "ada"})),
            called("refund", json!({"order": 1, "cents": 2})),
        ]
    };
    let run = recorded(async |toolbox| drop(dispatch(toolbox, calls()).await)).await;
    for order in [[0, 1], [1, 0]] {
        let (replay, toolbox) = replaying(&run);
        for index in order {
            toolbox.run(calls().remove(index), &turn()).await;
        }
        replay.finish().unwrap();
    }
}

#[tokio::test]
async fn masked_argument_matches_anything_and_is_not_shown() {
    let run = recorded(async |toolbox| {
        call(toolbox, "login", json!({"user": "me", "pin": "hunter2"})).await;
    })
    .await;
    let (replay, toolbox) = replaying(&run);
    assert_eq!(
        call(&toolbox, "login", json!({"user": "me", "pin": "swordfish"})).await.text(),
        "welcome me, 7"
    );
    replay.finish().unwrap();
    let (replay, toolbox) = replaying(&run);
    let response = call(&toolbox, "login", json!({"user": "you", "pin": "swordfish"})).await;
    let message = format!("{}{}", response.text(), replay.finish().unwrap_err());
    assert!(
        message.contains(r#"/user: expected "me", found "you""#) && !message.contains("swordfish"),
        "{message}"
    );
}

/// Requires approval for refunds.
struct Ask;

impl Middleware for Ask {
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        let asks = request.spec.name.as_str() == "refund";
        let decision = if asks {
            MiddlewareDecision::NeedApproval("It is money.".to_owned())
        } else {
            MiddlewareDecision::Allow
        };
        Box::pin(std::future::ready(decision))
    }
}

#[tokio::test]
async fn layers_run_during_replay_and_their_decisions_are_compared() {
    let arguments = || json!({"order": 7, "cents": 5});
    let free = recorded(async |toolbox| drop(call(toolbox, "refund", arguments()).await)).await;
    let replay = Replay::of(free);
    let toolbox = builder().middleware(Ask).layer(replay.clone()).build().unwrap();
    let response = call(&toolbox, "refund", arguments()).await;
    assert_eq!(response.outcome.unwrap_err().code(), "APPROVAL_REQUIRED");
    let reason = replay.finish().unwrap_err().to_string();
    assert!(
        reason.contains("- expected it ran: a result")
            && reason.contains("+ found    refused with APPROVAL_REQUIRED"),
        "{reason}"
    );
}

#[tokio::test]
async fn approved_call_is_resumed_during_replay() {
    use toolgen_runtime::layers::audit::{Auditor, MemorySink};
    use toolgen_runtime::testing::replay::{RecordedRun, RunSelection};

    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let toolbox = builder().middleware(Ask).layer(auditor.clone()).build().unwrap();
    let waits = call(&toolbox, "refund", json!({"order": 7, "cents": 5})).await;
    let Err(ToolError::ApprovalRequired(request)) = waits.outcome else { panic!("{waits:?}") };
    toolbox.resume(*request, &turn()).await;
    auditor.shutdown().await;
    let run = RecordedRun::from_memory(&sink, &RunSelection::new()).unwrap();
    assert_eq!(run.calls().len(), 2);

    let replay = Replay::of(run);
    let toolbox = builder().middleware(Ask).layer(replay.clone()).build().unwrap();
    assert_eq!(replay.rerun_in(&toolbox, &turn()).await, Ok(()));
    // Without the middleware, no approval is requested.
    let replay = replay.restarted();
    let reason =
        replay.rerun_in(&builder().layer(replay.clone()).build().unwrap(), &turn()).await.unwrap_err();
    assert!(reason.to_string().contains("+ found    it ran"), "{reason}");
}

#[tokio::test]
async fn denied_call_is_denied_during_replay() {
    use toolgen_runtime::layers::approval::Approvals;
    use toolgen_runtime::layers::audit::{Auditor, MemorySink};
    use toolgen_runtime::store::MemoryStore;
    use toolgen_runtime::testing::replay::{RecordedRun, RunSelection};

    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let approvals = Approvals::on(MemoryStore::new());
    let toolbox = builder().middleware(Ask).approval_queue(approvals.clone());
    let toolbox = toolbox.layer(auditor.clone()).build().unwrap();
    let waits = call(&toolbox, "refund", json!({"order": 7, "cents": 5})).await;
    let Err(ToolError::ApprovalRequired(request)) = waits.outcome else { panic!("{waits:?}") };
    approvals.deny(request.queue_id(), "Grace", "Too much.").await.unwrap();
    toolbox.resume_decided(request.queue_id(), &turn()).await.unwrap().unwrap();
    auditor.shutdown().await;
    let run = RecordedRun::from_memory(&sink, &RunSelection::new()).unwrap();
    assert_eq!(run.calls().len(), 2);

    let replay = Replay::of(run);
    let toolbox = builder().middleware(Ask).layer(replay.clone()).build().unwrap();
    assert_eq!(replay.rerun_in(&toolbox, &turn()).await, Ok(()));
}

/// Sends a letter.
#[tool(undocumented)]
fn send_letter(to: &str, #[arg(default = "Hello")] subject: String) -> String {
    world::ask();
    format!("{subject}, {to}")
}

/// Requires approval for letters.
fn ask_first(_: &ToolRequest<'_>) -> MiddlewareDecision {
    MiddlewareDecision::NeedApproval("It is sent.".to_owned())
}

/// The approver grace, who does not allow letters to everybody and must not be asked twice.
fn grace(request: &ApprovalRequest, _: &ToolContext) -> Approval {
    match request.arguments["to"].as_str() {
        Some("ada") => Approval::ApprovedBy("Grace".into()),
        Some("bob") => Approval::Approved,
        Some("eve") => Approval::Rejected("Not to her.".to_owned()),
        _ => Approval::Later,
    }
}

/// An approver that must not be asked.
fn nobody(_: &ApprovalRequest, _: &ToolContext) -> Approval {
    panic!("the approver is asked")
}

#[tokio::test]
async fn recorded_decisions_of_people_are_replayed() {
    use toolgen_runtime::layers::audit::{Auditor, MemorySink};
    use toolgen_runtime::testing::replay::{RecordedRun, RunSelection};

    let letters = || Toolbox::builder(&Registry::new(toolset![send_letter]).unwrap()).middleware(ask_first);
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let toolbox = letters().approver(grace).layer(auditor.clone()).build().unwrap();
    let mut outcomes = Vec::new();
    for to in ["ada", "bob", "eve", "zoe"] {
        outcomes.push(call(&toolbox, "send_letter", json!({"to": to})).await.text());
    }
    auditor.shutdown().await;
    let run = RecordedRun::from_memory(&sink, &RunSelection::new()).unwrap();
    let text = run.text();
    assert!(text.contains(r#""approved": "Grace""#) && text.contains(r#""approved": true"#), "{text}");
    assert_eq!(text.matches("approved").count(), 2, "{text}");
    let run = RecordedRun::parse(&text).unwrap();

    // With an approver that must not be asked, and without an approver.
    for approver in [true, false] {
        let replay = Replay::of(run.clone());
        let toolbox = || {
            let toolbox = letters().layer(replay.clone());
            if approver { toolbox.approver(nobody) } else { toolbox }.build().unwrap()
        };
        assert_eq!(replay.rerun_in(&toolbox(), &turn()).await, Ok(()));
        let replay = replay.restarted();
        let toolbox = letters().approver(nobody).layer(replay.clone()).build().unwrap();
        for (to, outcome) in ["ada", "bob", "eve", "zoe"].into_iter().zip(&outcomes) {
            assert_eq!(call(&toolbox, "send_letter", json!({"to": to})).await.text(), *outcome);
        }
        assert_eq!(replay.finish(), Ok(()));
    }
    // Without an approver, that is the difference, and not the defaults.
    let text = text.replace(r#""approved": "Grace","#, "");
    let replay = Replay::of(RecordedRun::parse(&text).unwrap());
    let toolbox = letters().layer(replay.clone()).build().unwrap();
    call(&toolbox, "send_letter", json!({"to": "ada"})).await;
    let reason = replay.finish().unwrap_err().to_string();
    assert!(reason.contains("refused with APPROVAL_REQUIRED") && !reason.contains("/subject"), "{reason}");
}

/// Writes a long text.
#[tool(undocumented)]
fn novel() -> ToolResult {
    world::ask();
    ToolResult::text("once upon a time, ".repeat(2_000))
}

#[tokio::test]
async fn pages_are_replayed() {
    use toolgen_runtime::layers::audit::{Auditor, MemorySink};
    use toolgen_runtime::testing::replay::{RecordedRun, RunSelection};

    let registry = Registry::new(toolset![novel]).unwrap();
    let pages = || Pages::new(ResultLimit::bytes(10_000));
    let sink = MemorySink::new();
    let auditor = Auditor::builder(sink.clone()).start().unwrap();
    let toolbox = Toolbox::builder(&registry).paging(pages()).layer(auditor.clone()).build().unwrap();
    let first = call(&toolbox, "novel", json!({})).await;
    let text = first.text();
    let message = text.split_once("handle").unwrap().1;
    let handle = message.split('"').find(|part| part.len() > 10).unwrap_or(message);
    let reads = json!({"handle": handle, "offset": 10_000});
    let second = call(&toolbox, "read_result", reads.clone()).await;
    assert!(second.outcome.is_ok(), "{second:?}");
    auditor.shutdown().await;

    let replay = Replay::of(RecordedRun::from_memory(&sink, &RunSelection::new()).unwrap());
    let toolbox = Toolbox::builder(&registry).paging(pages()).layer(replay.clone()).build().unwrap();
    assert_eq!(call(&toolbox, "novel", json!({})).await.text(), first.text());
    assert_eq!(call(&toolbox, "read_result", reads).await.text(), second.text());
    replay.finish().unwrap();
    assert_eq!(world::asked(), 1);
}

/// Tells the weather.
#[tool(undocumented)]
fn weather(city: &str) -> String {
    panic!("no test asks for the weather in {city}")
}

replay_test!(
    the_recorded_calls_can_be_made,
    "tests/stores/replay/weather.json",
    Toolbox::builder(&Registry::new(toolset![weather]).unwrap())
);

replay_test!(the_program_makes_the_recorded_calls, "tests/stores/replay/weather.json", |replay| {
    let toolbox = Toolbox::builder(&Registry::new(toolset![weather])?).layer(replay.clone()).build()?;
    assert_eq!(call(&toolbox, "weather", json!({"city": "Ulm"})).await.text(), "It rains in Ulm.");
});

replay_test!(
    #[should_panic(expected = "/city: expected \"Ulm\", found \"Rom\"")]
    a_difference_is_told_rather_than_what_it_leads_to,
    "tests/stores/replay/weather.json",
    |replay| {
        let toolbox = Toolbox::builder(&Registry::new(toolset![weather])?).layer(replay.clone()).build()?;
        assert_eq!(call(&toolbox, "weather", json!({"city": "Rom"})).await.text(), "It rains in Rom.");
    }
);

replay_test!(
    #[should_panic(expected = "cargo toolgen record")]
    a_file_that_is_not_there_says_how_to_make_one,
    "tests/stores/replay/nothing.json",
    |replay| drop(replay)
);
