//! A conversation with either of OpenAI's two APIs.

use std::fmt;

use async_openai::types::chat::{
    ChatCompletionRequestMessage, ChatCompletionTools, CreateChatCompletionResponse,
};
use async_openai::types::responses::{InputItem, Response, Tool};
use serde_json::Value;
use serde_json::error::Error as TypeError;
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::wire::{RefusedTools, WireError, WireFormat};
use toolgen_runtime::{Session, Toolbox, Turn};

/// Reason why tools or tool results cannot be rendered.
#[derive(Debug)]
#[non_exhaustive]
pub enum AdapterError {
    /// Tools that the dialect cannot express, with all reasons.
    Refused(RefusedTools),
    /// The response cannot be parsed.
    Response(WireError),
    /// The types of async-openai cannot represent the data.
    Type(TypeError),
}

impl fmt::Display for AdapterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AdapterError::Refused(tools) => write!(f, "tools that the dialect cannot express: {tools}"),
            AdapterError::Response(why) => write!(f, "the response of the model: {why}"),
            AdapterError::Type(why) => write!(f, "async-openai has no type for this: {why}"),
        }
    }
}

impl std::error::Error for AdapterError {}

impl From<TypeError> for AdapterError {
    fn from(why: TypeError) -> AdapterError {
        AdapterError::Type(why)
    }
}

/// Declares a conversation with one API.
macro_rules! conversation {
    ($(#[$doc:meta])+ $name:ident: $format:expr, $tool:ty, $response:ty, $item:ty) => {
        $(#[$doc])+
        #[derive(Clone, Debug)]
        pub struct $name {
            toolbox: Toolbox,
            turn: Turn,
            dialect: &'static Dialect,
        }

        impl $name {
            /// Creates a conversation with the tools of a toolbox, in its own session.
            #[must_use]
            pub fn new(toolbox: &Toolbox) -> $name {
                let turn = Turn::new("openai").with_session(Session::unique());
                $name { toolbox: toolbox.clone(), turn, dialect: $format.dialect() }
            }

            /// Sets the context of the calls: its session, principal and cancellation token.
            #[must_use]
            pub fn in_turn(mut self, turn: Turn) -> $name {
                self.turn = turn;
                self
            }

            /// Sets the dialect of the schemas, such as
            /// [`OPENAI_STRICT`](toolgen_runtime::schema::dialect::OPENAI_STRICT), which enables strict mode, or that
            /// of another host with a compatible API.
            #[must_use]
            pub fn in_dialect(mut self, dialect: &'static Dialect) -> $name {
                self.dialect = dialect;
                self
            }

            /// Returns the tools for a request. They can change, so call this before each request.
            ///
            /// # Errors
            ///
            /// Returns all tools that the dialect cannot express, with all reasons.
            pub fn tools(&self) -> Result<Vec<$tool>, AdapterError> {
                let specs = self.toolbox.specs_for(self.turn.principal());
                let tools = $format.tools_in(self.dialect, specs).map_err(AdapterError::Refused)?;
                Ok(serde_json::from_value(tools)?)
            }

            /// Runs the calls of a response, and returns the new messages of the next request: the turn of the model,
            /// and a result for each of its calls. Empty if it made no calls.
            ///
            /// The calls of a truncated or stopped turn also get results: they do not run, and the results contain
            /// the reason.
            ///
            /// # Errors
            ///
            /// Returns an error if the response cannot be answered: it has no choice, or only calls without an ID.
            pub async fn answer(&self, response: &$response) -> Result<Vec<$item>, AdapterError> {
                let turn = self.turn.clone().with_dialect(self.dialect);
                let items = answer($format, &self.toolbox, &serde_json::to_value(response)?, &turn).await?;
                Ok(items.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?)
            }
        }
    };
}

conversation! {
    /// A conversation with Chat Completions.
    Chat: WireFormat::OpenAiChat, ChatCompletionTools, CreateChatCompletionResponse, ChatCompletionRequestMessage
}

conversation! {
    /// A conversation with Responses. The returned turn of the model includes its reasoning, so you can use it with
    /// and without `previous_response_id`. With `previous_response_id`, send only the outputs of calls.
    Responses: WireFormat::OpenAiResponses, Tool, Response, InputItem
}

async fn answer(
    format: WireFormat,
    toolbox: &Toolbox,
    response: &Value,
    turn: &Turn,
) -> Result<Vec<Value>, AdapterError> {
    let mut said = format.turn(response).map_err(AdapterError::Response)?;
    if said.calls.is_empty() {
        return said.calls.problems.pop().map_or(Ok(Vec::new()), |why| Err(AdapterError::Response(why)));
    }
    let answers = toolbox.dispatch(said.calls.calls, turn, &Default::default()).await;
    let mut items = said.raw.messages;
    items.extend(format.tool_results(&answers.responses));
    Ok(items)
}
