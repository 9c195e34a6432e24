//! Whole requests to a model.

use serde_json::{Map, Value};

use super::tools::object;
use super::{WireError, WireFormat};

/// The parts of a request to a model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The name of the model. Not written if the URL contains it, as for Gemini and Bedrock.
    pub model: &'a str,
    /// The instructions for the model. May be empty.
    pub system: &'a str,
    /// The tools, as [`WireFormat::tools`] returns them. Null or an empty list for none.
    pub tools: Value,
    /// The messages, oldest first.
    pub messages: Vec<Value>,
    /// Whether the reply is streamed. Has no effect if the URL decides this, as for Gemini and Bedrock.
    pub stream: bool,
}

impl<'a> Request<'a> {
    /// Creates a request with these messages.
    #[must_use]
    pub fn new(messages: Vec<Value>) -> Request<'a> {
        Request { messages, ..Request::default() }
    }

    /// Sets the model.
    #[must_use]
    pub fn with_model(mut self, model: &'a str) -> Request<'a> {
        self.model = model;
        self
    }

    /// Sets the instructions for the model.
    #[must_use]
    pub fn with_system(mut self, system: &'a str) -> Request<'a> {
        self.system = system;
        self
    }

    /// Sets the tools.
    #[must_use]
    pub fn with_tools(mut self, tools: Value) -> Request<'a> {
        self.tools = tools;
        self
    }

    /// Sets whether the reply is streamed.
    #[must_use]
    pub fn streamed(mut self, stream: bool) -> Request<'a> {
        self.stream = stream;
        self
    }

    /// Returns an object with these members, except for those that are null or empty.
    #[must_use]
    pub fn body<const N: usize>(members: [(&str, Value); N]) -> Value {
        let is_empty = |value: &Value| match value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::String(text) => text.is_empty(),
            _ => false,
        };
        let present = members.into_iter().filter(|(_, value)| !is_empty(value));
        present.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into()
    }
}

/// Returns `{"text": …}` in a list, or null if `text` is empty.
pub(super) fn parts(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { Value::Array(vec![object([("text", text.into())])]) }
}

impl WireFormat {
    /// Renders a whole request to a model.
    ///
    /// # Errors
    ///
    /// Returns an error if the format has no requests to a model: MCP, and formats without a
    /// [`Conversation`](super::format::Conversation).
    pub fn request(self, request: Request<'_>) -> Result<Value, WireError> {
        match self.format().conversation {
            Some(conversation) => Ok((conversation.request)(request)),
            None => Err(self.no_conversation()),
        }
    }

    pub(super) fn no_conversation(self) -> WireError {
        let message = format!("the format `{self}` has calls and results, but no conversation with a model");
        WireError::new("", message)
    }
}

/// Adds options to a request. Objects are merged member by member; any other value replaces the existing one.
pub fn merge(request: &mut Value, options: &Value) {
    match (request, options) {
        (Value::Object(request), Value::Object(options)) => {
            for (key, option) in options {
                match request.get_mut(key) {
                    Some(existing) => merge(existing, option),
                    None => {
                        request.insert(key.clone(), option.clone());
                    }
                }
            }
        }
        (request, options) => *request = options.clone(),
    }
}
