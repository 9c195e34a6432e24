//! The Rust of pages of `docs` that needs features which the tests across the crates do without.
#![allow(
    dead_code,
    unused_variables,
    clippy::needless_pass_by_value,
    reason = "an example shows what it needs"
)]
#![allow(clippy::let_and_return, reason = "an example is a part")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use toolgen_runtime::engine::executor::LocalExecutor;
use toolgen_runtime::engine::mcp::{McpClient, McpOAuth, McpOptions, TokenStore};
use toolgen_runtime::spec::plan::McpServer;
use toolgen_runtime::{Provider, ProviderContext, Registry, builtin, engine, serve};

type AnyResult<T = ()> = Result<T, Box<dyn Error>>;

fn ready_made() -> AnyResult<Provider> {
    let registry = Registry::new(builtin::pack())?;
    let context =
        ProviderContext::new().with_work_dir("/srv/project").with_executor(Arc::new(LocalExecutor::new()));
    let provider = registry.provider(context);
    Ok(provider)
}

#[test]
fn ready_made_tools_are_tools() -> AnyResult {
    assert!(ready_made()?.list().iter().any(|tool| tool.name == "read_file"));
    Ok(())
}

async fn browser(_: String) -> Result<String, String> {
    Err("nobody is there".to_owned())
}

async fn consent(server: McpServer, keychain: impl TokenStore + 'static) -> AnyResult {
    // A person allows the access in a browser. Or, for a program of its own: McpOAuth::credentials(id, secret).token_url(url).
    let tokens = McpOAuth::consent("http://127.0.0.1:8765/callback", |url| async move { browser(url).await })
        .store(keychain);
    let client = McpClient::connect(
        server,
        McpOptions::new().connect(Duration::from_secs(300)).tokens("docs", tokens),
    )
    .await?;
    Ok(())
}

async fn beside_rmcp(
    client: rmcp::service::RunningService<rmcp::RoleClient, ()>,
    provider: Provider,
    transport: (tokio::io::Stdin, tokio::io::Stdout),
) -> AnyResult {
    // The tools of a client's server, as `files__read_file` and so on.
    let registry = Registry::new(engine::mcp::rmcp::tools("files", client.peer()).await?)?;

    // A provider as the handler of a server.
    rmcp::serve_server(serve::mcp::rmcp::handler(provider), transport).await?;
    Ok(())
}
