//! Messages over HTTP, with a server that sends exactly the bytes of the test.

mod access;
mod legacy;
mod modern;
#[cfg(feature = "oauth")]
mod oauth;
mod server;

use std::sync::atomic::{AtomicUsize, Ordering};

use server::{Asked, SOON, Server};
use tokio::time::timeout;
use toolgen_kernel::base::frozen::List;
use toolgen_kernel::spec::plan::McpTransport;

use super::*;
use crate::client::credentials::Credentials;
use crate::client::inbox::{OnNotice, Reply, ServerMessage, Ticket};
use crate::client::options::McpOptions;
use crate::client::transport::start;

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

/// A transport to a server, and the messages that it receives.
struct Wire {
    transport: Arc<dyn Transport>,
    inbox: Inbox,
    said: tokio::sync::mpsc::Receiver<ServerMessage>,
}

fn server_at(url: &str) -> McpServer {
    let transport =
        McpTransport::Http { url: url.to_owned().into(), headers: List::EMPTY, bearer: Text::EMPTY };
    McpServer { alias: "docs".into(), transport, ..McpServer::EMPTY }
}

fn open() -> McpOptions {
    McpOptions::new().private_host("127.0.0.1")
}

impl Wire {
    async fn to(server: &McpServer, options: &McpOptions) -> Result<Wire, String> {
        let (inbox, text) = Inbox::new();
        let transport = start(server, options, &Credentials::default(), inbox.clone())?;
        Ok(Wire { transport, inbox, said: text })
    }

    /// Creates a wire with a negotiated protocol version.
    async fn speaking(revision: &str, url: &str) -> Wire {
        let wire = Wire::to(&server_at(url), &open()).await.unwrap();
        wire.transport.agreed(revision);
        wire
    }

    fn ask(&self, method: &'static str) -> (Ticket, BoxFuture<'_, Result<(), Broken>>) {
        self.ask_heard(method, None)
    }

    fn ask_heard(
        &self,
        method: &'static str,
        on_progress: Option<OnNotice>,
    ) -> (Ticket, BoxFuture<'_, Result<(), Broken>>) {
        let ticket = self.inbox.expect(on_progress).unwrap();
        let text = json!({"jsonrpc": "2.0", "id": ticket.id, "method": method, "params": {}}).to_string();
        let name = (method == "tools/call").then(|| "echo".to_owned());
        let message = Message { text, id: Some(ticket.id), method, name, headers: Vec::new() };
        (ticket, self.transport.send(message))
    }

    async fn tell(&self, method: &'static str) -> Result<(), Broken> {
        let text = json!({"jsonrpc": "2.0", "method": method}).to_string();
        self.transport.send(Message { text, id: None, method, name: None, headers: Vec::new() }).await
    }
}

async fn reply(mut ticket: Ticket) -> Reply {
    timeout(SOON, &mut ticket.reply).await.expect("no answer").unwrap()
}

async fn result(ticket: Ticket) -> Value {
    match reply(ticket).await {
        Reply::Result(result) => result,
        other => panic!("{other:?}"),
    }
}

async fn lost(ticket: Ticket) -> String {
    match reply(ticket).await {
        Reply::Lost(reason) | Reply::Unread(reason) => reason,
        other => panic!("{other:?}"),
    }
}

async fn refused(ticket: Ticket) -> String {
    match reply(ticket).await {
        Reply::Error { code: 0, message, .. } => message,
        other => panic!("{other:?}"),
    }
}

fn answer(id: u64, result: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

/// Counts the progress notifications of a request.
fn counter() -> (Arc<AtomicUsize>, OnNotice) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let on_progress = move |_: &Value| {
        counted.fetch_add(1, Ordering::Relaxed);
    };
    (count, Arc::new(on_progress))
}
