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
const INVALID_OUTPUT_CODE: &str = "INVALID_OUTPUT";
/// Maximum length of the output that an error quotes, in characters.
const MAX_QUOTED_CHARS: usize = 200;

/// Returns the outcome of a call whose program has ended.
pub(super) fn outcome(plan: &CommandPlan, output: &ExecOutput) -> Result<ToolResult, ToolError> {
    let described_code = |code| plan.exit_codes.iter().find(|meaning| meaning.code == code);
    let other_code = || described_code(ExitCode::OTHER).filter(|_| !output.success());
    let meaning = described_code(output.exit_code).or_else(other_code);
    let success = meaning.map_or(output.success(), |meaning| meaning.success);
    if plan.output == CommandOutput::Envelope
        && let Some(result) = envelope(output, meaning, success)
    {
        return result;
    }
    let message = meaning.map_or("", |ExitCode { message, .. }| message.as_str());
    if !success {
        return Err(ToolError::failed_with(FAILED, failure_text(message, output)));
    }
    let is_other = meaning.is_some_and(|meaning| meaning.code == ExitCode::OTHER);
    if is_other && plan.output == CommandOutput::Text {
        let mut result = text_result(failure_text(message, output), output);
        result.details["ok"] = Value::Bool(false);
        return Ok(result);
    }
    if !message.is_empty() && output.stdout.trim().is_empty() {
        return Ok(text_result(message.to_owned(), output));
    }
    let mut result = match plan.output {
        CommandOutput::Text => text_result(with_notice(&output.stdout, output.stdout_dropped), output),
        CommandOutput::Json => ToolResult::json(parse_json(output)?),
        CommandOutput::JsonLines => lines(output)?,
        CommandOutput::Envelope => {
            return Err(invalid_output(
                "has no member `result`, `results` or `error`",
                &output.stdout,
                output,
            ));
        }
    };
    // If the plan does not describe the exit code, the code is part of the result.
    let header = if is_other { exit_text(message, output) + &errors(output) } else { message.to_owned() };
    if !header.is_empty() {
        result.content.insert(0, Content::Text(header));
    }
    Ok(result)
}

/// Describes a program that ended with an exit code other than 0.
fn failure_text(message: &str, output: &ExecOutput) -> String {
    format!(
        "{}{}{}",
        exit_text(message, output),
        stream("stdout", &output.stdout, output.stdout_dropped),
        errors(output)
    )
}

/// Returns the plan's description of an exit code, and the code.
fn exit_text(message: &str, output: &ExecOutput) -> String {
    let separator = if message.is_empty() { "" } else { "\n" };
    format!("{message}{separator}exit code {}", output.exit_code)
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

/// Returns a stream with a notice about the omitted bytes.
fn with_notice(stream: &str, dropped: u64) -> String {
    match dropped {
        0 => stream.to_owned(),
        dropped => format!("{}\n{}", stream.trim_end_matches('\n'), truncated(dropped)),
    }
}

fn truncated(dropped: u64) -> String {
    format!("... [truncated: {dropped} more bytes]")
}

fn text_result(text: String, output: &ExecOutput) -> ToolResult {
    let mut details = json!({ "exit_code": output.exit_code });
    if !output.stderr.is_empty() {
        details["stderr"] = Value::from(output.stderr.as_str());
    }
    let mut result = ToolResult::text(text).with_details(details);
    result.structured = Structured::Missing("the output is text".into());
    result
}

/// Returns the error for output that cannot be parsed, with the start of the output, the exit code, and the standard
/// error.
fn invalid_output(problem: &str, stdout: &str, output: &ExecOutput) -> ToolError {
    let start = match stdout.trim() {
        "" => "there is none".to_owned(),
        text => format!("it begins with: {}", cut(text, MAX_QUOTED_CHARS)),
    };
    let code = if output.success() { String::new() } else { format!("\n{}", exit_text("", output)) };
    let text = format!("the output of the program {problem}; {start}{code}{}", errors(output));
    ToolError::failed_with(INVALID_OUTPUT_CODE, text)
}

fn parse_json(output: &ExecOutput) -> Result<Value, ToolError> {
    if output.stdout_dropped > 0 {
        let kept = output.stdout.len();
        let problem = format!("is too long to be read: only the first {kept} bytes of it were kept");
        return Err(invalid_output(&problem, &output.stdout, output));
    }
    serde_json::from_str(&output.stdout)
        .map_err(|error| invalid_output(&format!("is not JSON ({error})"), &output.stdout, output))
}

/// Parses a JSON value on each line. The last line of truncated output is incomplete.
fn lines(output: &ExecOutput) -> Result<ToolResult, ToolError> {
    let complete = match output.stdout_dropped {
        0 => output.stdout.as_str(),
        _ => output.stdout.rsplit_once('\n').map_or("", |(complete, _)| complete),
    };
    let numbered = complete.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let values = numbered.map(|(index, line)| {
        let problem = |error| format!("is not JSON in line {} ({error})", index + 1);
        serde_json::from_str::<Value>(line).map_err(|error| invalid_output(&problem(error), line, output))
    });
    let result = ToolResult::json(values.collect::<Result<Value, ToolError>>()?);
    if output.stdout_dropped == 0 {
        return Ok(result);
    }
    let dropped = (output.stdout.len() - complete.len()) as u64 + output.stdout_dropped;
    Ok(result.with_content(Content::Text(truncated(dropped))))
}

/// Parses `{"result"}`, `{"results"}` or `{"error", "code"}`. Returns `None` if the output has none of these members,
/// or if a program failed without reporting an error.
fn envelope(
    output: &ExecOutput,
    meaning: Option<&ExitCode>,
    success: bool,
) -> Option<Result<ToolResult, ToolError>> {
    let members = match parse_json(output) {
        Ok(Value::Object(members)) => members,
        Ok(_) => return success.then(|| Err(invalid_output("is not an object", &output.stdout, output))),
        Err(reason) => return success.then_some(Err(reason)),
    };
    let is_error = |error: &&Value| !matches!(error, Value::Null | Value::Bool(false)) && **error != "";
    if let Some(error) = members.get("error").filter(is_error) {
        let code = members.get("code").filter(|code| !code.is_null()).map(text_of);
        let code = code.map_or(FAILED.to_owned(), std::borrow::Cow::into_owned);
        let text = text_of(error);
        // The program describes its error. Models do not see the exit code, unless the plan describes it.
        let text = match meaning.map_or("", |meaning| meaning.message.as_str()) {
            "" => text.into_owned(),
            message => format!("{message}\n{text}"),
        };
        let detail = match errors(output) {
            none if none.is_empty() => none,
            errors => format!("{}{errors}", exit_text(&text, output)),
        };
        return Some(Err(ToolError::failed_with(code, text).with_operator_detail(detail)));
    }
    let value = members.get("result").or_else(|| members.get("results")).filter(|_| success)?;
    Some(Ok(match value {
        Value::String(text) => text_result(text.clone(), output),
        value => ToolResult::json(value.clone()),
    }))
}
