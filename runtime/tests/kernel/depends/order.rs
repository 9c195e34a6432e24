//! Requirements of required tools.

use super::{check, in_session, missing, probe, registry};
use crate::prelude::*;

async fn suggested(tools: &Registry, name: &str, session: &Session) -> Vec<String> {
    let checked = check(tools, name, json!({}), &in_session(session), &Dependencies::new()).await;
    checked.unwrap_err().suggested_order
}

#[tokio::test]
async fn whole_chain_is_suggested() {
    let tools = registry([
        probe("deploy", [Requirement::tool("test"), Requirement::tool("approve")]),
        probe("approve", [Requirement::tool("plan")]),
        probe("test", [Requirement::tool("build")]),
        probe("build", [Requirement::tool("fetch"), Requirement::tool("notify").optional()]),
        probe("fetch", [Requirement::tool("plan")]),
        probe("plan", []),
        probe("notify", []),
    ]);
    let session = Session::new("s");
    assert_eq!(suggested(&tools, "deploy", &session).await, ["plan", "fetch", "build", "test", "approve"]);
    let error = check(&tools, "deploy", json!({}), &in_session(&session), &Dependencies::new()).await;
    let text = "Cannot execute 'deploy': prerequisites not met.\n\nMissing:\n\
                - Tool 'test' must be called first\n- Tool 'approve' must be called first\n\n\
                Suggested order:\n  1. plan\n  2. fetch\n  3. build\n  4. test\n  5. approve";
    assert_eq!(error.unwrap_err().to_string(), text, "only what the tool itself requires is missing");
}

#[tokio::test]
async fn completed_calls_are_not_suggested() {
    let tools = registry([
        probe("c", [Requirement::tool("b")]),
        probe("b", [Requirement::tool("a")]),
        probe("a", []),
    ]);
    let session = Session::new("s");
    session.record_success("a");
    assert_eq!(suggested(&tools, "c", &session).await, ["b"]);
    session.record_success("b");
    assert!(missing(&tools, "c", &in_session(&session)).await.is_empty());
}

#[tokio::test]
async fn suggested_order_reaches_the_tool() {
    let tools = registry([
        probe("t0", [Requirement::tool("t3"), Requirement::tool("t1")]),
        probe("t1", [Requirement::tool("t2"), Requirement::tool("t5")]),
        probe("t2", [Requirement::tool("t4")]),
        probe("t3", [Requirement::tool("t2"), Requirement::session("never").optional()]),
        probe("t4", []),
        probe("t5", [Requirement::tool("t4")]),
    ]);
    let session = Session::new("s");
    for tool in suggested(&tools, "t0", &session).await {
        assert!(missing(&tools, &tool, &in_session(&session)).await.is_empty(), "{tool}");
        session.record_success(tool);
    }
    assert!(missing(&tools, "t0", &in_session(&session)).await.is_empty());
}

#[tokio::test]
async fn required_tool_still_needs_its_context_and_state() {
    let tools = registry([
        probe("log", [Requirement::tool("start"), Requirement::tool("open")]),
        probe(
            "start",
            [
                Requirement::context("workspace_id").message("Workspace context required"),
                Requirement::session("session_id"),
                Requirement::entity("plan", "plan_slug"),
                Requirement::context("hint").optional(),
            ],
        ),
        probe("open", [Requirement::context("workspace_id")]),
    ]);
    let session = Session::new("s");
    session.record_success("start");
    session.record_success("open");
    let ctx = in_session(&session);
    let error = check(&tools, "log", json!({}), &ctx, &Dependencies::new()).await.unwrap_err();
    let messages: Vec<_> = error.missing.iter().map(|it| (it.tool.as_str(), it.message.as_str())).collect();
    let expected =
        [("start", "Workspace context required"), ("start", "Session state 'session_id' is required")];
    assert_eq!(messages, expected, "each once; what depends on arguments was checked when it was called");
    assert_eq!(error.tool, "log");
    session.set("session_id", "x");
    let ctx = in_session(&session).with_values(ContextValues::default().with_trusted("workspace_id", 1));
    assert!(missing(&tools, "log", &ctx).await.is_empty());
}

#[tokio::test]
async fn expired_call_in_the_chain_is_suggested_again() {
    let tools = registry([
        probe("c", [Requirement::tool("b")]),
        probe("b", [Requirement::tool("a")]),
        probe("a", []),
    ]);
    let session = Session::new("s");
    session.record_success("b");
    assert_eq!(missing(&tools, "c", &in_session(&session)).await, ["a"]);
    assert_eq!(suggested(&tools, "c", &session).await, ["a"]);
}

#[tokio::test]
async fn requirements_of_an_optional_tool_do_not_block() {
    let tools =
        registry([probe("c", [Requirement::tool("b").optional()]), probe("b", [Requirement::context("k")])]);
    let session = Session::new("s");
    session.record_success("b");
    let unmet = check(&tools, "c", json!({}), &in_session(&session), &Dependencies::new()).await.unwrap();
    let messages: Vec<_> = unmet.iter().map(|it| (it.name.as_str(), it.optional)).collect();
    assert_eq!(messages, [("k", true)]);
}

#[tokio::test]
async fn requirement_both_optional_and_required_blocks() {
    let tools = registry([
        probe("c", [Requirement::context("k").optional(), Requirement::tool("b")]),
        probe("b", [Requirement::context("k")]),
    ]);
    let session = Session::new("s");
    session.record_success("b");
    assert_eq!(missing(&tools, "c", &in_session(&session)).await, ["k"]);
}

#[tokio::test]
async fn long_chain_does_not_overflow() {
    let mut probes: Vec<_> =
        (0..5_000).map(|i| probe(&format!("t{i}"), [Requirement::tool(format!("t{}", i + 1))])).collect();
    probes.push(probe("t5000", []));
    let tools = probes.into_iter().map(Arc::new);
    let tools = Registry::new(tools).unwrap();
    let session = Session::new("s");
    let order = suggested(&tools, "t0", &session).await;
    assert_eq!((order.len(), order[0].as_str(), order[4999].as_str()), (5_000, "t5000", "t1"));
    let nobody = Turn::new("1");
    assert_eq!(missing(&tools, "t0", &nobody).await, ["t1"]);
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config {
        failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..Default::default()
    })]

    /// For any requirements between tools, and any earlier calls, even calls that lapsed in between.
    #[test]
    fn suggested_order_always_reaches_the_tool(edges in 0_u64.., called: u16, states: u16) {
        let tools = (0..10).map(|from| {
            // A tool requires only later ones, so there is no cycle.
            let to = (from + 1..10).filter(|to| (edges >> ((from * 5 + to * 3) % 60)) & 1 == 1);
            let mut requires: Vec<_> = to.map(|to| Requirement::tool(format!("t{to}"))).collect();
            if (states >> from) & 1 == 1 {
                requires.insert(requires.len() / 2, Requirement::session("ready").optional());
            }
            Arc::new(probe(&format!("t{from}"), requires))
        });
        let tools = Registry::new(tools).unwrap();
        let session = Session::new("s");
        for tool in (1..10).filter(|tool| (called >> tool) & 1 == 1) {
            session.record_success(format!("t{tool}"));
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let ctx = in_session(&session);
            let checked = check(&tools, "t0", json!({}), &ctx, &Dependencies::new()).await;
            let order = checked.map_or_else(|error| error.suggested_order, |_| Vec::new());
            for tool in order {
                assert!(!session.has_called(&tool), "{tool} was called");
                assert_eq!(missing(&tools, &tool, &ctx).await, Vec::<String>::new(), "before {tool}");
                session.record_success(tool);
            }
            assert_eq!(missing(&tools, "t0", &ctx).await, Vec::<String>::new());
        });
    }
}
