//! Listens to the traffic of an engine, or takes the place of the network.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::call::secrets::Secrets;

/// What an engine reports its traffic to and asks instead of the network: a
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
    /// Whether it takes the place of the network.
    fn plays(&self) -> bool;

    /// Hides a credential in all traffic, before and after.
    fn hide(&self, credential: &str);

    /// Hides the secrets of a call.
    fn hide_all(&self, secrets: &Secrets);

    /// Returns the recorded answer to a request.
    ///
    /// # Errors
    ///
    /// If the request is not a recorded one, with what differs.
    fn replay_response(&self, request: TapedRequest) -> Result<TapedAnswer, String>;

    /// Notes that a request is sent, and returns its number.
    fn record_request(&self, request: TapedRequest) -> usize;

    /// Notes the answer to the request with this number, as far as it was read.
    fn answered(&self, number: usize, reply: TapedAnswer);

    /// Notes a new connection to a server, and returns its number among those of the server, from 1.
    fn connected(&self, server: &str) -> usize;

    /// Notes a message to a server.
    fn sent(&self, connection: (&str, usize), message: Value);

    /// Notes a message from a server.
    fn received(&self, connection: (&str, usize), message: &Value);

    /// Returns what the server says in response to a message, and to those before it.
    ///
    /// # Errors
    ///
    /// If the message is not a recorded one, with what differs.
    fn play(&self, connection: (&str, usize), message: Value) -> Result<Vec<Value>, String>;
}

/// A request on the wire.
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "for the crates of the workspace alone")]
pub struct TapedRequest {
    pub method: String,
    pub url: String,
    /// The headers, without the values of those that carry credentials.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// An answer on the wire, without the encoding of its content.
#[derive(Default)]
#[doc(hidden)]
#[allow(missing_debug_implementations, reason = "for the crates of the workspace alone")]
pub struct TapedAnswer {
    #[doc(hidden)]
    pub status: u16,
    #[doc(hidden)]
    pub headers: Vec<(String, String)>,
    #[doc(hidden)]
    pub body: Vec<u8>,
}
