//! A tool call made by a model, and its response.

pub(crate) mod approval;
#[cfg(feature = "folder")]
#[doc(hidden)]
pub mod beneath;
#[doc(hidden)]
pub mod blocked;
pub(crate) mod callback;
pub(crate) mod callee;
pub mod codes;
mod content;
pub mod context;
pub mod context_values;
pub mod control;
mod dialects;
#[doc(hidden)]
pub mod digest;
pub mod error;
mod error_data;
mod hosts;
pub(crate) mod peers;
pub mod principal;
mod response_data;
pub mod result;
#[doc(hidden)]
pub mod resumption;
#[doc(hidden)]
pub mod roots;
#[doc(hidden)]
pub mod secrets;
pub mod services;
pub mod session;
pub mod span;
pub mod store;
pub mod structured;
#[doc(hidden)]
pub mod testing;
pub mod tool;
#[doc(hidden)]
pub mod toolbox_context;
mod turn;
#[doc(hidden)]
pub mod unmet_requirements;
pub(crate) mod waiting;

pub use crate::spec::limits;
pub use dialects::Dialects;
pub use turn::Turn;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::base::data::Members;
use crate::base::depth::{MAX_DEPTH, is_shallow, shallow};
use crate::base::frozen::Text;
use crate::base::redacted_debug::discreet_debug;
use crate::base::time::whole_millis;
use crate::base::truncate;
use crate::call::blocked::Blocked;
use crate::call::control::Control;
use crate::call::error::ToolError;
use crate::call::result::{Content, ToolResult};
use crate::call::resumption::Resumption;
use crate::spec::MAX_NAME;
use crate::spec::output::StructuredOutput;

/// A tool call made by a model.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The model's call ID, repeated in the tool response.
    pub id: Text,
    /// The name of the tool to call.
    pub name: Text,
    /// The arguments: an object, or the text that the model wrote.
    pub arguments: Value,
    /// If set, the call does not run, and its response gives this reason.
    pub blocked: Option<Blocked>,
    /// If the model made the call through another tool, the name of that tool, which the response then has.
    #[doc(hidden)]
    pub via: Option<Text>,
    /// If a program that the model's vendor runs made the call, the vendor's ID of the program.
    pub program: Option<Text>,
    /// The saved state of a call that waited and now resumes. Not part of the JSON, since only sealed state can be
    /// trusted.
    pub(crate) resumption: Option<Box<Resumption>>,
}

discreet_debug!(ToolCall: id, name, blocked; arguments);

impl serde_core::Serialize for ToolCall {
    fn serialize<S: serde_core::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut out = json!({ "id": self.id, "name": self.name, "arguments": self.arguments });
        if let Some(reason) = &self.blocked {
            out["blocked"] = json!(reason);
        }
        if let Some(program) = &self.program {
            out["program"] = json!(program);
        }
        out.serialize(serializer)
    }
}

impl<'de> serde_core::Deserialize<'de> for ToolCall {
    fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members = Members::read(deserializer, "ToolCall")?;
        Ok(ToolCall {
            id: members.take("id")?,
            name: members.take("name")?,
            arguments: members.take("arguments")?,
            blocked: members.or_default("blocked")?,
            via: None,
            program: members.or_default("program")?,
            resumption: None,
        })
    }
}

impl ToolCall {
    /// Creates a call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: Value) -> ToolCall {
        let (id, name) = (id.into().into(), name.into().into());
        ToolCall { id, name, arguments, blocked: None, via: None, program: None, resumption: None }
    }

    /// Sets the vendor's ID of the program that made the call.
    #[must_use]
    pub fn by_program(mut self, program: impl Into<Text>) -> ToolCall {
        self.program = Some(program.into());
        self
    }

    /// Creates a call with `null` as its arguments.
    #[doc(hidden)]
    pub fn without_arguments(id: Text, name: Text) -> ToolCall {
        ToolCall { id, name, ..ToolCall::new("", "", Value::Null) }
    }

    /// Marks the call as blocked: it gets a response but never runs.
    #[must_use]
    pub fn blocked(mut self, reason: Blocked) -> ToolCall {
        self.blocked = Some(reason);
        self
    }

    /// Makes the call safe for the layers: blocks it if its arguments are nested too deeply, and truncates a name that
    /// is longer than any valid one, so that records and responses do not repeat it.
    #[doc(hidden)]
    pub fn fit(&mut self) {
        if let Cow::Owned(name) = shown_name(&self.name) {
            self.name = name.into();
        }
        self.shallow();
    }

    /// Shortens the ID to the length that is recorded, and returns the original.
    pub(crate) fn shorten_id(&mut self) -> Text {
        let shortened = shown_id(&self.id);
        std::mem::replace(&mut self.id, shortened)
    }

    /// Blocks the call if its arguments are nested too deeply to traverse, and drops them.
    #[doc(hidden)]
    pub fn shallow(&mut self) {
        if !is_shallow(&self.arguments) {
            drop(shallow(std::mem::take(&mut self.arguments)));
            let reason = format!("its arguments are nested more than {MAX_DEPTH} levels deep");
            self.blocked = Some(Blocked::Malformed(reason.into()));
        }
    }

    /// Marks the call as one that the model did not complete.
    #[must_use]
    pub fn truncated(self) -> ToolCall {
        self.blocked(Blocked::Truncated)
    }
}

/// The maximum length of a tool name in calls, in bytes. Longer names are truncated; no tool has one.
pub(crate) const MAX_NAME_BYTES: usize = 2 * MAX_NAME;

/// Returns the name for display: its start and `…` if it is longer than any valid name.
pub(crate) fn shown_name(name: &str) -> Cow<'_, str> {
    if name.len() <= MAX_NAME_BYTES {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("{}…", &name[..truncate::floor(name, MAX_NAME)]))
}

/// The maximum length of a call ID that is recorded, in bytes. No vendor uses longer ones.
pub(crate) const MAX_ID_BYTES: usize = 256;

/// Returns the ID of a call for records: its start and `…` if it is longer than any vendor's IDs.
#[doc(hidden)]
pub fn shown_id(id: &Text) -> Text {
    if id.len() <= MAX_ID_BYTES {
        return id.clone();
    }
    Text::from(format!("{}…", &id[..truncate::floor(id, MAX_ID_BYTES / 2)]))
}

/// The response to a tool call. Each call gets exactly one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolResponse {
    /// The ID of the call.
    pub id: Text,
    /// The name of the tool that was called.
    pub name: Text,
    /// The outcome of the call.
    pub outcome: Result<ToolResult, ToolError>,
    /// Whether the tool was never started: a hook blocked the call, a message of the user was waiting, or its
    /// turn had too many calls.
    pub skipped: bool,
    /// If a program that the model's vendor runs made the call, the vendor's ID of the program, which gets the result.
    pub program: Option<Text>,
    /// When the call arrived.
    pub started: SystemTime,
    /// How long the call took.
    pub duration: Duration,
    /// The declared form of the result, which MCP sends as structured content. Set by a toolbox.
    pub declared: Option<Arc<StructuredOutput>>,
}

impl ToolResponse {
    /// Creates an immediate response, with a duration of zero.
    #[must_use]
    pub fn new(call: &ToolCall, outcome: Result<ToolResult, ToolError>) -> ToolResponse {
        ToolResponse {
            id: call.id.clone(),
            name: call.name.clone(),
            outcome,
            skipped: false,
            program: call.program.clone(),
            started: SystemTime::now(),
            duration: Duration::ZERO,
            declared: None,
        }
    }

    /// Makes this a response of the tool through which the call was made, if any. That tool declares no structured
    /// result.
    pub(crate) fn attribute_to(&mut self, call: ToolCall) {
        if let Some(via) = call.via {
            self.name = via;
            self.declared = None;
        }
        self.program = call.program;
    }

    /// Creates the response to a call that does not run, with the reason for the model.
    pub fn skipped(call: &ToolCall, reason: impl Into<String>) -> ToolResponse {
        let error = ToolError::failed_with("SKIPPED", reason);
        ToolResponse { skipped: true, ..ToolResponse::new(call, Err(error)) }
    }

    /// Whether there is no result, or the tool itself reports a failure (see [`ToolResult::is_error`]).
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.outcome.as_ref().map_or(true, ToolResult::is_error)
    }

    /// Returns the description of a failure for operators: the [text of the error](ToolError::operator_text), or that
    /// [of the result](ToolResult::operator_text), which for example names the credential that a service
    /// rejected. `None` if there is no failure.
    #[must_use]
    pub fn operator_text(&self) -> Option<Cow<'_, str>> {
        match &self.outcome {
            Err(error) => Some(error.operator_text()),
            Ok(result) if result.is_error() => {
                Some(result.operator_text().map_or_else(|| result.to_text().into(), Cow::Borrowed))
            }
            Ok(_) => None,
        }
    }

    /// The request to the agent loop. For a call that needs input that no handler could supply, this is the request
    /// that is also in the [`PendingInputCall`](crate::call::control::PendingInputCall)
    /// of its error.
    #[must_use]
    pub fn control(&self) -> Control {
        match &self.outcome {
            Ok(result) => result.control.clone(),
            Err(ToolError::InputRequired(pending)) => Control::NeedInput(pending.request.clone()),
            Err(_) => Control::Continue,
        }
    }

    /// The content that the model sees.
    #[must_use]
    pub fn content(&self) -> Cow<'_, [Content]> {
        match &self.outcome {
            Ok(result) => Cow::Borrowed(&result.content),
            Err(error) => Cow::Owned(vec![Content::Text(model_text(error))]),
        }
    }

    /// The text content that a model sees, one piece per line.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.outcome {
            Ok(result) => result.to_text(),
            Err(error) => model_text(error),
        }
    }

    /// The response as `{"tool_call_id", "tool_name", "content", "is_error", "timestamp", "duration_ms",
    /// "provenance"}`; an error adds `error_code`. The timestamp is in milliseconds since 1970. The provenance is
    /// always `tool-result`: programs that store messages from several sources can tell that a tool produced this one,
    /// and that it is neither a user message nor text to cache.
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
            "provenance": "tool-result",
        });
        if let Err(error) = &self.outcome {
            out["error_code"] = Value::from(error.code());
        }
        out
    }
}

/// Returns the text of an error for a model, with the name that the model probably meant.
fn model_text(error: &ToolError) -> String {
    match error {
        ToolError::NotFound { suggestion: Some(closest), .. } => {
            format!("{error}; did you mean '{closest}'?")
        }
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_gives_the_model_text_and_error_flag() {
        let call = ToolCall::new("1", "t", json!({}));
        let good = ToolResponse::new(&call, Ok(ToolResult::text("done")));
        assert_eq!((good.text().as_str(), good.is_error()), ("done", false));
        let response = ToolResponse::new(&call, Ok(ToolResult::json(json!({"success": false}))));
        assert!(response.is_error());
        let mut failed = ToolResponse::new(&call, Err(ToolError::failed("it broke")));
        failed.started = SystemTime::UNIX_EPOCH + Duration::from_millis(1500);
        assert_eq!(
            failed.to_json(),
            json!({
                "tool_call_id": "1", "tool_name": "t", "is_error": true, "error_code": "EXECUTION_ERROR",
                "content": [{"type": "text", "text": "it broke"}], "timestamp": 1500, "duration_ms": 0,
                "provenance": "tool-result",
            })
        );
    }
}
