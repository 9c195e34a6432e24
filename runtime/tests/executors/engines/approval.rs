//! Tests of approvals of tools that call other tools: what is shown, and what the approval covers.

use toolgen_runtime::layers::middleware::{
    Approval, ApprovalRequest, Approver, Middleware, MiddlewareDecision, ToolRequest,
};
use toolgen_runtime::spec::Effects;
use toolgen_runtime::spec::plan::{ComposePlan, Step};

use crate::engines::{command, spec, template};
use crate::prelude::*;

/// A composition that calls each of these tools once.
fn composed(name: &str, calls: &[&str]) -> Tool {
    let step = |tool: &&str| Step {
        id: (*tool).to_owned().into(),
        tool: (*tool).to_owned().into(),
        arguments: template(&json!({})),
        condition: None,
        for_each: None,
        optional: false,
    };
    let plan = ComposePlan { steps: calls.iter().map(step).collect(), result: None };
    Tool { spec: ToolSpec { effects: Effects::NONE, ..spec(name, &[]) }, call: ExecutionPlan::Compose(plan) }
}

/// A program that prints its own name.
fn echo(name: &str, effects: Effects, argv: &[&str]) -> Tool {
    Tool { spec: ToolSpec { effects, ..spec(name, &[]) }, call: ExecutionPlan::Command(command(argv)) }
}

fn spawning() -> Effects {
    Effects { spawns: true, ..Effects::NONE }
}

/// `outer` calls `look` and `inner`, which calls `look` and `send`.
fn tools(send: Tool) -> Vec<Arc<dyn AgentTool>> {
    let look = echo("look", spawning(), &["echo", "seen"]);
    let tools =
        [composed("outer", &["look", "inner"]), composed("inner", &["look", "send", "missing"]), look, send];
    Engines::new().tools_from(tools).unwrap()
}

fn sends() -> Tool {
    let hosts = Network::Hosts(vec![Text::Static("example.com")].into());
    let effects = Effects { read_only: false, network: hosts, ..spawning() };
    echo("send", effects, &["echo", "sent"])
}

/// Requires approval for every call of the named tools.
struct Asks(&'static [&'static str]);

impl Middleware for Asks {
    fn before<'a>(&'a self, request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        let asked = self.0.contains(&request.spec.name.as_str());
        let decision = if asked {
            MiddlewareDecision::NeedApproval("special".to_owned())
        } else {
            MiddlewareDecision::Allow
        };
        Box::pin(std::future::ready(decision))
    }
}

fn toolbox(send: Tool, asked: &'static [&'static str]) -> Toolbox {
    let registry = Registry::new(tools(send)).unwrap();
    Toolbox::builder(&registry).middleware(Asks(asked)).approval_key([1; 32]).build().unwrap()
}

async fn call(toolbox: &Toolbox, name: &str) -> ToolResponse {
    toolbox.run(ToolCall::new("1", name, json!({})), &Turn::new("turn")).await
}

async fn waiting(toolbox: &Toolbox, name: &str) -> ApprovalRequest {
    match call(toolbox, name).await.outcome {
        Err(ToolError::ApprovalRequired(request)) => *request,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn approval_request_shows_nested_tools_and_effects() {
    let toolbox = toolbox(sends(), &["outer", "look"]);
    let request = waiting(&toolbox, "outer").await;
    let messages: Vec<(&str, &Effects)> =
        request.calls.iter().map(|called| (called.name.as_str(), &called.effects)).collect();
    let (none, spawning, sends) = (Effects::NONE, spawning(), sends().spec.effects);
    assert_eq!(messages, [("inner", &none), ("look", &spawning), ("send", &sends)]);
    let mut json = serde_json::to_value(&request).unwrap();
    assert_eq!(
        json["calls"][2],
        json!({"name": "send", "effects": {
            "read_only": false, "destructive": false, "idempotent": true, "open_world": false,
            "network": ["example.com"], "files": "none", "spawns": true,
        }})
    );
    assert_eq!(serde_json::from_value::<ApprovalRequest>(json.clone()).unwrap(), request);
    for (wrong, reason) in
        [("network", "`network` has the unknown value `\"x\"`"), ("files", "`files`"), ("spawns", "`spawns`")]
    {
        let mut wrong_json = json.clone();
        wrong_json["calls"][2]["effects"][wrong] = json!("x");
        let error = serde_json::from_value::<ApprovalRequest>(wrong_json).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
    // A request that shows fewer calls cannot be resumed.
    json["calls"][2]["effects"]["network"] = json!("none");
    let less = serde_json::from_value::<ApprovalRequest>(json).unwrap();
    let refused = toolbox.resume(less, &Turn::new("turn")).await;
    assert_eq!(refused.outcome.unwrap_err().code(), "APPROVAL_INVALID");
    // The request of a tool that calls no other tools lists none.
    let request = waiting(&toolbox, "look").await;
    assert!(request.calls.is_empty() && serde_json::to_value(&request).unwrap().get("calls").is_none());
}

#[tokio::test]
async fn approved_call_runs_only_with_the_tools_shown() {
    let request = waiting(&toolbox(sends(), &["inner"]), "inner").await;
    let turn = Turn::new("turn");
    let resumed = async |send: Tool| toolbox(send, &["inner"]).resume(request.clone(), &turn).await;
    let wider = Tool { spec: ToolSpec { effects: Effects::UNDECLARED, ..sends().spec }, ..sends() };
    let other = Tool { call: ExecutionPlan::Command(command(&["echo", "wiped"])), ..sends() };
    for changed in [wider, other] {
        let error = resumed(changed).await.outcome.unwrap_err();
        assert_eq!(error.code(), "APPROVAL_INVALID");
        assert!(error.to_string().contains("or a tool that it calls was changed"), "{error}");
    }
    // The steps run as shown, up to the one with a tool that no toolbox has.
    let ran = resumed(sends()).await.text();
    assert_eq!(ran, "step `missing` (missing): Tool not found: missing");
}

/// Approves requests, and records them.
#[derive(Clone, Default)]
struct Approves(Arc<Mutex<Vec<Value>>>);

impl Approver for Approves {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest, _: &'a ToolContext) -> BoxFuture<'a, Approval> {
        self.0.lock().unwrap().push(json!([request.name, request.calls.len()]));
        let approval =
            if request.name == *"send" { Approval::Rejected("not that".into()) } else { Approval::Approved };
        Box::pin(std::future::ready(approval))
    }
}

#[tokio::test]
async fn approval_does_not_cover_nested_calls() {
    let approves = Approves::default();
    let toolbox = Toolbox::builder(&Registry::new(tools(sends())).unwrap())
        .middleware(Asks(&["outer", "look", "send"]))
        .approver(approves.clone())
        .build()
        .unwrap();
    let response = call(&toolbox, "outer").await;
    assert_eq!(response.text(), "step `inner` (inner): step `send` (send): not that");
    let asked = approves.0.lock().unwrap().clone();
    assert_eq!(json!(asked), json!([["outer", 3], ["look", 0], ["look", 0], ["send", 0]]));
}
