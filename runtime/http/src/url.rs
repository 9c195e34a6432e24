//! Builds the URL of a request: its server, path and query.

use reqwest::Url;
use serde_json::{Map, Value};
use toolgen_kernel::spec::plan::{Encoding, Location, Parameter, RequestPlan, Server};

use super::encode::{self, Escape, escape};
use super::request::{BuildOptions, RequestProblem, RequestProblemKind, content};
use super::style;

/// The base of a URL: everything before the path, without a trailing slash, and the query of the base.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) prefix: String,
    query: Option<String>,
    /// Whether the operator configured the base, so that no argument may override its query.
    configured: bool,
}

const USER_IN_URL: &str = "The base URL must not contain a user name or a password; configure a credential";
const NO_BASE_URL: &str = "No base URL found in spec or config";

fn problem(message: impl Into<String>) -> RequestProblem {
    RequestProblem::new(RequestProblemKind::BaseUrl, "", message)
}

/// Returns the base URL: `base_url` of the options, or else the plan's first server, or else `/` relative to the
/// document (OpenAPI 3.1, "Server Object": a relative URL is relative to the document's location).
pub(super) fn base(plan: &RequestPlan, options: &BuildOptions<'_>) -> Result<Base, RequestProblem> {
    if let Some(base) = options.base_url {
        check_host(base.trim()).map_err(problem)?;
        // The error does not show the operator's URL, which may contain a key.
        let url = Url::parse(base.trim());
        let url = url.map_err(|error| problem(format!("The configured base URL is not a URL: {error}")))?;
        return Ok(Base { configured: true, ..parse_base(&url).map_err(problem)? });
    }
    let server = match plan.servers.first() {
        Some(server) => substitute(server, options.server_variables)?,
        None => "/".to_owned(),
    };
    let server_problem = |reason: &str| {
        RequestProblem::new(
            RequestProblemKind::Server,
            "",
            format!("{reason}, not `{}`", without_user(&server)),
        )
    };
    check_host(server.trim()).map_err(server_problem)?;
    let url = absolute(server.trim(), options.document_url)?;
    parse_base(&url).map_err(server_problem)
}

/// Rejects a URL without a host, or with a path where the host belongs: parsers would take the host from the path.
fn check_host(url: &str) -> Result<(), &'static str> {
    // `https:/v1` and `https:v1` are parsed as `https://v1`.
    let (scheme, after_scheme) =
        url.split_once(':').filter(|(scheme, _)| is_http(scheme)).unwrap_or(("", url));
    match after_scheme.split_once("//") {
        Some(("", after_scheme))
            if after_scheme.is_empty() || after_scheme.starts_with(['/', '\\', '?', '#', ':']) =>
        {
            Err("The base URL must have a host")
        }
        Some(("", _)) => Ok(()),
        _ if scheme.is_empty() => Ok(()),
        _ => Err("The base URL must have `//` before its host"),
    }
}

fn is_http(scheme: &str) -> bool {
    ["http", "https"].iter().any(|http| scheme.eq_ignore_ascii_case(http))
}

/// Returns a URL without its user name and password, for messages.
fn without_user(url: &str) -> String {
    let (scheme, after_slashes) = url.split_once("//").unwrap_or(("", url));
    match after_slashes.rsplit_once('@') {
        Some((_, host)) => {
            format!("{scheme}{}****@{host}", if after_slashes.len() < url.len() { "//" } else { "" })
        }
        None => url.to_owned(),
    }
}

/// Validates a URL of the program's settings. The error says what to write instead.
pub(super) fn check_configured(text: &str, setting: &str) -> Result<(), String> {
    let text = text.trim();
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() && check_host(text).is_ok() => {
            Ok(())
        }
        _ if text.is_empty() => {
            Err(format!("`{setting}`: an http or https URL is expected, and it is empty"))
        }
        _ if looks_like_host(text) => Err(format!(
            "`{setting}`: an http or https URL is expected: write `http://` or `https://` before the host"
        )),
        _ => Err(format!(
            "`{setting}`: an http or https URL is expected, such as `https://api.example.com/v1`"
        )),
    }
}

/// Returns the absolute URL of a server. The scheme is not checked.
fn absolute(server: &str, document_url: Option<&str>) -> Result<Url, RequestProblem> {
    if let Some(url) = parse_http(server) {
        return Ok(url);
    }
    if let Some(url) = Url::parse(server).ok().filter(|_| server.contains("://")) {
        return Ok(url);
    }
    if let Some(after_slashes) = server.strip_prefix("//") {
        if document_url.is_none() {
            return parse_http(&format!("https://{after_slashes}")).ok_or_else(|| problem(NO_BASE_URL));
        }
    } else if looks_like_host(server) {
        return parse_http(&format!("https://{server}")).ok_or_else(|| problem(NO_BASE_URL));
    }
    let document = document_url.and_then(parse_http).ok_or_else(|| problem(NO_BASE_URL))?;
    document
        .join(server)
        .map_err(|error| problem(format!("The server URL `{}` is not a URL: {error}", without_user(server))))
}

fn parse_http(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// Whether a server looks like a host without a scheme: documents have `api.example.com/v1` and `localhost:8080`
/// instead of `https://…`.
fn looks_like_host(server: &str) -> bool {
    let host = server.split('/').next().unwrap_or_default();
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    let is_named = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b));
    let has_dot = name.contains('.') && !name.starts_with('.');
    let has_port = !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit());
    is_named && (has_dot || has_port) && port.bytes().all(|b| b.is_ascii_digit())
}

fn has_user(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Rejects a URL of the program's settings with a user. The URL is not shown.
pub(super) fn check_no_user(text: &str) -> Result<(), &'static str> {
    match Url::parse(text.trim()) {
        Ok(url) if has_user(&url) => Err(USER_IN_URL),
        _ => Ok(()),
    }
}

fn parse_base(url: &Url) -> Result<Base, &'static str> {
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err("The base URL must be an http or https URL");
    }
    if has_user(url) {
        return Err(USER_IN_URL);
    }
    let query = url.query().filter(|query| !query.is_empty()).map(str::to_owned);
    let origin = url.origin().ascii_serialization();
    let prefix = format!("{origin}{}", url.path().trim_end_matches('/'));
    Ok(Base { prefix, query, configured: false })
}

/// Returns the server's URL with its variables substituted.
fn substitute(server: &Server, values: &[(String, String)]) -> Result<String, RequestProblem> {
    let mut out = String::new();
    for segment in template(&server.url) {
        match segment {
            TemplateSegment::Fixed(text) => out.push_str(text),
            TemplateSegment::Placeholder(name) => {
                let value = variable(server, name, values)?;
                if values.iter().any(|(key, _)| key == name) {
                    check_variable_value(&out, name, &value)?;
                }
                out.push_str(&value);
            }
        }
    }
    Ok(out)
}

/// Rejects a value that would change more of the URL than its variable: `a@b` and `b/` would change the host. At the
/// start of the URL, any value is allowed.
fn check_variable_value(before: &str, name: &str, value: &str) -> Result<(), RequestProblem> {
    let after_scheme =
        before.split_once("://").map(|(_, authority)| authority).or_else(|| before.strip_prefix("//"));
    let delimiters: &[char] = match after_scheme {
        Some(authority) if !authority.contains('/') => &['@', '/', '\\', '?', '#'],
        _ if before.is_empty() => return Ok(()),
        _ => &['\\', '?', '#'],
    };
    let forbidden =
        value.chars().find(|char| delimiters.contains(char) || char.is_whitespace() || char.is_control());
    match forbidden {
        None => Ok(()),
        Some(forbidden) => {
            let message = format!(
                "Server variable `{name}` must not contain {forbidden:?}: it is one part of the server's URL"
            );
            Err(RequestProblem::new(RequestProblemKind::ServerVariable, "", message))
        }
    }
}

fn variable(server: &Server, name: &str, values: &[(String, String)]) -> Result<String, RequestProblem> {
    let declared = server.variables.iter().find(|variable| variable.name == name);
    let configured = values.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    match (declared, configured) {
        (Some(declared), Some(value)) => {
            if !declared.allowed.is_empty() && !declared.allowed.iter().any(|allowed| *allowed == value) {
                let allowed: Vec<&str> = declared.allowed.iter().map(|allowed| allowed.as_str()).collect();
                let allowed = allowed.join(", ");
                let message = format!("Server variable `{name}` must be one of: {allowed}");
                return Err(RequestProblem::new(RequestProblemKind::ServerVariable, "", message));
            }
            Ok(value.to_owned())
        }
        (Some(declared), None) => Ok(declared.default.as_str().to_owned()),
        (None, Some(value)) => Ok(value.to_owned()),
        (None, None) => {
            let message = format!(
                "Server variable `{name}` of `{}` has no value; set it (`--server-variable {name}=VALUE`, \
                 `HttpEngineBuilder::server_variable`)",
                server.url
            );
            Err(RequestProblem::new(RequestProblemKind::ServerVariable, "", message))
        }
    }
}

/// A part of a template with `{name}` placeholders.
enum TemplateSegment<'a> {
    Fixed(&'a str),
    Placeholder(&'a str),
}

fn template(text: &str) -> Vec<TemplateSegment<'_>> {
    let mut segments = Vec::new();
    let mut remaining = text;
    while let Some((before, after)) = remaining.split_once('{') {
        let Some((name, after)) = after.split_once('}') else { break };
        segments.push(TemplateSegment::Fixed(before));
        segments.push(TemplateSegment::Placeholder(name));
        remaining = after;
    }
    segments.push(TemplateSegment::Fixed(remaining));
    segments
}

/// Builds the path, which starts with a slash, from the template and the encoded parameters.
///
/// A parameter can never change which resource is addressed. Separators are encoded, except for the slashes of a
/// parameter that may contain several segments. A value that is empty or contains a `.` or `..` segment is rejected,
/// even after an encoded slash, because some servers decode before they resolve dot segments.
pub(super) fn path(
    plan: &RequestPlan,
    arguments: &Map<String, Value>,
    problems: &mut Vec<RequestProblem>,
) -> String {
    let mut out = String::new();
    let mut placeholders: Vec<(usize, &str)> = Vec::new();
    for segment in template(&plan.path) {
        match segment {
            TemplateSegment::Fixed(text) => out.push_str(&encode::path_template(text)),
            TemplateSegment::Placeholder(name) => {
                let parameter = path_parameter(plan, name);
                placeholders
                    .push((out.len(), parameter.map_or(name, |parameter| parameter.argument.as_str())));
                match fill(plan, name, parameter, arguments) {
                    Ok(text) => out.push_str(&text),
                    Err(problem) => problems.push(problem),
                }
            }
        }
    }
    // Values that are harmless alone may form a dot segment with each other or with the fixed text.
    let mut start = 0;
    for segment in out.split('/') {
        let end = start + segment.len();
        let placeholder = placeholders.iter().find(|(at, _)| (start..=end).contains(at));
        let decoded = segment.replace("%3B", ";").replace("%2e", ".").replace("%2E", ".");
        if is_dots(&decoded) {
            problems.push(
                placeholder
                    .map_or_else(|| fixed_dots_problem(plan), |(_, argument)| unsafe_path(plan, argument)),
            );
        }
        start = end + 1;
    }
    if out.starts_with('/') { out } else { format!("/{out}") }
}

fn path_parameter<'a>(plan: &'a RequestPlan, name: &str) -> Option<&'a Parameter> {
    plan.parameters.iter().find(|parameter| parameter.location == Location::Path && parameter.name == name)
}

fn fill(
    plan: &RequestPlan,
    name: &str,
    parameter: Option<&Parameter>,
    arguments: &Map<String, Value>,
) -> Result<String, RequestProblem> {
    let argument = parameter.map_or(name, |parameter| parameter.argument.as_str());
    let missing = || {
        let message = format!("Missing required path parameter '{name}' for {}", plan.path);
        RequestProblem::new(RequestProblemKind::MissingPathParameter, argument, message)
    };
    let parameter = parameter.ok_or_else(missing)?;
    let text = in_path(parameter, arguments).ok_or_else(missing)?;
    if text.is_empty() || has_dot_segment(arguments.get(argument)) {
        return Err(unsafe_path(plan, argument));
    }
    Ok(text)
}

fn unsafe_path(plan: &RequestPlan, argument: &str) -> RequestProblem {
    let message = format!(
        "Path parameter '{argument}' for {} must not be empty or contain `.` or `..` segments",
        plan.path
    );
    RequestProblem::new(RequestProblemKind::UnsafePath, argument, message)
}

/// Returns the problem of a path whose fixed text has dot segments, which would not be sent verbatim.
fn fixed_dots_problem(plan: &RequestPlan) -> RequestProblem {
    let message = format!(
        "The path {} of this tool has a `.` or `..` segment, so the request would go to another path; nothing is sent",
        plan.path
    );
    RequestProblem::new(RequestProblemKind::Server, "", message)
}

/// Whether a segment of a path is `.` or `..`. The latter may have parameters (`..;x`), which some servers remove
/// first.
fn is_dots(segment: &str) -> bool {
    segment == "." || segment.split(';').next() == Some("..")
}

/// Whether a string in the value has a `.` or `..` segment, percent-encoded or not, or is empty.
fn has_dot_segment(value: Option<&Value>) -> bool {
    match value {
        Some(Value::String(text)) => {
            let decoded =
                text.replace("%2e", ".").replace("%2E", ".").replace("%2f", "/").replace("%2F", "/");
            let decoded = decoded.replace("%5c", "/").replace("%5C", "/");
            let decoded = decoded.replace("%3b", ";").replace("%3B", ";");
            decoded.split(['/', '\\']).any(is_dots)
        }
        Some(Value::Array(items)) => items.iter().any(|item| has_dot_segment(Some(item))),
        Some(Value::Object(fields)) => fields.values().any(|field| has_dot_segment(Some(field))),
        _ => false,
    }
}

/// Builds the whole URL: the base, the path, and the query. The query of the base comes first; parameters of the
/// request replace those of the base with the same names.
pub(super) fn join(base: &Base, path: &str, query: &[String]) -> String {
    let mut url = format!("{}{path}", base.prefix);
    let base_pairs = base.query.iter().flat_map(|query| query.split('&'));
    let base_pairs =
        base_pairs.filter(|pair| !query.iter().any(|other| decoded_name(other) == decoded_name(pair)));
    let pairs = base_pairs.chain(query.iter().map(String::as_str));
    for (index, pair) in pairs.enumerate() {
        url.push(if index == 0 { '?' } else { '&' });
        url.push_str(pair);
    }
    url
}

/// Returns a parameter of the request that would change the query of the operator's base URL.
pub(super) fn overridden_parameter(base: &Base, query: &[String]) -> Option<String> {
    let base_pairs = base.query.iter().filter(|_| base.configured).flat_map(|query| query.split('&'));
    let mut base_pairs = base_pairs
        .filter(|pair| query.iter().any(|other| decoded_name(other) == decoded_name(pair) && other != pair));
    base_pairs.next().map(decoded_name)
}

/// Returns the decoded name of an encoded pair.
pub(super) fn decoded_name(pair: &str) -> String {
    let name = pair.split('=').next().unwrap_or_default();
    percent_encoding::percent_decode_str(&name.replace('+', " ")).decode_utf8_lossy().into_owned()
}

/// Returns the encoded value of a path parameter, or `None` if there is nothing to write.
pub(super) fn in_path(parameter: &Parameter, arguments: &Map<String, Value>) -> Option<String> {
    let value = arguments.get(parameter.argument.as_str()).filter(|value| !value.is_null())?;
    match &parameter.encoding {
        Encoding::Style { style, explode, allow_reserved } => {
            let escaping = if *allow_reserved { Escape::Segments } else { Escape::Uri };
            style::in_path(&parameter.name, value, *style, *explode, escaping)
        }
        Encoding::Content(media_type) => Some(escape(&content(value, media_type), Escape::Uri).into_owned()),
        Encoding::Xml(_) => Some(escape(&style::text(value), Escape::Uri).into_owned()),
    }
}
