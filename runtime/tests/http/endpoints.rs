//! Tests of tools whose endpoints are known only at run time, such as those of a configuration file.

use toolgen_runtime::engine::dynamic::{DynamicTool, DynamicToolError};
use toolgen_runtime::spec::plan::{self, ExecutionPlan, Parameter};
use toolgen_runtime::toolbox::ToolboxContext;

use crate::prelude::*;
use crate::server::{engine, turn};

/// The tool `call_{name}` of an endpoint: `{"name", "method", "url", "path", "query": {NAME: SCHEMA}}`.
fn endpoint(config: &Value) -> Result<Tool, DynamicToolError> {
    let text = |key: &str| config[key].as_str().unwrap_or_default().to_owned();
    let name = text("name");
    let query = config["query"].as_object().cloned().unwrap_or_default();
    let parameter = |name: &String| Parameter {
        argument: name.clone().into(),
        name: name.clone().into(),
        location: Location::Query,
        encoding: Encoding::Style { style: Style::Form, explode: true, allow_reserved: false },
    };
    let plan = RequestPlan {
        method: text("method").into(),
        path: text("path").into(),
        servers: vec![plan::Server { url: text("url").into(), variables: List::EMPTY }].into(),
        parameters: query.keys().map(parameter).collect(),
        ..RequestPlan::EMPTY
    };
    let schema = json!({ "type": "object", "properties": query, "additionalProperties": false });
    let tool = DynamicTool::builder(format!("call_{name}"), format!("Call {name} API")).schema(&schema);
    Ok(Tool { spec: tool.spec()?, call: ExecutionPlan::Http(plan) })
}

#[tokio::test]
async fn configured_endpoints_become_tools() {
    let server = Server::ok();
    let config = json!([
        { "name": "weather", "method": "GET", "url": server.url, "path": "/weather",
          "query": { "city": { "type": "string", "minLength": 1 }, "days": { "type": "integer" } } },
        { "name": "time", "method": "GET", "url": server.url, "path": "/time" },
    ]);
    let tools = config.as_array().unwrap().iter().map(|one| endpoint(one).unwrap());
    let registry = Registry::new(engine().build().unwrap().tools_from(tools)).unwrap();
    let toolbox = registry.toolbox(ToolboxContext::new());

    assert_eq!(registry.get("call_weather").unwrap().description(), "Call weather API");
    let response =
        toolbox.run(ToolCall::new("1", "call_weather", json!({"city": "Bär & Co"})), &turn()).await;
    assert_eq!(response.text(), format!("GET {}/weather?city=Bär%20%26%20Co → 200\n\nok", server.url));
    assert_eq!(server.only().target(), "/weather?city=B%C3%A4r%20%26%20Co");
    let response =
        toolbox.run(ToolCall::new("2", "call_weather", json!({"city": "", "day": 1})), &turn()).await;
    assert!(response.is_error() && response.text().contains("/city") && response.text().contains("`day`"));
    assert_eq!(server.seen().len(), 1);

    let wrong = endpoint(&json!({ "name": "my weather", "method": "GET", "path": "/" })).unwrap_err();
    assert!(wrong.to_string().starts_with("tool `call_my weather`: a tool name may contain only"), "{wrong}");
}
