//! The errors of tool calls.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde_json::{Value, json};

use crate::base::future::discard;
use crate::base::panics;
use crate::call::approval::ApprovalRequest;
use crate::call::control::{InputRequest, PendingInputCall};
use crate::call::unmet_requirements::{self, MissingDependencies};
use crate::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};

/// The maximum length of the message about invalid arguments, in bytes. Further problems are only counted.
const MAX_PROBLEM_TEXT_BYTES: usize = 32 << 10;

/// Why a tool call returned no result.
///
/// `Display` is the stable text for the model, [`operator_text`](Self::operator_text) the text for logs and
/// operators, and [`code`](Self::code) is for machines.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum ToolError {
    /// The tool ran and failed: `{message}`.
    Failed {
        /// The error message, without anything that a model must not see.
        message: String,
        /// The error code; `EXECUTION_ERROR` unless the tool sets its own.
        code: Cow<'static, str>,
        /// Additional information for operators, such as the causes; may be empty. A model never sees it.
        detail: String,
    },
    /// No such tool exists: `Tool not found: {name}`. The text of a [`ToolResponse`](crate::ToolResponse) adds `; did
    /// you mean '{suggestion}'?` if there is a similar name.
    NotFound {
        /// The name that was called.
        name: String,
        /// The name of a similar tool that the caller may use.
        suggestion: Option<String>,
    },
    /// The arguments are invalid: `Invalid arguments: {message}`.
    InvalidArgs {
        /// The errors in the arguments.
        message: String,
        /// The individual problems, where known.
        problems: Vec<ArgumentProblem>,
    },
    /// The caller cancelled the call: `Cancelled`.
    Cancelled,
    /// The call reached its time limit: `Tool exceeded timeout of {duration:?}`.
    Timeout {
        /// The time limit.
        duration: Duration,
    },
    /// A policy forbids the call: `{message}`.
    Denied {
        /// The reason, without anything a model must not see.
        message: String,
        /// Additional information for operators, such as what would allow the call; may be empty. A model never sees
        /// it.
        detail: String,
    },
    /// The call waits for an approval: `The call was not executed: it needs an approval. {reasons}`. Pass the request
    /// to [`Toolbox::resume`](crate::Toolbox::resume) to continue.
    ApprovalRequired(Box<ApprovalRequest>),
    /// The tool needs input and no handler could supply it: `The call was not finished: it needs input. {message}
    /// {schema}`. Pass the request to [`Toolbox::resume_with_input`](crate::Toolbox::resume_with_input) to continue.
    InputRequired(Box<PendingInputCall>),
    /// Prerequisites of the call are not met: `Cannot execute '{tool}': prerequisites not met.` and a list of them.
    MissingDependencies(Box<MissingDependencies>),
}

impl ToolError {
    /// Creates the error for a tool that ran and failed.
    pub fn failed(message: impl Into<String>) -> ToolError {
        ToolError::failed_with("EXECUTION_ERROR", message)
    }

    /// Creates the error for a tool that ran and failed, with its own error code.
    pub fn failed_with(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> ToolError {
        ToolError::Failed { message: message.into(), code: code.into(), detail: String::new() }
    }

    /// Adds detail for operators, which appears in logs and audit records; a model never sees it. Errors other than
    /// [`Failed`](Self::Failed) and [`Denied`](Self::Denied) stay unchanged.
    #[must_use]
    pub fn with_operator_detail(mut self, text: impl Into<String>) -> ToolError {
        if let ToolError::Failed { detail, .. } | ToolError::Denied { detail, .. } = &mut self {
            *detail = text.into();
        }
        self
    }

    /// The text for operators: the detail if there is one, otherwise the text for the model.
    #[must_use]
    pub fn operator_text(&self) -> Cow<'_, str> {
        match self {
            ToolError::Failed { detail, .. } | ToolError::Denied { detail, .. } if !detail.is_empty() => {
                Cow::Borrowed(detail)
            }
            other => Cow::Owned(other.to_string()),
        }
    }

    /// Creates the error for arguments that violate a rule that their schema does not express.
    pub fn invalid_args(message: impl Into<String>) -> ToolError {
        ToolError::InvalidArgs { message: message.into(), problems: Vec::new() }
    }

    /// Creates the error for arguments that do not match their schema. If the message exceeds 32 KiB, further problems
    /// are only counted.
    #[must_use]
    pub fn from_problems(mut problems: Vec<ArgumentProblem>) -> ToolError {
        let mut message = String::new();
        let mut reported = 0;
        for problem in &problems {
            let line = if problem.pointer.is_empty() || problem.message.contains(&problem.pointer) {
                Cow::Borrowed(&problem.message)
            } else {
                Cow::Owned(format!("{}: {}", problem.pointer, problem.message))
            };
            if reported > 0 && message.len() + line.len() > MAX_PROBLEM_TEXT_BYTES {
                message.push_str(&format!("\nand {} more problems", problems.len() - reported));
                break;
            }
            if reported > 0 {
                message.push('\n');
            }
            message.push_str(&line);
            reported += 1;
        }
        problems.truncate(reported);
        ToolError::InvalidArgs { message, problems }
    }

    /// Creates the error for a call that a policy forbids.
    pub fn denied(message: impl Into<String>) -> ToolError {
        ToolError::Denied { message: message.into(), detail: String::new() }
    }

    /// Creates the error for a panic. The panic message, its location and how to fix it become the operator detail,
    /// hidden from the model.
    #[doc(hidden)]
    pub fn panicked(payload: Box<dyn Any + Send>) -> ToolError {
        let error = ToolError::failed("tool panicked");
        let error = match panics::describe(&*payload) {
            Some(message) => error.with_operator_detail(format!("tool panicked: {message}")),
            None => error,
        };
        discard(payload);
        error
    }

    /// The error code for machines.
    ///
    /// `INVALID_INPUT` if the arguments are not an object, `MISSING_PARAMETER` if the only problem is missing
    /// arguments, `INVALID_PARAMS` for all other argument problems.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            ToolError::Failed { code, .. } => code,
            ToolError::NotFound { .. } => "TOOL_NOT_FOUND",
            ToolError::InvalidArgs { problems, .. } => arguments_code(problems),
            ToolError::Cancelled => "CANCELLED",
            ToolError::Timeout { .. } => "TIMEOUT",
            ToolError::Denied { .. } => "PERMISSION_DENIED",
            ToolError::ApprovalRequired(_) => "APPROVAL_REQUIRED",
            ToolError::InputRequired(_) => "INPUT_REQUIRED",
            ToolError::MissingDependencies(_) => unmet_requirements::CODE,
        }
    }

    /// The error as `{"error", "code"}`, with `problems` and `suggestion` if there are any. Missing dependencies are
    /// rendered as by [`MissingDependencies::to_json`].
    #[must_use]
    pub fn to_json(&self) -> Value {
        if let ToolError::MissingDependencies(missing) = self {
            return missing.to_json();
        }
        let mut out = json!({ "error": self.to_string(), "code": self.code() });
        match self {
            ToolError::InvalidArgs { problems, .. } if !problems.is_empty() => {
                let problems = problems
                    .iter()
                    .map(|problem| json!({ "pointer": problem.pointer, "message": problem.message }));
                out["problems"] = problems.collect();
            }
            ToolError::NotFound { suggestion: Some(suggestion), .. } => {
                out["suggestion"] = Value::from(suggestion.as_str());
            }
            _ => {}
        }
        out
    }
}

fn arguments_code(problems: &[ArgumentProblem]) -> &'static str {
    let is_missing = |problem: &ArgumentProblem| problem.kind == ArgumentProblemKind::Missing;
    let is_not_object =
        |problem: &ArgumentProblem| problem.pointer.is_empty() && problem.kind == ArgumentProblemKind::Type;
    if problems.iter().any(is_not_object) {
        "INVALID_INPUT"
    } else if !problems.is_empty() && problems.iter().all(is_missing) {
        "MISSING_PARAMETER"
    } else {
        "INVALID_PARAMS"
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolError::Failed { message, .. } | ToolError::Denied { message, .. } => f.write_str(message),
            ToolError::NotFound { name, .. } => write!(f, "Tool not found: {name}"),
            ToolError::InvalidArgs { message, .. } => write!(f, "Invalid arguments: {message}"),
            ToolError::Cancelled => f.write_str("Cancelled"),
            ToolError::ApprovalRequired(request) => {
                let reasons = request.reasons.join(" ");
                write!(f, "The call was not executed: it needs an approval. {reasons}")
            }
            ToolError::MissingDependencies(missing) => missing.fmt(f),
            ToolError::InputRequired(pending) => {
                let InputRequest { message, schema } = &pending.request;
                write!(f, "The call was not finished: it needs input. {message} {schema}")
            }
            ToolError::Timeout { duration } => write!(f, "Tool exceeded timeout of {duration:?}"),
        }
    }
}

/// `{code}: {text}`, followed in brackets by the information that is hidden from the model.
impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {self}", self.code())?;
        match self {
            ToolError::Failed { detail, .. } | ToolError::Denied { detail, .. } if !detail.is_empty() => {
                write!(f, " [{detail}]")
            }
            ToolError::NotFound { suggestion: Some(name), .. } => write!(f, " [did you mean '{name}'?]"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for ToolError {}

impl From<MissingDependencies> for ToolError {
    fn from(missing: MissingDependencies) -> Self {
        ToolError::MissingDependencies(Box::new(missing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(pointer: &str, kind: ArgumentProblemKind) -> ArgumentProblem {
        ArgumentProblem { pointer: pointer.to_owned(), kind, message: "is wrong".to_owned() }
    }

    #[test]
    fn problems_beyond_the_maximum_length_are_only_counted() {
        let long = |at: usize| problem(&format!("/{at}{}", "x".repeat(1_000)), ArgumentProblemKind::Value);
        let error = ToolError::from_problems((0..100).map(long).collect());
        let text = error.to_string();
        assert!(
            text.len() < 33_000 && text.ends_with("\nand 68 more problems"),
            "{}",
            &text[text.len() - 50..]
        );
        assert!(error.to_json().to_string().len() < 70_000);
        // The first problem is included regardless of its length.
        let problem = problem(&"x".repeat(40_000), ArgumentProblemKind::Value);
        assert!(ToolError::from_problems(vec![problem]).to_string().ends_with(": is wrong"));
    }

    #[test]
    fn error_messages_and_codes_are_stable() {
        use ArgumentProblemKind::{Missing, Type, Value};
        let not_found = ToolError::NotFound { name: "x".into(), suggestion: Some("y".into()) };
        let timeout = ToolError::Timeout { duration: Duration::from_millis(1500) };
        let two_problems = vec![problem("/a", Missing), problem("/b", Value)];
        let cases = [
            (ToolError::failed("it broke"), "it broke", "EXECUTION_ERROR"),
            (ToolError::failed_with("resource_locked", "locked"), "locked", "resource_locked"),
            (not_found, "Tool not found: x", "TOOL_NOT_FOUND"),
            (ToolError::invalid_args("too big"), "Invalid arguments: too big", "INVALID_PARAMS"),
            (
                ToolError::from_problems(vec![problem("", Type)]),
                "Invalid arguments: is wrong",
                "INVALID_INPUT",
            ),
            (
                ToolError::from_problems(vec![problem("/a", Missing)]),
                "Invalid arguments: /a: is wrong",
                "MISSING_PARAMETER",
            ),
            (
                ToolError::from_problems(two_problems),
                "Invalid arguments: /a: is wrong\n/b: is wrong",
                "INVALID_PARAMS",
            ),
            (ToolError::Cancelled, "Cancelled", "CANCELLED"),
            (timeout, "Tool exceeded timeout of 1.5s", "TIMEOUT"),
            (ToolError::denied("no"), "no", "PERMISSION_DENIED"),
        ];
        for (error, text, code) in cases {
            assert_eq!(error.to_string(), text);
            assert_eq!(error.code(), code, "{text}");
            assert_eq!(error.to_json()["code"], code);
        }
    }
}
