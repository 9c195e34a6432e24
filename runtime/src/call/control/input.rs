//! Who knows what tools must know, and calls that wait for it.

use serde_json::{Value, json};

use super::InputRequest;
use crate::base::frozen::Text;
use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::call::tool::BoxFuture;
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
/// use toolgen_runtime::call::control::{InputAnswer, InputHandler, InputQuestion};
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

/// A call that waits for what its tool must know. Plain data: keep it as long as it takes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PendingInput {
    /// The model's name for the call.
    pub id: Text,
    /// The tool.
    pub name: Text,
    /// The arguments as the model sent them.
    pub arguments: Value,
    /// What is to be answered.
    pub request: InputRequest,
    /// What was answered before, in order.
    pub inputs: Vec<Value>,
    /// For which reasons somebody has approved of the call.
    pub approved: Vec<String>,
}

impl PendingInput {
    /// `{"id", "name", "arguments", "request", "inputs", "approved"}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({
            "id": self.id.as_str(),
            "name": self.name.as_str(),
            "arguments": self.arguments,
            "request": self.request.to_json(),
            "inputs": self.inputs,
            "approved": self.approved,
        })
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    #[must_use]
    pub fn from_json(value: &Value) -> Option<PendingInput> {
        let text = |key: &str| Some(Text::from(value.get(key)?.as_str()?.to_owned()));
        let approved = value.get("approved")?.as_array()?.iter();
        Some(PendingInput {
            id: text("id")?,
            name: text("name")?,
            arguments: value.get("arguments")?.clone(),
            request: InputRequest::from_json(value.get("request")?)?,
            inputs: value.get("inputs")?.as_array()?.clone(),
            approved: approved.map(|reason| reason.as_str().map(str::to_owned)).collect::<Option<_>>()?,
        })
    }
}
