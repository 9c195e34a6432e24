//! Patterns that are searched for in a stream of bytes.

use std::ops::Range;

/// A byte, and the part of the text that it was decoded from.
pub(super) struct Unit {
    pub(super) byte: u8,
    pub(super) part: Range<usize>,
}

/// What happens to the rest of a text that is cut off.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// It arrives later, and is searched together with the part that waits for it.
    Follows,
    /// It is never shown.
    Lost,
}

/// Searches for all patterns in one pass. Returns the start of a pattern that is cut off by the end.
pub(super) fn scan(
    units: impl Iterator<Item = Unit>,
    mut patterns: Vec<&Pattern>,
    found: &mut Vec<Range<usize>>,
    rest: Rest,
) -> Option<usize> {
    patterns.retain(|pattern| !pattern.bytes.is_empty());
    let longest = patterns.iter().map(|pattern| pattern.bytes.len()).max()?;
    // The patterns by their first byte: the first pattern, and for each pattern the next one.
    let mut first = [None; 256];
    let mut next = vec![None; patterns.len()];
    for (index, pattern) in patterns.iter().enumerate() {
        next[index] = first[usize::from(pattern.bytes[0])].replace(index);
    }
    // The sources of the latest bytes, as many as a match can have.
    let mut starts = vec![0; longest];
    let mut states = vec![0; patterns.len()];
    // The patterns that have begun.
    let mut started: Vec<usize> = Vec::new();
    let mut count = 0;
    for Unit { byte, part } in units {
        let mut begins = first[usize::from(byte)];
        if started.is_empty() && begins.is_none() {
            continue;
        }
        starts[count % longest] = part.start;
        count += 1;
        let mut note = |length: usize| {
            let start = starts[(count - length) % longest];
            match found.last_mut().filter(|last| last.contains(&start) || last.start == part.start) {
                Some(last) => last.end = last.end.max(part.end),
                None => found.push(start..part.end),
            }
        };
        started.retain(|index| {
            let state = &mut states[*index];
            *state = patterns[*index].take(*state, byte, &mut note);
            *state > 0
        });
        while let Some(index) = begins {
            begins = next[index];
            if states[index] == 0 {
                states[index] = patterns[index].take(0, byte, &mut note);
                started.extend((states[index] > 0).then_some(index));
            }
        }
    }
    // If the rest is lost, only few bytes of a needle are shown; if it follows, the whole needle would be.
    let least = |pattern: &Pattern| if rest == Rest::Lost { pattern.sure } else { 1 };
    let cut = started.into_iter().filter(|index| states[*index] >= least(patterns[*index]));
    let limit = cut.map(|index| states[index]).max()?;
    Some(starts[(count - limit) % longest])
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    bytes: Vec<u8>,
    /// For each length of a match, minus one, the longest shorter match that is its suffix.
    fallback: Vec<usize>,
    /// How many bytes count as a match.
    enough: usize,
    /// How many bytes at the end of a text count as the start of the pattern, if the rest is lost.
    sure: usize,
}

impl Pattern {
    /// Creates a pattern. Its first `enough` characters count as a match.
    pub(super) fn new(bytes: Vec<u8>, enough: usize) -> Pattern {
        let chars = bytes.iter().enumerate().filter(|(_, byte)| **byte & 0xc0 != 0x80);
        let enough = chars.map(|(at, _)| at).nth(enough).unwrap_or(bytes.len());
        let mut pattern = Pattern { fallback: Vec::with_capacity(bytes.len()), bytes, enough, sure: 1 };
        let mut state = 0;
        for at in 0..pattern.bytes.len() {
            if at > 0 {
                state = pattern.step(state, pattern.bytes[at]);
            }
            pattern.fallback.push(state);
        }
        pattern
    }

    /// Sets how many bytes at the end of a text count as the start of the pattern, if the rest is lost.
    pub(super) fn sure_by(self, sure: usize) -> Pattern {
        Pattern { sure, ..self }
    }

    /// Returns the length of the match with the next byte, and reports the length of a match that counts.
    fn take(&self, state: usize, byte: u8, note: &mut impl FnMut(usize)) -> usize {
        let state = self.step(state, byte);
        if state >= self.enough {
            note(state);
        }
        if state == self.bytes.len() { self.fallback[state - 1] } else { state }
    }

    /// Returns the length of the match with the next byte.
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
