//! Options of MCP clients.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::base::redacted_debug::discreet_debug;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::engine::interceptor::Interceptor;

/// Handles a request of a server.
pub(super) type RequestHandler =
    Arc<dyn Fn(McpServerRequest) -> BoxFuture<'static, Result<Value, ToolError>> + Send + Sync>;

/// A request of a server to its client, such as `elicitation/create`.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct McpServerRequest {
    /// The alias of the server.
    pub server: Text,
    /// The method.
    pub method: Text,
    /// The parameters, as MCP defines them for the method.
    pub params: Value,
}

discreet_debug!(McpServerRequest: server, method; params);

/// Options of an MCP client. A server cannot override them.
#[derive(Clone)]
#[non_exhaustive]
pub struct McpOptions {
    /// Maximum number of concurrent calls per server, unless the server declares its own. Default: 8.
    pub concurrency: usize,
    /// Idle timeout of a call: maximum time without a response and without progress. Default: 60 s.
    pub idle_timeout: Duration,
    /// Maximum total time of a call. Default: 10 minutes.
    pub call_timeout: Duration,
    /// Maximum time for starting a server and negotiating the protocol version. Default: 30 s.
    pub connect_timeout: Duration,
    /// Maximum time to wait for the server's reply about the newest protocol version, before older versions are
    /// tried. Default: 5 s.
    pub probe_timeout: Duration,
    /// Maximum size of a message of a server, in bytes. Default: 16 MiB. A larger response fails its call.
    pub max_message: usize,
    /// Maximum number of pages of a tool list. Default: 256.
    pub max_pages: usize,
    pub(super) sampling: Option<RequestHandler>,
    pub(super) elicitation: Option<RequestHandler>,
    pub(super) roots: Option<RequestHandler>,
    pub(super) interceptor: Option<Interceptor>,
    /// Whether calls propagate the trace context.
    pub(super) propagates_trace: bool,
    pub(super) propagated_meta: Vec<String>,
    pub(super) http: super::http::HttpOptions,
}

impl Default for McpOptions {
    fn default() -> McpOptions {
        McpOptions {
            concurrency: 8,
            idle_timeout: Duration::from_secs(60),
            call_timeout: Duration::from_secs(600),
            connect_timeout: Duration::from_secs(30),
            probe_timeout: Duration::from_secs(5),
            max_message: 16 << 20,
            max_pages: 256,
            sampling: None,
            elicitation: None,
            roots: None,
            interceptor: None,
            propagates_trace: true,
            propagated_meta: Vec::new(),
            http: super::http::HttpOptions::default(),
        }
    }
}

impl fmt::Debug for McpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpOptions")
            .field("concurrency", &self.concurrency)
            .field("idle", &self.idle_timeout)
            .field("total", &self.call_timeout)
            .field("connect", &self.connect_timeout)
            .field("probe", &self.probe_timeout)
            .field("sampling", &self.sampling.is_some())
            .field("elicitation", &self.elicitation.is_some())
            .field("roots", &self.roots.is_some())
            .field("tape", &self.interceptor)
            .finish_non_exhaustive()
    }
}

impl McpOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> McpOptions {
        McpOptions::default()
    }

    /// Sets the idle timeout of a call: the maximum time without a response and without progress.
    #[must_use]
    pub fn idle_timeout(mut self, idle: Duration) -> McpOptions {
        self.idle_timeout = idle;
        self
    }

    /// Sets the maximum total time of a call.
    #[must_use]
    pub fn call_timeout(mut self, total: Duration) -> McpOptions {
        self.call_timeout = total;
        self
    }

    /// Sets the maximum time for starting a server and negotiating the protocol version.
    #[must_use]
    pub fn connect_timeout(mut self, connect: Duration) -> McpOptions {
        self.connect_timeout = connect;
        self
    }

    /// Sets the maximum time to wait for the server's reply about the newest protocol version.
    #[must_use]
    pub fn probe_timeout(mut self, probe: Duration) -> McpOptions {
        self.probe_timeout = probe;
        self
    }

    /// Sets the maximum number of concurrent calls per server. 0 counts as 1.
    #[must_use]
    pub fn concurrency(mut self, calls: usize) -> McpOptions {
        self.concurrency = calls;
        self
    }

    /// Sets whether calls propagate the trace context in `_meta`, as `traceparent` and `tracestate`, with the global
    /// OpenTelemetry propagator. Default: yes. Other fields of the propagator are sent only if
    /// [`propagate_meta`](Self::propagate_meta) names them.
    #[must_use]
    pub fn propagate_trace(mut self, enabled: bool) -> McpOptions {
        self.propagates_trace = enabled;
        self
    }

    /// Also propagates this field of the propagator, such as `baggage`, which reveals its contents to every server.
    #[must_use]
    pub fn propagate_meta(mut self, member: impl Into<String>) -> McpOptions {
        self.propagated_meta.push(member.into());
        self
    }

    /// Sets the handler of `sampling/createMessage`. It returns a completion in the format of MCP: `{"role",
    /// "content", "model"}`. Without it, these requests are rejected.
    #[must_use]
    pub fn sampling<F>(
        mut self,
        handler: impl Fn(McpServerRequest) -> F + Send + Sync + 'static,
    ) -> McpOptions
    where
        F: Future<Output = Result<Value, ToolError>> + Send + 'static,
    {
        self.sampling = Some(Arc::new(move |request| Box::pin(handler(request))));
        self
    }

    /// Sets the handler of `elicitation/create`. It returns a response in the format of MCP: `{"action": "accept",
    /// "content"}`, `{"action": "decline"}` or `{"action": "cancel"}`. Without it, an elicitation becomes an input
    /// request of its call, see [`Control::NeedInput`](toolgen_kernel::Control::NeedInput), or is declined.
    #[must_use]
    pub fn elicitation<F>(
        mut self,
        handler: impl Fn(McpServerRequest) -> F + Send + Sync + 'static,
    ) -> McpOptions
    where
        F: Future<Output = Result<Value, ToolError>> + Send + 'static,
    {
        self.elicitation = Some(Arc::new(move |request| Box::pin(handler(request))));
        self
    }

    /// Sets the handler of `roots/list`: `{"roots": [{"uri": "file:///…"}]}`. Without it, the list is empty.
    #[must_use]
    pub fn roots<F>(mut self, handler: impl Fn(McpServerRequest) -> F + Send + Sync + 'static) -> McpOptions
    where
        F: Future<Output = Result<Value, ToolError>> + Send + 'static,
    {
        self.roots = Some(Arc::new(move |request| Box::pin(handler(request))));
        self
    }

    /// Records all messages on a `layers::cassette::Cassette`, or replays the servers' messages from it without
    /// starting or connecting to any server.
    #[must_use]
    pub fn cassette(mut self, cassette: impl Into<Interceptor>) -> McpOptions {
        self.interceptor = Some(cassette.into());
        self
    }
}

#[cfg(feature = "http")]
impl McpOptions {
    /// Sets the HTTP client for servers over HTTP: allowed private hosts, resolver, certificates and proxy. Headers
    /// and credentials of HTTP tools are not sent.
    #[must_use]
    pub fn http(mut self, client: toolgen_http::HttpEngineBuilder) -> McpOptions {
        self.http.engine = client;
        self
    }

    /// Allows private addresses of servers on this host, see
    /// [`HttpEngineBuilder::private_host`](toolgen_http::HttpEngineBuilder::private_host).
    #[must_use]
    pub fn private_host(mut self, host: impl Into<String>) -> McpOptions {
        self.http.engine = self.http.engine.private_host(host);
        self
    }

    /// Sets the source of a server's tokens, instead of an environment variable.
    #[must_use]
    pub fn tokens(
        mut self,
        alias: impl Into<Text>,
        source: impl super::http::TokenSource + 'static,
    ) -> McpOptions {
        self.http.tokens.push((alias.into(), Arc::new(source)));
        self
    }
}
