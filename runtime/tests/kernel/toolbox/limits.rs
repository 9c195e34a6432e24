//! The declared effects of tools are checked against the limits of the context, before they run.

use toolgen_runtime::layers::policy::{Policy, RulesBuilder};
use toolgen_runtime::layers::rate::WindowLimit;
use toolgen_runtime::spec::Files;

use super::{Count, Counted, call_in, counted, names, said, spec, tool, toolbox, with_effects};
use crate::prelude::*;

fn in_limits(limits: EffectLimits) -> ToolboxContext {
    ToolboxContext::new().with_limits(limits)
}

#[tokio::test]
async fn web_fetch_is_refused_without_network() {
    let fetching = Effects { network: Network::Any, open_world: true, ..Effects::NONE };
    let (fetch, calls) = counted(with_effects("web_fetch", fetching));
    let tools = vec![fetch, tool(spec("think"))];
    let offline = toolbox(tools.clone()).context(in_limits(EffectLimits::PLANNING)).build().unwrap();
    let expected = "Permission denied: tool 'web_fetch' may do more than this context allows:\n\
                    - network: it may reach any host (allowed: none)";
    let response = call_in(&offline, "web_fetch", json!({"url": "https://a.com"}), &Turn::new("t")).await;
    assert_eq!((response.text().as_str(), response.is_error(), calls.get()), (expected, true, 0));
    assert_eq!(response.outcome.unwrap_err().code(), "PERMISSION_DENIED");
    // It is not offered either, and cannot be called.
    assert_eq!(names(&offline), ["think"]);
    assert!(!offline.generate_tool_documentation().contains("web_fetch"));
    let refused = offline.get("web_fetch").err().unwrap().to_string();
    assert_eq!(refused, "tool 'web_fetch' not allowed in this context");
    let online = toolbox(tools).build().unwrap();
    assert_eq!(said(&online, "web_fetch").await, "web_fetch ran");
}

#[tokio::test]
async fn context_limits_apply_to_every_kind_of_tool() {
    let limits = EffectLimits { files: Files::Read, network: Network::None, ..EffectLimits::ANY };
    let cases = [
        (
            "edit_file",
            Effects { read_only: false, files: Files::Write, ..Effects::NONE },
            "files: it may write files",
        ),
        (
            "container_build",
            Effects { network: Network::Any, spawns: true, ..Effects::NONE },
            "network: it may",
        ),
        (
            "undeclared",
            Effects::UNDECLARED,
            "Effects that a tool does not rule out are assumed, and this tool rules out none.",
        ),
    ];
    for (name, effects, reason) in cases {
        let (tested, calls) = counted(with_effects(name, effects));
        let made = Count::default();
        let count = made.clone();
        let spec = ToolSpec { name: ToolName::new("built"), ..tested.spec().clone() };
        let built = ToolFactory::new(spec, move |_: &ToolboxContext| {
            count.up();
            Ok(Counted { spec: super::spec("built"), calls: Arc::default(), answer: String::new() })
        });
        let toolbox =
            toolbox(vec![tested, Arc::new(built)]).context(in_limits(limits.clone())).build().unwrap();
        for name in [name, "built"] {
            let text = said(&toolbox, name).await;
            assert!(text.contains(reason), "{text}");
        }
        assert_eq!((calls.get(), made.get()), (0, 0));
    }
}

#[tokio::test]
async fn executor_confinement_allows_a_tool_otherwise_refused() {
    let shell = || {
        ToolFactory::new(with_effects("shell", Effects::UNDECLARED), |ctx: &ToolboxContext| {
            let text = format!("read-only: {}", ctx.limits.files != Files::Write);
            Ok(Counted { spec: spec("shell"), calls: Arc::default(), answer: text })
        })
    };
    let bare = toolbox(vec![Arc::new(shell())]).context(in_limits(EffectLimits::PLANNING)).build().unwrap();
    assert!(said(&bare, "shell").await.starts_with("Permission denied: "));
    let confined = toolbox(vec![Arc::new(shell().confined())]);
    let planning = confined.context(in_limits(EffectLimits::PLANNING)).build().unwrap();
    assert_eq!(said(&planning, "shell").await, "read-only: true");
    let coding = toolbox(vec![Arc::new(shell().confined())]).build().unwrap();
    assert_eq!(said(&coding, "shell").await, "read-only: false");
    // An executor does not remove the limits of a tool that starts programs.
    let none =
        toolbox(vec![Arc::new(shell().confined())]).context(in_limits(EffectLimits::NONE)).build().unwrap();
    assert!(said(&none, "shell").await.contains("- programs: it may start programs (allowed: none)"));
}

#[tokio::test]
async fn rules_select_the_available_tools() {
    let tools = || {
        vec![
            tool(ToolSpec { category: "files".into(), ..spec("read_file") }),
            tool(ToolSpec { category: "files".into(), ..with_effects("delete_file", Effects::UNDECLARED) }),
            tool(spec("shell")),
        ]
    };
    let rules = |include: &[&'static str]| {
        PolicyRules::builder().include(include.to_vec()).exclude(["effect:destructive"]).build().unwrap()
    };
    let misspelled = rules(&["category:files", "raed_*"]);
    let rules = rules(&["category:files"]);
    let limited = toolbox(tools()).rules(rules.clone()).build().unwrap();
    assert_eq!(names(&limited), ["read_file"]);
    let text = said(&limited, "delete_file").await;
    assert_eq!(
        text,
        "Permission denied: tool 'delete_file' is excluded by the rule 'effect:destructive'\n\
         Effects that a tool does not rule out are assumed, and this tool rules out none."
    );
    // The same can be checked in advance.
    let registry = Registry::new(tools()).unwrap();
    let unused = misspelled.unused(&registry);
    assert_eq!(unused.iter().map(|rule| rule.name.as_str()).collect::<Vec<_>>(), ["raed_*"]);
    let policy = Policy::default().with_rules(rules);
    let refused = policy.refused(registry.iter().map(|tool| tool.spec()));
    assert_eq!(refused.len(), 2);
    assert_eq!(refused[0].to_string(), text);
}

#[test]
fn unused_rule_is_reported_with_a_suggestion() {
    let built = |rules: RulesBuilder| {
        let tools = vec![
            tool(ToolSpec { category: "money".into(), ..spec("pay") }),
            tool(spec("look")),
            tool(spec("email__send_a_message")),
        ];
        toolbox(tools).rules(rules.build().unwrap()).build().map(|_| ()).map_err(|error| error.to_string())
    };
    let message = "rule 'lok' matches no tool; did you mean 'look'?\n\
                rule 'pya' matches no tool; did you mean 'pay'?\n\
                rule 'category:mony effect:destructive' matches no tool; did you mean 'category:money'?\n\
                rule 'x_*' matches no tool\n\
                rule 'emial__*' matches no tool; did you mean 'email__*'?";
    let rules = PolicyRules::builder().include(["*", "lok"]);
    let rules = rules.exclude(["pya", "category:mony effect:destructive", "x_*", "emial__*"]);
    assert_eq!(built(rules), Err(message.to_owned()));
    // A rule about effects also guards against effects that no tool has.
    assert_eq!(built(PolicyRules::builder().exclude(["effect:spawns", "p?? effect:destructive"])), Ok(()));
}

#[tokio::test]
async fn rate_limit_applies_per_principal() {
    let toolbox = toolbox(vec![tool(spec("look")), tool(spec("see"))])
        .rate_limit(WindowLimit::new().with_per_tool(2).with_per_principal(3))
        .build()
        .unwrap();
    let caller =
        |id: &'static str| Turn::new("turn").with_principal(Principal::new(id).with_scopes(["read"]));
    let message =
        async |id: &'static str, name: &str| call_in(&toolbox, name, json!({}), &caller(id)).await.text();
    assert_eq!(
        (message("a", "look").await.as_str(), message("a", "look").await.as_str()),
        ("look ran", "look ran")
    );
    let refused = "Rate limit exceeded: API key cannot execute tool 'look' right now";
    assert_eq!(message("a", "look").await, refused);
    assert_eq!(
        (message("a", "see").await.as_str(), message("b", "look").await.as_str()),
        ("see ran", "look ran")
    );
    let response = call_in(&toolbox, "see", json!({}), &caller("a")).await;
    assert_eq!(response.outcome.unwrap_err().code(), "RATE_LIMITED");
}

#[tokio::test]
async fn rate_limit_without_principal_uses_agent_session_or_all() {
    let limited = |tools| {
        let limit = WindowLimit::new().with_per_tool(1);
        toolbox(tools).rate_limit(limit).build().unwrap()
    };
    let toolbox = limited(vec![tool(spec("look"))]);
    let turn = || Turn::new("turn");
    let callers = [
        turn().with_agent_id("a"),
        turn().with_agent_id("b"),
        turn().with_session(Session::new("a")),
        turn().with_session(Session::new("b")),
        turn(),
    ];
    for (index, caller) in callers.iter().enumerate() {
        assert_eq!(call_in(&toolbox, "look", json!({}), caller).await.text(), "look ran", "caller {index}");
        let refused = call_in(&toolbox, "look", json!({}), caller).await;
        assert_eq!(refused.outcome.unwrap_err().code(), "RATE_LIMITED", "caller {index}");
    }
    // The session of a turn is not counted as a caller: otherwise the limit would never be reached.
    let call = vec![ToolCall::new("c1", "look", json!({}))];
    let dispatched = toolbox.dispatch(call, &turn(), &Default::default()).await;
    assert!(dispatched.responses[0].is_error());
}
