//! What a result asks of the loop around the call, and who answers.
//!
//! A tool returns a [`Control`] beside its content. [`Effect`]s go to the [`EffectHandler`] of their name,
//! [`InputRequest`]s to the [`InputHandler`], both set on the [`ProviderBuilder`](crate::provider::ProviderBuilder);
//! neither counts as time of the tool. A result that is an error asks for nothing.

use std::time::SystemTime;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::base::data::{Members, plain_data};
use crate::base::frozen::Text;
use crate::call::approval::{CalledBy, millis_of, time_of};

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

plain_data!(Effect: name, data);
plain_data!(InputRequest: message, schema);

impl Effect {
    /// An effect of a name.
    pub fn new(name: impl Into<Text>, data: Value) -> Effect {
        Effect { name: name.into(), data }
    }
}

/// What a tool must know before it can go on. The tool is called again when it is known, with the answer in
/// [`ToolContext::input`](crate::ToolContext::input).
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
///         Some(answer) if answer["sure"] == true => ToolResult::text(format!("{name} is gone")),
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
}

/// A call that waits for what its tool must know. Plain data: keep it as long as it takes, and give it back unchanged
/// to [`Provider::resume_with_input`](crate::Provider::resume_with_input).
///
/// It is sealed like an [`ApprovalRequest`](crate::layers::middleware::ApprovalRequest): it goes on once, for the same
/// caller, as long as it is not too late, and what was changed is refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PendingInput {
    /// The model's name for the call.
    pub id: Text,
    /// The tool.
    pub name: Text,
    /// The arguments as the model sent them; those that were approved, if somebody has approved of the call.
    pub arguments: Value,
    /// What is to be answered.
    pub request: InputRequest,
    /// What was answered before, in order.
    pub inputs: Vec<Value>,
    /// For which reasons somebody has approved of the call.
    pub approved: Vec<String>,
    /// By whom the call was made; nobody else can resume it.
    pub called_by: CalledBy,
    /// From when on it is too late.
    pub expires_at: SystemTime,
    pub(crate) seal: Text,
}

/// `{"kind": "continue"}`, `{"kind": "complete", "signal", "data"}`, `{"kind": "effect", "effect"}` or
/// `{"kind": "need_input", "request"}`.
impl Serialize for Control {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match self {
            Control::Continue => json!({ "kind": "continue" }),
            Control::Complete { signal, data } => {
                json!({ "kind": "complete", "signal": signal, "data": data })
            }
            Control::Effect(effect) => json!({ "kind": "effect", "effect": effect }),
            Control::NeedInput(request) => json!({ "kind": "need_input", "request": request }),
        };
        written.serialize(serializer)
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

/// `{"id", "name", "arguments", "request", "inputs", "approved", "expires_at", "seal"}`, the time in milliseconds since
/// 1970, and where they are known `principal`, `session_id` and `agent_id`.
impl Serialize for PendingInput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = json!({
            "id": self.id,
            "name": self.name,
            "arguments": self.arguments,
            "request": self.request,
            "inputs": self.inputs,
            "approved": self.approved,
            "expires_at": millis_of(self.expires_at),
        });
        self.called_by.write(&mut out);
        out["seal"] = json!(self.seal);
        out.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PendingInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "PendingInput")?;
        Ok(PendingInput {
            id: members.take("id")?,
            name: members.take("name")?,
            arguments: members.take("arguments")?,
            request: members.take("request")?,
            inputs: members.take("inputs")?,
            approved: members.take("approved")?,
            called_by: CalledBy::read(&mut members)?,
            expires_at: time_of(&mut members)?,
            seal: members.take("seal")?,
        })
    }
}
