//! Messages over HTTP, with a server that sends exactly the bytes of the test.

mod access;
mod legacy;
mod modern;
#[cfg(feature = "oauth")]
mod oauth;
mod server;

use std::sync::atomic::{AtomicUsize, Ordering};

use server::{ReceivedRequest, Server, TEST_TIMEOUT};
use tokio::time::timeout;
use toolgen_kernel::base::frozen::List;
use toolgen_kernel::spec::plan::McpTransport;

use super::*;
use crate::client::credentials::Credentials;
use crate::client::inbox::{OnProgress, Reply, ServerMessage, Ticket};
use crate::client::options::McpOptions;
use crate::client::transport::start;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// A transport to a server, and the messages that it receives.
struct Wire {
    transport: Arc<dyn Transport>,
    inbox: Inbox,
    server_messages: tokio::sync::mpsc::Receiver<ServerMessage>,
}

fn server_at(url: &str) -> McpServer {
    let transport =
        McpTransport::Http { url: url.to_owned().into(), headers: List::EMPTY, bearer: Text::EMPTY };
    McpServer { alias: "docs".into(), transport, ..McpServer::EMPTY }
}

fn local_options() -> McpOptions {
    McpOptions::new().private_host("127.0.0.1")
}

impl Wire {
    async fn connect(server: &McpServer, options: &McpOptions) -> Result<Wire, String> {
        let (inbox, server_messages) = Inbox::new();
        let transport = start(server, options, &Credentials::default(), inbox.clone())?;
        Ok(Wire { transport, inbox, server_messages })
    }

    /// Creates a wire with a negotiated protocol version.
    async fn with_version(version: &str, url: &str) -> Wire {
        let wire = Wire::connect(&server_at(url), &local_options()).await.unwrap();
        wire.transport.set_version(version);
        wire
    }

    fn send(&self, method: &'static str) -> (Ticket, BoxFuture<'_, Result<(), TransportError>>) {
        self.send_with_progress(method, None)
    }

    fn send_with_progress(
        &self,
        method: &'static str,
        on_progress: Option<OnProgress>,
    ) -> (Ticket, BoxFuture<'_, Result<(), TransportError>>) {
        let ticket = self.inbox.register(on_progress).unwrap();
        let text = json!({"jsonrpc": "2.0", "id": ticket.id, "method": method, "params": {}}).to_string();
        let name = (method == "tools/call").then(|| "echo".to_owned());
        let message = Message { text, id: Some(ticket.id), method, name, headers: Vec::new() };
        (ticket, self.transport.send(message))
    }

    async fn notify(&self, method: &'static str) -> Result<(), TransportError> {
        let text = json!({"jsonrpc": "2.0", "method": method}).to_string();
        self.transport.send(Message { text, id: None, method, name: None, headers: Vec::new() }).await
    }
}

async fn reply(mut ticket: Ticket) -> Reply {
    timeout(TEST_TIMEOUT, &mut ticket.reply).await.expect("no response").unwrap()
}

async fn result(ticket: Ticket) -> Value {
    match reply(ticket).await {
        Reply::Result(result) => result,
        other => panic!("{other:?}"),
    }
}

async fn loss_reason(ticket: Ticket) -> String {
    match reply(ticket).await {
        Reply::Lost(reason) | Reply::Unparsable(reason) => reason,
        other => panic!("{other:?}"),
    }
}

async fn rejection_message(ticket: Ticket) -> String {
    match reply(ticket).await {
        Reply::Error { code: 0, message, .. } => message,
        other => panic!("{other:?}"),
    }
}

fn response(id: u64, result: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// Counts the progress notifications of a request.
fn counter() -> (Arc<AtomicUsize>, OnProgress) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let on_progress = move |_: &Value| {
        counted.fetch_add(1, Ordering::Relaxed);
    };
    (count, Arc::new(on_progress))
}
