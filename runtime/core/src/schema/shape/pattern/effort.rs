//! Estimates how much a pattern repeats and chooses.
//!
//! ECMA-262 patterns can look around and back, so their engine backtracks: a pattern such as `^(a+)+$` takes time
//! exponential in the text. Patterns come from documents and texts from models, neither of which may delay a call, so
//! the estimate limits the texts that a pattern is tried on.

/// Repetitions up to this count are short: they add choices, but do not grow with the text.
const SHORT: usize = 8;
/// A varying group repeated more often than this counts as a nested repetition.
const FEW: usize = 4;
/// More ways than this to match one text, however short, are too many to try.
const MAX_WAYS: u64 = 100_000;
/// The depth to which nested groups are examined; patterns with deeper ones are not tried.
const MAX_DEPTH: usize = 100;

/// How the work of a pattern grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effort {
    /// The ways in which its choices and short repetitions combine, for however short a text.
    ways: u64,
    /// How many repetitions multiply its work by the length of the text.
    loops: u64,
    /// By how much each character multiplies its work, because a repetition repeats another or a choice.
    base: u64,
}

impl Effort {
    const ONE: Effort = Effort { ways: 1, loops: 0, base: 1 };

    /// Estimates a pattern. `None` if its work may be too much for every text.
    pub(super) fn of(pattern: &str) -> Option<Effort> {
        let mut scan = Scan { rest: pattern.as_bytes(), hopeless: false };
        let (mut effort, branches) = scan.group(0);
        while !scan.rest.is_empty() {
            effort = effort.then(scan.group(0).0);
        }
        // The engine begins anew at each character, unless all of the pattern is bound to the first.
        if !pattern.starts_with('^') || branches > 1 {
            effort.loops += 1;
        }
        (!scan.hopeless && effort.ways <= MAX_WAYS).then_some(effort)
    }

    /// Returns the steps that a text of this many bytes may take.
    pub(super) fn steps(self, length: usize) -> u64 {
        let length = length as u64;
        // Each way is a step of each repetition.
        let mut steps = self.ways.saturating_mul(self.loops.max(1));
        // The ways to share the text among the repetitions: the binomial coefficient.
        let few = self.loops.min(length);
        for index in 1..=few {
            steps = steps.saturating_mul(self.loops.saturating_add(length) - few + index) / index;
            if steps > u64::MAX / 1_000_000 {
                return u64::MAX;
            }
        }
        steps.saturating_mul(self.base.saturating_pow(u32::try_from(length).unwrap_or(u32::MAX)))
    }

    fn then(self, next: Effort) -> Effort {
        Effort {
            ways: self.ways.saturating_mul(next.ways),
            loops: self.loops.saturating_add(next.loops),
            base: self.base.saturating_mul(next.base),
        }
    }

    fn or(self, other: Effort) -> Effort {
        Effort {
            ways: self.ways.saturating_add(other.ways),
            loops: self.loops.max(other.loops),
            base: self.base.max(other.base),
        }
    }
}

struct Scan<'p> {
    rest: &'p [u8],
    hopeless: bool,
}

impl Scan<'_> {
    /// Reads to the end of a group. Returns its effort and the number of its branches.
    fn group(&mut self, depth: usize) -> (Effort, usize) {
        let (mut before, mut branches): (Option<Effort>, usize) = (None, 1);
        let mut branch = Effort::ONE;
        if depth > MAX_DEPTH {
            self.hopeless = true;
            self.rest = &[];
        }
        while let Some(byte) = self.next() {
            let part = match byte {
                b')' => break,
                b'|' => {
                    before = Some(before.map_or(branch, |before| before.or(branch)));
                    branch = Effort::ONE;
                    branches += 1;
                    continue;
                }
                b'(' => {
                    self.group_head();
                    self.group(depth + 1).0
                }
                b'[' => {
                    self.class();
                    Effort::ONE
                }
                b'\\' => {
                    self.next();
                    Effort::ONE
                }
                _ => Effort::ONE,
            };
            branch = branch.then(self.quantified(part));
        }
        (before.map_or(branch, |before| before.or(branch)), branches)
    }

    /// Skips `?:`, `?=`, `?<name>` and the like, whose question mark is not a quantifier.
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

    /// Reads a quantifier, if one follows a part. Returns the effort of both.
    fn quantified(&mut self, part: Effort) -> Effort {
        let (least, most, length) = match self.rest.first() {
            Some(b'*') => (0, usize::MAX, 1),
            Some(b'+') => (1, usize::MAX, 1),
            Some(b'?') => (0, 1, 1),
            Some(b'{') => match self.braces() {
                Some(bounds) => bounds,
                None => return part,
            },
            _ => return part,
        };
        self.rest = self.rest.get(length..).unwrap_or_default();
        if self.rest.first() == Some(&b'?') {
            self.next();
        }
        let counts = most.saturating_sub(least).saturating_add(1) as u64;
        if most <= 1 {
            return Effort { ways: part.ways.saturating_add(counts - 1), ..part };
        }
        if part == Effort::ONE {
            return if most > SHORT && counts > 1 {
                Effort { loops: 1, ..part }
            } else {
                Effort { ways: counts, ..part }
            };
        }
        // Each round may match nothing and still must be made: its ways multiply whatever the text.
        self.hopeless |= least > FEW;
        let once = Effort { ways: counts, ..Effort::ONE };
        let rounds = (0..most.min(FEW)).fold(once, |rounds, _| rounds.then(part));
        if most <= FEW && rounds.ways <= MAX_WAYS {
            return rounds;
        }
        let each = part.ways.saturating_mul(part.loops.saturating_add(1));
        Effort { base: part.base.saturating_mul(each.max(2)), ..Effort::ONE }
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
    use super::Effort;

    #[test]
    fn repetitions_that_multiply_are_counted() {
        let cases = [
            ("^[a-z]{2}$", 0),
            ("^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$", 0),
            ("^[^@]+@[^@]+$", 2),
            (r"^\(a*\)$", 1),
            (r"^[)*(]+\*$", 1),
            ("^(GET|POST|PUT)$", 0),
            // One more, as the engine begins anew at each character.
            ("(.*a){3}", 4),
            ("(?:ab)?(?=c*)x{,3}", 2),
            ("^a|b*", 2),
        ];
        for (pattern, loops) in cases {
            let effort = Effort::of(pattern);
            assert_eq!(effort.map(|effort| (effort.loops, effort.base)), Some((loops, 1)), "{pattern}");
        }
    }

    #[test]
    fn choices_and_short_repetitions_in_sequence_multiply() {
        let cases =
            [("^(GET|POST|PUT)$", 3), ("^a{0,8}a{2,3}b?", 36), ("^(a|b?)(c|d|e){2}", 27), ("^a{3}b{8,}", 1)];
        for (pattern, ways) in cases {
            assert_eq!(Effort::of(pattern).map(|effort| effort.ways), Some(ways), "{pattern}");
        }
    }

    #[test]
    fn repetitions_of_repetitions_or_choices_are_nested() {
        for pattern in ["(a+)+", "(a|aa)*", "(?<n>a*)*", "([)(]*)+", "((a{1,4}){1,4}){1,4}"] {
            assert!(Effort::of(pattern).is_some_and(|effort| effort.base > 1), "{pattern}");
        }
    }

    #[test]
    fn choices_that_multiply_without_text_are_not_tried() {
        let options = format!("^{}{}$", "a?".repeat(40), "a".repeat(40));
        let deep = format!("{}a{}", "(".repeat(5_000), ")".repeat(5_000));
        let short = format!("^{}b", "a{0,8}".repeat(9));
        let choices = format!("^{}b", "(a|a)".repeat(24));
        for pattern in ["(.*a){20}", "((?:a?)){30}", &options, &deep, &short, &choices] {
            assert_eq!(Effort::of(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn steps_follow_the_ways_to_share_a_text() {
        let cases = [
            ("^a", 0, 1),
            ("^a*a*b", 3, 20),
            ("^a?a*", 5, 12),
            ("^(a|a)*", 4, 16),
            ("^(a+)+", 400, u64::MAX),
        ];
        for (pattern, length, steps) in cases {
            assert_eq!(Effort::of(pattern).map(|effort| effort.steps(length)), Some(steps), "{pattern}");
        }
        let many = Effort::of(&"a*".repeat(30_000)).map(|effort| effort.steps(2_000));
        assert_eq!(many, Some(u64::MAX));
    }
}
