//! The engines that run tools for the command line.

use std::time::Duration;

use toolgen::Options;
use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::http::{EnvCredentials, HttpEngine};
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
    if let Some(url) = &requests.base_url {
        engine = engine.base_url(url);
    }
    let mut servers = McpOptions::new().idle(timeout).total(timeout);
    for host in &requests.private_hosts {
        engine = engine.private_host(host);
        servers = servers.private_host(host);
    }
    for (name, value) in &requests.server_variables {
        engine = engine.server_variable(name, value);
    }
    let servers = McpEngine::with_options(servers);
    let engines = Engines::new().with(engine.build().map_err(|error| error.to_string())?);
    Ok((engines.with(servers.clone()), servers))
}

/// Returns the credentials the user named.
pub(super) fn credentials(options: &Options) -> EnvCredentials {
    let named = options.credentials.iter();
    named.fold(EnvCredentials::new(), |all, (scheme, variable)| all.variable(scheme, variable))
}
