//! The engines that run tools for the command line.

use std::time::Duration;

use toolgen::Options;
use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::http::{EnvCredentials, HttpEngine, HttpEngineBuilder};
use toolgen_runtime::engine::mcp::{McpEngine, McpOptions};

use super::args::Requests;

/// Returns the engines of calls that the user makes, and among them the one of MCP servers, which is to be closed at the
/// end.
///
/// # Errors
///
/// What is wrong with the user's settings.
pub(super) fn engines(requests: &Requests, options: &Options) -> Result<(Engines, McpEngine), String> {
    let timeout = Duration::from_secs(requests.timeout);
    let mut engine = HttpEngine::builder().credentials(credentials(options)).timeout(timeout).files_root(".");
    engine = engine.private_host_remedy(by_option);
    if let Some(url) = &requests.base_url {
        engine = engine.base_url(url);
    }
    let servers = mcp_options(&requests.private_hosts).idle(timeout).total(timeout);
    engine = requests.private_hosts.iter().fold(engine, HttpEngineBuilder::private_host);
    for (name, value) in &requests.server_variables {
        engine = engine.server_variable(name, value);
    }
    let servers = McpEngine::with_options(servers);
    let engines = Engines::new().with(engine.build().map_err(|error| error.to_string())?);
    Ok((engines.with(servers.clone()), servers))
}

/// Returns how a client of MCP servers behaves that may reach these private hosts.
pub(super) fn mcp_options(private_hosts: &[String]) -> McpOptions {
    let client = HttpEngine::builder().private_host_remedy(by_option);
    McpOptions::new().http(private_hosts.iter().fold(client, HttpEngineBuilder::private_host))
}

fn by_option(host: &str) -> String {
    format!("Open it with `--private-host {host}`.")
}

/// Returns the credentials the user named.
pub(super) fn credentials(options: &Options) -> EnvCredentials {
    let named = options.credentials.iter();
    named.fold(EnvCredentials::new(), |all, (scheme, variable)| all.variable(scheme, variable))
}
