//! A call that waits for an approval, as sealed data.
//!
//! What waits leaves the program: it is shown to people, stored, sent, and comes back. So it carries a seal, a keyed
//! digest of everything that matters, and what comes back with one byte changed is refused.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::base::data::Members;
use crate::base::frozen::Text;
use crate::base::time::whole_millis;
use crate::call::context::ToolContext;

/// A call that waits for somebody to approve of it. Plain data: keep it as long as it takes, and give it back
/// unchanged to [`Provider::resume`](crate::Provider::resume).
///
/// It is sealed: what runs is what stands in it, once, for the same caller, as long as it is not too late. All fields
/// may be read; a request that was changed is refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The model's name for the call.
    pub id: Text,
    /// The tool.
    pub name: Text,
    /// The arguments it will run with, under the names a model knows: as all middleware left them, checked, and with
    /// the defaults of the schema filled in.
    pub arguments: Value,
    /// By whom the call was made; nobody else can resume it.
    pub called_by: CalledBy,
    /// Everything that somebody is asked for: the reasons of all middleware, in order.
    pub reasons: Vec<String>,
    /// The reasons for which somebody has approved of the call before.
    pub approved: Vec<String>,
    /// From when on it is too late.
    pub expires_at: SystemTime,
    /// What was answered to what the tool asked for, in order.
    pub(crate) inputs: Vec<Value>,
    /// Who approved. Not sealed, and not kept: it is said when the call is resumed.
    pub(crate) approver: Text,
    pub(crate) seal: Text,
}

/// By whom a call was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CalledBy {
    /// The id of the principal, if there is one.
    pub principal: Option<Text>,
    /// The session, if there is one that others can name: the one that a loop makes for itself is none.
    pub session_id: Option<Text>,
    /// The agent, if it is known.
    pub agent_id: Option<Text>,
}

impl CalledBy {
    /// By whom the call of a context is made.
    pub(crate) fn of(ctx: &ToolContext) -> CalledBy {
        let session = ctx.session().filter(|session| !session.is_passing());
        CalledBy {
            principal: ctx.principal().map(|principal| principal.id.clone()),
            session_id: session.map(|session| Text::copy_of(session.id())),
            agent_id: ctx.agent_id().map(Text::copy_of),
        }
    }

    /// In what another caller is not this one.
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
    /// Says who approved, for the record of the call. It is the word of the program: keep it elsewhere if the request
    /// is stored after it was approved of, since its JSON does not hold it.
    #[must_use]
    pub fn approved_by(mut self, who: impl Into<Text>) -> ApprovalRequest {
        self.approver = who.into();
        self
    }
}

/// `{"id", "name", "arguments", "reasons", "approved", "expires_at", "seal"}`, the time in milliseconds since 1970, and
/// where they are known `principal`, `session_id`, `agent_id` and `inputs`.
impl Serialize for ApprovalRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = json!({
            "id": self.id,
            "name": self.name,
            "arguments": self.arguments,
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

/// A time in whole milliseconds since 1970.
pub(crate) fn millis_of(time: SystemTime) -> u64 {
    whole_millis(time.duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// The member `expires_at`: so many milliseconds after the beginning of 1970.
pub(crate) fn time_of<E: Error>(members: &mut Members) -> Result<SystemTime, E> {
    let millis = members.take("expires_at")?;
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(millis));
    time.ok_or_else(|| E::custom("`expires_at` is no time"))
}
