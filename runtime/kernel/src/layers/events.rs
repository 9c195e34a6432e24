//! Events of calls, as values that can be stored and sent.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_core::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::base::data::Members;
use crate::base::frozen::Text;
use crate::base::redacted_debug::Redacted;
use crate::base::time::whole_millis;
use crate::call::codes;

/// Receives events. The call waits for this function, so it should return quickly. If it panics, the panic is ignored.
pub type OnEvent = Arc<dyn Fn(Event) + Send + Sync>;

/// An event of a call. A call has one [`ToolCall`](EventKind::ToolCall), any number of updates and progress messages,
/// and then one [`ToolResponse`](EventKind::ToolResponse) or [`Error`](EventKind::Error). This also holds for a call
/// that its caller abandons: it ends with an error with the code `CANCELLED`. Reports after the end, from work that a
/// tool left running, are dropped.
///
/// All events are redacted, see [`redact`](crate::layers::redact), and binary content such as images is replaced by
/// its length, because events are stored and sent. [`Hooks`](crate::layers::hooks::Hooks) see everything except the
/// secrets in updates.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The model's ID for the call.
    pub id: Text,
    /// The tool.
    pub name: Text,
    /// The calling agent.
    pub agent_id: Option<Text>,
    /// The session the call belongs to.
    pub session_id: Option<Text>,
    /// The ID of the principal for whom the call is made.
    pub principal: Option<Text>,
    /// The approver of a call that was approved; empty if the program does not name the approver. Known when the call
    /// runs.
    pub approved_by: Option<Text>,
    /// The time of the event.
    pub at: SystemTime,
    /// What happened.
    pub kind: EventKind,
}

/// What happened to a call.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// A model called the tool.
    ToolCall {
        /// The arguments as sent; `null` for a call that was skipped.
        arguments: Value,
    },
    /// The tool returned a result.
    ToolResponse {
        /// What the model sees, as MCP content.
        content: Value,
        /// Whether the tool itself reports an error.
        is_error: bool,
        /// Duration of the call.
        duration: Duration,
    },
    /// The call has no result.
    Error {
        /// What the model sees.
        message: String,
        /// The code of the error.
        code: String,
        /// Duration of the call.
        duration: Duration,
    },
    /// An intermediate result of a running tool.
    Update {
        /// The content for observers, as MCP content.
        content: Value,
        /// The details for programs that observe the call.
        details: Value,
    },
    /// A progress message.
    Progress {
        /// The message.
        message: String,
    },
}

impl fmt::Debug for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EventKind::ToolCall { arguments } => {
                f.debug_struct("ToolCall").field("arguments", &Redacted(arguments)).finish()
            }
            EventKind::ToolResponse { content, is_error, duration } => f
                .debug_struct("ToolResponse")
                .field("content", &Redacted(content))
                .field("is_error", is_error)
                .field("duration", duration)
                .finish(),
            EventKind::Error { message, code, duration } => f
                .debug_struct("Error")
                .field("message", &Redacted(message))
                .field("code", code)
                .field("duration", duration)
                .finish(),
            EventKind::Update { content, details } => f
                .debug_struct("Update")
                .field("content", &Redacted(content))
                .field("details", &Redacted(details))
                .finish(),
            EventKind::Progress { message } => {
                f.debug_struct("Progress").field("message", &Redacted(message)).finish()
            }
        }
    }
}

impl Event {
    /// Returns the name of the kind: `tool_call`, `tool_response`, `error`, `update` or `progress`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self.kind {
            EventKind::ToolCall { .. } => "tool_call",
            EventKind::ToolResponse { .. } => "tool_response",
            EventKind::Error { .. } => "error",
            EventKind::Update { .. } => "update",
            EventKind::Progress { .. } => "progress",
        }
    }

    /// Returns an object with `type`, `object` (`tool.call`, `tool.response`, …), `id`, `name`, `timestamp` in
    /// milliseconds since 1970, `agent_id`, `session_id`, `principal` and `approved_by` if present, and the fields of
    /// the kind.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let kind = self.type_name();
        let since_epoch = self.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let object = match self.kind {
            EventKind::ToolCall { .. } => "tool.call",
            EventKind::ToolResponse { .. } => "tool.response",
            EventKind::Error { .. } => "tool.error",
            EventKind::Update { .. } => "tool.update",
            EventKind::Progress { .. } => "tool.progress",
        };
        let mut out = json!({
            "type": kind,
            "object": object,
            "id": self.id.as_str(),
            "name": self.name.as_str(),
            "timestamp": whole_millis(since_epoch),
        });
        let identities = [
            ("agent_id", &self.agent_id),
            ("session_id", &self.session_id),
            ("principal", &self.principal),
            ("approved_by", &self.approved_by),
        ];
        for (key, id) in identities {
            if let Some(id) = id {
                out[key] = Value::from(id.as_str());
            }
        }
        match &self.kind {
            EventKind::ToolCall { arguments } => out["arguments"] = arguments.clone(),
            EventKind::ToolResponse { content, is_error, duration } => {
                out["content"] = content.clone();
                out["is_error"] = Value::from(*is_error);
                out["duration_ms"] = Value::from(whole_millis(*duration));
            }
            EventKind::Error { message, code, duration } => {
                out["error"] = Value::from(message.as_str());
                out["code"] = Value::from(code.as_str());
                out["is_error"] = Value::from(true);
                out["duration_ms"] = Value::from(whole_millis(*duration));
            }
            EventKind::Update { content, details } => {
                out["content"] = content.clone();
                out["details"] = details.clone();
            }
            EventKind::Progress { message } => out["message"] = Value::from(message.as_str()),
        }
        out
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "Event")?;
        let kind = match members.take::<String, _>("type")?.as_str() {
            "tool_call" => EventKind::ToolCall { arguments: members.take("arguments")? },
            "tool_response" => EventKind::ToolResponse {
                content: members.take("content")?,
                is_error: members.take("is_error")?,
                duration: Duration::from_millis(members.take("duration_ms")?),
            },
            "error" => EventKind::Error {
                message: members.take("error")?,
                code: codes::current(&members.take::<String, _>("code")?).to_owned(),
                duration: Duration::from_millis(members.take("duration_ms")?),
            },
            "update" => {
                EventKind::Update { content: members.take("content")?, details: members.take("details")? }
            }
            "progress" => EventKind::Progress { message: members.take("message")? },
            other => return Err(members.unknown("type", other)),
        };
        let since_epoch = Duration::from_millis(members.take("timestamp")?);
        Ok(Event {
            id: members.take("id")?,
            name: members.take("name")?,
            agent_id: members.or_default("agent_id")?,
            session_id: members.or_default("session_id")?,
            principal: members.or_default("principal")?,
            approved_by: members.or_default("approved_by")?,
            at: SystemTime::UNIX_EPOCH.checked_add(since_epoch).unwrap_or(SystemTime::UNIX_EPOCH),
            kind,
        })
    }
}
