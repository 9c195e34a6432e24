//! A call that waits for a person, as sealed data.
//!
//! A waiting call leaves the program: it is shown to people, stored, sent, and passed back later. It therefore has a
//! seal, a keyed digest of its contents, and is rejected if they have changed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_core::de::Error;
use serde_json::{Value, json};

use crate::base::data::Members;
use crate::base::frozen::Text;
use crate::base::redacted_debug::discreet_debug;
use crate::base::time::whole_millis;

/// A waiting call: the common part of an [`ApprovalRequest`](crate::layers::middleware::ApprovalRequest) and a
/// [`PendingInputCall`](crate::call::control::PendingInputCall).
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct WaitingCall {
    /// The model's ID of the call.
    pub id: Text,
    /// The name of the tool.
    pub name: Text,
    /// The tool through which the model made the call, if it did not call the tool by name: `call_tool` of a
    /// [discovery](crate::registry::discovery). The response has its name.
    pub via: Option<Text>,
    /// If a program that the model's vendor runs made the call, the vendor's ID of the program.
    pub program: Option<Text>,
    /// The arguments, under the names that a model knows. For an approval, or after an approval, they are final:
    /// changed by all middleware, checked, and with the defaults of the schema filled in. Otherwise they are what the
    /// model sent. The call runs with them, so they contain secrets in plain text: protect a stored call accordingly.
    pub arguments: Value,
    /// The reasons that were approved earlier.
    pub approved: Vec<String>,
    /// When the call can no longer be resumed.
    pub expires_at: SystemTime,
    /// The caller; no other caller can resume the call.
    pub caller: Caller,
    /// The inputs that the tool already received, in order.
    pub inputs: Vec<Value>,
    /// The span of the waiting call, as a `traceparent` of W3C Trace Context, if it had one. The span of the resumed
    /// call links to it.
    pub traceparent: Option<Text>,
    pub(crate) seal: Text,
}

discreet_debug!(WaitingCall: id, name, via, program, approved, expires_at, caller, traceparent; arguments, inputs);

impl WaitingCall {
    /// Returns the call as JSON, with additional members of the kind of waiting call.
    pub(crate) fn write(&self, members: Value) -> Value {
        let mut out = json!({ "id": self.id, "name": self.name, "arguments": self.arguments });
        if let (Value::Object(out), Value::Object(members)) = (&mut out, members) {
            out.extend(members);
        }
        if let Some(via) = &self.via {
            out["via"] = json!(via);
        }
        if let Some(program) = &self.program {
            out["program"] = json!(program);
        }
        out["approved"] = json!(self.approved);
        out["expires_at"] = json!(millis_of(self.expires_at));
        self.caller.write(&mut out);
        out["inputs"] = json!(self.inputs);
        if let Some(traceparent) = &self.traceparent {
            out["traceparent"] = json!(traceparent);
        }
        out["seal"] = json!(self.seal);
        out
    }

    pub(crate) fn read<E: Error>(members: &mut Members) -> Result<WaitingCall, E> {
        Ok(WaitingCall {
            id: members.take("id")?,
            name: members.take("name")?,
            via: members.or_default("via")?,
            program: members.or_default("program")?,
            arguments: members.take("arguments")?,
            approved: members.take("approved")?,
            expires_at: time_of(members)?,
            caller: Caller::read(members)?,
            inputs: members.or_default("inputs")?,
            traceparent: members.or_default("traceparent")?,
            seal: members.take("seal")?,
        })
    }
}

/// The caller of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caller {
    /// The ID of the principal, if there is one.
    pub principal: Option<Text>,
    /// The ID of the session, if others can refer to it; the temporary session of a loop does not count.
    pub session_id: Option<Text>,
    /// The ID of the agent, if known.
    pub agent_id: Option<Text>,
}

impl Caller {
    /// Returns the name of the first field in which another caller differs.
    pub(crate) fn difference(&self, other: &Caller) -> Option<&'static str> {
        if self.principal != other.principal {
            Some("principal")
        } else if self.session_id != other.session_id {
            Some("session")
        } else {
            (self.agent_id != other.agent_id).then_some("agent")
        }
    }

    pub(crate) fn write(&self, out: &mut Value) {
        for (key, value) in
            [("principal", &self.principal), ("session_id", &self.session_id), ("agent_id", &self.agent_id)]
        {
            if let Some(value) = value {
                out[key] = Value::from(value.as_str());
            }
        }
    }

    pub(crate) fn read<E: Error>(members: &mut Members) -> Result<Caller, E> {
        Ok(Caller {
            principal: members.or_default("principal")?,
            session_id: members.or_default("session_id")?,
            agent_id: members.or_default("agent_id")?,
        })
    }
}

/// Returns the name of a seal.
pub(crate) fn seal_name(seal: &str) -> &str {
    seal.split_once('.').map_or(seal, |(name, _)| name)
}

/// Converts a time to whole milliseconds since 1970.
pub(crate) fn millis_of(time: SystemTime) -> u64 {
    whole_millis(time.duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Reads the member `expires_at`, in milliseconds since 1970.
fn time_of<E: Error>(members: &mut Members) -> Result<SystemTime, E> {
    let millis = members.take("expires_at")?;
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(millis));
    time.ok_or_else(|| E::custom("`expires_at` is not a time"))
}
