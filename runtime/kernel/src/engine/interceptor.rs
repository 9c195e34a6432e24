//! Records the traffic of an engine, or replaces the network.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::call::secrets::Secrets;

/// The interceptor that records the traffic of an engine, or that the engine uses instead of the network: a
/// `layers::cassette::Cassette`. Clones share it.
#[derive(Clone)]
pub struct Interceptor(pub Arc<dyn TrafficInterceptor>);

impl fmt::Debug for Interceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.plays() { "Tape(plays)" } else { "Tape(records)" })
    }
}

/// Records the traffic of engines, or plays it back.
#[doc(hidden)]
pub trait TrafficInterceptor: Send + Sync {
    /// Whether the interceptor replaces the network.
    fn plays(&self) -> bool;

    /// Redacts a credential in all earlier and later traffic.
    fn hide(&self, credential: &str);

    /// Redacts the secrets of a call.
    fn hide_all(&self, secrets: &Secrets);

    /// Returns the recorded response to a request.
    ///
    /// # Errors
    ///
    /// Returns the difference if the request was not recorded.
    fn replay_response(&self, request: RecordedRequest) -> Result<RecordedResponse, String>;

    /// Records that a request is sent, and returns its number.
    fn record_request(&self, request: RecordedRequest) -> usize;

    /// Records the part of the response that was read, for the request with this number.
    fn answered(&self, number: usize, response: RecordedResponse);

    /// Records a new connection to a server. Returns its number among the connections of the server, from 1.
    fn connected(&self, server: &str) -> usize;

    /// Records a message to a server.
    fn sent(&self, connection: (&str, usize), message: Value);

    /// Records a message from a server.
    fn received(&self, connection: (&str, usize), message: &Value);

    /// Returns the recorded messages of the server that follow this message and the earlier ones.
    ///
    /// # Errors
    ///
    /// Returns the difference if the message was not recorded.
    fn play(&self, connection: (&str, usize), message: Value) -> Result<Vec<Value>, String>;
}

/// A request on the wire.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only for the crates of the workspace")]
pub struct RecordedRequest {
    pub method: String,
    pub url: String,
    /// The headers, without the values of those that carry credentials.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// A response on the wire, without its content encoding.
#[derive(Default)]
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "only for the crates of the workspace")]
pub struct RecordedResponse {
    #[doc(hidden)]
    pub status: u16,
    #[doc(hidden)]
    pub headers: Vec<(String, String)>,
    #[doc(hidden)]
    pub body: Vec<u8>,
}
