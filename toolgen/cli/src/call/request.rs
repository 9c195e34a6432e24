//! Builds the request of a dry run.

use base64::Engine as _;
use serde_json::Value;
use toolgen::selector::suggestion;
use toolgen_runtime::engine::http::{
    self, BuildOptions, Credentials, FilesRoot, HttpRequest, MissingCredential, RequestProblem,
    RequestProblemKind,
};
use toolgen_runtime::layers::redact::REDACTED;
use toolgen_runtime::spec::plan::{RequestPlan, SecurityScheme};

use super::super::args::Call;
use super::super::engines::headers;
use super::super::output::Output;

/// The server of a dry run if neither the document nor the user sets one.
const PLACEHOLDER_SERVER: &str = "http://localhost";

/// Returns a message about an unknown server variable.
pub(super) fn unknown_variable(task: &Call, plan: &RequestPlan) -> Option<String> {
    let variables = || plan.servers.iter().flat_map(|server| &server.variables);
    // An undeclared variable has no value until the user sets one.
    let is_in_url =
        |name: &str| plan.servers.iter().any(|server| server.url.contains(&format!("{{{name}}}")));
    let is_unknown = |name: &&String| !is_in_url(name);
    let name = task.requests.server_variables.iter().map(|(name, _)| name).find(is_unknown)?;
    let declared: Vec<String> = variables().map(|variable| format!("`{}`", variable.name)).collect();
    let declared = if declared.is_empty() { "none".to_owned() } else { declared.join(", ") };
    let hint = suggestion(name, variables().map(|variable| variable.name.as_str()));
    let hint = hint.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    Some(format!("the server has no variable `{name}`; it has {declared}{hint}"))
}

/// Builds the request. `Err` is the message for a model.
pub(super) fn build(
    task: &Call,
    plan: &RequestPlan,
    arguments: &Value,
    output: &mut Output,
) -> Result<HttpRequest, String> {
    let max = task.requests.max_file;
    let files = task.requests.files.as_ref().map(|dir| FilesRoot::new(dir).max_file_bytes(max));
    let mut options = BuildOptions {
        base_url: task.requests.base_url.as_deref(),
        server_variables: &task.requests.server_variables,
        ..BuildOptions::default()
    };
    if let Some(files) = &files {
        options.files = files;
    }
    let lacks_url =
        |problems: &[RequestProblem]| problems.iter().all(|p| p.kind == RequestProblemKind::BaseUrl);
    let mut result = http::build(plan, arguments, &options);
    // A relative server is relative to the URL of the document, which a file does not have.
    for (base_url, document_url) in [(None, Some(PLACEHOLDER_SERVER)), (Some(PLACEHOLDER_SERVER), None)] {
        if options.base_url.is_none() && result.as_ref().is_err_and(|problems| lacks_url(problems)) {
            result = http::build(plan, arguments, &BuildOptions { base_url, document_url, ..options });
            if result.is_ok() {
                let message = format!(
                    "the document has no absolute server URL; {PLACEHOLDER_SERVER} is used instead (see `--base-url`)"
                );
                output.note(&message);
            }
        }
    }
    result.map_err(|problems| {
        let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
        messages.join("\n")
    })
}

/// Adds the available credentials, and returns whether they are complete. Reports missing ones with a fix: set the
/// variables of the schemes, or choose variables.
pub(super) fn authorize(
    plan: &RequestPlan,
    request: &mut HttpRequest,
    available: &dyn Credentials,
    output: &mut Output,
) -> bool {
    let Err(missing) = http::authorize(request, plan, available) else { return true };
    let with_variables: Vec<_> =
        missing.iter().filter(|schemes| schemes.iter().all(|scheme| !scheme.env.is_empty())).collect();
    let join = |schemes: &[MissingCredential], text: fn(&MissingCredential) -> String| {
        schemes.iter().map(text).collect::<Vec<_>>().join(" with ")
    };
    let alternatives: Vec<String> = if with_variables.is_empty() {
        let name = |scheme: &MissingCredential| format!("`{}` ({})", scheme.scheme, scheme.remedy);
        missing.iter().map(|schemes| join(schemes, name)).collect()
    } else {
        let variable = |scheme: &MissingCredential| format!("`{}`: set {}", scheme.scheme, scheme.env);
        with_variables.into_iter().map(|schemes| join(schemes, variable)).collect()
    };
    output.note(&format!("there is no credential for {}", alternatives.join(", or ")));
    false
}

/// Adds the headers of the command line that the request lacks. Values are treated as secrets.
pub(super) fn add_headers(task: &Call, request: &mut HttpRequest, output: &mut Output) {
    match headers(&task.requests) {
        Ok(headers) => {
            let added = headers.into_iter().filter(|(name, _)| request.header(name).is_none());
            let masked = |value| if task.show_secrets { value } else { REDACTED.to_owned() };
            let added: Vec<_> = added.map(|(name, value)| (name.to_owned(), masked(value))).collect();
            request.headers.extend(added);
        }
        Err(error) => output.note(&error),
    }
}

/// Whether no security alternative has environment variables for all its schemes, so that setting variables cannot
/// satisfy any.
pub(super) fn lacks_variables(plan: &RequestPlan) -> bool {
    let has_variable = |scheme: &SecurityScheme| !scheme.env.as_str().is_empty();
    !plan.security.iter().any(|alternative| alternative.schemes.iter().all(has_variable))
}

pub(super) fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
