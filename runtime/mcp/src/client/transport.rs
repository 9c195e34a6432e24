//! Starts the transport to an MCP server: a pipe to a child process, or HTTP. With a cassette, messages are recorded,
//! or replayed without a server.

use std::sync::Arc;

use serde_json::Value;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::secrets::Secrets;
use toolgen_kernel::engine::interceptor::Interceptor;
use toolgen_kernel::spec::plan::{McpServer, McpTransport};

use super::connection::{Broken, Message, Transport};
use super::credentials::Credentials;
use super::inbox::Inbox;
use super::options::McpOptions;
use super::stdio::Stdio;
use super::{http, stdio};

/// Starts the transport to a server, or its replay.
///
/// # Errors
///
/// Returns the reason if the server cannot be reached, and what to do.
pub(super) fn start(
    server: &McpServer,
    options: &McpOptions,
    credentials: &Credentials,
    inbox: Inbox,
) -> Result<Arc<dyn Transport>, String> {
    let Some(tape) = options.tape.clone() else {
        return reach(server, options, credentials, inbox);
    };
    let alias = server.alias.to_string();
    let number = tape.0.connected(&alias);
    let end = End { tape, alias, number };
    if end.tape.0.plays() {
        return Ok(Arc::new(Player { end, inbox }));
    }
    let (heard, known) = (end.clone(), credentials.clone());
    inbox.listen(move |message| {
        // A server may repeat credentials, such as a variable.
        heard.tape.0.hide_all(&known.now());
        heard.tape.0.received((&heard.alias, heard.number), message);
    });
    let inner = reach(server, options, credentials, inbox)?;
    Ok(Arc::new(Recorder { end, inner, credentials: credentials.clone() }))
}

fn reach(
    server: &McpServer,
    options: &McpOptions,
    credentials: &Credentials,
    inbox: Inbox,
) -> Result<Arc<dyn Transport>, String> {
    match &server.transport {
        program @ McpTransport::Stdio { .. } => {
            Ok(Arc::new(Stdio::start(program, options.max_message, inbox)?))
        }
        McpTransport::Http { .. } => http::start(
            server,
            &options.http,
            options.connect_timeout,
            options.max_message,
            credentials,
            inbox,
        ),
    }
}

/// Returns the credentials of a server: the values of variables.
pub(super) fn credentials(transport: &McpTransport) -> Secrets {
    match transport {
        program @ McpTransport::Stdio { .. } => stdio::credentials(program),
        McpTransport::Http { headers, bearer, .. } => http::credentials(headers, bearer),
    }
}

/// A connection that is recorded or replayed.
#[derive(Clone)]
struct End {
    tape: Interceptor,
    alias: String,
    number: usize,
}

/// Transport that records messages.
struct Recorder {
    end: End,
    inner: Arc<dyn Transport>,
    credentials: Credentials,
}

impl Transport for Recorder {
    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), Broken>> {
        let End { tape, alias, number } = &self.end;
        tape.0.hide_all(&self.credentials.now());
        if let Ok(message) = serde_json::from_str(&message.text) {
            tape.0.sent((alias, *number), message);
        }
        self.inner.send(message)
    }

    fn cancel(&self, id: u64) {
        self.inner.cancel(id);
    }

    fn breaks(&self) -> bool {
        self.inner.breaks()
    }

    fn agreed(&self, revision: &str) {
        self.inner.agreed(revision);
    }

    fn repeats(&self) -> bool {
        self.inner.repeats()
    }

    fn repeated(&self, schema: &Value, arguments: &Value) -> Result<Vec<(String, String)>, String> {
        self.inner.repeated(schema, arguments)
    }

    fn hears(&self) -> bool {
        self.inner.hears()
    }

    fn wrote(&self) -> String {
        self.inner.wrote()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.inner.close()
    }
}

/// Transport that replays the recorded messages of a server.
struct Player {
    end: End,
    inbox: Inbox,
}

impl Transport for Player {
    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), Broken>> {
        let End { tape, alias, number } = &self.end;
        let message = serde_json::from_str(&message.text).map_err(|error| error.to_string());
        let messages = message.and_then(|message| tape.0.play((alias, *number), message));
        let sent =
            messages.map(|messages| messages.into_iter().for_each(|message| self.inbox.message(message)));
        Box::pin(std::future::ready(sent.map_err(|error| Broken { written: false, why: error })))
    }

    fn cancel(&self, _: u64) {}

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
