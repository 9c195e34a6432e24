//! The errors of programs that did not run to completion.

use std::fmt;
use std::time::Duration;

use super::ExecOutput;
use crate::call::error::ToolError;

/// Why a program did not run to completion. `Display` is a message for the model.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum ExecError {
    /// The executor cannot enforce the requested options, so nothing was run.
    Unsupported {
        /// The executor, such as `the local executor`.
        executor: &'static str,
        /// The options that it cannot enforce.
        options: Vec<&'static str>,
        /// The reason, and the executor or setting that would enforce them.
        reason: String,
    },
    /// The program is banned.
    Banned {
        /// The program.
        program: String,
    },
    /// The context allows no programs.
    Denied {
        /// The program.
        program: String,
    },
    /// The command or an option is invalid.
    Invalid {
        /// The error message.
        message: String,
    },
    /// The program could not be started.
    Start {
        /// The program.
        program: String,
        /// The reason.
        message: String,
    },
    /// The program reached its time limit and was killed.
    Timeout {
        /// The time limit.
        duration: Duration,
        /// The output up to that point.
        output: Box<ExecOutput>,
    },
    /// The call was cancelled and the program was killed.
    Cancelled,
    /// The end of the program was not observed.
    Lost {
        /// The reason.
        message: String,
    },
}

impl ExecError {
    #[doc(hidden)]
    pub fn invalid(message: impl Into<String>) -> ExecError {
        ExecError::Invalid { message: message.into() }
    }
}

impl fmt::Display for ExecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExecError::Unsupported { executor, options, reason } => {
                write!(f, "{executor} cannot enforce {}, so nothing was run: {reason}", options.join(", "))
            }
            ExecError::Banned { program } => write!(f, "Command '{program}' is banned for security reasons"),
            ExecError::Denied { program } => {
                write!(f, "cannot start '{program}': this context does not allow programs")
            }
            ExecError::Invalid { message } => f.write_str(message),
            ExecError::Start { program, message } => write!(f, "cannot start '{program}': {message}"),
            ExecError::Timeout { duration, .. } => write!(f, "Command timed out after {duration:?}"),
            ExecError::Cancelled => f.write_str("Cancelled"),
            ExecError::Lost { message } => write!(f, "the command was lost: {message}"),
        }
    }
}

toolgen_core::__readable_debug!(ExecError);

impl std::error::Error for ExecError {}

impl From<ExecError> for ToolError {
    fn from(error: ExecError) -> ToolError {
        match error {
            ExecError::Unsupported { .. } | ExecError::Banned { .. } | ExecError::Denied { .. } => {
                ToolError::denied(error.to_string())
            }
            ExecError::Timeout { duration, .. } => ToolError::Timeout { duration },
            ExecError::Cancelled => ToolError::Cancelled,
            ExecError::Invalid { .. } | ExecError::Start { .. } | ExecError::Lost { .. } => {
                ToolError::failed(error.to_string())
            }
        }
    }
}
