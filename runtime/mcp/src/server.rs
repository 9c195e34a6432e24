//! A server of the Model Context Protocol: every client of the protocol can list and call the tools of a toolbox.
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
//! Both eras of the protocol are supported, whichever a client asks for: sessions that begin with `initialize`
//! (revisions up to 2025-11-25), and requests that stand alone (2026-07-28). Every call passes all layers of the
//! toolbox: its policy, limits, approvals, records. What a tool reports while it runs becomes progress if the client
//! asked for it, and a client that cancels a call, or goes away, fires the call's token.
//!
//! # Safety
//!
//! - The standard output of a server over standard streams belongs to the protocol. Tools must not print.
//! - Over HTTP, the server answers only requests whose `Host` is this machine or an [allowed](Server::allow_host) name,
//!   and whose `Origin`, if any, is this machine or [allowed](Server::allow_origin), so that no web page reaches it by
//!   rebinding a name. It listens on an address other than loopback only if a [bearer token](Server::bearer) or
//!   [principals](Server::principal) are set.
//! - A session belongs to the principal who opened it, and no other can use it.
//! - The `rmcp` crate logs messages with their arguments through `tracing`, at the levels `info` and `debug`. A
//!   program that keeps logs may want to set the target `rmcp` to `warn`.

mod call;
mod client_values;
mod described;
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
use described::Described;
use handler::Handler;
use http::AccessRules;
use shares::Calls;
use stream_handler::Connected;
use streams::Streams;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use toolgen_kernel::toolbox::Toolbox;

/// How many tools a page of `tools/list` has, unless set.
const DEFAULT_PAGE_SIZE: usize = 250;

/// How long a person has to answer a question, unless set.
const DEFAULT_ELICITATION_TIMEOUT: Duration = Duration::from_secs(300);

/// Serves the tools of a toolbox over the Model Context Protocol, see the [module](self).
#[derive(Debug)]
#[must_use = "a server does nothing before `stdio`, `http` or `router`"]
pub struct Server {
    served: Served,
    gate: AccessRules,
}

/// What all connections of a server share.
#[derive(Clone)]
struct Served {
    info: ServerConfig,
    tools: Tools,
    page: usize,
    calls: Calls,
    answer_time: Duration,
    client_approves: bool,
    client_values: ClientValues,
}

/// The tools that a server offers. Clones belong to the same server.
#[derive(Clone)]
pub struct Tools(Arc<Offer>);

struct Offer {
    toolbox: watch::Sender<Toolbox>,
    /// How many tools were listed when clients were last notified.
    listed: AtomicUsize,
    described: Described,
}

impl Tools {
    fn new(toolbox: Toolbox) -> Tools {
        let listed = AtomicUsize::new(toolbox.specs().count());
        Tools(Arc::new(Offer {
            toolbox: watch::Sender::new(toolbox),
            listed,
            described: Described::default(),
        }))
    }

    /// Offers the tools of this toolbox instead, and tells the clients that the list has changed. Running calls are not
    /// disturbed.
    pub fn replace(&self, toolbox: Toolbox) {
        self.0.listed.store(toolbox.specs().count(), Ordering::Relaxed);
        self.0.toolbox.send_replace(toolbox);
        self.0.described.clear();
    }

    fn toolbox(&self) -> Toolbox {
        self.0.toolbox.borrow().clone()
    }

    /// Returns a receiver of every later change of the list.
    fn changes(&self) -> watch::Receiver<Toolbox> {
        self.0.toolbox.subscribe()
    }

    /// Notifies the clients if a call has changed the list: the tool that reads the rest of results appears with the
    /// first result that is too large.
    fn look_again(&self) {
        let listed = self.toolbox().specs().count();
        if self.0.listed.swap(listed, Ordering::Relaxed) != listed {
            self.0.toolbox.send_modify(|_| {});
        }
    }
}

impl Server {
    /// Creates a server of the tools of a toolbox.
    pub fn new(toolbox: Toolbox) -> Server {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        let info = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("toolgen", env!("CARGO_PKG_VERSION")));
        let served = Served {
            info,
            tools: Tools::new(toolbox),
            page: DEFAULT_PAGE_SIZE,
            calls: Calls::default(),
            answer_time: DEFAULT_ELICITATION_TIMEOUT,
            client_approves: false,
            client_values: ClientValues::default(),
        };
        Server { served, gate: AccessRules::default() }
    }

    /// Sets the name by which clients know the server; `toolgen` by default.
    pub fn name(mut self, name: impl Into<String>) -> Server {
        self.served.info.server_info.name = name.into();
        self
    }

    /// Sets the title that clients show people; none by default.
    pub fn title(mut self, title: impl Into<String>) -> Server {
        self.served.info.server_info.title = Some(title.into());
        self
    }

    /// Sets the version reported to clients; that of this crate by default.
    pub fn version(mut self, version: impl Into<String>) -> Server {
        self.served.info.server_info.version = version.into();
        self
    }

    /// Sets a text for models on how to use the tools together.
    pub fn instructions(mut self, text: impl Into<String>) -> Server {
        self.served.info.instructions = Some(text.into());
        self
    }

    /// Sets how many tools a page of the list has, at least 1; 250 by default.
    pub fn page_size(mut self, tools: usize) -> Server {
        self.served.page = tools.max(1);
        self
    }

    /// Sets how many calls of all clients run at the same time, at least 1; 1,024 by default. A further one is answered
    /// with an error. Connections and sessions are no such limit: a session goes on with the calls of a client whose
    /// connection ends.
    pub fn max_calls(mut self, calls: usize) -> Server {
        self.served.calls.set_most(calls);
        self
    }

    /// Sets how many calls of one [principal](Self::principal) run at the same time, at least 1; by default a quarter of
    /// [`max_calls`](Self::max_calls), but 8 in any case. A further one is answered with an error.
    pub fn max_calls_each(mut self, calls: usize) -> Server {
        self.served.calls.set_each(calls);
        self
    }

    /// Sets how long a client of a session has to answer a question of a tool; five minutes by default.
    pub fn elicitation_timeout(mut self, limit: Duration) -> Server {
        self.served.answer_time = limit;
        self
    }

    /// Lets the person at the client approve calls that need an approval. Without it they are refused, because a client
    /// may answer without asking anybody. The client gets the final arguments of a call that it is to approve.
    pub fn approve_by_elicitation(mut self) -> Server {
        self.served.client_approves = true;
        self
    }

    /// Lets clients give these values of the [context](toolgen_kernel::ToolContext::values), and no others: a tool that requires
    /// one has it as an optional argument in the list, unless an argument of its own has that name, and for every tool
    /// a call may have them in the object `io.toolgen/context` of its `_meta`. So a client can give back the
    /// `session_id` that a tool has started. Texts of at most 1,024 bytes and integers count.
    ///
    /// A value that came so is the [client's](toolgen_kernel::call::context_values::Provenance::Client), in records too. It never
    /// replaces one that the program has set, and says nothing about who calls.
    pub fn client_values<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Server {
        self.served.client_values = ClientValues::new(names);
        self
    }

    /// Returns a handle with which the program offers other tools while the server runs.
    #[must_use]
    pub fn tools(&self) -> Tools {
        self.served.tools.clone()
    }

    /// Serves one client on the standard input and output, until it closes them.
    ///
    /// # Errors
    ///
    /// If the streams break, or the input does not follow the protocol.
    pub async fn stdio(self) -> Result<(), ServeError> {
        let (input, output) = ::rmcp::transport::stdio_pipes();
        self.serve(input, output).await
    }

    /// Serves one client on any pair of streams, one message per line, until the client closes them. When the input
    /// ends, subscriptions and questions to the client end at once; calls that still run have five seconds to be
    /// answered.
    ///
    /// A line that is not a message is answered with an error that says why, with the ID of the request if one can be
    /// found in it: -32700 if it is not JSON in UTF-8, -32600 if it is something else or has more than 16 MiB. A
    /// request whose parameters do not fit its method, or that comes before `initialize`, is answered with -32602, and
    /// one whose ID is that of a request without an answer yet with -32600.
    ///
    /// Nothing more is read while 64 messages are being handled, besides running calls, or while 1,024 messages or 16 MiB
    /// wait for the client to read them.
    ///
    /// # Errors
    ///
    /// If the streams break, or the input does not follow the protocol.
    pub async fn serve(
        self,
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Result<(), ServeError> {
        let handler = Handler::new(self.served);
        let streams = Streams::new(input, output, handler.over().clone());
        let running = match ::rmcp::serve_server(Connected::new(handler), streams).await {
            Ok(running) => running,
            // The client only looked whether there is a server.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(ServeError::new(format!("the client could not be served: {error}"))),
        };
        match running.waiting().await {
            Ok(_) => Ok(()),
            Err(error) => Err(ServeError::new(format!("the server stopped: {error}"))),
        }
    }
}

/// Why a server cannot serve, or ended.
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

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served")
            .field("name", &self.info.server_info.name)
            .field("tools", &self.tools)
            .field("page", &self.page)
            .field("client_approves", &self.client_approves)
            .finish_non_exhaustive()
    }
}
