//! A call that a model made, and the one answer it gets.

pub(crate) mod approval;
pub mod blocked;
pub(crate) mod callback;
mod content;
pub mod context;
pub mod control;
pub(crate) mod digest;
pub mod error;
mod error_data;
mod hosts;
pub mod limits;
pub(crate) mod missing;
pub(crate) mod peers;
pub mod principal;
pub(crate) mod provider_context;
mod response_data;
pub mod result;
pub(crate) mod resumption;
pub mod roots;
pub mod services;
pub mod session;
pub mod structured;
pub mod tool;
pub mod values;

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::base::data::Members;
use crate::base::frozen::Text;
use crate::base::time::whole_millis;
use crate::call::blocked::Blocked;
use crate::call::control::Control;
use crate::call::error::ToolError;
use crate::call::result::{Content, ToolResult};
use crate::call::resumption::Resumption;
use crate::spec::output::StructuredOutput;

/// A call that a model made.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The name by which the model finds the answer.
    pub id: Text,
    /// The tool to call.
    pub name: Text,
    /// The arguments: an object, or the text the model wrote.
    pub arguments: Value,
    /// Set if the call is answered and never run, with the reason.
    pub blocked: Option<Blocked>,
    /// What it brings with it that waited. Not part of its JSON: only what is sealed may be believed.
    pub(crate) resumption: Option<Box<Resumption>>,
}

impl serde::Serialize for ToolCall {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = json!({ "id": self.id, "name": self.name, "arguments": self.arguments });
        if let Some(why) = &self.blocked {
            out["blocked"] = json!(why);
        }
        out.serialize(serializer)
    }
}

impl<'de> serde::Deserialize<'de> for ToolCall {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "ToolCall")?;
        Ok(ToolCall {
            id: members.take("id")?,
            name: members.take("name")?,
            arguments: members.take("arguments")?,
            blocked: members.or_default("blocked")?,
            resumption: None,
        })
    }
}

impl ToolCall {
    /// A whole call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> ToolCall {
        let (id, name) = (id.into().into(), name.into().into());
        ToolCall { id, name, arguments, blocked: None, resumption: None }
    }

    /// A call of which only this is known.
    pub(crate) fn named(id: Text, name: Text) -> ToolCall {
        ToolCall { id, name, ..ToolCall::new("", "", Value::Null) }
    }

    /// Marks a call that is answered and never run.
    #[must_use]
    pub fn blocked(mut self, why: Blocked) -> ToolCall {
        self.blocked = Some(why);
        self
    }

    /// Marks a call that the model could not finish.
    #[must_use]
    pub fn truncated(self) -> ToolCall {
        self.blocked(Blocked::Truncated)
    }
}

/// The one answer to a call.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolResponse {
    /// The call that is answered.
    pub id: Text,
    /// The tool that was called.
    pub name: Text,
    /// What came of it.
    pub outcome: Result<ToolResult, ToolError>,
    /// The tool was not even tried: a hook or a waiting message was in the way.
    pub skipped: bool,
    /// When the call came.
    pub started: SystemTime,
    /// How long it took.
    pub duration: Duration,
    /// The structured result that the tool declares, which MCP sends: set by a provider.
    pub declared: Option<StructuredOutput>,
}

impl ToolResponse {
    /// An answer at once.
    #[must_use]
    pub fn new(call: &ToolCall, outcome: Result<ToolResult, ToolError>) -> ToolResponse {
        ToolResponse {
            id: call.id.clone(),
            name: call.name.clone(),
            outcome,
            skipped: false,
            started: SystemTime::now(),
            duration: Duration::ZERO,
            declared: None,
        }
    }

    /// The answer to a call that is not run for a reason the model is told.
    pub fn skipped(call: &ToolCall, why: impl Into<String>) -> ToolResponse {
        let why = ToolError::failed_with("SKIPPED", why);
        ToolResponse { skipped: true, ..ToolResponse::new(call, Err(why)) }
    }

    /// There is no result, or the tool itself says that it failed (see [`ToolResult::is_error`]).
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.outcome.as_ref().map_or(true, ToolResult::is_error)
    }

    /// What the answer asks of the loop around the call. A call that waits for input without anybody to ask holds the
    /// request, beside the [`PendingInput`](crate::call::control::PendingInput) in its error.
    #[must_use]
    pub fn control(&self) -> Control {
        match &self.outcome {
            Ok(result) => result.control.clone(),
            Err(ToolError::InputRequired(pending)) => Control::NeedInput(pending.request.clone()),
            Err(_) => Control::Continue,
        }
    }

    /// What the model sees.
    #[must_use]
    pub fn content(&self) -> Cow<'_, [Content]> {
        match &self.outcome {
            Ok(result) => Cow::Borrowed(&result.content),
            Err(why) => Cow::Owned(vec![Content::Text(why.to_string())]),
        }
    }

    /// The texts a model sees, one a line.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.outcome {
            Ok(result) => result.to_text(),
            Err(why) => why.to_string(),
        }
    }

    /// `{"tool_call_id", "tool_name", "content", "is_error", "timestamp", "duration_ms"}`, the time in milliseconds
    /// since 1970; an error with `error_code`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let content: Vec<Value> = self.content().iter().map(Content::to_json).collect();
        let since = self.started.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mut out = json!({
            "tool_call_id": self.id.as_str(),
            "tool_name": self.name.as_str(),
            "content": content,
            "is_error": self.is_error(),
            "timestamp": whole_millis(since),
            "duration_ms": whole_millis(self.duration),
        });
        if let Err(why) = &self.outcome {
            out["error_code"] = Value::from(why.code());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_what_the_model_sees_and_whether_it_failed() {
        let call = ToolCall::new("1", "t", json!({}));
        let good = ToolResponse::new(&call, Ok(ToolResult::text("done")));
        assert_eq!((good.text().as_str(), good.is_error()), ("done", false));
        let told = ToolResponse::new(&call, Ok(ToolResult::json(json!({"success": false}))));
        assert!(told.is_error());
        let mut failed = ToolResponse::new(&call, Err(ToolError::failed("it broke")));
        failed.started = SystemTime::UNIX_EPOCH + Duration::from_millis(1500);
        assert_eq!(
            failed.to_json(),
            json!({
                "tool_call_id": "1", "tool_name": "t", "is_error": true, "error_code": "EXECUTION_ERROR",
                "content": [{"type": "text", "text": "it broke"}], "timestamp": 1500, "duration_ms": 0,
            })
        );
    }
}
