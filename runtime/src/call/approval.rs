//! A call that waits for an approval, as sealed data.
//!
//! A waiting call leaves the program: it is shown to people, stored, sent, and comes back. So it carries a seal, a
//! keyed digest of everything that matters, and is refused if a single byte has changed.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::base::data::Members;
use crate::base::discreet::discreet_debug;
use crate::base::frozen::Text;
use crate::base::time::whole_millis;
use crate::call::context::ToolContext;

/// A call that waits for an approval. Plain data: keep it as long as needed, and pass it back unchanged to
/// [`Provider::resume`](crate::Provider::resume).
///
/// It is sealed: the call runs exactly as described here, once, for the same caller, before it expires. All fields may
/// be read; a modified request is refused.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The model's ID of the call.
    pub id: Text,
    /// The name of the tool.
    pub name: Text,
    /// The arguments of the call, under the names a model knows: as all middleware left them, checked, and with the
    /// defaults of the schema filled in. They are what runs, so secrets stand here in plain: show [`shown`](Self::shown)
    /// instead, and keep a stored request as safe as they are.
    pub arguments: Value,
    /// The arguments as people may see them: without secrets.
    pub shown: Value,
    /// The caller; no other caller can resume the call.
    pub called_by: CalledBy,
    /// The reasons why the call needs an approval: those of all middleware, in order.
    pub reasons: Vec<String>,
    /// The reasons that were approved earlier.
    pub approved: Vec<String>,
    /// When the request expires.
    pub expires_at: SystemTime,
    /// The answers to the tool's requests for input, in order.
    pub(crate) inputs: Vec<Value>,
    /// The approver, set when the call is resumed. Neither sealed nor stored.
    pub(crate) approver: Text,
    pub(crate) seal: Text,
}

discreet_debug!(ApprovalRequest: id, name, called_by, reasons, approved, expires_at, approver; arguments, inputs);

/// The caller of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CalledBy {
    /// The ID of the principal, if there is one.
    pub principal: Option<Text>,
    /// The ID of the session, if others can refer to it: a loop's own temporary session does not count.
    pub session_id: Option<Text>,
    /// The ID of the agent, if known.
    pub agent_id: Option<Text>,
}

impl CalledBy {
    /// Returns the caller of a context's call.
    pub(crate) fn of(ctx: &ToolContext) -> CalledBy {
        let session = ctx.session().filter(|session| !session.is_passing());
        CalledBy {
            principal: ctx.principal().map(|principal| principal.id.clone()),
            session_id: session.map(|session| Text::copy_of(session.id())),
            agent_id: ctx.agent_id().map(Text::copy_of),
        }
    }

    /// Names the first field in which another caller differs.
    pub(crate) fn difference(&self, other: &CalledBy) -> Option<&'static str> {
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

    pub(crate) fn read<E: Error>(members: &mut Members) -> Result<CalledBy, E> {
        Ok(CalledBy {
            principal: members.or_default("principal")?,
            session_id: members.or_default("session_id")?,
            agent_id: members.or_default("agent_id")?,
        })
    }
}

impl ApprovalRequest {
    /// Sets the approver, for the record of the call. The program vouches for it: the JSON does not hold the approver,
    /// so keep the name separately if the request is stored after its approval.
    #[must_use]
    pub fn approved_by(mut self, who: impl Into<Text>) -> ApprovalRequest {
        self.approver = who.into();
        self
    }
}

/// `{"id", "name", "arguments", "shown", "reasons", "approved", "expires_at", "seal"}`, the time in milliseconds since
/// 1970, and, where known, `principal`, `session_id`, `agent_id` and `inputs`.
impl Serialize for ApprovalRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = json!({
            "id": self.id,
            "name": self.name,
            "arguments": self.arguments,
            "shown": self.shown,
            "reasons": self.reasons,
            "approved": self.approved,
            "expires_at": millis_of(self.expires_at),
        });
        self.called_by.write(&mut out);
        if !self.inputs.is_empty() {
            out["inputs"] = json!(self.inputs);
        }
        out["seal"] = json!(self.seal);
        out.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ApprovalRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "ApprovalRequest")?;
        Ok(ApprovalRequest {
            id: members.take("id")?,
            name: members.take("name")?,
            arguments: members.take("arguments")?,
            shown: members.take("shown")?,
            called_by: CalledBy::read(&mut members)?,
            reasons: members.take("reasons")?,
            approved: members.take("approved")?,
            expires_at: time_of(&mut members)?,
            inputs: members.or_default("inputs")?,
            approver: Text::EMPTY,
            seal: members.take("seal")?,
        })
    }
}

/// Converts a time to whole milliseconds since 1970.
pub(crate) fn millis_of(time: SystemTime) -> u64 {
    whole_millis(time.duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Reads the member `expires_at`, in milliseconds since 1970.
pub(crate) fn time_of<E: Error>(members: &mut Members) -> Result<SystemTime, E> {
    let millis = members.take("expires_at")?;
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(millis));
    time.ok_or_else(|| E::custom("`expires_at` is no time"))
}
