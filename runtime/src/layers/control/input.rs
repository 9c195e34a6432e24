//! Who knows what tools must know, and calls that wait for it.

use serde_json::Value;

use crate::base::future::BoxFuture;
use crate::call::context::ToolContext;
use crate::call::control::InputRequest;
use crate::call::error::ToolError;
use crate::schema::shape::decode::ArgumentProblem;

/// How often an [`InputHandler`] is asked for one answer before the call fails.
pub const INPUT_ATTEMPTS: u32 = 3;

/// How many answers a call may ask for.
pub const INPUT_ROUNDS: usize = 8;

/// Asks a person, or a program, what a tool must know.
///
/// Set with [`ProviderBuilder::input_handler`](crate::provider::ProviderBuilder::input_handler). The time it takes
/// does not count as the tool's; when the call is given up it is dropped.
///
/// ```
/// use serde_json::json;
/// use toolgen_runtime::layers::control::{InputAnswer, InputHandler, InputQuestion};
/// use toolgen_runtime::{BoxFuture, ToolContext, ToolError};
///
/// struct AlwaysSure;
///
/// impl InputHandler for AlwaysSure {
///     fn ask<'a>(
///         &'a self,
///         question: InputQuestion<'a>,
///         _ctx: &'a ToolContext,
///     ) -> BoxFuture<'a, Result<InputAnswer, ToolError>> {
///         let first = question.attempt == 1;
///         Box::pin(async move {
///             Ok(if first { InputAnswer::Given(json!({"sure": true})) } else { InputAnswer::Declined })
///         })
///     }
/// }
/// ```
pub trait InputHandler: Send + Sync {
    /// Asks. An answer that does not fit is asked for again, [`INPUT_ATTEMPTS`] times in all.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from asking; the call is answered with it.
    fn ask<'a>(
        &'a self,
        question: InputQuestion<'a>,
        ctx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<InputAnswer, ToolError>>;
}

/// What an [`InputHandler`] is asked.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct InputQuestion<'a> {
    /// What the tool must know.
    pub request: &'a InputRequest,
    /// How often this was asked, with this time: 1 at first.
    pub attempt: u32,
    /// Everything that was wrong with the last answer.
    pub problems: &'a [ArgumentProblem],
}

/// What an [`InputHandler`] says.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InputAnswer {
    /// This, which is checked against the schema of the request.
    Given(Value),
    /// Nobody will say. The model is told so.
    Declined,
    /// Not now. The call is answered with the code `INPUT_REQUIRED`;
    /// [`Provider::resume_with_input`](crate::Provider::resume_with_input) goes on with it.
    Later,
}
