//! `call`: calls a tool without generating code.

mod arguments;
mod command;
mod request;
mod send;
mod value;

use std::io;

use serde_json::{Value, json};
use toolgen::Tool;
use toolgen_runtime::call::tool;
use toolgen_runtime::engine::http::{Body, HttpRequest};
use toolgen_runtime::schema::dialect;
use toolgen_runtime::spec;

use super::Outcome;
use super::args::Call;
use super::compile::{Compiled, compile_all, find_tools_or_report};
use super::output::Output;
use super::prompt;
use arguments::ArgumentInput;

/// Maximum number of tools to name if the user chose none.
const MAX_TOOLS_NAMED: usize = 20;

/// Calls the tool, or prints its request. Returns `Problems` if the arguments are invalid or the call failed; the
/// output is then the error that a model would receive.
pub(super) fn run(task: &Call, output: &mut Output) -> io::Result<Outcome> {
    if let Some(word) = &task.tool
        && arguments::pair(word).is_some()
    {
        output.error(&format!("the name of a tool comes before `{word}`"));
        return Ok(Outcome::Usage);
    }
    let input = match arguments::read(&task.arguments) {
        Ok(input) => input,
        Err(message) => {
            output.error(&message);
            return Ok(Outcome::Usage);
        }
    };
    let names = task.tool.as_slice();
    let (compiled, _) = compile_all(&task.selection, names, output);
    if compiled.iter().all(|compiled| compiled.program.is_none()) {
        return Ok(Outcome::Problems);
    }
    let Some(tools) = find_tools_or_report(&compiled, names, output) else { return Ok(Outcome::Problems) };
    if task.tool.is_none() {
        return ask(task, &tools, output);
    }
    let Some(&tool) = tools.first() else { return Ok(Outcome::Problems) };
    let all_tools: Vec<&Tool> = compiled.iter().flat_map(Compiled::tools).collect();
    call(task, tool, &all_tools, input, output)
}

/// Lets the user choose a tool and enter its arguments. Without a terminal, lists the tools.
fn ask(task: &Call, tools: &[&Tool], output: &mut Output) -> io::Result<Outcome> {
    if !output.can_prompt() {
        let names: Vec<&str> =
            tools.iter().take(MAX_TOOLS_NAMED).map(|tool| tool.spec.name.as_str()).collect();
        let more = match tools.len().saturating_sub(MAX_TOOLS_NAMED) {
            0 => String::new(),
            more => format!(" and {more} more, which `cargo toolgen list` shows"),
        };
        output.error(&format!("name a tool; there are {}{more}", names.join(", ")));
        return Ok(Outcome::Usage);
    }
    let (mut input, mut screen) = (io::stdin().lock(), io::stderr());
    let Some(tool) = prompt::tool(tools, &mut input, &mut screen)? else { return Ok(Outcome::Usage) };
    let words = prompt::arguments(tool, &mut input, &mut screen)?;
    match arguments::read(&words) {
        Ok(input) => call(task, tool, tools, input, output),
        Err(message) => {
            output.error(&message);
            Ok(Outcome::Usage)
        }
    }
}

fn call(
    task: &Call,
    tool: &Tool,
    all: &[&Tool],
    input: ArgumentInput,
    output: &mut Output,
) -> io::Result<Outcome> {
    let error = tool.call.http().and_then(|plan| request::unknown_variable(task, plan));
    let arguments = match error.map_or_else(|| input.for_tool(tool, task.requests.max_file), Err) {
        Ok(arguments) => arguments,
        Err(message) => {
            output.error(&message);
            return Ok(Outcome::Usage);
        }
    };
    // Arguments that are a JSON string are parsed as for vendors that send one, so that parse errors reach the model.
    if !task.dry_run {
        return send::run(task, tool, all, arguments, output);
    }
    match tool::arguments(&tool.spec, arguments, &dialect::JSON_SCHEMA) {
        Ok(arguments) => dry_run(task, tool, &arguments, output),
        Err(error) => {
            output.error(&error.to_string());
            output.note(&usage(tool));
            Ok(Outcome::Problems)
        }
    }
}

/// Returns the usage line of a tool: its name and its arguments.
fn usage(tool: &Tool) -> String {
    let is_file = |name: &str| arguments::is_file(tool, &[name]);
    let arguments = value::usage(tool.spec.input.shape(), &tool.spec.defs, &is_file);
    format!("`{}` takes {arguments}", tool.spec.name.as_str())
}

fn dry_run(task: &Call, tool: &Tool, arguments: &Value, output: &mut Output) -> io::Result<Outcome> {
    let plan = match &tool.call {
        spec::plan::ExecutionPlan::Http(plan) => plan,
        spec::plan::ExecutionPlan::Command(plan) => {
            let tool = spec::plan::Tool::from(tool.clone());
            return match command::describe(tool, plan, arguments.clone(), task) {
                Ok(command) => print_value(task, &command, output).map(|()| Outcome::Fine),
                Err(error) => {
                    output.error(&error.to_string());
                    Ok(Outcome::Problems)
                }
            };
        }
        spec::plan::ExecutionPlan::Mcp(plan) => {
            // Variables are shown by name only: the server gets their values when it starts.
            let transport = spec::mcp::transport(&plan.server.transport);
            let (server, tool) = (plan.server.alias.as_str(), plan.tool.as_str());
            let call =
                json!({"server": server, "transport": transport, "tool": tool, "arguments": arguments});
            return print_value(task, &call, output).map(|()| Outcome::Fine);
        }
        _ => {
            output.error("this tool is neither a request nor a command, so there is nothing to show");
            return Ok(Outcome::Problems);
        }
    };
    let defaults = plan.defaults.then(|| tool.spec.with_defaults(arguments.clone()));
    let arguments = defaults.as_ref().unwrap_or(arguments);
    let mut request = match request::build(task, plan, arguments, output) {
        Ok(request) => request,
        Err(message) => {
            output.error(&message);
            return Ok(Outcome::Problems);
        }
    };
    request::authorize(task, plan, &mut request, output);
    request::add_headers(task, &mut request, output);
    if task.format.json {
        print_value(task, &request_json(&request, task.show_secrets), output)?;
    } else {
        output.line(&format_request(&request, task.show_secrets))?;
    }
    Ok(Outcome::Fine)
}

/// Prints a JSON value: pretty-printed for people, on one line for programs.
fn print_value(task: &Call, value: &Value, output: &mut Output) -> io::Result<()> {
    if task.format.json {
        output.json(value)?;
        return output.line("");
    }
    output.line(&format!("{value:#}"))
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
