//! The README.

use serde_json::{Value, json};
use toolgen_runtime::engine::http::{HttpEngine, Secret, StaticCredentials};
use toolgen_runtime::layers::audit::{Auditor, MemorySink};
use toolgen_runtime::layers::middleware::{
    Approval, ApprovalRequest, Approver, Middleware, MiddlewareDecision, ToolRequest,
};
use toolgen_runtime::{BoxFuture, Registry, Text, ToolCall, ToolContext, ToolName, ToolSpec, Toolbox, Turn};
use toolgen_test_support::http::{Server, ok};
use toolgen_tests::pages::{blocks, root};

use crate::AnyResult;

mod build_script {
    page!("README.md", "fn main()");

    fn with_credentials() {
        page!("README.md", "let options = toolgen::Options::default(");
    }
}

page!("README.md", "pub mod petstore");

fn for_an_agent() -> AnyResult<Toolbox> {
    page!("README.md", "let engine = HttpEngine::builder().credentials(EnvCredentials::new(");
    Ok(toolbox)
}

pub mod tools {
    toolgen_runtime::include_tools!("manifest_commands");
}

fn from_a_manifest() -> AnyResult<Registry> {
    page!("README.md", "let registry = Registry::new(engines.tools(tools::TOOLS)?)?;");
    Ok(registry)
}

pub mod shop {
    toolgen_runtime::include_tools!("shop");
}

fn from_an_mcp_server() -> AnyResult<Registry> {
    page!("README.md", "let engines = Engines::new().with(McpEngine::new());");
    Ok(registry)
}

#[test]
fn locked_mcp_tools_are_tools() {
    assert!(from_an_mcp_server().unwrap().get("shop__find_orders").is_some());
}

#[test]
fn manifests_are_tools() {
    assert!(from_a_manifest().unwrap().get("text__count_lines").is_some());
}

fn credentials() -> AnyResult<HttpEngine> {
    use toolgen_runtime::engine::http::{EnvCredentials, HttpEngine};

    page!("README.md", "let credentials = EnvCredentials::new(");
    Ok(engine)
}

#[test]
fn credentials_come_from_named_variables() {
    assert!(credentials().is_ok());
}

async fn while_the_program_runs(registry: Registry, engine: HttpEngine) -> AnyResult<Registry> {
    page!("README.md", "let loaded = document.options(options).tools(&engine)?;");
    Ok(registry)
}

/// A model that calls a tool with an invalid argument.
async fn model(tools: &Value) -> AnyResult<Value> {
    let name = &tools[0]["name"];
    let call = json!({ "type": "tool_use", "id": "toolu_1", "name": name, "input": { "status": 1 } });
    Ok(json!({ "role": "assistant", "content": [call] }))
}

async fn a_turn(toolbox: Toolbox) -> AnyResult<Vec<Value>> {
    page!("README.md", "let format = WireFormat::Anthropic;");
    Ok(messages)
}

async fn a_loop(toolbox: Toolbox, client: reqwest::Client, url: &str, key: &str) -> AnyResult<String> {
    use crate::conversation::posted as post;

    page!("README.md", "let send = |request: Value|");
    Ok(answer)
}

#[tokio::test]
async fn loop_takes_a_sending_function() {
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let message =
        r#"{"role": "assistant", "stop_reason": "end_turn", "content": [{"type": "text", "text": "Rex."}]}"#;
    let service = Server::start(move |_| ok("application/json", message));
    let output = a_loop(for_an_agent().unwrap(), reqwest::Client::new(), &service.url, "k-1").await.unwrap();
    assert_eq!(output, "Rex.");
    assert!(service.only().head.contains("x-api-key: k-1\r\n"));
}

struct AskFirst;

impl Middleware for AskFirst {
    fn before<'a>(&'a self, _: &'a ToolRequest<'a>) -> BoxFuture<'a, MiddlewareDecision> {
        Box::pin(async { MiddlewareDecision::NeedApproval("It logs in.".to_owned()) })
    }
}

struct Operator;

impl Approver for Operator {
    fn approve<'a>(&'a self, _: &'a ApprovalRequest, _: &'a ToolContext) -> BoxFuture<'a, Approval> {
        Box::pin(async { Approval::ApprovedBy("operator".into()) })
    }
}

fn guarded(sink: MemorySink) -> AnyResult<(Toolbox, Auditor)> {
    use toolgen_runtime::{tool, toolset};

    page!("README.md", "let auditor = Auditor::builder(sink).start()?;");
    Ok((toolbox, auditor))
}

#[tokio::test]
async fn approved_call_is_recorded_without_secrets() {
    let sink = MemorySink::new();
    let (toolbox, auditor) = guarded(sink.clone()).unwrap();
    let call = ToolCall::new("call_1", "login", json!({ "user": "Ada", "password": "hunter2" }));
    let response = toolbox.run(call, &Turn::new("turn-1")).await;
    assert_eq!(response.text(), "Hello, Ada.");
    auditor.flush().await.unwrap();
    let rows = sink.rows();
    assert_eq!(rows[0].intent.parameters, json!({ "user": "Ada", "password": "[REDACTED]" }));
}

async fn for_rust_code(engine: &HttpEngine) -> AnyResult<Vec<petstore::Pet>> {
    page!("README.md", "let pets = engine.call(");
    Ok(pets)
}

fn from_a_function() -> AnyResult<Registry> {
    page!("README.md", "fn add(");
    assert_eq!(add(1, 2), 3);
    Ok(registry)
}

mod by_hand {
    page!("README.md", "struct Now(ToolSpec);");

    pub(crate) fn tool(spec: ToolSpec) -> impl AgentTool {
        Now(spec)
    }
}

fn engine(url: &str) -> HttpEngine {
    let credentials = StaticCredentials::new().with("api_key", Secret::new("secret"));
    HttpEngine::builder().base_url(url).credentials(credentials).build().unwrap()
}

#[tokio::test]
async fn typed_call_returns_a_typed_value() {
    let pets = r#"[{"kind":"dog","name":"Rex","barks":true}, {"kind":"fish"}]"#;
    let service = Server::start(move |_| ok("application/json", pets));
    let pets = for_rust_code(&engine(&service.url)).await.unwrap();
    let petstore::Pet::Dog(rex) = &pets[0] else { panic!("{pets:?}") };
    assert_eq!((rex.name.as_str(), rex.barks), ("Rex", Some(true)));
    assert_eq!(pets[1], petstore::Pet::Other(json!({"kind": "fish"})));
    let request = service.only().head.to_lowercase();
    assert!(request.starts_with("get /pets?limit=5 http/1.1\r\n"), "{request}");
    assert!(request.contains("\r\nx-api-key: secret\r\n"), "{request}");
}

#[tokio::test]
async fn turn_runs_through_a_toolbox() {
    let toolbox = for_an_agent().unwrap();
    assert_eq!(toolbox.list().len(), 2);
    let messages = a_turn(toolbox).await.unwrap();
    let result = &messages[0]["content"][0];
    assert_eq!((&result["tool_use_id"], &result["is_error"]), (&json!("toolu_1"), &json!(true)));
    assert!(result["content"].to_string().contains("Invalid arguments"), "{result}");
}

#[tokio::test]
async fn functions_are_tools() {
    let registry = from_a_function().unwrap();
    let ctx = Turn::default().call_context("call_1", "add");
    assert_eq!(registry.call_without_layers("add", json!({"a": 2}), &ctx).await.unwrap().to_text(), "3");
    assert!(registry.call_without_layers("add", json!({"a": 2, "b": 101}), &ctx).await.is_err());
}

#[tokio::test]
async fn hand_written_tools_are_tools() {
    let spec = ToolSpec { name: ToolName::new("now"), description: Text::Static("Now."), ..ToolSpec::EMPTY };
    let registry = Registry::builder().add(by_hand::tool(spec)).seal().unwrap();
    let result = registry
        .call_without_layers("now", json!({}), &Turn::default().call_context("call_1", "now"))
        .await
        .unwrap();
    assert!(result.to_text().contains("SystemTime"), "{}", result.to_text());
}

#[tokio::test]
async fn argument_problems_are_shown_as_documented() {
    let registry = Registry::new(engine("http://127.0.0.1:9").tools(petstore::TOOLS)).unwrap();
    let arguments = json!({ "status": "adoptd", "limit": "ten", "page": 2 });
    let error = registry
        .call_without_layers("listPets", arguments, &Turn::default().call_context("call_1", "listPets"))
        .await
        .unwrap_err();
    let visible = blocks(&[root().join("README.md")]);
    assert!(
        visible.iter().any(|block| block.kind == "text" && block.text == format!("{error}\n")),
        "{error}"
    );
}
