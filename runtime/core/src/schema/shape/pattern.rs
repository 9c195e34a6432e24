//! Regular expressions of ECMA-262 in schemas, tried on texts.
//!
//! The engine of ECMA-262 says what a pattern is. It backtracks, so a pattern such as `^(a+)+$` could take it hours for
//! forty letters: texts are tried in another way, whose work grows only with the pattern and the text. What would take
//! too much of it is not tried to its end, and then a text passes: a limit of ours refuses nothing that a document
//! allows. Only what the author of a tool denies is refused if it cannot be looked through.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

mod program;
pub(crate) mod syntax;

use program::Program;
use syntax::Syntax;

/// The steps that trying a pattern on one text may take.
const MAX_STEPS: u64 = 12 << 20;
/// How many small steps of a call take the time of such a step.
const SMALL: u64 = 4;
/// The most `|` in a pattern that is compiled. The engine nests each branch in the one before it and recurses into all
/// of them: 4,000 overflow the stack of a thread of 2 MiB.
const MAX_BRANCHES: usize = 1_000;

/// The most patterns that are remembered, the longest that is remembered beside others, in bytes, and the most steps that
/// their programs have together.
const MAX_CACHED_PATTERNS: usize = 256;
const MAX_CACHED_PATTERN_BYTES: usize = 16 << 10;
const MOST_PROGRAMS: usize = 1 << 18;
/// The small steps to read a pattern, for each of its bytes, and for each step of its program.
const PARSE_STEPS: u64 = 2_000;
const PARSE_STEPS_PER_BYTE: u64 = 16;
const READING_A_STEP: u64 = 16;

/// Whether a text is a regular expression that can be applied to values: one of ECMA-262, as JSON Schema requires,
/// with or without Unicode mode. Values are not checked against any other `pattern`.
#[must_use]
pub fn is_pattern(pattern: &str) -> bool {
    PatternInfo::of(pattern).is_pattern()
}

/// Whether a pattern has more alternatives than the engine can take, so that it is not compiled.
pub(crate) fn has_too_many_branches(pattern: &str) -> bool {
    pattern.bytes().filter(|byte| *byte == b'|').count() > MAX_BRANCHES
}

/// Whether a pattern is one that no text is tried on: it repeats too much, or has a form that is not known here.
pub(crate) fn is_untried(pattern: &str) -> bool {
    let known = PatternInfo::of(pattern);
    known.is_pattern() && known.program().is_none()
}

/// What became of trying a pattern on a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    /// Whether the text matches anywhere; `None` if that is not known.
    pub(crate) found: Option<bool>,
    /// The small steps that were taken, to be charged to the call.
    pub(crate) steps: u64,
}

/// Tries a pattern on a text. Nothing is known about what [is no pattern](is_pattern).
pub(crate) fn trial(pattern: &str, text: &str) -> Trial {
    if pattern.is_empty() {
        return Trial { found: Some(true), steps: 0 };
    }
    let known = PatternInfo::of(pattern);
    let program = if known.is_pattern() { known.program() } else { None };
    let trial = program.map(|program| program.try_on(text, MAX_STEPS));
    trial.map_or(Trial { found: None, steps: 0 }, |trial| Trial {
        found: trial.found,
        steps: SMALL * trial.steps + (pattern.len() + text.len()) as u64,
    })
}

/// Whether a text matches a pattern anywhere; no, if that is not known. Values are not checked against texts that
/// [are not patterns](is_pattern).
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    trial(pattern, text).found.unwrap_or_else(|| !is_pattern(pattern))
}

/// Whether a text matches a pattern anywhere; no, if it is none, or that is not known.
pub fn is_found(pattern: &str, text: &str) -> bool {
    is_pattern(pattern) && matches(pattern, text)
}

thread_local! {
    /// The patterns tried last: the items of a list are held against the same few.
    static TRIED: RefCell<(Room, BTreeMap<String, Rc<PatternInfo>>)> = const { RefCell::new((Room::NONE, BTreeMap::new())) };
}

/// The room that the patterns take that are remembered.
pub(crate) struct Room {
    patterns: usize,
    steps: usize,
}

impl Room {
    /// That of none.
    pub(crate) const NONE: Room = Room { patterns: 0, steps: 0 };

    /// Takes the room of one more. Returns whether it is remembered beside the others; if not, they are to be forgotten.
    pub(crate) fn take(&mut self, pattern: &str) -> bool {
        self.add(&PatternInfo::of(pattern))
    }

    fn add(&mut self, known: &PatternInfo) -> bool {
        let steps = self.steps.saturating_add(known.steps());
        let fits = self.patterns < MAX_CACHED_PATTERNS
            && known.pattern.len() <= MAX_CACHED_PATTERN_BYTES
            && steps <= MOST_PROGRAMS;
        *self = if fits {
            Room { patterns: self.patterns + 1, steps }
        } else {
            Room { patterns: 1, steps: known.steps() }
        };
        fits
    }
}

/// Returns the steps that reading a pattern takes, to be charged to a call for each that is not remembered.
pub(crate) fn reading(pattern: &str) -> u64 {
    let known = PatternInfo::of(pattern);
    PARSE_STEPS + PARSE_STEPS_PER_BYTE * pattern.len() as u64 + READING_A_STEP * known.steps() as u64
}

/// What is known about a pattern, each part as soon as it is needed.
struct PatternInfo {
    pattern: String,
    is_pattern: OnceCell<bool>,
    program: OnceCell<Option<Program>>,
}

impl PatternInfo {
    fn of(pattern: &str) -> Rc<PatternInfo> {
        TRIED.with_borrow_mut(|(room, tried)| {
            if let Some(known) = tried.get(pattern) {
                return Rc::clone(known);
            }
            let known = Rc::new(PatternInfo {
                pattern: pattern.to_owned(),
                is_pattern: OnceCell::new(),
                program: OnceCell::new(),
            });
            if !room.add(&known) {
                tried.clear();
            }
            tried.insert(pattern.to_owned(), Rc::clone(&known));
            known
        })
    }

    /// How many steps its program has.
    fn steps(&self) -> usize {
        if self.is_pattern() { self.program().map_or(0, Program::len) } else { 0 }
    }

    /// JSON Schema requires Unicode mode; many patterns in use only parse without it (`\-` outside a class).
    fn is_pattern(&self) -> bool {
        let taken = |flags| regress::Regex::with_flags(&self.pattern, flags).is_ok();
        *self.is_pattern.get_or_init(|| !has_too_many_branches(&self.pattern) && (taken("u") || taken("")))
    }

    fn program(&self) -> Option<&Program> {
        self.program.get_or_init(|| Program::of(&Syntax::of(&self.pattern)?)).as_ref()
    }
}

#[cfg(test)]
pub(crate) mod tests;
