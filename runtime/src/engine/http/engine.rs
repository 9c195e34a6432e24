//! Runs tools that are HTTP requests.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};
use serde_json::Value;
use toolgen_core::internal::hosts;

use super::build::build;
use super::credentials::{MissingCredential, MissingCredentials, authorize, origin};
use super::guard::{Guard, opened_by};
use super::request::{BuildOptions, HttpRequest, RequestProblem, RequestProblemKind};
use super::response::Limits;
use super::save::Saving;
use super::sequence::declared_events;
use super::settings::HttpEngineBuilder;
use super::settings::Tokens;
use super::tls::Identity;
use super::transport::{Clients, Redirects, Route, Taped};
use super::{tls, url};
use crate::base::frozen::{Frozen, Text};
use crate::call::error::ToolError;
use crate::call::tool::{DEFAULT_TIMEOUT, time_limit};
use crate::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};
use crate::spec::plan::{RequestPlan, Tool};
use crate::spec::{Network, ToolSpec};

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
        let missing =
            authorize(&mut request, plan, &self.settings().known(&Tokens::new())).err().unwrap_or_default();
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
        let known = self.settings().known(&tokens);
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
        let taped = settings.tape.as_ref().map(|tape| Taped { tape, secrets: settings.secrets().collect() });
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
}

/// Returns the request plan of a tool. A tool with another kind of call belongs to another engine.
pub(super) fn plan(tool: &Tool) -> Result<&RequestPlan, ToolError> {
    let other = || format!("`{}` is not an HTTP request, so this engine cannot carry it out", tool.spec.name);
    tool.call.http().ok_or_else(|| ToolError::failed_with("WRONG_ENGINE", other()))
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

/// Why an engine could not be built, such as unusable TLS or an unusable system proxy.
pub struct EngineError(Box<dyn std::error::Error + Send + Sync>);

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the HTTP client cannot be set up: {}", self.0)
    }
}

toolgen_core::__readable_debug!(EngineError);

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
    /// If TLS or the system's proxy is unusable, or a certificate, its key, the `User-Agent`, a URL, a host or a header is
    /// invalid.
    pub fn build(self) -> Result<HttpEngine, EngineError> {
        self.check().map_err(|why| EngineError(why.into()))?;
        let urls = self.base_url.0.iter().chain(&self.document_url);
        let opened = urls.filter_map(|url| opened_by(url)).chain(self.private_hosts.iter().cloned());
        let guard = Guard::new(opened, Arc::clone(&self.resolver), self.remedy);
        let usual = self.client(&guard, None)?;
        let identified = match &self.identity {
            Some(identity) => self.client(&guard, Some(identity))?,
            None => usual.clone(),
        };
        Ok(HttpEngine::new(Clients { usual, identified }, guard, self))
    }

    /// Checks what would fail, or have no effect, only when a request is sent. URLs and values are not repeated: they may
    /// hold credentials.
    fn check(&self) -> Result<(), String> {
        if let Some(base) = &self.base_url.0 {
            url::configured(base, "base_url")?;
            url::anonymous(base).map_err(|why| format!("`base_url`: {why}"))?;
        }
        for (scheme, oauth) in &self.oauth {
            let told = |why| format!("the token URL of `{scheme}`: {why}");
            url::configured(oauth.url(), "OAuth").map_err(told)?;
        }
        for host in &self.private_hosts {
            if let Some(why) = hosts::wrong(host) {
                return Err(format!("`private_host`: {why}"));
            }
        }
        for (name, value) in &self.headers.0 {
            if HeaderName::from_bytes(name.as_bytes()).is_err() {
                return Err(format!("`header`: {name:?} is not the name of a header"));
            }
            if HeaderValue::from_str(value).is_err() {
                return Err(format!(
                    "`header`: the value of `{name}` holds a line break or another control character"
                ));
            }
        }
        self.credentials.problem().map_or(Ok(()), Err)
    }

    fn client(&self, guard: &Guard, identity: Option<&Identity>) -> Result<Client, EngineError> {
        let client = Client::builder().redirect(Policy::none()).user_agent(self.user_agent.as_str());
        let tls =
            tls::config(&self.root_certificates, identity).map_err(|error| EngineError(error.into()))?;
        let client = client.tls_backend_preconfigured(tls);
        let client = if self.system_proxy { client } else { client.no_proxy() };
        let client = self.connect_timeout.into_iter().fold(client, ClientBuilder::connect_timeout);
        #[cfg(test)]
        let client = match &self.diverted {
            Some(diverted) => diverted.set(client, guard),
            None => client.dns_resolver(guard.clone()),
        };
        #[cfg(not(test))]
        let client = client.dns_resolver(guard.clone());
        client.build().map_err(|error| EngineError(error.into()))
    }
}

/// Tools of one host that an engine does not reach. Its `Display` says why, and how the host is opened, for the
/// engineer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClosedHost {
    /// The tools whose requests go there.
    pub tools: Vec<Text>,
    /// Why no request goes to the host, and how it is opened.
    pub remedy: String,
}

impl fmt::Display for ClosedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tools.as_slice() {
            [tool] => write!(f, "tool '{tool}': {}", self.remedy),
            tools => write!(f, "{} tools: {}", tools.len(), self.remedy),
        }
    }
}

impl HttpEngine {
    /// Returns the hosts of tools that are written as private addresses or names, such as `127.0.0.1`, `localhost` and
    /// `printer.local`, and that this engine does not open, so that a program can say so at its start instead of failing at
    /// the first call. Nothing is sent, and no name is resolved.
    #[must_use]
    pub fn closed_hosts(&self, tools: impl IntoIterator<Item = impl AsRef<Tool>>) -> Vec<ClosedHost> {
        let mut all: BTreeMap<String, Vec<Text>> = BTreeMap::new();
        for tool in tools {
            let tool = tool.as_ref();
            let base = tool.call.http().and_then(|plan| url::base(plan, &self.options()).ok());
            let Some(url) = base.and_then(|base| Url::parse(&base.prefix).ok()) else { continue };
            if let Err(refused) = self.guard().before_resolving(&url, &Network::Any) {
                all.entry(refused.to_string()).or_default().push(tool.spec.name.to_text());
            }
        }
        all.into_iter().map(|(remedy, tools)| ClosedHost { tools, remedy }).collect()
    }
}
