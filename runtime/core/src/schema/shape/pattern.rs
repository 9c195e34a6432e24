//! Matches strings against regular expressions of ECMA-262 in schemas.
//!
//! The engine `regress` defines which patterns are valid. It backtracks, so a pattern such as `^(a+)+$` could take it
//! hours for forty letters. Strings are therefore matched by another algorithm, whose work grows only with the
//! pattern and the string. If matching takes too many steps, it stops, and the string is accepted: our limits must
//! not reject what a document allows. Only the patterns in `deny` reject a string that cannot be checked.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

mod program;
pub(crate) mod syntax;

use program::Program;
use syntax::Syntax;

/// Maximum number of steps for matching a pattern against one string.
const MAX_STEPS: u64 = 12 << 20;
/// How many small steps of a call take the time of one such step.
const SMALL: u64 = 4;
/// Maximum number of `|` in a pattern that is compiled. The engine nests each branch in the previous one and recurses
/// into all of them: 4,000 branches overflow a stack of 2 MiB.
const MAX_BRANCHES: usize = 1_000;

/// Limits of the cache: maximum number of patterns, maximum length of a pattern in bytes, and maximum number of steps
/// of all cached programs.
const MAX_CACHED_PATTERNS: usize = 256;
const MAX_CACHED_PATTERN_BYTES: usize = 16 << 10;
const MOST_PROGRAMS: usize = 1 << 18;
/// The cost of parsing a pattern, in small steps: a base, per byte of the pattern, and per step of its program.
const PARSE_STEPS: u64 = 2_000;
const PARSE_STEPS_PER_BYTE: u64 = 16;
const READING_A_STEP: u64 = 16;

/// Whether a string is a regular expression that values can be matched against: one of ECMA-262, as JSON Schema
/// requires, with or without Unicode mode. Any other `pattern` is not checked.
#[must_use]
pub fn is_pattern(pattern: &str) -> bool {
    PatternInfo::of(pattern).is_pattern()
}

/// Whether a pattern has too many alternatives for the engine, so that it is not compiled.
pub(crate) fn has_too_many_branches(pattern: &str) -> bool {
    pattern.bytes().filter(|byte| *byte == b'|').count() > MAX_BRANCHES
}

/// Whether no string is matched against a pattern, because it repeats too much or has unknown syntax.
pub(crate) fn is_untried(pattern: &str) -> bool {
    let known = PatternInfo::of(pattern);
    known.is_pattern() && known.program().is_none()
}

/// The outcome of matching a string against a pattern.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    /// Whether the string matches anywhere; `None` if that is unknown.
    pub(crate) found: Option<bool>,
    /// The small steps that were taken, which the call is charged for.
    pub(crate) steps: u64,
}

/// Matches a string against a pattern. The outcome is unknown for a string that [is not a pattern](is_pattern).
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

/// Whether a string matches a pattern anywhere; false if that is unknown. Values are not checked against strings that
/// [are not patterns](is_pattern).
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    trial(pattern, text).found.unwrap_or_else(|| !is_pattern(pattern))
}

/// Whether a string matches a pattern anywhere; false if the pattern is invalid, or if the outcome is unknown.
pub fn is_found(pattern: &str, text: &str) -> bool {
    is_pattern(pattern) && matches(pattern, text)
}

thread_local! {
    /// The most recent patterns: the items of an array are matched against the same few.
    static TRIED: RefCell<(Room, BTreeMap<String, Rc<PatternInfo>>)> = const { RefCell::new((Room::NONE, BTreeMap::new())) };
}

/// The space that cached patterns occupy.
pub(crate) struct Room {
    patterns: usize,
    steps: usize,
}

impl Room {
    /// The space of an empty cache.
    pub(crate) const NONE: Room = Room { patterns: 0, steps: 0 };

    /// Adds a pattern. Returns whether it fits into the cache; if not, the cache must be cleared.
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

/// Returns the cost of parsing a pattern, in small steps. A call is charged for each pattern that is not cached.
pub(crate) fn reading(pattern: &str) -> u64 {
    let known = PatternInfo::of(pattern);
    PARSE_STEPS + PARSE_STEPS_PER_BYTE * pattern.len() as u64 + READING_A_STEP * known.steps() as u64
}

/// The properties of a pattern, each computed on first use.
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

    /// Returns the number of steps of its program.
    fn steps(&self) -> usize {
        if self.is_pattern() { self.program().map_or(0, Program::len) } else { 0 }
    }

    /// JSON Schema requires Unicode mode. Many patterns in use parse only without it (`\-` outside a class).
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
