//! A call that waits for an approval, as sealed data.
//!
//! What waits leaves the program: it is shown to people, stored, sent, and comes back. So it carries a seal, a keyed
//! digest of everything that matters, and what comes back with one byte changed is refused.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

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

    pub(crate) fn read(value: &Value) -> CalledBy {
        let text = |key: &str| value.get(key).and_then(Value::as_str).map(Text::copy_of);
        CalledBy { principal: text("principal"), session_id: text("session_id"), agent_id: text("agent_id") }
    }
}

impl ApprovalRequest {
    /// Says who approved, for the record of the call. It is the word of the program: keep it elsewhere if the request
    /// is stored after it was approved of, since [`to_json`](Self::to_json) does not write it.
    #[must_use]
    pub fn approved_by(mut self, who: impl Into<Text>) -> ApprovalRequest {
        self.approver = who.into();
        self
    }

    /// `{"id", "name", "arguments", "reasons", "approved", "expires_at", "seal"}`, the time in milliseconds since 1970,
    /// and where they are known `principal`, `session_id`, `agent_id` and `inputs`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let mut out = json!({
            "id": self.id.as_str(),
            "name": self.name.as_str(),
            "arguments": self.arguments,
            "reasons": self.reasons,
            "approved": self.approved,
            "expires_at": millis_of(self.expires_at),
        });
        self.called_by.write(&mut out);
        if !self.inputs.is_empty() {
            out["inputs"] = Value::from(self.inputs.clone());
        }
        out["seal"] = Value::from(self.seal.as_str());
        out
    }

    /// Reads what [`to_json`](Self::to_json) wrote.
    #[must_use]
    pub fn from_json(value: &Value) -> Option<ApprovalRequest> {
        let text = |key: &str| Some(Text::copy_of(value.get(key)?.as_str()?));
        Some(ApprovalRequest {
            id: text("id")?,
            name: text("name")?,
            arguments: value.get("arguments")?.clone(),
            called_by: CalledBy::read(value),
            reasons: texts(value.get("reasons")?)?,
            approved: texts(value.get("approved")?)?,
            expires_at: time_of(value.get("expires_at")?)?,
            inputs: value.get("inputs").and_then(Value::as_array).cloned().unwrap_or_default(),
            approver: Text::EMPTY,
            seal: text("seal")?,
        })
    }
}

/// A list of texts.
pub(crate) fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect()
}

/// A time in whole milliseconds since 1970.
pub(crate) fn millis_of(time: SystemTime) -> u64 {
    whole_millis(time.duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// The time so many milliseconds after the beginning of 1970.
pub(crate) fn time_of(millis: &Value) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_millis(millis.as_u64()?))
}
