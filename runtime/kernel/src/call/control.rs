//! Requests of a result to the agent loop, and their handlers.
//!
//! A tool returns a [`Control`] with its content. [`Effect`]s go to the [`EffectHandler`] of their name and
//! [`InputRequest`]s to the [`InputHandler`], both set on the [`ToolboxBuilder`](crate::toolbox::ToolboxBuilder);
//! neither counts towards the tool's time limit. A result that is an error requests nothing.
//!
//! [`EffectHandler`]: crate::layers::control::EffectHandler
//! [`InputHandler`]: crate::layers::control::InputHandler

use std::fmt;
use std::ops::Deref;

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::base::data::{Members, plain_data};
use crate::base::frozen::Text;
use crate::base::redacted_debug::{Redacted, discreet_debug};
use crate::call::waiting::WaitingCall;

/// A request of a result to the agent loop. The loop handles it after the turn has finished, so every other
/// call of the turn still gets its result.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub enum Control {
    /// No request.
    #[default]
    Continue,
    /// The agent is done.
    Complete {
        /// The state to enter next. If empty, the loop just ends.
        signal: Text,
        /// The data for the next state.
        data: Value,
    },
    /// An effect to be performed outside the tool; its outcome becomes the result.
    Effect(Effect),
    /// The tool needs input before it can continue.
    NeedInput(InputRequest),
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Control::Continue => f.write_str("Continue"),
            Control::Complete { signal, data } => {
                f.debug_struct("Complete").field("signal", signal).field("data", &Redacted(data)).finish()
            }
            Control::Effect(effect) => effect.fmt(f),
            Control::NeedInput(request) => f.debug_tuple("NeedInput").field(request).finish(),
        }
    }
}

impl Control {
    /// Ends the agent's loop and enters a state.
    pub fn complete(signal: impl Into<Text>, data: Value) -> Control {
        Control::Complete { signal: signal.into(), data }
    }
}

/// An action to be performed outside the tool, such as asking a person.
#[derive(Clone, PartialEq)]
pub struct Effect {
    /// The name of the effect, which is that of its handler.
    pub name: Text,
    /// The data of the effect.
    pub data: Value,
}

discreet_debug!(Effect: name; data);
plain_data!(Effect: name, data);
plain_data!(InputRequest: message, schema);

impl Effect {
    /// Creates an effect.
    pub fn new(name: impl Into<Text>, data: Value) -> Effect {
        Effect { name: name.into(), data }
    }
}

/// A request for input that a tool needs to continue. When the input is available, the tool is called again, with the
/// input in [`ToolContext::input`](crate::ToolContext::input).
///
/// ```
/// # use serde_json::json;
/// use toolgen_runtime::call::control::{Control, InputRequest};
/// use toolgen_runtime::{ToolContext, ToolResult, tool};
///
/// /// Removes a branch.
/// #[tool]
/// fn remove_branch(
///     /// The branch.
///     name: String,
///     ctx: &ToolContext,
/// ) -> ToolResult {
///     match ctx.input() {
///         Some(input) if input["sure"] == true => ToolResult::text(format!("{name} is gone")),
///         Some(_) => ToolResult::text(format!("{name} stays")),
///         None => {
///             let sure = json!({"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]});
///             ToolResult::empty().with_control(Control::NeedInput(InputRequest::new("Are you sure?", sure)))
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct InputRequest {
    /// The question.
    pub message: String,
    /// The JSON Schema of the input: an object of plain fields, as MCP's elicitation requires.
    pub schema: Value,
}

impl InputRequest {
    /// Creates a request whose input must match the schema.
    pub fn new(message: impl Into<String>, schema: Value) -> InputRequest {
        InputRequest { message: message.into(), schema }
    }
}

/// A call that waits for input. Plain data: keep it as long as needed, and pass it back unchanged to
/// [`Toolbox::resume_with_input`](crate::Toolbox::resume_with_input).
///
/// It is sealed like an [`ApprovalRequest`](crate::layers::middleware::ApprovalRequest): it resumes once, for the
/// same caller, before it expires, and is rejected if modified.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PendingInputCall {
    /// The call.
    pub call: WaitingCall,
    /// The request for input.
    pub request: InputRequest,
}

impl Deref for PendingInputCall {
    type Target = WaitingCall;

    fn deref(&self) -> &WaitingCall {
        &self.call
    }
}

/// `{"kind": "continue"}`, `{"kind": "complete", "signal", "data"}`, `{"kind": "effect", "effect"}` or
/// `{"kind": "need_input", "request"}`.
impl Serialize for Control {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = match self {
            Control::Continue => json!({ "kind": "continue" }),
            Control::Complete { signal, data } => {
                json!({ "kind": "complete", "signal": signal, "data": data })
            }
            Control::Effect(effect) => json!({ "kind": "effect", "effect": effect }),
            Control::NeedInput(request) => json!({ "kind": "need_input", "request": request }),
        };
        json.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Control {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "Control")?;
        match members.take::<String, _>("kind")?.as_str() {
            "continue" => Ok(Control::Continue),
            "complete" => {
                Ok(Control::Complete { signal: members.take("signal")?, data: members.take("data")? })
            }
            "effect" => members.take("effect").map(Control::Effect),
            "need_input" => members.take("request").map(Control::NeedInput),
            other => Err(members.unknown("kind", other)),
        }
    }
}

/// `{"id", "name", "arguments", "request", "approved", "expires_at", "inputs", "seal"}`, with the time in milliseconds
/// since 1970; and, if known, `principal`, `session_id` and `agent_id`.
impl Serialize for PendingInputCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.call.write(json!({ "request": self.request })).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PendingInputCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "PendingInput")?;
        Ok(PendingInputCall { call: WaitingCall::read(&mut members)?, request: members.take("request")? })
    }
}
