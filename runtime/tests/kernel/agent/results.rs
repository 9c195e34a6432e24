//! Results of sub-agents.

use super::{By, SubAgentTool, call, call_in, look_up, says, toolbox, turn, watched};
use crate::prelude::*;

#[tokio::test]
async fn text_of_the_sub_agent_is_the_result() {
    let result = call(says("all is well")).await.outcome.unwrap();
    assert_eq!(result.to_text(), "all is well");
    assert_eq!(result.details, json!({"sub_agent": "helper", "turns": 0}));
    assert_eq!(result.child_loop_id.as_deref(), Some("s-1.sub.1"));
}

#[tokio::test]
async fn sub_agent_without_text_returns_a_placeholder() {
    for text in ["", " \n"] {
        assert_eq!(call(says(text)).await.text(), "(sub-agent produced no text output)");
    }
}

#[tokio::test]
async fn turns_are_counted() {
    let runner = By(|_, monitor: AgentMonitor| async move {
        for _ in 0..3 {
            monitor.begin_turn()?;
        }
        Ok("done".to_owned())
    });
    let result = call(SubAgentTool::builder("helper", runner)).await.outcome.unwrap();
    assert_eq!(result.details["turns"], 3);
}

#[tokio::test]
async fn loops_are_numbered_within_their_session() {
    let toolbox = toolbox(says("x"));
    let id = async |turn: &Turn| {
        call_in(&toolbox, json!({"task": "x"}), turn).await.outcome.unwrap().child_loop_id.unwrap()
    };
    let (first, second) = (turn(), Turn::new("turn").with_session(Session::new("s-2")));
    assert_eq!(
        [id(&first).await, id(&first).await, id(&second).await],
        ["s-1.sub.1", "s-1.sub.2", "s-2.sub.1"]
    );
    // Callers without a session do not share one.
    assert_eq!(id(&Turn::new("turn")).await, "c1.sub.1");
}

#[tokio::test]
async fn runner_has_its_own_session_and_loop_id() {
    let runner = By(|task: AgentTask, _| async move {
        let session = task.turn.session().map(Session::id).unwrap_or_default().to_owned();
        let agent = task.turn.agent_id().unwrap_or_default().to_owned();
        Ok(format!("{} {} {session} {agent}", task.name, task.loop_id))
    });
    let text = call(SubAgentTool::builder("helper", runner)).await.text();
    assert_eq!(text, "helper s-1.sub.1 s-1.sub.1 helper");
}

#[tokio::test]
async fn text_and_calls_are_forwarded_immediately() {
    let runner = By(|_, monitor: AgentMonitor| async move {
        monitor.text("Let me ");
        monitor.text("");
        monitor.text("look.");
        monitor.report_call("look_up");
        Ok("42".to_owned())
    });
    let (turn, seen) = watched(turn());
    let response =
        call_in(&toolbox(SubAgentTool::builder("helper", runner)), json!({"task": "x"}), &turn).await;
    assert_eq!(response.text(), "42");
    assert_eq!(*seen.lock().unwrap(), ["Let me ", "look.", "[sub-agent calling tool: look_up]"]);
}

#[tokio::test]
async fn failed_sub_agent_returns_an_error_with_its_code() {
    let cases = [
        (
            AgentFailure::Aborted("no budget".to_owned()),
            "Sub-agent 'helper' was aborted: no budget",
            "AGENT_ABORTED",
        ),
        (AgentFailure::Looped, "Sub-agent 'helper' was stopped because it went in circles", "AGENT_LOOPED"),
        (AgentFailure::MaxTurns(10), "Sub-agent 'helper' reached its limit of 10 turns", "AGENT_LIMIT"),
        (AgentFailure::MaxTokens(5), "Sub-agent 'helper' reached its limit of 5 tokens", "AGENT_LIMIT"),
        (
            AgentFailure::Failed("no model".to_owned()),
            "Sub-agent 'helper' failed: no model",
            "EXECUTION_ERROR",
        ),
        (AgentFailure::Cancelled, "Cancelled", "CANCELLED"),
    ];
    for (failure, text, code) in cases {
        let runner = By(move |_, _| {
            let failure = failure.clone();
            async move { Err(failure) }
        });
        let error = call(SubAgentTool::builder("helper", runner)).await.outcome.unwrap_err();
        assert_eq!((error.to_string().as_str(), error.code()), (text, code));
    }
}

#[tokio::test]
async fn panicking_runner_shows_the_model_no_message() {
    let runner = By(|_, _| async { panic!("secret") });
    let error = call(SubAgentTool::builder("helper", runner)).await.outcome.unwrap_err();
    assert_eq!((error.to_string().as_str(), error.code()), ("tool panicked", "EXECUTION_ERROR"));
    // Operators find it in their records.
    let message = error.operator_text();
    assert!(
        message.starts_with("tool panicked: secret (at ") && message.contains(&format!("{}:", file!())),
        "{message}"
    );
}

#[tokio::test]
async fn sub_agents_run_concurrently() {
    let gate = Arc::new(tokio::sync::Barrier::new(2));
    let runner = By(move |task: AgentTask, _| {
        let gate = gate.clone();
        async move {
            gate.wait().await;
            Ok(task.task)
        }
    });
    let (toolbox, turn) = (toolbox(SubAgentTool::builder("helper", runner)), turn());
    let (one, two) = tokio::join!(
        call_in(&toolbox, json!({"task": "one"}), &turn),
        call_in(&toolbox, json!({"task": "two"}), &turn)
    );
    assert_eq!((one.text().as_str(), two.text().as_str()), ("one", "two"));
    let ids = [one, two].map(|response| response.outcome.unwrap().child_loop_id.unwrap());
    assert_eq!(ids, ["s-1.sub.1", "s-1.sub.2"]);
}

#[tokio::test]
async fn context_kept_by_a_runner_is_closed_afterwards() {
    let kept = Arc::new(Mutex::new(None));
    let leaks = kept.clone();
    let runner = By(move |task: AgentTask, _| {
        *leaks.lock().unwrap() = Some(task.turn.with_cancel(CancellationToken::new()));
        async { Ok("done".to_owned()) }
    });
    let helper = SubAgentTool::builder("helper", runner).build().unwrap();
    let registry = Registry::builder().add(helper).add_all(toolset![look_up]).seal().unwrap();
    let toolbox = Toolbox::builder(&registry).build().unwrap();
    assert_eq!(call_in(&toolbox, json!({"task": "do it"}), &turn()).await.text(), "done");
    let left = kept.lock().unwrap().take().unwrap();
    let error = left.call_context("c2", "helper").call("look_up", json!({"what": "it"})).await.unwrap_err();
    assert_eq!(error.code(), "CALL_ENDED");
}
