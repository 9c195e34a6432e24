//! Fetches documents that are given as URLs.

use std::path::Path;
use std::time::Duration;

use toolgen::Program;
use toolgen_runtime::engine::http::{Fetch, FetchErrorKind, Fetched, HttpEngine, HttpEngineBuilder};
use toolgen_runtime::spec::plan::{ExecutionPlan, Server};

/// Timeout for one document.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the URL of a document, or `None` if it is a file.
pub(super) fn url(document: &Path) -> Option<&str> {
    let text = document.to_str()?;
    let scheme = text.split_once("://")?.0;
    (scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http")).then_some(text)
}

/// Returns an HTTP client that may reach these private hosts. Its errors name the option that allows another one.
pub(super) fn client(private_hosts: &[String]) -> HttpEngineBuilder {
    let host_help = |host: &str| format!("Open it with `--private-host {host}`.");
    let client = HttpEngine::builder().private_host_help(host_help);
    private_hosts.iter().fold(client, HttpEngineBuilder::private_host)
}

/// Fetches a document. Of hosts at private addresses, only `private_hosts` are allowed.
///
/// # Errors
///
/// Returns a message with the reason and the fix.
pub(super) fn fetch(url: &str, private_hosts: &[String]) -> Result<Fetched, String> {
    let client = client(private_hosts).timeout(TIMEOUT).build().map_err(|error| error.to_string())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let limit = toolgen::source::MAX_BYTES;
    let fetched = runtime.block_on(client.fetch(Fetch::new(url).max_bytes(limit)));
    let fetched = fetched.map_err(|error| match error.kind {
        FetchErrorKind::Status(401 | 403) => {
            format!("{error}; pipe a document that needs a login: curl … | cargo toolgen … -")
        }
        _ => error.to_string(),
    })?;
    if fetched.bytes.trim_ascii_start().starts_with(b"<") {
        let url = &fetched.url;
        return Err(format!("{url}: this is an HTML page, not a document; pass the URL of the JSON or YAML"));
    }
    Ok(fetched)
}

/// Resolves server URLs relative to the document: generated files have no URL to resolve them later.
pub(super) fn resolve_servers(program: &mut Program, url: &str) {
    for tool in &mut program.tools {
        if let ExecutionPlan::Http(plan) = &mut tool.call
            && plan.servers.iter().any(|server| absolute_url(&server.url, url).is_some())
        {
            let servers = plan.servers.iter().map(|server| Server {
                url: absolute_url(&server.url, url).map_or_else(|| server.url.clone(), Into::into),
                variables: server.variables.clone(),
            });
            plan.servers = servers.collect();
        }
    }
}

/// Resolves a relative server URL. `None` if it is absolute. Braces of variables are kept.
fn absolute_url(server: &str, document: &str) -> Option<String> {
    let (scheme, rest) = document.split_once("://")?;
    let host = rest.split('/').next().unwrap_or_default();
    if let Some(other) = server.strip_prefix("//") {
        return Some(format!("{scheme}://{other}"));
    }
    if server.starts_with('/') {
        return Some(format!("{scheme}://{host}{server}"));
    }
    // `api.example.com/v1` and `{scheme}://…` also start with a host.
    let first = server.split('/').next().unwrap_or_default();
    if !matches!(first, "" | "." | "..") && first.contains(['.', ':', '{']) {
        return None;
    }
    let dir = rest.rsplit_once('/').map_or("", |(dir, _)| dir);
    let mut parts: Vec<&str> = dir.split('/').skip(1).collect();
    for part in server.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(format!("{scheme}://{host}/{}", parts.join("/")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_urls_are_relative_to_their_document() {
        let document = "https://example.com/api/v2/openapi.json";
        for (server, expected) in [
            ("/", Some("https://example.com/")),
            ("/{base}/x", Some("https://example.com/{base}/x")),
            ("//other.example/x", Some("https://other.example/x")),
            ("", Some("https://example.com/api/v2")),
            ("./", Some("https://example.com/api/v2")),
            ("../v1", Some("https://example.com/api/v1")),
            ("../../../v1", Some("https://example.com/v1")),
            ("v3/x", Some("https://example.com/api/v2/v3/x")),
            ("https://other.example/x", None),
            ("api.example.com/v1", None),
            ("localhost:8080", None),
            ("{scheme}://x", None),
        ] {
            assert_eq!(absolute_url(server, document).as_deref(), expected, "{server}");
        }
        assert_eq!(absolute_url("/v1", "http://[::1]:80").as_deref(), Some("http://[::1]:80/v1"));
    }

    #[test]
    fn document_is_a_url_only_with_a_scheme() {
        assert!(url(Path::new("HTTPS://example.com/a.json")).is_some());
        for file in ["api.json", "http:/a", "ftp://a/b", "-", "https"] {
            assert_eq!(url(Path::new(file)), None, "{file}");
        }
    }
}
