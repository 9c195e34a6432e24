//! A dry run of a call: prints the request, the command or the call of an MCP server, and runs nothing.

use std::io;

use serde_json::{Value, json};
use toolgen::Tool;
use toolgen_runtime::engine::http::{self, Body, HttpRequest};
use toolgen_runtime::spec::mcp::transport;
use toolgen_runtime::spec::plan::{self, CommandPlan, ExecutionPlan, McpPlan, McpTransport, RequestPlan};

use super::super::Outcome;
use super::super::args::{Call, CallFormat};
use super::super::engines::{DryRunCredentials, credentials, oauth_variable};
use super::super::output::Output;
use super::shell_words::{Part, word};
use super::{command, curl, request};

/// Prints what a call with these valid arguments would do.
pub(super) fn run(task: &Call, tool: &Tool, arguments: &Value, output: &mut Output) -> io::Result<Outcome> {
    let name = tool.spec.name.as_str();
    let message = match &tool.call {
        ExecutionPlan::Http(plan) => return show_request(task, tool, plan, arguments, output),
        other if task.format == CallFormat::Curl => {
            format!("`--format curl` prints an HTTP request, and `{name}` {}", other_kind(other))
        }
        ExecutionPlan::Command(plan) => return show_command(task, tool, plan, arguments, output),
        ExecutionPlan::Mcp(plan) => return show_mcp_call(task, plan, arguments, output),
        other => format!("there is no request and no command to show: `{name}` {}", other_kind(other)),
    };
    output.error(&message);
    Ok(Outcome::Problems)
}

/// Returns what a tool does that sends no HTTP request, after its name.
fn other_kind(call: &ExecutionPlan) -> String {
    match call {
        ExecutionPlan::Http(_) => "sends a request".to_owned(),
        ExecutionPlan::Command(_) => "runs a command".to_owned(),
        ExecutionPlan::Mcp(plan) => format!("is a tool of the MCP server `{}`", plan.server.alias),
        ExecutionPlan::Compose(_) => {
            let mut names = call.tools();
            names.sort_unstable();
            names.dedup();
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("calls {}; show calls of these, or try it with `cargo toolgen test`", names.join(", "))
        }
        ExecutionPlan::Complete(_) => "ends the loop of its agent".to_owned(),
        ExecutionPlan::Effect(plan) => format!("is the effect `{}`, which a program handles", plan.name),
        ExecutionPlan::Agent(_) => "is an agent, whose model decides what to call".to_owned(),
        ExecutionPlan::Function => "is a function, which a program implements".to_owned(),
        _ => "is a tool of another kind".to_owned(),
    }
}

fn show_request(
    task: &Call,
    tool: &Tool,
    plan: &RequestPlan,
    arguments: &Value,
    output: &mut Output,
) -> io::Result<Outcome> {
    let defaults = plan.defaults.then(|| tool.spec.with_defaults(arguments.clone()));
    let arguments = defaults.as_ref().unwrap_or(arguments);
    let mut request = match request::build(task, plan, arguments, output) {
        Ok(request) => request,
        Err(message) => {
            output.error(&message);
            return Ok(Outcome::Problems);
        }
    };
    if task.format == CallFormat::Curl && !task.show_secrets {
        let line = curl_with_variables(task, plan, request, output);
        output.line(&line)?;
        return Ok(Outcome::Fine);
    }
    let available =
        DryRunCredentials { env_credentials: credentials(&task.selection.options), requests: &task.requests };
    request::authorize(plan, &mut request, &available, output);
    request::add_headers(task, &mut request, output);
    match task.format {
        CallFormat::Human => output.line(&format_request(&request, task.show_secrets))?,
        CallFormat::Json => print_json(&request_json(&request, task.show_secrets), output)?,
        CallFormat::Curl => {
            let markers = curl::Markers::new(task, &request);
            output.line(&curl::line(&request, &markers, &[], identity(task)))?;
        }
    }
    Ok(Outcome::Fine)
}

/// Returns a `curl` command whose credentials are variables.
fn curl_with_variables(
    task: &Call,
    plan: &RequestPlan,
    mut request: HttpRequest,
    output: &mut Output,
) -> String {
    let mut markers = curl::Markers::new(task, &request);
    if !request::authorize(plan, &mut request, &markers, output) {
        // The command is complete once the variables that the note names are set.
        markers.with_unset = true;
        let _ = http::authorize(&mut request, plan, &markers);
    }
    let is_needed =
        |id: &str| plan.security.iter().flat_map(|all| &all.schemes).any(|scheme| scheme.id == *id);
    for (scheme, _) in task.requests.oauth.iter().filter(|(scheme, _)| is_needed(scheme)) {
        let variable = oauth_variable(scheme, "ACCESS_TOKEN");
        output.note(&format!(
            "a dry run requests no token of `{scheme}`: set {variable} to one before you run the command"
        ));
    }
    let is_absent = |name: &str| request.header(name).is_none();
    let headers = task.requests.headers.iter().filter(|(name, _)| is_absent(name));
    let headers: Vec<(String, Part)> =
        headers.map(|(name, variable)| (name.clone(), Part::Variable(variable.clone()))).collect();
    curl::line(&request, &markers, &headers, identity(task))
}

/// Returns the files of the client certificate and of its key.
fn identity(task: &Call) -> Option<(&str, &str)> {
    let (certificate, key) = task.requests.identity()?;
    Some((certificate.to_str()?, key.to_str()?))
}

fn show_command(
    task: &Call,
    tool: &Tool,
    plan: &CommandPlan,
    arguments: &Value,
    output: &mut Output,
) -> io::Result<Outcome> {
    match command::describe(plan::Tool::from(tool.clone()), plan, arguments.clone(), task) {
        Ok(command) if task.format == CallFormat::Json => {
            print_json(&command.json(task.show_secrets), output)?;
        }
        Ok(command) => {
            output.line(&command.shell_line(task.show_secrets))?;
            if let Some(restrictions) = command.restrictions() {
                output.note(restrictions);
            }
        }
        Err(error) => {
            output.error(&error.to_string());
            return Ok(Outcome::Problems);
        }
    }
    Ok(Outcome::Fine)
}

/// Prints the call of an MCP server. Variables are shown by name only: the server gets their values when it starts.
fn show_mcp_call(task: &Call, plan: &McpPlan, arguments: &Value, output: &mut Output) -> io::Result<Outcome> {
    let (server, tool) = (plan.server.alias.as_str(), plan.tool.as_str());
    if task.format == CallFormat::Json {
        let transport = transport(&plan.server.transport);
        let call = json!({"server": server, "transport": transport, "tool": tool, "arguments": arguments});
        print_json(&call, output)?;
        return Ok(Outcome::Fine);
    }
    output.line(&format!("tools/call {tool}\nServer: {server}"))?;
    match &plan.server.transport {
        McpTransport::Stdio { argv, env, inherit, work_dir } => {
            let words: Vec<String> = argv.iter().map(|argument| word(argument)).collect();
            output.line(&format!("Command: {}", words.join(" ")))?;
            if !work_dir.is_empty() {
                output.line(&format!("Directory: {work_dir}"))?;
            }
            let names =
                env.iter().map(|(name, _)| name.as_str()).chain(inherit.iter().map(|name| name.as_str()));
            let mut names: Vec<&str> = names.collect();
            names.sort_unstable();
            names.dedup();
            if !names.is_empty() {
                output.line(&format!("Variables: {}", names.join(", ")))?;
            }
        }
        McpTransport::Http { url, headers, bearer } => {
            output.line(&format!("URL: {url}"))?;
            if !bearer.is_empty() {
                output.line(&format!("Authorization: Bearer ${bearer}"))?;
            }
            for (name, variable) in headers.iter() {
                output.line(&format!("{name}: ${variable}"))?;
            }
        }
    }
    output.line(&format!("\n{arguments:#}"))?;
    Ok(Outcome::Fine)
}

/// Prints a JSON value on one line, for programs.
fn print_json(value: &Value, output: &mut Output) -> io::Result<()> {
    output.json(value)?;
    output.line("")
}

/// Formats a request for people: request line, headers and, after an empty line, the body.
fn format_request(request: &HttpRequest, show_secrets: bool) -> String {
    let (url, headers) = visible_parts(request, show_secrets);
    let mut out = format!("{} {url}", request.method);
    for (name, value) in headers {
        out.push_str(&format!("\n{name}: {value}"));
    }
    let bytes = match &request.body {
        Body::None => return out,
        Body::Text(text) => text.as_bytes(),
        Body::Bytes(bytes) => bytes,
    };
    let body = match std::str::from_utf8(bytes) {
        Ok(text) => {
            serde_json::from_str::<Value>(text).map_or_else(|_| text.to_owned(), |json| format!("{json:#}"))
        }
        Err(_) => format!("[{} bytes]", bytes.len()),
    };
    format!("{out}\n\n{body}")
}

/// Returns the URL and the headers of a request. Secrets are masked unless `show_secrets` is set.
fn visible_parts(request: &HttpRequest, show_secrets: bool) -> (String, Vec<(String, String)>) {
    if show_secrets {
        (request.url.clone(), request.headers.clone())
    } else {
        (request.redacted_url(), request.redacted_headers())
    }
}

/// Returns `{"method", "url", "headers": [[name, value]], "body": {"kind", "value"}}`.
fn request_json(request: &HttpRequest, show_secrets: bool) -> Value {
    let (url, headers) = visible_parts(request, show_secrets);
    let body = match &request.body {
        Body::None => json!({"kind": "none", "value": null}),
        Body::Text(text) => json!({"kind": "text", "value": text}),
        Body::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => json!({"kind": "text", "value": text}),
            Err(_) => json!({"kind": "base64", "value": request::base64(bytes)}),
        },
    };
    json!({ "method": request.method, "url": url, "headers": headers, "body": body })
}
