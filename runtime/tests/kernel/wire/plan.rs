//! Plans of requests: which tools are strict under the limits of the request, and that each call is decoded with the
//! schema that was sent.

use serde_json::Map;
use toolgen_runtime::agent::agent_loop::{Agent, WireModel};
use toolgen_runtime::engine::dynamic::DynamicTool;
use toolgen_runtime::schema::dialect::{
    ANTHROPIC, ANTHROPIC_STRICT, Dialect, GEMINI, GEMINI_JSON_SCHEMA, OPENAI, OPENAI_STRICT,
};
use toolgen_runtime::wire::{DecisionReason, PlanError, PlanOptions, ToolDecision, ToolPlan};

use crate::prelude::*;
use crate::wire::helpers::spec;

/// A tool with this many optional fields, and this many fields with several types.
fn costing(name: &str, optional: usize, unions: usize) -> ToolSpec {
    let mut fields = Map::new();
    for index in 0..optional {
        fields.insert(format!("o{index}"), json!({"type": "boolean"}));
    }
    for index in 0..unions {
        fields.insert(format!("u{index}"), json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}));
    }
    let required: Vec<_> = fields.keys().filter(|name| name.starts_with('u')).cloned().collect();
    let input =
        json!({"type": "object", "properties": fields, "required": required, "additionalProperties": false});
    spec(name, "Does it.", &input, None)
}

/// A tool that OpenAI's strict mode rejects: it has too many enumerated values.
fn refused(name: &str) -> ToolSpec {
    let values: Vec<i32> = (0..1_001).collect();
    let fields = json!({"n": {"enum": values}, "note": {"type": "string"}});
    let input =
        json!({"type": "object", "properties": fields, "required": ["n"], "additionalProperties": false});
    spec(name, "Picks one.", &input, None)
}

fn shown(plan: &ToolPlan) -> Vec<&'static str> {
    plan.decisions().iter().map(|it| it.dialect.map_or("", |dialect| dialect.name)).collect()
}

fn anthropic(tools: &[(usize, usize)]) -> ToolPlan {
    let specs: Vec<_> =
        tools.iter().enumerate().map(|(index, &(o, u))| costing(&format!("t{index}"), o, u)).collect();
    WireFormat::Anthropic.plan(&ANTHROPIC_STRICT, &specs).unwrap()
}

fn limit(decision: &ToolDecision) -> (&'static str, usize, usize, usize) {
    let DecisionReason::Limit { of, most: max, required: needs, remaining: left } = decision.reason else {
        panic!("{decision}")
    };
    (of, max, needs, left)
}

#[test]
fn plan_makes_as_many_tools_strict_as_limits_allow() {
    let plan = anthropic(&[(0, 0); 25]);
    let (strict, lax) = ("anthropic-strict", "anthropic");
    assert_eq!(shown(&plan), [[strict; 20].as_slice(), &[lax; 5]].concat());
    assert_eq!(limit(&plan.decisions()[24]), ("strict tools", 20, 1, 0));
    assert_eq!(
        plan.decisions()[24].to_string(),
        "t24: anthropic, because strict tools may have 20 strict tools in total: it needs 1, and 0 are left"
    );
    let flags: Vec<_> =
        plan.tools().as_array().unwrap().iter().map(|tool| tool.get("strict").is_some()).collect();
    assert_eq!(flags, [[true; 20].as_slice(), &[false; 5]].concat());

    // The cheapest come first; equal ones in their given order.
    let plan = anthropic(&[(9, 0), (9, 0), (9, 0), (1, 0), (0, 0)]);
    assert_eq!(shown(&plan), [strict, strict, lax, strict, strict]);
    assert_eq!(limit(&plan.decisions()[2]), ("optional fields", 24, 9, 5));
    let plan = anthropic(&[(0, 10), (0, 10), (0, 6)]);
    assert_eq!(shown(&plan), [strict, lax, strict]);
    assert_eq!(limit(&plan.decisions()[1]), ("fields of several types", 16, 10, 0));
    // A single tool may be too much for a grammar.
    let plan = anthropic(&[(11, 0), (10, 0)]);
    assert_eq!(shown(&plan), [lax, strict]);
    assert_eq!(limit(&plan.decisions()[0]), ("optional fields in one tool", 10, 11, 10));
}

#[test]
fn plan_is_deterministic_and_within_limits() {
    for seed in 0..40_usize {
        let tools: Vec<_> = (0..30).map(|n| ((seed * 7 + n * 5) % 9, (seed * 3 + n * n) % 5)).collect();
        let plan = anthropic(&tools);
        assert_eq!(plan.tools().to_string(), anthropic(&tools).tools().to_string());
        let strict: Vec<_> =
            tools.iter().zip(shown(&plan)).filter(|(_, it)| *it == "anthropic-strict").collect();
        assert!(strict.len() <= 20);
        assert!(strict.iter().map(|((optional, _), _)| optional).sum::<usize>() <= 24);
        assert!(strict.iter().map(|((_, unions), _)| unions).sum::<usize>() <= 16);
        // No tool that is not strict would still fit.
        for decision in plan.decisions().iter().filter(|it| it.dialect == Some(&ANTHROPIC)) {
            let (_, max, needs, remaining) = limit(decision);
            assert!(needs > remaining || needs > max, "{decision}");
        }
    }
}

#[test]
fn refused_tool_does_not_affect_other_strict_tools() {
    let specs = [refused("pick"), costing("do", 1, 0)];
    assert!(WireFormat::OpenAiResponses.tools_in(&OPENAI_STRICT, &specs).is_err());
    let plan = WireFormat::OpenAiResponses.plan(&OPENAI_STRICT, &specs).unwrap();
    assert_eq!(shown(&plan), ["openai", "openai-strict"]);
    assert_eq!((&plan.tools()[0]["strict"], &plan.tools()[1]["strict"]), (&json!(false), &json!(true)));
    assert!(matches!(&plan.decisions()[0].reason, DecisionReason::Refused(reasons) if !reasons.is_empty()));
    let message = plan.decisions()[0].to_string();
    assert!(message.starts_with("pick: openai, because the strict dialect rejects it: "), "{message}");
    assert_eq!(plan.dialect_of("pick"), Some(&OPENAI));
    assert_eq!(plan.dialect_of("do"), Some(&OPENAI_STRICT));
    assert_eq!(plan.dialect_of("other"), None);
    // A single tool is rendered as without a plan.
    let alone = WireFormat::OpenAiResponses.tools_in(&OPENAI_STRICT, &specs[1..]).unwrap();
    assert_eq!(alone[0], plan.tools()[1]);
}

#[test]
fn tool_with_meaningful_null_is_not_strict() {
    let input = json!({"type": "object", "properties": {"due": {"type": ["string", "null"]}}, "additionalProperties": false});
    let specs = [spec("change", "Changes one.", &input, None), costing("do", 1, 0)];
    let plan = WireFormat::OpenAiResponses.plan(&OPENAI_STRICT, &specs).unwrap();
    assert_eq!(shown(&plan), ["openai", "openai-strict"]);
    assert_eq!(
        plan.decisions()[0].to_string(),
        "change: openai, because the strict dialect cannot send `null`, which stands for omitted values: \
         /properties/due"
    );
}

#[test]
fn too_many_tools_are_an_error_or_a_reported_cut() {
    let specs: Vec<_> = (0..130).map(|index| costing(&format!("t{index}"), 0, 0)).collect();
    let error = WireFormat::OpenAiChat.plan(&OPENAI, &specs).unwrap_err();
    assert_eq!(error, PlanError::TooMany { provider: "OpenAI", count: 130, max: 128 });
    assert!(
        error.to_string().starts_with("130 tools are too many for a request to OpenAI, which allows 128: ")
    );
    let plan =
        WireFormat::OpenAiChat.plan_with(&OPENAI, &specs, &PlanOptions::default().drop_excess()).unwrap();
    assert_eq!(plan.tools().as_array().unwrap().len(), 128);
    assert_eq!(plan.decisions().len(), 130);
    assert_eq!(plan.decisions()[129].to_string(), "t129: omitted, because a request can have 128 tools");
    assert_eq!(plan.dialect_of("t129"), None);
    assert!(WireFormat::Gemini.plan(&GEMINI, &specs).is_ok());
}

#[test]
fn declaration_field_follows_the_dialect() {
    let specs = [costing("do", 1, 0)];
    let key = |dialect: &'static Dialect, key: &str| {
        let plan = WireFormat::Gemini.plan(dialect, &specs).unwrap();
        plan.tools()[0]["functionDeclarations"][0].get(key).is_some()
    };
    assert!(key(&GEMINI, "parameters") && !key(&GEMINI, "parametersJsonSchema"));
    assert!(key(&GEMINI_JSON_SCHEMA, "parametersJsonSchema") && !key(&GEMINI_JSON_SCHEMA, "parameters"));
}

/// Returns its arguments.
fn echo(spec: ToolSpec) -> DynamicTool {
    DynamicTool::new(spec, |given: Value, _| ready(Ok(given.to_string())))
}

#[tokio::test]
async fn each_call_is_decoded_in_the_dialect_of_its_tool() {
    let registry =
        Registry::builder().add(echo(refused("pick"))).add(echo(costing("do", 1, 0))).seal().unwrap();
    let toolbox = Toolbox::builder(&registry).build().unwrap();
    let format = WireFormat::OpenAiResponses;
    let plan = format.plan(&OPENAI_STRICT, toolbox.specs()).unwrap();
    // In strict mode `null` stands for an omitted optional field; otherwise it is an error.
    let call = |id: &str, name: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments});
    let reply = json!({"status": "completed", "output": [
        call("1", "do", r#"{"o0": null}"#), call("2", "pick", r#"{"n": 7}"#),
        call("3", "pick", r#"{"n": 7, "note": null}"#), call("4", "do", r#"{"o0": true}"#),
    ]});
    let turn = Turn::new("turn").with_dialect(plan.dialects());
    let calls = format.tool_calls(&reply).unwrap();
    let dispatched = toolbox.dispatch(calls.calls, &turn, &DispatchOptions::new()).await;
    let replies = format.tool_results(&dispatched.responses);
    let messages: Vec<_> = replies.iter().map(|response| response["output"].as_str().unwrap()).collect();
    assert_eq!((messages[0], messages[1], messages[3]), ("{}", r#"{"n":7}"#, r#"{"o0":true}"#));
    assert!(messages[2].starts_with("Error: ") && messages[2].contains("/note"), "{}", messages[2]);
}

/// A tool whose rules must not be lost: OpenAI's strict mode has no keyword for the length, Gemini has one.
fn exact() -> ToolSpec {
    let input = json!({"type": "object", "properties": {"name": {"type": "string", "maxLength": 5}},
        "required": ["name"], "additionalProperties": false});
    ToolSpec { exact: true, ..spec("keep", "Keeps it.", &input, None) }
}

#[test]
fn exact_tool_is_rejected_unless_all_rules_are_keywords() {
    let plan = WireFormat::OpenAiResponses.plan(&OPENAI_STRICT, [&exact()]).unwrap();
    assert_eq!(shown(&plan), ["openai"]);
    let message = plan.decisions()[0].to_string();
    assert!(
        message.contains("/properties/name: the tool is `exact`, and in OpenAI strict `maxLength`"),
        "{message}"
    );
    assert_eq!(plan.tools()[0]["parameters"]["properties"]["name"]["maxLength"], 5);

    // No dialect of Gemini can express that array items are unique.
    let list = json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true});
    let input = json!({"type": "object", "properties": {"names": list}, "required": ["names"],
        "additionalProperties": false});
    let denied = ToolSpec { exact: true, ..spec("keep", "Keeps it.", &input, None) };
    let Err(PlanError::Refused(refused)) = WireFormat::Gemini.plan(&GEMINI, [&denied]) else { panic!() };
    let message = refused.to_string();
    assert!(
        message.contains("keep")
            && message.contains("the tool is `exact`, and in Google Gemini `uniqueItems`"),
        "{message}"
    );
    let message = WireFormat::Gemini.tools([&denied]).unwrap_err().to_string();
    assert!(message.contains("change the schema, or omit `exact`"), "{message}");
}

#[test]
fn rules_between_arguments_count_for_exact_tools() {
    let input = json!({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "additionalProperties": false, "x-relations": [["at-most-one", "a", "b"]]});
    let spec = ToolSpec { exact: true, ..spec("pick", "Picks.", &input, None) };
    assert!(spec.schema(&toolgen_runtime::schema::dialect::JSON_SCHEMA).is_ok());
    let reasons = spec.schema(&OPENAI).unwrap_err();
    assert!(reasons[0].reason.contains("`x-relations` is only stated in the description"), "{reasons:?}");
}

#[tokio::test]
async fn loop_decodes_calls_by_the_plan_of_each_request() {
    let tools = Registry::builder().add(echo(costing("one", 1, 0))).add(echo(refused("two"))).seal().unwrap();
    let toolbox = tools.toolbox(Default::default());
    let mut asked = Vec::new();
    let send = |request: Value| {
        asked.push(request);
        let call = |name: &str, arguments: Value| {
            json!({"id": name, "type": "function",
                "function": {"name": name, "arguments": arguments.to_string()}})
        };
        let calls = [call("one", json!({"o0": null})), call("two", json!({"n": 1}))];
        let message = match asked.len() {
            1 => json!({"role": "assistant", "content": null, "tool_calls": calls}),
            _ => json!({"role": "assistant", "content": "Done."}),
        };
        ready(Ok::<_, String>(json!({"choices": [{"message": message}]})))
    };
    let model = WireModel::new(WireFormat::OpenAiChat, send).with_dialect(&OPENAI_STRICT);
    let mut agent = Agent::new(model, &toolbox);
    assert_eq!(agent.run("Go.").await.text().unwrap(), "Done.");
    drop(agent);
    let strict = |at: usize| asked[0]["tools"][at]["function"].get("strict").cloned();
    assert_eq!((strict(0), strict(1)), (Some(json!(true)), None));
    let reported: Vec<&Value> = (2..4).map(|at| &asked[1]["messages"][at]["content"]).collect();
    assert_eq!(reported, ["{}", "{\"n\":1}"]);
}
