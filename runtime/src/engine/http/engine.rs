//! Runs tools that are HTTP requests.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tokio::time::Instant;

use super::build::build;
use super::credentials::{MissingCredential, MissingCredentials, authorize, origin};
use super::guard::Guard;
use super::known::{Known, Tokens};
use super::pages;
use super::refusal::PROXY;
use super::request::{BuildOptions, HttpRequest, RequestProblem, RequestProblemKind};
use super::response::{self, Limits};
use super::save::Saving;
use super::send::Sending;
use super::sequence::declared_events;
use super::settings::HttpEngineBuilder;
use super::taped::Taped;
use super::tool::HttpTool;
use super::transport::{self, Clients, Redirects, Route};
use super::url;
use crate::base::frozen::{Frozen, Text};
use crate::base::time::whole_millis;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::result::ToolResult;
use crate::call::tool::{AgentTool, DEFAULT_TIMEOUT, time_limit};
use crate::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};
use crate::spec::plan::{RequestPlan, Tool};
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
    clients: Clients,
    guard: Guard,
    settings: HttpEngineBuilder,
}

impl fmt::Debug for HttpEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEngine").field("settings", &self.inner.settings).finish_non_exhaustive()
    }
}

impl HttpEngine {
    /// Returns the default settings: the servers of the plans, no credentials, 30 seconds, 64 KiB, no files.
    #[must_use]
    pub fn builder() -> HttpEngineBuilder {
        HttpEngineBuilder::new()
    }

    pub(super) fn new(clients: Clients, guard: Guard, settings: HttpEngineBuilder) -> HttpEngine {
        HttpEngine { inner: Arc::new(Inner { clients, guard, settings }) }
    }

    /// Returns this engine for the tools of a document that came from a URL: their relative servers are resolved
    /// against it, unless the engine was built for [another](HttpEngineBuilder::document_url). Connections are shared.
    #[must_use]
    pub fn for_document(&self, url: impl Into<String>) -> HttpEngine {
        if self.inner.settings.document_url.is_some() {
            return self.clone();
        }
        let Inner { clients, guard, settings } = &*self.inner;
        HttpEngine::new(clients.clone(), guard.clone(), settings.clone().document_url(url))
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
        let spec = self.changed(&tool);
        Arc::new(HttpTool { engine: self.clone(), tool, spec })
    }

    /// Returns the specification with the engine's settings in place of the tool's, so that every caller grants the
    /// time and checks the hosts that apply.
    fn changed(&self, tool: &Tool) -> Option<ToolSpec> {
        let (settings, spec) = (&self.inner.settings, &tool.spec);
        let timeout = settings.timeout.filter(|_| spec.timeout == Timeout::Default);
        let host = settings.base_host().filter(|_| spec.effects != Effects::UNDECLARED);
        let schemes =
            tool.call.http().into_iter().flat_map(|plan| &plan.security).flat_map(|one| &one.schemes);
        let tokens = schemes.filter_map(|scheme| settings.oauth_of(&scheme.id)?.host());
        let mut tokens: Vec<Text> = tokens.map(Text::from).collect();
        tokens.dedup();
        let plan = tool.call.http().filter(|_| !settings.files.can_read());
        let input =
            plan.filter(|plan| plan.sends_files()).and_then(|plan| plan.without_paths(spec.input.shape()));
        if timeout.is_none() && host.is_none() && tokens.is_empty() && input.is_none() {
            return None;
        }
        let mut changed = spec.clone();
        if let Some(input) = input {
            changed.input = input.into();
        }
        if let Some(timeout) = timeout {
            changed.timeout = Timeout::Millis(whole_millis(timeout));
        }
        if let Some(host) = host {
            changed.effects.network = Network::Hosts(vec![Text::from(host)].into());
        }
        if let Network::Hosts(hosts) = &changed.effects.network {
            tokens.retain(|host| !hosts.contains(host));
            changed.effects.network = Network::Hosts(hosts.iter().cloned().chain(tokens).collect());
        }
        Some(changed)
    }

    /// Returns the request a call would send, with its credentials, as for a dry run.
    ///
    /// If a needed credential is missing, the request comes without it, and with what is missing for each alternative.
    /// A token by OAuth is not requested: if none is known, a placeholder stands for it.
    ///
    /// # Errors
    ///
    /// Returns every problem of the arguments at once.
    pub fn request(
        &self,
        plan: &RequestPlan,
        arguments: &Value,
    ) -> Result<(HttpRequest, Vec<Vec<MissingCredential>>), Vec<RequestProblem>> {
        let mut request = self.unproven(plan, arguments)?;
        let missing = authorize(&mut request, plan, &self.known(&Tokens::new())).err().unwrap_or_default();
        Ok((request, missing))
    }

    /// Returns the request of a call without its credentials.
    fn unproven(&self, plan: &RequestPlan, arguments: &Value) -> Result<HttpRequest, Vec<RequestProblem>> {
        let mut request = build(plan, arguments, &self.options())?;
        let settings = &self.inner.settings;
        let schemes = plan.security.iter().flat_map(|one| &one.schemes);
        let sent = schemes.filter_map(|scheme| settings.header_of(&scheme.placement));
        for secret in settings.secrets().chain(sent) {
            request.credentials.hide(secret);
            // The word before a token says what it is.
            if let Some((scheme, token)) = secret.split_once(' ') {
                request.credentials.hide(token.trim());
                if let Some(password) = basic_password(scheme, token.trim()) {
                    request.credentials.hide(&password);
                }
            }
        }
        Ok(request)
    }

    /// Returns the credentials of a call for which these tokens were got.
    pub(super) fn known<'a>(&'a self, tokens: &'a Tokens) -> Known<'a> {
        Known { settings: &self.inner.settings, tokens }
    }

    pub(super) fn options(&self) -> BuildOptions<'_> {
        let settings = &self.inner.settings;
        BuildOptions {
            base_url: settings.base_url.0.as_deref(),
            document_url: settings.document_url.as_deref(),
            server_variables: &settings.server_variables,
            files: settings.files.as_ref(),
        }
    }

    /// Returns those of these tools that lack a credential, with what to do about it, so that a program can refuse to
    /// start instead of failing at the first call: one entry for all tools that lack the same. Nothing is sent.
    ///
    /// ```no_run
    /// # use toolgen_runtime::engine::http::{EnvCredentials, HttpEngine};
    /// # static TOOLS: &[&toolgen_runtime::Tool] = &[];
    /// let engine = HttpEngine::builder().credentials(EnvCredentials::new()).build()?;
    /// for missing in engine.missing_credentials(TOOLS) {
    ///     eprintln!("{missing}"); // how many tools lack it, and how to give it
    /// }
    /// # Ok::<(), toolgen_runtime::engine::http::EngineError>(())
    /// ```
    #[must_use]
    pub fn missing_credentials(
        &self,
        tools: impl IntoIterator<Item = impl AsRef<Tool>>,
    ) -> Vec<MissingCredentials> {
        let tokens = Tokens::new();
        let known = self.known(&tokens);
        let lacking = tools.into_iter().filter_map(|tool| {
            let tool = tool.as_ref();
            let plan = tool.call.http()?;
            let origin =
                url::base(plan, &self.options()).map(|base| origin(&base.prefix)).unwrap_or_default();
            MissingCredentials::of(tool.spec.name.to_text(), plan, &origin, &known)
        });
        let mut all: Vec<MissingCredentials> = Vec::new();
        for one in lacking {
            match all.iter_mut().find(|known| known.alternatives == one.alternatives) {
                Some(known) => known.tools.extend(one.tools),
                None => all.push(one),
            }
        }
        all
    }

    /// Returns the rules for hosts.
    pub(super) fn guard(&self) -> &Guard {
        &self.inner.guard
    }

    /// Builds the request of a call that is about to be sent, without its credentials.
    pub(super) async fn prepare(
        &self,
        tool: &Frozen<Tool>,
        mut arguments: Value,
    ) -> Result<HttpRequest, ToolError> {
        if plan(tool)?.defaults {
            arguments = tool.spec.with_defaults(arguments);
        }
        let built = if plan(tool)?.sends_files() {
            // Reading files blocks, which a task on a shared thread must not do.
            let (engine, tool) = (self.clone(), tool.clone());
            let build = move || plan(&tool).map(|plan| engine.unproven(plan, &arguments));
            let built = tokio::task::spawn_blocking(build).await;
            built.map_err(|_| ToolError::failed("the request could not be built"))??
        } else {
            self.unproven(plan(tool)?, &arguments)
        };
        built.map_err(|problems| refuse(&problems))
    }

    pub(super) fn route<'a>(&'a self, allowed: &'a Network) -> Route<'a> {
        let Inner { clients, guard, .. } = &*self.inner;
        let settings = self.settings();
        let taped = settings.tape.as_ref().map(|tape| Taped { tape, settings });
        Route {
            clients,
            guard,
            allowed,
            redirects: Redirects::Allowed,
            answers: &[],
            from: None,
            at_home: true,
            taped,
        }
    }

    pub(super) fn settings(&self) -> &HttpEngineBuilder {
        &self.inner.settings
    }

    pub(super) fn time_limit(&self, spec: &ToolSpec, granted: Option<Duration>) -> Option<Duration> {
        time_limit(spec, self.inner.settings.timeout.unwrap_or(DEFAULT_TIMEOUT), granted)
    }

    /// Returns the limits on how an answer of a tool is read.
    pub(super) fn limits<'t>(&'t self, tool: &'t Tool) -> Limits<'t> {
        Limits {
            bytes: self.inner.settings.max_bytes,
            media_bytes: self.inner.settings.max_media_bytes,
            stream_until: None,
            structured: tool.spec.output.is_some(),
            answer: tool.call.http().and_then(|plan| plan.answer.as_ref()),
            told: tool.call.http().map_or(&[], |plan| &*plan.headers),
            redirects: tool.call.http().map_or(&[], |plan| &*plan.redirects),
            events: declared_events(tool),
            saving: self
                .inner
                .settings
                .saves
                .as_ref()
                .map(|place| Saving { place, all: self.inner.settings.saves_all }),
        }
    }

    pub(super) async fn run(
        &self,
        tool: &Frozen<Tool>,
        mut arguments: Value,
        limit: Option<Duration>,
        ctx: &ToolContext,
    ) -> Result<ToolResult, ToolError> {
        if let (Some(most), Some(pages)) = (pages::wanted(tool, &mut arguments)?, &plan(tool)?.pagination) {
            return self.run_pages(tool, pages, (arguments, most), limit, ctx).await;
        }
        let started = Instant::now();
        let request = self.prepare(tool, arguments).await?;
        let until = limit.map(|limit| started + limit);
        let mut sending = Sending::new(self, tool, ctx, until)?;
        let request = &sending.proven(request).await?;
        let reply = sending.send(request).await?;
        let refusal = self.failed(tool, request, &reply);
        let limits = Limits { stream_until: response::stream_until(started, limit), ..self.limits(tool) };
        let result = response::result(request, reply, limits).await;
        let mut result = result.map_err(|error| network(request, "READ_ERROR", error))?;
        if let Some(refusal) = refusal {
            refusal.tell(&mut result.details);
        }
        sending.told(&mut result);
        Ok(result)
    }
}

/// Returns the request plan of a tool. A tool with another kind of call belongs to another engine.
pub(super) fn plan(tool: &Tool) -> Result<&RequestPlan, ToolError> {
    let other = || format!("`{}` is not an HTTP request, so this engine cannot carry it out", tool.spec.name);
    tool.call.http().ok_or_else(|| ToolError::failed_with("WRONG_ENGINE", other()))
}

/// Describes a network failure in words that hold no credential: for a model with the host and the port that were asked,
/// for operators with where the request went.
pub(super) fn network(request: &HttpRequest, code: &'static str, error: reqwest::Error) -> ToolError {
    // Redirects may have led elsewhere.
    let asked = error.url().cloned().or_else(|| reqwest::Url::parse(&request.url).ok());
    let place = asked.and_then(|url| match url.port_or_known_default() {
        Some(port) => Some(format!("{}:{port}: ", url.host_str()?)),
        None => Some(format!("{}: ", url.host_str()?)),
    });
    let place = request.credentials.redact(&place.unwrap_or_default());
    let cause = request.credentials.redact(&transport::describe(error));
    let (code, remedy) = match cause.contains("proxy authorization required") {
        true => ("PROXY_REFUSED", format!(": {PROXY}")),
        false => (code, String::new()),
    };
    ToolError::failed_with(code, format!("Error: HTTP request failed: {place}{cause}"))
        .with_operator_detail(format!("HTTP request failed: {}: {cause}{remedy}", target(request, None)))
}

/// Returns what a request asks for as operators see it: the method, the URL, and the one that redirects led to, without
/// their queries and without credentials.
pub(super) fn target(request: &HttpRequest, final_url: Option<&reqwest::Url>) -> String {
    let shown = |url: &reqwest::Url| {
        request.credentials.redact(&format!("{}{}", url.origin().ascii_serialization(), url.path()))
    };
    let first = reqwest::Url::parse(&request.url).map(|url| shown(&url)).unwrap_or_default();
    match final_url {
        None => format!("{} {first}", request.method),
        Some(last) => format!("{} {first} → {}", request.method, shown(last)),
    }
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

/// Returns the password of basic credentials, which is secret by itself, too.
fn basic_password(scheme: &str, encoded: &str) -> Option<String> {
    let pair = STANDARD.decode(encoded).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let pair = String::from_utf8(pair).ok()?;
    pair.split_once(':').map(|(_, password)| password.to_owned())
}
