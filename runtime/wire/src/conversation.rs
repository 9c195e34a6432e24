//! Builds the messages of a conversation.

use serde_json::Value;
use toolgen_kernel::call::{ToolCall, ToolResponse};

use super::tools::object;
use super::{ToolResultOptions, WireError, WireFormat};

/// The messages of a conversation in one format.
///
/// User messages and tool results are merged into one message if a format requires that user and model alternate.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "for the crates of the workspace alone")]
pub struct Conversation {
    format: WireFormat,
    pub messages: Vec<Value>,
}

impl Conversation {
    pub fn new(format: WireFormat) -> Conversation {
        Conversation { format, messages: Vec::new() }
    }

    /// Adds a message of the user. A message without visible characters is skipped, because vendors reject it.
    pub fn user(&mut self, text: &str) -> Result<(), WireError> {
        let conversation = self.format.format().conversation.ok_or_else(|| self.format.no_conversation())?;
        if !text.trim().is_empty() {
            self.push_user_block((conversation.user)(text));
        }
        Ok(())
    }

    /// Adds a turn of a model, unchanged.
    pub fn push_raw_turn(&mut self, messages: &[Value]) {
        self.messages.extend_from_slice(messages);
    }

    /// Adds a turn of a model of any vendor.
    pub fn model(&mut self, text: &str, calls: &[ToolCall]) -> Result<(), WireError> {
        let conversation = self.format.format().conversation.ok_or_else(|| self.format.no_conversation())?;
        self.messages.extend((conversation.model)(text, calls));
        Ok(())
    }

    /// Adds a tool result.
    pub fn answer(&mut self, response: &ToolResponse, options: &ToolResultOptions<'_>) {
        self.push_user_block((self.format.format().answer)(response, options));
    }

    fn push_user_block(&mut self, block: Value) {
        let key = self.format.format().message;
        if key.is_empty() {
            return self.messages.push(block);
        }
        let last = self.messages.last_mut().filter(|last| last["role"] == "user");
        match last.and_then(|last| last.get_mut(key)?.as_array_mut()) {
            Some(blocks) => blocks.push(block),
            None => self.messages.push(object([("role", "user".into()), (key, vec![block].into())])),
        }
    }
}
