//! MCP server: lets any MCP client list and call the tools of a toolbox.
//!
//! ```no_run
//! # use toolgen_runtime::{Toolbox, ToolboxContext, Registry, tool, toolset};
//! use toolgen_runtime::serve::mcp::Server;
//!
//! /// Adds two numbers.
//! #[tool(read_only, undocumented)]
//! fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let toolbox = Registry::new(toolset![add])?.toolbox(ToolboxContext::new());
//! Server::new(toolbox).stdio().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Both generations of the protocol are supported; the client chooses: sessions that begin with `initialize` (versions
//! up to 2025-11-25), and self-contained requests (2026-07-28). Every call passes through all layers of the toolbox:
//! policy, limits, approvals, audit. Updates from a running tool are sent as progress notifications if the client
//! requested them. If a client cancels a call or disconnects, the call's cancellation token is cancelled.
//!
//! # Security
//!
//! - A server over standard streams uses standard output for the protocol, so tools must not write to it.
//! - Over HTTP, the server accepts only requests whose `Host` is this machine or an [allowed](Server::allow_host)
//!   name, and whose `Origin`, if any, is this machine or [allowed](Server::allow_origin). This prevents DNS
//!   rebinding by web pages. It listens on an address other than loopback only if a [bearer token](Server::bearer) or
//!   [principals](Server::principal) are set.
//! - A session belongs to the principal that opened it; no other principal can use it.
//! - The `rmcp` crate logs messages with their arguments through `tracing`, at the levels `info` and `debug`. To keep
//!   arguments out of logs, set the target `rmcp` to `warn`.

mod call;
mod client_values;
mod descriptor_cache;
mod elicitation;
mod handler;
mod http;
mod invalid_request;
#[cfg_attr(not(feature = "otel"), path = "server/without_otel.rs")]
mod otel;
#[cfg(feature = "rmcp")]
pub mod rmcp;
mod shares;
mod slots;
mod stream_handler;
mod streams;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use ::rmcp::model::{Implementation, ServerCapabilities, ServerConfig};
use ::rmcp::service::ServerInitializeError;
use client_values::ClientValues;
use descriptor_cache::DescriptorCache;
use handler::Handler;
use http::AccessRules;
use shares::CallLimits;
use stream_handler::StreamHandler;
use streams::Streams;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use toolgen_kernel::toolbox::Toolbox;

/// Default number of tools per page of `tools/list`.
const DEFAULT_PAGE_SIZE: usize = 250;

/// Default time for a person to answer an elicitation.
const DEFAULT_ELICITATION_TIMEOUT: Duration = Duration::from_secs(300);

/// Serves the tools of a toolbox over MCP; see the [module](self).
#[derive(Debug)]
#[must_use = "a server does nothing before `stdio`, `http` or `router`"]
pub struct Server {
    state: SharedState,
    access_rules: AccessRules,
}

/// State that all connections of a server share.
#[derive(Clone)]
struct SharedState {
    info: ServerConfig,
    tools: Tools,
    page_size: usize,
    calls: CallLimits,
    elicitation_timeout: Duration,
    client_approves: bool,
    client_values: ClientValues,
}

/// The tools that a server offers. Clones belong to the same server.
#[derive(Clone)]
pub struct Tools(Arc<SharedTools>);

struct SharedTools {
    toolbox: watch::Sender<Toolbox>,
    /// Number of listed tools when clients were last notified.
    listed_count: AtomicUsize,
    descriptors: DescriptorCache,
}

impl Tools {
    fn new(toolbox: Toolbox) -> Tools {
        let listed_count = AtomicUsize::new(toolbox.specs().count());
        Tools(Arc::new(SharedTools {
            toolbox: watch::Sender::new(toolbox),
            listed_count,
            descriptors: DescriptorCache::default(),
        }))
    }

    /// Replaces the toolbox and notifies clients that the list has changed. Running calls are not affected.
    pub fn replace(&self, toolbox: Toolbox) {
        self.0.listed_count.store(toolbox.specs().count(), Ordering::Relaxed);
        self.0.toolbox.send_replace(toolbox);
        self.0.descriptors.clear();
    }

    fn toolbox(&self) -> Toolbox {
        self.0.toolbox.borrow().clone()
    }

    /// Returns a receiver that is notified of later changes to the list.
    fn changes(&self) -> watch::Receiver<Toolbox> {
        self.0.toolbox.subscribe()
    }

    /// Notifies clients if a call has changed the list: the first oversized result adds a tool that reads the rest of
    /// it.
    fn notify_if_changed(&self) {
        let listed_count = self.toolbox().specs().count();
        if self.0.listed_count.swap(listed_count, Ordering::Relaxed) != listed_count {
            self.0.toolbox.send_modify(|_| {});
        }
    }
}

impl Server {
    /// Creates a server for the tools of a toolbox.
    pub fn new(toolbox: Toolbox) -> Server {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("toolgen", env!("CARGO_PKG_VERSION")));
        let state = SharedState {
            info,
            tools: Tools::new(toolbox),
            page_size: DEFAULT_PAGE_SIZE,
            calls: CallLimits::default(),
            elicitation_timeout: DEFAULT_ELICITATION_TIMEOUT,
            client_approves: false,
            client_values: ClientValues::default(),
        };
        Server { state, access_rules: AccessRules::default() }
    }

    /// Sets the server name that is reported to clients. Default: `toolgen`.
    pub fn name(mut self, name: impl Into<String>) -> Server {
        self.state.info.server_info.name = name.into();
        self
    }

    /// Sets the title that clients display. Default: none.
    pub fn title(mut self, title: impl Into<String>) -> Server {
        self.state.info.server_info.title = Some(title.into());
        self
    }

    /// Sets the version that is reported to clients. Default: the version of this crate.
    pub fn version(mut self, version: impl Into<String>) -> Server {
        self.state.info.server_info.version = version.into();
        self
    }

    /// Sets the instructions for models on how to use the tools together.
    pub fn instructions(mut self, text: impl Into<String>) -> Server {
        self.state.info.instructions = Some(text.into());
        self
    }

    /// Sets the number of tools per page of the list, at least 1. Default: 250.
    pub fn page_size(mut self, tools: usize) -> Server {
        self.state.page_size = tools.max(1);
        self
    }

    /// Sets the maximum number of concurrent calls of all clients, at least 1. Default: 1,024. Additional calls are
    /// rejected with an error. Limits on connections or sessions do not bound calls: a session keeps running the
    /// calls of a client whose connection was closed.
    pub fn max_calls(mut self, calls: usize) -> Server {
        self.state.calls.set_max_total(calls);
        self
    }

    /// Sets the maximum number of concurrent calls per [principal](Self::principal), at least 1. Default: a quarter
    /// of [`max_calls`](Self::max_calls), but at least 8. Additional calls are rejected with an error.
    pub fn max_calls_per_principal(mut self, calls: usize) -> Server {
        self.state.calls.set_max_per_caller(calls);
        self
    }

    /// Sets how long a client has to answer an elicitation. Default: five minutes.
    pub fn elicitation_timeout(mut self, limit: Duration) -> Server {
        self.state.elicitation_timeout = limit;
        self
    }

    /// Lets the client's user approve calls that need an approval. Otherwise such calls are rejected, because
    /// a client may answer without asking a person. The client receives the final arguments of the call.
    pub fn approve_by_elicitation(mut self) -> Server {
        self.state.client_approves = true;
        self
    }

    /// Lets clients set the named values of the [context](toolgen_kernel::ToolContext::values), and no others. A tool
    /// that requires such a value lists it as an optional argument, unless the tool has an argument of that name. In
    /// addition, every call may pass values in the object `io.toolgen/context` of its `_meta`. A client can thus
    /// return the `session_id` that a tool has created. Accepted values are strings of at most 1,024 bytes, and
    /// integers.
    ///
    /// Such a value has the provenance [`Client`](toolgen_kernel::call::context_values::Provenance::Client), in
    /// audit records too. It never replaces a value that the program has set, and does not identify the caller.
    pub fn client_values<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Server {
        self.state.client_values = ClientValues::new(names);
        self
    }

    /// Returns a handle that replaces the toolbox while the server runs.
    #[must_use]
    pub fn tools(&self) -> Tools {
        self.state.tools.clone()
    }

    /// Serves one client on standard input and output until the client closes them.
    ///
    /// # Errors
    ///
    /// Returns an error if a stream fails, or if the input violates the protocol.
    pub async fn stdio(self) -> Result<(), ServeError> {
        let (input, output) = ::rmcp::transport::stdio_pipes();
        self.serve(input, output).await
    }

    /// Serves one client on a pair of streams, one message per line, until the client closes them. When the input
    /// ends, subscriptions and elicitations end immediately; running calls have five seconds to complete.
    ///
    /// A line that is not a message is answered with an error, with the ID of the request if the line contains one:
    /// -32700 if the line is not JSON in UTF-8, -32600 if it is other JSON or is longer than 16 MiB. A request with
    /// parameters that are invalid for its method, or sent before `initialize`, is answered with -32602. A request
    /// that reuses the ID of a pending request is answered with -32600.
    ///
    /// Backpressure: reading pauses while 64 messages are being handled (not counting running calls), or while 1,024
    /// messages or 16 MiB wait to be read by the client.
    ///
    /// # Errors
    ///
    /// Returns an error if a stream fails, or if the input violates the protocol.
    pub async fn serve(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let handler = Handler::new(self.state);
        let streams = Streams::new(input, output, handler.closed().clone());
        let service = match ::rmcp::serve_server(StreamHandler::new(handler), streams).await {
            Ok(service) => service,
            // The client only checked that the server starts.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::new(format!("the client could not be served: {error}"))),
        };
        match service.waiting().await {
            Ok(_) => Ok(()),
            Err(error) => Err(ServeError::new(format!("the server stopped: {error}"))),
        }
    }
}

/// Reason why a server could not start, or stopped.
#[derive(Clone, PartialEq, Eq)]
pub struct ServeError(String);

impl ServeError {
    fn new(text: impl Into<String>) -> ServeError {
        ServeError(text.into())
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

toolgen_core::__readable_debug!(ServeError);

impl std::error::Error for ServeError {}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tools").field(&*self.0.toolbox.borrow()).finish()
    }
}

impl fmt::Debug for SharedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served")
            .field("name", &self.info.server_info.name)
            .field("tools", &self.tools)
            .field("page", &self.page_size)
            .field("client_approves", &self.client_approves)
            .finish_non_exhaustive()
    }
}
