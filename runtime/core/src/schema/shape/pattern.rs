//! Regular expressions of ECMA-262 in schemas, tried on texts.
//!
//! Their engine backtracks, so it tries each only on texts that are short enough for it. On longer ones, patterns
//! without references and look-around are tried in another way, whose time grows only with the text; other patterns
//! refuse them.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

mod effort;
mod linear;

use effort::Effort;
use linear::Linear;

/// The steps that trying a pattern on one text may take.
const MAX_STEPS: u64 = 12 << 20;
/// The lengths to which texts may be limited, in bytes.
const LENGTHS: [usize; 13] = [16_384, 2_000, 500, 250, 120, 64, 28, 16, 12, 8, 4, 2, 1];
/// The longest text that any pattern is tried on, in bytes.
const LONGEST_TEXT: usize = 2_000;
/// The most `|` in a pattern that is compiled. The engine nests each branch in the one before it and recurses into all
/// of them: 4,000 overflow the stack of a thread of 2 MiB.
const MOST_BRANCHES: usize = 1_000;

/// The most patterns that are remembered, and the longest that is remembered beside others, in bytes.
const MOST_KNOWN: usize = 256;
const LONG: usize = 16 << 10;
/// The small steps to read a pattern, and for each of its bytes.
const READING: u64 = 2_000;
const READING_A_BYTE: u64 = 16;

/// Returns the longest text that is searched for a denied pattern, in bytes. The author of the tool writes the
/// pattern, and a longer text is refused, so a pattern whose work grows only with the text may take longer texts than
/// [`longest_text`] allows.
pub(crate) fn longest_denied(pattern: &str) -> usize {
    Known::of(pattern).longest()
}

/// Whether a text is a regular expression that can be applied to values: one of ECMA-262, as JSON Schema requires,
/// with or without Unicode mode. Values are not checked against any other `pattern`.
#[must_use]
pub fn is_pattern(pattern: &str) -> bool {
    compile(pattern).is_some()
}

/// Whether a pattern has more alternatives than the engine can take, so that it is not compiled.
pub(crate) fn has_too_many_branches(pattern: &str) -> bool {
    pattern.bytes().filter(|byte| *byte == b'|').count() > MOST_BRANCHES
}

/// Whether a text matches a pattern anywhere; no, if it [is too long](is_too_long) to be tried. Values are not checked
/// against texts that [are not patterns](is_pattern).
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    if pattern.is_empty() {
        return true;
    }
    let known = Known::of(pattern);
    let Some(regex) = known.regex() else { return true };
    if text.len() <= known.longest().min(LONGEST_TEXT) {
        return regex.find(text).is_some();
    }
    known.linear_for(text.len()).is_some_and(|linear| linear.is_match(text))
}

/// Whether a text is too long to be held against a pattern, so that it is unknown whether it matches.
pub(crate) fn is_too_long(pattern: &str, text: &str) -> bool {
    !pattern.is_empty() && is_pattern(pattern) && !is_tried(pattern, text)
}

/// Returns the longest text that every pattern like this is tried on, in bytes.
pub(crate) fn longest_tried(pattern: &str) -> usize {
    let known = Known::of(pattern);
    let most = known.linear().map_or(0, |linear| MAX_STEPS / linear.steps(0).max(1));
    usize::try_from(most.saturating_sub(1)).unwrap_or(usize::MAX).max(longest_text(pattern))
}

/// Whether a text matches a pattern anywhere; no, if the pattern is not tried on it.
pub fn is_found(pattern: &str, text: &str) -> bool {
    is_tried(pattern, text) && matches(pattern, text)
}

/// Returns the steps that trying a pattern on a text may take, to be charged to the call.
pub(crate) fn steps(pattern: &str, text: &str) -> u64 {
    if pattern.is_empty() {
        return 0;
    }
    let known = Known::of(pattern);
    let tried = if text.len() <= known.longest() {
        known.effort().map_or(0, |effort| effort.steps(text.len()))
    } else {
        // A text that takes more is refused as it is.
        known.linear_for(text.len()).map_or(0, |linear| linear.steps(text.len()))
    };
    tried + (pattern.len() + text.len()) as u64
}

/// Whether a pattern is tried on a text: it parses, and the text is not too long for it.
pub(crate) fn is_tried(pattern: &str, text: &str) -> bool {
    is_pattern(pattern)
        && (text.len() <= longest_text(pattern) || Known::of(pattern).linear_for(text.len()).is_some())
}

/// Returns the longest text on which the engine tries a pattern, in bytes. The engine backtracks, so each unbounded repetition
/// multiplies the work by the length of the text, and a nested repetition doubles it with each character: `^(a+)+$`
/// takes hours for forty letters. A hostile text must not cost more than some ten million steps.
fn longest_text(pattern: &str) -> usize {
    longest_denied(pattern).min(LONGEST_TEXT)
}

/// Compiles a pattern. JSON Schema requires Unicode mode; many patterns in use only parse without it (`\-` outside a
/// class).
pub(crate) fn compile(pattern: &str) -> Option<Rc<regress::Regex>> {
    Known::of(pattern).regex().cloned()
}

thread_local! {
    /// The patterns tried last: the items of a list are held against the same few.
    static TRIED: RefCell<BTreeMap<String, Rc<Known>>> = const { RefCell::new(BTreeMap::new()) };
}

/// Whether a pattern is remembered beside so many others. Without room, all others are forgotten.
pub(crate) fn has_room(others: usize, pattern: &str) -> bool {
    others < MOST_KNOWN && pattern.len() <= LONG
}

/// Returns the steps that reading a pattern takes, to be charged to a call for each that is not remembered.
pub(crate) fn reading(pattern: &str) -> u64 {
    READING + READING_A_BYTE.saturating_mul(pattern.len() as u64)
}

/// What is known about a pattern, each part as soon as it is needed.
struct Known {
    pattern: String,
    effort: OnceCell<Option<Effort>>,
    longest: OnceCell<usize>,
    /// The compiled pattern, with the flags under which it is valid.
    regex: OnceCell<Option<(Rc<regress::Regex>, &'static str)>>,
    linear: OnceCell<Option<Linear>>,
}

impl Known {
    fn of(pattern: &str) -> Rc<Known> {
        TRIED.with_borrow_mut(|tried| {
            if let Some(known) = tried.get(pattern) {
                return Rc::clone(known);
            }
            if !has_room(tried.len(), pattern) {
                tried.clear();
            }
            let known = Rc::new(Known {
                pattern: pattern.to_owned(),
                effort: OnceCell::new(),
                longest: OnceCell::new(),
                regex: OnceCell::new(),
                linear: OnceCell::new(),
            });
            tried.insert(pattern.to_owned(), Rc::clone(&known));
            known
        })
    }

    fn effort(&self) -> Option<Effort> {
        *self.effort.get_or_init(|| Effort::of(&self.pattern))
    }

    /// The longest text whose steps are not too many, in bytes.
    fn longest(&self) -> usize {
        *self.longest.get_or_init(|| {
            let Some(effort) = self.effort() else { return 0 };
            LENGTHS.into_iter().find(|length| effort.steps(*length) <= MAX_STEPS).unwrap_or(0)
        })
    }

    fn parsed(&self) -> Option<&(Rc<regress::Regex>, &'static str)> {
        let parsed = || {
            if has_too_many_branches(&self.pattern) {
                return None;
            }
            let taken =
                |flags| regress::Regex::with_flags(&self.pattern, flags).map(|regex| (Rc::new(regex), flags));
            taken("u").or_else(|_| taken("")).ok()
        };
        self.regex.get_or_init(parsed).as_ref()
    }

    fn regex(&self) -> Option<&Rc<regress::Regex>> {
        self.parsed().map(|(regex, _)| regex)
    }

    fn linear(&self) -> Option<&Linear> {
        let read = || self.parsed().and_then(|(_, flags)| Linear::of(&self.pattern, flags));
        self.linear.get_or_init(read).as_ref()
    }

    /// Returns the program that tries the pattern on a text of this many bytes, if that does not take too long.
    fn linear_for(&self, length: usize) -> Option<&Linear> {
        self.linear().filter(|linear| linear.steps(length) <= MAX_STEPS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::cpu_time::cpu_time;

    #[test]
    fn patterns_are_only_tried_where_they_stay_fast() {
        let cases = [
            ("^[a-z]{2,3}$", 2_000),
            ("^[a-z0-9_-]+$", 2_000),
            ("^[^@]+@[^@]+$", 2_000),
            ("^[^@]+@[^@]+\\.[a-z]{2,}$", 250),
            (".*.*", 250),
            ("^(a+)+$", 16),
            ("^(a|aa)*$", 16),
            ("^(\\d{3}-)*$", 2_000),
            ("^[(+*]\\+\\*$", 2_000),
            ("^(http|https|ftp)://[^/]+/.*$", 2_000),
            ("^((25[0-5]|2[0-4]\\d|1?\\d?\\d)\\.){3}(25[0-5]|2[0-4]\\d|1?\\d?\\d)$", 2_000),
            ("^a{0,8}a{0,8}a{0,8}a*a*b", 120),
            ("^(a|a|a|a|a|a|a|a)*b", 4),
            ("^(((a+)+)+)+b", 4),
            ("^a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", 4),
            ("^(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)b", 0),
        ];
        for (pattern, expected) in cases {
            assert_eq!(longest_text(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn patterns_of_many_branches_do_not_overflow_the_stack() {
        let branches = |count: usize| "a|".repeat(count) + "b";
        let nested = format!("{}c{}", "(a|".repeat(90), ")".repeat(90));
        assert!(is_pattern(&branches(MOST_BRANCHES)) && is_pattern(&nested));
        for pattern in [branches(MOST_BRANCHES + 1), branches(300_000), format!("({})*", branches(20_000))] {
            assert!(!is_pattern(&pattern) && matches(&pattern, "c"));
        }
    }

    #[test]
    fn hostile_texts_end_soon() {
        let patterns = [
            "^(a+)+$",
            "^(a|aa)*$",
            "a*a*a*a*a*a*b",
            "(.*)*x",
            "^(([a-z])+.)+[A-Z]([a-z])+$",
            "^(.*a){20}$",
            "^(a?){30}(a?){30}b$",
            "^((a{1,4}){1,4}){1,4}$",
        ];
        let ((), spent) = cpu_time(|| {
            for (pattern, length) in
                patterns.into_iter().flat_map(|one| [12, 16, 28, 64, 250, 2_000].map(|length| (one, length)))
            {
                let _ = matches(pattern, &"a".repeat(length));
                let _ = matches(pattern, &("a".repeat(length - 1) + "!"));
            }
        });
        assert!(spent.as_secs() < 20, "{spent:?}");
    }
}
