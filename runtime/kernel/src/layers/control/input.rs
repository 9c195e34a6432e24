//! Handlers of input requests.

use std::fmt;

use serde_json::Value;

use crate::base::future::BoxFuture;
use crate::base::redacted_debug::Redacted;
use crate::call::context::ToolContext;
use crate::call::control::InputRequest;
use crate::call::error::ToolError;
use crate::schema::shape::decode::ArgumentProblem;

/// Maximum number of times that an [`InputHandler`] is asked for one input before the call fails.
pub const MAX_INPUT_ATTEMPTS: u32 = 3;

/// Maximum number of inputs that a call may ask for.
pub const MAX_INPUT_ROUNDS: usize = 8;

/// Asks a person, or a program, for the input that a tool needs.
///
/// Set it with [`ToolboxBuilder::input_handler`](crate::toolbox::ToolboxBuilder::input_handler). The handler's time
/// does not count towards the tool's timeout; its future is dropped when the call is abandoned.
///
/// ```
/// use serde_json::json;
/// use toolgen_runtime::layers::control::{InputReply, InputHandler, InputQuestion};
/// use toolgen_runtime::{BoxFuture, ToolContext, ToolError};
///
/// struct ConfirmOnce;
///
/// impl InputHandler for ConfirmOnce {
///     fn ask<'a>(
///         &'a self,
///         question: InputQuestion<'a>,
///         _ctx: &'a ToolContext,
///     ) -> BoxFuture<'a, Result<InputReply, ToolError>> {
///         let is_first = question.attempt == 1;
///         Box::pin(async move {
///             Ok(if is_first { InputReply::Given(json!({"sure": true})) } else { InputReply::Declined })
///         })
///     }
/// }
/// ```
pub trait InputHandler: Send + Sync {
    /// Asks the question. If the answer is invalid, the question is repeated, up to [`MAX_INPUT_ATTEMPTS`] times in
    /// total.
    ///
    /// # Errors
    ///
    /// Returns the reason why the question could not be asked, which becomes the error of the call.
    fn ask<'a>(
        &'a self,
        question: InputQuestion<'a>,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<InputReply, ToolError>>;
}

/// A question for an [`InputHandler`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct InputQuestion<'a> {
    /// The request of the tool.
    pub request: &'a InputRequest,
    /// The number of this attempt, from 1.
    pub attempt: u32,
    /// All problems of the last answer.
    pub problems: &'a [ArgumentProblem],
}

/// The answer of an [`InputHandler`].
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum InputReply {
    /// The value, which is checked against the schema of the request.
    Given(Value),
    /// There is no answer. The model is informed.
    Declined,
    /// There is no answer yet. The result of the call is the error `INPUT_REQUIRED`;
    /// [`Toolbox::resume_with_input`](crate::Toolbox::resume_with_input) resumes it.
    Later,
}

impl fmt::Debug for InputReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputReply::Given(value) => f.debug_tuple("Given").field(&Redacted(value)).finish(),
            InputReply::Declined => f.write_str("Declined"),
            InputReply::Later => f.write_str("Later"),
        }
    }
}
