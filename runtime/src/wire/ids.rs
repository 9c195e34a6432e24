//! Ids of calls that tell an answer more than which call it belongs to.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// What ids of this crate's making start with. No provider's ids do.
const MADE_UP: &str = "toolgen-made-up-";
/// What made-up ids of calls start with that are answered as OpenAI's old `function_call`.
const FUNCTION: &str = "toolgen-made-up-function-";
/// What is put before the id of a call that is answered as one of an OpenAI custom tool.
const CUSTOM: &str = "toolgen-custom-";

/// What an answer must know of a call beside its id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Id {
    /// Nothing.
    Usual,
    /// It is OpenAI's old `function_call`.
    Function,
    /// It is a call of an OpenAI custom tool, whose answers are of a kind of their own.
    Custom,
}

impl Id {
    /// The id of a call that says so.
    pub(super) fn mark(self, id: &str) -> String {
        match self {
            Id::Custom => format!("{CUSTOM}{id}"),
            Id::Usual | Id::Function => id.to_owned(),
        }
    }

    /// What an id says, and the id as the provider wrote it.
    pub(super) fn of(id: &str) -> (Id, &str) {
        match id.strip_prefix(CUSTOM) {
            Some(id) => (Id::Custom, id),
            None if id.starts_with(FUNCTION) => (Id::Function, id),
            None => (Id::Usual, id),
        }
    }
}

/// An id for a call that has none: unique in this process, and most likely in the world.
pub(super) fn made_up(kind: Id) -> String {
    static PROCESS: OnceLock<u64> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // Every `RandomState` of a process is seeded by the system's random numbers.
    let process = PROCESS.get_or_init(|| RandomState::new().hash_one(MADE_UP));
    let start = if kind == Id::Function { FUNCTION } else { MADE_UP };
    format!("{start}{process:016x}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Whether an id was made up for a call that had none. Providers do not know such ids.
#[must_use]
pub fn is_made_up(id: &str) -> bool {
    id.starts_with(MADE_UP)
}
