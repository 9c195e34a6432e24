//! OAuth 2.1 tokens, as MCP requires: discovery, registration, PKCE, refresh.
//!
//! The protocol steps are implemented by `rmcp`. Its requests are sent by the client of the server, so that the SSRF
//! guard of the HTTP engine applies to every host that a server's documents name.

mod guarded;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession, ClientCredentialsConfig,
    CredentialStore, StoredCredentials, WWWAuthenticateParams,
};
use tokio::sync::Mutex;
use tokio::time::timeout;
use toolgen_http::Secret;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::future::BoxFuture;

use self::guarded::GuardedClient;
use super::auth::{McpTokenRequest, TokenSource, needs_more_scopes};

/// How long a person may take to grant access.
const CONSENT_TIMEOUT: Duration = Duration::from_secs(300);

/// Shows a URL to a person and returns the redirect URL that their browser opened afterwards.
type OpenBrowser = Arc<dyn Fn(String) -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

/// Stores the tokens of a server between runs of a program. The stored value is a credential.
pub trait TokenStore: fmt::Debug + Send + Sync {
    /// Returns the value that was saved last.
    ///
    /// # Errors
    ///
    /// Returns the reason if the value cannot be read.
    fn load(&self) -> BoxFuture<'_, Result<Option<Secret>, String>>;

    /// Replaces the saved value; `None` removes it.
    ///
    /// # Errors
    ///
    /// Returns the reason if the value cannot be saved.
    fn save(&self, tokens: Option<Secret>) -> BoxFuture<'_, Result<(), String>>;
}

/// Obtains the tokens of one MCP server by OAuth, and refreshes them when they expire.
///
/// ```no_run
/// use toolgen_runtime::engine::mcp::{McpOAuth, McpOptions};
///
/// let tokens = McpOAuth::consent("http://127.0.0.1:8765/callback", |url| async move {
///     println!("Open {url}");
///     // Wait for the browser at the callback, and return the requested URL.
///     # let requested_url = String::new();
///     Ok(requested_url)
/// });
/// let options = McpOptions::new().tokens("docs", tokens);
/// ```
#[derive(Clone)]
pub struct McpOAuth {
    grant: Grant,
    client_id: Option<String>,
    client_secret: Option<Secret>,
    metadata_url: Option<String>,
    secret_recipient: SecretRecipient,
    scopes: Vec<String>,
    store: Option<Arc<dyn TokenStore>>,
    /// The server of the tokens, and the state of its authorization.
    state: Arc<Mutex<Option<(Text, AuthorizationManager)>>>,
}

/// Which authorization servers may receive the client secret. The MCP server chooses the authorization server, so its
/// choice alone is not trusted.
#[derive(Clone)]
enum SecretRecipient {
    None,
    /// The authorization server with this token URL.
    TokenUrl(String),
    /// Any authorization server that the MCP server names.
    Any,
}

#[derive(Clone)]
enum Grant {
    /// A person grants access; the browser is redirected to this URL.
    Consent(String, OpenBrowser),
    /// The program has its own credentials.
    Program,
}

impl fmt::Debug for McpOAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpOAuth")
            .field("client_id", &self.client_id)
            .field("scopes", &self.scopes)
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

impl McpOAuth {
    /// Asks a person to grant access: `open` shows them a URL, and returns the URL below `redirect_uri` that their
    /// browser was redirected to. They have five minutes, while calls wait.
    #[must_use]
    pub fn consent<F>(
        redirect_uri: impl Into<String>,
        open: impl Fn(String) -> F + Send + Sync + 'static,
    ) -> McpOAuth
    where
        F: Future<Output = Result<String, String>> + Send + 'static,
    {
        McpOAuth::of(Grant::Consent(redirect_uri.into(), Arc::new(move |url| Box::pin(open(url)))))
    }

    /// Uses the program's credentials at the authorization server, without a person. Also set
    /// [`token_url`](Self::token_url): the secret is not sent elsewhere.
    #[must_use]
    pub fn credentials(client_id: impl Into<String>, client_secret: Secret) -> McpOAuth {
        McpOAuth::of(Grant::Program).client(client_id, Some(client_secret))
    }

    fn of(grant: Grant) -> McpOAuth {
        McpOAuth {
            grant,
            client_id: None,
            client_secret: None,
            metadata_url: None,
            secret_recipient: SecretRecipient::None,
            scopes: Vec::new(),
            store: None,
            state: Arc::default(),
        }
    }

    /// Sets the client that is already registered with the authorization server. By default, the program
    /// registers itself. A secret also requires [`token_url`](Self::token_url).
    #[must_use]
    pub fn client(mut self, client_id: impl Into<String>, client_secret: Option<Secret>) -> McpOAuth {
        self.client_id = Some(client_id.into());
        self.client_secret = client_secret;
        self
    }

    /// Sets the token URL of the authorization server. Only this server receives the client secret: if the MCP server
    /// names another authorization server, the secret is not sent.
    #[must_use]
    pub fn token_url(mut self, url: impl Into<String>) -> McpOAuth {
        self.secret_recipient = SecretRecipient::TokenUrl(url.into());
        self
    }

    /// Sends the client secret to any authorization server that the MCP server names. Use it only for a server that
    /// may know the secret itself.
    #[must_use]
    pub fn any_token_url(mut self) -> McpOAuth {
        self.secret_recipient = SecretRecipient::Any;
        self
    }

    /// Checks whether the client secret, if there is one, may be sent to this URL.
    fn check_token_url(&self, token_url: &str) -> Result<(), AuthError> {
        let problem = match &self.secret_recipient {
            _ if self.client_secret.is_none() => return Ok(()),
            SecretRecipient::Any => return Ok(()),
            SecretRecipient::TokenUrl(url) if url == token_url => return Ok(()),
            SecretRecipient::TokenUrl(url) => {
                format!("the server requests the client secret at {token_url}, not at {url}")
            }
            SecretRecipient::None => {
                format!("if the client secret belongs to {token_url}, set that URL as `McpOAuth::token_url`")
            }
        };
        Err(AuthError::AuthorizationFailed(problem))
    }

    /// Sets the `https` URL of the client metadata document, for servers that accept a document instead of a
    /// registration.
    #[must_use]
    pub fn client_document(mut self, url: impl Into<String>) -> McpOAuth {
        self.metadata_url = Some(url.into());
        self
    }

    /// Sets the requested scopes, instead of the scopes that the server names.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> McpOAuth {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the store of tokens between runs of the program. By default, tokens are lost when the program ends.
    #[must_use]
    pub fn store(mut self, store: impl TokenStore + 'static) -> McpOAuth {
        self.store = Some(Arc::new(store));
        self
    }

    async fn manager(&self, request: &McpTokenRequest) -> Result<AuthorizationManager, AuthError> {
        let client = Arc::new(GuardedClient(request.client.clone()));
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(request.url.as_str(), client).await?;
        if let Some(store) = &self.store {
            manager.set_credential_store(StoredTokens(Arc::clone(store)));
            manager.initialize_from_store().await?;
        }
        Ok(manager)
    }

    /// Returns a replacement for a rejected token; `None` if a person must grant access again.
    async fn renew(
        &self,
        manager: &AuthorizationManager,
        request: &McpTokenRequest,
        challenge: &str,
    ) -> Option<Result<String, AuthError>> {
        let rejected_token = request.refused.as_ref().map(Secret::expose);
        // Another request may have refreshed the token.
        if let Ok(token) = manager.get_access_token().await
            && rejected_token != Some(&token)
        {
            return Some(Ok(token));
        }
        if rejected_token.is_none() || needs_more_scopes(challenge) {
            return None;
        }
        match manager.refresh_token().await {
            Ok(_) => Some(manager.get_access_token().await),
            // A network failure must not prompt a person.
            Err(error @ AuthError::TokenRefreshFailed(_)) => Some(Err(error)),
            Err(_) => None,
        }
    }

    /// Obtains the access that a server requires.
    async fn authorize(
        &self,
        mut manager: AuthorizationManager,
        request: &McpTokenRequest,
        challenge: &str,
    ) -> Result<AuthorizationManager, AuthError> {
        let challenge = Some(challenge).filter(|challenge| !challenge.is_empty());
        let resolution = manager.resolve_metadata_from_challenge(challenge).await?;
        self.check_token_url(&resolution.metadata.token_endpoint)?;
        manager.set_metadata(resolution.metadata);
        let scopes =
            if self.scopes.is_empty() { additional_scopes(request, challenge) } else { self.scopes.clone() };
        match &self.grant {
            Grant::Program => {
                let scopes = if scopes.is_empty() { manager.select_scopes(None, &[]) } else { scopes };
                let secret = self.client_secret.as_ref().map_or("", Secret::expose);
                let config = ClientCredentialsConfig::ClientSecret {
                    client_id: self.client_id.clone().unwrap_or_default(),
                    client_secret: secret.to_owned(),
                    scopes,
                    resource: Some(request.url.to_string()),
                };
                manager.validate_client_credentials_metadata(&config)?;
                manager.configure_client_credentials(&config)?;
                manager.exchange_client_credentials(&config).await?;
                Ok(manager)
            }
            Grant::Consent(redirect_uri, open) => {
                let mut request =
                    AuthorizationRequest::new(redirect_uri).with_client_name(env!("CARGO_PKG_NAME"));
                request.scopes = scopes;
                request.client_id.clone_from(&self.client_id);
                request.client_secret = self.client_secret.as_ref().map(|secret| secret.expose().to_owned());
                request.client_metadata_url.clone_from(&self.metadata_url);
                let session =
                    AuthorizationSession::new(manager, request).await.map_err(|(_, error)| error)?;
                let consent = open(session.get_authorization_url().to_owned());
                let timed_out = |_| {
                    AuthError::AuthorizationFailed(format!(
                        "access was not granted within {CONSENT_TIMEOUT:?}"
                    ))
                };
                let callback_url = timeout(CONSENT_TIMEOUT, consent).await.map_err(timed_out)?;
                session.handle_callback_url(&callback_url.map_err(AuthError::AuthorizationFailed)?).await?;
                Ok(session.auth_manager)
            }
        }
    }

    async fn current_token(&self, request: &McpTokenRequest) -> Result<Option<Secret>, AuthError> {
        // Only one request at a time obtains a token; concurrent requests reuse it.
        let mut state = self.state.lock().await;
        if state.as_ref().is_none_or(|(url, _)| *url != request.url) {
            *state = Some((request.url.clone(), self.manager(request).await?));
        }
        // The authorization state is not moved out: dropping this future must not lose it.
        let token = match (&*state, &request.challenge) {
            (Some((_, manager)), None) => Some(manager.get_access_token().await),
            (Some((_, manager)), Some(challenge)) => self.renew(manager, request, challenge).await,
            (None, _) => None,
        };
        let token = match token {
            Some(token) => token,
            None => {
                let (Some((url, manager)), Some(challenge)) = (state.take(), &request.challenge) else {
                    return Err(AuthError::AuthorizationRequired);
                };
                let manager = self.authorize(manager, request, challenge).await?;
                let token = manager.get_access_token().await;
                *state = Some((url, manager));
                token
            }
        };
        match token {
            Ok(token) => Ok(Some(Secret::new(token))),
            // The server names the required scopes when it rejects the request.
            Err(AuthError::AuthorizationRequired) if request.challenge.is_none() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl TokenSource for McpOAuth {
    fn token<'a>(&'a self, request: &'a McpTokenRequest) -> BoxFuture<'a, Result<Option<Secret>, String>> {
        Box::pin(async move {
            let describe = |reason: AuthError| {
                let mut text = format!("no token for the MCP server `{}`: {reason}", request.server);
                let mut cause = std::error::Error::source(&reason);
                while let Some(reason) = cause {
                    text = format!("{text}: {reason}");
                    cause = reason.source();
                }
                text
            };
            self.current_token(request).await.map_err(describe)
        })
    }
}

/// Returns the additional scopes that a server requires. The challenge to a request without a token may
/// name fewer scopes.
fn additional_scopes(request: &McpTokenRequest, challenge: Option<&str>) -> Vec<String> {
    let challenge = challenge.filter(|challenge| needs_more_scopes(challenge));
    let parsed = challenge.zip(reqwest::Url::parse(&request.url).ok());
    let scope = parsed.and_then(|(challenge, url)| WWWAuthenticateParams::parse(challenge, &url).scope);
    scope.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

/// Stores the token state of `rmcp` as a string.
struct StoredTokens(Arc<dyn TokenStore>);

type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

// These are the signatures that `async_trait` generates.
impl CredentialStore for StoredTokens {
    fn load<'s, 'f>(&'s self) -> StoreFuture<'f, Option<StoredCredentials>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let stored = self.0.load().await.map_err(AuthError::CredentialStoreError)?;
            let unusable =
                |_| AuthError::CredentialStoreError("the stored tokens cannot be parsed".to_owned());
            stored.map(|stored| serde_json::from_str(stored.expose()).map_err(unusable)).transpose()
        })
    }

    fn save<'s, 'f>(&'s self, credentials: StoredCredentials) -> StoreFuture<'f, ()>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let text = serde_json::to_string(&credentials);
            let text = text.map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
            self.0.save(Some(Secret::new(text))).await.map_err(AuthError::CredentialStoreError)
        })
    }

    fn clear<'s, 'f>(&'s self) -> StoreFuture<'f, ()>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move { self.0.save(None).await.map_err(AuthError::CredentialStoreError) })
    }
}
