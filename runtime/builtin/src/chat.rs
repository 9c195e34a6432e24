//! Chat tools, with which agents exchange messages.

use std::fmt;

use serde_json::{Value, json};
use toolgen_function::FunctionTool;
use toolgen_function::inject::Service;
use toolgen_kernel::base::data::plain_data;
use toolgen_kernel::base::future::BoxFuture;
use toolgen_kernel::call::context::ToolContext;
use toolgen_kernel::call::error::ToolError;
use toolgen_kernel::call::toolbox_context::FactoryError;
use toolgen_kernel::toolbox::ToolFactory;
use toolgen_macros::tool;

/// A chat of agents. Each agent reads the messages that are new to it.
pub trait ChatService: Send + Sync {
    /// Posts a message.
    ///
    /// # Errors
    ///
    /// Returns the reason for the model if the message was not posted.
    fn post<'a>(&'a self, author: &'a str, text: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// Returns the messages that an agent has not read, oldest first, and marks them as read.
    ///
    /// # Errors
    ///
    /// Returns the reason for the model if the messages cannot be read.
    fn read<'a>(&'a self, reader: &'a str) -> BoxFuture<'a, Result<Vec<ChatMessage>, String>>;
}

/// A message of a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatMessage {
    /// The time when it was posted, in the format of the service.
    pub timestamp: String,
    /// The ID of the agent that posted it.
    pub author: String,
    /// The text of the message.
    pub text: String,
}

plain_data!(ChatMessage: timestamp, author, text);

impl ChatMessage {
    /// Creates a message.
    pub fn new(
        timestamp: impl Into<String>,
        author: impl Into<String>,
        text: impl Into<String>,
    ) -> ChatMessage {
        ChatMessage { timestamp: timestamp.into(), author: author.into(), text: text.into() }
    }
}

/// Post a message to the chat of the agents. Does not wait for a reply.
///
/// # Use for
///
/// Progress and status that other agents should know.
#[tool(destructive = false, open_world = false, spawns = false, files = "none")]
async fn chat_post(
    /// The text of the message.
    #[arg(non_empty)]
    message: String,
    chat: Service<dyn ChatService>,
    ctx: &ToolContext,
) -> Result<Value, ToolError> {
    chat.post(agent_id(ctx)?, &message).await.map_err(|error| failed("post chat message", &error))?;
    Ok(json!({ "success": true, "message": message }))
}

/// Read the chat messages of the agents that are new since the last call.
///
/// # Returns
///
/// success, message, count, and messages with timestamp, author and text.
#[tool(destructive = false, open_world = false, spawns = false, files = "none")]
async fn chat_read(chat: Service<dyn ChatService>, ctx: &ToolContext) -> Result<Value, ToolError> {
    let messages = chat.read(agent_id(ctx)?).await.map_err(|error| failed("get new messages", &error))?;
    let count = messages.len();
    if count == 0 {
        return Ok(json!({ "success": true, "message": "No new messages", "count": 0 }));
    }
    let message = format!("Found {count} new message(s)");
    Ok(json!({ "success": true, "message": message, "count": count, "messages": messages }))
}

fn agent_id(ctx: &ToolContext) -> Result<&str, ToolError> {
    ctx.agent_id().ok_or_else(|| {
        ToolError::failed("agent_id not found in context")
            .with_operator_detail("give the context an agent: `ToolboxContext::with_agent_id`")
    })
}

fn failed(action: &str, reason: impl fmt::Display) -> ToolError {
    ToolError::failed(format!("failed to {action}: {reason}"))
}

/// The tools. Building them fails without a chat service.
pub(super) fn tools() -> Vec<ToolFactory> {
    [chat_post::tool(), chat_read::tool()].map(chat_tool).into()
}

fn chat_tool(tool: FunctionTool) -> ToolFactory {
    use toolgen_kernel::call::tool::AgentTool as _;
    ToolFactory::new(tool.spec().clone(), move |ctx| {
        let chat = ctx.service::<dyn ChatService>();
        let missing = || FactoryError::requires(tool.name(), "a chat service");
        chat.map(|_| tool.clone()).ok_or_else(missing)
    })
}
