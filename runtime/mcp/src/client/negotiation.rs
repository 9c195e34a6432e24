//! Negotiation of the MCP protocol version.
//!
//! Version 2026-07-28 has no handshake: the client asks for the server's capabilities, and every request carries its
//! own metadata. Earlier versions start with an `initialize` handshake. The newest version is tried first.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;
use toolgen_kernel::base::frozen::{List, Text};
use toolgen_kernel::base::printable::visible;
use toolgen_kernel::base::truncate::cut;

use super::connection::{Connection, Failure, Request, RequestTimeouts};
use super::error::rounded;

/// The protocol versions without a handshake.
const MODERN: [&str; 1] = ["2026-07-28"];
/// The protocol versions with a handshake, newest first.
pub(super) const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// Maximum length of a reported unknown version, in characters.
const MAX_VERSION_SHOWN: usize = 60;

/// The error code for an unsupported version; the error lists the supported versions.
const UNSUPPORTED_VERSION: i64 = -32022;

/// The capability of clients that accept tasks as responses.
const TASKS: &str = "tasks";

/// The result of a negotiation.
#[derive(Clone, Debug)]
pub(super) struct Negotiated {
    /// The protocol version, such as `2025-11-25`.
    pub(super) version: String,
    /// The name and version of the server, as reported by the server. Untrusted.
    pub(super) server_info: Value,
    /// The capabilities of the server.
    pub(super) capabilities: Value,
    /// The metadata about the client in every request, in versions without a handshake.
    meta: Option<Map<String, Value>>,
}

impl Negotiated {
    /// Whether the version has no handshake.
    pub(super) fn is_modern(&self) -> bool {
        self.meta.is_some()
    }

    /// Adds the metadata that the protocol version requires to a request.
    pub(super) fn add_metadata(&self, request: &mut Request) {
        if let Some(meta) = &self.meta {
            request.params.insert("_meta".to_owned(), Value::Object(meta.clone()));
        }
    }
}

/// Failure of a negotiation.
pub(super) struct NegotiationError {
    pub(super) message: String,
    /// Whether the server closed the connection when asked for the newest version, as older servers may do.
    pub(super) ended_at_probe: bool,
}

impl From<String> for NegotiationError {
    fn from(message: String) -> NegotiationError {
        NegotiationError { message, ended_at_probe: false }
    }
}

/// Negotiates the protocol version with a server. `known_version` is the version that the server is known to
/// support, or empty.
///
/// # Errors
///
/// Returns the reason if the negotiation fails.
pub(super) async fn negotiate(
    connection: &Connection,
    known_version: &str,
    capabilities: &List<Text>,
    (probe_timeout, total_timeout): (Duration, Duration),
) -> Result<Negotiated, NegotiationError> {
    let deadline = Instant::now() + total_timeout;
    let remaining = || deadline.saturating_duration_since(Instant::now());
    let mut discover_error = None;
    if !LEGACY.contains(&known_version) {
        // A server that is known to support the newest version gets more time. Some time is left for older versions.
        let timeout = if MODERN.contains(&known_version) {
            remaining() / 2
        } else {
            probe_timeout.min(remaining() / 2)
        };
        let mut discovered = discover(connection, capabilities, timeout).await;
        if let Err(Failure::Refused { code: UNSUPPORTED_VERSION, data, .. }) = &discovered
            && data["supported"].as_array().is_some_and(|all| all.iter().any(|version| version == MODERN[0]))
        {
            // The server rejects the version that it lists: try once more before the handshake, which it may not
            // support.
            discovered = discover(connection, capabilities, remaining()).await;
        }
        match discovered {
            Ok(negotiated) => return Ok(negotiated),
            Err(Failure::ConnectionLost(reason) | Failure::NotSent(reason)) => {
                return Err(NegotiationError { message: reason, ended_at_probe: true });
            }
            Err(error) => discover_error = Some(error),
        }
    }
    let initialize_error = match initialize(connection, known_version, capabilities, remaining()).await {
        Ok(negotiated) => return Ok(negotiated),
        Err(error) => error,
    };
    // The server has no handshake: it started slowly, or used an older version before.
    if !matches!(discover_error, Some(Failure::Refused { .. }))
        && matches!(initialize_error, Failure::Refused { .. })
        && let Ok(negotiated) = discover(connection, capabilities, remaining()).await
    {
        return Ok(negotiated);
    }
    let reason = match initialize_error {
        Failure::Refused { code, message, .. } => {
            // An HTTP rejection has no JSON-RPC code.
            let code = if code == 0 { String::new() } else { format!(" ({code})") };
            format!("it rejects the handshake of protocol version {}: {message}{code}", LEGACY[0])
        }
        Failure::IdleTimeout(_, strays) | Failure::TotalTimeout(_, strays) => {
            let output = connection.transport.describe_output();
            format!("it did not answer the handshake within {:?}{strays}{output}", rounded(total_timeout))
        }
        Failure::Unparsable(reason) => format!("its response to the handshake cannot be parsed: {reason}"),
        Failure::NotSent(reason) | Failure::ConnectionLost(reason) => reason,
    };
    Err(reason.into())
}

/// Returns the capabilities of this client, by names such as `elicitation`. `tasks` is an extension of the newest protocol
/// versions, and has another meaning in older ones.
fn client_capabilities(capabilities: &List<Text>, modern: bool) -> Value {
    let names = capabilities.iter().filter(|name| ***name != *TASKS);
    let mut declared: Map<String, Value> = names.map(|name| (name.to_string(), json!({}))).collect();
    if modern && capabilities.iter().any(|name| **name == *TASKS) {
        declared.insert("extensions".to_owned(), json!({ "io.modelcontextprotocol/tasks": {} }));
    }
    Value::Object(declared)
}

/// Returns the name and version of this client.
fn client_info() -> Value {
    json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") })
}

async fn discover(
    connection: &Connection,
    capabilities: &List<Text>,
    timeout: Duration,
) -> Result<Negotiated, Failure> {
    let version = MODERN[0];
    connection.transport.set_version(version);
    let key = |name: &str| format!("io.modelcontextprotocol/{name}");
    let meta = Map::from_iter([
        (key("protocolVersion"), Value::from(version)),
        (key("clientInfo"), client_info()),
        (key("clientCapabilities"), client_capabilities(capabilities, true)),
    ]);
    let mut request = Request::new("server/discover", RequestTimeouts::of(timeout));
    request.params.insert("_meta".to_owned(), Value::Object(meta.clone()));
    let mut result = connection.request(request).await?;
    let versions = result["supportedVersions"].as_array().map_or(&[][..], Vec::as_slice);
    if !versions.iter().any(|supported| supported == version) {
        let message = format!("it does not support protocol version {version}");
        return Err(Failure::Refused { code: 0, message, data: Value::Null });
    }
    let meta_info = result.get_mut("_meta").and_then(|meta| meta.get_mut(key("serverInfo")));
    let server_info = meta_info.map(Value::take).unwrap_or_default();
    Ok(Negotiated {
        version: version.to_owned(),
        server_info: if server_info.is_null() { result["serverInfo"].take() } else { server_info },
        capabilities: result["capabilities"].take(),
        meta: Some(meta),
    })
}

async fn initialize(
    connection: &Connection,
    known_version: &str,
    capabilities: &List<Text>,
    timeout: Duration,
) -> Result<Negotiated, Failure> {
    let requested = if LEGACY.contains(&known_version) { known_version } else { LEGACY[0] };
    connection.transport.set_version("");
    let mut request = Request::new("initialize", RequestTimeouts::of(timeout));
    request.params = Map::from_iter([
        ("protocolVersion".to_owned(), Value::from(requested)),
        ("capabilities".to_owned(), client_capabilities(capabilities, false)),
        ("clientInfo".to_owned(), client_info()),
    ]);
    let mut result = connection.request(request).await?;
    let version = result["protocolVersion"].as_str().unwrap_or_default().to_owned();
    if !LEGACY.contains(&version.as_str()) {
        let supported = LEGACY.join(", ");
        let text = match version.as_str() {
            "" => "it does not state its protocol version".to_owned(),
            text => format!("it uses protocol version `{}`", cut(&visible(text), MAX_VERSION_SHOWN)),
        };
        let message = format!("{text}, but this client supports {supported} and {}", MODERN[0]);
        return Err(Failure::Refused { code: 0, message, data: Value::Null });
    }
    connection.transport.set_version(&version);
    let initialized =
        connection.notify("notifications/initialized", json!({ "method": "notifications/initialized" }));
    initialized.await.map_err(|error| Failure::ConnectionLost(error.reason))?;
    Ok(Negotiated {
        version,
        server_info: result["serverInfo"].take(),
        capabilities: result["capabilities"].take(),
        meta: None,
    })
}
