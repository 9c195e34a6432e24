//! Properties of tool definitions beyond names, descriptions and schemas, and the choice of tools of a request.

use toolgen_runtime::schema::dialect::{
    ANTHROPIC_STRICT, BEDROCK_STRICT, Dialect, GEMINI_JSON_SCHEMA, OPENAI_STRICT,
};
use toolgen_runtime::spec::Example;
use toolgen_runtime::spec::hints::{Callers, Hints, Icon, InputFormat};
use toolgen_runtime::wire::format::Property;
use toolgen_runtime::wire::{CacheTtl, Deferred, PlanOptions, Request, ToolChoice};

use std::collections::BTreeMap;

use toolgen_runtime::ToolInput;
use toolgen_runtime::schema::shape::Schema;

use crate::prelude::*;

const VENDORS: [WireFormat; 5] = [
    WireFormat::OpenAiChat,
    WireFormat::OpenAiResponses,
    WireFormat::Anthropic,
    WireFormat::Gemini,
    WireFormat::Bedrock,
];

/// Adds two numbers.
#[tool(
    pure,
    undocumented,
    example(r#"{"a": 1, "b": 2}"#, r#"{"a": 40, "b": 2}"#),
    hints(
        callers = "both",
        eager_input,
        icon = "https://example.com/add.png",
        meta = r#"{"example.com/team": "sums"}"#,
    )
)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Lists the orders of a customer.
#[tool(read_only, undocumented, hints(callers = "programs"))]
fn list_orders(customer: String) -> Vec<String> {
    vec![customer]
}

/// Moves a turtle.
#[tool(pure, undocumented, hints(lark = "start: (\"left\" | \"right\")+"))]
fn move_turtle(input: String) -> String {
    input
}

/// Sends a map.
#[tool(undocumented, example = r#"{"tags": {"a": 1}}"#)]
fn tag(tags: BTreeMap<String, u8>) -> String {
    format!("{tags:?}")
}

/// A tree.
#[derive(ToolInput)]
struct Tree {
    /// Its children.
    children: Vec<Tree>,
}

/// Plants a tree.
#[tool(undocumented, hints(callers = "both"))]
fn plant(tree: Tree) -> String {
    tree.children.len().to_string()
}

fn specs() -> Vec<ToolSpec> {
    toolset![add, list_orders, move_turtle].iter().map(|tool| tool.spec().clone()).collect()
}

fn named(name: &str) -> ToolSpec {
    let all = toolset![add, list_orders, move_turtle, tag, plant];
    all.iter().map(|tool| tool.spec()).find(|spec| spec.name.as_str() == name).unwrap().clone()
}

fn everything() -> PlanOptions {
    PlanOptions::default().with_examples(3).with_programs().with_output_schemas().cached(CacheTtl::OneHour)
}

/// Requests with all properties, in several dialects, and with all choices of tools, for
/// `tests/conversation/validate.py` and `tests/properties/check.py`.
pub(crate) fn offers() -> Vec<Value> {
    let choices = [
        ToolChoice::Auto,
        ToolChoice::Validated,
        ToolChoice::None,
        ToolChoice::Required,
        ToolChoice::Tool("add".into()),
        ToolChoice::Tool("move_turtle".into()),
        ToolChoice::AnyOf(vec!["add".into(), "move_turtle".into()]),
    ];
    let mut offers = Vec::new();
    for format in VENDORS {
        for tools in lists(format) {
            for (choice, parallel) in
                choices.iter().flat_map(|choice| [(choice, None), (choice, Some(false))])
            {
                let content = match format {
                    WireFormat::Gemini => json!({ "role": "user", "parts": [{ "text": "Hello" }] }),
                    WireFormat::Bedrock => json!({ "role": "user", "content": [{ "text": "Hello" }] }),
                    _ => json!({ "role": "user", "content": "Hello" }),
                };
                let request = Request::new(vec![content]).with_model("model-1").with_system("Be brief.");
                let mut request = request.with_tools(tools.clone()).with_tool_choice(choice.clone());
                request.parallel_calls = parallel;
                if let Ok(request) = format.request(request) {
                    offers.push(json!({ "format": format.name(), "request": request }));
                }
            }
        }
    }
    offers.push(json!({ "format": "mcp", "request": mcp() }));
    offers
}

/// The lists of tools of a format, with all properties.
fn lists(format: WireFormat) -> Vec<Value> {
    let both =
        |spec: ToolSpec| ToolSpec { hints: Hints { callers: Callers::Both, ..spec.hints.clone() }, ..spec };
    let specs: Vec<ToolSpec> = specs().into_iter().map(both).collect();
    let dialects: &[&Dialect] = match format {
        WireFormat::OpenAiChat | WireFormat::OpenAiResponses => &[&OPENAI_STRICT],
        WireFormat::Anthropic => &[&ANTHROPIC_STRICT],
        WireFormat::Gemini => &[&GEMINI_JSON_SCHEMA],
        _ => &[&BEDROCK_STRICT],
    };
    let strict = dialects
        .iter()
        .map(|dialect| (*dialect, PlanOptions::default().with_examples(1).cached(CacheTtl::FiveMinutes)));
    let pets = Toolset { description: Text::Static("Sums."), ..Toolset::new("sums", ["add", "move_turtle"]) };
    let deferred = [Deferred::new().load(["add"]).namespace(pets), Deferred::new().load(["add"]).by_regex()];
    let deferred = deferred.map(|deferred| (format.dialect(), everything().deferred(deferred)));
    let deferred = deferred.into_iter().filter(|_| format.defers());
    let plain = PlanOptions::default().with_examples(1);
    [(format.dialect(), everything()), (format.dialect(), plain)]
        .into_iter()
        .chain(strict)
        .chain(deferred)
        .map(|(dialect, options)| match Dialect::by_name(dialect.name) {
            Some(dialect) => format.plan_with(dialect, &specs, &options).unwrap().into_tools(),
            None => panic!("{}", dialect.name),
        })
        .collect()
}

/// A list of tools and a result, as an MCP server sends them.
fn mcp() -> Value {
    let sizes = vec![Text::from("any".to_owned())].into();
    let icon = Icon {
        src: "https://example.com/b.svg".into(),
        mime_type: "image/svg+xml".into(),
        sizes,
        theme: "dark".into(),
    };
    let add = named("add");
    let spec = ToolSpec { hints: Hints { icons: vec![icon].into(), ..add.hints.clone() }, ..add };
    let call = ToolCall::new("1", "add", json!({}));
    let result = ToolResponse::new(&call, Ok(ToolResult::json(json!(3))));
    let specs = |_: &str| Some(&spec);
    let options = ToolResultOptions::default().specs(&specs);
    let failed = ToolResponse::new(&call, Err(ToolError::failed("no")));
    let results = WireFormat::Mcp.tool_results_with(&[result, failed], &options);
    json!({ "list": WireFormat::Mcp.tools([&spec]).unwrap(), "results": results })
}

#[test]
fn every_property_is_written_or_lost() {
    for format in WireFormat::ALL {
        let plan = format.plan_with(format.dialect(), &specs(), &everything()).unwrap();
        let tools = plan.tools().to_string();
        let lost: Vec<Property> =
            plan.decisions().iter().flat_map(|decision| decision.lost.clone()).collect();
        let keys: [(Property, &[&str]); 5] = [
            (Property::Examples, &["\"input_examples\""]),
            (Property::Callers, &["\"allowed_callers\""]),
            (
                Property::OutputSchema,
                &["\"output_schema\"", "\"responseJsonSchema\"", "\"outputSchema\"", "\"output_config\""],
            ),
            (Property::EagerInput, &["\"eager_input_streaming\""]),
            (Property::InputFormat, &["\"grammar\""]),
        ];
        for (property, keys) in keys {
            let is_written = keys.iter().any(|key| tools.contains(key));
            assert_ne!(is_written, lost.contains(&property), "{format}: {property} in {tools}");
        }
    }
}

#[test]
fn nothing_is_added_without_options() {
    let bare = |spec: ToolSpec| ToolSpec { hints: Hints::NONE, examples: List::EMPTY, ..spec };
    let specs = [named("add"), named("list_orders")];
    // Hints that cost nothing are always written, those of programs only where programs run.
    let without_eager = specs.clone().map(|spec| ToolSpec {
        hints: Hints { eager_input: false, icons: List::EMPTY, meta: Text::EMPTY, ..spec.hints.clone() },
        ..spec
    });
    for format in WireFormat::ALL {
        let bare = specs.clone().map(bare);
        assert_eq!(format.tools(&without_eager).unwrap(), format.tools(&bare).unwrap(), "{format}");
    }
}

#[test]
fn anthropic_gets_examples_callers_and_a_cache_point() {
    let tools =
        WireFormat::Anthropic.tools_with(WireFormat::Anthropic.dialect(), &specs(), &everything()).unwrap();
    assert_eq!(tools[0], json!({"type": "code_execution_20260521", "name": "code_execution"}));
    let add = &tools[1];
    assert_eq!(add["input_examples"], json!([{"a": 1, "b": 2}, {"a": 40, "b": 2}]));
    assert_eq!(add["allowed_callers"], json!(["direct", "code_execution_20260521"]));
    assert_eq!(add["eager_input_streaming"], true);
    assert_eq!(tools[2]["allowed_callers"], json!(["code_execution_20260521"]));
    assert_eq!(tools[3]["cache_control"], json!({"type": "ephemeral", "ttl": "1h"}));
    assert!(add.get("cache_control").is_none() && tools[3].get("allowed_callers").is_none());
    // The grammar and the schema of results have no property.
    let description = tools[3]["description"].as_str().unwrap();
    assert!(description.starts_with("Moves a turtle.\n\n`input` is a text in this Lark grammar:\nstart: "));
    assert!(tools[2]["description"].as_str().unwrap().contains("Results are JSON of this schema: {"));
}

#[test]
fn examples_of_a_request_are_limited_and_valid() {
    let invalid = Example { summary: Text::EMPTY, arguments: r#"{"a": "x"}"#.into() };
    let add = named("add");
    let examples: Vec<Example> = [invalid].into_iter().chain(add.examples.iter().cloned()).collect();
    let spec = ToolSpec { examples: examples.into(), ..add };
    let options = PlanOptions::default().with_examples(1);
    let tools = WireFormat::Anthropic.tools_with(WireFormat::Anthropic.dialect(), [&spec], &options).unwrap();
    assert_eq!(tools[0]["input_examples"], json!([{"a": 1, "b": 2}]));
    let told = WireFormat::Gemini.tools_with(WireFormat::Gemini.dialect(), [&spec], &options).unwrap();
    let description = &told[0]["functionDeclarations"][0]["description"];
    assert_eq!(*description, "Adds two numbers.\n\nExample arguments: {\"a\":1,\"b\":2}");
}

#[test]
fn responses_gets_callers_output_schemas_and_custom_tools() {
    let tools = WireFormat::OpenAiResponses
        .tools_with(WireFormat::OpenAiResponses.dialect(), &specs(), &everything())
        .unwrap();
    assert_eq!(tools[0], json!({"type": "programmatic_tool_calling"}));
    assert_eq!(tools[1]["allowed_callers"], json!(["direct", "programmatic"]));
    assert_eq!(tools[2]["allowed_callers"], json!(["programmatic"]));
    assert!(tools[2]["output_schema"].is_object());
    assert_eq!(
        tools[3],
        json!({"type": "custom", "name": "move_turtle", "description": "Moves a turtle.",
               "format": {"type": "grammar", "syntax": "lark", "definition": "start: (\"left\" | \"right\")+"}})
    );
    let custom = &WireFormat::OpenAiChat
        .tools_with(WireFormat::OpenAiChat.dialect(), [&named("move_turtle")], &PlanOptions::default())
        .unwrap()[0];
    assert_eq!(custom["custom"]["format"]["grammar"]["syntax"], "lark");
    // The hint has no effect on a tool without this argument.
    let hints = Hints { input_format: InputFormat::Text, ..Hints::NONE };
    let spec = ToolSpec { hints, ..named("tag") };
    let format = WireFormat::OpenAiChat;
    let tools = format.tools_with(format.dialect(), [&spec], &PlanOptions::default()).unwrap();
    assert_eq!(tools, format.tools([&named("tag")]).unwrap());
}

#[test]
fn custom_tools_keep_what_their_schema_says() {
    let schema = r#"{"type":"object","properties":{"input":{"type":"string","description":"The moves.","maxLength":20}},"required":["input"]}"#;
    let spec = ToolSpec { input: Schema::text(schema), ..named("move_turtle") };
    for format in [WireFormat::OpenAiResponses, WireFormat::OpenAiChat] {
        let plan = format.plan_with(format.dialect(), [&spec], &everything()).unwrap();
        let told = plan.tools()[0].to_string();
        assert!(told.contains("`input`: The moves.") && told.contains("maxLength"), "{told}");
        assert!(
            told.contains("Results are JSON") == plan.decisions()[0].lost.contains(&Property::OutputSchema)
        );
    }
}

#[test]
fn examples_have_the_form_of_the_schema() {
    let plan = WireFormat::Anthropic.plan_with(
        &ANTHROPIC_STRICT,
        [&named("tag")],
        &PlanOptions::default().with_examples(1),
    );
    let tool = &plan.unwrap().into_tools()[0];
    assert_eq!(tool["input_schema"]["properties"]["tags"]["type"], "array", "{tool}");
    assert_eq!(tool["input_examples"], json!([{"tags": [{"key": "a", "value": 1}]}]));
}

#[test]
fn anthropic_programs_call_neither_strict_nor_recursive_tools() {
    let specs = [named("add"), named("plant")];
    let format = WireFormat::Anthropic;
    let plan = format.plan_with(&ANTHROPIC_STRICT, &specs, &PlanOptions::default().with_programs()).unwrap();
    let tools = plan.tools();
    assert!(tools[1]["allowed_callers"].is_array() && tools[1].get("strict").is_none(), "{tools}");
    assert_eq!(plan.decisions()[0].lost, [Property::Strict]);
    // The strict dialect has no recursion.
    assert!(tools[2]["allowed_callers"].is_array(), "{tools}");
    let lax = format.plan_with(format.dialect(), &specs, &PlanOptions::default().with_programs()).unwrap();
    assert!(lax.tools()[2].get("allowed_callers").is_none(), "{}", lax.tools());
    assert_eq!(lax.decisions()[1].lost, [Property::Callers]);
    // Another version of the vendor's tool, which is not added again.
    let other = json!({"type": "code_execution_20260120", "name": "code_execution"});
    let options = PlanOptions::default().with_programs().with_vendor_tool(other.clone());
    let tools = format.tools_with(format.dialect(), &specs, &options).unwrap();
    assert_eq!((tools.as_array().unwrap().len(), &tools[0]), (3, &other));
    assert_eq!(tools[1]["allowed_callers"], json!(["direct", "code_execution_20260120"]));
}

#[test]
fn tools_of_gemini_stay_beside_those_of_yours() {
    let format = WireFormat::Gemini;
    let options = PlanOptions::default().with_vendor_tool(json!({"googleSearch": {}}));
    let request = |specs: &[ToolSpec]| {
        let tools = format.tools_with(format.dialect(), specs, &options).unwrap();
        format.request(Request::new(Vec::new()).with_tools(tools)).unwrap()["tools"].clone()
    };
    assert_eq!(request(&specs())[1]["functionDeclarations"].as_array().unwrap().len(), 3);
    assert_eq!(request(&[]), json!([{"googleSearch": {}}]));
}

#[tokio::test]
async fn calls_of_custom_tools_run() {
    let registry = Registry::new(toolset![move_turtle]).unwrap();
    let toolbox = Toolbox::builder(&registry).build().unwrap();
    let reply = json!({"status": "completed", "output": [
        {"type": "custom_tool_call", "call_id": "c1", "name": "move_turtle", "input": "left right"},
    ]});
    let calls = WireFormat::OpenAiResponses.tool_calls(&reply).unwrap();
    let answers = toolbox.dispatch(calls.calls, &Turn::new("t"), &DispatchOptions::default()).await;
    assert_eq!(
        WireFormat::OpenAiResponses.tool_results(&answers.responses),
        [json!({"type": "custom_tool_call_output", "call_id": "c1", "output": "left right"})]
    );
}

#[test]
fn bedrock_gets_a_cache_point_after_its_tools() {
    let options = PlanOptions::default().cached(CacheTtl::FiveMinutes);
    let config = WireFormat::Bedrock.tools_with(WireFormat::Bedrock.dialect(), &specs(), &options).unwrap();
    assert_eq!(config["tools"][3], json!({"cachePoint": {"type": "default"}}));
    assert_eq!(
        WireFormat::Bedrock.tools_with(WireFormat::Bedrock.dialect(), [], &options).unwrap(),
        json!({"tools": []})
    );
}

#[test]
fn tools_of_a_vendor_come_first() {
    let search = json!({"type": "web_search_20260318", "name": "web_search", "max_uses": 3});
    let options = PlanOptions::default().with_vendor_tool(search.clone());
    assert_eq!(
        WireFormat::Anthropic.tools_with(WireFormat::Anthropic.dialect(), &specs(), &options).unwrap()[0],
        search
    );
    let options = PlanOptions::default().with_vendor_tool(json!({"googleSearch": {}}));
    let tools = WireFormat::Gemini.tools_with(WireFormat::Gemini.dialect(), &specs(), &options).unwrap();
    assert_eq!(tools[0], json!({"googleSearch": {}}));
    assert_eq!(tools[1]["functionDeclarations"].as_array().unwrap().len(), 3);
    let options = PlanOptions::default().with_vendor_tool(json!({"systemTool": {"name": "nova_grounding"}}));
    let config = WireFormat::Bedrock.tools_with(WireFormat::Bedrock.dialect(), &specs(), &options).unwrap();
    assert_eq!(config["tools"][0]["systemTool"]["name"], "nova_grounding");
    // A tool that the vendor defines and the program runs.
    let definition = json!({"type": "bash_20250124", "name": "add"});
    let options = PlanOptions::default().with_vendor_tool(definition.clone());
    let tools =
        WireFormat::Anthropic.tools_with(WireFormat::Anthropic.dialect(), &specs(), &options).unwrap();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!((&tools[0], names), (&definition, vec!["add", "list_orders", "move_turtle"]));
}

#[test]
fn mcp_clients_get_icons_and_meta() {
    let mcp = mcp();
    let tool = &mcp["list"]["tools"][0];
    assert_eq!(tool["_meta"], json!({"example.com/team": "sums"}));
    assert_eq!(
        tool["icons"],
        json!([{"src": "https://example.com/b.svg", "mimeType": "image/svg+xml", "sizes": ["any"], "theme": "dark"}])
    );
}

#[test]
fn hints_are_not_required_of_programs() {
    // Without programs, the model is offered all tools.
    let tools = WireFormat::Anthropic.tools(&specs()).unwrap();
    assert_eq!(tools.as_array().unwrap().len(), 3);
    assert_eq!(named("list_orders").hints.callers, Callers::Programs);
    assert_eq!(
        named("move_turtle").hints.input_format,
        InputFormat::Lark("start: (\"left\" | \"right\")+".into())
    );
}

#[test]
fn choice_of_tools_in_every_format() {
    let body = |format: WireFormat, choice: Option<ToolChoice>, parallel| {
        let mut request = Request::new(Vec::new()).with_tools(format.tools(&specs()).unwrap());
        (request.tool_choice, request.parallel_calls) = (choice, parallel);
        format.request(request).map_err(|error| error.to_string())
    };
    let one = || Some(ToolChoice::Tool("add".into()));
    let any = || Some(ToolChoice::AnyOf(vec!["add".into(), "move_turtle".into()]));
    let chat = |choice| body(WireFormat::OpenAiChat, choice, None).unwrap()["tool_choice"].clone();
    assert_eq!(chat(one()), json!({"type": "function", "function": {"name": "add"}}));
    assert_eq!(chat(Some(ToolChoice::Validated)), "auto");
    assert_eq!(
        chat(any()),
        json!({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [
            {"type": "function", "function": {"name": "add"}}, {"type": "custom", "custom": {"name": "move_turtle"}},
        ]}})
    );
    let responses = body(WireFormat::OpenAiResponses, any(), Some(false)).unwrap();
    assert_eq!(
        (&responses["tool_choice"], &responses["parallel_tool_calls"]),
        (
            &json!({"type": "allowed_tools", "mode": "required", "tools": [
                {"type": "function", "name": "add"}, {"type": "custom", "name": "move_turtle"},
            ]}),
            &json!(false)
        )
    );
    let anthropic = body(WireFormat::Anthropic, None, Some(false)).unwrap();
    assert_eq!(anthropic["tool_choice"], json!({"type": "auto", "disable_parallel_tool_use": true}));
    let gemini = body(WireFormat::Gemini, any(), None).unwrap();
    assert_eq!(
        gemini["toolConfig"],
        json!({"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["add", "move_turtle"]}})
    );
    let bedrock = body(WireFormat::Bedrock, one(), None).unwrap();
    assert_eq!(bedrock["toolConfig"]["toolChoice"], json!({"tool": {"name": "add"}}));
    assert_eq!(bedrock["toolConfig"]["tools"].as_array().unwrap().len(), 3);
    // Tools in a group are found too.
    let group = json!([{"type": "namespace", "tools": [{"type": "custom", "name": "move_turtle"}]}]);
    let request =
        Request::new(Vec::new()).with_tools(group).with_tool_choice(ToolChoice::Tool("move_turtle".into()));
    let request = WireFormat::OpenAiResponses.request(request).unwrap();
    assert_eq!(request["tool_choice"], json!({"type": "custom", "name": "move_turtle"}));
    // Without tools, there is no choice.
    for format in VENDORS {
        let mut request = Request::new(Vec::new()).with_tools(format.tools(&[]).unwrap());
        request = request.with_tool_choice(ToolChoice::Required).with_parallel_calls(false);
        let without = format.request(Request::new(Vec::new())).unwrap();
        assert_eq!(format.request(request).unwrap(), without, "{format}");
    }
    let programs = WireFormat::Anthropic.tools_with(
        WireFormat::Anthropic.dialect(),
        &specs(),
        &PlanOptions::default().with_programs(),
    );
    let programs = programs.unwrap();
    let request = || Request::new(Vec::new()).with_tools(programs.clone());
    let serial = WireFormat::Anthropic.request(request().with_parallel_calls(false)).unwrap_err().to_string();
    assert!(serial.contains("cannot forbid parallel calls"), "{serial}");
    let choice = ToolChoice::Tool("list_orders".into());
    let only = WireFormat::Anthropic.request(request().with_tool_choice(choice)).unwrap_err().to_string();
    assert!(only.contains("only programs may call"), "{only}");
    let unknown = Some(ToolChoice::Tool("ad".into()));
    let impossible = [
        (WireFormat::Gemini, unknown, None, "names tools that the request does not have: ad"),
        (
            WireFormat::Anthropic,
            any(),
            None,
            "anthropic cannot require one of several tools; offer only these",
        ),
        (WireFormat::Bedrock, Some(ToolChoice::None), None, "bedrock cannot forbid calls; offer no tools"),
        (WireFormat::Gemini, None, Some(true), "gemini has no parameter for parallel calls"),
        (
            WireFormat::OpenAiChat,
            Some(ToolChoice::AnyOf(Vec::new())),
            None,
            "cannot let a model call one of no tools",
        ),
    ];
    for (format, choice, parallel, message) in impossible {
        let error = body(format, choice, parallel).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}
