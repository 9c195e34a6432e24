//! Tools that a vendor loads when a model finds them.

use toolgen_runtime::schema::dialect::OPENAI_STRICT;
use toolgen_runtime::wire::{Deferred, PlanError, PlanOptions};

use crate::prelude::*;

fn specs() -> Vec<ToolSpec> {
    let spec =
        |name| ToolSpec { name: ToolName::new(name), description: "Does it.".into(), ..ToolSpec::EMPTY };
    ["add_pet", "drop_pet", "pay"].map(spec).into()
}

fn defer<'a>(
    format: WireFormat,
    deferred: &Deferred,
    specs: impl IntoIterator<Item = &'a ToolSpec>,
) -> Result<Value, PlanError> {
    format.tools_with(format.dialect(), specs, &PlanOptions::default().deferred(deferred.clone()))
}

fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    list.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap()
}

#[test]
fn anthropic_search_supports_words_and_patterns() {
    let deferred = Deferred::new().load(["pay"]);
    let list = defer(WireFormat::Anthropic, &deferred, &specs()).unwrap();
    assert_eq!(list[0], json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}));
    assert_eq!(named(&list, "pay")["defer_loading"], false);
    assert_eq!(named(&list, "add_pet")["defer_loading"], true);
    // Except for the flag, the tools are those of a usual list.
    let mut usual = WireFormat::Anthropic.tools(&specs()).unwrap();
    usual[0]["defer_loading"] = true.into();
    assert_eq!(list[1], usual[0]);
    let list = defer(WireFormat::Anthropic, &deferred.by_regex(), &specs()).unwrap();
    assert_eq!(list[0], json!({"type": "tool_search_tool_regex_20251119", "name": "tool_search_tool_regex"}));
}

/// Returns the weather of a place.
#[tool(read_only, undocumented)]
fn get_weather(place: String) -> String {
    format!("It rains in {place}.")
}

/// Sends a parcel.
#[tool(undocumented)]
fn send_parcel(to: String) -> String {
    to
}

#[tokio::test]
async fn anthropic_gets_references_to_discovered_tools() {
    let registry = Registry::new(toolset![get_weather, send_parcel]).unwrap();
    let all = Toolbox::builder(&registry).build().unwrap();
    let toolbox = Toolbox::builder(&registry).discovery(Discovery::new()).build().unwrap();
    let search = toolbox.specs().filter(|spec| spec.name.as_str() == "search_tools");
    let specs: Vec<&ToolSpec> = all.specs().chain(search).collect();

    // There is no search of the vendor, and ours is loaded: a request with only deferred tools is rejected.
    let deferred = Deferred::new().searched_by("search_tools");
    let list = defer(WireFormat::Anthropic, &deferred, specs.iter().copied()).unwrap();
    let flags: Vec<_> =
        list.as_array().unwrap().iter().map(|tool| (&tool["name"], &tool["defer_loading"])).collect();
    let flag = |at: usize, name: &str, is_deferred: bool| {
        assert_eq!(flags[at], (&json!(name), &json!(is_deferred)));
    };
    flag(0, "get_weather", true);
    flag(1, "send_parcel", true);
    flag(2, "search_tools", false);
    assert_eq!(flags.len(), 3);

    let responses = async |name: &str, arguments: Value| {
        let response = toolbox.run(ToolCall::new("1", name, arguments), &Turn::new("turn")).await;
        let options = ToolResultOptions::default().found_by("search_tools");
        WireFormat::Anthropic.tool_results_with(&[response], &options)[0]["content"][0].clone()
    };
    let found = responses("search_tools", json!({"query": "weather"})).await;
    let reference = json!({"type": "tool_reference", "tool_name": "get_weather"});
    assert_eq!(found, json!({"type": "tool_result", "tool_use_id": "1", "content": [reference]}));
    // A referenced tool is called by its own name, and its result is as usual.
    let response = responses("get_weather", json!({"place": "Oslo"})).await;
    assert_eq!(response["content"], "It rains in Oslo.");
    // If nothing was found, or on an error, the model reads what to do.
    let nothing = responses("search_tools", json!({"query": "zzz"})).await;
    assert!(nothing["content"].as_str().unwrap().starts_with("No tool matches 'zzz'."), "{nothing}");
    assert_eq!(responses("search_tools", json!({})).await["is_error"], true);
}

#[test]
fn only_anthropic_accepts_tool_references() {
    let deferred = Deferred::new().searched_by("pay");
    let message = defer(WireFormat::OpenAiResponses, &deferred, &specs()).unwrap_err().to_string();
    assert!(message.contains("omit `Deferred::searched_by`"), "{message}");
    let unknown = defer(WireFormat::Anthropic, &Deferred::new().searched_by("find"), &specs());
    assert_eq!(unknown.unwrap_err().to_string(), "tools to load that are not among the tools: find");
}

#[test]
fn responses_groups_tools_in_namespaces() {
    let pets =
        Toolset { description: Text::Static("Pets."), ..Toolset::new("pets", ["add_pet", "drop_pet"]) };
    let deferred = Deferred::new().load(["drop_pet"]).namespace(pets).namespace(Toolset::new("none", ["x"]));
    let options = PlanOptions::default().deferred(deferred);
    let plan = WireFormat::OpenAiResponses.plan_with(&OPENAI_STRICT, &specs(), &options).unwrap();
    let list = plan.into_tools();
    assert_eq!(list.as_array().unwrap().len(), 3, "{list}");
    assert_eq!(list[0], json!({"type": "tool_search", "execution": "server"}));
    assert_eq!(
        (&list[1]["name"], &list[1]["defer_loading"], &list[1]["strict"]),
        (&json!("pay"), &json!(true), &json!(true))
    );
    assert_eq!(
        (&list[2]["type"], &list[2]["name"], &list[2]["description"]),
        (&json!("namespace"), &json!("pets"), &json!("Pets."))
    );
    let flags: Vec<&Value> =
        list[2]["tools"].as_array().unwrap().iter().map(|tool| &tool["defer_loading"]).collect();
    assert_eq!(flags, [true, false]);
}

#[test]
fn formats_without_deferred_tools_explain_the_alternative() {
    for format in WireFormat::ALL {
        let message = defer(format, &Deferred::new(), &specs()).map_err(|error| error.to_string());
        assert_eq!(message.is_ok(), format.defers(), "{format}");
        if let Err(error) = message {
            let expected = "cannot defer tools; use a discovery (`ToolboxBuilder::discovery`) instead";
            assert_eq!(error, format!("{format} {expected}"));
        }
    }
    let unknown = defer(WireFormat::Anthropic, &Deferred::new().load(["pya"]), &specs());
    assert_eq!(unknown.unwrap_err().to_string(), "tools to load that are not among the tools: pya");
}

#[test]
fn server_side_search_is_not_a_call() {
    let reply = json!({"role": "assistant", "stop_reason": "tool_use", "content": [
        {"type": "text", "text": "I look for a tool."},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25", "input": {"query": "pay"}},
        {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": {
            "type": "tool_search_tool_search_result",
            "tool_references": [{"type": "tool_reference", "tool_name": "pay"}],
        }},
        {"type": "tool_use", "id": "toolu_1", "name": "pay", "input": {"to": "Bo"}},
    ]});
    let calls = WireFormat::Anthropic.tool_calls(&reply).unwrap();
    let messages: Vec<(&str, &str)> = calls.iter().map(|call| (&*call.id, &*call.name)).collect();
    assert_eq!(messages, [("toolu_1", "pay")]);
    let failed = json!({"role": "assistant", "stop_reason": "end_turn", "content": [
        {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1",
         "content": {"type": "tool_search_tool_result_error", "error_code": "unavailable"}},
    ]});
    assert_eq!(WireFormat::Anthropic.tool_calls(&failed).unwrap().iter().count(), 0);
    let response = json!({"status": "completed", "output": [
        {"type": "tool_search_call", "id": "ts_1", "execution": "server", "status": "completed", "arguments": {"paths": ["pets"]}},
        {"type": "tool_search_output", "id": "to_1", "execution": "server", "status": "completed", "tools": [
            {"type": "namespace", "name": "pets", "description": "Pets.", "tools": []},
        ]},
        {"type": "function_call", "call_id": "c1", "name": "add_pet", "namespace": "pets", "arguments": "{}"},
    ]});
    let calls = WireFormat::OpenAiResponses.tool_calls(&response).unwrap();
    let messages: Vec<(&str, &str)> = calls.iter().map(|call| (&*call.id, &*call.name)).collect();
    assert_eq!(messages, [("c1", "add_pet")]);
}
