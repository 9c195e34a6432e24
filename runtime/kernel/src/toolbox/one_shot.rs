//! One-shot programs: read one JSON object with arguments, and print one JSON object with the result.
//!
//! Anything that can start a program can call the tools of such a program: a shell, a script, another agent.
//! [`run_call`] runs one call; [`main`] is a whole program around it.
//!
//! | output | exit status |
//! |---|---|
//! | `{"result": …}`: a string or any other value; `{"results": […]}`: an array | 0 |
//! | `{"error": "…", "code": "…"}`, with additional members where available, such as `problems` | 1 |
//! | the same, for a usage error | 2 |
//! | the same with the code `CANCELLED`: the program was interrupted | 130 |
//!
//! The codes are those of [`ToolError::code`]: `INVALID_INPUT` (not a JSON object), `MISSING_PARAMETER`,
//! `INVALID_PARAMS` (any other problem with arguments), `EXECUTION_ERROR` or the tool's own code, `TOOL_NOT_FOUND`,
//! `PERMISSION_DENIED`, `TIMEOUT`, and so on. Content other than text is in the member `content`, as in MCP.

#[cfg(feature = "one-shot")]
mod program;

#[cfg(feature = "one-shot")]
pub use program::{interrupted, main};

use serde_json::{Value, json};
use toolgen_core::internal::pointer::token_of;

use crate::call::Turn;
use crate::call::error::ToolError;
use crate::call::result::{Content, ToolResult};
use crate::call::structured::Structured;
use crate::call::{ToolCall, ToolResponse};
use crate::schema::shape::decode::ArgumentProblem;
use crate::toolbox::Toolbox;

/// Maximum size of the arguments, in bytes: 16 MiB.
pub const MAX_INPUT_BYTES: usize = 16 << 20;

/// The output of a one-shot program.
#[derive(Clone, Debug, PartialEq)]
pub struct OneShotOutput {
    json: Value,
    status: u8,
    detail: String,
}

impl OneShotOutput {
    /// The JSON object for standard output.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The exit status of the program.
    #[must_use]
    pub fn status(&self) -> u8 {
        self.status
    }

    /// The detail of an error that only the operator of the program may see, such as the variable to set. It contains
    /// no secrets, and is empty if there is no detail.
    #[must_use]
    pub fn operator_detail(&self) -> &str {
        &self.detail
    }

    fn new(json: Value, status: u8) -> OneShotOutput {
        OneShotOutput { json, status, detail: String::new() }
    }

    fn failed(error: &ToolError) -> OneShotOutput {
        let status = if *error == ToolError::Cancelled { 130 } else { 1 };
        let detail = match error {
            ToolError::Failed { detail, .. } | ToolError::Denied { detail, .. } => detail.clone(),
            _ => String::new(),
        };
        OneShotOutput { detail, ..OneShotOutput::new(error_json(error), status) }
    }

    fn of(response: &ToolResponse) -> OneShotOutput {
        match &response.outcome {
            Err(error) => OneShotOutput::failed(error),
            Ok(result) if reports_failure(result) => OneShotOutput::new(reported_error(result), 1),
            Ok(result) => OneShotOutput::new(success_json(result, response.declared.is_some()), 0),
        }
    }
}

/// Runs one call through all layers of a toolbox. `input` is a JSON object with the arguments; an empty input means
/// no arguments.
///
/// ```
/// use serde_json::json;
/// use toolgen_runtime::toolbox::one_shot;
/// use toolgen_runtime::{ToolboxContext, Registry, Turn, tool, toolset};
///
/// /// Adds two numbers.
/// #[tool(read_only, undocumented)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let toolbox = Registry::new(toolset![add])?.toolbox(ToolboxContext::new());
/// let turn = Turn::new("one-shot");
/// let answer = one_shot::run_call(&toolbox, "add", br#"{"a": 1, "b": 2}"#, &turn).await;
/// assert_eq!((answer.json(), answer.status()), (&json!({"result": 3}), 0));
/// let answer = one_shot::run_call(&toolbox, "add", br#"{"a": 1}"#, &turn).await;
/// assert_eq!(answer.json()["error"], "b is required");
/// assert_eq!(answer.json()["code"], "MISSING_PARAMETER");
/// # Ok(())
/// # }
/// ```
pub async fn run_call(toolbox: &Toolbox, tool: &str, input: &[u8], turn: &Turn) -> OneShotOutput {
    let arguments = match std::str::from_utf8(input) {
        _ if input.len() > MAX_INPUT_BYTES => Err(format!("it is longer than {MAX_INPUT_BYTES} bytes")),
        Ok(text) => Ok(Value::from(text)),
        Err(_) => Err("it is not UTF-8".to_owned()),
    };
    let arguments = match arguments {
        Ok(arguments) => arguments,
        Err(error) => return OneShotOutput::failed(&unreadable(&error)),
    };
    let response =
        OneShotOutput::of(&toolbox.run(ToolCall::new("one-shot", tool, arguments.clone()), turn).await);
    // Most responses have no detail, and need no second look at the arguments.
    if response.detail.is_empty() {
        return response;
    }
    let redactor = toolbox.inner().redactor(toolbox.inner().registry.index(tool));
    let (_, secrets) = redactor.arguments(arguments);
    OneShotOutput { detail: redactor.text(&response.detail, &secrets).into_owned(), ..response }
}

/// Returns the error for an input that cannot be parsed.
fn unreadable(reason: &str) -> ToolError {
    ToolError::failed_with("INVALID_INPUT", format!("Failed to parse input: {reason}"))
}

/// Returns `{"error", "code"}` and other members of the error.
fn error_json(error: &ToolError) -> Value {
    let mut out = error.to_json();
    let text = match error {
        ToolError::InvalidArgs { problems, .. } => match (error.code(), problems.as_slice()) {
            ("INVALID_INPUT", [problem]) => unreadable(&problem.message).to_string(),
            ("MISSING_PARAMETER", problems) => {
                required_message(problems).unwrap_or_else(|| error.to_string())
            }
            _ => error.to_string(),
        },
        ToolError::MissingDependencies(missing) => {
            let missing = missing.missing.iter().filter(|unmet| !unmet.optional);
            let messages: Vec<&str> = missing.map(|unmet| unmet.message.as_str()).collect();
            format!("{}: {}", out["message"].as_str().unwrap_or_default(), messages.join("; "))
        }
        _ => error.to_string(),
    };
    if let Some(members) = out.as_object_mut() {
        // This output has the text of missing prerequisites in `error`.
        members.shift_remove("message");
    }
    out["error"] = text.into();
    out["code"] = error.code().into();
    out
}

/// Returns the message that parameters are required, if each missing parameter has a name.
fn required_message(problems: &[ArgumentProblem]) -> Option<String> {
    let name = |problem: &ArgumentProblem| {
        let path = problem.pointer.strip_prefix('/')?.replace('/', ".");
        Some(format!("{} is required", token_of(&path)))
    };
    let names: Option<Vec<String>> = problems.iter().map(name).collect();
    names.map(|names| names.join("; "))
}

/// Whether a result reports a failure, of the tool itself or as the status of an HTTP response.
fn reports_failure(result: &ToolResult) -> bool {
    let details = &result.details;
    let is_http_error = details["ok"] == Value::Bool(false) && details["status"].is_u64();
    result.is_error() || is_http_error
}

fn reported_error(result: &ToolResult) -> Value {
    let text = match (result.to_text(), result.details["error"].as_str()) {
        (_, Some(error)) => error.to_owned(),
        (text, None) => text,
    };
    let code = result.details["code"].as_str().unwrap_or("EXECUTION_ERROR");
    json!({ "error": text, "code": code })
}

/// Returns `{"result"}` or `{"results"}`. The details of a result are used only if a model reads them, or if the tool
/// declares them; otherwise they are data for the program.
fn success_json(result: &ToolResult, is_declared: bool) -> Value {
    let text = result.to_text();
    let is_json = is_declared || matches!(result.structured, Structured::Json(_));
    let value = result.structured().ok().filter(|value| is_json || value.to_string() == text);
    let value = value.map_or_else(|| Value::from(text), |value| value.into_owned());
    let mut out = match value {
        Value::Array(_) => json!({ "results": value }),
        _ => json!({ "result": value }),
    };
    if result.content.iter().any(|content| !matches!(content, Content::Text(_))) {
        out["content"] = result.content.iter().map(Content::to_json).collect();
    }
    out
}
