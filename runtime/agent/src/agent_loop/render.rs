//! Renders a transcript in the message format of a vendor.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;
use sha2::{Digest, Sha256};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::base::redacted_debug::discreet_debug;
use toolgen_kernel::call::{ToolCall, ToolResponse};
use toolgen_wire::conversation::Conversation;
use toolgen_wire::{ToolResultOptions, WireFormat};

use super::{Entry, ModelTurn, Transcript};

/// A transcript in the message format of a vendor, and the content that the format cannot express.
#[derive(Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RenderedTranscript {
    /// The messages or items of a request, oldest first.
    pub messages: Vec<Value>,
    /// The content that is missing in the messages.
    pub lost: Vec<LostContent>,
}

discreet_debug!(RenderedTranscript: lost; messages);

/// A part of a transcript entry that another message format cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostContent {
    /// Index of the entry, from zero.
    pub entry: usize,
    /// The kind of content, such as `thinking` or `thoughtSignature`.
    pub what: Text,
    /// The name of the format that can express it. Empty if none can.
    pub only_in: Text,
}

impl fmt::Display for LostContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry {} loses `{}`", self.entry, self.what)?;
        if self.only_in.is_empty() { Ok(()) } else { write!(f, ", which only {} can carry", self.only_in) }
    }
}

impl Transcript {
    /// Renders the transcript as the messages of a request.
    ///
    /// A turn from the same format is rendered verbatim, with its reasoning and signatures in their order. A turn
    /// from another format is rendered as its text and its calls. Their IDs become nine letters and digits, which
    /// every vendor accepts. Other content of such a turn is reported in [`lost`](RenderedTranscript::lost).
    ///
    /// ```
    /// use serde_json::json;
    /// use toolgen_runtime::agent::agent_loop::{Entry, Transcript};
    /// use toolgen_runtime::wire::WireFormat;
    ///
    /// # fn main() -> Result<(), toolgen_runtime::wire::WireError> {
    /// let mut transcript = Transcript::user("1 + 2?");
    /// let reply = json!({ "role": "assistant", "stop_reason": "end_turn", "content": [
    ///     { "type": "thinking", "thinking": "Easy.", "signature": "c2ln" },
    ///     { "type": "text", "text": "3." },
    /// ] });
    /// transcript.push(Entry::Model(WireFormat::Anthropic.turn(&reply)?.into()));
    ///
    /// let same = transcript.messages(WireFormat::Anthropic);
    /// assert_eq!(same.messages[1]["content"], reply["content"]);
    /// let other = transcript.messages(WireFormat::OpenAiChat);
    /// assert_eq!(other.messages[1], json!({ "role": "assistant", "content": "3." }));
    /// assert_eq!(other.lost[0].to_string(), "entry 1 loses `thinking`, which only anthropic can carry");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn messages(&self, format: WireFormat) -> RenderedTranscript {
        self.messages_with(format, &ToolResultOptions::default())
    }

    /// Like [`messages`](Self::messages), with options for tool results.
    #[must_use]
    pub fn messages_with(&self, format: WireFormat, options: &ToolResultOptions<'_>) -> RenderedTranscript {
        let mut conversation = Conversation::new(format);
        let mut lost = Vec::new();
        // Whether the last turn of the model is rendered verbatim, so that results keep the IDs of its calls.
        let mut is_own = false;
        for (entry, reply) in self.iter().enumerate() {
            let mut lose = |what: Text, only_in: Text| lost.push(LostContent { entry, what, only_in });
            match reply {
                // Not a message: a request has a member for it.
                Entry::System(_) => {}
                Entry::User(text) => {
                    if conversation.user(text).is_err() {
                        lose("message".into(), Text::default());
                    }
                }
                Entry::Model(turn) => {
                    is_own = turn.raw.format == format.name();
                    if is_own {
                        conversation.push_raw_turn(&turn.raw.messages);
                        continue;
                    }
                    for what in &turn.raw.only_here {
                        lose(what.clone(), turn.raw.format.clone());
                    }
                    if conversation.model(&turn.text, &calls(turn)).is_err() {
                        lose("turn".into(), Text::default());
                    }
                }
                Entry::Answer(response) => {
                    let response =
                        if is_own { Cow::Borrowed(&**response) } else { Cow::Owned(renamed(response)) };
                    conversation.answer(&response, options);
                }
            }
        }
        RenderedTranscript { messages: conversation.messages, lost }
    }
}

/// Returns the calls of a turn with IDs that every vendor accepts.
fn calls(turn: &ModelTurn) -> Vec<ToolCall> {
    let mut calls = turn.calls.clone();
    for call in &mut calls {
        // The program is part of the turn that is not rendered.
        (call.id, call.program) = (portable(&call.id), None);
    }
    calls
}

fn renamed(response: &ToolResponse) -> ToolResponse {
    let mut renamed = response.clone();
    (renamed.id, renamed.program) = (portable(&response.id), None);
    renamed
}

/// Derives a deterministic ID of nine letters and digits. Mistral accepts no other length.
fn portable(id: &str) -> Text {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let digest = Sha256::digest(id);
    let mut number = digest.iter().take(8).fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let mut written = String::with_capacity(9);
    for _ in 0..9 {
        let digit = usize::try_from(number % 36).unwrap_or_default();
        written.push(char::from(DIGITS[digit]));
        number /= 36;
    }
    written.into()
}
