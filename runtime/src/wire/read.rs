//! What all formats have in common when calls are read.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use super::Format;
use crate::call::ToolCall;

/// A response of a model that is not as its provider writes it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WireError {
    /// All that is wrong.
    pub problems: Vec<WireProblem>,
    /// The calls that could be read nevertheless.
    pub calls: Vec<ToolCall>,
}

/// A place where a response is not as its provider writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WireProblem {
    /// Where in the response, as a JSON pointer.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

impl WireProblem {
    pub(super) fn new(pointer: impl Into<String>, message: impl Into<String>) -> WireProblem {
        WireProblem { pointer: pointer.into(), message: message.into() }
    }
}

impl fmt::Display for WireProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.pointer, self.message)
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let line_break = if index == 0 { "" } else { "\n" };
            write!(f, "{line_break}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for WireError {}

/// The blocks of a response.
pub(super) struct Turn<'v> {
    /// Where they are.
    pub(super) pointer: String,
    /// The blocks.
    pub(super) blocks: &'v [Value],
    /// `blocks` is the one block at `pointer`, and no list.
    pub(super) single: bool,
    /// The model hit its token limit, so the last block is not whole.
    pub(super) cut: bool,
}

/// A block of a response.
pub(super) enum Item<'v> {
    /// Not a call for us.
    Skip,
    /// A call.
    Call(Call<'v>),
}

/// A call as it is written.
pub(super) struct Call<'v> {
    /// The id; nothing if there is none; an error if it is of a wrong kind.
    pub(super) id: Result<Option<Cow<'v, str>>, ()>,
    /// Where the id is, from the block.
    pub(super) id_pointer: &'static str,
    /// The name, if it is one.
    pub(super) name: &'v str,
    /// The arguments.
    pub(super) arguments: Option<&'v Value>,
    /// The provider says that this very call is not whole.
    pub(super) cut: bool,
}

impl<'v> Turn<'v> {
    /// The list of blocks under a key of an object; none if it is absent or `null`.
    pub(super) fn list(
        owner: &'v Value,
        pointer: &str,
        key: &str,
        cut: bool,
    ) -> Result<Turn<'v>, WireProblem> {
        let pointer = format!("{pointer}/{key}");
        let blocks: &[Value] = match owner.get(key) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(blocks)) => blocks,
            Some(_) => return Err(WireProblem::new(pointer, "is not a list")),
        };
        Ok(Turn { pointer, blocks, single: false, cut })
    }

    /// One block.
    pub(super) fn single(block: &'v Value) -> Turn<'v> {
        Turn { pointer: String::new(), blocks: std::slice::from_ref(block), single: true, cut: false }
    }

    /// A list of blocks.
    pub(super) fn blocks(blocks: &'v [Value]) -> Turn<'v> {
        Turn { pointer: String::new(), blocks, single: false, cut: false }
    }

    /// No blocks at all.
    pub(super) fn none() -> Turn<'v> {
        Turn::blocks(&[])
    }
}

/// The id under a key of a block, which is a text.
pub(super) fn text_id<'v>(owner: &'v Value, key: &str) -> Result<Option<Cow<'v, str>>, ()> {
    match owner.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) if id.is_empty() => Ok(None),
        Some(Value::String(id)) => Ok(Some(Cow::Borrowed(id))),
        Some(_) => Err(()),
    }
}

/// The text under a key, or an empty one.
pub(super) fn text<'v>(owner: &'v Value, key: &str) -> &'v str {
    owner.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// No place in a value is one where the format has calls.
pub(super) fn unknown(title: &str) -> WireProblem {
    WireProblem::new("", format!("is neither a response nor a message nor a call of {title}"))
}

/// Reads all calls.
pub(super) fn calls(format: &Format, response: &Value) -> Result<Vec<ToolCall>, WireError> {
    let turn = (format.turn)(response)
        .map_err(|problem| WireError { problems: vec![problem], calls: Vec::new() })?;
    let mut problems = Vec::new();
    let mut calls = Vec::new();
    let last = turn.blocks.len().saturating_sub(1);
    for (index, block) in turn.blocks.iter().enumerate() {
        let at = if turn.single { turn.pointer.clone() } else { format!("{}/{index}", turn.pointer) };
        if !block.is_object() {
            problems.push(WireProblem::new(at, "is not an object"));
            continue;
        }
        match (format.item)(block) {
            Item::Skip => {}
            Item::Call(call) => match id(&call, format.ids_optional) {
                Ok(id) => {
                    let cut = call.cut || (turn.cut && index == last);
                    let read = ToolCall::new(id, call.name, arguments(call.arguments));
                    calls.push(if cut { read.truncated() } else { read });
                }
                Err(why) => problems.push(WireProblem::new(at + call.id_pointer, why)),
            },
        }
    }
    if problems.is_empty() { Ok(calls) } else { Err(WireError { problems, calls }) }
}

fn id(call: &Call<'_>, optional: bool) -> Result<String, &'static str> {
    match &call.id {
        Ok(Some(id)) => Ok(id.clone().into_owned()),
        Ok(None) if optional => Ok(made_up_id()),
        Ok(None) => Err("is missing, so the call cannot be answered"),
        Err(()) => Err("is not a text, so the call cannot be answered"),
    }
}

fn arguments(arguments: Option<&Value>) -> Value {
    match arguments {
        None | Some(Value::Null) => json!({}),
        Some(Value::String(text)) if text.trim().is_empty() => json!({}),
        Some(arguments) => arguments.clone(),
    }
}

/// What made-up ids start with. No provider's ids do.
const MADE_UP: &str = "toolgen-made-up-";

/// An id for a call that has none: unique in this process, and most likely in the world.
fn made_up_id() -> String {
    static PROCESS: OnceLock<u64> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // Every `RandomState` of a process is seeded by the system's random numbers.
    let process = PROCESS.get_or_init(|| RandomState::new().hash_one(MADE_UP));
    format!("{MADE_UP}{process:016x}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Whether an id was made up for a call that had none. Providers do not know such ids.
#[must_use]
pub fn is_made_up(id: &str) -> bool {
    id.starts_with(MADE_UP)
}
