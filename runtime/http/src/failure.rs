//! Explains failed responses to operators: which credential was rejected, where it comes from, and what to do.

use reqwest::header::{HeaderMap, PROXY_AUTHENTICATE, WWW_AUTHENTICATE};
use reqwest::{StatusCode, Url};
use serde_json::Value;
use toolgen_kernel::base::printable::printable;
use toolgen_kernel::base::truncate::cut;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::OPERATOR;
use toolgen_kernel::spec::plan::{RequestPlan, Tool};

use super::builder::{HttpEngineBuilder, Tokens};
use super::credentials::{Credentials, credential_request, origin};
use super::request::HttpRequest;
use super::transport::{self, Reply, header};

/// Maximum length of the service's own explanation, in characters.
const MAX_CHALLENGE_CHARS: usize = 200;

/// Help for a proxy that requires a credential.
const PROXY_HELP: &str = "add a valid user name and password to the variable of the proxy (`HTTPS_PROXY`, \
    `HTTP_PROXY`, `ALL_PROXY`): http://NAME:PASSWORD@HOST:PORT";

/// The explanation of a failed response for operators.
pub(super) struct FailureExplanation {
    code: &'static str,
    /// The request and the status.
    target: String,
    /// The credential that was rejected, and what to do. Empty if the status is not about credentials.
    pub(super) message: String,
}

impl FailureExplanation {
    /// Marks the details as a failure, and adds the code and the explanation for operators.
    pub(super) fn add_to(self, details: &mut Value) {
        details["success"] = false.into();
        details["code"] = self.code.into();
        if !self.message.is_empty() {
            details[OPERATOR] = format!("{}: {}", self.target, self.message).into();
        }
    }
}

/// Returns the explanation of a response if it is a failure.
pub(super) fn explain_if_failed(
    settings: &HttpEngineBuilder,
    tool: &Tool,
    request: &HttpRequest,
    reply: &Reply,
) -> Option<FailureExplanation> {
    let (response, last) = (&reply.response, reply.final_url.as_ref());
    is_failure(settings, tool, reply)
        .then(|| explain(settings, tool, request, (response.status(), response.headers()), last))
}

/// Whether a response is a failure of the call.
fn is_failure(settings: &HttpEngineBuilder, tool: &Tool, reply: &Reply) -> bool {
    let status = reply.response.status();
    let is_declared = tool.call.http().is_some_and(|plan| plan.redirects.contains(&status.as_u16()));
    let has_failed = status.as_u16() >= 400 || (status.is_redirection() && !is_declared);
    let is_accepted = || settings.accepts(tool.spec.name.as_str(), status.as_u16());
    reply.redirect_error.is_some() || (has_failed && !is_accepted())
}

/// Explains a failed response. The explanation contains no secret.
pub(super) fn explain(
    settings: &HttpEngineBuilder,
    tool: &Tool,
    request: &HttpRequest,
    (status, headers): (StatusCode, &HeaderMap),
    final_url: Option<&Url>,
) -> FailureExplanation {
    let target = format!("{} → {}", request.target(final_url), status.as_u16());
    let explanation = |code, message| FailureExplanation { code, target, message };
    let challenge = |name: &str| {
        let text = cut(&printable(&request.credentials.redact(&header(headers, name))), MAX_CHALLENGE_CHARS);
        match text.split_once(' ') {
            None if text.is_empty() => text,
            None => format!(" (it requires {text})"),
            // Kept separate from the scheme, because a word after `Bearer` is treated as a token and redacted in
            // records.
            Some((scheme, parameters)) => format!(" (it requires {scheme}, with `{parameters}`)"),
        }
    };
    let (code, help) = match status {
        StatusCode::UNAUTHORIZED => (
            "CREDENTIAL_REFUSED",
            "it may have expired, been revoked, or belong to another service: configure a valid one",
        ),
        StatusCode::FORBIDDEN => (
            "CREDENTIAL_REFUSED",
            "its permissions are insufficient: grant more, or configure another credential",
        ),
        StatusCode::NOT_FOUND => ("NOT_FOUND", ""),
        StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
            let challenge_text = challenge(PROXY_AUTHENTICATE.as_str());
            return explanation(
                "PROXY_REFUSED",
                format!("the proxy requires a credential{challenge_text}: {PROXY_HELP}"),
            );
        }
        StatusCode::TOO_MANY_REQUESTS => return explanation("RATE_LIMITED", String::new()),
        _ => return explanation("HTTP_STATUS", String::new()),
    };
    let is_not_found = status == StatusCode::NOT_FOUND;
    let Some(plan) = tool.call.http() else { return explanation(code, String::new()) };
    let sources = &request.credentials.sources;
    if sources.is_empty() {
        let code = if is_not_found { code } else { "MISSING_CREDENTIAL" };
        let concerns_credentials = !is_not_found || !plan.security.is_empty();
        let message =
            if concerns_credentials { no_credential_sent(settings, plan, request) } else { String::new() };
        return explanation(code, message);
    }
    let credentials: Vec<String> =
        sources.iter().map(|(scheme, source)| format!("`{scheme}` ({source})")).collect();
    let credentials = credentials.join(" and ");
    let first = Url::parse(&request.url).ok();
    let cross_origin = first.zip(final_url).filter(|(first, last)| first.origin() != last.origin());
    let message = match cross_origin {
        Some((first, last)) => format!(
            "the redirect leads to {}, but the credential {credentials} is sent only to {}",
            last.origin().ascii_serialization(),
            first.origin().ascii_serialization()
        ),
        None if is_not_found => format!(
            "if the resource exists, the credential {credentials} may lack access to it: check its permissions"
        ),
        None => {
            let challenge_text = challenge(WWW_AUTHENTICATE.as_str());
            format!(
                "the credential {credentials} was rejected{challenge_text}: {help}{}",
                needed_scopes(plan)
            )
        }
    };
    explanation(code, message)
}

/// Describes that a rejected request had no credential, and how to provide it.
fn no_credential_sent(settings: &HttpEngineBuilder, plan: &RequestPlan, request: &HttpRequest) -> String {
    let (tokens, origin) = (Tokens::new(), origin(&request.url));
    let credentials = settings.call_credentials(&tokens);
    let schemes = plan.security.iter().flat_map(|alternative| &alternative.schemes);
    let mut helps: Vec<String> = schemes
        .map(|scheme| {
            format!("for `{}`, {}", scheme.id, credentials.help(&credential_request(scheme, &origin)))
        })
        .collect();
    helps.dedup();
    if helps.is_empty() {
        return "no credential was sent, because the document declares none for this operation. If it needs one, declare it in \
                the document, an overlay or a manifest, or send a header with every request \
                (`HttpEngineBuilder::header`)"
            .to_owned();
    }
    format!("no credential was sent: {}", helps.join(", or "))
}

/// Describes a network failure without credentials. Models see the requested host and port, operators see the target
/// of the request.
pub(super) fn network_error(request: &HttpRequest, code: &'static str, error: reqwest::Error) -> ToolError {
    // Redirects may have led to another host.
    let url = error.url().cloned().or_else(|| Url::parse(&request.url).ok());
    let location = url.and_then(|url| match url.port_or_known_default() {
        Some(port) => Some(format!("{}:{port}: ", url.host_str()?)),
        None => Some(format!("{}: ", url.host_str()?)),
    });
    let location = request.credentials.redact(&location.unwrap_or_default());
    let cause = request.credentials.redact(&transport::describe(error));
    let (code, help) = match cause.contains("proxy authorization required") {
        true => ("PROXY_REFUSED", format!(": {PROXY_HELP}")),
        false => (code, String::new()),
    };
    ToolError::failed_with(code, format!("Error: HTTP request failed: {location}{cause}"))
        .with_operator_detail(format!("HTTP request failed: {}: {cause}{help}", request.target(None)))
}

/// Returns the scopes that an operation needs, if the document names any.
fn needed_scopes(plan: &RequestPlan) -> String {
    let schemes = plan.security.iter().flat_map(|alternative| &alternative.schemes);
    let mut scopes: Vec<&str> =
        schemes.flat_map(|scheme| &scheme.scopes).map(|scope| scope.as_str()).collect();
    scopes.dedup();
    if scopes.is_empty() { String::new() } else { format!(" (the operation needs {})", scopes.join(", ")) }
}
