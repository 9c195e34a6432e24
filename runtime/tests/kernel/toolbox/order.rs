//! The order in which a call is checked: registered, allowed, scopes, list of tools, rate limit, requirements of the
//! tool, arguments, middleware.

use toolgen_runtime::schema::shape::read::read;

use super::{counted, spec, tool, toolbox};
use crate::prelude::*;

/// The obstacles of a call, in the order in which they are reported.
const TOLD: [(&str, &str); 9] = [
    ("registered", "Tool not found: plan_delete"),
    ("allowed", "tool 'plan_delete' not allowed in this context"),
    ("policy", "Permission denied: tool 'plan_delete' is excluded by the rule 'category:plans'"),
    ("scopes", "Permission denied: API key missing scope 'plans.write' for tool 'plan_delete'"),
    ("tools", "Permission denied: API key does not have access to tool 'plan_delete'"),
    ("rate", "Rate limit exceeded: API key cannot execute tool 'plan_delete' right now"),
    ("requires", "Active session required. Call session_start first."),
    ("arguments", "Invalid arguments: "),
    ("middleware", "not on a Sunday"),
];

struct Sundays(bool, Arc<Mutex<Vec<&'static str>>>);

impl Middleware for Sundays {
    fn before<'a>(&'a self, _request: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        self.1.lock().unwrap().push("middleware");
        let decision = if self.0 {
            MiddlewareDecision::Deny("not on a Sunday".into())
        } else {
            MiddlewareDecision::Allow
        };
        Box::pin(ready(decision))
    }
}

fn guarded_spec() -> ToolSpec {
    let input = json!({"type": "object", "properties": {"slug": {"type": "string"}}, "required": ["slug"]});
    let session = Requirement {
        kind: RequirementKind::Session,
        name: "session_id".into(),
        argument: "".into(),
        message: "Active session required. Call session_start first.".into(),
        optional: false,
    };
    ToolSpec {
        category: "plans".into(),
        scopes: vec!["plans.write".into()].into(),
        input: read(&input, &mut Vec::new()).into(),
        requires: vec![session].into(),
        ..spec("plan_delete")
    }
}

/// Makes a call with every obstacle from this one on, and returns its result and who was asked about it.
async fn tried(first: usize) -> (String, Vec<&'static str>, usize) {
    let in_the_way = |name: &str| TOLD.iter().position(|(known, _)| *known == name).unwrap() >= first;
    let asked: Arc<Mutex<Vec<&'static str>>> = Arc::default();
    let (tested, calls) = counted(guarded_spec());
    let other = tool(ToolSpec { category: "plans".into(), ..spec("other") });
    let tools = if in_the_way("registered") { vec![other] } else { vec![other, tested] };
    let (rate, limited) = (Arc::clone(&asked), in_the_way("rate"));
    let mut builder = toolbox(tools)
        .rate_limit(move |_: &Principal, _: &ToolSpec| {
            rate.lock().unwrap().push("rate");
            !limited
        })
        .middleware(Sundays(in_the_way("middleware"), Arc::clone(&asked)));
    if in_the_way("allowed") {
        builder = builder.allow(["other"]);
    }
    if in_the_way("policy") {
        builder = builder.rules(PolicyRules::builder().exclude(["category:plans"]).build().unwrap());
    }
    let toolbox: Toolbox = builder.build().unwrap();
    let mut principal = Principal::new("key-7");
    if !in_the_way("scopes") {
        principal = principal.with_scopes(["plans.write"]);
    }
    if in_the_way("tools") {
        principal = principal.with_tools(["other"]);
    }
    let mut turn = Turn::new("turn").with_principal(principal);
    if !in_the_way("requires") {
        let session = Session::new("s-1");
        session.set("session_id", json!("s-1"));
        turn = turn.with_session(session);
    }
    let arguments: Value = if in_the_way("arguments") { json!({"slug": 7}) } else { json!({"slug": "a"}) };
    let text = toolbox.run(ToolCall::new("c1", "plan_delete", arguments), &turn).await.text();
    let asked = asked.lock().unwrap().clone();
    (text, asked, calls.get())
}

#[tokio::test]
async fn first_failing_check_decides_and_later_ones_do_not_run() {
    for (first, (what, expected)) in TOLD.iter().enumerate() {
        let (text, asked, calls) = tried(first).await;
        assert!(text.contains(expected), "{what}: {text}");
        let index = |name: &str| TOLD.iter().position(|(known, _)| *known == name).unwrap();
        let expected: Vec<&str> =
            ["rate", "middleware"].into_iter().filter(|name| index(name) <= first).collect();
        assert_eq!((asked, calls), (expected, 0), "{what}");
    }
    let (text, asked, calls) = tried(TOLD.len()).await;
    assert_eq!((text.as_str(), asked, calls), ("plan_delete ran", vec!["rate", "middleware"], 1));
}

#[tokio::test]
async fn direct_call_by_the_program_needs_no_principal() {
    let (tested, calls) = counted(ToolSpec { scopes: vec!["admin".into()].into(), ..spec("purge") });
    let toolbox = toolbox(vec![tested]).build().unwrap();
    assert_eq!(super::said(&toolbox, "purge").await, "purge ran");
    assert_eq!(calls.get(), 1);
}

#[tokio::test]
async fn tool_without_scopes_requires_those_of_its_effects() {
    use toolgen_runtime::Effects;
    let tools = vec![tool(spec("look")), tool(super::with_effects("change", Effects::UNDECLARED))];
    let toolbox = toolbox(tools).build().unwrap();
    let turn = Turn::new("turn").with_principal(Principal::new("p").with_scopes(["read"]));
    let message = async |name: &str| super::call_in(&toolbox, name, json!({}), &turn).await.text();
    assert_eq!(message("look").await, "look ran");
    assert_eq!(message("change").await, "Permission denied: API key missing scope 'write' for tool 'change'");
    // The defaults of a specification: the category `general`, and 30 seconds.
    assert_eq!((&*spec("x").category, spec("x").timeout), ("general", Timeout::Default));
    assert_eq!(toolgen_runtime::call::tool::DEFAULT_TIMEOUT, Duration::from_secs(30));
}
