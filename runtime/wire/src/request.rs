//! Whole requests to a model.

use serde_json::{Map, Value};

use super::tools::object;
use super::{WireError, WireFormat};

/// The parts of a request to a model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The name of the model. Not written if it is part of the URL, as for Gemini and Bedrock.
    pub model: &'a str,
    /// The instructions to the model; may be empty.
    pub system: &'a str,
    /// The tools, as [`WireFormat::tools`] gives them. Null or an empty list for none.
    pub tools: Value,
    /// The messages, oldest first.
    pub messages: Vec<Value>,
    /// Whether the reply is to be a stream. If the URL says so, as for Gemini and Bedrock, this changes nothing.
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

    /// Sets the instructions to the model.
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

    /// Asks for a stream.
    #[must_use]
    pub fn streamed(mut self, stream: bool) -> Request<'a> {
        self.stream = stream;
        self
    }

    /// Returns an object with these members, without those that are null or empty.
    #[must_use]
    pub fn body<const N: usize>(members: [(&str, Value); N]) -> Value {
        let empty = |value: &Value| match value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            Value::String(text) => text.is_empty(),
            _ => false,
        };
        let kept = members.into_iter().filter(|(_, value)| !empty(value));
        kept.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into()
    }
}

/// Returns `{"text": …}` in a list, or null if there is no text.
pub(super) fn parts(text: &str) -> Value {
    if text.is_empty() { Value::Null } else { Value::Array(vec![object([("text", text.into())])]) }
}

impl WireFormat {
    /// Writes a whole request to a model.
    ///
    /// # Errors
    ///
    /// If the format has no requests to a model: MCP, and formats without a
    /// [`Conversation`](super::format::Conversation).
    pub fn request(self, request: Request<'_>) -> Result<Value, WireError> {
        match self.format().conversation {
            Some(conversation) => Ok((conversation.request)(request)),
            None => Err(self.no_conversation()),
        }
    }

    pub(super) fn no_conversation(self) -> WireError {
        let what = format!("the format `{self}` has calls and answers, but no conversation with a model");
        WireError::new("", what)
    }
}

/// Adds options to a request. Objects are merged, member by member; everything else replaces the existing value.
pub fn merge(request: &mut Value, options: &Value) {
    match (request, options) {
        (Value::Object(request), Value::Object(options)) => {
            for (key, option) in options {
                match request.get_mut(key) {
                    Some(there) => merge(there, option),
                    None => {
                        request.insert(key.clone(), option.clone());
                    }
                }
            }
        }
        (request, options) => *request = options.clone(),
    }
}
