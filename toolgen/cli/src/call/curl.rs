//! The request of a dry run as a `curl` command.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use toolgen_runtime::engine::http::{Body, CredentialRequest, Credentials, HttpRequest, Secret};
use toolgen_runtime::spec::plan::Placement;

use super::super::args::Call;
use super::super::engines::{DryRunCredentials, credentials, oauth_variable};
use super::shell_words::{Part, can_be_pasted, print, word, word_of};

/// Maximum length of a body that is an argument, in bytes: systems limit the length of arguments.
const MAX_ARGUMENT: usize = 100_000;

/// Credentials that are markers: each stands for the variable that holds the credential.
#[derive(Debug)]
pub(super) struct Markers<'a> {
    credentials: DryRunCredentials<'a>,
    /// The variables of the security schemes that the user configured.
    configured: &'a BTreeMap<String, String>,
    /// Whether variables that are not set count, too.
    pub(super) with_unset: bool,
    /// The start of each marker, which the request does not contain.
    start: String,
    /// The variables by the number of their markers, each with the text before the marker that belongs to its value.
    variables: Mutex<Vec<(String, &'static str)>>,
}

impl<'a> Markers<'a> {
    pub(super) fn new(task: &'a Call, request: &HttpRequest) -> Markers<'a> {
        let mut start = "variable".to_owned();
        let contains = |start: &str| {
            request.url.contains(start) || request.headers.iter().any(|(_, value)| value.contains(start))
        };
        while contains(&start) {
            start.push('x');
        }
        let env_credentials = credentials(&task.selection.options);
        Markers {
            credentials: DryRunCredentials { env_credentials, requests: &task.requests },
            configured: &task.selection.options.credentials,
            with_unset: false,
            start,
            variables: Mutex::new(Vec::new()),
        }
    }

    /// Returns a marker for a variable.
    fn marker(&self, variable: &str, before: &'static str) -> String {
        let mut variables = self.variables.lock().unwrap_or_else(PoisonError::into_inner);
        variables.push((variable.to_owned(), before));
        self.text(variables.len() - 1)
    }

    fn text(&self, number: usize) -> String {
        format!("{}{number}z", self.start)
    }

    /// Returns text as parts: the variables of its markers, and the texts between them.
    fn parts(&self, text: &str) -> Vec<Part> {
        let variables = self.variables.lock().unwrap_or_else(PoisonError::into_inner);
        let found = variables.iter().enumerate().find_map(|(number, (name, before))| {
            let (before, after) = text.split_once(&format!("{before}{}", self.text(number)))?;
            Some((before.to_owned(), name.clone(), after.to_owned()))
        });
        drop(variables);
        let Some((before, name, after)) = found else {
            return if text.is_empty() { Vec::new() } else { vec![Part::Text(text.to_owned())] };
        };
        let mut parts = self.parts(&before);
        parts.push(Part::Variable(name));
        parts.extend(self.parts(&after));
        parts
    }

    /// Returns the variable of a header of Basic authentication.
    fn basic(&self, name: &str, value: &str) -> Option<Part> {
        let encoded = value.strip_prefix("Basic ").filter(|_| name.eq_ignore_ascii_case("authorization"))?;
        let bytes = base64::engine::general_purpose::STANDARD.decode(encoded).ok()?;
        match <[Part; 1]>::try_from(self.parts(std::str::from_utf8(&bytes).ok()?)) {
            Ok([part @ Part::Variable(_)]) => Some(part),
            _ => None,
        }
    }
}

impl Credentials for Markers<'_> {
    fn credential(&self, request: &CredentialRequest<'_>) -> Option<Secret> {
        let value = self.credentials.credential(request);
        if *request.placement == Placement::MutualTls {
            return value;
        }
        if self.credentials.requests.oauth.iter().any(|(scheme, _)| scheme == request.scheme) {
            return Some(Secret::new(self.marker(&oauth_variable(request.scheme, "ACCESS_TOKEN"), "")));
        }
        let variable = self.configured.get(request.scheme).map_or(request.env, String::as_str);
        if variable.is_empty() || value.is_none() && !self.with_unset {
            return None;
        }
        // A value that includes the name of the scheme is sent without a second one.
        let has_scheme = value.is_some_and(|value| {
            value.expose().get(..7).is_some_and(|start| start.eq_ignore_ascii_case("bearer "))
        });
        let before = if has_scheme && *request.placement == Placement::Bearer { "Bearer " } else { "" };
        Some(Secret::new(self.marker(variable, before)))
    }

    fn is_sent_elsewhere(&self, request: &CredentialRequest<'_>) -> bool {
        self.credentials.is_sent_elsewhere(request)
    }

    fn source(&self, request: &CredentialRequest<'_>) -> String {
        self.credentials.source(request)
    }

    fn help(&self, request: &CredentialRequest<'_>) -> String {
        self.credentials.help(request)
    }
}

/// Returns a `curl` command that sends the request. `headers` are additional headers with their variables, and
/// `identity` is the client certificate and its key.
pub(super) fn line(
    request: &HttpRequest,
    markers: &Markers<'_>,
    headers: &[(String, Part)],
    identity: Option<(&str, &str)>,
) -> String {
    let bytes = request.body.as_bytes();
    let has_body = request.body != Body::None;
    let (url, query) = split_query(&request.url, markers);
    let mut options = vec![method(&request.method, has_body) + &word(&url)];
    if url.contains(['[', ']', '{', '}']) {
        // Otherwise, they are patterns for several URLs.
        options.push("--globoff".to_owned());
    }
    if !query.is_empty() && !has_body {
        options.push("--get".to_owned());
    }
    let query_option = if has_body { "--url-query" } else { "--data-urlencode" };
    options.extend(query.iter().map(|pair| format!("{query_option} {}", word_of(pair))));
    for (name, value) in &request.headers {
        match markers.basic(name, value) {
            Some(user) => options.push(format!("--user {}", word_of(&[user]))),
            // `curl` sends this one itself.
            None if name.eq_ignore_ascii_case("accept") && value == "*/*" => {}
            // `NAME:` would remove a header.
            None if value.is_empty() => options.push(format!("-H {}", word(&format!("{name};")))),
            None => options.push(format!("-H {}", word_of(&markers.parts(&format!("{name}: {value}"))))),
        }
    }
    for (name, value) in headers {
        let parts = [Part::Text(format!("{name}: ")), value.clone()];
        options.push(format!("-H {}", word_of(&parts)));
    }
    if has_body && request.header("content-type").is_none() {
        // Otherwise, `curl` adds that of a form.
        options.push("-H Content-Type:".to_owned());
    }
    if let Some((certificate, key)) = identity {
        options.push(format!("--cert {} --key {}", word(certificate), word(key)));
    }
    let text = std::str::from_utf8(bytes).ok();
    let argument = text.filter(|text| text.len() <= MAX_ARGUMENT && can_be_pasted(text));
    let input = match argument {
        _ if !has_body => String::new(),
        Some(text) => {
            options.push(format!("--data-raw {}", word(text)));
            String::new()
        }
        None => {
            options.push("--data-binary @-".to_owned());
            format!("{} | ", print(bytes))
        }
    };
    format!("{input}curl {}", options.join(" \\\n  "))
}

/// Returns the option for a method, unless `curl` would use it anyway.
fn method(method: &str, has_body: bool) -> String {
    match (method, has_body) {
        ("GET", false) | ("POST", true) => String::new(),
        ("HEAD", false) => "--head ".to_owned(),
        _ => format!("-X {} ", word(method)),
    }
}

/// Returns the URL without the parameters whose values are variables, and these parameters: `curl` encodes them.
fn split_query(url: &str, markers: &Markers<'_>) -> (String, Vec<Vec<Part>>) {
    let Some((base, query)) = url.split_once('?') else { return (url.to_owned(), Vec::new()) };
    let pairs = query.split('&').map(|pair| (pair, markers.parts(pair)));
    let has_variable = |parts: &[Part]| parts.iter().any(|part| matches!(part, Part::Variable(_)));
    let (variables, fixed): (Vec<_>, Vec<_>) = pairs.partition(|(_, parts)| has_variable(parts));
    let fixed: Vec<&str> = fixed.into_iter().map(|(pair, _)| pair).collect();
    let url = if fixed.is_empty() { base.to_owned() } else { format!("{base}?{}", fixed.join("&")) };
    (url, variables.into_iter().map(|(_, parts)| parts).collect())
}
