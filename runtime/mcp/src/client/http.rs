//! Streamable HTTP: every message is an HTTP request, and its response a JSON object or an event stream.
//!
//! Since protocol version 2026-07-28, requests are self-contained: their headers name the method and the tool, and
//! closing the response stream cancels the request. In earlier versions, the handshake may open a session that every
//! later request names, another stream carries server-initiated messages, and an interrupted stream is resumed.
//!
//! Requests are sent by the client of the [HTTP engine](toolgen_http), under its SSRF guard.

mod auth;
mod channel;
mod headers;
#[cfg(feature = "oauth")]
mod oauth;
mod response_stream;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::timeout;

use super::connection::{Message, Transport, TransportError};
use super::credentials::Credentials;
use super::inbox::Inbox;
pub(super) use auth::credentials;
pub use auth::{McpTokenRequest, TokenSource};
use channel::Channel;
#[cfg(feature = "oauth")]
pub use oauth::{McpOAuth, TokenStore};
pub(super) use toolgen_http::reaches;
use toolgen_http::{HttpEngine, HttpEngineBuilder};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::base::sync::unpoisoned;
use toolgen_kernel::spec::plan::McpServer;

/// Timeout of a notification, of a response to a server request, and of ending a session.
const NOTIFICATION_TIMEOUT: Duration = Duration::from_secs(10);

/// Settings of a client for servers over HTTP: request options and token sources.
#[derive(Clone, Debug)]
pub(super) struct HttpOptions {
    pub(super) engine: HttpEngineBuilder,
    /// Token sources by server alias.
    pub(super) tokens: Vec<(Text, Arc<dyn TokenSource>)>,
}

impl Default for HttpOptions {
    fn default() -> HttpOptions {
        HttpOptions { engine: HttpEngine::builder().private_host_help(private_host_help), tokens: Vec::new() }
    }
}

/// Help for a blocked private host.
fn private_host_help(host: &str) -> String {
    format!("The program can allow it with `McpOptions::private_host({host:?})`.")
}

/// Returns the host and the port of a URL.
pub(super) fn host_and_port(url: &str) -> (Option<String>, Option<u16>) {
    let Ok(url) = reqwest::Url::parse(url) else { return (None, None) };
    (url.host_str().map(str::to_owned), url.port_or_known_default())
}

/// Transport of messages over HTTP.
struct Http {
    channel: Arc<Channel>,
    tasks: Mutex<Tasks>,
}

/// The running tasks. Dropping this aborts all tasks.
#[derive(Default)]
struct Tasks {
    set: JoinSet<()>,
    /// The pending requests.
    requests: BTreeMap<u64, AbortHandle>,
}

impl Tasks {
    fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        while self.set.try_join_next().is_some() {}
        self.requests.retain(|_, request| !request.is_finished());
        self.set.spawn(task)
    }
}

/// Creates the transport to a server. Nothing is sent yet.
///
/// # Errors
///
/// Returns the reason if no request can be sent: a variable is not set, a header is invalid, or TLS is unusable.
pub(super) fn start(
    server: &McpServer,
    options: &HttpOptions,
    connect: Duration,
    max_message: usize,
    credentials: &Credentials,
    inbox: Inbox,
) -> Result<Arc<dyn Transport>, String> {
    let channel = Arc::new(Channel::new(server, options, connect, max_message, credentials.clone(), inbox)?);
    Ok(Arc::new(Http { channel, tasks: Mutex::default() }))
}

impl Http {
    /// Sends a message in its own task, so that it is sent completely even if the caller is dropped.
    fn start_sending(&self, message: Message) -> oneshot::Receiver<Result<(), TransportError>> {
        let (result_tx, result_rx) = oneshot::channel();
        let channel = Arc::clone(&self.channel);
        let mut tasks = unpoisoned(self.tasks.lock());
        match message.id {
            Some(id) => {
                let task = tasks.spawn(async move {
                    if let Some(response) = channel.send_request(&message, id, result_tx).await {
                        response_stream::read(&channel, response, id).await;
                    }
                });
                tasks.requests.insert(id, task);
            }
            None => {
                let opens_stream = message.method == "notifications/initialized";
                tasks.spawn(async move {
                    let delivered = timeout(NOTIFICATION_TIMEOUT, channel.notify(&message)).await;
                    let timed_out = || TransportError {
                        written: true,
                        reason: format!(
                            "the server did not accept the notification within {NOTIFICATION_TIMEOUT:?}"
                        ),
                    };
                    let result = delivered.unwrap_or_else(|_| Err(timed_out()));
                    let is_accepted = result.is_ok();
                    // A caller that was dropped needs no result.
                    drop(result_tx.send(result));
                    if opens_stream && is_accepted {
                        response_stream::receive_server_messages(&channel).await;
                    }
                });
            }
        }
        result_rx
    }
}

impl Transport for Http {
    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), TransportError>> {
        let result_rx = self.start_sending(message);
        Box::pin(async move {
            let cancelled =
                |_| Err(TransportError { written: true, reason: "the request was cancelled".to_owned() });
            result_rx.await.unwrap_or_else(cancelled)
        })
    }

    fn cancel(&self, id: u64) {
        let mut tasks = unpoisoned(self.tasks.lock());
        if let Some(request) = tasks.requests.remove(&id) {
            // This closes the connection of the response stream.
            request.abort();
        }
        if self.channel.is_modern() {
            return;
        }
        let params = json!({ "requestId": id, "reason": "the request was cancelled" });
        let text =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params }).to_string();
        let method = "notifications/cancelled";
        let message = Message { text, id: None, method, name: None, headers: Vec::new() };
        let channel = Arc::clone(&self.channel);
        tasks.spawn(async move {
            // If the notification fails, the server detects the cancellation itself.
            drop(timeout(NOTIFICATION_TIMEOUT, channel.notify(&message)).await);
        });
    }

    fn set_version(&self, version: &str) {
        // Nothing awaits the probe for other protocol versions anymore.
        let requests = std::mem::take(&mut unpoisoned(self.tasks.lock()).requests);
        requests.values().for_each(AbortHandle::abort);
        self.channel.set_version(version);
    }

    fn sends_argument_headers(&self) -> bool {
        self.channel.is_modern()
    }

    fn argument_headers(&self, schema: &Value, arguments: &Value) -> Result<Vec<(String, String)>, String> {
        if !self.channel.is_modern() {
            return Ok(Vec::new());
        }
        Ok(headers::of_arguments(&headers::annotated_parameters(schema)?, arguments))
    }

    fn receives_server_messages(&self) -> bool {
        self.channel.is_modern() || self.channel.is_listening.load(Ordering::Acquire)
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            unpoisoned(self.tasks.lock()).set.abort_all();
            // If the request fails, the server ends the session after its own timeout.
            drop(timeout(NOTIFICATION_TIMEOUT / 4, self.channel.end_session()).await);
        })
    }
}

#[cfg(test)]
mod tests;
