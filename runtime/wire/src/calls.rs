//! Parses tool calls: the part that all formats share.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Value, json};
use toolgen_kernel::base::frozen::Text;
use toolgen_kernel::call::ToolCall;
use toolgen_kernel::call::blocked::Blocked;

use super::Format;
use super::ids::{self, Id};
use super::layout::{ResponseBlocks, StopReason, WireError};

/// The tool calls of a response, in order. Dereferences to the list of calls.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Calls {
    /// Every call that needs a result. Calls that must not run are [blocked](ToolCall::blocked), with a reason.
    pub calls: Vec<ToolCall>,
    /// Calls that cannot get a result, such as a call without an ID, and kinds of calls that this crate does not run.
    pub problems: Vec<WireError>,
    /// Why the vendor stopped the model, in the vendor's own term. If set, all calls are blocked.
    pub stopped: Option<Text>,
}

impl std::ops::Deref for Calls {
    type Target = [ToolCall];

    fn deref(&self) -> &[ToolCall] {
        &self.calls
    }
}

impl IntoIterator for Calls {
    type Item = ToolCall;
    type IntoIter = std::vec::IntoIter<ToolCall>;

    fn into_iter(self) -> Self::IntoIter {
        self.calls.into_iter()
    }
}

impl<'a> IntoIterator for &'a Calls {
    type Item = &'a ToolCall;
    type IntoIter = std::slice::Iter<'a, ToolCall>;

    fn into_iter(self) -> Self::IntoIter {
        self.calls.iter()
    }
}

/// The keys of signatures that only the vendor of a block understands.
const SIGNATURES: [&str; 2] = ["thoughtSignature", "thought_signature"];

/// State that is collected while the blocks of a reply are read.
#[derive(Default)]
pub(super) struct TurnBuilder {
    pub(super) text: String,
    pub(super) thinking: String,
    pub(super) only_here: Vec<Text>,
    /// Whether another block follows the last text block.
    text_ended: bool,
}

impl TurnBuilder {
    /// Adds the content of a block that is not a call.
    pub(super) fn add(&mut self, item: &Item<'_>, kind: &str) {
        match item {
            Item::Text(message) => {
                if std::mem::take(&mut self.text_ended) && !self.text.is_empty() && !message.is_empty() {
                    self.text.push('\n');
                }
                return self.text.push_str(message);
            }
            Item::Thinking(thought) => {
                if !self.thinking.is_empty() && !thought.is_empty() {
                    self.thinking.push('\n');
                }
                self.thinking.push_str(thought);
                self.only_here(kind);
            }
            Item::Skip | Item::Foreign(_) => self.only_here(kind),
            Item::Call(_) => {}
        }
        self.text_ended = true;
    }

    /// Records the signature of a block, if it has one.
    pub(super) fn signature(&mut self, block: &Value) {
        for key in SIGNATURES.into_iter().filter(|key| block.get(key).is_some()) {
            self.only_here(key);
        }
    }

    fn only_here(&mut self, kind: &str) {
        if !kind.is_empty() && self.only_here.iter().all(|recorded| recorded != kind) {
            self.only_here.push(Text::copy_of(kind));
        }
    }
}

/// Returns the name of a block: its type, or its first key.
pub(super) fn kind(block: &Value) -> &str {
    match (text(block, "type"), block.as_object()) {
        ("", Some(fields)) => fields.keys().next().map_or("", String::as_str),
        (kind, _) => kind,
    }
}

/// A block of a response.
#[derive(Clone, Debug)]
pub enum Item<'v> {
    /// A block of another kind, which only the same vendor understands.
    Skip,
    /// Text for the user.
    Text(Cow<'v, str>),
    /// Text of the model's reasoning.
    Thinking(Cow<'v, str>),
    /// A call that the program must handle, but of a kind that this crate does not run.
    Foreign(&'v str),
    /// A call.
    Call(ParsedCall<'v>),
}

/// A call as written in a response.
#[derive(Clone)]
pub struct ParsedCall<'v> {
    /// The ID; `None` if it is missing; an error if it has the wrong type.
    pub(super) id: Result<Option<Cow<'v, str>>, ()>,
    /// The location of the ID, relative to the block.
    pub(super) id_pointer: &'static str,
    /// What the tool result must know about the call in addition to its ID.
    pub(super) kind: Id,
    /// The name; empty if it is not a string.
    pub(super) name: &'v str,
    /// The arguments.
    pub(super) arguments: Option<Cow<'v, Value>>,
    /// The ID of the program that made the call, if one did.
    pub(super) program: Option<&'v str>,
    /// Why the call must not run, if it must not.
    pub(super) blocked: Option<Blocked>,
}

impl fmt::Debug for ParsedCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WrittenCall").field("id", &self.id).field("name", &self.name).finish_non_exhaustive()
    }
}

impl<'v> ParsedCall<'v> {
    /// Creates an ordinary call from an object with a name, and with an ID and arguments under these keys. `pointer` is
    /// the location of the ID, relative to the block.
    #[must_use]
    pub fn of(
        owner: &'v Value,
        id: &'static str,
        id_pointer: &'static str,
        arguments: &str,
    ) -> ParsedCall<'v> {
        ParsedCall {
            id: text_id(owner, id),
            id_pointer,
            kind: Id::Standard,
            name: text(owner, "name"),
            arguments: owner.get(arguments).map(Cow::Borrowed),
            program: None,
            blocked: None,
        }
    }

    /// Sets the ID of the program that made the call: a string under this key of the member `caller`, if there is one.
    #[must_use]
    pub fn by_program(mut self, owner: &'v Value, key: &str) -> ParsedCall<'v> {
        self.program = owner.get("caller").map(|caller| text(caller, key)).filter(|id| !id.is_empty());
        self
    }

    /// Marks the call as incomplete if `truncated` is set.
    #[must_use]
    pub fn cut_if(mut self, truncated: bool) -> ParsedCall<'v> {
        if truncated {
            self.blocked = Some(Blocked::Truncated);
        }
        self
    }
}

/// Returns the ID under a key of a block, which must be a string.
pub(super) fn text_id<'v>(owner: &'v Value, key: &str) -> Result<Option<Cow<'v, str>>, ()> {
    match owner.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) if id.is_empty() => Ok(None),
        Some(Value::String(id)) => Ok(Some(Cow::Borrowed(id))),
        Some(_) => Err(()),
    }
}

/// Returns the string under a key, or an empty string.
#[must_use]
pub fn text<'v>(owner: &'v Value, key: &str) -> &'v str {
    owner.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Parses all calls of a response, and adds its other content to the builder. Returns the calls with the blocks and the
/// ending of the response.
pub(super) fn read<'v>(
    format: &Format,
    response: &'v Value,
    ended: bool,
    builder: &mut TurnBuilder,
) -> Result<(Calls, ResponseBlocks<'v>), WireError> {
    let mut response_blocks = format.layout.find(response)?;
    if !ended && response_blocks.ending.stop == StopReason::Unknown {
        response_blocks.ending.stop = StopReason::Interrupted;
    }
    let mut calls = Calls::default();
    let stop = response_blocks.ending.stop;
    if stop.is_stopped() {
        let reason =
            if response_blocks.ending.word.is_empty() { stop.as_str() } else { response_blocks.ending.word };
        calls.stopped = Some(Text::copy_of(reason));
    }
    for (kind, item) in (format.beside)(response_blocks.owner) {
        builder.add(&item, kind);
    }
    let last = response_blocks.blocks.len().saturating_sub(1);
    for (index, block) in response_blocks.blocks.iter().enumerate() {
        let pointer = || {
            if response_blocks.single {
                response_blocks.pointer.clone()
            } else {
                format!("{}/{index}", response_blocks.pointer)
            }
        };
        if !block.is_object() {
            calls.problems.push(WireError::new(pointer(), "is not an object"));
            continue;
        }
        let item = (format.item)(block);
        builder.add(&item, kind(block));
        builder.signature(block);
        match item {
            Item::Skip | Item::Text(_) | Item::Thinking(_) => {}
            Item::Foreign(kind) => {
                let reason = format!("is a `{kind}`, which only the program can handle");
                calls.problems.push(WireError::new(pointer(), reason));
            }
            Item::Call(call) => match id(&call, format.ids_optional) {
                Ok(id) => {
                    let is_truncated = stop.is_truncated() && (index == last || call.has_invalid_arguments());
                    calls.calls.push(call.cut_if(is_truncated).finish(id, calls.stopped.as_ref()));
                }
                Err(error) => calls.problems.push(WireError::new(pointer() + call.id_pointer, error)),
            },
        }
    }
    Ok((calls, response_blocks))
}

impl ParsedCall<'_> {
    /// Whether the arguments are a string that is not JSON.
    fn has_invalid_arguments(&self) -> bool {
        let text = self.arguments.as_deref().and_then(Value::as_str).filter(|text| !text.trim().is_empty());
        text.is_some_and(|text| serde_json::from_str::<serde_core::de::IgnoredAny>(text).is_err())
    }

    fn finish(self, id: String, stopped: Option<&Text>) -> ToolCall {
        let without_name = || self.name.is_empty().then(|| Blocked::Malformed("it has no name".into()));
        let blocked = stopped.cloned().map(Blocked::Stopped).or(self.blocked).or_else(without_name);
        let mut call = ToolCall::new(id, self.name, normalize_arguments(self.arguments));
        call.program = self.program.map(Text::copy_of);
        match blocked {
            Some(reason) => call.blocked(reason),
            None => call,
        }
    }
}

fn id(call: &ParsedCall<'_>, is_optional: bool) -> Result<String, &'static str> {
    match &call.id {
        Ok(Some(id)) => Ok(call.kind.mark(id)),
        Ok(None) if is_optional => Ok(ids::generate(call.kind)),
        Ok(None) => Err("is missing, so the call cannot get a result"),
        Err(()) => Err("is not a string, so the call cannot get a result"),
    }
}

fn normalize_arguments(arguments: Option<Cow<'_, Value>>) -> Value {
    match arguments.as_deref() {
        None | Some(Value::Null) => json!({}),
        Some(Value::String(text)) if text.trim().is_empty() => json!({}),
        Some(_) => arguments.map(Cow::into_owned).unwrap_or_default(),
    }
}

/// Returns the arguments of a call as an object, for formats that accept nothing else.
pub(super) fn arguments(call: &ToolCall) -> Value {
    match &call.arguments {
        Value::Object(_) => call.arguments.clone(),
        Value::Null => json!({}),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(Value::Object(fields)) => Value::Object(fields),
            _ => json!({ "INVALID_JSON": text }),
        },
        invalid => json!({ "INVALID_JSON": invalid }),
    }
}
