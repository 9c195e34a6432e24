//! Policies, approvals, records.

use serde_json::json;
use toolgen_runtime::{Registry, ToolCall, ToolContext, ToolError, Toolbox, Turn, toolset};

use crate::AnyResult;

page!("docs/policies.md", "fn pay(");

fn looking() -> AnyResult<Toolbox> {
    let registry = Registry::new(toolset![pay, balance])?;
    page!("docs/policies.md", "let context = ToolboxContext::new(");
    Ok(toolbox)
}

#[tokio::test]
async fn limit_refuses_a_call() {
    let call = ToolCall::new("1", "pay", json!({"to": "Ada", "cents": 5}));
    let response = looking().unwrap().run(call, &Turn::new("turn")).await;
    assert!(response.is_error(), "{}", response.text());
}

fn ruled() -> AnyResult<Toolbox> {
    let registry = Registry::new(toolset![pay, balance])?;
    page!("docs/policies.md", "let rules = PolicyRules::builder(");

    Ok(toolbox)
}

#[test]
fn rules_select_tools() {
    let names: Vec<_> = ruled().unwrap().list().iter().map(|tool| tool.name.to_string()).collect();
    assert_eq!(names, ["balance"]);
}

async fn scoped() -> AnyResult<String> {
    let toolbox = Registry::new(toolset![pay, balance])?.toolbox(Default::default());
    page!("docs/policies.md", "let answer = toolbox.run(call, &turn).await;");

    assert!(answer.is_error());
    Ok(answer.text().to_owned())
}

#[tokio::test]
async fn scopes_are_checked() {
    assert!(scoped().await.unwrap().contains("scope 'pay'"));
}

fn limited() -> AnyResult<Toolbox> {
    let registry = Registry::new(toolset![pay, balance])?;
    page!("docs/policies.md", "WindowLimit::new()");
    Ok(toolbox)
}

#[tokio::test]
async fn rate_limit_is_checked() {
    let toolbox = limited().unwrap();
    let turn = Turn::new("turn");
    for _ in 0..10 {
        assert!(!toolbox.run(ToolCall::new("1", "balance", json!({})), &turn).await.is_error());
    }
    assert!(toolbox.run(ToolCall::new("1", "balance", json!({})), &turn).await.is_error());
}

fn with_rules_on_calls() -> AnyResult<Toolbox> {
    let registry = Registry::new(toolset![pay, balance])?;
    page!("docs/policies.md", "let rules = Rules::parse([");
    Ok(toolbox)
}

#[tokio::test]
async fn rules_on_calls_are_checked() {
    let toolbox = with_rules_on_calls().unwrap();
    let pay = |to: &str, cents: u32| ToolCall::new("1", "pay", json!({"to": to, "cents": cents}));
    let turn = Turn::new("turn");
    assert_eq!(toolbox.run(pay("Ada", 5), &turn).await.text(), "paid 5 to Ada");
    let response = toolbox.run(pay("Ada", 70_000), &turn).await;
    assert!(response.text().contains("treasurer"), "{}", response.text());
    let response = toolbox.run(pay("Mallory", 5), &turn).await;
    assert!(matches!(response.outcome, Err(ToolError::ApprovalRequired(_))));
}

mod approvals {
    use super::*;

    page!("docs/policies.md", "struct LargeSums;");

    fn closures(registry: &Registry) -> Result<Toolbox, Box<dyn std::error::Error>> {
        page!("docs/policies.md", "let toolbox = Toolbox::builder(registry)");
        Ok(toolbox)
    }

    async fn read_line() -> String {
        "later".to_owned()
    }

    async fn later() -> AnyResult<String> {
        let registry = Registry::new(toolset![pay, balance])?;
        let toolbox = Toolbox::builder(&registry).middleware(LargeSums).build()?;
        let turn = Turn::new("turn-1");
        page!("docs/policies.md", "let response = toolbox.run(call, &turn).await;");
        Ok(response.text().to_owned())
    }

    fn scopes_of(_: &str) -> [&'static str; 1] {
        ["pay"]
    }

    async fn across_processes() -> AnyResult<String> {
        let registry = Registry::new(toolset![pay, balance])?;
        let file = std::env::temp_dir().join(format!("toolgen-guide-{}.db", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let key_file = &file.with_extension("key");
        std::fs::write(key_file, [7; 32])?;
        page!("docs/policies.md", "let key = std::fs::read(key_file)?;");
        let call = ToolCall::new("call-1", "pay", json!({"to": "Ada", "cents": 9_000}));
        let ada = toolgen_runtime::Principal::new("key-7").with_scopes(["pay"]);
        let turn =
            Turn::new("turn-1").with_principal(ada).with_session(toolgen_runtime::Session::new("monday"));
        let response = toolbox.run(call, &turn).await;
        let Err(ToolError::ApprovalRequired(request)) = response.outcome else {
            return Err("it did not wait".into());
        };
        approvals.grant(request.queue_id(), "Grace", "").await?;
        page!("docs/policies.md", "fn turn_of(caller: &Caller) -> Turn");
        let ended = approvals.get(request.queue_id()).await?.ok_or("it is gone")?;
        let _ = (std::fs::remove_file(&file), std::fs::remove_file(key_file));
        Ok(format!("{}, {:?}", ended.state, ended.outcome.map(|outcome| outcome.error_code)))
    }

    #[tokio::test]
    async fn call_waits_in_a_queue() {
        assert_eq!(across_processes().await.unwrap(), "finished, Some(None)");
    }

    #[tokio::test]
    async fn closures_can_approve() {
        let registry = Registry::new(toolset![pay, balance]).unwrap();
        let call = ToolCall::new("call-1", "pay", json!({"to": "Ada", "cents": 9_000}));
        let response = closures(&registry).unwrap().run(call, &Turn::new("turn-1")).await;
        assert!(response.text().contains("No pay today."), "{}", response.text());
    }

    #[tokio::test]
    async fn call_waits_for_an_approver() {
        assert_eq!(later().await.unwrap(), "paid 9000 to Ada");
        let registry = Registry::new(toolset![pay, balance]).unwrap();
        let call = ToolCall::new("1", "pay", json!({"to": "Ada", "cents": 9_000}));
        let response = toolbox(&registry).unwrap().run(call, &Turn::new("turn")).await;
        assert!(matches!(response.outcome, Err(ToolError::ApprovalRequired(_))));
    }
}

mod records {
    use super::*;

    async fn kept() -> AnyResult {
        let registry = Registry::new(toolset![pay, balance])?;
        let file = std::env::temp_dir().join(format!("toolgen-audit-{}.db", std::process::id()));
        let _ = std::fs::remove_file(&file);
        page!("docs/audit.md", "let auditor = Auditor::builder(SqliteSink::open(");
        let call = ToolCall::new("1", "balance", json!({}));
        assert_eq!(toolbox.run(call, &Turn::new("turn")).await.text(), "7");
        page!("docs/audit.md", "auditor.flush().await?;");

        let _ = std::fs::remove_file(&file);
        Ok(())
    }

    #[tokio::test]
    async fn calls_are_recorded() {
        kept().await.unwrap();
    }

    fn lines(file: &std::path::Path) -> AnyResult {
        page!("docs/audit.md", "let auditor = Auditor::builder(JsonLinesSink::open(");
        assert!(auditor.is_on());
        Ok(())
    }

    #[allow(dead_code, reason = "compiled only: it needs a database")]
    fn database() -> AnyResult {
        page!("docs/audit.md", "let month = Duration::from_secs(30 * 24 * 60 * 60);");

        assert!(auditor.is_on() && lost == 0);
        Ok(())
    }

    async fn watched() -> AnyResult<usize> {
        let registry = Registry::new(toolset![pay, balance])?;
        page!("docs/audit.md", "let (events, seen) = channel();");
        toolbox.run(ToolCall::new("1", "balance", json!({})), &Turn::new("turn")).await;
        Ok(seen.try_iter().count())
    }

    #[tokio::test]
    async fn calls_and_responses_are_events() {
        assert_eq!(watched().await.unwrap(), 2);
    }

    #[tokio::test]
    async fn secrets_are_not_recorded() {
        use toolgen_runtime::layers::audit::{Auditor, MemorySink};

        page!("docs/audit.md", "fn open_door(");
        let sink = MemorySink::new();
        let auditor = Auditor::builder(sink.clone()).start().unwrap();
        let registry = Registry::new(toolset![open_door]).unwrap();
        let toolbox = Toolbox::builder(&registry).layer(auditor.clone()).build().unwrap();
        let call = ToolCall::new("1", "open_door", json!({"pin": "0815"}));
        assert_eq!(toolbox.run(call, &Turn::new("turn")).await.text(), "true");
        auditor.flush().await.unwrap();
        assert_eq!(sink.rows()[0].intent.parameters, json!({"pin": "[REDACTED]"}));
    }
}

#[tokio::test]
async fn layer_wraps_a_tool() {
    fn timed() -> AnyResult<Toolbox> {
        let registry = Registry::new(toolset![pay, balance])?;
        page!("docs/policies.md", "struct Stopwatch;");
        Ok(toolbox)
    }
    let call = ToolCall::new("1", "balance", json!({}));
    assert_eq!(timed().unwrap().run(call, &Turn::new("turn")).await.text(), "7");
}
