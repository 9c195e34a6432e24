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
const SHOWN: usize = 60;

/// The error code for an unsupported version; the error lists the supported versions.
const UNSUPPORTED: i64 = -32022;

/// The capability of clients that accept tasks as responses.
const TASKS: &str = "tasks";

/// The result of a negotiation.
#[derive(Clone, Debug)]
pub(super) struct Negotiated {
    /// The protocol version, such as `2025-11-25`.
    pub(super) revision: String,
    /// The name and version of the server, as reported by the server. Untrusted.
    pub(super) info: Value,
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
    /// Whether the connection ended when the client asked for the newest version, as older servers may do.
    pub(super) at_probe: bool,
}

impl From<String> for NegotiationError {
    fn from(reason: String) -> NegotiationError {
        NegotiationError { message: reason, at_probe: false }
    }
}

/// Negotiates the protocol version with a server. `known` is the version that the server is known to support, or
/// empty.
///
/// # Errors
///
/// Returns the reason if the negotiation fails.
pub(super) async fn negotiate(
    link: &Connection,
    known: &str,
    capabilities: &List<Text>,
    (probe, whole): (Duration, Duration),
) -> Result<Negotiated, NegotiationError> {
    let ends = Instant::now() + whole;
    let remaining = || ends.saturating_duration_since(Instant::now());
    let mut refused = None;
    if !LEGACY.contains(&known) {
        // A server that is known to support it gets more time, but some is left for the older versions.
        let patience = if MODERN.contains(&known) { remaining() / 2 } else { probe.min(remaining() / 2) };
        let mut discovered = discover(link, capabilities, patience).await;
        if let Err(Failure::Refused { code: UNSUPPORTED, data, .. }) = &discovered
            && data["supported"].as_array().is_some_and(|all| all.iter().any(|one| one == MODERN[0]))
        {
            // The server rejects the version that it lists: try once more before the handshake, which it may not
            // support.
            discovered = discover(link, capabilities, remaining()).await;
        }
        match discovered {
            Ok(agreement) => return Ok(agreement),
            Err(Failure::ConnectionLost(reason) | Failure::NotSent(reason)) => {
                return Err(NegotiationError { message: reason, at_probe: true });
            }
            Err(error) => refused = Some(error),
        }
    }
    let first = match initialize(link, known, capabilities, remaining()).await {
        Ok(agreement) => return Ok(agreement),
        Err(error) => error,
    };
    // A server without a handshake that started slowly, or that used an older version before.
    if !matches!(refused, Some(Failure::Refused { .. }))
        && matches!(first, Failure::Refused { .. })
        && let Ok(agreement) = discover(link, capabilities, remaining()).await
    {
        return Ok(agreement);
    }
    let reason = match first {
        Failure::Refused { code, message, .. } => {
            // An HTTP rejection has no JSON-RPC code.
            let code = if code == 0 { String::new() } else { format!(" ({code})") };
            format!("it rejects the handshake of protocol version {}: {message}{code}", LEGACY[0])
        }
        Failure::Silent(_, meanwhile) | Failure::Late(_, meanwhile) => {
            let wrote = link.transport.wrote();
            format!("it did not answer the handshake within {:?}{meanwhile}{wrote}", rounded(whole))
        }
        Failure::Unread(reason) => format!("its response to the handshake cannot be parsed: {reason}"),
        Failure::NotSent(reason) | Failure::ConnectionLost(reason) => reason,
    };
    Err(reason.into())
}

/// The capabilities of this client, by names such as `elicitation`. `tasks` is an extension of the newest protocol
/// versions, and has another meaning in older ones.
fn client_capabilities(capabilities: &List<Text>, modern: bool) -> Value {
    let asked = capabilities.iter().filter(|name| ***name != *TASKS);
    let mut offered: Map<String, Value> = asked.map(|name| (name.to_string(), json!({}))).collect();
    if modern && capabilities.iter().any(|name| **name == *TASKS) {
        offered.insert("extensions".to_owned(), json!({ "io.modelcontextprotocol/tasks": {} }));
    }
    Value::Object(offered)
}

/// The name and version of this client.
fn client() -> Value {
    json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") })
}

async fn discover(
    link: &Connection,
    capabilities: &List<Text>,
    patience: Duration,
) -> Result<Negotiated, Failure> {
    let revision = MODERN[0];
    link.transport.agreed(revision);
    let key = |name: &str| format!("io.modelcontextprotocol/{name}");
    let meta = Map::from_iter([
        (key("protocolVersion"), Value::from(revision)),
        (key("clientInfo"), client()),
        (key("clientCapabilities"), client_capabilities(capabilities, true)),
    ]);
    let mut request = Request::new("server/discover", RequestTimeouts::of(patience));
    request.params.insert("_meta".to_owned(), Value::Object(meta.clone()));
    let mut result = link.request(request).await?;
    let versions = result["supportedVersions"].as_array().map_or(&[][..], Vec::as_slice);
    if !versions.iter().any(|version| version == revision) {
        let message = format!("it does not support protocol version {revision}");
        return Err(Failure::Refused { code: 0, message, data: Value::Null });
    }
    let meta_info = result.get_mut("_meta").and_then(|meta| meta.get_mut(key("serverInfo")));
    let info = meta_info.map(Value::take).unwrap_or_default();
    Ok(Negotiated {
        revision: revision.to_owned(),
        info: if info.is_null() { result["serverInfo"].take() } else { info },
        capabilities: result["capabilities"].take(),
        meta: Some(meta),
    })
}

async fn initialize(
    link: &Connection,
    known: &str,
    capabilities: &List<Text>,
    patience: Duration,
) -> Result<Negotiated, Failure> {
    let asked = if LEGACY.contains(&known) { known } else { LEGACY[0] };
    link.transport.agreed("");
    let mut request = Request::new("initialize", RequestTimeouts::of(patience));
    request.params = Map::from_iter([
        ("protocolVersion".to_owned(), Value::from(asked)),
        ("capabilities".to_owned(), client_capabilities(capabilities, false)),
        ("clientInfo".to_owned(), client()),
    ]);
    let mut result = link.request(request).await?;
    let revision = result["protocolVersion"].as_str().unwrap_or_default().to_owned();
    if !LEGACY.contains(&revision.as_str()) {
        let known = LEGACY.join(", ");
        let text = match revision.as_str() {
            "" => "it does not state its protocol version".to_owned(),
            text => format!("it uses protocol version `{}`", cut(&visible(text), SHOWN)),
        };
        let message = format!("{text}, but this client supports {known} and {}", MODERN[0]);
        return Err(Failure::Refused { code: 0, message, data: Value::Null });
    }
    link.transport.agreed(&revision);
    let ready = link.notify("notifications/initialized", json!({ "method": "notifications/initialized" }));
    ready.await.map_err(|broken| Failure::ConnectionLost(broken.why))?;
    Ok(Negotiated {
        revision,
        info: result["serverInfo"].take(),
        capabilities: result["capabilities"].take(),
        meta: None,
    })
}
