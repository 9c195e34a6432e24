//! Tests of the first difference between a recording and a run, in both output formats.

use toolgen_runtime::testing::replay::{DifferenceKind, REPLAY_DIFFERENCE};

use super::{call, called, dispatch, recorded, replaying};
use crate::prelude::*;

async fn shop() -> RecordedRun {
    recorded(async |toolbox| {
        call(toolbox, "find_orders", json!({"customer": "ada"})).await;
        let refunds = [(7, 100), (9, 50)]
            .map(|(order, cents)| called("refund", json!({"order": order, "cents": cents})));
        dispatch(toolbox, refunds.into()).await;
        call(toolbox, "refund_all", json!({"customer": "bob"})).await;
    })
    .await
}

/// Makes calls and returns the difference, as text.
async fn told(calls: &[(&str, Value)]) -> String {
    let run = shop().await;
    let (replay, toolbox) = replaying(&run);
    for (tool, arguments) in calls {
        call(&toolbox, tool, arguments.clone()).await;
    }
    replay.finish().unwrap_err().to_string()
}

#[tokio::test]
async fn different_arguments_are_reported_by_json_pointer() {
    assert_eq!(
        told(&[("find_orders", json!({"customer": "bob", "limit": 3}))]).await,
        r#"the run differs from the recorded one after 0 of 7 calls: a call has other arguments
- expected call 1: find_orders {"customer":"ada"}
+ found    find_orders {"customer":"bob","limit":3}
  /customer: expected "ada", found "bob"
  /limit: expected nothing, found 3"#
    );
    // The most similar of the expected calls is reported.
    assert_eq!(
        told(&[("find_orders", json!({"customer": "ada"})), ("refund", json!({"order": 9, "cents": 51}))])
            .await,
        r#"the run differs from the recorded one after 1 of 7 calls: a call has other arguments
- expected call 3: refund {"order":9,"cents":50}
+ found    refund {"order":9,"cents":51}
  /cents: expected 50, found 51"#
    );
}

#[tokio::test]
async fn different_tool_is_reported() {
    assert_eq!(
        told(&[("login", json!({"user": "me", "pin": "hunter2"}))]).await,
        r#"the run differs from the recorded one after 0 of 7 calls: another tool was called
- expected call 1: find_orders {"customer":"ada"}
+ found    login {"user":"me","pin":"[REDACTED]"}"#
    );
}

#[tokio::test]
async fn early_call_is_reported_with_its_position() {
    assert_eq!(
        told(&[("refund", json!({"order": 9, "cents": 50}))]).await,
        r#"the run differs from the recorded one after 0 of 7 calls: a call was made too early
- expected call 1: find_orders {"customer":"ada"}
+ found    call 3: refund {"order":9,"cents":50}"#
    );
}

#[tokio::test]
async fn missing_calls_are_reported() {
    assert_eq!(
        told(&[("find_orders", json!({"customer": "ada"})), ("refund", json!({"order": 7, "cents": 100}))])
            .await,
        r#"the run differs from the recorded one after 2 of 7 calls: calls were not made
  call 3: refund {"order":9,"cents":50}
  call 4: refund_all {"customer":"bob"}
  call 5: find_orders {"customer":"bob"}, made by call 4 refund_all
  call 6: refund {"order":7,"cents":100}, made by call 4 refund_all
  call 7: refund {"order":9,"cents":100}, made by call 4 refund_all"#
    );
}

#[tokio::test]
async fn additional_call_is_reported() {
    let (replay, toolbox) = replaying(&RecordedRun::default());
    call(&toolbox, "find_orders", json!({"customer": "ada"})).await;
    let difference = replay.finish().unwrap_err();
    assert_eq!(difference.kind, DifferenceKind::NotExpected);
    assert_eq!(
        difference.to_string(),
        r#"the run differs from the recorded one after 0 of 0 calls: a call was made that is not recorded
+ found    find_orders {"customer":"ada"}"#
    );
}

#[tokio::test]
async fn nested_calls_are_compared_and_a_difference_ends_the_replay() {
    let run = shop().await;
    let other = RecordedRun::parse(&run.text().replace(
        r#""order": 9,
        "cents": 100"#,
        r#""order": 8,
        "cents": 100"#,
    ))
    .unwrap();
    assert_ne!(other, run);
    let (replay, toolbox) = replaying(&other);
    let program = async |toolbox: &Toolbox| {
        call(toolbox, "find_orders", json!({"customer": "ada"})).await;
        call(toolbox, "refund", json!({"order": 9, "cents": 50})).await;
        call(toolbox, "refund", json!({"order": 7, "cents": 100})).await;
        call(toolbox, "refund_all", json!({"customer": "bob"})).await
    };
    let response = program(&toolbox).await;
    assert!(response.outcome.is_err());
    let reason = replay.finish().unwrap_err().to_string();
    assert_eq!(
        reason,
        r#"the run differs from the recorded one after 6 of 7 calls: a call has other arguments
- expected call 7: refund {"order":8,"cents":100}, made by call 4 refund_all
+ found    refund {"order":9,"cents":100}, made by call 4 refund_all
  /order: expected 8, found 9"#
    );
    let after =
        toolbox.run(ToolCall::new("x", "find_orders", json!({"customer": "ada"})), &super::turn()).await;
    let error = after.outcome.unwrap_err();
    assert_eq!((error.code(), error.to_string()), (REPLAY_DIFFERENCE, reason));
}

#[tokio::test]
async fn tool_can_be_replayed_as_a_whole() {
    let run = shop().await;
    let (replay, _) = replaying(&run);
    let replay = replay.replaying_nested(["refund_all"]);
    let toolbox = super::builder().layer(replay.clone()).build().unwrap();
    call(&toolbox, "find_orders", json!({"customer": "ada"})).await;
    call(&toolbox, "refund", json!({"order": 7, "cents": 100})).await;
    call(&toolbox, "refund", json!({"order": 9, "cents": 50})).await;
    let response = call(&toolbox, "refund_all", json!({"customer": "bob"})).await;
    assert_eq!(response.text(), "done: bob has 7 and 9 of 10");
    replay.finish().unwrap();
}
