//! Rust code of `docs` that needs features which the tests across the crates do not enable.
#![allow(dead_code, clippy::needless_pass_by_value, reason = "an example shows what it needs")]

use std::error::Error;

use toolgen_runtime::engine::executor::LocalExecutor;
use toolgen_runtime::engine::mcp::{McpClient, McpOAuth, McpOptions, TokenStore};
use toolgen_runtime::spec::plan::McpServer;
use toolgen_runtime::{builtin, engine, serve};
use toolgen_test_macros::page;

use crate::prelude::*;

type AnyResult<T = ()> = Result<T, Box<dyn Error>>;

fn ready_made() -> AnyResult<Toolbox> {
    page!("docs/builtin.md", "let registry = Registry::new(builtin::pack())?;");
    Ok(toolbox)
}

#[test]
fn builtin_tools_of_the_guide_compile() -> AnyResult {
    assert!(ready_made()?.list().iter().any(|tool| tool.name == "read_file"));
    Ok(())
}

async fn browser(_: String) -> Result<String, String> {
    Err("nobody is there".to_owned())
}

async fn consent(server: McpServer, keychain: impl TokenStore + 'static) -> AnyResult {
    page!("docs/mcp.md", "let tokens = McpOAuth::consent(");
    Ok(())
}

async fn beside_rmcp(
    client: rmcp::service::RunningService<rmcp::RoleClient, ()>,
    toolbox: Toolbox,
    transport: (tokio::io::Stdin, tokio::io::Stdout),
) -> AnyResult {
    page!("docs/mcp.md", "let registry = Registry::new(engine::mcp::rmcp::tools(");
    Ok(())
}
