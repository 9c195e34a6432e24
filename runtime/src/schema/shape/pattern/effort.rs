//! Estimates how much a pattern repeats and chooses.
//!
//! ECMA-262 patterns can look around and back, so their engine backtracks: a pattern such as `^(a+)+$` takes time
//! exponential in the text. Patterns come from documents and texts from models, neither of which may delay a call, so
//! the estimate limits the texts that a pattern is tried on.

/// Options (`?`) beyond this many, each taken or not, are too many to try.
const MAX_OPTIONS: usize = 16;
/// Repetitions up to this often are short: they add choices, but do not grow with the text.
const SHORT: usize = 8;
/// A varying group repeated more often than this counts as a nested repetition.
const FEW: usize = 4;
/// The depth to which nested groups are examined; patterns with deeper ones are not tried.
const MAX_DEPTH: usize = 100;

/// How many repetitions multiply the work of a pattern, and whether that work may be exponential in the text because
/// one of them repeats another or a choice. `None` if it may be exponential in the pattern, for however short a text.
pub(super) fn repetitions(pattern: &str) -> Option<(usize, bool)> {
    let mut scan = Scan { rest: pattern.as_bytes(), loops: 0, options: 0, nested: false, hopeless: false };
    while !scan.rest.is_empty() {
        scan.group(0);
    }
    (!scan.hopeless && scan.options <= MAX_OPTIONS).then_some((scan.loops, scan.nested))
}

/// The number of ways in which a part can match.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ways {
    /// One way.
    One,
    /// Several ways.
    Several,
    /// Several ways, each with several of its own.
    Multiplied,
}

struct Scan<'p> {
    rest: &'p [u8],
    loops: usize,
    options: usize,
    nested: bool,
    hopeless: bool,
}

impl Scan<'_> {
    /// Reads to the end of a group.
    fn group(&mut self, depth: usize) -> Ways {
        let mut ways = Ways::One;
        if depth > MAX_DEPTH {
            self.hopeless = true;
            self.rest = &[];
        }
        while let Some(byte) = self.next() {
            let before = self.loops;
            let inner = match byte {
                b')' => return ways,
                b'|' => {
                    ways = ways.max(Ways::Several);
                    continue;
                }
                b'(' => {
                    self.group_head();
                    self.group(depth + 1)
                }
                b'[' => {
                    self.class();
                    Ways::One
                }
                b'\\' => {
                    self.next();
                    Ways::One
                }
                _ => Ways::One,
            };
            ways = ways.max(inner).max(self.quantifier(inner, before));
        }
        ways
    }

    /// Skips `?:`, `?=`, `?<name>` and the like, whose question mark is no quantifier.
    fn group_head(&mut self) {
        if self.rest.first() == Some(&b'?') {
            self.rest = self.rest.get(2..).unwrap_or_default();
        }
    }

    fn class(&mut self) {
        while let Some(byte) = self.next() {
            match byte {
                b']' => return,
                b'\\' => {
                    self.next();
                }
                _ => {}
            }
        }
    }

    /// Reads a quantifier, if one follows what can match in so many ways and began after `before` repetitions.
    fn quantifier(&mut self, inner: Ways, before: usize) -> Ways {
        let (least, most, length) = match self.rest.first() {
            Some(b'*') => (0, usize::MAX, 1),
            Some(b'+') => (1, usize::MAX, 1),
            Some(b'?') => (0, 1, 1),
            Some(b'{') => match self.braces() {
                Some(bounds) => bounds,
                None => return Ways::One,
            },
            _ => return Ways::One,
        };
        self.rest = self.rest.get(length..).unwrap_or_default();
        if self.rest.first() == Some(&b'?') {
            self.next();
        }
        let varies = least != most;
        self.options += usize::from(most == 1 && varies);
        if most > 1 && inner > Ways::One {
            self.nested |= most > FEW || inner == Ways::Multiplied;
            // Each round may match nothing and still must be made: its ways multiply whatever the text.
            self.hopeless |= least > FEW;
            self.loops += (self.loops - before) * (most.min(FEW) - 1);
            return Ways::Multiplied;
        }
        self.loops += usize::from(most > SHORT && varies);
        if varies { Ways::Several } else { Ways::One }
    }

    /// The bounds and the length of `{2}`, `{2,}` or `{2,3}`; anything else in braces is text.
    fn braces(&self) -> Option<(usize, usize, usize)> {
        let end = self.rest.iter().position(|byte| *byte == b'}')?;
        let text = std::str::from_utf8(self.rest.get(1..end)?).ok()?;
        let number = |text: &str| text.parse::<usize>().ok();
        let (least, most) = match text.split_once(',') {
            None => (number(text)?, number(text)?),
            Some((least, "")) => (number(least)?, usize::MAX),
            Some((least, most)) => (number(least)?, number(most)?),
        };
        Some((least, most, end + 1))
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }
}

#[cfg(test)]
mod tests {
    use super::repetitions;

    #[test]
    fn repetitions_that_multiply_are_counted() {
        let cases = [
            ("^[a-z]{2}$", 0),
            ("^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$", 0),
            ("^[^@]+@[^@]+$", 2),
            (r"^\(a*\)$", 1),
            (r"^[)*(]+\*$", 1),
            ("^(GET|POST|PUT)$", 0),
            ("(.*a){3}", 3),
            ("(?:ab)?(?=c*)x{,3}", 1),
        ];
        for (pattern, loops) in cases {
            assert_eq!(repetitions(pattern), Some((loops, false)), "{pattern}");
        }
    }

    #[test]
    fn repetitions_of_repetitions_or_choices_are_nested() {
        for pattern in ["(a+)+", "(a|aa)*", "(?<n>a*)*", "([)(]*)+", "((a{1,4}){1,4}){1,4}"] {
            assert!(repetitions(pattern).is_some_and(|(_, nested)| nested), "{pattern}");
        }
    }

    #[test]
    fn choices_that_multiply_without_text_are_not_tried() {
        let options = format!("^{}{}$", "a?".repeat(40), "a".repeat(40));
        let deep = format!("{}a{}", "(".repeat(5_000), ")".repeat(5_000));
        for pattern in ["(.*a){20}", "((?:a?)){30}", &options, &deep] {
            assert_eq!(repetitions(pattern), None, "{pattern}");
        }
    }
}
