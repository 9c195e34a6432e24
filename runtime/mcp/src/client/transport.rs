//! Starts the transport to an MCP server: a pipe to a child process, or HTTP. With a cassette, messages are recorded,
//! or replayed without a server.

use std::sync::Arc;

use serde_json::Value;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::secrets::Secrets;
use toolgen_kernel::engine::interceptor::Interceptor;
use toolgen_kernel::spec::plan::{McpServer, McpTransport};

use super::connection::{Message, Transport, TransportError};
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
    let Some(interceptor) = options.interceptor.clone() else {
        return start_transport(server, options, credentials, inbox);
    };
    let alias = server.alias.to_string();
    let number = interceptor.0.connected(&alias);
    let intercepted = InterceptedConnection { interceptor, alias, number };
    if intercepted.interceptor.0.plays() {
        return Ok(Arc::new(Player { intercepted, inbox }));
    }
    let (recorder, server_credentials) = (intercepted.clone(), credentials.clone());
    inbox.set_listener(move |message| {
        // A server may repeat credentials, such as a variable.
        recorder.interceptor.0.hide_all(&server_credentials.current());
        recorder.interceptor.0.received((&recorder.alias, recorder.number), message);
    });
    let inner = start_transport(server, options, credentials, inbox)?;
    Ok(Arc::new(Recorder { intercepted, inner, credentials: credentials.clone() }))
}

fn start_transport(
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
struct InterceptedConnection {
    interceptor: Interceptor,
    alias: String,
    number: usize,
}

/// Transport that records messages.
struct Recorder {
    intercepted: InterceptedConnection,
    inner: Arc<dyn Transport>,
    credentials: Credentials,
}

impl Transport for Recorder {
    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), TransportError>> {
        let InterceptedConnection { interceptor, alias, number } = &self.intercepted;
        interceptor.0.hide_all(&self.credentials.current());
        if let Ok(message) = serde_json::from_str(&message.text) {
            interceptor.0.sent((alias, *number), message);
        }
        self.inner.send(message)
    }

    fn cancel(&self, id: u64) {
        self.inner.cancel(id);
    }

    fn closes_on_send_error(&self) -> bool {
        self.inner.closes_on_send_error()
    }

    fn set_version(&self, version: &str) {
        self.inner.set_version(version);
    }

    fn sends_argument_headers(&self) -> bool {
        self.inner.sends_argument_headers()
    }

    fn argument_headers(&self, schema: &Value, arguments: &Value) -> Result<Vec<(String, String)>, String> {
        self.inner.argument_headers(schema, arguments)
    }

    fn receives_server_messages(&self) -> bool {
        self.inner.receives_server_messages()
    }

    fn describe_output(&self) -> String {
        self.inner.describe_output()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.inner.close()
    }
}

/// Transport that replays the recorded messages of a server.
struct Player {
    intercepted: InterceptedConnection,
    inbox: Inbox,
}

impl Transport for Player {
    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), TransportError>> {
        let InterceptedConnection { interceptor, alias, number } = &self.intercepted;
        let message = serde_json::from_str(&message.text).map_err(|error| error.to_string());
        let messages = message.and_then(|message| interceptor.0.play((alias, *number), message));
        let result =
            messages.map(|messages| messages.into_iter().for_each(|message| self.inbox.accept(message)));
        Box::pin(std::future::ready(result.map_err(|reason| TransportError { written: false, reason })))
    }

    fn cancel(&self, _: u64) {}

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}
