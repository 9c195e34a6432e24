//! Credentials: the sources that provide them, and how they are added to a request.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Url;
use toolgen_core::internal::closest_match;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::spec::plan::{Placement, RequestPlan, SecurityRequirement, SecurityScheme};

use super::encode::{Escape, escape};
use super::request::HttpRequest;
use super::secret::Secret;

/// A request for one credential.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CredentialRequest<'a> {
    /// The name of the security scheme in the document.
    pub scheme: &'a str,
    /// The location of the credential in a request.
    pub placement: &'a Placement,
    /// The scopes that the operation needs.
    pub scopes: &'a [Text],
    /// The environment variable that the plan names; empty if the plan names no variable.
    pub env: &'a str,
    /// The origin that receives the credential, as `https://host[:port]`.
    pub origin: &'a str,
}

/// A source of credentials.
pub trait Credentials: fmt::Debug + Send + Sync {
    /// Returns the credential of a scheme, if the source has it. It is sent to [`CredentialRequest::origin`] and
    /// nowhere else.
    fn credential(&self, request: &CredentialRequest<'_>) -> Option<Secret>;

    /// Whether the request gets the credential by other means, such as a header that the program sends with every
    /// request. If so, no credential is added.
    fn is_sent_elsewhere(&self, request: &CredentialRequest<'_>) -> bool {
        let _ = request;
        false
    }

    /// Returns the problem of the source's settings, if there is one. An engine with such a source cannot be built.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Returns where the credential comes from: `the environment variable …`. Operators read this text if a service
    /// rejects the credential. The text does not contain the credential itself.
    fn source(&self, request: &CredentialRequest<'_>) -> String {
        let _ = request;
        "from the engine's `Credentials`".to_owned()
    }

    /// Returns how to provide the credential, for the error of a call that lacks it: `set the environment variable
    /// …`.
    fn help(&self, request: &CredentialRequest<'_>) -> String {
        format!("provide a credential for `{}` in the engine's `Credentials`", request.scheme)
    }
}

/// A source without credentials.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCredentials;

impl Credentials for NoCredentials {
    fn credential(&self, _request: &CredentialRequest<'_>) -> Option<Secret> {
        None
    }

    fn help(&self, _request: &CredentialRequest<'_>) -> String {
        "set a source of credentials: `HttpEngineBuilder::credentials`".to_owned()
    }
}

/// Credentials held in memory, by scheme and optionally by origin.
#[derive(Clone, Debug, Default)]
pub struct StaticCredentials {
    secrets: BTreeMap<(String, Option<String>), Secret>,
}

impl StaticCredentials {
    /// Creates an empty set of credentials.
    #[must_use]
    pub fn new() -> StaticCredentials {
        StaticCredentials::default()
    }

    /// Adds the credential of a scheme for any origin that the operator configured (the plan's server or the engine's
    /// base URL).
    #[must_use]
    pub fn with(mut self, scheme: impl Into<String>, secret: Secret) -> StaticCredentials {
        self.secrets.insert((scheme.into(), None), secret);
        self
    }

    /// Adds the credential of a scheme for one origin only (`https://host[:port]`).
    #[must_use]
    pub fn with_origin(
        mut self,
        scheme: impl Into<String>,
        origin: impl Into<String>,
        secret: Secret,
    ) -> StaticCredentials {
        let origin = origin.into();
        let origin = Url::parse(&origin).map_or(origin, |url| url.origin().ascii_serialization());
        self.secrets.insert((scheme.into(), Some(origin)), secret);
        self
    }
}

impl Credentials for StaticCredentials {
    fn credential(&self, request: &CredentialRequest<'_>) -> Option<Secret> {
        let scheme = request.scheme.to_owned();
        let exact = self.secrets.get(&(scheme.clone(), Some(request.origin.to_owned())));
        exact.or_else(|| self.secrets.get(&(scheme, None))).cloned()
    }

    fn problem(&self) -> Option<String> {
        let origins = self.secrets.keys().filter_map(|(scheme, origin)| Some((scheme, origin.as_deref()?)));
        let is_wrong = |origin: &str| self::origin(origin) != origin;
        let (scheme, _) = origins.into_iter().find(|(_, origin)| is_wrong(origin))?;
        Some(format!(
            "`StaticCredentials::with_origin`: the credential of `{scheme}` has an invalid origin: write `https://host`, \
             with a port if it is not the default"
        ))
    }

    fn source(&self, _request: &CredentialRequest<'_>) -> String {
        "from `StaticCredentials`".to_owned()
    }

    fn help(&self, request: &CredentialRequest<'_>) -> String {
        let CredentialRequest { scheme, origin, .. } = request;
        let help = format!("add it for {origin}: `StaticCredentials::with({scheme:?}, …)`");
        with_suggestion(help, scheme, self.secrets.keys().map(|(scheme, _)| scheme.as_str()))
    }
}

/// Adds the most similar configured scheme to a help text.
pub(super) fn with_suggestion<'a>(
    help: String,
    scheme: &str,
    configured: impl IntoIterator<Item = &'a str>,
) -> String {
    match closest_match(scheme, configured.into_iter().filter(|configured| *configured != scheme)) {
        Some(closest) => format!("{help}. A credential is set for `{closest}`; did you mean `{scheme}`?"),
        None => help,
    }
}

/// A credential that a request needs and lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingCredential {
    /// The security scheme.
    pub scheme: String,
    /// The environment variable that the plan names for the scheme; empty if there is none.
    pub env: String,
    /// How to provide the credential.
    pub remedy: String,
}

/// Adds the credentials of the first alternative of `plan.security` that is satisfied.
///
/// An alternative without requirements is used only if no other is satisfied, regardless of the order: a configured
/// credential is meant to be used. The request changes only on success.
///
/// # Errors
///
/// Returns the missing credentials of each alternative. The request remains usable without them, for example for a
/// dry run.
pub fn authorize(
    request: &mut HttpRequest,
    plan: &RequestPlan,
    credentials: &dyn Credentials,
) -> Result<(), Vec<Vec<MissingCredential>>> {
    let origin = origin(&request.url);
    for (scheme, secret) in choose_alternative(plan, &origin, credentials)? {
        let id = scheme.id.as_str();
        let source = credentials.source(&credential_request(scheme, &origin));
        request.credentials.sources.retain(|(scheme, _)| scheme != id);
        request.credentials.sources.push((id.to_owned(), source));
        if let Some(secret) = secret {
            apply(request, scheme, &secret);
        }
    }
    Ok(())
}

/// Returns the credentials of the first satisfied alternative of `plan.security`, as [`authorize`] adds them.
pub(super) fn choose_alternative<'a>(
    plan: &'a RequestPlan,
    origin: &str,
    credentials: &dyn Credentials,
) -> Result<SatisfiedSchemes<'a>, Vec<Vec<MissingCredential>>> {
    let mut missing = Vec::new();
    for alternative in plan.security.iter().filter(|alternative| !alternative.schemes.is_empty()) {
        match satisfy(alternative, origin, credentials) {
            Ok(satisfied) => return Ok(satisfied),
            Err(absent) => missing.push(absent),
        }
    }
    let anonymous = plan.security.iter().any(|alternative| alternative.schemes.is_empty());
    if anonymous || missing.is_empty() { Ok(Vec::new()) } else { Err(missing) }
}

/// Tools that cannot be called because they lack the same credential. `Display` says what is missing and how to
/// provide it, for engineers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingCredentials {
    /// The tools that lack the credential.
    pub tools: Vec<Text>,
    /// The missing credentials of each alternative. One alternative is enough.
    pub alternatives: Vec<Vec<MissingCredential>>,
}

impl MissingCredentials {
    /// Returns the missing credentials of a tool at an origin, if there are any.
    pub(super) fn of(
        tool: Text,
        plan: &RequestPlan,
        origin: &str,
        credentials: &dyn Credentials,
    ) -> Option<MissingCredentials> {
        let alternatives = choose_alternative(plan, origin, credentials).err()?;
        Some(MissingCredentials { tools: vec![tool], alternatives })
    }

    /// Returns what is missing and how to provide it, without the names of the tools.
    #[must_use]
    pub fn remedy(&self) -> String {
        operator_message(&self.alternatives)
    }
}

impl fmt::Display for MissingCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.tools.as_slice() {
            [tool] => write!(f, "tool '{tool}': {}", self.remedy()),
            tools => write!(f, "{} tools: {}", tools.len(), self.remedy()),
        }
    }
}

/// Returns the error of a call without its credential. The model reads which credential is missing and that only the
/// operator can set it. Operators read how to set it.
pub(super) fn no_credential(missing: &[Vec<MissingCredential>]) -> ToolError {
    let schemes = alternatives(missing, |credential| format!("`{}`", credential.scheme));
    let text = format!("No credential is configured for {schemes}: the operator of this program must set it");
    ToolError::failed_with("MISSING_CREDENTIAL", text).with_operator_detail(operator_message(missing))
}

fn operator_message(missing: &[Vec<MissingCredential>]) -> String {
    // An alternative whose variables are all named is the alternative that the author intended.
    let is_named =
        |alternative: &&Vec<MissingCredential>| alternative.iter().all(|missing| !missing.env.is_empty());
    let named: Vec<_> = missing.iter().filter(is_named).cloned().collect();
    let lines = alternatives(if named.is_empty() { missing } else { &named }, |credential| {
        format!("`{}` ({})", credential.scheme, credential.remedy)
    });
    format!("No credential is configured for {lines}")
}

fn alternatives(
    missing: &[Vec<MissingCredential>],
    describe: impl Fn(&MissingCredential) -> String,
) -> String {
    let described = missing.iter().map(|all| all.iter().map(&describe).collect::<Vec<_>>().join(" and "));
    described.collect::<Vec<_>>().join(", or ")
}

/// Returns the origin of a URL as `https://host[:port]`, or an empty string if it has none.
pub(super) fn origin(url: &str) -> String {
    Url::parse(url).map(|url| url.origin().ascii_serialization()).unwrap_or_default()
}

/// The schemes of an alternative with their credentials; `None` if the request gets the credential by other means.
pub(super) type SatisfiedSchemes<'a> = Vec<(&'a SecurityScheme, Option<Secret>)>;

/// Returns the request for the credential of a scheme.
pub(super) fn credential_request<'a>(scheme: &'a SecurityScheme, origin: &'a str) -> CredentialRequest<'a> {
    CredentialRequest {
        scheme: &scheme.id,
        placement: &scheme.placement,
        scopes: &scheme.scopes,
        env: &scheme.env,
        origin,
    }
}

fn satisfy<'a>(
    alternative: &'a SecurityRequirement,
    origin: &str,
    credentials: &dyn Credentials,
) -> Result<SatisfiedSchemes<'a>, Vec<MissingCredential>> {
    let (mut satisfied, mut missing) = (Vec::new(), Vec::new());
    for scheme in &alternative.schemes {
        let request = credential_request(scheme, origin);
        // A line break would end the header that contains the credential.
        let is_usable = |secret: &Secret| !secret.expose().chars().any(char::is_control);
        let unsupported = unsupported_reason(&scheme.placement);
        let secret = || credentials.credential(&request).filter(is_usable);
        match if unsupported.is_none() { secret() } else { None } {
            Some(secret) => satisfied.push((scheme, Some(secret))),
            None if credentials.is_sent_elsewhere(&request) => satisfied.push((scheme, None)),
            None => missing.push(MissingCredential {
                scheme: scheme.id.as_str().to_owned(),
                env: scheme.env.as_str().to_owned(),
                remedy: unsupported.unwrap_or_else(|| credentials.help(&request)),
            }),
        }
    }
    if missing.is_empty() { Ok(satisfied) } else { Err(missing) }
}

/// Returns why a credential cannot be sent in this location, and what to do.
fn unsupported_reason(placement: &Placement) -> Option<String> {
    match placement {
        placement if placement.is_supported() => None,
        Placement::Header(name) => {
            Some(format!("`{name}` is a header that the HTTP client sets, so it cannot contain a credential"))
        }
        Placement::Other(name) => Some(format!(
            "the scheme `{name}` of HTTP is not supported: send the header `Authorization` with every request, \
             `HttpEngineBuilder::header` or `--header`"
        )),
        _ => None,
    }
}

fn apply(request: &mut HttpRequest, scheme: &SecurityScheme, secret: &Secret) {
    let secret = secret.expose();
    match &scheme.placement {
        Placement::Header(name) => set_header(request, name, secret.to_owned()),
        Placement::Query(name) => set_query(request, name, secret),
        Placement::Cookie(name) => set_cookie(request, name, secret),
        Placement::Basic => {
            let encoded = STANDARD.encode(secret);
            request.credentials.hide(&encoded);
            // The password is also a secret on its own.
            if let Some((_, password)) = secret.split_once(':') {
                request.credentials.hide(password);
            }
            set_header(request, "Authorization", format!("Basic {encoded}"));
        }
        Placement::Bearer => {
            let token = secret.get(..7).filter(|start| start.eq_ignore_ascii_case("bearer "));
            let token = token.map_or(secret, |start| secret[start.len()..].trim_start());
            request.credentials.hide(token);
            set_header(request, "Authorization", format!("Bearer {token}"));
        }
        Placement::MutualTls => return,
        Placement::Other(name) => set_header(request, "Authorization", format!("{name} {secret}")),
    }
    request.credentials.hide(secret);
}

fn set_header(request: &mut HttpRequest, name: &str, value: String) {
    request.headers.retain(|(key, _)| !key.eq_ignore_ascii_case(name));
    request.headers.push((name.to_owned(), value));
    request.credentials.headers.push(name.to_owned());
}

fn set_query(request: &mut HttpRequest, name: &str, secret: &str) {
    let encoded = escape(secret, Escape::Uri).into_owned();
    let key = escape(name, Escape::Uri);
    let (path, query) = request.url.split_once('?').unwrap_or((&request.url, ""));
    let others = query.split('&').filter(|pair| !pair.is_empty() && pair.split('=').next() != Some(&key));
    let mut pairs: Vec<String> = others.map(str::to_owned).collect();
    pairs.push(format!("{key}={encoded}"));
    request.url = format!("{path}?{}", pairs.join("&"));
    request.credentials.hide(&encoded);
}

fn set_cookie(request: &mut HttpRequest, name: &str, secret: &str) {
    let encoded = escape(secret, Escape::Cookie).into_owned();
    let others = request.header("Cookie").unwrap_or_default().split("; ");
    let others = others.filter(|pair| !pair.is_empty() && pair.split('=').next() != Some(name));
    let mut pairs: Vec<String> = others.map(str::to_owned).collect();
    pairs.push(format!("{name}={encoded}"));
    set_header(request, "Cookie", pairs.join("; "));
    request.credentials.hide(&encoded);
}

#[cfg(test)]
mod tests;
