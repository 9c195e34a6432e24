//! Requests tokens from the authorization server, one request at a time.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout};
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::spec::Network;

use super::{Grant, OAuth, RequestState, Token};
use crate::encode::{Escape, escape};
use crate::inner::Inner;
use crate::request::{Body, HttpRequest};
use crate::response;
use crate::secret::Secret;
use crate::transport::{self, Redirects, Reply, Route, SendError};

/// The timeout of a token request.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum length of a token response, in bytes.
const MAX_RESPONSE_BYTES: usize = 256 << 10;

impl OAuth {
    /// Returns a token: the cached token, unless a service rejected it.
    pub(crate) async fn token(
        &self,
        engine: &Arc<Inner>,
        scheme: &str,
        allowed: &Network,
        rejected: Option<&Secret>,
    ) -> Result<Secret, ToolError> {
        let cached = || self.cached_token().filter(|token| Some(token) != rejected);
        if let Some(token) = cached() {
            return Ok(token);
        }
        let started = Instant::now();
        let mut request_state = Arc::clone(&self.shared.request_state).lock_owned().await;
        if let Some(token) = cached() {
            return Ok(token);
        }
        // A request that failed while this call waited counts for this call as well.
        if let Some((_, error)) = request_state.last_failure.as_ref().filter(|(time, _)| *time >= started) {
            return Err(error.clone());
        }
        request_state.last_failure = None;
        // If a call were cancelled during the request, the server might already have rotated the refresh token. A
        // separate task therefore sends the request.
        let (oauth, engine, scheme, allowed) =
            (self.clone(), Arc::clone(engine), scheme.to_owned(), allowed.clone());
        let task =
            tokio::spawn(async move { oauth.request_token(&engine, &scheme, &allowed, request_state).await });
        task.await
            .unwrap_or_else(|_| Err(ToolError::failed_with("OAUTH_ERROR", "no token could be requested")))
    }

    async fn request_token(
        &self,
        engine: &Inner,
        scheme: &str,
        allowed: &Network,
        mut request_state: OwnedMutexGuard<RequestState>,
    ) -> Result<Secret, ToolError> {
        let response =
            match send_request(self, engine, scheme, allowed, request_state.refresh_token.as_ref()).await {
                Ok(response) => response,
                Err(error) => {
                    // Whether hosts are allowed differs between calls, so a denial is not shared.
                    if !matches!(error, ToolError::Denied { .. }) {
                        request_state.last_failure = Some((Instant::now(), error.clone()));
                    }
                    return Err(error);
                }
            };
        if let Some(refresh_token) =
            response.refresh_token.filter(|_| matches!(self.settings.grant, Grant::RefreshToken(_)))
        {
            if let Some(callback) = self
                .settings
                .on_refresh_token
                .as_ref()
                .filter(|_| request_state.refresh_token.as_ref() != Some(&refresh_token))
            {
                callback(&refresh_token);
            }
            request_state.refresh_token = Some(refresh_token);
        }
        let expires = response.lifetime.and_then(|lifetime| {
            let leeway = self.settings.leeway.min(lifetime / 2);
            Instant::now().checked_add(lifetime - leeway)
        });
        let token = Token { secret: response.token.clone(), expires };
        *self.shared.token.write().unwrap_or_else(PoisonError::into_inner) = Some(token);
        Ok(response.token)
    }
}

/// A token response.
struct TokenResponse {
    token: Secret,
    /// The lifetime of the token, if the server declares it.
    lifetime: Option<Duration>,
    refresh_token: Option<Secret>,
}

/// Sends a token request.
async fn send_request(
    oauth: &OAuth,
    engine: &Inner,
    scheme: &str,
    allowed: &Network,
    refresh_token: Option<&Secret>,
) -> Result<TokenResponse, ToolError> {
    let url = oauth.displayed_url();
    let error = |cause: String, operator: &str| {
        let text = format!("No token for `{scheme}`: {cause}");
        let error = ToolError::failed_with("OAUTH_ERROR", text);
        error.with_operator_detail(format!("No token for `{scheme}` from {url}: {cause}; {operator}"))
    };
    let request = request(oauth, refresh_token)
        .map_err(|cause| error(cause, "correct the token URL of the `OAuth`"))?;
    let route = Route { redirects: Redirects::None, is_trusted: false, ..engine.route(allowed) };
    let response = timeout(TOKEN_TIMEOUT, async {
        let Reply { mut response, .. } = transport::send(&route, &request, &[]).await?;
        let body = response::read(&mut response, MAX_RESPONSE_BYTES, None).await?;
        Ok::<_, SendError>((response.status(), body.bytes))
    });
    let reach_help = "check that the server is reachable";
    let (status, body) = match response.await {
        Err(_) => {
            return Err(error(
                format!("the authorization server did not respond within {TOKEN_TIMEOUT:?}"),
                reach_help,
            ));
        }
        Ok(Err(SendError::Blocked(blocked))) => return Err(blocked.into()),
        Ok(Err(SendError::Malformed(cause))) => {
            return Err(error(cause, "correct the settings of the `OAuth`"));
        }
        Ok(Err(SendError::Cassette(cause))) => return Err(error(cause, "record the cassette again")),
        Ok(Err(SendError::Network(cause))) => return Err(error(request.failure(cause), reach_help)),
        Ok(Ok(reply)) => reply,
    };
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let text = |key: &str| body.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    if !status.is_success() {
        let code = text("error").unwrap_or("no reason given");
        let message = text("error_description").map(|message| format!(" ({message})")).unwrap_or_default();
        let cause = format!("the authorization server returned {}: {code}{message}", status.as_u16());
        return Err(error(request.redact(&cause), help_for(code)));
    }
    let is_bearer = text("token_type").is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
    let token = text("access_token").filter(|token| !token.chars().any(char::is_control));
    let Some(token) = token.filter(|_| is_bearer) else {
        let cause = "the response of the authorization server contains no bearer token".to_owned();
        return Err(error(
            cause,
            "check that the token URL is that of a token endpoint (RFC 6749, section 5.1)",
        ));
    };
    Ok(TokenResponse {
        token: Secret::new(token),
        lifetime: body.get("expires_in").and_then(seconds),
        refresh_token: text("refresh_token").map(Secret::new),
    })
}

/// Parses a number of seconds, which servers also write as a string.
fn seconds(value: &Value) -> Option<Duration> {
    let seconds = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// Returns the help for an error code (RFC 6749, section 5.2).
fn help_for(code: &str) -> &'static str {
    match code {
        "invalid_client" | "unauthorized_client" => {
            "check the client's ID and secret, whether it may use this grant, and whether the server wants them in the \
             body (`OAuth::client_in_body`)"
        }
        "invalid_grant" => "get a new refresh token: this one has expired, was revoked or was replaced",
        "invalid_scope" => "ask for other scopes (`OAuth::scopes`)",
        _ => "see the authorization server's documentation",
    }
}

fn request(oauth: &OAuth, refresh_token: Option<&Secret>) -> Result<HttpRequest, String> {
    let settings = &oauth.settings;
    let mut fields: Vec<(&str, &str)> = Vec::new();
    let mut secrets: Vec<&str> = Vec::new();
    match &settings.grant {
        Grant::ClientCredentials => fields.push(("grant_type", "client_credentials")),
        Grant::RefreshToken(configured) => {
            let token = refresh_token.unwrap_or(configured).expose();
            fields.extend([("grant_type", "refresh_token"), ("refresh_token", token)]);
            secrets.push(token);
        }
    }
    let scopes = settings.scopes.join(" ");
    if !scopes.is_empty() {
        fields.push(("scope", &scopes));
    }
    for (name, value) in &settings.parameters {
        fields.push((name, value));
        secrets.push(value);
    }
    let mut headers = vec![
        ("Accept".to_owned(), "application/json".to_owned()),
        ("Content-Type".to_owned(), "application/x-www-form-urlencoded".to_owned()),
    ];
    let mut basic = None;
    match &settings.client_secret {
        Some(secret) if !settings.in_body => {
            // RFC 6749, section 2.3.1: both are form-encoded before they become user and password.
            let pair = format!("{}:{}", form_encode(&settings.client_id), form_encode(secret.expose()));
            basic = Some(STANDARD.encode(pair));
        }
        Some(secret) => {
            fields.extend([("client_id", settings.client_id.as_str()), ("client_secret", secret.expose())]);
        }
        None => fields.push(("client_id", &settings.client_id)),
    }
    headers.extend(basic.iter().map(|pair| ("Authorization".to_owned(), format!("Basic {pair}"))));
    let mut request = HttpRequest::direct("POST", &settings.token_url, headers, [])?;
    let secret = settings.client_secret.as_ref().map(Secret::expose);
    for text in secrets.into_iter().chain(secret).chain(basic.as_deref()) {
        request.credentials.hide(text);
        request.credentials.hide(&form_encode(text));
    }
    let pairs: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}={}", form_encode(name), form_encode(value))).collect();
    request.body = Body::Text(pairs.join("&"));
    Ok(request)
}

fn form_encode(text: &str) -> String {
    escape(text, Escape::Form).into_owned()
}
