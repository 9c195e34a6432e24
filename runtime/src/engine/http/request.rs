//! From a plan and arguments to an HTTP request: a pure function.

use std::fmt;

use serde_json::{Map, Value};

use super::encode::{Escape, escape};
use super::files::{Files, NoFiles};
use super::{body, secret, style, url};
use crate::spec::plan::{Encoding, Location, Parameter, RequestPlan};

/// A request, ready to be sent.
///
/// `Debug` shows credentials as `****`.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// The headers, in the order they are sent.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Body,
    /// Which of the above carry credentials.
    pub(super) credentials: secret::Applied,
}

/// The body of an [`HttpRequest`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// There is none.
    None,
    /// Text, as UTF-8.
    Text(String),
    /// Any bytes.
    Bytes(Vec<u8>),
}

impl Body {
    /// The body as bytes; none are an empty slice.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Body::None => &[],
            Body::Text(text) => text.as_bytes(),
            Body::Bytes(bytes) => bytes,
        }
    }
}

impl HttpRequest {
    /// The value of the first header of this name, compared without regard to case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
        Some(&found.1)
    }

    /// The URL with credentials shown as `****`.
    #[must_use]
    pub fn redacted_url(&self) -> String {
        self.credentials.redact_url(&self.url)
    }

    /// The headers with credentials shown as `****`.
    #[must_use]
    pub fn redacted_headers(&self) -> Vec<(String, String)> {
        let shown = |name: &str, value: &str| self.credentials.redact_header(name, value);
        self.headers.iter().map(|(name, value)| (name.clone(), shown(name, value))).collect()
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest")
            .field("method", &self.method)
            .field("url", &self.redacted_url())
            .field("headers", &self.redacted_headers())
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

/// What the operator chooses about requests. Write a literal with `..BuildOptions::default()`.
#[derive(Clone, Copy, Debug)]
pub struct BuildOptions<'a> {
    /// Takes the place of the plan's servers, its own path included.
    pub base_url: Option<&'a str>,
    /// Where the document came from; relative servers are resolved against it.
    pub document_url: Option<&'a str>,
    /// Values of server variables in place of their defaults.
    pub server_variables: &'a [(String, String)],
    /// Reads the files that arguments name by a `path`.
    pub files: &'a dyn Files,
}

impl Default for BuildOptions<'_> {
    fn default() -> Self {
        BuildOptions { base_url: None, document_url: None, server_variables: &[], files: &NoFiles }
    }
}

/// Why no request can be made of the arguments of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestProblem {
    /// The kind of problem.
    pub kind: RequestProblemKind,
    /// The argument it is about. Empty: none.
    pub argument: String,
    /// What is wrong.
    pub message: String,
}

/// The kinds of [`RequestProblem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestProblemKind {
    /// The arguments are not an object.
    Arguments,
    /// The path has a placeholder for which there is no argument.
    MissingPathParameter,
    /// A value would change the path it is put into.
    UnsafePath,
    /// A value cannot be sent in a header.
    Header,
    /// The body is missing, or not of the kind the media type needs.
    Body,
    /// A file argument is not usable.
    File,
    /// The URL would be longer than any that can be sent.
    TooLong,
    /// There is no URL to send the request to.
    BaseUrl,
    /// A variable of the server has a value that it may not have.
    ServerVariable,
}

impl RequestProblemKind {
    /// The name of the kind for machines, as `details.error` has it.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            RequestProblemKind::Arguments => "invalid_args",
            RequestProblemKind::MissingPathParameter => "missing_path_param",
            RequestProblemKind::UnsafePath => "unsafe_path_param",
            RequestProblemKind::Header => "invalid_header",
            RequestProblemKind::Body => "invalid_body",
            RequestProblemKind::File => "file_error",
            RequestProblemKind::TooLong => "url_too_long",
            RequestProblemKind::BaseUrl => "no_base_url",
            RequestProblemKind::ServerVariable => "invalid_server_variable",
        }
    }

    /// The caller of the tool can do something about it, as opposed to its operator.
    #[must_use]
    pub const fn is_about_arguments(self) -> bool {
        !matches!(self, RequestProblemKind::BaseUrl | RequestProblemKind::ServerVariable)
    }
}

impl RequestProblem {
    pub(super) fn new(
        kind: RequestProblemKind,
        argument: impl Into<String>,
        message: impl Into<String>,
    ) -> RequestProblem {
        RequestProblem { kind, argument: argument.into(), message: message.into() }
    }
}

impl fmt::Display for RequestProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RequestProblem {}

/// Builds the request a call makes, without credentials ([`authorize`](super::authorize) adds them).
///
/// `arguments` are decoded: an object whose keys are those of the plan. It is pure apart from
/// [`BuildOptions::files`].
///
/// # Errors
///
/// Every problem at once; the one about the base URL comes last.
pub fn build(
    plan: &RequestPlan,
    arguments: &Value,
    options: &BuildOptions<'_>,
) -> Result<HttpRequest, Vec<RequestProblem>> {
    let Value::Object(arguments) = arguments else {
        let message = format!("Expected object parameters, got {}", type_name(arguments));
        return Err(vec![RequestProblem::new(RequestProblemKind::Arguments, "", message)]);
    };
    let mut problems = Vec::new();
    let path = url::path(plan, arguments, &mut problems);
    let mut query: Vec<String> = plan.query.iter().map(|(name, value)| pair(name, value)).collect();
    let accept = if plan.accept.is_empty() { "*/*" } else { plan.accept.as_str() };
    let mut headers = vec![("Accept".to_owned(), accept.to_owned())];
    let mut cookies = Vec::new();
    for parameter in &plan.parameters {
        let Some(value) = arguments.get(parameter.argument.as_str()) else { continue };
        match parameter.location {
            Location::Path => {}
            Location::Query => query.extend(pairs(parameter, value)),
            Location::Cookie => cookies.extend(pairs(parameter, value)),
            Location::Header => match header(parameter, value, &mut problems) {
                // RFC 6265, section 5.4: there is one such header.
                Some((name, text)) if name.eq_ignore_ascii_case("cookie") => cookies.push(text),
                header => headers.extend(header),
            },
        }
    }
    let body = match &plan.body {
        Some(plan) => body::build(plan, arguments, options.files, &mut problems),
        None => None,
    };
    cookies.retain(|cookie| !cookie.is_empty());
    if !cookies.is_empty() {
        headers.push(("Cookie".to_owned(), cookies.join("; ")));
    }
    let body = match body {
        Some((media_type, body)) => {
            headers.push(("Content-Type".to_owned(), media_type));
            body
        }
        None => Body::None,
    };
    let url = match url::base(plan, options) {
        Ok(base) => url::join(&base, &path, &query),
        Err(problem) => {
            problems.push(problem);
            String::new()
        }
    };
    problems.extend(too_long(&url, plan, arguments));
    if !problems.is_empty() {
        return Err(problems);
    }
    let method = plan.method.as_str().to_owned();
    Ok(HttpRequest { method, url, headers, body, credentials: secret::Applied::default() })
}

/// How long a URL may be, in bytes: what the `http` crate takes.
pub(super) const MAX_URL: usize = 65_534;

/// Names the longest of the arguments that stand in the URL, if there is no room for them.
fn too_long(url: &str, plan: &RequestPlan, arguments: &Map<String, Value>) -> Option<RequestProblem> {
    if url.len() <= MAX_URL {
        return None;
    }
    let in_url = |parameter: &&Parameter| matches!(parameter.location, Location::Path | Location::Query);
    let length = |parameter: &&Parameter| {
        arguments.get(parameter.argument.as_str()).map_or(0, |value| value.to_string().len())
    };
    let longest = plan.parameters.iter().filter(in_url).max_by_key(length);
    let message =
        format!("The URL would have {} bytes, and at most {MAX_URL} can be sent; send less", url.len());
    let argument = longest.map_or("", |parameter| parameter.argument.as_str());
    Some(RequestProblem::new(RequestProblemKind::TooLong, argument, message))
}

fn pair(name: &str, value: &str) -> String {
    format!("{}={}", escape(name, Escape::Uri), escape(value, Escape::Uri))
}

fn pairs(parameter: &Parameter, value: &Value) -> Vec<String> {
    match &parameter.encoding {
        Encoding::Style { style, explode, allow_reserved } => {
            let reserved = *allow_reserved && parameter.location == Location::Query;
            let escaping = if reserved { Escape::Reserved } else { Escape::Uri };
            style::as_pairs(&parameter.name, value, *style, *explode, escaping)
        }
        Encoding::Content(media_type) => vec![pair(&parameter.name, &content(value, media_type))],
    }
}

/// A value as a document of a media type: JSON, and texts of any other type as they are.
pub(super) fn content(value: &Value, media_type: &str) -> String {
    if is_json(media_type) { value.to_string() } else { style::text(value) }
}

/// The media type is JSON or one of those built on it.
pub(super) fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || essence == "text/json" || essence.ends_with("+json")
}

/// Headers that are not a parameter's to set: OpenAPI gives the first three to the media types and the security
/// schemes and has them ignored; the rest belong to the connection.
const NOT_PARAMETERS: [&str; 12] = [
    "accept",
    "content-type",
    "authorization",
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

fn header(
    parameter: &Parameter,
    value: &Value,
    problems: &mut Vec<RequestProblem>,
) -> Option<(String, String)> {
    let name = parameter.name.as_str();
    if NOT_PARAMETERS.iter().any(|reserved| name.eq_ignore_ascii_case(reserved)) {
        return None;
    }
    let text = match &parameter.encoding {
        Encoding::Style { explode, .. } => style::in_header(value, *explode)?,
        Encoding::Content(media_type) => content(value, media_type),
    };
    let problem = if !is_token(name) {
        format!("`{name}` is not the name of a header")
    } else if text.chars().any(char::is_control) {
        format!("`{}` may not hold line breaks or other control characters", parameter.argument)
    } else {
        return Some((name.to_owned(), text));
    };
    problems.push(RequestProblem::new(RequestProblemKind::Header, parameter.argument.as_str(), problem));
    None
}

/// RFC 9110, section 5.6.2.
pub(super) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// The value of a path parameter, encoded. `None`: there is nothing to write.
pub(super) fn in_path(parameter: &Parameter, arguments: &Map<String, Value>) -> Option<String> {
    let value = arguments.get(parameter.argument.as_str()).filter(|value| !value.is_null())?;
    match &parameter.encoding {
        Encoding::Style { style, explode, .. } => style::in_path(&parameter.name, value, *style, *explode),
        Encoding::Content(media_type) => Some(escape(&content(value, media_type), Escape::Uri).into_owned()),
    }
}

/// The name of a JSON type, for messages.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests;
