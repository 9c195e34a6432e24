//! OAuth 2 tokens (RFC 6749) without user interaction: client credentials and refresh tokens.
//!
//! Only one token request is sent at a time; other calls that need the token wait. A token is cached until shortly
//! before it expires, or until a service rejects it.

mod exchange;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;
use toolgen_kernel::call::error::ToolError;

use super::secret::Secret;

/// Minimum remaining lifetime of a token that is used.
const LEEWAY: Duration = Duration::from_secs(30);

/// Requests the tokens of a security scheme from a token endpoint. Clones share the tokens.
///
/// ```
/// use toolgen_runtime::engine::http::{HttpEngine, OAuth, Secret};
///
/// let secret = Secret::new("the client's secret");
/// let tokens = OAuth::client_credentials("https://auth.example.com/token", "my-client", secret);
/// let engine = HttpEngine::builder().oauth("petstore_auth", tokens.scopes(["pets:read"])).build()?;
/// # Ok::<(), toolgen_runtime::engine::http::EngineError>(())
/// ```
#[derive(Clone)]
pub struct OAuth {
    settings: Settings,
    shared: Arc<Shared>,
}

#[derive(Clone)]
struct Settings {
    grant: Grant,
    token_url: String,
    client_id: String,
    client_secret: Option<Secret>,
    in_body: bool,
    scopes: Vec<String>,
    parameters: Vec<(String, String)>,
    leeway: Duration,
    on_refresh_token: Option<RefreshTokenCallback>,
}

/// A callback that receives each new refresh token.
type RefreshTokenCallback = Arc<dyn Fn(&Secret) + Send + Sync>;

#[derive(Clone)]
enum Grant {
    ClientCredentials,
    RefreshToken(Secret),
}

/// The state that clones share: the token, and the lock for token requests.
#[derive(Default)]
struct Shared {
    token: RwLock<Option<Token>>,
    request_state: Arc<Mutex<RequestState>>,
}

/// The state of token requests.
#[derive(Default)]
struct RequestState {
    /// The refresh token that replaced the configured refresh token.
    refresh_token: Option<Secret>,
    /// The time and the error of the last failed request.
    last_failure: Option<(Instant, ToolError)>,
}

#[derive(Clone)]
struct Token {
    secret: Secret,
    expires: Option<Instant>,
}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings { grant, client_id, scopes, .. } = &self.settings;
        let grant = match grant {
            Grant::ClientCredentials => "client_credentials",
            Grant::RefreshToken(_) => "refresh_token",
        };
        f.debug_struct("OAuth")
            .field("grant", &grant)
            .field("token_url", &self.displayed_url())
            .field("client_id", client_id)
            .field("scopes", scopes)
            .finish_non_exhaustive()
    }
}

impl OAuth {
    /// Uses the client credentials of the program at the authorization server (RFC 6749, section 4.4).
    #[must_use]
    pub fn client_credentials(
        token_url: impl Into<String>,
        client_id: impl Into<String>,
        client_secret: Secret,
    ) -> OAuth {
        OAuth::new(Grant::ClientCredentials, token_url.into(), client_id.into(), Some(client_secret))
    }

    /// Uses a refresh token that a person granted to the program (RFC 6749, section 6). A public client has no
    /// secret. If the server rotates refresh tokens, store the new one with
    /// [`on_refresh_token`](Self::on_refresh_token).
    #[must_use]
    pub fn refresh_token(
        token_url: impl Into<String>,
        client_id: impl Into<String>,
        client_secret: Option<Secret>,
        refresh_token: Secret,
    ) -> OAuth {
        OAuth::new(Grant::RefreshToken(refresh_token), token_url.into(), client_id.into(), client_secret)
    }

    fn new(grant: Grant, token_url: String, client_id: String, client_secret: Option<Secret>) -> OAuth {
        let settings = Settings {
            grant,
            token_url,
            client_id,
            client_secret,
            in_body: false,
            scopes: Vec::new(),
            parameters: Vec::new(),
            leeway: LEEWAY,
            on_refresh_token: None,
        };
        OAuth { settings, shared: Arc::default() }
    }

    /// Changes the settings, and drops cached tokens, which were requested with other settings.
    fn with_settings(mut self, change: impl FnOnce(&mut Settings)) -> OAuth {
        change(&mut self.settings);
        self.shared = Arc::default();
        self
    }

    /// Sets the scopes to request. Without scopes, the server chooses.
    #[must_use]
    pub fn scopes<S: Into<String>>(self, scopes: impl IntoIterator<Item = S>) -> OAuth {
        self.with_settings(|settings| settings.scopes = scopes.into_iter().map(Into::into).collect())
    }

    /// Sends the client's ID and secret in the body (`client_secret_post`), for servers that do not support
    /// `Authorization: Basic`.
    #[must_use]
    pub fn client_in_body(self) -> OAuth {
        self.with_settings(|settings| settings.in_body = true)
    }

    /// Adds a parameter to token requests, such as `audience` or `resource`. Its value may be a secret.
    #[must_use]
    pub fn parameter(self, name: impl Into<String>, value: impl Into<String>) -> OAuth {
        self.with_settings(|settings| settings.parameters.push((name.into(), value.into())))
    }

    /// Sets how long before its expiry a token is replaced. Default: 30 seconds; maximum: half of the token's
    /// lifetime.
    #[must_use]
    pub fn leeway(self, leeway: Duration) -> OAuth {
        self.with_settings(|settings| settings.leeway = leeway)
    }

    /// Sets a callback that receives each new refresh token, so that the program can store it for its next run. The
    /// previous refresh token is no longer valid.
    #[must_use]
    pub fn on_refresh_token(self, callback: impl Fn(&Secret) + Send + Sync + 'static) -> OAuth {
        self.with_settings(|settings| settings.on_refresh_token = Some(Arc::new(callback)))
    }

    /// Returns the token URL.
    pub(super) fn url(&self) -> &str {
        &self.settings.token_url
    }

    /// Returns the token URL without its query, which may contain a key.
    pub(super) fn displayed_url(&self) -> &str {
        let url = &self.settings.token_url;
        url.split_once('?').map_or(url, |(url, _)| url)
    }

    /// Returns the host of the token URL, as effects name it.
    pub(super) fn host(&self) -> Option<String> {
        let url = reqwest::Url::parse(self.settings.token_url.trim()).ok()?;
        let host = url.host_str()?;
        Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
    }

    /// Returns the cached token, if it is still valid.
    pub(super) fn cached_token(&self) -> Option<Secret> {
        let token = self.shared.token.read().unwrap_or_else(PoisonError::into_inner);
        let is_valid = |token: &&Token| token.expires.is_none_or(|expires| Instant::now() < expires);
        token.as_ref().filter(is_valid).map(|token| token.secret.clone())
    }
}
