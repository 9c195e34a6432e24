//! Which hosts the calls of a context may reach.

use toolgen_runtime::spec::plan::McpPlan;
use toolgen_runtime::spec::{Effects, Network};
use toolgen_runtime::{ExecutionPlan, ToolName, ToolSpec};

use crate::mcp_http::world::{World, open};
use crate::prelude::*;

fn echo(world: &World) -> Tool {
    let server = Frozen::from(world.server(""));
    let plan = McpPlan { server, tool: "echo".into(), descriptor: Text::EMPTY };
    let effects = Effects { network: Network::None, ..Effects::NONE };
    Tool {
        spec: ToolSpec { name: ToolName::new("echo"), effects, ..ToolSpec::EMPTY },
        call: ExecutionPlan::Mcp(plan),
    }
}

#[tokio::test]
async fn context_hosts_restrict_mcp_servers() {
    let world = World::start(false).await;
    let tools = Engines::new().with(McpEngine::with_options(open())).tools_from([echo(&world)]).unwrap();
    let hosts = |host: &'static str| Network::Hosts(vec![Text::from(host)].into());
    for (allowed, reached) in
        [(Network::Any, true), (hosts("127.0.0.1"), true), (hosts("example.com"), false)]
    {
        let before = world.connections.load(Ordering::Relaxed);
        let turn = Turn::default().call_context("1", "echo").with_allowed_hosts(&allowed);
        let result = tools[0].execute(json!({"text": "a"}), &turn).await;
        match result {
            Ok(result) => assert!(reached && result.to_text() == "a"),
            Err(error) => {
                assert!(!reached && error.to_string().contains("this context allows example.com"), "{error}");
                assert_eq!(world.connections.load(Ordering::Relaxed), before);
            }
        }
    }
}

#[tokio::test]
async fn server_at_a_private_address_must_be_allowed() {
    let world = World::start(false).await;
    let reason = McpClient::connect(world.server(""), McpOptions::new()).await.unwrap_err().to_string();
    assert!(reason.contains("private_host(\"127.0.0.1\")"), "{reason}");
    let toolbox =
        Registry::new(world.client("").await.tools().await.unwrap()).unwrap().toolbox(Default::default());
    let response = toolbox.run(ToolCall::new("1", "docs__echo", json!({"text": "a"})), &Turn::new("1")).await;
    assert_eq!(response.text(), "a");
}
