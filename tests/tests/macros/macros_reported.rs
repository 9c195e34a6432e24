//! Tests of arguments from bug reports of other libraries, where schema and decoding differed.

#![allow(missing_docs, reason = "what a model reads stands on the tools")]

use std::collections::HashMap;

use serde_json::{Value, json};
use toolgen_runtime::schema::dialect::{GEMINI, JSON_SCHEMA};
use toolgen_runtime::{AgentTool, ToolInput, tool};

#[derive(Debug, Default, ToolInput)]
#[serde(default)]
struct Page {
    /// Where to start.
    offset: u64,
    /// Not shown.
    #[serde(skip_serializing)]
    token: String,
}

#[derive(Debug, ToolInput)]
struct Search {
    /// What to look for.
    query: String,
    #[serde(flatten)]
    page: Page,
    #[serde(skip)]
    #[allow(dead_code, reason = "it is skipped")]
    cache: HashMap<String, String>,
}

/// Searches.
#[tool(undocumented)]
fn search(of: Search) -> String {
    format!("{} {} {}", of.query, of.page.offset, of.page.token)
}

/// Takes what is called as keywords of schemas are.
#[tool(undocumented)]
fn keywords(
    r#type: String,
    properties: Vec<String>,
    required: bool,
    items: Option<u64>,
    enumeration: [i8; 2],
) -> String {
    format!("{type} {properties:?} {required} {items:?} {enumeration:?}")
}

/// Takes any value.
#[tool(undocumented)]
fn any(value: Value) -> Value {
    value
}

/// Takes nothing.
#[tool]
fn nothing() -> &'static str {
    "nothing"
}

async fn call(tool: &dyn AgentTool, arguments: Value) -> String {
    match toolgen_runtime::testing::call(tool, arguments).await {
        Ok(result) => result.to_text(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn flattened_defaults_apply_and_skipped_fields_are_hidden() {
    let tool = search::tool();
    let schema = tool.parameters_schema();
    let of = &schema["$defs"]["Search"];
    let of = if of.is_object() { of } else { &schema["properties"]["of"] };
    assert_eq!(of["required"], json!(["query"]), "{schema}");
    assert!(of["properties"]["token"].is_object() && of["properties"]["cache"].is_null(), "{schema}");
    assert_eq!(call(&tool, json!({"of": {"query": "q"}})).await, "q 0 ");
    assert_eq!(call(&tool, json!({"of": {"query": "q", "offset": 7, "token": "t"}})).await, "q 7 t");
    let message = call(&tool, json!({"of": {"query": "q", "cache": {}}})).await;
    assert!(
        message.starts_with("Invalid arguments: /of/cache: unknown field `cache`; known: `query`"),
        "{message}"
    );
}

#[tokio::test]
async fn argument_names_may_be_schema_keywords() {
    let tool = keywords::tool();
    for dialect in [&JSON_SCHEMA, &GEMINI] {
        let schema = tool.spec().schema(dialect).unwrap().schema;
        let names: Vec<_> = schema["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(names, ["type", "properties", "required", "items", "enumeration"], "{schema}");
    }
    let sent =
        json!({"type": "t", "properties": ["p"], "required": true, "items": u64::MAX, "enumeration": [1, 2]});
    assert_eq!(call(&tool, sent).await, "t [\"p\"] true Some(18446744073709551615) [1, 2]");
}

#[tokio::test]
async fn input_schema_is_always_an_object() {
    for schema in [any::tool().parameters_schema(), nothing::tool().parameters_schema()] {
        assert_eq!(schema["type"], "object");
        assert!(schema["properties"].is_object());
    }
    assert_eq!(call(&any::tool(), json!({"value": [1, null]})).await, "[1,null]");
    for empty in [json!({}), Value::Null, json!("")] {
        assert_eq!(call(&nothing::tool(), empty).await, "nothing");
    }
}
