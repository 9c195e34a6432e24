//! The README.

use std::future::{Ready, ready};

use serde_json::{Value, json};
use toolgen_runtime::agent::{Agent, Model};
use toolgen_runtime::engine::http::{HttpEngine, Secret, StaticCredentials};
use toolgen_runtime::wire::WireFormat;
use toolgen_runtime::{AgentTool, Registry, Text, ToolName, ToolSpec, Toolbox};
use toolgen_test_support::http::{Server, ok};
use toolgen_tests::pages::{blocks, root};

use crate::AnyResult;

mod build_script {
    page!("README.md", "PETSTORE_TOKEN");

    mod of_the_compiler {
        page!("toolgen/README.md", "fn main()");
    }
}

mod function {
    page!("README.md", "fn add(");

    pub(super) fn run() -> crate::AnyResult {
        main()
    }

    pub(super) fn tools() -> Toolbox {
        assert_eq!(add(1, 2), 3);
        Toolbox::new(toolset![add]).unwrap()
    }
}

mod api {
    page!("README.md", "pub mod petstore");
}

pub mod manifest {
    page!("README.md", "pub mod tools");

    pub(super) fn run() -> crate::AnyResult {
        main()
    }
}

mod server {
    page!("README.md", "pub mod shop");
}

pub use api::petstore;
pub use server::shop;

#[tokio::test]
async fn functions_are_tools() {
    let tools = function::tools();
    assert_eq!(tools.call("add", json!({"a": 2})).await.text(), "3");
    assert!(tools.call("add", json!({"a": 2, "b": 101})).await.is_error());
}

#[test]
fn program_of_a_function_runs() {
    function::run().unwrap();
}

#[cfg(unix)]
#[test]
fn program_of_a_manifest_runs() {
    manifest::run().unwrap();
}

#[test]
fn locked_mcp_tools_are_tools() {
    let engines =
        toolgen_runtime::engine::Engines::new().with(toolgen_runtime::engine::mcp::McpEngine::new());
    assert!(Registry::new(engines.tools(shop::TOOLS).unwrap()).unwrap().get("shop__find_orders").is_some());
}

async fn agent(tools: Toolbox) -> AnyResult<String> {
    page!("README.md", "let answer = Agent::new(model, &tools)");
    Ok(answer)
}

async fn for_rust_code(engine: &HttpEngine) -> AnyResult<Vec<petstore::Pet>> {
    page!("docs/api.md", "let pets = engine.call(");
    Ok(pets)
}

fn credentials() -> AnyResult<HttpEngine> {
    use toolgen_runtime::engine::http::EnvCredentials;

    page!("docs/credentials.md", "let credentials = EnvCredentials::new(");
    Ok(engine)
}

#[test]
fn credentials_come_from_named_variables() {
    assert!(credentials().is_ok());
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

mod by_hand {
    page!("docs/tools.md", "struct Now(ToolSpec);");

    pub(crate) fn tool(spec: ToolSpec) -> impl AgentTool {
        Now(spec)
    }
}

#[tokio::test]
async fn hand_written_tools_are_tools() {
    let spec = ToolSpec { name: ToolName::new("now"), description: Text::Static("Now."), ..ToolSpec::EMPTY };
    let tools = Toolbox::new(toolgen_runtime::toolset![by_hand::tool(spec)]).unwrap();
    let response = tools.call("now", json!({})).await;
    assert!(response.text().contains("SystemTime"), "{}", response.text());
}

#[tokio::test]
async fn argument_problems_are_shown_as_documented() {
    let tools = Toolbox::new(engine("http://127.0.0.1:9").tools(petstore::TOOLS)).unwrap();
    let arguments = json!({"status": "adoptd", "limit": "ten", "page": 2});
    let response = tools.call("listPets", arguments).await;
    let visible = blocks(&[root().join("README.md")]);
    let shown =
        |text: &str| visible.iter().any(|block| block.kind == "text" && block.text == format!("{text}\n"));
    assert!(shown(&response.text()), "{}", response.text());
}

#[test]
fn readme_is_short() {
    let text = std::fs::read_to_string(root().join("README.md")).unwrap();
    let (words, lines) = (text.split_whitespace().count(), text.lines().count());
    assert!(words <= 900 && lines <= 200, "{words} words, {lines} lines");
}
