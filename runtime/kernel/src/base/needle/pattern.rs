//! Patterns that are searched for in a stream of bytes.

use std::ops::Range;

/// A byte, and the part of the text that it was decoded from.
pub(super) struct Unit {
    pub(super) byte: u8,
    pub(super) part: Range<usize>,
}

/// What happens to the remainder of a text that is cut off.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Remainder {
    /// The remainder arrives later, and is searched together with the part that was held back.
    Follows,
    /// The remainder is never shown.
    Lost,
}

/// Searches for all patterns in one pass. Returns the start of a pattern that the end cuts off.
pub(super) fn scan(
    units: impl Iterator<Item = Unit>,
    mut patterns: Vec<&Pattern>,
    ranges: &mut Vec<Range<usize>>,
    remainder: Remainder,
) -> Option<usize> {
    patterns.retain(|pattern| !pattern.bytes.is_empty());
    let longest = patterns.iter().map(|pattern| pattern.bytes.len()).max()?;
    // For each first byte, a linked list of patterns: its head in `first`, the links in `next`.
    let mut first = [None; 256];
    let mut next = vec![None; patterns.len()];
    for (index, pattern) in patterns.iter().enumerate() {
        next[index] = first[usize::from(pattern.bytes[0])].replace(index);
    }
    // A ring buffer with the start of each recent byte, as long as the longest match.
    let mut starts = vec![0; longest];
    let mut states = vec![0; patterns.len()];
    // The patterns that have begun.
    let mut started: Vec<usize> = Vec::new();
    let mut count = 0;
    for Unit { byte, part } in units {
        let mut candidate = first[usize::from(byte)];
        if started.is_empty() && candidate.is_none() {
            continue;
        }
        starts[count % longest] = part.start;
        count += 1;
        let mut report = |length: usize| {
            let start = starts[(count - length) % longest];
            match ranges.last_mut().filter(|last| last.contains(&start) || last.start == part.start) {
                Some(last) => last.end = last.end.max(part.end),
                None => ranges.push(start..part.end),
            }
        };
        started.retain(|index| {
            let state = &mut states[*index];
            *state = patterns[*index].advance(*state, byte, &mut report);
            *state > 0
        });
        while let Some(index) = candidate {
            candidate = next[index];
            if states[index] == 0 {
                states[index] = patterns[index].advance(0, byte, &mut report);
                started.extend((states[index] > 0).then_some(index));
            }
        }
    }
    // If the remainder is lost, only a few bytes of a needle would be shown; if it follows, the whole needle.
    let min_state = |pattern: &Pattern| if remainder == Remainder::Lost { pattern.min_cut } else { 1 };
    let cut = started.into_iter().filter(|index| states[*index] >= min_state(patterns[*index]));
    let limit = cut.map(|index| states[index]).max()?;
    Some(starts[(count - limit) % longest])
}

/// A byte string to search for, with its failure function (Knuth, Morris and Pratt).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    bytes: Vec<u8>,
    /// For each length of a match, minus one, the longest shorter match that is its suffix.
    fallback: Vec<usize>,
    /// The number of bytes that count as a match.
    min_match: usize,
    /// The number of bytes at the end of a text that count as the start of the pattern, if the remainder is lost.
    min_cut: usize,
}

impl Pattern {
    /// Creates a pattern. Its first `min_chars` characters count as a match.
    pub(super) fn new(bytes: Vec<u8>, min_chars: usize) -> Pattern {
        let chars = bytes.iter().enumerate().filter(|(_, byte)| **byte & 0xc0 != 0x80);
        let min_match = chars.map(|(at, _)| at).nth(min_chars).unwrap_or(bytes.len());
        let mut pattern = Pattern { fallback: Vec::with_capacity(bytes.len()), bytes, min_match, min_cut: 1 };
        let mut state = 0;
        for at in 0..pattern.bytes.len() {
            if at > 0 {
                state = pattern.step(state, pattern.bytes[at]);
            }
            pattern.fallback.push(state);
        }
        pattern
    }

    /// Sets the number of bytes at the end of a text that count as the start, if the remainder is lost.
    pub(super) fn with_min_cut(self, min_cut: usize) -> Pattern {
        Pattern { min_cut, ..self }
    }

    /// Returns the length of the match after the next byte. Reports the length if it counts as a match.
    fn advance(&self, state: usize, byte: u8, report: &mut impl FnMut(usize)) -> usize {
        let state = self.step(state, byte);
        if state >= self.min_match {
            report(state);
        }
        if state == self.bytes.len() { self.fallback[state - 1] } else { state }
    }

    /// Returns the length of the match after the next byte.
    fn step(&self, mut state: usize, byte: u8) -> usize {
        loop {
            if self.bytes[state] == byte {
                return state + 1;
            }
            if state == 0 {
                return 0;
            }
            state = self.fallback[state - 1];
        }
    }
}
