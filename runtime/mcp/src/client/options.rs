//! How a client of MCP servers behaves.

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

/// Answers a request of a server.
pub(super) type Answerer =
    Arc<dyn Fn(McpServerRequest) -> BoxFuture<'static, Result<Value, ToolError>> + Send + Sync>;

/// A request that a server makes of its client, such as `elicitation/create`.
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

/// How a client of MCP servers behaves, whatever the server says about itself.
#[derive(Clone)]
#[non_exhaustive]
pub struct McpOptions {
    /// The most calls of a server at the same time, unless the server has its own number: 8.
    pub concurrency: usize,
    /// How long a call may be silent, without an answer and without progress: 60 s.
    pub idle_timeout: Duration,
    /// How long a call may take in total: 10 minutes.
    pub call_timeout: Duration,
    /// How long it may take to start a server and to agree on a revision of the protocol with it: 30 s.
    pub connect_timeout: Duration,
    /// How long a server may take to say whether it speaks the newest revisions, before the older ones are tried: 5 s.
    pub probe_timeout: Duration,
    /// The most bytes of a message of a server: 16 MiB. A longer answer fails its call.
    pub max_message: usize,
    /// The most pages of a list of tools: 256.
    pub max_pages: usize,
    pub(super) sampling: Option<Answerer>,
    pub(super) elicitation: Option<Answerer>,
    pub(super) roots: Option<Answerer>,
    pub(super) tape: Option<Interceptor>,
    /// Whether calls pass the trace on.
    pub(super) passes_on: bool,
    pub(super) also_passed: Vec<String>,
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
            tape: None,
            passes_on: true,
            also_passed: Vec::new(),
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
            .field("tape", &self.tape)
            .finish_non_exhaustive()
    }
}

impl McpOptions {
    /// Returns the defaults.
    #[must_use]
    pub fn new() -> McpOptions {
        McpOptions::default()
    }

    /// Sets how long a call may be silent, without an answer and without progress.
    #[must_use]
    pub fn idle_timeout(mut self, idle: Duration) -> McpOptions {
        self.idle_timeout = idle;
        self
    }

    /// Sets how long a call may take in total.
    #[must_use]
    pub fn call_timeout(mut self, total: Duration) -> McpOptions {
        self.call_timeout = total;
        self
    }

    /// Sets how long it may take to start a server and to agree on a revision with it.
    #[must_use]
    pub fn connect_timeout(mut self, connect: Duration) -> McpOptions {
        self.connect_timeout = connect;
        self
    }

    /// Sets how long a server may take to say whether it speaks the newest revisions.
    #[must_use]
    pub fn probe_timeout(mut self, probe: Duration) -> McpOptions {
        self.probe_timeout = probe;
        self
    }

    /// Sets the most calls of a server at the same time. 0 counts as 1.
    #[must_use]
    pub fn concurrency(mut self, calls: usize) -> McpOptions {
        self.concurrency = calls;
        self
    }

    /// Sets whether calls name their trace in `_meta`, as `traceparent` and `tracestate`, by the propagator that the
    /// program sets for OpenTelemetry; the default is yes. Its other members are sent only if
    /// [`pass_on_also`](Self::pass_on_also) names them.
    #[must_use]
    pub fn propagate_trace(mut self, passed_on: bool) -> McpOptions {
        self.passes_on = passed_on;
        self
    }

    /// Also sends this member of the propagator where calls name their trace: such as `baggage`, which shows every
    /// server what the program notes there.
    #[must_use]
    pub fn propagate_meta(mut self, member: impl Into<String>) -> McpOptions {
        self.also_passed.push(member.into());
        self
    }

    /// Sets the function that answers `sampling/createMessage`, with a completion by a model of the program in the
    /// form that MCP gives it: `{"role", "content", "model"}`. Without it, servers are refused.
    #[must_use]
    pub fn sampling<F>(
        mut self,
        response: impl Fn(McpServerRequest) -> F + Send + Sync + 'static,
    ) -> McpOptions
    where
        F: Future<Output = Result<Value, ToolError>> + Send + 'static,
    {
        self.sampling = Some(Arc::new(move |asked| Box::pin(response(asked))));
        self
    }

    /// Sets the function that answers `elicitation/create`, in the form that MCP gives the answer:
    /// `{"action": "accept", "content"}`, `{"action": "decline"}` or `{"action": "cancel"}`. Without it, the question
    /// becomes an input request of the call that it belongs to, see [`Control::NeedInput`](toolgen_kernel::Control::NeedInput),
    /// or is declined.
    #[must_use]
    pub fn elicitation<F>(
        mut self,
        response: impl Fn(McpServerRequest) -> F + Send + Sync + 'static,
    ) -> McpOptions
    where
        F: Future<Output = Result<Value, ToolError>> + Send + 'static,
    {
        self.elicitation = Some(Arc::new(move |asked| Box::pin(response(asked))));
        self
    }

    /// Sets the function that answers `roots/list`: `{"roots": [{"uri": "file:///…"}]}`. Without it, there are none.
    #[must_use]
    pub fn roots<F>(mut self, response: impl Fn(McpServerRequest) -> F + Send + Sync + 'static) -> McpOptions
    where
        F: Future<Output = Result<Value, ToolError>> + Send + 'static,
    {
        self.roots = Some(Arc::new(move |asked| Box::pin(response(asked))));
        self
    }

    /// Records all messages on a `layers::cassette::Cassette`, or plays back what servers say from
    /// it, without starting or reaching any.
    #[must_use]
    pub fn cassette(mut self, cassette: impl Into<Interceptor>) -> McpOptions {
        self.tape = Some(cassette.into());
        self
    }
}

#[cfg(feature = "http")]
impl McpOptions {
    /// Sets the client of servers over HTTP: the private hosts it may reach, its resolver, certificates and proxy. Neither
    /// the headers nor the credentials of HTTP tools are sent.
    #[must_use]
    pub fn http(mut self, client: toolgen_http::HttpEngineBuilder) -> McpOptions {
        self.http.engine = client;
        self
    }

    /// Lets servers have private addresses at this host, see
    /// [`HttpEngineBuilder::private_host`](toolgen_http::HttpEngineBuilder::private_host).
    #[must_use]
    pub fn private_host(mut self, host: impl Into<String>) -> McpOptions {
        self.http.engine = self.http.engine.private_host(host);
        self
    }

    /// Sets where the tokens of a server come from, in place of an environment variable.
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
