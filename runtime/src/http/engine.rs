//! Carries out tools that are HTTP requests.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;
use serde_json::Value;
use tokio::time::Instant;

use super::credentials::{Credentials, MissingCredential, NoCredentials, authorize};
use super::files::{Files, FilesRoot, NoFiles};
use super::request::{BuildOptions, HttpRequest, RequestProblem, RequestProblemKind, build};
use super::response::{self, Limits};
use super::transport::{self, Reply, SendError};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::frozen::Frozen;
use crate::plan::{Call, Codec, RequestPlan, Tool};
use crate::result::ToolResult;
use crate::shape::decode::{ArgumentProblem, ArgumentProblemKind};
use crate::spec::{Timeout, ToolSpec};
use crate::tool::{AgentTool, BoxFuture, DEFAULT_TIMEOUT, time_limit};

/// How much text of a response a model gets unless set otherwise, in bytes: 64 KiB.
pub const MAX_BYTES: usize = 64 << 10;

/// How large an image or a sound may be unless set otherwise, in bytes: 5 MiB, what providers take.
pub const MAX_MEDIA_BYTES: usize = 5 << 20;

/// How large a response of a typed call may be unless set otherwise, in bytes: 16 MiB.
pub const MAX_TYPED_BYTES: usize = 16 << 20;

/// Carries out tools that are HTTP requests. Clones share one pool of connections.
///
/// ```no_run
/// use toolgen_runtime::http::{EnvCredentials, HttpEngine};
/// # static TOOLS: &[&toolgen_runtime::Tool] = &[];
/// let engine = HttpEngine::builder()
///     .base_url("https://api.example.com/v1")
///     .credentials(EnvCredentials::new())
///     .build()?;
/// let tools = engine.tools(TOOLS);
/// # Ok::<(), toolgen_runtime::http::EngineError>(())
/// ```
#[derive(Clone)]
pub struct HttpEngine {
    pub(super) inner: Arc<Inner>,
}

pub(super) struct Inner {
    client: Client,
    settings: HttpEngineBuilder,
}

/// The settings of an [`HttpEngine`].
#[derive(Debug)]
pub struct HttpEngineBuilder {
    base_url: Option<String>,
    document_url: Option<String>,
    server_variables: Vec<(String, String)>,
    credentials: Arc<dyn Credentials>,
    timeout: Option<Duration>,
    max_bytes: usize,
    max_media_bytes: usize,
    pub(super) max_typed_bytes: usize,
    files: Arc<dyn Files>,
    headers: Headers,
    user_agent: String,
    system_proxy: bool,
}

/// Headers of the operator, which may hold anything, so that `Debug` shows their names only.
#[derive(Default)]
struct Headers(Vec<(String, String)>);

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// Why an engine could not be made: TLS or the proxy of the system is not usable.
#[derive(Debug)]
pub struct EngineError(reqwest::Error);

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the HTTP client cannot be set up: {}", self.0)
    }
}

impl std::error::Error for EngineError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl HttpEngineBuilder {
    /// Sends every request here, in place of the servers of the plans. Its own path is kept.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// Says where the document came from; relative servers are resolved against it.
    #[must_use]
    pub fn document_url(mut self, url: impl Into<String>) -> Self {
        self.document_url = Some(url.into());
        self
    }

    /// Gives a server variable a value in place of its default.
    #[must_use]
    pub fn server_variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.server_variables.push((name.into(), value.into()));
        self
    }

    /// Where credentials come from; none are sent unless it is set.
    #[must_use]
    pub fn credentials(mut self, credentials: impl Credentials + 'static) -> Self {
        self.credentials = Arc::new(credentials);
        self
    }

    /// The time of a call of a tool that does not say, in place of 30 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// How much text of a response a model gets, in bytes, in place of [`MAX_BYTES`].
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// How large an image or a sound may be, in bytes, in place of [`MAX_MEDIA_BYTES`].
    #[must_use]
    pub fn max_media_bytes(mut self, max_bytes: usize) -> Self {
        self.max_media_bytes = max_bytes;
        self
    }

    /// How large a response of a typed call may be, in bytes, in place of [`MAX_TYPED_BYTES`].
    #[must_use]
    pub fn max_typed_bytes(mut self, max_bytes: usize) -> Self {
        self.max_typed_bytes = max_bytes;
        self
    }

    /// Lets arguments name files below this directory; without it none are read.
    #[must_use]
    pub fn files_root(self, root: impl Into<PathBuf>) -> Self {
        self.files(FilesRoot::new(root))
    }

    /// Reads the files that arguments name in another way.
    #[must_use]
    pub fn files(mut self, files: impl Files + 'static) -> Self {
        self.files = Arc::new(files);
        self
    }

    /// Sends this header with every request that has none of its name. As a credential may be in it, another origin
    /// never gets it.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.0.push((name.into(), value.into()));
        self
    }

    /// The `User-Agent`, in place of the name and version of this crate.
    #[must_use]
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.user_agent = user_agent.into();
        self
    }

    /// Whether the proxy of the system is used. It is unless this says otherwise.
    #[must_use]
    pub fn system_proxy(mut self, used: bool) -> Self {
        self.system_proxy = used;
        self
    }

    /// Makes the engine, with a client of its own.
    ///
    /// # Errors
    ///
    /// If TLS or the proxy of the system is not usable, or the `User-Agent` is not one.
    pub fn build(self) -> Result<HttpEngine, EngineError> {
        let client = Client::builder().redirect(Policy::none()).user_agent(self.user_agent.as_str());
        let client = if self.system_proxy { client } else { client.no_proxy() };
        let client = client.build().map_err(EngineError)?;
        Ok(HttpEngine { inner: Arc::new(Inner { client, settings: self }) })
    }
}

impl fmt::Debug for HttpEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEngine").field("settings", &self.inner.settings).finish_non_exhaustive()
    }
}

impl HttpEngine {
    /// The settings of a new engine: the servers of the plans, no credentials, 30 seconds, 64 KiB, no files.
    #[must_use]
    pub fn builder() -> HttpEngineBuilder {
        HttpEngineBuilder {
            base_url: None,
            document_url: None,
            server_variables: Vec::new(),
            credentials: Arc::new(NoCredentials),
            timeout: None,
            max_bytes: MAX_BYTES,
            max_media_bytes: MAX_MEDIA_BYTES,
            max_typed_bytes: MAX_TYPED_BYTES,
            files: Arc::new(NoFiles),
            headers: Headers::default(),
            user_agent: concat!("toolgen-runtime/", env!("CARGO_PKG_VERSION")).to_owned(),
            system_proxy: true,
        }
    }

    /// Generated tools, carried out by this engine.
    #[must_use]
    pub fn tools(&self, tools: &'static [&'static Tool]) -> Vec<Arc<dyn AgentTool>> {
        tools.iter().map(|tool| self.tool(Frozen::Static(*tool))).collect()
    }

    /// Tools made at run time, carried out by this engine.
    #[must_use]
    pub fn tools_from(&self, tools: impl IntoIterator<Item = Tool>) -> Vec<Arc<dyn AgentTool>> {
        tools.into_iter().map(|tool| self.tool(tool)).collect()
    }

    /// One tool, carried out by this engine.
    pub fn tool(&self, tool: impl Into<Frozen<Tool>>) -> Arc<dyn AgentTool> {
        let tool = tool.into();
        // What the engine grants is written into the specification, so that every caller grants the same.
        let spec = match (tool.spec.timeout, self.inner.settings.timeout) {
            (Timeout::Default, Some(timeout)) => {
                let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
                Some(ToolSpec { timeout: Timeout::Millis(millis), ..tool.spec.clone() })
            }
            _ => None,
        };
        Arc::new(HttpTool { engine: self.clone(), tool, spec })
    }

    /// The request a call would send, with its credentials: what a dry run shows.
    ///
    /// Without a credential it needs, the request comes without, and with what is missing for each alternative.
    ///
    /// # Errors
    ///
    /// Every problem of the arguments at once.
    pub fn request(
        &self,
        plan: &RequestPlan,
        arguments: &Value,
    ) -> Result<(HttpRequest, Vec<Vec<MissingCredential>>), Vec<RequestProblem>> {
        let settings = &self.inner.settings;
        let options = BuildOptions {
            base_url: settings.base_url.as_deref(),
            document_url: settings.document_url.as_deref(),
            server_variables: &settings.server_variables,
            files: settings.files.as_ref(),
        };
        let mut request = build(plan, arguments, &options)?;
        let missing = authorize(&mut request, plan, settings.credentials.as_ref()).err().unwrap_or_default();
        for (name, value) in &settings.headers.0 {
            if is_sensitive(name) {
                request.credentials.hide(value);
            }
        }
        Ok((request, missing))
    }

    /// The request of a call that is to be sent.
    pub(super) async fn prepare(
        &self,
        tool: &Frozen<Tool>,
        arguments: Value,
    ) -> Result<HttpRequest, ToolError> {
        let built = if reads_files(tool) {
            // Reading files blocks, which a task that shares its thread must not.
            let (engine, tool) = (self.clone(), tool.clone());
            let build = move || engine.request(plan(&tool), &arguments);
            let built = tokio::task::spawn_blocking(build).await;
            built.map_err(|_| ToolError::failed("the request could not be built"))?
        } else {
            self.request(plan(tool), &arguments)
        };
        let (request, missing) = built.map_err(|problems| refuse(&problems))?;
        if missing.is_empty() { Ok(request) } else { Err(no_credential(&missing)) }
    }

    /// Sends a request; redirects have been followed.
    pub(super) async fn send(&self, request: &HttpRequest) -> Result<Reply, ToolError> {
        let sent = transport::send(&self.inner.client, request, &self.inner.settings.headers.0).await;
        sent.map_err(|error| match error {
            SendError::Malformed(message) => {
                ToolError::failed_with("invalid_request", format!("Error: {message}"))
            }
            SendError::Network(error) => network(request, "http_error", error),
        })
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
    ) -> Result<ToolResult, ToolError> {
        let started = Instant::now();
        let request = self.prepare(tool, arguments).await?;
        let reply = self.send(&request).await?;
        let limits = Limits {
            bytes: self.inner.settings.max_bytes,
            media_bytes: self.inner.settings.max_media_bytes,
            stream_until: response::stream_until(started, limit),
        };
        let result = response::result(&request, reply, limits).await;
        result.map_err(|error| network(&request, "read_error", error))
    }
}

pub(super) fn plan(tool: &Tool) -> &RequestPlan {
    let Call::Http(plan) = &tool.call;
    plan
}

fn reads_files(tool: &Tool) -> bool {
    match plan(tool).body.as_ref().map(|body| &body.codec) {
        Some(Codec::Binary) => true,
        Some(Codec::Multipart(parts)) => parts.iter().any(|part| part.file),
        _ => false,
    }
}

fn is_sensitive(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    ["auth", "cookie", "key", "secret", "token"].iter().any(|word| header.contains(word))
}

/// What the network did, in words that hold no credential.
pub(super) fn network(request: &HttpRequest, code: &'static str, error: reqwest::Error) -> ToolError {
    let cause = request.credentials.redact_foreign(&transport::describe(error));
    ToolError::failed_with(code, format!("Error: HTTP request failed: {cause}"))
}

fn refuse(problems: &[RequestProblem]) -> ToolError {
    let about_arguments: Vec<ArgumentProblem> = problems
        .iter()
        .filter(|problem| problem.kind.is_about_arguments())
        .map(|problem| ArgumentProblem {
            pointer: pointer(&problem.argument),
            kind: match problem.kind {
                RequestProblemKind::MissingPathParameter => ArgumentProblemKind::Missing,
                RequestProblemKind::Arguments => ArgumentProblemKind::Type,
                _ => ArgumentProblemKind::Value,
            },
            message: problem.message.clone(),
        })
        .collect();
    match (about_arguments.is_empty(), problems.first()) {
        (true, Some(problem)) => ToolError::failed_with(problem.kind.code(), problem.message.clone()),
        _ => ToolError::from_problems(about_arguments),
    }
}

fn pointer(argument: &str) -> String {
    if argument.is_empty() {
        return String::new();
    }
    format!("/{}", argument.replace('~', "~0").replace('/', "~1"))
}

fn no_credential(missing: &[Vec<MissingCredential>]) -> ToolError {
    let one = |credential: &MissingCredential| match credential.env.as_str() {
        "" => format!("`{}`", credential.scheme),
        env => format!("`{}` (environment variable {env})", credential.scheme),
    };
    let alternatives = missing.iter().map(|all| all.iter().map(one).collect::<Vec<_>>().join(" and "));
    let alternatives = alternatives.collect::<Vec<_>>().join(", or ");
    ToolError::failed_with("missing_credential", format!("No credential is configured for {alternatives}"))
}

/// A tool that is an HTTP request.
struct HttpTool {
    engine: HttpEngine,
    tool: Frozen<Tool>,
    /// The specification, where the engine changes it.
    spec: Option<ToolSpec>,
}

impl AgentTool for HttpTool {
    fn spec(&self) -> &ToolSpec {
        self.spec.as_ref().unwrap_or(&self.tool.spec)
    }

    fn execute<'a>(
        &'a self,
        params: Value,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move {
            let limit = self.engine.time_limit(self.spec(), ctx.timeout);
            let run = ctx.cancel.run_until_cancelled(self.engine.run(&self.tool, params, limit));
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
