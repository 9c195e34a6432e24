//! Sends the requests of `rmcp` under the SSRF guard of the HTTP engine.

use std::time::Duration;

use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest,
};
use tokio::time::timeout;
use toolgen_http::{Body, HttpEngine, HttpRequest, Redirects, Secret};

/// Timeout of one request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum size of a response, in bytes.
const MAX_RESPONSE: usize = 1 << 20;

/// HTTP client for `rmcp` that applies the guard.
pub(super) struct GuardedClient(pub(super) HttpEngine);

impl GuardedClient {
    async fn send(&self, oauth_request: OAuthHttpRequest) -> Result<http::Response<Vec<u8>>, String> {
        let redirects = match oauth_request.redirect_policy {
            OAuthHttpRedirectPolicy::Follow => Redirects::SameOrigin,
            _ => Redirects::None,
        };
        let (parts, body) = oauth_request.request.into_parts();
        let headers: Vec<(String, Secret)> = parts
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), Secret::new(String::from_utf8_lossy(value.as_bytes()))))
            .collect();
        let headers = headers.iter().map(|(name, value)| (name.as_str(), value));
        let mut request =
            HttpRequest::direct(parts.method.as_str(), &parts.uri.to_string(), Vec::new(), headers)?;
        if !body.is_empty() {
            request.body = Body::Bytes(body);
        }
        let response = self.0.exchange(&request, redirects).await;
        let mut response = response.map_err(|failure| failure.why)?;
        let mut body = Vec::new();
        while let Some(bytes) = response.chunk().await.map_err(|error| request.failure(error))? {
            if body.len() + bytes.len() > MAX_RESPONSE {
                return Err(format!("the response has more than {MAX_RESPONSE} bytes"));
            }
            body.extend_from_slice(&bytes);
        }
        Ok(http::Response::from(response).map(|_| body))
    }
}

impl OAuthHttpClient for GuardedClient {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let limit = request.timeout.unwrap_or(REQUEST_TIMEOUT).min(REQUEST_TIMEOUT);
            let timed_out = |_| format!("no response within {limit:?}");
            Ok(timeout(limit, self.send(request)).await.map_err(timed_out)??)
        })
    }
}
