//! Finds known texts in other texts, however they are encoded there: as they are, percent-encoded as a whole or in
//! part, in a form, with backslash escapes, or wrapped into lines.
//!
//! Both sides are decoded, any number of times over, and compared as bytes (Knuth, Morris and Pratt). The time is
//! linear in the text for each needle, whatever either contains.

use std::ops::Range;

use super::truncate::floor;

/// Decoded needles that are shorter occur by chance.
const SHORTEST: usize = 4;
/// The length of the longest escape that may be cut in two: a pair of surrogates.
#[cfg(any(feature = "agent", feature = "executor", feature = "http"))]
const ESCAPE: usize = 12;

/// A text to be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Needle {
    text: String,
    /// What precedes a needle may look like the start of an escape, so it is also searched for as it is.
    plain: Pattern,
    decoded: Pattern,
}

impl Needle {
    /// Creates a needle. A start of this many characters counts as the whole of it.
    pub(crate) fn new(text: impl Into<String>, enough: usize) -> Needle {
        let text = text.into();
        let plain = Pattern::new(text.bytes().collect(), enough);
        let decoded: Vec<u8> = Decoded::new(&text).map(|unit| unit.byte).collect();
        let decoded = if decoded.len() < SHORTEST { Vec::new() } else { decoded };
        Needle { decoded: Pattern::new(decoded, enough), text, plain }
    }

    /// Returns the text as it is.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the text with another in place of each needle. `None`: it contains none.
pub(crate) fn replace<'n>(
    text: &str,
    needles: impl IntoIterator<Item = &'n Needle>,
    with: &str,
) -> Option<String> {
    let found = find(text, needles);
    let last = found.last()?.end;
    let (mut out, mut kept) = (String::with_capacity(text.len()), 0);
    for part in found {
        out.push_str(&text[kept..part.start]);
        out.push_str(with);
        kept = part.end;
    }
    out.push_str(&text[last..]);
    Some(out)
}

/// Returns where the needles are, in order and without overlaps.
pub(crate) fn find<'n>(text: &str, needles: impl IntoIterator<Item = &'n Needle>) -> Vec<Range<usize>> {
    search(text, needles).0
}

/// Returns where a needle may begin whose end is missing, because the text goes on; else the length of the text.
#[cfg(any(feature = "agent", feature = "executor", feature = "http"))]
pub(crate) fn unfinished<'n>(text: &str, needles: impl IntoIterator<Item = &'n Needle>) -> usize {
    let needles: Vec<&Needle> = needles.into_iter().collect();
    let (found, mut begin) = search(text, needles.iter().copied());
    let tail = floor(text, text.len().saturating_sub(ESCAPE));
    if let Some(escape) = text[tail..].rfind(['%', '\\']).filter(|_| !needles.is_empty()) {
        let whole = text[..tail + escape].trim_end_matches(['%', '\\']);
        begin = begin.min(search(whole, needles).1).min(whole.len());
    }
    // What was found is not shown in part.
    found.iter().find(|part| part.contains(&begin)).map_or(begin, |part| part.start)
}

/// Returns where the needles are, and where one may begin that the end of the text cuts off.
fn search<'n>(text: &str, needles: impl IntoIterator<Item = &'n Needle>) -> (Vec<Range<usize>>, usize) {
    let (plain, decoded): (Vec<_>, Vec<_>) =
        needles.into_iter().map(|needle| (&needle.plain, &needle.decoded)).unzip();
    let mut found = Vec::new();
    let as_is = text.bytes().enumerate().map(|(at, byte)| Unit { byte, part: at..at + 1 });
    let begin = scan(as_is, plain, &mut found);
    let begin = scan(Decoded::new(text), decoded, &mut found).into_iter().chain(begin).min();
    for part in &mut found {
        *part = floor(text, part.start)..floor(text, part.end);
    }
    found.sort_unstable_by_key(|part| part.start);
    found.dedup_by(|next, part| {
        let same = next.start < part.end;
        if same {
            part.end = part.end.max(next.end);
        }
        same
    });
    (found, begin.map_or(text.len(), |begin| floor(text, begin)))
}

/// A byte, and the part of the text that it was decoded from.
struct Unit {
    byte: u8,
    part: Range<usize>,
}

/// Looks for all patterns in one pass. Returns where one begins that the end cuts off.
fn scan(
    units: impl Iterator<Item = Unit>,
    mut patterns: Vec<&Pattern>,
    found: &mut Vec<Range<usize>>,
) -> Option<usize> {
    patterns.retain(|pattern| !pattern.bytes.is_empty());
    let longest = patterns.iter().map(|pattern| pattern.bytes.len()).max()?;
    let mut first = [false; 256];
    patterns.iter().for_each(|pattern| first[usize::from(pattern.bytes[0])] = true);
    // Where the latest bytes come from, as many as a match may have.
    let mut starts = vec![0; longest];
    let mut states = vec![0; patterns.len()];
    let mut most = 0;
    let mut count = 0;
    for Unit { byte, part } in units {
        if most == 0 && !first[usize::from(byte)] {
            continue;
        }
        starts[count % longest] = part.start;
        count += 1;
        most = 0;
        for (pattern, state) in patterns.iter().zip(&mut states) {
            *state = pattern.step(*state, byte);
            if *state >= pattern.enough {
                let start = starts[(count - *state) % longest];
                match found.last_mut().filter(|last| last.contains(&start) || last.start == part.start) {
                    Some(last) => last.end = last.end.max(part.end),
                    None => found.push(start..part.end),
                }
            }
            if *state == pattern.bytes.len() {
                *state = pattern.fallback[*state - 1];
            }
            most = most.max(*state);
        }
    }
    (most > 0).then(|| starts[(count - most) % longest])
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern {
    bytes: Vec<u8>,
    /// For each length of a match, less one, the longest shorter match that it ends with.
    fallback: Vec<usize>,
    /// How many bytes count as a match.
    enough: usize,
}

impl Pattern {
    fn new(bytes: Vec<u8>, enough: usize) -> Pattern {
        let chars = bytes.iter().enumerate().filter(|(_, byte)| **byte & 0xc0 != 0x80);
        let enough = chars.map(|(at, _)| at).nth(enough).unwrap_or(bytes.len());
        let mut pattern = Pattern { fallback: Vec::with_capacity(bytes.len()), bytes, enough };
        let mut state = 0;
        for at in 0..pattern.bytes.len() {
            if at > 0 {
                state = pattern.step(state, pattern.bytes[at]);
            }
            pattern.fallback.push(state);
        }
        pattern
    }

    /// Returns how long the match is with the next byte.
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

/// The bytes of a text without its encodings. Line breaks, backslashes and percent signs that encode nothing are left
/// out, and a plus is a blank.
struct Decoded<'t> {
    text: &'t [u8],
    at: usize,
    /// An escaped character that is partly given.
    rest: std::vec::IntoIter<u8>,
    part: Range<usize>,
}

impl<'t> Decoded<'t> {
    fn new(text: &'t str) -> Decoded<'t> {
        Decoded { text: text.as_bytes(), at: 0, rest: Vec::new().into_iter(), part: 0..0 }
    }

    /// Returns the next byte behind a position, without percent-encoding, and where it ends.
    fn percent(&self, at: usize) -> Option<(Option<u8>, usize)> {
        let byte = *self.text.get(at)?;
        if byte != b'%' {
            return Some((Some(byte), at + 1));
        }
        let mut end = at + 1;
        while self.text.get(end..end + 2) == Some(b"25") {
            end += 2;
        }
        let digits = self.text.get(end..end + 2).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => Some((Some(byte), end + 2)),
            None => Some((None, end)),
        }
    }

    /// Reads what follows a backslash, if the two mean something else than the second alone.
    fn escaped(&mut self) {
        self.backslashes();
        let Some((Some(letter), end)) = self.percent(self.at) else { return };
        let escaped = match letter {
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => match self.unicode(end) {
                Some((escaped, end)) => {
                    self.at = end;
                    self.rest = escaped.to_string().into_bytes().into_iter();
                    return;
                }
                None => return,
            },
            _ => return,
        };
        self.at = end;
        self.rest = vec![escaped as u8].into_iter();
    }

    fn backslashes(&mut self) -> bool {
        let before = self.at;
        while let Some((Some(b'\\'), end)) = self.percent(self.at) {
            self.at = end;
        }
        self.at > before
    }

    /// Returns the character of `\uXXXX`, and where it ends.
    fn unicode(&mut self, at: usize) -> Option<(char, usize)> {
        let (high, end) = self.unit(at)?;
        if let Some(escaped) = char::from_u32(high) {
            return Some((escaped, end));
        }
        let before = std::mem::replace(&mut self.at, end);
        let low = match (self.backslashes(), self.percent(self.at)) {
            (true, Some((Some(b'u'), digits))) => self.unit(digits),
            _ => None,
        };
        self.at = before;
        let (low, end) = low.filter(|(low, _)| (0xdc00..0xe000).contains(low))?;
        let code = 0x1_0000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
        Some((char::from_u32(code)?, end))
    }

    /// Returns the number that four hexadecimal digits are, and where they end.
    fn unit(&self, mut at: usize) -> Option<(u32, usize)> {
        let mut code = 0;
        for _ in 0..4 {
            let (byte, end) = self.percent(at)?;
            code = code * 16 + char::from(byte?).to_digit(16)?;
            at = end;
        }
        Some((code, at))
    }
}

impl Iterator for Decoded<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        loop {
            let byte = match self.rest.next() {
                Some(byte) => Some(byte),
                None => {
                    let start = self.at;
                    let (byte, end) = self.percent(start)?;
                    self.at = end;
                    if byte == Some(b'\\') {
                        self.escaped();
                    }
                    self.part = start..self.at;
                    if byte == Some(b'\\') { self.rest.next() } else { byte }
                }
            };
            match byte {
                None | Some(b'\r' | b'\n') => {}
                Some(b'+') => return Some(Unit { byte: b' ', part: self.part.clone() }),
                Some(byte) => return Some(Unit { byte, part: self.part.clone() }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::cpu_time::cpu_time;

    #[test]
    fn a_needle_is_found_however_it_is_encoded() {
        let cases = [
            ("hunter2 x/y:z", "a hunter2 x/y:z b"),
            ("hunter2 x/y:z", "a hunter2%20x/y:z b"),
            ("hunter2 x/y:z", "a hunter2+x%2fy%3Az b"),
            ("hunter2 x/y:z", "a hunter2%2520x%252Fy:z b"),
            ("hunter2 x/y:z", r"a hunter2 x\/y:z b"),
            ("hunter2 x/y:z", "a hunter2\r\n x/y:z b"),
            ("caf\u{e9}-1", "a caf%c3%a9-1 b"),
            ("caf\u{e9}-1", r"a caf\u00e9-1 b"),
            ("key\u{1f600}s", r"a key\ud83d\uDE00s b"),
            ("a\"b\\c\n1", r#"a a\"b\\c\n1 b"#),
            ("a\"b\\c\n1", r#"a a\\\"b\\\\c\\n1 b"#),
            ("CORP\\nadmin", "a CORP%5Cnadmin b"),
            ("CORP\\nadmin", r"a CORP\\nadmin b"),
            ("abcdef", "a %abcdef b"),
            ("nabcdef", r"a \nabcdef b"),
            ("1%41+2", "a 1%2541%2B2 b"),
            ("ends\\", r#"a ends\\" b"#),
        ];
        for (needle, text) in cases {
            let found = replace(text, [&Needle::new(needle, 16)], "#");
            let found = found.unwrap_or_else(|| panic!("{needle} in {text}"));
            assert!(
                found.starts_with("a ") && found.ends_with(" b") && found.contains('#'),
                "{text}: {found}"
            );
            assert!(found.len() <= 8, "{text}: {found}");
        }
        assert_eq!(replace("abc def", [&Needle::new("abcdef", 16)], "#"), None);
    }

    #[test]
    fn the_start_of_a_long_needle_is_enough_and_overlaps_are_found() {
        let needle = Needle::new(format!("{}b", "a".repeat(25)), 16);
        assert_eq!(replace(&format!("x{}bx", "a".repeat(26)), [&needle], "#").unwrap(), "x#x");
        assert_eq!(replace(&format!("x{}x", "a".repeat(16)), [&needle], "#").unwrap(), "x#x");
        assert_eq!(replace(&format!("x{}x", "a".repeat(15)), [&needle], "#"), None);
        let both = [Needle::new("abcd", 16), Needle::new("cdef", 16)];
        assert_eq!(replace("xabcdefx", &both, "#").unwrap(), "x#x");
    }

    #[cfg(any(feature = "agent", feature = "executor", feature = "http"))]
    #[test]
    fn a_needle_that_is_cut_off_is_known_by_its_start() {
        let needles = [Needle::new("caf\u{e9} x", 16)];
        for (text, shown) in [
            ("say c", "say "),
            ("say caf%c3", "say "),
            ("say caf%c", "say "),
            (r"say caf\u00", "say "),
            ("say caf\u{e9} x", "say caf\u{e9} x"),
            ("say caf\u{e9} x, c", "say caf\u{e9} x, "),
            ("say tea", "say tea"),
        ] {
            assert_eq!(&text[..unfinished(text, &needles)], shown, "{text}");
        }
    }

    #[test]
    fn searching_takes_linear_time() {
        let needles: Vec<Needle> =
            (0..20).map(|n| Needle::new(format!("{}b{n}", "a".repeat(40)), 16)).collect();
        for unit in ["a", "aaab", "%", "%25", "\\", "\\u", "\\ud83d", "\n", "%5c", "\\u%25"] {
            let text = unit.repeat(200_000 / unit.len());
            let (_, spent) = cpu_time(|| replace(&text, &needles, "#"));
            assert!(spent.as_secs() < 3, "{unit}: {spent:?}");
        }
    }
}
