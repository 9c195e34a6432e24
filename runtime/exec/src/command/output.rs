//! Parses the output of a program.

use serde_json::{Value, json};
use toolgen_kernel::base::truncate::cut;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::{Content, ToolResult};
use toolgen_kernel::call::structured::Structured;
use toolgen_kernel::spec::plan::{CommandOutput, CommandPlan, ExitCode};
use toolgen_kernel::spec::template::text_of;

use crate::ExecOutput;

/// The error code of a program that failed.
const FAILED: &str = "COMMAND_FAILED";
/// The error code of output that does not match the tool's declaration.
const UNREADABLE: &str = "INVALID_OUTPUT";
/// Maximum length of the output that an error quotes, in characters.
const QUOTED: usize = 200;

/// Returns the outcome of a call whose program has ended.
pub(super) fn outcome(plan: &CommandPlan, output: &ExecOutput) -> Result<ToolResult, ToolError> {
    let listed = |code| plan.exit_codes.iter().find(|meaning| meaning.code == code);
    let other = || listed(ExitCode::OTHER).filter(|_| !output.success());
    let meaning = listed(output.exit_code).or_else(other);
    let success = meaning.map_or(output.success(), |meaning| meaning.success);
    if plan.output == CommandOutput::Envelope
        && let Some(result) = envelope(output, meaning, success)
    {
        return result;
    }
    let message = meaning.map_or("", |ExitCode { message, .. }| message.as_str());
    if !success {
        return Err(ToolError::failed_with(FAILED, told(message, output)));
    }
    let is_other = meaning.is_some_and(|meaning| meaning.code == ExitCode::OTHER);
    if is_other && plan.output == CommandOutput::Text {
        let mut result = in_text(told(message, output), output);
        result.details["ok"] = Value::Bool(false);
        return Ok(result);
    }
    if !message.is_empty() && output.stdout.trim().is_empty() {
        return Ok(in_text(message.to_owned(), output));
    }
    let mut result = match plan.output {
        CommandOutput::Text => in_text(with_notice(&output.stdout, output.stdout_dropped), output),
        CommandOutput::Json => ToolResult::json(json_of(output)?),
        CommandOutput::JsonLines => lines(output)?,
        CommandOutput::Envelope => {
            return Err(unreadable("has no member `result`, `results` or `error`", &output.stdout, output));
        }
    };
    // If the plan does not describe the exit code, the code is part of the result.
    let above = if is_other { ended(message, output) + &errors(output) } else { message.to_owned() };
    if !above.is_empty() {
        result.content.insert(0, Content::Text(above));
    }
    Ok(result)
}

/// Describes a program that ended with an exit code other than 0.
fn told(message: &str, output: &ExecOutput) -> String {
    format!(
        "{}{}{}",
        ended(message, output),
        stream("stdout", &output.stdout, output.stdout_dropped),
        errors(output)
    )
}

/// Returns the plan's description of an exit code, and the code.
fn ended(message: &str, output: &ExecOutput) -> String {
    let end = if message.is_empty() { "" } else { "\n" };
    format!("{message}{end}exit code {}", output.exit_code)
}

/// Returns the standard error of a program, if it is not empty.
fn errors(output: &ExecOutput) -> String {
    stream("stderr", &output.stderr, output.stderr_dropped)
}

fn stream(name: &str, text: &str, dropped: u64) -> String {
    match text.trim() {
        "" => String::new(),
        _ => format!("\n{name}:\n{}", with_notice(text.trim_end(), dropped)),
    }
}

/// Returns a stream with a notice of the omitted bytes.
fn with_notice(stream: &str, dropped: u64) -> String {
    match dropped {
        0 => stream.to_owned(),
        dropped => format!("{}\n{}", stream.trim_end_matches('\n'), truncated(dropped)),
    }
}

fn truncated(dropped: u64) -> String {
    format!("... [truncated: {dropped} more bytes]")
}

fn in_text(text: String, output: &ExecOutput) -> ToolResult {
    let mut details = json!({ "exit_code": output.exit_code });
    if !output.stderr.is_empty() {
        details["stderr"] = Value::from(output.stderr.as_str());
    }
    let mut result = ToolResult::text(text).with_details(details);
    result.structured = Structured::Missing("the output is text".into());
    result
}

/// Returns the error of output that cannot be parsed: the start of it, the exit code, and the standard error.
fn unreadable(what: &str, stdout: &str, output: &ExecOutput) -> ToolError {
    let start = match stdout.trim() {
        "" => "there is none".to_owned(),
        text => format!("it begins with: {}", cut(text, QUOTED)),
    };
    let code = if output.success() { String::new() } else { format!("\n{}", ended("", output)) };
    let text = format!("the output of the program {what}; {start}{code}{}", errors(output));
    ToolError::failed_with(UNREADABLE, text)
}

fn json_of(output: &ExecOutput) -> Result<Value, ToolError> {
    if output.stdout_dropped > 0 {
        let max = output.stdout.len();
        let what = format!("is too long to be read: only the first {max} bytes of it were kept");
        return Err(unreadable(&what, &output.stdout, output));
    }
    serde_json::from_str(&output.stdout)
        .map_err(|error| unreadable(&format!("is not JSON ({error})"), &output.stdout, output))
}

/// Parses a JSON value on each line. The last line of truncated output is incomplete.
fn lines(output: &ExecOutput) -> Result<ToolResult, ToolError> {
    let whole = match output.stdout_dropped {
        0 => output.stdout.as_str(),
        _ => output.stdout.rsplit_once('\n').map_or("", |(whole, _)| whole),
    };
    let numbered = whole.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let values = numbered.map(|(index, line)| {
        let what = |error| format!("is not JSON in line {} ({error})", index + 1);
        serde_json::from_str::<Value>(line).map_err(|error| unreadable(&what(error), line, output))
    });
    let result = ToolResult::json(values.collect::<Result<Value, ToolError>>()?);
    if output.stdout_dropped == 0 {
        return Ok(result);
    }
    let dropped = (output.stdout.len() - whole.len()) as u64 + output.stdout_dropped;
    Ok(result.with_content(Content::Text(truncated(dropped))))
}

/// Parses `{"result"}`, `{"results"}` or `{"error", "code"}`. Returns `None` if the output has none of these members,
/// or if a program failed without reporting an error.
fn envelope(
    output: &ExecOutput,
    meaning: Option<&ExitCode>,
    success: bool,
) -> Option<Result<ToolResult, ToolError>> {
    let read = match json_of(output) {
        Ok(Value::Object(members)) => members,
        Ok(_) => return success.then(|| Err(unreadable("is not an object", &output.stdout, output))),
        Err(reason) => return success.then_some(Err(reason)),
    };
    let is_error = |error: &&Value| !matches!(error, Value::Null | Value::Bool(false)) && **error != "";
    if let Some(error) = read.get("error").filter(is_error) {
        let code = read.get("code").filter(|code| !code.is_null()).map(text_of);
        let code = code.map_or(FAILED.to_owned(), std::borrow::Cow::into_owned);
        let text = text_of(error);
        // The program describes its error. The exit code is omitted for models, unless the plan describes it.
        let text = match meaning.map_or("", |meaning| meaning.message.as_str()) {
            "" => text.into_owned(),
            message => format!("{message}\n{text}"),
        };
        let detail = match errors(output) {
            none if none.is_empty() => none,
            errors => format!("{}{errors}", ended(&text, output)),
        };
        return Some(Err(ToolError::failed_with(code, text).with_operator_detail(detail)));
    }
    let value = read.get("result").or_else(|| read.get("results")).filter(|_| success)?;
    Some(Ok(match value {
        Value::String(text) => in_text(text.clone(), output),
        value => ToolResult::json(value.clone()),
    }))
}
