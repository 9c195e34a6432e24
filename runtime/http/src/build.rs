//! Builds the request of a call from its plan and arguments.

use serde_json::{Map, Value};
use toolgen_core::internal::printable::is_token;
use toolgen_kernel::base::json::type_name;
use toolgen_kernel::base::media_type::essence;
use toolgen_kernel::spec::plan::{Encoding, HeaderOwner, Location, Parameter, RequestPlan};

use super::delimiters::delimiter_problem;
use super::derived_arguments::{derive, explain, separator_problem};
use super::encode::{Escape, escape};
use super::request::{Body, BuildOptions, HttpRequest, MAX_URL, RequestProblem, RequestProblemKind, content};
use super::{body, secret, style, url, xml};

/// Builds the request of a call, without credentials ([`authorize`](super::authorize) adds them).
///
/// `arguments` must be decoded: an object whose keys are those of the plan. If a plan needs
/// [`defaults`](RequestPlan::defaults), they must be [filled in](toolgen_kernel::ToolSpec::with_defaults). The
/// function is pure except for [`BuildOptions::files`].
///
/// # Errors
///
/// Returns all problems together; the problem of the base URL comes last.
pub fn build(
    plan: &RequestPlan,
    arguments: &Value,
    options: &BuildOptions<'_>,
) -> Result<HttpRequest, Vec<RequestProblem>> {
    let Value::Object(arguments) = arguments else {
        let message = format!("Expected object parameters, got {}", type_name(arguments));
        return Err(vec![RequestProblem::new(RequestProblemKind::Arguments, "", message)]);
    };
    let arguments = &*derive(plan, arguments)?;
    let mut problems = Vec::new();
    let encodings =
        plan.parameters.iter().map(|parameter| (parameter.argument.as_str(), &parameter.encoding));
    let arguments = &*xml::replace_xml_values(arguments, encodings, |argument, reason| {
        problems.push(RequestProblem::new(
            RequestProblemKind::Arguments,
            argument,
            format!("`{argument}`: {reason}"),
        ));
    });
    let path = url::path(plan, arguments, &mut problems);
    let accept = if plan.accept.is_empty() { "*/*" } else { plan.accept.as_str() };
    let mut headers = vec![("Accept".to_owned(), accept.to_owned())];
    let (query, mut cookies) = parameters(plan, arguments, &mut headers, &mut problems);
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
        Ok(base) => {
            problems
                .extend(url::overridden_parameter(&base, &query).map(|name| overridden_problem(plan, &name)));
            url::join(&base, &path, &query)
        }
        Err(problem) => {
            problems.push(problem);
            String::new()
        }
    };
    problems.extend(url_length_problem(&url, plan, arguments));
    if !problems.is_empty() {
        explain(plan, &mut problems);
        return Err(problems);
    }
    let method = plan.method.as_str().to_owned();
    Ok(HttpRequest { method, url, headers, body, credentials: secret::AppliedCredentials::default() })
}

/// Writes the parameters, and returns the pairs of the query and of the cookies.
fn parameters(
    plan: &RequestPlan,
    arguments: &Map<String, Value>,
    headers: &mut Vec<(String, String)>,
    problems: &mut Vec<RequestProblem>,
) -> (Vec<String>, Vec<String>) {
    let mut query: Vec<String> = plan.query.iter().map(|(name, value)| pair(name, value)).collect();
    let mut cookies = Vec::new();
    for parameter in &plan.parameters {
        let Some(value) = arguments.get(parameter.argument.as_str()) else { continue };
        let delimiter =
            delimiter_problem(&parameter.argument, value, &parameter.encoding, parameter.location.into());
        let separator = || match parameter.location {
            Location::Header => separator_problem(plan, parameter, arguments),
            _ => None,
        };
        if let Some(problem) = delimiter.or_else(separator) {
            problems.push(problem);
            continue;
        }
        match parameter.location {
            Location::Path => {}
            Location::Query => {
                let pairs = pairs(parameter, value);
                problems.extend(body::name_conflict(plan, parameter, &pairs));
                query.extend(pairs);
            }
            Location::Cookie => {
                let pairs = pairs(parameter, value);
                problems.extend(body::name_conflict(plan, parameter, &pairs));
                cookies.extend(pairs);
            }
            Location::Header => match header(parameter, value, problems) {
                // RFC 6265, section 5.4: a request has a single `Cookie` header.
                Some((name, text)) if name.eq_ignore_ascii_case("cookie") => cookies.push(text),
                header => headers.extend(header),
            },
        }
    }
    (query, cookies)
}

/// Returns the problem of an argument that the operator's base URL already sets.
fn overridden_problem(plan: &RequestPlan, name: &str) -> RequestProblem {
    let is_overridden =
        |parameter: &&Parameter| parameter.location == Location::Query && parameter.name == name;
    let argument =
        plan.parameters.iter().find(is_overridden).map_or(name, |parameter| parameter.argument.as_str());
    let message = format!("the operator of this program sets `{argument}` to another value; omit it");
    RequestProblem::new(RequestProblemKind::Arguments, argument, message)
}

/// Returns a problem that names the longest argument in the URL, if the URL is too long.
fn url_length_problem(
    url: &str,
    plan: &RequestPlan,
    arguments: &Map<String, Value>,
) -> Option<RequestProblem> {
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
            let escaping = match parameter.location {
                Location::Query if *allow_reserved => Escape::Reserved,
                Location::Cookie if *allow_reserved => Escape::Cookie,
                _ => Escape::Uri,
            };
            style::as_pairs(&parameter.name, value, *style, *explode, escaping)
        }
        Encoding::Content(media_type) => match value {
            // A form is the whole query, with the same pairs as in a body.
            Value::Object(fields) if parameter.name.is_empty() && is_form(media_type) => {
                vec![body::form(fields, &[])]
            }
            _ => document(parameter, &content(value, media_type)),
        },
        // XML is a string at this point.
        Encoding::Xml(_) => document(parameter, &style::text(value)),
    }
}

fn is_form(media_type: &str) -> bool {
    essence(media_type) == "application/x-www-form-urlencoded"
}

/// Returns the pair of a document. Without a key, the document is the whole query.
fn document(parameter: &Parameter, text: &str) -> Vec<String> {
    if parameter.name.is_empty() {
        return vec![escape(text, Escape::Uri).into_owned()];
    }
    vec![pair(&parameter.name, text)]
}

fn header(
    parameter: &Parameter,
    value: &Value,
    problems: &mut Vec<RequestProblem>,
) -> Option<(String, String)> {
    let name = parameter.name.as_str();
    if HeaderOwner::of(name).is_some() {
        return None;
    }
    let text = match &parameter.encoding {
        Encoding::Style { style, explode, .. } => style::as_text(value, *style, *explode)?,
        Encoding::Content(media_type) => content(value, media_type),
        Encoding::Xml(_) => style::text(value),
    };
    let problem = if !is_token(name) {
        format!("`{name}` is not the name of a header")
    } else if text.chars().any(|char| char.is_control() && char != '\t') {
        format!("`{}` must not contain line breaks or other control characters", parameter.argument)
    } else {
        return Some((name.to_owned(), text));
    };
    problems.push(RequestProblem::new(RequestProblemKind::Header, parameter.argument.as_str(), problem));
    None
}

#[cfg(test)]
mod tests;
