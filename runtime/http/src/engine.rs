//! The engine that runs HTTP tools.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use reqwest::Response;
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Url};
use serde_json::Value;
use toolgen_core::internal::hosts;

use super::builder::{HttpEngineBuilder, Tokens};
use super::credentials::{MissingCredential, MissingCredentials, authorize, origin};
use super::fetch::{Fetch, FetchError, Fetched, fetch};
use super::guard::{Guard, implicit_private_host};
use super::inner::Inner;
use super::items::PagedItems;
use super::raw_request::SendFailure;
use super::request::{HttpRequest, RequestProblem};
use super::retry::is_retryable;
use super::tls::Identity;
use super::tool::HttpTool;
use super::transport::Clients;
use super::transport::{self, Redirects, Route, SendError};
use super::{tls, url};
use toolgen_kernel::base::frozen::{Frozen, Text};
use toolgen_kernel::call::tool::AgentTool;
use toolgen_kernel::call::toolbox_context::FactoryError;
use toolgen_kernel::engine::Engine;
use toolgen_kernel::spec::Network;
use toolgen_kernel::spec::plan::{RequestPlan, Tool};

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

impl fmt::Debug for HttpEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEngine").field("settings", &self.inner.settings).finish_non_exhaustive()
    }
}

impl HttpEngine {
    /// Returns the default settings: the servers of the plans, no credentials, 30 seconds, 64 KiB of text, no files.
    #[must_use]
    pub fn builder() -> HttpEngineBuilder {
        HttpEngineBuilder::new()
    }

    fn new(clients: Clients, guard: Guard, settings: HttpEngineBuilder) -> HttpEngine {
        HttpEngine { inner: Arc::new(Inner { clients, guard, settings }) }
    }

    /// Returns this engine for the tools of a document that came from a URL. Their relative servers are resolved
    /// against it, unless the engine has a [document URL](HttpEngineBuilder::document_url) already. Connections are
    /// shared.
    #[must_use]
    pub fn for_document(&self, url: impl Into<String>) -> HttpEngine {
        if self.inner.settings.document_url.is_some() {
            return self.clone();
        }
        let Inner { clients, guard, settings } = &*self.inner;
        HttpEngine::new(clients.clone(), guard.clone(), settings.clone().document_url(url))
    }

    /// Returns the request that a call would send, with its credentials, for example for a dry run.
    ///
    /// If a required credential is missing, the request does not contain it, and the second value lists what is
    /// missing for each alternative. No OAuth token is requested: if no token is cached, the request contains a
    /// placeholder.
    ///
    /// # Errors
    ///
    /// Returns all problems of the arguments together.
    pub fn request(
        &self,
        plan: &RequestPlan,
        arguments: &Value,
    ) -> Result<(HttpRequest, Vec<Vec<MissingCredential>>), Vec<RequestProblem>> {
        let mut request = self.inner.request_without_credentials(plan, arguments)?;
        let missing = authorize(&mut request, plan, &self.inner.settings.call_credentials(&Tokens::new()))
            .err()
            .unwrap_or_default();
        Ok((request, missing))
    }

    /// Returns the tools that lack a credential, and how to provide it, so that a program can fail at startup instead
    /// of at the first call. Tools that lack the same credential share one entry. Nothing is sent.
    ///
    /// ```no_run
    /// # use toolgen_runtime::engine::http::{EnvCredentials, HttpEngine};
    /// # static TOOLS: &[&toolgen_runtime::Tool] = &[];
    /// let engine = HttpEngine::builder().credentials(EnvCredentials::new()).build()?;
    /// for missing in engine.missing_credentials(TOOLS) {
    ///     eprintln!("{missing}"); // how many tools lack the credential, and how to provide it
    /// }
    /// # Ok::<(), toolgen_runtime::engine::http::EngineError>(())
    /// ```
    #[must_use]
    pub fn missing_credentials(
        &self,
        tools: impl IntoIterator<Item = impl AsRef<Tool>>,
    ) -> Vec<MissingCredentials> {
        let tokens = Tokens::new();
        let credentials = self.inner.settings.call_credentials(&tokens);
        let incomplete = tools.into_iter().filter_map(|tool| {
            let tool = tool.as_ref();
            let plan = tool.call.http()?;
            let origin =
                url::base(plan, &self.inner.options()).map(|base| origin(&base.prefix)).unwrap_or_default();
            MissingCredentials::of(tool.spec.name.to_text(), plan, &origin, &credentials)
        });
        let mut grouped: Vec<MissingCredentials> = Vec::new();
        for entry in incomplete {
            match grouped.iter_mut().find(|group| group.alternatives == entry.alternatives) {
                Some(group) => group.tools.extend(entry.tools),
                None => grouped.push(entry),
            }
        }
        grouped
    }

    /// Returns the private hosts of tools that this engine blocks, such as `127.0.0.1`, `localhost` and
    /// `printer.local`, so that a program can report them at startup instead of at the first call. Nothing is sent,
    /// and no name is resolved.
    #[must_use]
    pub fn blocked_hosts(&self, tools: impl IntoIterator<Item = impl AsRef<Tool>>) -> Vec<BlockedHost> {
        let mut tools_by_help: BTreeMap<String, Vec<Text>> = BTreeMap::new();
        for tool in tools {
            let tool = tool.as_ref();
            let base = tool.call.http().and_then(|plan| url::base(plan, &self.inner.options()).ok());
            let Some(url) = base.and_then(|base| Url::parse(&base.prefix).ok()) else { continue };
            if let Err(blocked) = self.inner.guard.check_before_resolving(&url, &Network::Any) {
                tools_by_help.entry(blocked.to_string()).or_default().push(tool.spec.name.to_text());
            }
        }
        tools_by_help.into_iter().map(|(help, tools)| BlockedHost { tools, remedy: help }).collect()
    }

    /// Returns generated tools, to be run by this engine.
    #[must_use]
    pub fn tools(&self, tools: &'static [&'static Tool]) -> Vec<Arc<dyn AgentTool>> {
        tools.iter().map(|tool| self.tool(Frozen::Static(*tool))).collect()
    }

    /// Returns tools built at run time, to be run by this engine.
    #[must_use]
    pub fn tools_from(&self, tools: impl IntoIterator<Item = Tool>) -> Vec<Arc<dyn AgentTool>> {
        tools.into_iter().map(|tool| self.tool(tool)).collect()
    }

    /// Returns one tool, to be run by this engine.
    pub fn tool(&self, tool: impl Into<Frozen<Tool>>) -> Arc<dyn AgentTool> {
        Arc::new(HttpTool::new(&self.inner, tool.into()))
    }

    /// Returns the items of a list, and reads its pages on demand. The plan of the tool describes the pagination. The
    /// arguments are those of the first page.
    ///
    /// If the service returns a sequence instead, JSON lines or events, its items are read as they arrive. An event
    /// is an object with `data`, and with `event` and `id` if it has them.
    ///
    /// Nothing is sent before the first item is requested. If a page cannot be read, the error is the last item.
    pub fn items(&self, tool: impl Into<Frozen<Tool>>, arguments: Value) -> PagedItems {
        PagedItems::begin(Arc::clone(&self.inner), tool.into(), arguments)
    }

    /// Fetches a document with the client of this engine, with limits on time and size. The guard is the same as for
    /// calls: private addresses are accessible only at [allowed hosts](super::HttpEngineBuilder::private_host).
    ///
    /// # Errors
    ///
    /// See [`FetchErrorKind`](super::FetchErrorKind). Every status other than success is an error.
    pub async fn fetch(&self, document: impl Into<Fetch>) -> Result<Fetched, FetchError> {
        fetch(&self.inner, document.into()).await
    }
}

impl HttpEngine {
    /// Sends a request. The engine's headers and credentials are not used.
    #[doc(hidden)]
    pub async fn exchange(
        &self,
        request: &HttpRequest,
        redirects: Redirects,
    ) -> Result<Response, SendFailure> {
        let route = Route { redirects, is_trusted: false, ..self.inner.route(&Network::Any) };
        let failure = |written, reason| Err(SendFailure { written, retryable: false, why: reason });
        match transport::send(&route, request, &[]).await {
            Ok(reply) => match reply.redirect_error {
                None => Ok(reply.response),
                Some(reason) => failure(true, format!("the server redirects the request, and {reason}")),
            },
            Err(SendError::Malformed(reason) | SendError::Cassette(reason)) => failure(false, reason),
            Err(SendError::Blocked(blocked)) => failure(false, blocked.to_string()),
            Err(SendError::Network(error)) => {
                let (written, retryable) = (!error.is_connect(), is_retryable(&error));
                Err(SendFailure { written, retryable, why: request.failure(error) })
            }
        }
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

/// An engine could not be built, for example because of unusable TLS or an unusable system proxy.
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
    /// TLS uses the cryptography that the program installed for the whole process
    /// (`rustls::crypto::CryptoProvider::install_default`), or else `ring`. The engine installs nothing.
    ///
    /// # Errors
    ///
    /// Returns an error if TLS or the system's proxy is unusable, or if a certificate, its key, the `User-Agent`, a
    /// URL, a host or a header is invalid.
    pub fn build(self) -> Result<HttpEngine, EngineError> {
        self.check().map_err(|error| EngineError(error.into()))?;
        let urls = self.base_url.0.iter().chain(&self.document_url);
        let private_hosts =
            urls.filter_map(|url| implicit_private_host(url)).chain(self.private_hosts.iter().cloned());
        let guard = Guard::new(private_hosts, Arc::clone(&self.resolver), self.host_help);
        let standard = self.client(&guard, None)?;
        let with_certificate = match &self.identity {
            Some(identity) => self.client(&guard, Some(identity))?,
            None => standard.clone(),
        };
        Ok(HttpEngine::new(Clients { standard, with_certificate }, guard, self))
    }

    /// Rejects settings that would fail, or be ignored, when a request is sent. URLs and values are not printed: they
    /// may contain credentials.
    fn check(&self) -> Result<(), String> {
        if let Some(base) = &self.base_url.0 {
            url::check_configured(base, "base_url")?;
            url::check_no_user(base).map_err(|error| format!("`base_url`: {error}"))?;
        }
        for (scheme, oauth) in &self.oauth {
            let message = |reason| format!("the token URL of `{scheme}`: {reason}");
            url::check_configured(oauth.url(), "OAuth").map_err(message)?;
        }
        for host in &self.private_hosts {
            if let Some(reason) = hosts::wrong(host) {
                return Err(format!("`private_host`: {reason}"));
            }
        }
        for (name, value) in &self.headers.0 {
            if HeaderName::from_bytes(name.as_bytes()).is_err() {
                return Err(format!("`header`: {name:?} is not the name of a header"));
            }
            if HeaderValue::from_str(value).is_err() {
                return Err(format!(
                    "`header`: the value of `{name}` contains a line break or another control character"
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
        let client = match &self.fake_network {
            Some(network) => network.install(client, guard),
            None => client.dns_resolver(guard.clone()),
        };
        #[cfg(not(test))]
        let client = client.dns_resolver(guard.clone());
        client.build().map_err(|error| EngineError(error.into()))
    }
}

/// Tools whose host the guard blocks. `Display` gives the reason and the setting that allows the host, for engineers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedHost {
    /// The tools that send requests to this host.
    pub tools: Vec<Text>,
    /// Why the host is blocked, and how to allow it.
    pub remedy: String,
}

impl fmt::Display for BlockedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tools.as_slice() {
            [tool] => write!(f, "tool '{tool}': {}", self.remedy),
            tools => write!(f, "{} tools: {}", tools.len(), self.remedy),
        }
    }
}
