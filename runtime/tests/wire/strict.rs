//! A strict client of MCP: of a tool that declares its output, every answer is an error or has content as declared.

use serde_json::{Value, json};
use toolgen_runtime::layers::pages::{Pages, ResultLimit};
use toolgen_runtime::provider::Provider;
use toolgen_runtime::spec::{Completion, Requirement};
use toolgen_runtime::wire::{AnswerOptions, WireFormat};
use toolgen_runtime::{
    AgentTool, BoxFuture, Registry, ToolCall, ToolContext, ToolError, ToolResponse, ToolResult, ToolSpec,
};

use crate::helpers::spec;

/// Gives what it is told to, and declares `{"rows": [number]}`.
struct Give(ToolSpec, fn() -> ToolResult);

impl AgentTool for Give {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn execute<'a>(&'a self, _: Value, _: &'a ToolContext) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        let result = (self.1)();
        Box::pin(async move { Ok(result) })
    }
}

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

/// What the official clients do with an answer, and the answer.
async fn answered(give: fn() -> ToolResult, limit: Option<u64>) -> Value {
    let registry = Registry::builder().add(Give(declared(), give)).seal().unwrap();
    let mut provider = Provider::builder(&registry);
    if let Some(limit) = limit {
        provider = provider.pages(Pages::new(ResultLimit::bytes(limit)));
    }
    let provider = provider.build().unwrap();
    let call = ToolCall::new("1", "give", json!({}));
    let response = provider.call(call, &ToolContext::new("turn", "")).await;
    let tools = WireFormat::Mcp.tools(provider.specs()).unwrap();
    let tools = tools["tools"].as_array().unwrap().clone();
    let schema = &tools.iter().find(|tool| tool["name"] == "give").unwrap()["outputSchema"];
    let answer = WireFormat::Mcp.answers(&[response]).remove(0)["result"].take();
    judge(schema, &answer);
    answer
}

fn judge(schema: &Value, answer: &Value) {
    assert!(schema.is_object());
    if answer["isError"] == true {
        return;
    }
    let structured = answer.get("structuredContent").expect("a structured result is declared");
    assert!(jsonschema::is_valid(schema, structured), "{structured} is not as declared: {schema}");
}

#[tokio::test]
async fn a_plain_answer_has_the_declared_content_and_no_keys_of_layers() {
    let answer = answered(|| ToolResult::json(json!({"rows": [1, 2]})), None).await;
    assert_eq!(answer["structuredContent"], json!({"rows": [1, 2]}));
    assert_eq!(answer.get("isError"), None);
    // Fields that only an answer has are known.
    let answer = answered(|| ToolResult::json(json!({"rows": [], "id": "7"})), Some(1000)).await;
    assert_eq!(answer["structuredContent"], json!({"rows": [], "id": "7"}));
}

#[tokio::test]
async fn a_result_that_is_too_large_is_an_error_with_its_first_page() {
    let large = || ToolResult::json(json!({"rows": vec![1; 500_000]}));
    let answer = answered(large, Some(1000)).await;
    assert_eq!(answer["isError"], true);
    assert!(answer.to_string().len() < 2000, "{} bytes", answer.to_string().len());
    let told = answer["content"].to_string();
    assert!(told.contains(" bytes, and more than 1000 are too many"), "{told}");
    assert!(told.contains("read_result"), "{told}");
    // Large for the program, short for the model.
    let short = || ToolResult::text("many rows").with_details(json!({"rows": vec![1; 500_000]}));
    assert_eq!(answered(short, Some(1000)).await["isError"], true);
    // Long for the model, small as a value.
    let long = || ToolResult::text("one row ".repeat(1000)).with_details(json!({"rows": [1]}));
    let answer = answered(long, Some(1000)).await;
    assert_eq!((answer.get("isError"), &answer["structuredContent"]), (None, &json!({"rows": [1]})));
}

#[tokio::test]
async fn a_result_that_is_not_as_declared_is_an_error() {
    let answer = answered(|| ToolResult::json(json!({"rows": ["one"]})), None).await;
    assert_eq!(answer["isError"], true);
    assert!(answer["content"][0]["text"].as_str().unwrap().contains("/rows/0"), "{answer}");
    assert_eq!(answered(|| ToolResult::text("rows"), None).await["isError"], true);
}

#[test]
fn a_response_of_no_provider_needs_the_specification() {
    let spec = declared();
    let call = ToolCall::new("1", "give", json!({}));
    let response = ToolResponse::new(&call, Ok(ToolResult::json(json!({"rows": []}))));
    let specs = |_: &str| Some(&spec);
    let options = AnswerOptions::default().specs(&specs);
    let answer = &WireFormat::Mcp.answers_with(&[response], &options)[0];
    assert_eq!(answer["result"]["structuredContent"], json!({"rows": []}));
}

#[test]
fn an_output_schema_is_shown_where_it_fits_under_the_ceiling() {
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
