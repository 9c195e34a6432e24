//! Reading calls: the part that all formats share.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Value, json};

use super::Format;
use super::ids::{self, Id};
use crate::base::frozen::Text;
use crate::call::ToolCall;
use crate::call::blocked::Blocked;

/// A place where a response does not match its provider's format.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WireError {
    /// The place in the response, as a JSON pointer.
    pub pointer: String,
    /// The problem.
    pub message: String,
}

impl WireError {
    pub(super) fn new(pointer: impl Into<String>, message: impl Into<String>) -> WireError {
        WireError { pointer: pointer.into(), message: message.into() }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.pointer, self.message)
    }
}

impl std::error::Error for WireError {}

/// The calls of a response, in order. Dereferences to the list of calls.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Calls {
    /// Every call that can be answered. Calls that must not run are [blocked](ToolCall::blocked), with a reason.
    pub calls: Vec<ToolCall>,
    /// What cannot be answered, such as a call without an ID, and calls that this crate does not run.
    pub problems: Vec<WireError>,
    /// Why the provider stopped the model, in the provider's own word. If set, all calls are blocked.
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

/// Where a format holds the blocks that may be calls.
pub(super) struct Layout {
    /// The display name of the format.
    pub(super) title: &'static str,
    /// The keys from a response down to its list of blocks; `0` is the first item of a list. A response may also begin
    /// further down, for example with a message.
    pub(super) path: &'static [&'static str],
    /// The key of the path that may be missing, like the last one.
    pub(super) optional: &'static str,
    /// The keys that identify a message without blocks.
    pub(super) message: &'static [&'static str],
    /// The key of a single block, next to the last key of the path, if there is no list.
    pub(super) lone: &'static str,
    /// Whether an object is a block by itself.
    pub(super) is_block: fn(&Value) -> bool,
    /// Whether an object is a stream event.
    pub(super) is_piece: fn(&Value) -> bool,
    /// How a response ended; called for each object on the path.
    pub(super) ending: for<'v> fn(&'v Value) -> Ending<'v>,
}

impl Layout {
    /// The base of every literal: no path, no blocks, no streams.
    pub(super) const EMPTY: Layout = Layout {
        title: "",
        path: &[],
        optional: "",
        message: &[],
        lone: "",
        is_block: |_| false,
        is_piece: |_| false,
        ending: |_| Ending::Whole,
    };

    /// The error if a value has none of the places where the format holds calls.
    fn unknown(&self) -> WireError {
        let title = self.title;
        WireError::new("", format!("is neither a response nor a message nor a call of {title}"))
    }

    fn check_whole(&self, value: &Value, pointer: &str) -> Result<(), WireError> {
        if (self.is_piece)(value) {
            let title = self.title;
            let what = format!(
                "is a piece of a response of {title}: calls are read from whole ones, so wait for it or collect the \
                 stream first"
            );
            return Err(WireError::new(pointer, what));
        }
        Ok(())
    }
}

/// How a response ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending<'v> {
    /// The model finished.
    Whole,
    /// The model hit its token limit, so the last block is incomplete.
    Cut,
    /// The provider stopped the model for this reason.
    Stopped(&'v str),
}

/// The blocks of a response.
struct Turn<'v> {
    /// The place of the blocks, as a JSON pointer.
    pointer: String,
    /// The blocks.
    blocks: &'v [Value],
    /// Whether `blocks` is the single block at `pointer`, not a list.
    single: bool,
    ending: Ending<'v>,
}

/// A block of a response.
pub(super) enum Item<'v> {
    /// Not a call for the program.
    Skip,
    /// A call that the program must answer, but of a kind that this crate does not run.
    Foreign(&'v str),
    /// A call.
    Call(Call<'v>),
}

/// A call as written in a response.
pub(super) struct Call<'v> {
    /// The ID; `None` if there is none; an error if it has the wrong type.
    pub(super) id: Result<Option<Cow<'v, str>>, ()>,
    /// The place of the ID, relative to the block.
    pub(super) id_pointer: &'static str,
    /// What the answer must know of the call besides its ID.
    pub(super) kind: Id,
    /// The name; empty if it is not text.
    pub(super) name: &'v str,
    /// The arguments.
    pub(super) arguments: Option<Cow<'v, Value>>,
    /// Why the call must not run, if so.
    pub(super) blocked: Option<Blocked>,
}

impl<'v> Call<'v> {
    /// Creates a usual call: an object with an ID, a name and arguments.
    pub(super) fn of(
        owner: &'v Value,
        id: &'static str,
        id_pointer: &'static str,
        arguments: &str,
    ) -> Call<'v> {
        Call {
            id: text_id(owner, id),
            id_pointer,
            kind: Id::Usual,
            name: text(owner, "name"),
            arguments: owner.get(arguments).map(Cow::Borrowed),
            blocked: None,
        }
    }

    /// Marks a call as incomplete.
    pub(super) fn cut_if(mut self, cut: bool) -> Call<'v> {
        if cut {
            self.blocked = Some(Blocked::Truncated);
        }
        self
    }
}

/// Returns the ID under a key of a block, which must be text.
pub(super) fn text_id<'v>(owner: &'v Value, key: &str) -> Result<Option<Cow<'v, str>>, ()> {
    match owner.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) if id.is_empty() => Ok(None),
        Some(Value::String(id)) => Ok(Some(Cow::Borrowed(id))),
        Some(_) => Err(()),
    }
}

/// Returns the text under a key, or an empty one.
pub(super) fn text<'v>(owner: &'v Value, key: &str) -> &'v str {
    owner.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Finds the blocks of a response.
fn turn<'v>(layout: &Layout, response: &'v Value) -> Result<Turn<'v>, WireError> {
    let whole = |blocks, single| Turn { pointer: String::new(), blocks, single, ending: Ending::Whole };
    layout.check_whole(response, "")?;
    if let Value::Array(blocks) = response {
        for (index, block) in blocks.iter().enumerate() {
            layout.check_whole(block, &format!("/{index}"))?;
        }
        return Ok(whole(blocks, false));
    }
    if (layout.is_block)(response) {
        return Ok(whole(std::slice::from_ref(response), true));
    }
    let has = |key: &&str| response.get(key).is_some();
    let begin = layout.path.iter().position(has);
    let begin =
        begin.or_else(|| layout.message.iter().any(has).then_some(layout.path.len().saturating_sub(1)));
    let Some((last, above)) = begin.and_then(|begin| layout.path.get(begin..)?.split_last()) else {
        return Err(layout.unknown());
    };
    let (mut pointer, mut owner, mut ending) = (String::new(), response, (layout.ending)(response));
    for key in above {
        let Some(inner) = step(layout, owner, key, &pointer)? else {
            return Ok(Turn { ending, ..whole(&[], false) });
        };
        pointer = format!("{pointer}/{key}");
        owner = inner;
        if ending == Ending::Whole {
            ending = (layout.ending)(owner);
        }
    }
    let (blocks, key, single): (&[Value], _, _) = match (owner.get(last), owner.get(layout.lone)) {
        (Some(Value::Array(blocks)), None | Some(Value::Null)) => (blocks, last, false),
        (Some(Value::Array(blocks)), _) if !blocks.is_empty() => (blocks, last, false),
        (None | Some(Value::Null | Value::Array(_)), Some(lone @ Value::Object(_))) => {
            (std::slice::from_ref(lone), &layout.lone, true)
        }
        // The content is a single text.
        (None | Some(Value::Null | Value::Array(_) | Value::String(_)), _) => (&[], last, false),
        (Some(_), _) => return Err(WireError::new(format!("{pointer}/{last}"), "is not a list")),
    };
    Ok(Turn { pointer: format!("{pointer}/{key}"), blocks, single, ending })
}

/// Returns the value under a key of the path, or `None` if it is missing and may be.
fn step<'v>(
    layout: &Layout,
    owner: &'v Value,
    key: &str,
    pointer: &str,
) -> Result<Option<&'v Value>, WireError> {
    let inner = match key {
        "0" => {
            // The list is the last key of the pointer.
            let list = pointer.rsplit('/').next().unwrap_or_default();
            let item = list.strip_suffix('s').unwrap_or(list);
            return match owner.get(0) {
                Some(first) => Ok(Some(first)),
                None => Err(WireError::new(pointer, format!("holds no {item}"))),
            };
        }
        key => owner.get(key),
    };
    let there = || format!("{pointer}/{key}");
    match inner {
        None if !owner.is_object() => Err(WireError::new(pointer, "is not an object")),
        None | Some(Value::Null) if key == layout.optional => Ok(None),
        None => Err(WireError::new(there(), "is missing")),
        Some(Value::Object(_)) => Ok(inner),
        // The next step reports a missing or wrong list.
        Some(_) if layout.path.windows(2).any(|pair| pair == [key, "0"]) => Ok(inner),
        Some(_) => Err(WireError::new(there(), "is not an object")),
    }
}

/// Reads all calls.
pub(super) fn calls(format: &Format, response: &Value) -> Result<Calls, WireError> {
    let turn = turn(&format.layout, response)?;
    let mut read = Calls::default();
    if let Ending::Stopped(why) = turn.ending {
        read.stopped = Some(Text::copy_of(why));
    }
    let last = turn.blocks.len().saturating_sub(1);
    for (index, block) in turn.blocks.iter().enumerate() {
        let at = if turn.single { turn.pointer.clone() } else { format!("{}/{index}", turn.pointer) };
        if !block.is_object() {
            read.problems.push(WireError::new(at, "is not an object"));
            continue;
        }
        match (format.item)(block) {
            Item::Skip => {}
            Item::Foreign(kind) => {
                let why = format!("is a `{kind}`, which only the program itself can answer");
                read.problems.push(WireError::new(at, why));
            }
            Item::Call(call) => match id(&call, format.ids_optional) {
                Ok(id) => {
                    let cut = turn.ending == Ending::Cut && index == last;
                    read.calls.push(call.cut_if(cut).finish(id, read.stopped.as_ref()));
                }
                Err(why) => read.problems.push(WireError::new(at + call.id_pointer, why)),
            },
        }
    }
    Ok(read)
}

impl Call<'_> {
    fn finish(self, id: String, stopped: Option<&Text>) -> ToolCall {
        let nameless = || self.name.is_empty().then(|| Blocked::Malformed("it has no name".into()));
        let blocked = stopped.cloned().map(Blocked::Stopped).or(self.blocked).or_else(nameless);
        let call = ToolCall::new(id, self.name, arguments(self.arguments));
        match blocked {
            Some(why) => call.blocked(why),
            None => call,
        }
    }
}

fn id(call: &Call<'_>, optional: bool) -> Result<String, &'static str> {
    match &call.id {
        Ok(Some(id)) => Ok(call.kind.mark(id)),
        Ok(None) if optional => Ok(ids::made_up(call.kind)),
        Ok(None) => Err("is missing, so the call cannot be answered"),
        Err(()) => Err("is not a text, so the call cannot be answered"),
    }
}

fn arguments(arguments: Option<Cow<'_, Value>>) -> Value {
    match arguments.as_deref() {
        None | Some(Value::Null) => json!({}),
        Some(Value::String(text)) if text.trim().is_empty() => json!({}),
        Some(_) => arguments.map(Cow::into_owned).unwrap_or_default(),
    }
}
