//! Sends the HTTP requests of one tool call: with credentials, OAuth tokens and retries.

use std::borrow::Cow;
use std::sync::Arc;

use reqwest::Url;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};
use toolgen_kernel::base::time::whole_millis;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::ToolResult;
use toolgen_kernel::call::span::Attribute;
use toolgen_kernel::spec::plan::{RequestPlan, Tool};

use super::builder::Tokens;
use super::credentials::{authorize, choose_alternative, no_credential, origin};
use super::failure::network_error;
use super::inner::{self, Inner};
use super::request::HttpRequest;
use super::retry::{RetryReason, RetryState, idempotency_key};
use super::transport::{self, Reply, Route, SendError};

/// Sends the requests of one call.
pub(super) struct RequestSender<'a> {
    engine: &'a Arc<Inner>,
    plan: &'a RequestPlan,
    ctx: &'a ToolContext,
    deadline: Option<Instant>,
    /// Whether a second request has no further effect.
    repeatable: bool,
    tokens: Tokens,
    attempts: RetryState,
    /// The rate limits of the last response.
    rate_limits: Map<String, Value>,
    /// The URL of the page that linked to this request, if the request was not built from arguments, and whether
    /// credentials may be sent to it.
    pub(super) linked_from: Option<(Url, bool)>,
}

impl<'a> RequestSender<'a> {
    /// Creates a sender. No delay extends beyond `deadline`, the end of the call.
    pub(super) fn new(
        engine: &'a Arc<Inner>,
        tool: &'a Tool,
        ctx: &'a ToolContext,
        deadline: Option<Instant>,
    ) -> Result<RequestSender<'a>, ToolError> {
        let plan = inner::plan(tool)?;
        let effects = &tool.spec.effects;
        let repeatable = effects.read_only || effects.idempotent || !plan.idempotency_key.is_empty();
        let attempts = RetryState::new(engine.settings.retries);
        let (tokens, rate_limits) = (Tokens::new(), Map::new());
        Ok(RequestSender {
            engine,
            plan,
            ctx,
            deadline,
            repeatable,
            tokens,
            attempts,
            rate_limits,
            linked_from: None,
        })
    }

    /// Adds the credentials of the call and, if the operation declares one, an idempotency key.
    pub(super) async fn authenticate(&mut self, mut request: HttpRequest) -> Result<HttpRequest, ToolError> {
        let schemes = self.oauth_schemes(&request.url)?;
        for scheme in schemes {
            self.renew(&scheme).await?;
        }
        self.authorize(&mut request)?;
        let key = self.plan.idempotency_key.as_str();
        if !key.is_empty() && request.header(key).is_none() {
            let value = idempotency_key();
            let value = value.map_err(|error| ToolError::failed(format!("no idempotency key: {error}")))?;
            request.headers.push((key.to_owned(), value));
        }
        Ok(request)
    }

    /// Returns the schemes of a request whose tokens the engine requests.
    fn oauth_schemes(&self, url: &str) -> Result<Vec<String>, ToolError> {
        let satisfied =
            choose_alternative(self.plan, &origin(url), &self.engine.settings.call_credentials(&self.tokens));
        let satisfied = satisfied.map_err(|missing| no_credential(&missing))?;
        let with_oauth =
            satisfied.into_iter().filter(|(scheme, _)| self.engine.settings.oauth_of(&scheme.id).is_some());
        Ok(with_oauth.map(|(scheme, _)| scheme.id.as_str().to_owned()).collect())
    }

    /// Requests a token, replacing the token of the call if there is one.
    async fn renew(&mut self, scheme: &str) -> Result<(), ToolError> {
        let Some(oauth) = self.engine.settings.oauth_of(scheme) else { return Ok(()) };
        let rejected = self.tokens.iter().position(|(id, _)| id == scheme);
        let rejected = rejected.map(|index| self.tokens.remove(index).1);
        let token = oauth.token(self.engine, scheme, self.ctx.allowed_hosts(), rejected.as_ref()).await?;
        self.tokens.push((scheme.to_owned(), token));
        Ok(())
    }

    fn authorize(&self, request: &mut HttpRequest) -> Result<(), ToolError> {
        let authorized = authorize(request, self.plan, &self.engine.settings.call_credentials(&self.tokens));
        authorized.map_err(|missing| no_credential(&missing))
    }

    /// Sends a request to an allowed host and follows redirects. It is retried as the engine's policy allows, and
    /// once with new tokens if the service rejects the current tokens.
    pub(super) async fn send(&mut self, request: &HttpRequest) -> Result<Reply, ToolError> {
        let mut reauthorized = None;
        if let (Some(interceptor), Some(secrets)) = (&self.engine.settings.interceptor, self.ctx.secrets()) {
            interceptor.0.hide_all(&secrets);
        }
        loop {
            let request = reauthorized.as_ref().unwrap_or(request);
            let (linked_from, is_trusted) = match &self.linked_from {
                Some((url, is_trusted)) => (Some(url), *is_trusted),
                None => (None, true),
            };
            let route = Route {
                linked_from,
                is_trusted,
                success_redirects: &self.plan.redirects,
                ..self.engine.route(self.ctx.allowed_hosts())
            };
            let outcome = transport::send(&route, request, &self.extra_headers(request)).await;
            let is_unauthorized = matches!(&outcome, Ok(reply) if reply.response.status().as_u16() == 401);
            if is_unauthorized && is_trusted && reauthorized.is_none() && !self.tokens.is_empty() {
                reauthorized = Some(self.with_new_tokens(request).await?);
                continue;
            }
            let reason = match &outcome {
                Ok(reply) if !self.repeatable || reply.redirect_error.is_some() => None,
                Ok(reply) => RetryReason::from_response(reply.response.status(), reply.response.headers()),
                Err(error) => RetryReason::from_error(error, self.repeatable),
            };
            if let Some(reason) = reason {
                let remaining =
                    self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
                if let Some(delay) = self.attempts.next_delay(&reason, remaining) {
                    drop(outcome);
                    let millis = whole_millis(delay);
                    let number = |count| Attribute::Number(i64::try_from(count).unwrap_or(i64::MAX));
                    self.ctx.add_event(
                        "toolgen.request.repeated",
                        &[
                            ("http.request.resend_count", number(self.attempts.history.len() as u64)),
                            ("toolgen.repeated.after_ms", number(millis)),
                        ],
                    );
                    self.ctx.progress(format!("{}; retrying in {millis} ms", reason.message));
                    sleep(delay).await;
                    continue;
                }
            }
            let reply = outcome.map_err(|error| self.failure(request, error))?;
            self.rate_limits = super::retry::rate_limits(reply.response.headers());
            return Ok(reply);
        }
    }

    /// Returns the operator's headers, and those that propagate the trace, unless the request or the operator sets
    /// them already.
    fn extra_headers<'h>(&'h self, request: &HttpRequest) -> Cow<'h, [(String, String)]> {
        let settings = &self.engine.settings;
        let operator_headers = settings.headers.0.as_slice();
        if settings.propagates_trace {
            let is_free = |name: &str| {
                request.header(name).is_none()
                    && operator_headers.iter().all(|(key, _)| !key.eq_ignore_ascii_case(name))
            };
            let trace_headers =
                toolgen_kernel::layers::passed_on(Some(self.ctx), &settings.propagated_headers);
            let trace_headers: Vec<_> = trace_headers.into_iter().filter(|(name, _)| is_free(name)).collect();
            if !trace_headers.is_empty() {
                return Cow::Owned(operator_headers.iter().cloned().chain(trace_headers).collect());
            }
        }
        Cow::Borrowed(operator_headers)
    }

    async fn with_new_tokens(&mut self, request: &HttpRequest) -> Result<HttpRequest, ToolError> {
        let schemes: Vec<String> = self.tokens.iter().map(|(scheme, _)| scheme.clone()).collect();
        for scheme in schemes {
            self.renew(&scheme).await?;
        }
        let mut request = request.clone();
        self.authorize(&mut request)?;
        Ok(request)
    }

    fn failure(&self, request: &HttpRequest, error: SendError) -> ToolError {
        match error {
            SendError::Blocked(blocked) => blocked.into(),
            SendError::Malformed(message) => {
                ToolError::failed_with("INVALID_REQUEST", format!("Error: {message}"))
            }
            SendError::Cassette(reason) => ToolError::failed_with("CASSETTE_DIFFERENCE", reason),
            SendError::Network(error) => network_error(request, "HTTP_ERROR", error),
        }
    }

    /// Adds retries and rate limits to the details of a result.
    pub(super) fn add_retry_details(&self, result: &mut ToolResult) {
        if !self.attempts.history.is_empty() {
            result.details["repeated_after"] = json!(self.attempts.history);
        }
        if !self.rate_limits.is_empty() {
            result.details["rate_limit"] = self.rate_limits.clone().into();
        }
    }
}
