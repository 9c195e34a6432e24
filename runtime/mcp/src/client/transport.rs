//! Transports of messages to an MCP server and back: a pipe to a program, or HTTP.

use std::sync::Arc;

use serde_json::Value;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::secrets::Secrets;
use toolgen_kernel::spec::plan::{McpServer, McpTransport};

use super::credentials::Credentials;
use super::inbox::Inbox;
use super::options::McpOptions;
use super::stdio::Stdio;

/// Carries messages to a server, and puts those from there into the [`Inbox`](super::inbox::Inbox) that it was
/// started with, for as long as it lives; dropping it ends everything it started, at once.
pub(super) trait Transport: Send + Sync {
    /// Sends a message. Several may be in flight at the same time, in the order in which they were given.
    ///
    /// An answer goes to the inbox, possibly before this future is done. The future may be dropped; the message is
    /// then sent or not, as a whole.
    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), Broken>>;

    /// Notifies the server, without waiting, that no caller is waiting for the answer to this request any longer.
    fn cancel(&self, id: u64);

    /// Whether the connection ends when a message cannot be sent; the inbox then gets the reason.
    fn breaks(&self) -> bool {
        false
    }

    /// Notes that both sides have agreed on a revision of the protocol, such as `2025-11-25`.
    fn agreed(&self, revision: &str) {
        let _ = revision;
    }

    /// Whether arguments are repeated in headers.
    fn repeats(&self) -> bool {
        false
    }

    /// Returns the headers that repeat arguments, if the input schema of the tool asks for them.
    ///
    /// # Errors
    ///
    /// Why the schema cannot ask for them. Such a tool is not offered.
    fn repeated(&self, schema: &Value, arguments: &Value) -> Result<Vec<(String, String)>, String> {
        let _ = (schema, arguments);
        Ok(Vec::new())
    }

    /// Whether the server can be heard when it says something of its own accord.
    fn hears(&self) -> bool {
        true
    }

    /// Returns what the server wrote that was no message, as the end of a sentence; empty if it did not.
    fn wrote(&self) -> String {
        String::new()
    }

    /// Ends the connection in an orderly way, within a few seconds.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// A message to a server.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "a pipe has no headers, and needs no more than the text")]
pub(super) struct Message {
    /// The message: one JSON object, without a line break.
    pub(super) text: String,
    /// The ID, if the message is a request.
    pub(super) id: Option<u64>,
    /// The method. Empty for an answer to a request of the server.
    pub(super) method: &'static str,
    /// What is asked for: the name of the tool that is called.
    pub(super) name: Option<String>,
    /// Headers that repeat arguments, if the schema of the tool asks for them; for HTTP.
    pub(super) headers: Vec<(String, String)>,
}

/// Why a message was not sent.
#[derive(Clone, Debug)]
pub(super) struct Broken {
    /// Whether the server may have received the message, or a part of it.
    pub(super) written: bool,
    /// What went wrong.
    pub(super) why: String,
}

/// Starts the transport to a server.
///
/// # Errors
///
/// Why it cannot be reached, and what to do about it.
pub(super) async fn start(
    server: &McpServer,
    options: &McpOptions,
    credentials: &Credentials,
    inbox: Inbox,
) -> Result<Arc<dyn Transport>, String> {
    #[cfg(not(feature = "http"))]
    let _ = credentials;
    match &server.transport {
        program @ McpTransport::Stdio { .. } => {
            Ok(Arc::new(Stdio::start(program, options.max_message, inbox)?))
        }
        #[cfg(feature = "http")]
        McpTransport::Http { .. } => super::http::start(server, options, credentials, inbox),
        #[cfg(not(feature = "http"))]
        McpTransport::Http { .. } => Err("it is reached over HTTP: that needs the feature `http`".to_owned()),
    }
}

/// Returns the credentials of a server: the values of variables.
pub(super) fn credentials(transport: &McpTransport) -> Secrets {
    match transport {
        program @ McpTransport::Stdio { .. } => super::stdio::credentials(program),
        #[cfg(feature = "http")]
        McpTransport::Http { headers, bearer, .. } => super::http::credentials(headers, bearer),
        #[cfg(not(feature = "http"))]
        McpTransport::Http { .. } => Secrets::default(),
    }
}
