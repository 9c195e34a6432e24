//! A strict MCP client: for a tool that declares its output, every result is an error or has the declared content.

use toolgen_runtime::call::structured::Structured;
use toolgen_runtime::engine::dynamic::DynamicTool;
use toolgen_runtime::layers::pages::{Pages, ResultLimit};
use toolgen_runtime::schema::shape::read::read_document;
use toolgen_runtime::spec::Completion;

use crate::prelude::*;
use crate::wire::helpers::spec;

/// A tool that declares `{"rows": [number]}`.
fn declared() -> ToolSpec {
    let rows = json!({"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "integer"}},
                      "id": {"type": "string", "readOnly": true}},
                      "required": ["rows"], "additionalProperties": false});
    let mut spec =
        spec("give", "Gives rows.", &json!({"type": "object", "additionalProperties": false}), Some(&rows));
    spec.requires = vec![Requirement::tool("other").optional()].into();
    spec.completion = Some(Completion { next_state: "NEXT".into() });
    spec
}

/// Returns a result as the official clients accept it.
async fn answered(give: fn() -> ToolResult, limit: Option<u64>) -> Value {
    let (schema, response) = listed_and_answered(declared(), give, limit).await;
    judge(&schema, &response);
    response
}

/// Returns the schema that is listed for the results of a tool, and a result.
async fn listed_and_answered(spec: ToolSpec, give: fn() -> ToolResult, limit: Option<u64>) -> (Value, Value) {
    let registry =
        Registry::builder().add(DynamicTool::new(spec, move |_, _| ready(Ok(give())))).seal().unwrap();
    let mut toolbox = Toolbox::builder(&registry);
    if let Some(limit) = limit {
        toolbox = toolbox.paging(Pages::new(ResultLimit::bytes(limit)));
    }
    let toolbox = toolbox.build().unwrap();
    let call = ToolCall::new("1", "give", json!({}));
    let response = toolbox.run(call, &Turn::new("turn")).await;
    let tools = WireFormat::Mcp.tools(toolbox.specs()).unwrap();
    let tools = tools["tools"].as_array().unwrap().clone();
    let schema = tools.iter().find(|tool| tool["name"] == "give").unwrap()["outputSchema"].clone();
    (schema, WireFormat::Mcp.tool_results(&[response]).remove(0)["result"].take())
}

fn judge(schema: &Value, response: &Value) {
    assert!(schema.is_object());
    if response["isError"] == true {
        return;
    }
    let structured = response.get("structuredContent").expect("a structured result is declared");
    assert!(jsonschema::is_valid(schema, structured), "{structured} is not as declared: {schema}");
}

#[tokio::test]
async fn structured_content_has_no_keys_of_layers() {
    let response = answered(|| ToolResult::json(json!({"rows": [1, 2]})), None).await;
    assert_eq!(response["structuredContent"], json!({"rows": [1, 2]}));
    assert_eq!(response.get("isError"), None);
    // Additional fields of a result are accepted.
    let response = answered(|| ToolResult::json(json!({"rows": [], "id": "7"})), Some(1000)).await;
    assert_eq!(response["structuredContent"], json!({"rows": [], "id": "7"}));
}

#[tokio::test]
async fn additional_text_is_a_separate_block() {
    fn given(text: &str) -> ToolResult {
        ToolResult::text(text).with_details(json!({"rows": [1, 2]}))
    }
    let response = answered(|| given("GET /x → 200\nLink: next\n\n{\"rows\": [1, 2]}"), None).await;
    let [head, body] = ["GET /x → 200\nLink: next", "{\"rows\": [1, 2]}"];
    assert_eq!(response["content"], json!([{"type": "text", "text": head}, {"type": "text", "text": body}]));
    // Other text stays together.
    let response = answered(|| given("a\n\n{\"rows\": []}"), None).await;
    assert_eq!(response["content"], json!([{"type": "text", "text": "a\n\n{\"rows\": []}"}]));
    let response = answered(|| given("a\n\nb"), None).await;
    assert_eq!(response["content"], json!([{"type": "text", "text": "a\n\nb"}]));
}

#[tokio::test]
async fn oversized_result_is_an_error_with_its_first_page() {
    let large = || ToolResult::json(json!({"rows": vec![1; 500_000]}));
    let response = answered(large, Some(1000)).await;
    assert_eq!(response["isError"], true);
    assert!(response.to_string().len() < 2000, "{} bytes", response.to_string().len());
    let message = response["content"].to_string();
    assert!(message.contains(" bytes, and the maximum is 1000"), "{message}");
    assert!(message.contains("read_result"), "{message}");
    // Large for the program, short for the model.
    let short = || ToolResult::text("many rows").with_details(json!({"rows": vec![1; 500_000]}));
    assert_eq!(answered(short, Some(1000)).await["isError"], true);
    // Long for the model, small as a value.
    let long = || ToolResult::text("one row ".repeat(1000)).with_details(json!({"rows": [1]}));
    let response = answered(long, Some(1000)).await;
    assert_eq!((response.get("isError"), &response["structuredContent"]), (None, &json!({"rows": [1]})));
}

#[tokio::test]
async fn result_violating_its_schema_is_an_error() {
    let response = answered(|| ToolResult::json(json!({"rows": ["one"]})), None).await;
    assert_eq!(response["isError"], true);
    assert!(response["content"][0]["text"].as_str().unwrap().contains("/rows/0"), "{response}");
    assert_eq!(answered(|| ToolResult::text("rows"), None).await["isError"], true);
}

/// The call was made: a model would repeat a call whose result looks like a failure.
#[tokio::test]
async fn deviating_service_response_is_conformed_and_not_an_error() {
    let of_service = || ToolSpec { output_may_differ: true, ..declared() };
    for (give, structured, notice) in [
        (|| ToolResult::json(json!({"rows": [1]})), json!({"rows": [1]}), ""),
        (|| ToolResult::json(json!({"rows": null, "more": "7"})), json!({"rows": null, "more": "7"}), ""),
        (|| ToolResult::json(json!({})), json!({}), ""),
        (
            || ToolResult::json(json!({"rows": [1, "2", 3], "id": 7})),
            json!({"rows": [1, null, 3]}),
            "[Left out of the structured result, because the types differ from the output schema: /rows/1: \
             expected an integer, got a string; /id: expected a string, got a number.]",
        ),
        (
            || ToolResult::json(json!({"rows": ["a", "b", "c", "d", "e"]})),
            json!({"rows": [null, null, null, null, null]}),
            "got a string; and 2 more.]",
        ),
        (|| ToolResult::json(json!([1, 2])), json!({}), "the result: expected an object, got an array.]"),
        (|| ToolResult::json(Value::Null), json!({}), "the result: expected an object, got null.]"),
        (|| ToolResult::json(json!({"rows": vec![1; 5000]})), json!({}), " bytes, and the maximum is 1000.]"),
        (
            || {
                let mut result = ToolResult::text("HTTP 204");
                result.structured = Structured::Missing("the body is empty".into());
                result
            },
            json!({}),
            "[No structured result: the body is empty.]",
        ),
    ] as [(fn() -> ToolResult, Value, &str); 9]
    {
        let (schema, response) = listed_and_answered(of_service(), give, Some(1000)).await;
        judge(&schema, &response);
        assert_eq!((&response["isError"], &response["structuredContent"]), (&Value::Null, &structured));
        let blocks = response["content"].as_array().unwrap();
        let last = blocks.last().unwrap()["text"].as_str().unwrap();
        match notice {
            "" => assert!(blocks.len() == 1 && !last.contains("structured result"), "{last}"),
            notice => assert!(last.contains(notice), "{last}"),
        }
    }
}

#[tokio::test]
async fn whole_response_is_a_block_even_if_parts_are_left_out() {
    let spec = ToolSpec { output_may_differ: true, ..declared() };
    let give = || {
        let mut result = ToolResult::text("GET /x → 200\n\n{\"rows\":[\"1\"]}");
        result.structured = Structured::Json("{\"rows\":[\"1\"]}".into());
        result
    };
    let (schema, response) = listed_and_answered(spec, give, None).await;
    judge(&schema, &response);
    assert_eq!(response["structuredContent"], json!({"rows": [null]}));
    let texts: Vec<&Value> =
        response["content"].as_array().unwrap().iter().map(|block| &block["text"]).collect();
    assert_eq!(texts[..2], [&json!("GET /x → 200"), &json!("{\"rows\":[\"1\"]}")]);
    assert_eq!(texts.len(), 3);
}

/// A schema that declares only types, and as many levels as fit.
#[test]
fn service_publishes_a_tolerant_schema() {
    let output = json!({
        "type": "object",
        "properties": {
            "state": {"type": "string", "enum": ["open", "closed"], "description": "The state."},
            "owner": {"$ref": "#/$defs/Owner"},
            "count": {"type": "integer", "minimum": 1},
        },
        "required": ["state"],
        "additionalProperties": false,
        "$defs": {"Owner": {
            "type": "object", "required": ["name"],
            "properties": {"name": {"type": "string", "pattern": "^x", "description": "x".repeat(300)},
                           "boss": {"$ref": "#/$defs/Owner"}},
        }},
    });
    let (shape, defs) = read_document(&output, &mut Vec::new());
    let mut spec = ToolSpec { output: Some(shape.into()), defs, output_may_differ: true, ..declared() };
    let mut listed = |ceiling: Option<usize>| {
        spec.slim.ceiling = ceiling;
        WireFormat::Mcp.tools([&spec]).unwrap()["tools"][0]["outputSchema"].clone()
    };
    let whole = json!({
        "type": "object",
        "properties": {
            "state": {"type": ["string", "null"], "examples": ["open", "closed"], "description": "The state."},
            "owner": {"$ref": "#/$defs/Owner"},
            "count": {"type": ["integer", "null"]},
        },
        "$defs": {"Owner": {
            "type": ["object", "null"],
            "properties": {"name": {"type": ["string", "null"], "description": "x".repeat(300)},
                           "boss": {"$ref": "#/$defs/Owner"}},
        }},
    });
    let mut outer = whole.clone();
    outer.as_object_mut().unwrap().shift_remove("$defs");
    outer["properties"]["owner"] = json!({"type": ["object", "null"]});
    assert_eq!(listed(None), whole);
    assert_eq!(listed(Some(22_000)), whole);
    assert_eq!(listed(Some(600)), outer);
    assert_eq!(listed(Some(200)), Value::Null);
}

#[test]
fn response_without_a_toolbox_needs_the_specification() {
    let spec = declared();
    let call = ToolCall::new("1", "give", json!({}));
    let response = ToolResponse::new(&call, Ok(ToolResult::json(json!({"rows": []}))));
    let specs = |_: &str| Some(&spec);
    let options = ToolResultOptions::default().specs(&specs);
    let reply = &WireFormat::Mcp.tool_results_with(&[response], &options)[0];
    assert_eq!(reply["result"]["structuredContent"], json!({"rows": []}));
}

#[test]
fn output_schema_is_included_if_it_fits_the_budget() {
    let listed = |ceiling: Option<usize>| {
        let mut spec = declared();
        spec.slim.ceiling = ceiling;
        WireFormat::Mcp.tools([&spec]).unwrap()["tools"][0].take()
    };
    let (whole, without) = (listed(None), listed(Some(250)));
    assert!(whole["outputSchema"].is_object() && without.get("outputSchema").is_none());
    assert_eq!(without["inputSchema"], whole["inputSchema"]);
    assert_eq!(listed(Some(22_000)), whole);
}

/// Clients up to version 2025-11-25 require an object: other values are wrapped in one, as in the official SDKs.
#[tokio::test]
async fn array_or_number_result_is_wrapped_in_an_object() {
    let of = |output: Value| {
        let (shape, defs) = read_document(&output, &mut Vec::new());
        ToolSpec { output: Some(shape.into()), defs, ..declared() }
    };
    let whole = json!({"type": "integer"});
    let list =
        json!({"type": "array", "items": {"$ref": "#/$defs/Row"}, "$defs": {"Row": {"type": "integer"}}});
    let maybe = json!({"type": ["object", "null"], "properties": {}, "additionalProperties": false});
    for (output, give, result) in [
        (&whole, || ToolResult::json(json!(3)), json!(3)),
        (&list, || ToolResult::json(json!([1, 2])), json!([1, 2])),
        (&maybe, || ToolResult::json(Value::Null), Value::Null),
    ] as [(&Value, fn() -> ToolResult, Value); 3]
    {
        let (schema, response) = listed_and_answered(of(output.clone()), give, None).await;
        judge(&schema, &response);
        assert_eq!(
            (&schema["type"], &schema["required"]),
            (&json!("object"), &json!(["result"])),
            "{schema}"
        );
        assert_eq!(response["structuredContent"], json!({ "result": result }));
        assert_eq!(response["content"][0]["text"], result.to_string());
    }
    // Errors need no structured content, and content that does not match the declaration is an error.
    for give in [|| ToolResult::json(json!(["one"])), || ToolResult::text("rows")] as [fn() -> ToolResult; 2]
    {
        let (schema, response) = listed_and_answered(of(list.clone()), give, None).await;
        judge(&schema, &response);
        assert_eq!((&response["isError"], response.get("structuredContent")), (&json!(true), None));
    }
    // Objects of several kinds are objects.
    let either = json!({"anyOf": [{"type": "object", "required": ["a"], "properties": {"a": {}}},
                                  {"type": "object", "required": ["b"], "properties": {"b": {}}}]});
    let (schema, response) =
        listed_and_answered(of(either), || ToolResult::json(json!({"b": 1})), None).await;
    judge(&schema, &response);
    assert_eq!((&schema["type"], &response["structuredContent"]), (&json!("object"), &json!({"b": 1})));
    // The text contains everything.
    let (schema, response) =
        listed_and_answered(of(json!({"type": "string"})), || ToolResult::text("a"), None).await;
    assert_eq!((&schema, response.get("structuredContent")), (&Value::Null, None));
    // A service publishes a tolerant schema, and its arrays are found at the same location.
    let service = ToolSpec { output_may_differ: true, ..of(list) };
    let differs = || ToolResult::json(json!({"rows": []}));
    for (give, structured) in [
        (|| ToolResult::json(json!([1])), json!({"result": [1]})),
        (|| ToolResult::json(json!([1, "one"])), json!({"result": [1, null]})),
        (|| ToolResult::json(Value::Null), json!({"result": null})),
        (differs, json!({})),
    ] as [(fn() -> ToolResult, Value); 4]
    {
        let (schema, response) = listed_and_answered(service.clone(), give, None).await;
        judge(&schema, &response);
        assert_eq!((&schema["type"], schema.get("required")), (&json!("object"), None), "{schema}");
        assert_eq!(response["structuredContent"], structured);
    }
}
