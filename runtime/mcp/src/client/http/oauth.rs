//! Tokens by OAuth 2.1, as MCP requires: discovery, registration, PKCE, refresh.
//!
//! The steps are those of rmcp. Each of its requests is sent by the client of the server, so that the guard of the HTTP
//! engine decides which hosts are reached, whatever a document of a server names.

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

use self::guarded::Guarded;
use super::auth::{McpTokenRequest, TokenSource, wants_more};

/// How long a person may take to allow the access.
const CONSENT_TIMEOUT: Duration = Duration::from_secs(300);

/// Shows a URL to a person and returns where their browser was sent afterwards.
type OpenBrowser = Arc<dyn Fn(String) -> BoxFuture<'static, Result<String, String>> + Send + Sync>;

/// Keeps the tokens of a server between runs of a program. What is kept is a credential.
pub trait TokenStore: fmt::Debug + Send + Sync {
    /// Returns what was saved last.
    ///
    /// # Errors
    ///
    /// Why it cannot be read.
    fn load(&self) -> BoxFuture<'_, Result<Option<Secret>, String>>;

    /// Saves this in place of what was saved before; `None` removes it.
    ///
    /// # Errors
    ///
    /// Why it cannot be saved.
    fn save(&self, tokens: Option<Secret>) -> BoxFuture<'_, Result<(), String>>;
}

/// Gets the tokens of one MCP server by OAuth, and new ones when they expire.
///
/// ```no_run
/// use toolgen_runtime::engine::mcp::{McpOAuth, McpOptions};
///
/// let tokens = McpOAuth::consent("http://127.0.0.1:8765/callback", |url| async move {
///     println!("Open {url}");
///     // Wait for the browser at the callback, and return the URL that it asks for.
///     # let asked = String::new();
///     Ok(asked)
/// });
/// let options = McpOptions::new().tokens("docs", tokens);
/// ```
#[derive(Clone)]
pub struct McpOAuth {
    grant: Grant,
    client_id: Option<String>,
    client_secret: Option<Secret>,
    metadata_url: Option<String>,
    secret_to: SecretTo,
    scopes: Vec<String>,
    store: Option<Arc<dyn TokenStore>>,
    /// The server that the tokens are for, and what is known of its authorization.
    state: Arc<Mutex<Option<(Text, AuthorizationManager)>>>,
}

/// Which authorization server gets the secret of the client. The MCP server names the authorization server, so its word
/// alone is not enough.
#[derive(Clone)]
enum SecretTo {
    Nobody,
    /// The one whose tokens come from this URL.
    TokenUrl(String),
    /// Whichever the MCP server names.
    Anybody,
}

#[derive(Clone)]
enum Grant {
    /// A person allows the access; the browser comes back to this URL.
    Consent(String, OpenBrowser),
    /// The program has credentials of its own.
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
    /// Lets a person allow the access: `open` shows them a URL, and returns the URL below `redirect_uri` that their
    /// browser was sent to afterwards. They have five minutes, and calls wait for them.
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

    /// Uses credentials that the program has at the authorization server, without a person. Set
    /// [`token_url`](Self::token_url), too: the secret is sent nowhere else.
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
            secret_to: SecretTo::Nobody,
            scopes: Vec::new(),
            store: None,
            state: Arc::default(),
        }
    }

    /// Sets the client that was registered with the authorization server beforehand. Without it, the program registers
    /// itself. A secret needs [`token_url`](Self::token_url), too.
    #[must_use]
    pub fn client(mut self, client_id: impl Into<String>, client_secret: Option<Secret>) -> McpOAuth {
        self.client_id = Some(client_id.into());
        self.client_secret = client_secret;
        self
    }

    /// Sets the URL of the authorization server that tokens come from, which is the only one that the client's secret is
    /// sent to: an MCP server that names another authorization server does not get it.
    #[must_use]
    pub fn token_url(mut self, url: impl Into<String>) -> McpOAuth {
        self.secret_to = SecretTo::TokenUrl(url.into());
        self
    }

    /// Sends the client's secret to whichever authorization server the MCP server names: only for a server that may know
    /// the secret itself.
    #[must_use]
    pub fn any_token_url(mut self) -> McpOAuth {
        self.secret_to = SecretTo::Anybody;
        self
    }

    /// Whether the client's secret, if it has one, may go to this URL.
    fn check_token_url(&self, named: &str) -> Result<(), AuthError> {
        let problem = match &self.secret_to {
            _ if self.client_secret.is_none() => return Ok(()),
            SecretTo::Anybody => return Ok(()),
            SecretTo::TokenUrl(url) if url == named => return Ok(()),
            SecretTo::TokenUrl(url) => {
                format!("the server wants the secret of the client sent to {named}, not to {url}")
            }
            SecretTo::Nobody => {
                format!("if the secret of the client belongs to {named}, set that as `McpOAuth::token_url`")
            }
        };
        Err(AuthError::AuthorizationFailed(problem))
    }

    /// Sets the `https` URL of the document that describes this client, for servers that read one in place of a
    /// registration.
    #[must_use]
    pub fn client_document(mut self, url: impl Into<String>) -> McpOAuth {
        self.metadata_url = Some(url.into());
        self
    }

    /// Sets the scopes to ask for, in place of those that the server names.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> McpOAuth {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets where tokens are kept between runs of the program. Without it, they are forgotten at its end.
    #[must_use]
    pub fn store(mut self, store: impl TokenStore + 'static) -> McpOAuth {
        self.store = Some(Arc::new(store));
        self
    }

    async fn manager(&self, wanted: &McpTokenRequest) -> Result<AuthorizationManager, AuthError> {
        let client = Arc::new(Guarded(wanted.client.clone()));
        let mut manager =
            AuthorizationManager::new_with_oauth_http_client(wanted.url.as_str(), client).await?;
        if let Some(store) = &self.store {
            manager.set_credential_store(StoredTokens(Arc::clone(store)));
            manager.initialize_from_store().await?;
        }
        Ok(manager)
    }

    /// Returns a token in place of one that was refused; `None` if somebody has to allow the access anew.
    async fn renewed(
        &self,
        manager: &AuthorizationManager,
        wanted: &McpTokenRequest,
        challenge: &str,
    ) -> Option<Result<String, AuthError>> {
        let refused = wanted.refused.as_ref().map(Secret::expose);
        // Another request may have been first.
        if let Ok(token) = manager.get_access_token().await
            && refused != Some(&token)
        {
            return Some(Ok(token));
        }
        if refused.is_none() || wants_more(challenge) {
            return None;
        }
        match manager.refresh_token().await {
            Ok(_) => Some(manager.get_access_token().await),
            // Nobody is asked because a network failed.
            Err(error @ AuthError::TokenRefreshFailed(_)) => Some(Err(error)),
            Err(_) => None,
        }
    }

    /// Gets the access that a server asks for.
    async fn authorized(
        &self,
        mut manager: AuthorizationManager,
        wanted: &McpTokenRequest,
        challenge: &str,
    ) -> Result<AuthorizationManager, AuthError> {
        let challenge = Some(challenge).filter(|challenge| !challenge.is_empty());
        let resolution = manager.resolve_metadata_from_challenge(challenge).await?;
        self.check_token_url(&resolution.metadata.token_endpoint)?;
        manager.set_metadata(resolution.metadata);
        let own = if self.scopes.is_empty() { wider(wanted, challenge) } else { self.scopes.clone() };
        match &self.grant {
            Grant::Program => {
                let scopes = if own.is_empty() { manager.select_scopes(None, &[]) } else { own };
                let secret = self.client_secret.as_ref().map_or("", Secret::expose);
                let config = ClientCredentialsConfig::ClientSecret {
                    client_id: self.client_id.clone().unwrap_or_default(),
                    client_secret: secret.to_owned(),
                    scopes,
                    resource: Some(wanted.url.to_string()),
                };
                manager.validate_client_credentials_metadata(&config)?;
                manager.configure_client_credentials(&config)?;
                manager.exchange_client_credentials(&config).await?;
                Ok(manager)
            }
            Grant::Consent(redirect_uri, open) => {
                let mut request =
                    AuthorizationRequest::new(redirect_uri).with_client_name(env!("CARGO_PKG_NAME"));
                request.scopes = own;
                request.client_id.clone_from(&self.client_id);
                request.client_secret = self.client_secret.as_ref().map(|secret| secret.expose().to_owned());
                request.client_metadata_url.clone_from(&self.metadata_url);
                let session =
                    AuthorizationSession::new(manager, request).await.map_err(|(_, error)| error)?;
                let opened = open(session.get_authorization_url().to_owned());
                let late = |_| {
                    AuthError::AuthorizationFailed(format!("nobody allowed it within {CONSENT_TIMEOUT:?}"))
                };
                let asked = timeout(CONSENT_TIMEOUT, opened).await.map_err(late)?;
                session.handle_callback_url(&asked.map_err(AuthError::AuthorizationFailed)?).await?;
                Ok(session.auth_manager)
            }
        }
    }

    async fn get(&self, wanted: &McpTokenRequest) -> Result<Option<Secret>, AuthError> {
        // One request at a time asks for a token, and the others get it, too.
        let mut state = self.state.lock().await;
        if state.as_ref().is_none_or(|(url, _)| *url != wanted.url) {
            *state = Some((wanted.url.clone(), self.manager(wanted).await?));
        }
        // What is known of the tokens stays there meanwhile: a request that is given up takes nothing along.
        let token = match (&*state, &wanted.challenge) {
            (Some((_, manager)), None) => Some(manager.get_access_token().await),
            (Some((_, manager)), Some(challenge)) => self.renewed(manager, wanted, challenge).await,
            (None, _) => None,
        };
        let token = match token {
            Some(token) => token,
            None => {
                let (Some((url, manager)), Some(challenge)) = (state.take(), &wanted.challenge) else {
                    return Err(AuthError::AuthorizationRequired);
                };
                let manager = self.authorized(manager, wanted, challenge).await?;
                let token = manager.get_access_token().await;
                *state = Some((url, manager));
                token
            }
        };
        match token {
            Ok(token) => Ok(Some(Secret::new(token))),
            // The server says what it wants when it refuses the request.
            Err(AuthError::AuthorizationRequired) if wanted.challenge.is_none() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl TokenSource for McpOAuth {
    fn token<'a>(&'a self, wanted: &'a McpTokenRequest) -> BoxFuture<'a, Result<Option<Secret>, String>> {
        Box::pin(async move {
            let refused = |reason: AuthError| {
                let mut text = format!("no token for the MCP server `{}`: {reason}", wanted.server);
                let mut cause = std::error::Error::source(&reason);
                while let Some(reason) = cause {
                    text = format!("{text}: {reason}");
                    cause = reason.source();
                }
                text
            };
            self.get(wanted).await.map_err(refused)
        })
    }
}

/// Returns the scopes that a server wants in addition. What it says when it is asked without a token is less.
fn wider(wanted: &McpTokenRequest, challenge: Option<&str>) -> Vec<String> {
    let challenge = challenge.filter(|challenge| wants_more(challenge));
    let parsed = challenge.zip(reqwest::Url::parse(&wanted.url).ok());
    let scope = parsed.and_then(|(challenge, url)| WWWAuthenticateParams::parse(challenge, &url).scope);
    scope.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

/// Stores what rmcp knows about the tokens as a text.
struct StoredTokens(Arc<dyn TokenStore>);

type Stored<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

// The signatures are those that `async_trait` makes.
impl CredentialStore for StoredTokens {
    fn load<'s, 'f>(&'s self) -> Stored<'f, Option<StoredCredentials>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let kept = self.0.load().await.map_err(AuthError::CredentialStoreError)?;
            let unusable = |_| AuthError::CredentialStoreError("what was kept cannot be read".to_owned());
            kept.map(|kept| serde_json::from_str(kept.expose()).map_err(unusable)).transpose()
        })
    }

    fn save<'s, 'f>(&'s self, credentials: StoredCredentials) -> Stored<'f, ()>
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

    fn clear<'s, 'f>(&'s self) -> Stored<'f, ()>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move { self.0.save(None).await.map_err(AuthError::CredentialStoreError) })
    }
}
