//! Call IDs that encode information for the tool result.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The prefix of generated IDs. No vendor's IDs start with it.
const GENERATED_PREFIX: &str = "toolgen-made-up-";
/// The prefix of generated IDs of legacy `function_call` calls of OpenAI.
const FUNCTION: &str = "toolgen-made-up-function-";
/// The prefix of the IDs of calls of OpenAI custom tools.
const CUSTOM: &str = "toolgen-custom-";

/// What a tool result must know about a call in addition to its ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Id {
    /// Nothing else.
    Standard,
    /// The call is a legacy `function_call` of OpenAI.
    Function,
    /// The call is a call of an OpenAI custom tool, which has its own kind of result.
    Custom,
}

impl Id {
    /// Returns the ID with the prefix of this kind.
    pub(super) fn mark(self, id: &str) -> String {
        match self {
            Id::Custom => format!("{CUSTOM}{id}"),
            Id::Standard | Id::Function => id.to_owned(),
        }
    }

    /// Returns the kind of an ID, and the ID as the vendor wrote it.
    pub(super) fn of(id: &str) -> (Id, &str) {
        match id.strip_prefix(CUSTOM) {
            Some(id) => (Id::Custom, id),
            None if id.starts_with(FUNCTION) => (Id::Function, id),
            None => (Id::Standard, id),
        }
    }
}

/// Generates an ID for a call without an ID. It is unique in this process, and most likely globally.
pub(super) fn generate(kind: Id) -> String {
    static PROCESS: OnceLock<u64> = OnceLock::new();
    static NEXT: AtomicU64 = AtomicU64::new(0);
    // Every `RandomState` of a process is seeded with the system's random numbers.
    let process = PROCESS.get_or_init(|| RandomState::new().hash_one(GENERATED_PREFIX));
    let prefix = if kind == Id::Function { FUNCTION } else { GENERATED_PREFIX };
    format!("{prefix}{process:016x}-{}", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Whether an ID was generated for a call without an ID. Vendors do not know generated IDs.
#[must_use]
pub fn is_generated(id: &str) -> bool {
    id.starts_with(GENERATED_PREFIX)
}
