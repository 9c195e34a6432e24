//! Completion tools.

use super::call;
use crate::prelude::*;

/// Hands in a plan.
#[tool(undocumented, complete(next_state = "PLAN_REVIEW"))]
fn submit_plan(plan: String) -> Result<ToolResult, ToolError> {
    match plan.as_str() {
        "" => Err(ToolError::failed("the plan is empty")),
        "bad" => Ok(ToolResult::json(json!({"success": false, "error": "the plan is bad"}))),
        "told" => {
            Ok(ToolResult::json(json!({"error": "no"}))
                .with_control(Control::complete("ELSEWHERE", json!(1))))
        }
        "other" => Ok(ToolResult::json(json!({"next_state": "OTHER", "plan": plan}))),
        _ => Ok(ToolResult::json(json!({"plan": plan}))),
    }
}

/// Ends.
#[tool(complete)]
fn done() {}

fn toolbox() -> Toolbox {
    Toolbox::builder(&Registry::new(toolset![submit_plan, done]).unwrap()).build().unwrap()
}

#[tokio::test]
async fn completion_tool_sets_control_and_details() {
    let response = call(&toolbox(), "submit_plan", json!({"plan": "go"})).await;
    let details = json!({"plan": "go", "next_state": "PLAN_REVIEW"});
    assert_eq!(response.control(), Control::complete("PLAN_REVIEW", details.clone()));
    // The model also reads it.
    assert_eq!(serde_json::from_str::<Value>(&response.text()).unwrap(), details);
    assert_eq!(response.outcome.unwrap().details, details);
    let response = call(&toolbox(), "done", json!({})).await;
    assert!(matches!(response.control(), Control::Complete { signal, .. } if signal.is_empty()));
}

#[tokio::test]
async fn result_can_name_its_next_state() {
    let response = call(&toolbox(), "submit_plan", json!({"plan": "other"})).await;
    assert!(matches!(response.control(), Control::Complete { signal, .. } if signal == "OTHER"));
}

#[tokio::test]
async fn failed_completion_tool_completes_nothing() {
    for plan in ["", "bad", "told"] {
        let response = call(&toolbox(), "submit_plan", json!({"plan": plan})).await;
        assert!(response.is_error(), "{plan}");
        assert_eq!(response.control(), Control::Continue, "{plan}");
    }
}
