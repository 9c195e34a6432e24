//! Which hosts the calls of a context reach.

use toolgen_runtime::spec::plan::McpPlan;
use toolgen_runtime::spec::{Effects, Network};
use toolgen_runtime::{Call, ToolName, ToolSpec};

use crate::mcp_http::world::{World, open};
use crate::prelude::*;

fn echo(world: &World) -> Tool {
    let server = Frozen::from(world.server(""));
    let plan = McpPlan { server, tool: "echo".into(), descriptor: Text::EMPTY };
    let effects = Effects { network: Network::None, ..Effects::NONE };
    Tool { spec: ToolSpec { name: ToolName::new("echo"), effects, ..ToolSpec::EMPTY }, call: Call::Mcp(plan) }
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
        let turn = ToolContext::new("1", "echo").with_allowed_hosts(&allowed);
        let answer = tools[0].execute(json!({"text": "a"}), &turn).await;
        match answer {
            Ok(answer) => assert!(reached && answer.to_text() == "a"),
            Err(why) => {
                assert!(!reached && why.to_string().contains("this context allows example.com"), "{why}");
                assert_eq!(world.connections.load(Ordering::Relaxed), before);
            }
        }
    }
}

#[tokio::test]
async fn server_at_a_private_address_must_be_allowed() {
    let world = World::start(false).await;
    let why = McpClient::connect(world.server(""), McpOptions::new()).await.unwrap_err().to_string();
    assert!(why.contains("private_host(\"127.0.0.1\")"), "{why}");
    let toolbox =
        Registry::new(world.client("").await.tools().await.unwrap()).unwrap().toolbox(Default::default());
    let answer = toolbox
        .call(ToolCall::new("1", "docs__echo", json!({"text": "a"})), &ToolContext::new("1", ""))
        .await;
    assert_eq!(answer.text(), "a");
}
