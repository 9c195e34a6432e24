//! The outcome of a recorded call.

use std::time::Duration;

use serde_json::{Map, Value, json};

use toolgen_kernel::call::codes;
use toolgen_kernel::call::control::Control;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::result::{Content, ToolResult};

/// The outcome of a recorded call.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "nearly all values are of the larger variant")]
#[non_exhaustive]
pub enum RecordedOutcome {
    /// The tool ran and returned this result.
    Answered(Result<ToolResult, ToolError>),
    /// A layer refused the call, and the tool did not run: because of a rule, a missing approval, or invalid
    /// arguments.
    Refused {
        /// The code of the error.
        code: String,
        /// The message for operators.
        message: String,
    },
}

impl RecordedOutcome {
    /// Returns `result`, `error` or `refused`: the member of a call in a file that holds the outcome.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            RecordedOutcome::Answered(Ok(_)) => "result",
            RecordedOutcome::Answered(Err(_)) => "error",
            RecordedOutcome::Refused { .. } => "refused",
        }
    }

    /// Returns the member of a call that holds the outcome.
    pub(super) fn to_member(&self) -> (&'static str, Value) {
        let member = match self {
            RecordedOutcome::Answered(Ok(result)) => {
                let mut member = result.to_json();
                if let Control::Complete { .. } = &result.control {
                    // An enum of strings and JSON always serializes.
                    member["control"] = serde_json::to_value(&result.control).unwrap_or_default();
                }
                member
            }
            RecordedOutcome::Answered(Err(error)) => {
                json!({ "code": error.code(), "message": error.operator_text() })
            }
            RecordedOutcome::Refused { code, message } => {
                json!({ "code": code, "message": message })
            }
        };
        (self.kind(), member)
    }

    /// Reads the outcome from a call of a file.
    pub(super) fn read(call: &Map<String, Value>) -> Result<RecordedOutcome, String> {
        let [result, error, refused] = ["result", "error", "refused"].map(|key| call.get(key));
        match (result, error, refused) {
            (Some(result), None, None) => read_result(result)
                .map(|result| RecordedOutcome::Answered(Ok(result)))
                .map_err(|reason| format!("/result{reason}")),
            (None, Some(error), None) => {
                let (code, message) = read_error(error).map_err(|reason| format!("/error{reason}"))?;
                Ok(RecordedOutcome::Answered(Err(rebuild_error(&code, &message))))
            }
            (None, None, Some(refused)) => {
                let (code, message) = read_error(refused).map_err(|reason| format!("/refused{reason}"))?;
                Ok(RecordedOutcome::Refused { code, message })
            }
            _ => Err(": one of `result`, `error` and `refused` is expected".to_owned()),
        }
    }

    /// Returns a short description of the outcome.
    pub(super) fn summary(&self) -> String {
        match self {
            RecordedOutcome::Answered(Ok(result)) if result.is_error() => "an error as its result".to_owned(),
            RecordedOutcome::Answered(Ok(_)) => "a result".to_owned(),
            RecordedOutcome::Answered(Err(reason)) => format!("the error {} ({reason})", reason.code()),
            RecordedOutcome::Refused { code, message } => format!("refused with {code} ({message})"),
        }
    }
}

fn read_error(error: &Value) -> Result<(String, String), String> {
    let text = |key: &str| {
        let text = error.get(key).and_then(Value::as_str);
        text.map(str::to_owned).ok_or_else(|| format!("/{key}: a string is missing"))
    };
    Ok((codes::current(&text("code")?).to_owned(), text("message")?))
}

/// Reads a result from a record or a file.
pub(super) fn read_result(recorded: &Value) -> Result<ToolResult, String> {
    let content = recorded.get("content").ok_or("/content: it is missing")?;
    let content: Vec<Content> =
        serde_json::from_value(content.clone()).map_err(|error| format!("/content: {error}"))?;
    let mut result = ToolResult::empty();
    result.content = content;
    result.details = recorded.get("details").cloned().unwrap_or_default();
    result.child_loop_id = recorded.get("child_loop_id").and_then(Value::as_str).map(str::to_owned);
    if let Some(control) = recorded.get("control") {
        result.control =
            serde_json::from_value(control.clone()).map_err(|error| format!("/control: {error}"))?;
    }
    Ok(result)
}

/// Returns an error with this code and this message. If they identify a variant of [`ToolError`], the error is of that
/// variant.
pub(super) fn rebuild_error(code: &str, message: &str) -> ToolError {
    let variants = [
        Some(ToolError::Cancelled),
        Some(ToolError::denied(message)),
        message.strip_prefix("Invalid arguments: ").map(ToolError::invalid_args),
        message
            .strip_prefix("Tool exceeded timeout of ")
            .and_then(parse_duration)
            .map(|duration| ToolError::Timeout { duration }),
    ];
    let is_same = |error: &ToolError| error.code() == code && error.to_string() == message;
    let variant = variants.into_iter().flatten().find(is_same);
    variant.unwrap_or_else(|| ToolError::failed_with(code.to_owned(), message))
}

/// Reads a duration as `Debug` writes it, such as `1.5s`.
fn parse_duration(text: &str) -> Option<Duration> {
    let units = [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let (number, unit) =
        units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_preserve_code_message_and_kind() {
        for error in [
            ToolError::failed("it broke"),
            ToolError::failed_with("resource_locked", "locked"),
            ToolError::Cancelled,
            ToolError::denied("no"),
            ToolError::invalid_args("too big"),
            ToolError::Timeout { duration: Duration::from_millis(1500) },
            ToolError::Timeout { duration: Duration::from_secs(30) },
            ToolError::Timeout { duration: Duration::from_millis(20) },
        ] {
            assert_eq!(rebuild_error(error.code(), &error.to_string()), error);
        }
        let custom = rebuild_error("MISSING_PARAMETER", "Invalid arguments: /a: is missing");
        assert_eq!(
            (custom.code(), custom.to_string().as_str()),
            ("MISSING_PARAMETER", "Invalid arguments: /a: is missing")
        );
    }
}
