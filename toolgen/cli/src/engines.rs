//! Engines that run tools for the command line.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use toolgen::Options;
use toolgen_runtime::engine::Engines;
use toolgen_runtime::engine::http::{
    CredentialRequest, Credentials, EnvCredentials, FilesRoot, HttpEngine, OAuth, RetryPolicy, Secret,
};
use toolgen_runtime::engine::mcp::{McpEngine, McpOptions};
use toolgen_runtime::spec::plan::{Placement, Tool};

use super::args::Requests;
use super::fetch::client;
use super::output_file::OutputFile;

/// Returns the engines for the calls of the user, and the MCP engine among them, which must be closed at the end.
///
/// # Errors
///
/// Returns a message if the user's settings are invalid.
pub(super) fn engines(requests: &Requests, options: &Options) -> Result<(Engines, McpEngine), String> {
    let timeout = Duration::from_secs(requests.timeout);
    let servers = McpEngine::with_options(
        mcp_options(&requests.private_hosts).idle_timeout(timeout).call_timeout(timeout),
    );
    Ok((Engines::new().with(http(requests, options)?).with(servers.clone()), servers))
}

/// Returns the HTTP engine. `Err` if the user's settings are invalid.
pub(super) fn http(requests: &Requests, options: &Options) -> Result<HttpEngine, String> {
    let timeout = Duration::from_secs(requests.timeout);
    let mut engine = client(&requests.private_hosts).credentials(credentials(options)).timeout(timeout);
    // A model may name any file in the directory.
    if let Some(dir) = &requests.files {
        engine = engine.files(FilesRoot::new(dir).max_file_bytes(requests.max_file));
    }
    if let Some(dir) = &requests.save {
        engine = engine.save_with(FilesRoot::new(dir).max_file_bytes(requests.max_file));
    }
    if let Some(file) = &requests.output {
        engine = engine.save_with(OutputFile::new(file, requests.max_file)).save_all(true);
    }
    if let Some(url) = &requests.base_url {
        engine = engine.base_url(url);
    }
    for (name, value) in headers(requests)? {
        engine = engine.header(name, value);
    }
    for (scheme, token_url) in &requests.oauth {
        engine = engine.oauth(scheme, oauth(scheme, token_url)?);
    }
    if let Some((certificate, key)) = requests.identity() {
        engine = engine.client_certificate(read_file(certificate)?, read_file(key)?);
    }
    engine = engine.retries(RetryPolicy::default().max_retries(requests.retries));
    for (name, value) in &requests.server_variables {
        engine = engine.server_variable(name, value);
    }
    engine.build().map_err(|error| error.to_string())
}

/// Returns the names and values of the headers of every request.
///
/// # Errors
///
/// Returns a message if a variable is not set, or if its value is not valid in a header.
pub(super) fn headers(requests: &Requests) -> Result<Vec<(&str, String)>, String> {
    let header = |(name, variable): &'_ (String, String)| -> Result<String, String> {
        let value = std::env::var(variable)
            .map_err(|_| format!("`--header {name}={variable}` needs the environment variable {variable}"))?;
        // Secret files end with a line break.
        let value = value.trim();
        if value.is_empty() || value.chars().any(|c| c.is_control() && c != '\t') {
            return Err(format!(
                "`--header {name}={variable}`: the value of {variable} cannot be sent as a header"
            ));
        }
        Ok(value.to_owned())
    };
    requests.headers.iter().map(|pair| header(pair).map(|value| (pair.0.as_str(), value))).collect()
}

/// Returns the options of an MCP client that may reach these private hosts.
pub(super) fn mcp_options(private_hosts: &[String]) -> McpOptions {
    McpOptions::new().http(client(private_hosts))
}

/// Returns the OAuth settings of a scheme. The client ID and secret are in variables named after the scheme.
fn oauth(scheme: &str, token_url: &str) -> Result<OAuth, String> {
    let variable = |end: &str| {
        let name = oauth_variable(scheme, end);
        let value = std::env::var(&name).ok().map(|value| value.trim().to_owned());
        value.filter(|value| !value.is_empty()).ok_or(name)
    };
    let missing_variable =
        |name: String| format!("`--oauth {scheme}=…` needs the environment variable {name}");
    let client = variable("CLIENT_ID").map_err(missing_variable)?;
    let secret = variable("CLIENT_SECRET").map(Secret::new);
    match variable("REFRESH_TOKEN") {
        Ok(refresh) => Ok(OAuth::refresh_token(token_url, client, secret.ok(), Secret::new(refresh))),
        Err(_) => Ok(OAuth::client_credentials(token_url, client, secret.map_err(missing_variable)?)),
    }
}

/// Returns the name of a variable of an OAuth scheme: `PETS_CLIENT_ID` for the scheme `pets`.
pub(super) fn oauth_variable(scheme: &str, end: &str) -> String {
    let to_variable_char = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let prefix: String = scheme.chars().map(to_variable_char).collect();
    format!("{prefix}_{end}")
}

fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the credentials that the user configured.
pub(super) fn credentials(options: &Options) -> EnvCredentials {
    let configured = options.credentials.iter();
    let credentials = EnvCredentials::new().variable_help(auth_help);
    configured.fold(credentials, |credentials, (scheme, variable)| credentials.variable(scheme, variable))
}

/// Returns the security schemes without credentials, each with the fix and the number of its tools.
pub(super) fn unset_schemes(engine: &HttpEngine, tools: &[Tool]) -> BTreeMap<String, (String, usize)> {
    let mut schemes: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for missing in engine.missing_credentials(tools) {
        for scheme in missing.alternatives.iter().flatten() {
            schemes.entry(scheme.scheme.clone()).or_insert_with(|| (scheme.remedy.clone(), 0)).1 +=
                missing.tools.len();
        }
    }
    schemes
}

/// Formats a number of tools.
pub(super) fn count_tools(tools: usize) -> String {
    if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") }
}

fn auth_help(scheme: &str, variable: &str) -> String {
    format!("`--auth {scheme}={variable}`")
}

/// The credentials of a dry run, which does not request tokens.
#[derive(Debug)]
pub(super) struct DryRunCredentials<'a> {
    pub(super) env_credentials: EnvCredentials,
    pub(super) requests: &'a Requests,
}

impl Credentials for DryRunCredentials<'_> {
    fn credential(&self, request: &CredentialRequest<'_>) -> Option<Secret> {
        if self.requests.oauth.iter().any(|(scheme, _)| scheme == request.scheme) {
            return Some(Secret::new("(an OAuth token)"));
        }
        match request.placement {
            Placement::MutualTls if self.requests.identity().is_some() => Some(Secret::new("")),
            _ => self.env_credentials.credential(request),
        }
    }

    fn is_sent_elsewhere(&self, request: &CredentialRequest<'_>) -> bool {
        let name = request.placement.header();
        let has_header =
            |name: &str| self.requests.headers.iter().any(|(header, _)| header.eq_ignore_ascii_case(name));
        name.is_some_and(has_header)
    }

    fn source(&self, request: &CredentialRequest<'_>) -> String {
        self.env_credentials.source(request)
    }

    fn help(&self, request: &CredentialRequest<'_>) -> String {
        match request.placement {
            Placement::MutualTls => "pass `--client-cert` and `--client-key`".to_owned(),
            _ => self.env_credentials.help(request),
        }
    }
}
