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
/// How many small steps of a call take as long as one of these steps.
const SMALL_STEPS_PER_STEP: u64 = 4;
/// Maximum number of `|` in a pattern that is compiled. The engine nests each branch in the previous one and recurses
/// into all of them: 4,000 branches overflow a stack of 2 MiB.
const MAX_BRANCHES: usize = 1_000;

/// Limits of the cache: the number of patterns, the length of a pattern in bytes, and the total number of steps of
/// the cached programs.
const MAX_CACHED_PATTERNS: usize = 256;
const MAX_CACHED_PATTERN_BYTES: usize = 16 << 10;
const MAX_CACHED_STEPS: usize = 1 << 18;
/// The cost of parsing a pattern, in small steps: a base, per byte of the pattern, and per step of its program.
const PARSE_STEPS: u64 = 2_000;
const PARSE_STEPS_PER_BYTE: u64 = 16;
const PARSE_STEPS_PER_STEP: u64 = 16;

/// Whether a string is a regular expression of ECMA-262, as JSON Schema requires, with or without Unicode mode. Any
/// other `pattern` is not checked.
#[must_use]
pub fn is_pattern(pattern: &str) -> bool {
    PatternInfo::of(pattern).is_pattern()
}

/// Whether a pattern has too many alternatives to be compiled.
pub(crate) fn has_too_many_branches(pattern: &str) -> bool {
    pattern.bytes().filter(|byte| *byte == b'|').count() > MAX_BRANCHES
}

/// Whether no string is matched against a pattern, because it repeats too much or has unknown syntax.
pub(crate) fn is_unchecked(pattern: &str) -> bool {
    let info = PatternInfo::of(pattern);
    info.is_pattern() && info.program().is_none()
}

/// The outcome of matching a string against a pattern.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchOutcome {
    /// Whether the string matches anywhere; `None` if that is unknown.
    pub(crate) is_match: Option<bool>,
    /// The small steps that were taken, which the call is charged for.
    pub(crate) steps: u64,
}

/// Matches a string against a pattern. The outcome is unknown for a string that [is not a pattern](is_pattern).
pub(crate) fn match_pattern(pattern: &str, text: &str) -> MatchOutcome {
    if pattern.is_empty() {
        return MatchOutcome { is_match: Some(true), steps: 0 };
    }
    let info = PatternInfo::of(pattern);
    let program = if info.is_pattern() { info.program() } else { None };
    let outcome = program.map(|program| program.match_text(text, MAX_STEPS));
    outcome.map_or(MatchOutcome { is_match: None, steps: 0 }, |outcome| MatchOutcome {
        is_match: outcome.is_match,
        steps: SMALL_STEPS_PER_STEP * outcome.steps + (pattern.len() + text.len()) as u64,
    })
}

/// Whether a string matches a pattern anywhere; false if the outcome is unknown. If the pattern
/// [is invalid](is_pattern), every string matches.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    match_pattern(pattern, text).is_match.unwrap_or_else(|| !is_pattern(pattern))
}

/// Whether a string matches a pattern anywhere; false if the pattern is invalid, or if the outcome is unknown.
pub fn is_found(pattern: &str, text: &str) -> bool {
    is_pattern(pattern) && matches(pattern, text)
}

/// Whether a string matches a pattern anywhere; `None` if the pattern is invalid, or matching takes too many steps.
#[must_use]
pub fn try_find(pattern: &str, text: &str) -> Option<bool> {
    match_pattern(pattern, text).is_match
}

thread_local! {
    /// The most recent patterns: the items of an array are matched against the same few patterns.
    static CACHE: RefCell<(CacheUsage, BTreeMap<String, Rc<PatternInfo>>)> = const { RefCell::new((CacheUsage::NONE, BTreeMap::new())) };
}

/// The space that cached patterns occupy.
pub(crate) struct CacheUsage {
    patterns: usize,
    steps: usize,
}

impl CacheUsage {
    /// The space of an empty cache.
    pub(crate) const NONE: CacheUsage = CacheUsage { patterns: 0, steps: 0 };

    /// Adds a pattern. Returns whether it fits into the cache; if not, the cache must be cleared.
    pub(crate) fn add_pattern(&mut self, pattern: &str) -> bool {
        self.add(&PatternInfo::of(pattern))
    }

    fn add(&mut self, info: &PatternInfo) -> bool {
        let steps = self.steps.saturating_add(info.steps());
        let is_cacheable = self.patterns < MAX_CACHED_PATTERNS
            && info.pattern.len() <= MAX_CACHED_PATTERN_BYTES
            && steps <= MAX_CACHED_STEPS;
        *self = if is_cacheable {
            CacheUsage { patterns: self.patterns + 1, steps }
        } else {
            CacheUsage { patterns: 1, steps: info.steps() }
        };
        is_cacheable
    }
}

/// Returns the cost of parsing a pattern, in small steps. A call is charged for each pattern that is not cached.
pub(crate) fn parse_cost(pattern: &str) -> u64 {
    let info = PatternInfo::of(pattern);
    PARSE_STEPS + PARSE_STEPS_PER_BYTE * pattern.len() as u64 + PARSE_STEPS_PER_STEP * info.steps() as u64
}

/// The properties of a pattern, each computed on first use.
struct PatternInfo {
    pattern: String,
    is_pattern: OnceCell<bool>,
    program: OnceCell<Option<Program>>,
}

impl PatternInfo {
    fn of(pattern: &str) -> Rc<PatternInfo> {
        CACHE.with_borrow_mut(|(usage, patterns)| {
            if let Some(info) = patterns.get(pattern) {
                return Rc::clone(info);
            }
            let info = Rc::new(PatternInfo {
                pattern: pattern.to_owned(),
                is_pattern: OnceCell::new(),
                program: OnceCell::new(),
            });
            if !usage.add(&info) {
                patterns.clear();
            }
            patterns.insert(pattern.to_owned(), Rc::clone(&info));
            info
        })
    }

    /// Returns the number of steps of its program.
    fn steps(&self) -> usize {
        if self.is_pattern() { self.program().map_or(0, Program::len) } else { 0 }
    }

    /// JSON Schema requires Unicode mode. Many patterns in use parse only without it (`\-` outside a class).
    fn is_pattern(&self) -> bool {
        let compiles = |flags| regress::Regex::with_flags(&self.pattern, flags).is_ok();
        *self
            .is_pattern
            .get_or_init(|| !has_too_many_branches(&self.pattern) && (compiles("u") || compiles("")))
    }

    fn program(&self) -> Option<&Program> {
        self.program.get_or_init(|| Program::of(&Syntax::of(&self.pattern)?)).as_ref()
    }
}

#[cfg(test)]
pub(crate) mod tests;
