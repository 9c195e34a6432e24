//! Requirements on earlier calls, if the program set no session.

use super::{probe, registry};
use crate::prelude::*;

fn toolbox() -> Toolbox {
    let tools = registry([probe("start", []), probe("go", [Requirement::tool("start")])]);
    tools.toolbox(Default::default())
}

fn turn() -> Turn {
    Turn::new("turn").with_agent_id("agent-1")
}

async fn dispatched(toolbox: &Toolbox, names: &[&str], turn: &Turn) -> Vec<bool> {
    let calls = names.iter().map(|name| ToolCall::new("c1", *name, json!({}))).collect();
    let replies = toolbox.dispatch(calls, turn, &DispatchOptions::new()).await.responses;
    replies.iter().map(|response| !response.is_error()).collect()
}

const MISSING: &str = "Cannot execute 'go': prerequisites not met.\n\nMissing:\n\
    - Tool 'start' must be called first\n\nSuggested order:\n  1. start\n\n\
    Calls of earlier turns are not known here, because no session outlasts the turn. \
    The program must give the context of its turns a session, with `Turn::with_session`.";

#[tokio::test]
async fn single_call_reports_that_it_has_no_session() {
    let toolbox = toolbox();
    let turn = turn();
    let call = |name| toolbox.run(ToolCall::new("c1", name, json!({})), &turn);
    assert_eq!(call("start").await.text(), "done");
    let refused = call("go").await;
    assert_eq!(refused.text(), MISSING);
    let Err(error) = refused.outcome else { panic!("it was refused") };
    assert_eq!(error.operator_text(), MISSING);
    let read: ToolError = serde_json::from_value(serde_json::to_value(&error).unwrap()).unwrap();
    assert_eq!(read, error);
}

#[tokio::test]
async fn calls_of_a_turn_share_a_session() {
    let toolbox = toolbox();
    assert_eq!(dispatched(&toolbox, &["start", "go"], &turn()).await, [true, true]);
    let stranger = turn().with_principal(Principal::new("p").with_scopes(["write"]));
    for turn in [turn(), stranger] {
        assert_eq!(dispatched(&toolbox, &["go"], &turn).await, [false]);
    }
    let calls = vec![ToolCall::new("c1", "go", json!({}))];
    let refused = toolbox.dispatch(calls, &turn(), &DispatchOptions::new()).await.responses.remove(0);
    assert_eq!(refused.text(), MISSING);
    // A session of the program outlives the turn.
    let lasting = turn().with_session(Session::new("s"));
    assert_eq!(dispatched(&toolbox, &["start"], &lasting).await, [true]);
    assert_eq!(dispatched(&toolbox, &["go"], &lasting).await, [true]);
}
