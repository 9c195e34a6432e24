//! Listens to the traffic of an engine, or takes the place of the network.

use std::fmt;
use std::sync::Arc;

#[cfg(feature = "mcp")]
use serde_json::Value;

use crate::call::secrets::Secrets;

/// What an engine reports its traffic to and asks instead of the network: a
/// [`Cassette`](crate::testing::cassette::Cassette). Clones share it.
#[derive(Clone)]
pub struct Tape(pub(crate) Arc<dyn Taping>);

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.plays() { "Tape(plays)" } else { "Tape(records)" })
    }
}

/// Records the traffic of engines, or plays it back.
pub(crate) trait Taping: Send + Sync {
    /// Whether it takes the place of the network.
    fn plays(&self) -> bool;

    /// Hides a credential in all traffic, before and after.
    #[cfg(feature = "http")]
    fn hide(&self, credential: &str);

    /// Hides the secrets of a call.
    fn hide_all(&self, secrets: &Secrets);

    /// Returns the recorded answer to a request.
    ///
    /// # Errors
    ///
    /// If the request is not a recorded one, with what differs.
    #[cfg(feature = "http")]
    fn answer(&self, request: TapedRequest) -> Result<TapedAnswer, String>;

    /// Notes that a request is sent, and returns its number.
    #[cfg(feature = "http")]
    fn asked(&self, request: TapedRequest) -> usize;

    /// Notes the answer to the request with this number, as far as it was read.
    #[cfg(feature = "http")]
    fn answered(&self, number: usize, answer: TapedAnswer);

    /// Notes a new connection to a server, and returns its number among those of the server, from 1.
    #[cfg(feature = "mcp")]
    fn connected(&self, server: &str) -> usize;

    /// Notes a message to a server.
    #[cfg(feature = "mcp")]
    fn sent(&self, connection: (&str, usize), message: Value);

    /// Notes a message from a server.
    #[cfg(feature = "mcp")]
    fn received(&self, connection: (&str, usize), message: &Value);

    /// Returns what the server says in response to a message, and to those before it.
    ///
    /// # Errors
    ///
    /// If the message is not a recorded one, with what differs.
    #[cfg(feature = "mcp")]
    fn play(&self, connection: (&str, usize), message: Value) -> Result<Vec<Value>, String>;
}

/// A request on the wire.
#[cfg(feature = "http")]
pub(crate) struct TapedRequest {
    pub(crate) method: String,
    pub(crate) url: String,
    /// The headers, without the values of those that carry credentials.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// An answer on the wire, without the encoding of its content.
#[cfg(feature = "http")]
#[derive(Default)]
pub(crate) struct TapedAnswer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}
