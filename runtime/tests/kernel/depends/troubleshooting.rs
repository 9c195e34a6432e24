//! Troubleshooting pages for failing calls.

use toolgen_runtime::layers::breaker::CircuitBreaker;
use toolgen_runtime::spec::docs::{detail, troubleshooting};

use super::{Probe, check, probe, registry};
use crate::prelude::*;

fn task_update() -> Probe {
    let mut tool = probe(
        "task_update",
        [
            Requirement::context("workspace_id").message("Workspace context required"),
            Requirement::session("session_id").message("Active session required. Call session_start first."),
            Requirement::entity("plan", "plan_slug").message("Plan must exist"),
            Requirement::tool("session_start"),
            Requirement::custom("is_open").optional(),
        ],
    );
    tool.spec.timeout = Timeout::Millis(1500);
    tool.spec.service = "plans".into();
    tool
}

fn titles(page: &str) -> Vec<&str> {
    page.lines().filter_map(|line| line.strip_prefix("## ")).collect()
}

#[test]
fn troubleshooting_page_lists_all_declared_needs() {
    let page = troubleshooting(&task_update().spec);
    let expected = [
        "Workspace context required",
        "Active session required. Call session_start first.",
        "Plan must exist",
        "Tool 'session_start' must be called first",
        "Check 'is_open' must pass",
        "Cannot execute 'task_update': prerequisites not met.",
        "Permission denied: API key missing scope 'write' for tool 'task_update'",
        "Permission denied: API key does not have access to tool 'task_update'",
        "Service 'plans' is temporarily unavailable. Please try again later.",
        "Tool exceeded timeout of 1.5s",
        "Tool not found: task_update",
    ];
    assert_eq!(titles(&page), expected);
    assert!(page.starts_with("# Troubleshooting `task_update`\n\n## "), "{page}");
    assert!(page.contains("The argument `plan_slug` does not name an existing plan"), "{page}");
    assert!(page.contains("the tool still runs"), "{page}");
}

#[test]
fn full_documentation_lists_needs_and_alternatives() {
    let mut tool = task_update();
    tool.spec.scopes = vec!["plans.write".into()].into();
    let message = detail(&tool.spec);
    for line in [
        "  - Requires: context value `workspace_id`, session state `session_id`, entity `plan` by `plan_slug`, tool \
         `session_start`, check `is_open` (optional)\n",
        "  - Scopes: plans.write\n",
        "  - Troubleshooting:\n    - Workspace context required: The context of the call has no value `workspace_id`",
        "    - Tool 'session_start' must be called first: Call `session_start` in the same session first.",
        "    - Permission denied: API key missing scope 'plans.write' for tool 'task_update': Use an API key that has",
        "    - Service 'plans' is temporarily unavailable. Please try again later: Several calls",
    ] {
        assert!(message.contains(line), "{line}\n{message}");
    }
    // Facts that hold for every tool are not repeated for each.
    let plain = ToolSpec { name: ToolName::new("clock"), effects: Effects::NONE, ..ToolSpec::EMPTY };
    assert_eq!(detail(&plain), "- **clock** - \n");
}

#[test]
fn tool_without_needs_has_a_short_page() {
    let spec = ToolSpec { name: ToolName::new("clock"), effects: Effects::NONE, ..ToolSpec::EMPTY };
    let expected = [
        "Permission denied: API key missing scope 'read' for tool 'clock'",
        "Permission denied: API key does not have access to tool 'clock'",
        "Tool not found: clock",
    ];
    assert_eq!(titles(&troubleshooting(&spec)), expected);
}

#[tokio::test(start_paused = true)]
async fn page_titles_match_error_messages() {
    let tool = task_update();
    let page = troubleshooting(&tool.spec);
    let has = |text: &str| {
        let first = text.lines().next().unwrap();
        assert!(titles(&page).contains(&first), "{text}\n{page}");
    };
    let tools = registry([probe("session_start", []), tool.clone()]);
    let nobody = Turn::new("1");
    let error = check(&tools, "task_update", json!({}), &nobody, &Dependencies::new()).await.unwrap_err();
    assert_eq!(error.missing.len(), 4);
    error.missing.iter().for_each(|unmet| has(&unmet.message));
    has(&error.to_string());
    has(&Principal::new("key").check(&tool.spec).unwrap_err().to_string());
    let limited = Principal::new("key").with_scopes(["write"]).with_tools(["other"]);
    has(&limited.check(&tool.spec).unwrap_err().to_string());
    has(&ToolError::Timeout { duration: Duration::from_millis(1500) }.to_string());

    let empty = Registry::new(Vec::<Arc<dyn AgentTool>>::new()).unwrap();
    let toolbox = Toolbox::builder(&empty).build().unwrap();
    has(&toolbox.run(ToolCall::new("1", "task_update", json!({})), &nobody).await.text());

    let breaker = CircuitBreaker::default();
    for _ in 0..5 {
        breaker.admit("plans").unwrap().settle(&Err(ToolError::failed("it broke")));
    }
    has(&breaker.admit("plans").err().unwrap().to_string());
}
