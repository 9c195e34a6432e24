//! The builder of an engine, which holds the operator's settings.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use toolgen_kernel::engine::interceptor::Interceptor;
use toolgen_kernel::spec::plan::Placement;

use super::credentials::{CredentialRequest, Credentials, NoCredentials, with_suggestion};
use super::files::{Files, FilesRoot, NoFiles};
use super::guard::{Resolver, SystemResolver};
use super::oauth::OAuth;
use super::retry::RetryPolicy;
use super::secret::{Secret, is_sensitive, secret_pairs};
use super::tls::Identity;

/// The default limit on the response text that a model gets, in bytes: 64 KiB.
pub const DEFAULT_MAX_TEXT_BYTES: usize = 64 << 10;

/// The default size limit of an image or audio, in bytes: 5 MiB, which vendors accept.
pub const DEFAULT_MAX_MEDIA_BYTES: usize = 5 << 20;

/// The default size limit of the response of a typed call, in bytes: 16 MiB.
pub const DEFAULT_MAX_TYPED_BYTES: usize = 16 << 20;

/// The settings of an [`HttpEngine`](super::HttpEngine).
#[derive(Clone, Debug)]
pub struct HttpEngineBuilder {
    pub(super) base_url: BaseUrl,
    pub(super) document_url: Option<String>,
    pub(super) server_variables: Vec<(String, String)>,
    pub(super) credentials: Arc<dyn Credentials>,
    pub(super) timeout: Option<Duration>,
    /// The timeout for establishing a connection. Calls have their own time limit.
    #[doc(hidden)]
    pub connect_timeout: Option<Duration>,
    pub(super) max_bytes: usize,
    pub(super) max_media_bytes: usize,
    pub(super) max_typed_bytes: usize,
    pub(super) files: Arc<dyn Files>,
    /// The store for responses.
    pub(super) response_store: Option<Arc<dyn Files>>,
    pub(super) saves_all_responses: bool,
    pub(super) headers: Headers,
    pub(super) user_agent: String,
    pub(super) system_proxy: bool,
    pub(super) private_hosts: Vec<String>,
    pub(super) host_help: super::guard::HostHelp,
    accepted_statuses: Vec<(String, u16)>,
    pub(super) resolver: Arc<dyn Resolver>,
    #[cfg(test)]
    pub(super) fake_network: Option<super::guard::FakeNetwork>,
    pub(super) root_certificates: Vec<Vec<u8>>,
    pub(super) identity: Option<Identity>,
    pub(super) oauth: Vec<(String, OAuth)>,
    pub(super) retries: RetryPolicy,
    pub(super) interceptor: Option<Interceptor>,
    /// Whether requests propagate the trace.
    pub(super) propagates_trace: bool,
    pub(super) propagated_headers: Vec<String>,
}

/// The operator's headers. They may contain secrets, so `Debug` shows only their names.
#[derive(Clone, Default)]
pub(super) struct Headers(pub(super) Vec<(String, String)>);

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// The operator's base URL. Its query may contain a key, so `Debug` omits it.
#[derive(Clone, Default)]
pub(super) struct BaseUrl(pub(super) Option<String>);

impl BaseUrl {
    fn split(&self) -> Option<(&str, &str)> {
        self.0.as_deref().map(|url| url.split_once('?').unwrap_or((url, "")))
    }
}

impl fmt::Debug for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.split().map(|(url, _)| url).fmt(f)
    }
}

impl HttpEngineBuilder {
    pub(super) fn new() -> HttpEngineBuilder {
        HttpEngineBuilder {
            base_url: BaseUrl::default(),
            document_url: None,
            server_variables: Vec::new(),
            credentials: Arc::new(NoCredentials),
            timeout: None,
            connect_timeout: None,
            max_bytes: DEFAULT_MAX_TEXT_BYTES,
            max_media_bytes: DEFAULT_MAX_MEDIA_BYTES,
            max_typed_bytes: DEFAULT_MAX_TYPED_BYTES,
            files: Arc::new(NoFiles),
            response_store: None,
            saves_all_responses: false,
            headers: Headers::default(),
            user_agent: concat!("toolgen-runtime/", env!("CARGO_PKG_VERSION")).to_owned(),
            system_proxy: false,
            root_certificates: Vec::new(),
            identity: None,
            oauth: Vec::new(),
            retries: RetryPolicy::default(),
            interceptor: None,
            propagates_trace: true,
            propagated_headers: Vec::new(),
            private_hosts: Vec::new(),
            host_help: super::guard::default_host_help,
            accepted_statuses: Vec::new(),
            resolver: Arc::new(SystemResolver),
            #[cfg(test)]
            fake_network: None,
        }
    }

    /// Returns the operator's secrets: the values of headers, and of the base URL's query, whose names mark them as
    /// credentials.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        let headers = self.headers.0.iter().filter(|(name, _)| is_sensitive(name));
        let (_, query) = self.base_url.split().unwrap_or_default();
        headers.map(|(_, value)| value.as_str()).chain(secret_pairs(query))
    }

    /// Sends every request to this base URL instead of the servers of the plans. The path of the base URL is kept.
    #[must_use]
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = BaseUrl(Some(url.into()));
        self
    }

    /// Returns the value of the header that the program sends with every request in the location of this credential.
    pub(super) fn header_of(&self, placement: &Placement) -> Option<&str> {
        let name = placement.header()?;
        let header = self.headers.0.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(&header.1)
    }

    /// Returns the token source of a scheme, if the engine requests its tokens.
    pub(super) fn oauth_of(&self, scheme: &str) -> Option<&OAuth> {
        self.oauth.iter().find(|(id, _)| id == scheme).map(|(_, oauth)| oauth)
    }

    /// Returns the credentials of a call with these tokens.
    pub(super) fn call_credentials<'a>(&'a self, tokens: &'a Tokens) -> CallCredentials<'a> {
        CallCredentials { settings: self, tokens }
    }

    /// Returns the host that receives every request, as effects name it.
    pub(super) fn base_host(&self) -> Option<String> {
        let url = Url::parse(self.base_url.0.as_deref()?.trim()).ok()?;
        let host = url.host_str()?;
        Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
    }

    /// Sets the URL of the document. Relative servers are resolved against it.
    #[must_use]
    pub fn document_url(mut self, url: impl Into<String>) -> Self {
        self.document_url = Some(url.into());
        self
    }

    /// Sets the value of a server variable, replacing its default.
    #[must_use]
    pub fn server_variable(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.server_variables.push((name.into(), value.into()));
        self
    }

    /// Sets the source of credentials. Without a source, no credentials are sent.
    #[must_use]
    pub fn credentials(mut self, credentials: impl Credentials + 'static) -> Self {
        self.credentials = Arc::new(credentials);
        self
    }

    /// Sets the time limit of calls whose tool declares no time limit. Default: 30 seconds.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the maximum length of the response text that a model gets, in bytes. Default: [`DEFAULT_MAX_TEXT_BYTES`].
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Sets the maximum size of an image or audio, in bytes. Default: [`DEFAULT_MAX_MEDIA_BYTES`].
    #[must_use]
    pub fn max_media_bytes(mut self, max_bytes: usize) -> Self {
        self.max_media_bytes = max_bytes;
        self
    }

    /// Sets the maximum size of the response of a typed call, in bytes. Default: [`DEFAULT_MAX_TYPED_BYTES`].
    #[must_use]
    pub fn max_typed_bytes(mut self, max_bytes: usize) -> Self {
        self.max_typed_bytes = max_bytes;
        self
    }

    /// Lets arguments name files in this directory. By default no files are read.
    #[must_use]
    pub fn files_root(self, root: impl Into<PathBuf>) -> Self {
        self.files(FilesRoot::new(root))
    }

    /// Sets a custom store for the files that arguments name.
    #[must_use]
    pub fn files(mut self, files: impl Files + 'static) -> Self {
        self.files = Arc::new(files);
        self
    }

    /// Saves responses that a model cannot see in full to this directory: binary data, and text over the limit.
    /// Instead of Base64, the model gets the name of the file, its media type, size and digest. No file is
    /// overwritten, and incomplete files are removed. [`FilesRoot`] has limits. If the directory is also that of
    /// [`files_root`](Self::files_root), a model can send the files that it received.
    #[must_use]
    pub fn save_to(self, root: impl Into<PathBuf>) -> Self {
        self.save_with(FilesRoot::new(root))
    }

    /// Sets a custom store for responses; see [`save_to`](Self::save_to).
    #[must_use]
    pub fn save_with(mut self, files: impl Files + 'static) -> Self {
        self.response_store = Some(Arc::new(files));
        self
    }

    /// Sets whether the body of every success is saved, even if a model can see it in full. Default: no.
    #[must_use]
    pub fn save_all(mut self, all: bool) -> Self {
        self.saves_all_responses = all;
        self
    }

    /// Sends this header with every request that does not set it. It may contain a credential, so it is not sent to
    /// another origin.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.0.push((name.into(), value.into()));
        self
    }

    /// Sets the `User-Agent`. Default: the name and version of this crate.
    #[must_use]
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.user_agent = user_agent.into();
        self
    }

    /// Sets whether the system's proxy (`HTTPS_PROXY` and so on) is used. Default: no. A proxy resolves names itself,
    /// so the guard cannot check their addresses. Hosts and addresses in URLs are still checked. A proxy whose name
    /// resolves to a private address must be [allowed](Self::private_host).
    #[must_use]
    pub fn system_proxy(mut self, used: bool) -> Self {
        self.system_proxy = used;
        self
    }

    /// Allows requests to private addresses of this host: `host` (any port) or `host:port`, `*.example.com` for every
    /// host below `example.com`, or `*`.
    ///
    /// By default, requests go to public addresses only. This setting allows loopback addresses, private networks
    /// (RFC 1918, RFC 4193), the shared address space (RFC 6598) and benchmark networks. Link-local addresses,
    /// metadata services of clouds and unreachable ranges are always blocked.
    ///
    /// A redirect can lead to an allowed private host only from an allowed host. With `*`, which matches every host,
    /// any server or document can redirect into the private network. A [base URL](Self::base_url) with a private
    /// address or `localhost` allows that host and port implicitly; a base URL with any other name does not.
    ///
    /// ```
    /// use toolgen_runtime::engine::http::HttpEngine;
    ///
    /// let engine = HttpEngine::builder()
    ///     .base_url("http://pets.default.svc.cluster.local")
    ///     .private_host("*.svc.cluster.local")
    ///     .build()?;
    /// # Ok::<(), toolgen_runtime::engine::http::EngineError>(())
    /// ```
    #[must_use]
    pub fn private_host(mut self, host: impl Into<String>) -> Self {
        self.private_hosts.push(host.into());
        self
    }

    /// Sets the sentence in errors that says how to allow a private host, such as a command-line option, for programs
    /// whose users do not write Rust. The function gets the host; the default sentence names
    /// [`private_host`](Self::private_host).
    #[must_use]
    pub fn private_host_help(mut self, help: fn(&str) -> String) -> Self {
        self.host_help = help;
        self
    }

    /// Treats these statuses of 400 and above as ordinary responses of this tool instead of failures, such as a 404
    /// of a tool that checks whether something exists.
    #[must_use]
    pub fn accept_status(mut self, tool: impl Into<String>, statuses: impl IntoIterator<Item = u16>) -> Self {
        let tool = tool.into();
        self.accepted_statuses.extend(statuses.into_iter().map(|status| (tool.clone(), status)));
        self
    }

    /// Whether a tool accepts a status that is otherwise a failure.
    pub(super) fn accepts(&self, tool: &str, status: u16) -> bool {
        self.accepted_statuses.iter().any(|(name, accepted)| name == tool && *accepted == status)
    }

    /// Sets the DNS resolver. Default: that of the operating system. The guard checks the addresses that it returns.
    #[must_use]
    pub fn resolver(mut self, resolver: impl Resolver + 'static) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// Trusts these root certificates in addition to the system's, for a service with a self-signed certificate or a
    /// company's certificate authority. Takes PEM text with one or more certificates.
    #[must_use]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates.push(pem.into());
        self
    }

    /// Authenticates the program with this certificate (mutual TLS) if a server requests a certificate. Takes PEM
    /// text: the certificate with its chain, and its key. After a redirect, the certificate is not sent to another
    /// origin.
    #[must_use]
    pub fn client_certificate(mut self, certificates: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>) -> Self {
        self.identity = Some(Identity { certificates: certificates.into(), key: key.into() });
        self
    }

    /// Requests the tokens of a security scheme by OAuth 2, even if the [credentials](Self::credentials) contain the
    /// scheme. The name is that of the scheme in the document. The guard must allow the host of the token URL (see
    /// [`private_host`](Self::private_host)), and so must the calling context.
    #[must_use]
    pub fn oauth(mut self, scheme: impl Into<String>, oauth: OAuth) -> Self {
        let scheme = scheme.into();
        self.oauth.retain(|(id, _)| *id != scheme);
        self.oauth.push((scheme, oauth));
        self
    }

    /// Sets whether requests propagate the trace in the headers `traceparent` and `tracestate`, with the propagator
    /// that the program configured for OpenTelemetry. Default: yes. Other headers of the propagator are sent only if
    /// [`propagate_header`](Self::propagate_header) names them. A header of the same name that is an argument, a
    /// credential, or set by [`header`](Self::header) takes precedence. Another origin, reached by a redirect or a
    /// page link, does not get these headers.
    #[must_use]
    pub fn propagate_trace(mut self, propagated: bool) -> Self {
        self.propagates_trace = propagated;
        self
    }

    /// Also sends this header of the propagator, such as `b3`, or `baggage`, which reveals the program's baggage
    /// entries to every service.
    #[must_use]
    pub fn propagate_header(mut self, header: impl Into<String>) -> Self {
        self.propagated_headers.push(header.into());
        self
    }

    /// Records all requests and responses on a `layers::cassette::Cassette`, or replays responses from it and sends
    /// no requests.
    #[must_use]
    pub fn cassette(mut self, cassette: impl Into<Interceptor>) -> Self {
        self.interceptor = Some(cassette.into());
        self
    }

    /// Sets the policy for retries. Default: [`RetryPolicy::default`].
    #[must_use]
    pub fn retries(mut self, retries: RetryPolicy) -> Self {
        self.retries = retries;
        self
    }
}

/// The OAuth tokens of a call, by scheme.
pub(super) type Tokens = Vec<(String, Secret)>;

/// The placeholder of a token that is requested when the request is sent.
const PENDING_TOKEN: &str = "(an OAuth token)";

/// The credentials of one call.
#[derive(Debug)]
pub(super) struct CallCredentials<'a> {
    pub(super) settings: &'a HttpEngineBuilder,
    /// The tokens that were requested for the call.
    pub(super) tokens: &'a Tokens,
}

impl Credentials for CallCredentials<'_> {
    fn credential(&self, request: &CredentialRequest<'_>) -> Option<Secret> {
        if let Some(oauth) = self.settings.oauth_of(request.scheme) {
            let token = self.tokens.iter().find(|(scheme, _)| scheme == request.scheme);
            let token = token.map(|(_, token)| token.clone()).or_else(|| oauth.cached_token());
            return Some(token.unwrap_or_else(|| Secret::new(PENDING_TOKEN)));
        }
        match request.placement {
            Placement::MutualTls if self.settings.identity.is_some() => Some(Secret::new("")),
            _ => self.settings.credentials.credential(request),
        }
    }

    fn is_sent_elsewhere(&self, request: &CredentialRequest<'_>) -> bool {
        self.settings.header_of(request.placement).is_some()
    }

    fn source(&self, request: &CredentialRequest<'_>) -> String {
        let settings = self.settings;
        match (settings.oauth_of(request.scheme), request.placement) {
            (Some(oauth), _) => format!("an OAuth token from {}", oauth.displayed_url()),
            (None, Placement::MutualTls) if settings.identity.is_some() => {
                "the client's certificate".to_owned()
            }
            (None, placement) => match placement.header().filter(|_| settings.header_of(placement).is_some())
            {
                Some(name) if settings.credentials.credential(request).is_none() => {
                    format!("the header `{name}` that the program sends with every request")
                }
                _ => settings.credentials.source(request),
            },
        }
    }

    fn help(&self, request: &CredentialRequest<'_>) -> String {
        if *request.placement == Placement::MutualTls {
            return "give the engine the client's certificate and key: `HttpEngineBuilder::client_certificate`, \
                    or `--client-cert` and `--client-key`"
                .to_owned();
        }
        let help = self.settings.credentials.help(request);
        with_suggestion(help, request.scheme, self.settings.oauth.iter().map(|(scheme, _)| scheme.as_str()))
    }
}
