//! A turn of a model: text, calls, token usage and stop reason.

use serde_json::Value;
use toolgen_kernel::base::data::plain_data;
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::redacted_debug::discreet_debug;

use super::calls::{self, Calls, TurnBuilder, text};
use super::layout::{StopReason, WireError};
use super::{Format, WireFormat};

/// A turn of a model, as [`WireFormat::turn`] parses it from a reply.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ModelReply {
    /// The text for the user. Text blocks with other blocks between them are separate lines.
    pub text: String,
    /// The text of the model's reasoning, if the vendor shows it.
    pub thinking: String,
    /// The calls.
    pub calls: Calls,
    /// The token usage of the turn.
    pub usage: Usage,
    /// Why the model stopped.
    pub stop: StopReason,
    /// Why the model stopped, in the vendor's own term. Empty if the reply does not state it.
    pub raw_stop_reason: Text,
    /// The turn in the form that is sent back to the same vendor.
    pub raw: RawTurn,
}

discreet_debug!(ModelReply: calls, usage, stop, raw_stop_reason, raw; text, thinking);

/// Token counts of a turn. Zero means none or unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// All tokens of the request, including cached tokens.
    pub input: u64,
    /// All tokens of the reply, including reasoning tokens.
    pub output: u64,
    /// The tokens of the request that were read from a cache.
    pub cached: u64,
    /// The tokens of the reply that were reasoning.
    pub reasoning: u64,
}

plain_data!(Usage: ; input, output, cached, reasoning);

impl Usage {
    /// Creates the token counts of a turn.
    #[must_use]
    pub fn new(input: u64, output: u64, cached: u64, reasoning: u64) -> Usage {
        Usage { input, output, cached, reasoning }
    }

    /// Returns the total of request and reply.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Returns the sum of two token counts.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

/// Returns the number at a JSON pointer, or zero.
#[must_use]
pub fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or_default()
}

/// A turn as the vendor wrote it, to be sent back unchanged, with reasoning, signatures and all other content.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RawTurn {
    /// The name of the format.
    pub format: Text,
    /// The messages or items of a request that contain the turn.
    pub messages: Vec<Value>,
    /// The kinds of content that only this format can represent, such as `thinking` or `thoughtSignature`, without
    /// duplicates.
    pub only_here: Vec<Text>,
    /// Members that the next request to the same vendor must have, such as the ID of the container in which a program
    /// waits for the results of its calls. Null for none.
    pub next_request: Value,
}

discreet_debug!(RawTurn: format, only_here; messages);
plain_data!(RawTurn: format, messages; only_here, next_request);

/// Parses a turn. `ended` is false if the stream ended early.
pub(super) fn read(format: &Format, response: &Value, ended: bool) -> Result<ModelReply, WireError> {
    let mut builder = TurnBuilder::default();
    let (calls, blocks) =
        calls::read(format, response, ended, &mut builder).map_err(|error| vendor_error(response, error))?;
    let stop = match blocks.ending.stop {
        StopReason::Unknown | StopReason::EndTurn if !calls.calls.is_empty() => StopReason::ToolCalls,
        stop => stop,
    };
    if stop == StopReason::Failed
        && calls.calls.is_empty()
        && let Some(error) = error_in(response)
    {
        return Err(error);
    }
    let messages = (format.keep)(blocks.owner, blocks.blocks);
    let next_request = (format.carry)(blocks.owner);
    Ok(ModelReply {
        text: builder.text,
        thinking: builder.thinking,
        calls,
        usage: (format.usage)(response),
        stop,
        raw_stop_reason: Text::copy_of(blocks.ending.word),
        raw: RawTurn { format: format.name.into(), messages, only_here: builder.only_here, next_request },
    })
}

/// Returns the error that a vendor sent instead of a reply, or else the given error.
fn vendor_error(response: &Value, error: WireError) -> WireError {
    error_in(response).unwrap_or(error)
}

/// Returns the error that an object represents: `{"error": …}`, `{"type": "error", …}`, a failed response of OpenAI, or
/// an exception of Bedrock.
pub(super) fn error_in(value: &Value) -> Option<WireError> {
    let failed = value.pointer("/response/error").filter(|_| text(value, "type") == "response.failed");
    let (error, pointer) = match value.get("error").filter(|error| !error.is_null()) {
        Some(error) => (error, "/error"),
        None if text(value, "type") == "error" => (value, ""),
        None => match failed.filter(|error| !error.is_null()) {
            Some(error) => (error, "/response/error"),
            None => return exception(value),
        },
    };
    let words = words(error, true).unwrap_or_else(|| "without a reason".to_owned());
    Some(WireError::new(pointer, format!("{ERROR}{words}")))
}

/// What precedes the vendor's own words.
const ERROR: &str = "the vendor sent an error instead of a reply: ";

/// Returns the error of an event of Bedrock: `{"throttlingException": {"message": …}}`.
fn exception(value: &Value) -> Option<WireError> {
    let members = value.as_object().filter(|members| members.len() == 1)?;
    let (name, details) = members.iter().next().filter(|(name, _)| name.ends_with("Exception"))?;
    Some(WireError::new("", format!("{ERROR}{name}: {}", text(details, "message"))))
}

/// Whether the vendor calls an error temporary, by its type, code or status: in what [`WireError`] says of it, these are
/// the words without spaces before its message.
#[doc(hidden)]
#[must_use]
pub fn is_temporary(message: &str) -> bool {
    const FINAL: [&str; 4] = ["insufficient_quota", "quota_exceeded", "billing", "context_length"];
    const TEMPORARY: [&str; 13] = [
        "overloaded",
        "rate_limit",
        "api_error",
        "server_error",
        "servererror",
        "internal",
        "unavailable",
        "throttling",
        "resource_exhausted",
        "deadline_exceeded",
        "timeout",
        "notready",
        "streamerror",
    ];
    let words = message.split_once(ERROR).map_or(message, |(_, words)| words);
    let names = words.split(": ").take_while(|word| !word.is_empty() && !word.contains(' '));
    let names: Vec<String> = names.map(str::to_ascii_lowercase).collect();
    let has = |list: &[&str]| names.iter().any(|name| list.iter().any(|word| name.contains(word)));
    let is_status = |name: &String| matches!(name.parse(), Ok(408 | 409 | 429 | 500..=599));
    !has(&FINAL) && (has(&TEMPORARY) || names.iter().any(is_status))
}

/// Returns the type, code and message of an error, joined. A code may be a number, which repeats the status if there is
/// one.
fn words(error: &Value, numbers: bool) -> Option<String> {
    let words = match error {
        Value::String(message) => vec![message.clone()],
        error => ["type", "code", "status", "message"]
            .iter()
            .filter_map(|key| match error.get(key)? {
                Value::String(word) => Some(word.clone()),
                Value::Number(number) if numbers => Some(number.to_string()),
                _ => None,
            })
            .collect(),
    };
    let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty() && word != "error").collect();
    if words.is_empty() { None } else { Some(words.join(": ")) }
}

/// Returns what the body of a response with an error status says, if it has the form of any vendor: an `error`, alone
/// or in a list, or a `message`.
#[doc(hidden)]
#[must_use]
pub fn vendor_message(body: &Value) -> Option<String> {
    let body = body.as_array().and_then(|items| items.first()).unwrap_or(body);
    let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
    words(error, false).or_else(|| match body.get("Message") {
        Some(Value::String(message)) => Some(message.clone()),
        _ => None,
    })
}

impl WireFormat {
    /// Parses a whole turn of a model from a response: its text, calls, token usage, stop reason, and the messages
    /// that put it back into the conversation.
    ///
    /// Accepts the same values as [`tool_calls`](Self::tool_calls), and parses the calls in the same way.
    ///
    /// # Errors
    ///
    /// Returns an error if the value is not a response of this format, or is only a part of a response. An error that
    /// the vendor sent instead of a reply is returned with the vendor's message.
    pub fn turn(self, response: &Value) -> Result<ModelReply, WireError> {
        read(self.format(), response, true)
    }
}
