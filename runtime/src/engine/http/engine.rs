//! Runs tools that are HTTP requests.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use serde_json::Value;
use tokio::time::Instant;

use super::build::build;
use super::credentials::{MissingCredential, MissingCredentials, authorize, no_credential, origin};
use super::guard::{Guard, opened_by};
use super::request::{BuildOptions, HttpRequest, RequestProblem, RequestProblemKind};
use super::response::{self, Limits};
use super::settings::HttpEngineBuilder;
use super::tls;
use super::transport::{self, Redirects, Reply, Route, SendError};
use super::url;
use crate::base::frozen::{Frozen, Text};
use crate::base::future::BoxFuture;
use crate::base::time::whole_millis;
use crate::call::context::ToolContext;
use crate::call::digest::fingerprint;
use crate::call::error::ToolError;
use crate::call::provider_context::FactoryError;
use crate::call::result::ToolResult;
use crate::call::tool::{AgentTool, DEFAULT_TIMEOUT, time_limit};
use crate::engine::Engine;
use crate::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};
use crate::spec::plan::{Codec, RequestPlan, Tool};
use crate::spec::{Effects, Network, Timeout, ToolSpec};

/// Runs tools that are HTTP requests. Clones share one connection pool.
///
/// ```no_run
/// use toolgen_runtime::engine::http::{EnvCredentials, HttpEngine};
/// # static TOOLS: &[&toolgen_runtime::Tool] = &[];
/// let engine = HttpEngine::builder()
///     .base_url("https://api.example.com/v1")
///     .credentials(EnvCredentials::new())
///     .build()?;
/// let tools = engine.tools(TOOLS);
/// # Ok::<(), toolgen_runtime::engine::http::EngineError>(())
/// ```
#[derive(Clone)]
pub struct HttpEngine {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    client: Client,
    guard: Guard,
    settings: HttpEngineBuilder,
}

impl fmt::Debug for HttpEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEngine").field("settings", &self.inner.settings).finish_non_exhaustive()
    }
}

/// Why an engine could not be built, such as unusable TLS or an unusable system proxy.
#[derive(Debug)]
pub struct EngineError(Box<dyn std::error::Error + Send + Sync>);

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the HTTP client cannot be set up: {}", self.0)
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

impl HttpEngineBuilder {
    /// Builds the engine, with its own client.
    ///
    /// Its TLS uses the cryptography that the program installed for the whole process
    /// (`rustls::crypto::CryptoProvider::install_default`), or else `ring`; it installs nothing.
    ///
    /// # Errors
    ///
    /// If TLS or the system's proxy is unusable, or a root certificate or the `User-Agent` is invalid.
    pub fn build(self) -> Result<HttpEngine, EngineError> {
        let urls = self.base_url.0.iter().chain(&self.document_url);
        let opened = urls.filter_map(|url| opened_by(url)).chain(self.private_hosts.iter().cloned());
        let guard = Guard::new(opened, Arc::clone(&self.resolver), self.remedy);
        let client = Client::builder().redirect(Policy::none()).user_agent(self.user_agent.as_str());
        let tls = tls::config(&self.root_certificates).map_err(|error| EngineError(error.into()))?;
        let client = client.tls_backend_preconfigured(tls);
        let client = if self.system_proxy { client } else { client.no_proxy() };
        let client = self.connect_timeout.into_iter().fold(client, ClientBuilder::connect_timeout);
        #[cfg(test)]
        let client = match &self.diverted {
            Some(diverted) => diverted.set(client, &guard),
            None => client.dns_resolver(guard.clone()),
        };
        #[cfg(not(test))]
        let client = client.dns_resolver(guard.clone());
        let client = client.build().map_err(|error| EngineError(error.into()))?;
        Ok(HttpEngine::new(client, guard, self))
    }
}

impl HttpEngine {
    /// Returns the default settings: the servers of the plans, no credentials, 30 seconds, 64 KiB, no files.
    #[must_use]
    pub fn builder() -> HttpEngineBuilder {
        HttpEngineBuilder::new()
    }

    pub(super) fn new(client: Client, guard: Guard, settings: HttpEngineBuilder) -> HttpEngine {
        HttpEngine { inner: Arc::new(Inner { client, guard, settings }) }
    }

    /// Returns this engine for the tools of a document that came from a URL: their relative servers are resolved
    /// against it, unless the engine was built for [another](HttpEngineBuilder::document_url). Connections are shared.
    #[must_use]
    pub fn for_document(&self, url: impl Into<String>) -> HttpEngine {
        if self.inner.settings.document_url.is_some() {
            return self.clone();
        }
        let Inner { client, guard, settings } = &*self.inner;
        HttpEngine::new(client.clone(), guard.clone(), settings.clone().document_url(url))
    }

    /// Returns generated tools that this engine runs.
    #[must_use]
    pub fn tools(&self, tools: &'static [&'static Tool]) -> Vec<Arc<dyn AgentTool>> {
        tools.iter().map(|tool| self.tool(Frozen::Static(*tool))).collect()
    }

    /// Returns tools built at run time that this engine runs.
    #[must_use]
    pub fn tools_from(&self, tools: impl IntoIterator<Item = Tool>) -> Vec<Arc<dyn AgentTool>> {
        tools.into_iter().map(|tool| self.tool(tool)).collect()
    }

    /// Returns one tool that this engine runs.
    pub fn tool(&self, tool: impl Into<Frozen<Tool>>) -> Arc<dyn AgentTool> {
        let tool = tool.into();
        let spec = self.changed(&tool.spec);
        Arc::new(HttpTool { engine: self.clone(), tool, spec })
    }

    /// Returns the specification with the engine's settings in place of the tool's, so that every caller grants the
    /// time and checks the host that apply.
    fn changed(&self, spec: &ToolSpec) -> Option<ToolSpec> {
        let settings = &self.inner.settings;
        let timeout = settings.timeout.filter(|_| spec.timeout == Timeout::Default);
        let host = settings.base_host().filter(|_| spec.effects != Effects::UNDECLARED);
        if timeout.is_none() && host.is_none() {
            return None;
        }
        let mut changed = spec.clone();
        if let Some(timeout) = timeout {
            changed.timeout = Timeout::Millis(whole_millis(timeout));
        }
        if let Some(host) = host {
            changed.effects.network = Network::Hosts(vec![Text::from(host)].into());
        }
        Some(changed)
    }

    /// Returns the request a call would send, with its credentials, as for a dry run.
    ///
    /// If a needed credential is missing, the request comes without it, and with what is missing for each alternative.
    ///
    /// # Errors
    ///
    /// Returns every problem of the arguments at once.
    pub fn request(
        &self,
        plan: &RequestPlan,
        arguments: &Value,
    ) -> Result<(HttpRequest, Vec<Vec<MissingCredential>>), Vec<RequestProblem>> {
        let settings = &self.inner.settings;
        let mut request = build(plan, arguments, &self.options())?;
        for secret in settings.secrets() {
            request.credentials.hide(secret);
        }
        let missing = authorize(&mut request, plan, settings.credentials.as_ref()).err().unwrap_or_default();
        Ok((request, missing))
    }

    fn options(&self) -> BuildOptions<'_> {
        let settings = &self.inner.settings;
        BuildOptions {
            base_url: settings.base_url.0.as_deref(),
            document_url: settings.document_url.as_deref(),
            server_variables: &settings.server_variables,
            files: settings.files.as_ref(),
        }
    }

    /// Returns those of these tools that lack a credential, with what to do about it, so that a program can refuse to
    /// start instead of failing at the first call. Nothing is sent.
    ///
    /// ```no_run
    /// # use toolgen_runtime::engine::http::{EnvCredentials, HttpEngine};
    /// # static TOOLS: &[&toolgen_runtime::Tool] = &[];
    /// let engine = HttpEngine::builder().credentials(EnvCredentials::new()).build()?;
    /// for missing in engine.missing_credentials(TOOLS.iter().copied()) {
    ///     eprintln!("{missing}");
    /// }
    /// # Ok::<(), toolgen_runtime::engine::http::EngineError>(())
    /// ```
    #[must_use]
    pub fn missing_credentials<'t>(
        &self,
        tools: impl IntoIterator<Item = &'t Tool>,
    ) -> Vec<MissingCredentials> {
        let credentials = self.inner.settings.credentials.as_ref();
        let lacking = tools.into_iter().filter_map(|tool| {
            let plan = tool.call.http()?;
            let origin =
                url::base(plan, &self.options()).map(|base| origin(&base.prefix)).unwrap_or_default();
            MissingCredentials::of(tool.spec.name.to_text(), plan, &origin, credentials)
        });
        lacking.collect()
    }

    /// Builds the request of a call that is about to be sent.
    pub(super) async fn prepare(
        &self,
        tool: &Frozen<Tool>,
        mut arguments: Value,
    ) -> Result<HttpRequest, ToolError> {
        if plan(tool)?.defaults {
            arguments = tool.spec.with_defaults(arguments);
        }
        let built = if reads_files(tool) {
            // Reading files blocks, which a task on a shared thread must not do.
            let (engine, tool) = (self.clone(), tool.clone());
            let build = move || plan(&tool).map(|plan| engine.request(plan, &arguments));
            let built = tokio::task::spawn_blocking(build).await;
            built.map_err(|_| ToolError::failed("the request could not be built"))??
        } else {
            self.request(plan(tool)?, &arguments)
        };
        let (request, missing) = built.map_err(|problems| refuse(&problems))?;
        if missing.is_empty() { Ok(request) } else { Err(no_credential(&missing)) }
    }

    /// Sends a request to an allowed host and follows redirects.
    pub(super) async fn send(&self, request: &HttpRequest, allowed: &Network) -> Result<Reply, ToolError> {
        let sent = transport::send(&self.route(allowed), request, &self.inner.settings.headers.0).await;
        sent.map_err(|error| match error {
            SendError::Refused(refused) => refused.into(),
            SendError::Malformed(message) => {
                ToolError::failed_with("invalid_request", format!("Error: {message}"))
            }
            SendError::Network(error) => network(request, "http_error", error),
        })
    }

    pub(super) fn route<'a>(&'a self, allowed: &'a Network) -> Route<'a> {
        Route { client: &self.inner.client, guard: &self.inner.guard, allowed, redirects: Redirects::Allowed }
    }

    pub(super) fn settings(&self) -> &HttpEngineBuilder {
        &self.inner.settings
    }

    pub(super) fn time_limit(&self, spec: &ToolSpec, granted: Option<Duration>) -> Option<Duration> {
        time_limit(spec, self.inner.settings.timeout.unwrap_or(DEFAULT_TIMEOUT), granted)
    }

    async fn run(
        &self,
        tool: &Frozen<Tool>,
        arguments: Value,
        limit: Option<Duration>,
        allowed: &Network,
    ) -> Result<ToolResult, ToolError> {
        let started = Instant::now();
        let request = self.prepare(tool, arguments).await?;
        let reply = self.send(&request, allowed).await?;
        let name = tool.spec.name.as_str();
        let failed =
            reply.refused.is_some() || self.settings().is_failure(name, reply.response.status().as_u16());
        let limits = Limits {
            bytes: self.inner.settings.max_bytes,
            media_bytes: self.inner.settings.max_media_bytes,
            stream_until: response::stream_until(started, limit),
            structured: tool.spec.output.is_some(),
            answer: tool.call.http().and_then(|plan| plan.answer.as_ref()),
        };
        let result = response::result(&request, reply, limits).await;
        let mut result = result.map_err(|error| network(&request, "read_error", error))?;
        if failed {
            result.details["success"] = false.into();
        }
        Ok(result)
    }
}

impl Engine for HttpEngine {
    fn runs(&self, tool: &Tool) -> bool {
        tool.call.http().is_some()
    }

    fn make(&self, tool: Frozen<Tool>, _: &[Arc<dyn AgentTool>]) -> Result<Arc<dyn AgentTool>, FactoryError> {
        Ok(self.tool(tool))
    }
}

/// Returns the request plan of a tool. A tool with another kind of call belongs to another engine.
fn plan(tool: &Tool) -> Result<&RequestPlan, ToolError> {
    let other = || format!("`{}` is no HTTP request, so this engine cannot carry it out", tool.spec.name);
    tool.call.http().ok_or_else(|| ToolError::failed_with("wrong_engine", other()))
}

fn reads_files(tool: &Tool) -> bool {
    match tool.call.http().and_then(|plan| plan.body.as_ref()).map(|body| &body.codec) {
        Some(Codec::Binary) => true,
        Some(Codec::Multipart(parts)) => parts.iter().any(|part| part.file),
        _ => false,
    }
}

/// Describes a network failure in words that hold no credential.
pub(super) fn network(request: &HttpRequest, code: &'static str, error: reqwest::Error) -> ToolError {
    let cause = request.credentials.redact(&transport::describe(error));
    ToolError::failed_with(code, format!("Error: HTTP request failed: {cause}"))
}

fn refuse(problems: &[RequestProblem]) -> ToolError {
    let about_arguments: Vec<ArgumentProblem> = problems
        .iter()
        .filter(|problem| problem.kind.is_about_arguments())
        .map(|problem| {
            let kind = match problem.kind {
                RequestProblemKind::MissingArgument | RequestProblemKind::MissingPathParameter => {
                    ArgumentProblemKind::Missing
                }
                RequestProblemKind::Arguments => ArgumentProblemKind::Type,
                _ => ArgumentProblemKind::Value,
            };
            let message = problem.message.clone();
            let whole = ArgumentProblem { pointer: String::new(), kind, message };
            if problem.argument.is_empty() { whole } else { whole.within(&problem.argument) }
        })
        .collect();
    match (about_arguments.is_empty(), problems.first()) {
        (true, Some(problem)) => ToolError::failed_with(problem.kind.code(), problem.message.clone()),
        _ => ToolError::from_problems(about_arguments),
    }
}

/// A tool that is an HTTP request.
struct HttpTool {
    engine: HttpEngine,
    tool: Frozen<Tool>,
    /// The specification, if the engine changes it.
    spec: Option<ToolSpec>,
}

impl AgentTool for HttpTool {
    fn spec(&self) -> &ToolSpec {
        self.spec.as_ref().unwrap_or(&self.tool.spec)
    }

    fn search_words(&self) -> &str {
        self.tool.call.http().map_or("", |plan| plan.path.as_str())
    }

    fn action(&self) -> Option<String> {
        let settings = &self.engine.inner.settings;
        // The query of a URL may hold a key.
        Some(fingerprint(&format!(
            "{:?} {:?} {:?}",
            self.tool.call, settings.base_url.0, settings.document_url
        )))
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let limit = self.engine.time_limit(self.spec(), ctx.timeout());
            let run = self.engine.run(&self.tool, params, limit, ctx.allowed_hosts());
            let run = ctx.cancel().run_until_cancelled(run);
            let outcome = match limit {
                Some(duration) => {
                    tokio::time::timeout(duration, run).await.map_err(|_| ToolError::Timeout { duration })?
                }
                None => run.await,
            };
            outcome.unwrap_or(Err(ToolError::Cancelled))
        })
    }
}
