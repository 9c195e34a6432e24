//! What a result asks of the loop around the call.

use serde_json::{Value, json};

use crate::frozen::Text;

/// What a result asks of the loop around the call. Nothing of it leaves another call of the same turn unanswered: a
/// loop looks at it when the turn is over.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Control {
    /// Nothing.
    #[default]
    Continue,
    /// The agent is done.
    Complete {
        /// The state to go to. Empty: just end.
        signal: Text,
        /// What the next state is told.
        data: Value,
    },
    /// Something is to be done outside the tool, and the result is what came of it.
    Effect(Effect),
    /// The tool must know more before it can go on.
    NeedInput(InputRequest),
}

impl Control {
    /// The agent is done and goes to a state.
    pub fn complete(signal: impl Into<Text>, data: Value) -> Control {
        Control::Complete { signal: signal.into(), data }
    }
}

/// Something to be done outside a tool, such as asking a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// What is to be done; a handler is registered under this name.
    pub name: Text,
    /// With what.
    pub data: Value,
}

impl Effect {
    /// An effect of a name.
    pub fn new(name: impl Into<Text>, data: Value) -> Effect {
        Effect { name: name.into(), data }
    }
}

/// What a tool must know before it can go on.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequest {
    /// What to ask.
    pub message: String,
    /// The JSON Schema the answer has to fit: an object of plain fields, as MCP's elicitation wants it.
    pub schema: Value,
}

impl InputRequest {
    /// A question whose answer fits a schema.
    pub fn new(message: impl Into<String>, schema: Value) -> InputRequest {
        InputRequest { message: message.into(), schema }
    }

    /// `{"message", "schema"}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({ "message": self.message, "schema": self.schema })
    }
}
