//! Decodes the bytes of a text.

use std::cell::Cell;
use std::collections::VecDeque;
use std::ops::Range;

use toolgen_core::InvisibleChar;

use super::pattern::Unit;

/// The maximum number of digits of an entity.
const DIGITS: usize = 8;
/// The entities that programs write, and their characters.
const ENTITIES: [(&str, u8); 5] =
    [("lt;", b'<'), ("gt;", b'>'), ("quot;", b'"'), ("apos;", b'\''), ("nbsp;", b' ')];

/// Normalizes a byte for comparison: line breaks, backslashes and the zeros of UTF-16 are omitted, and a plus is a
/// space.
pub(super) fn folded(byte: u8) -> Option<u8> {
    match byte {
        b'\r' | b'\n' | b'\\' | 0 => None,
        b'+' => Some(b' '),
        byte => Some(byte),
    }
}

/// The decoded bytes of a text, [folded], without invisible characters.
pub(super) struct Decoded<'t> {
    bytes: Encodings<'t>,
    /// The remaining bytes of a visible character.
    pending: VecDeque<Unit>,
    /// The unit after an incomplete character.
    next: Option<Unit>,
    /// The start of a character that the end of the text cuts off.
    cut: Option<usize>,
}

impl<'t> Decoded<'t> {
    pub(super) fn new(text: &'t [u8]) -> Decoded<'t> {
        Decoded { bytes: Encodings::new(text), pending: VecDeque::new(), next: None, cut: None }
    }

    /// Returns the start of an escape or a character that the end of a text cuts off.
    pub(super) fn cut_off(text: &'t [u8]) -> Option<usize> {
        let read = |text| {
            let mut decoded = Decoded::new(text);
            while decoded.next().is_some() {}
            (decoded.cut, decoded.bytes.cut)
        };
        let (cut, escape) = read(text);
        // The escape may encode a byte in the middle of a character.
        let before = escape.and_then(|at| read(&text[..at]).0);
        [cut, escape, before].into_iter().flatten().min()
    }
}

impl Iterator for Decoded<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        loop {
            if let Some(unit) = self.pending.pop_front() {
                return Some(unit);
            }
            let first = self.next.take().or_else(|| self.bytes.next())?;
            let length = match first.byte {
                0..0xc2 => return Some(first),
                0xc2..0xe0 => 2,
                0xe0..0xf0 => 3,
                0xf0.. => 4,
            };
            let start = first.part.start;
            self.pending.push_back(first);
            while self.pending.len() < length {
                match self.bytes.next() {
                    Some(unit) if unit.byte & 0xc0 == 0x80 => self.pending.push_back(unit),
                    other => {
                        self.cut = other.is_none().then_some(start);
                        self.next = other;
                        break;
                    }
                }
            }
            let char: Vec<u8> = self.pending.iter().map(|unit| unit.byte).collect();
            let char = std::str::from_utf8(&char).ok().and_then(|char| char.chars().next());
            if char.is_some_and(InvisibleChar::is_invisible) {
                self.pending.clear();
            }
        }
    }
}

/// The decoded bytes of a text, [folded], without percent signs that encode nothing.
struct Encodings<'t> {
    text: &'t [u8],
    position: usize,
    /// The remaining bytes of an escaped character.
    pending: std::vec::IntoIter<u8>,
    part: Range<usize>,
    /// Whether the end of the text was reached while reading an escape.
    reached_end: Cell<bool>,
    /// The start of the first escape that the end of the text cuts off.
    cut: Option<usize>,
}

impl<'t> Encodings<'t> {
    fn new(text: &'t [u8]) -> Encodings<'t> {
        Encodings {
            text,
            position: 0,
            pending: Vec::new().into_iter(),
            part: 0..0,
            reached_end: Cell::new(false),
            cut: None,
        }
    }

    /// Returns the next percent-decoded byte after a position, and its end.
    fn percent(&self, position: usize) -> Option<(Option<u8>, usize)> {
        let Some(&byte) = self.text.get(position) else {
            self.reached_end.set(true);
            return None;
        };
        if byte != b'%' {
            return Some((Some(byte), position + 1));
        }
        let mut end = position + 1;
        while self.text.get(end..end + 2) == Some(b"25") {
            end += 2;
        }
        let digits = self.text.get(end..end + 2);
        self.reached_end.set(self.reached_end.get() || digits.is_none());
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => Some((Some(byte), end + 2)),
            None => Some((None, end)),
        }
    }

    /// Reads the escape after a backslash, unless the backslash just quotes the next character.
    fn read_escape(&mut self) {
        self.skip_backslashes();
        let Some((Some(letter), end)) = self.percent(self.position) else { return };
        let escaped = match letter {
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => match self.unicode(end) {
                Some((escaped, end)) => {
                    self.position = end;
                    self.pending = escaped.to_string().into_bytes().into_iter();
                    return;
                }
                None => return,
            },
            b'x' => match self.hexadecimal(end, 2) {
                Some((byte, end)) => {
                    self.position = end;
                    self.pending = u8::try_from(byte).map_or(Vec::new(), |byte| vec![byte]).into_iter();
                    return;
                }
                None => return,
            },
            _ => return,
        };
        self.position = end;
        self.pending = vec![escaped as u8].into_iter();
    }

    /// Skips backslashes, and returns whether there were any.
    fn skip_backslashes(&mut self) -> bool {
        let start = self.position;
        while let Some((Some(b'\\'), end)) = self.percent(self.position) {
            self.position = end;
        }
        self.position > start
    }

    /// Returns the character of `\uXXXX`, and its end.
    fn unicode(&mut self, position: usize) -> Option<(char, usize)> {
        let (high, end) = self.code_unit(position)?;
        if let Some(escaped) = char::from_u32(high) {
            return Some((escaped, end));
        }
        let saved_position = std::mem::replace(&mut self.position, end);
        let low = match (self.skip_backslashes(), self.percent(self.position)) {
            (true, Some((Some(b'u'), digits))) => self.code_unit(digits),
            _ => None,
        };
        self.position = saved_position;
        let (low, end) = low.filter(|(low, _)| (0xdc00..0xe000).contains(low))?;
        let code = 0x1_0000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
        Some((char::from_u32(code)?, end))
    }

    /// Reads the entity after an ampersand, if there is one.
    fn read_entity(&mut self) {
        let mut position = self.position;
        while let Some(end) = self.end_of(position, "amp;") {
            position = end;
        }
        let named =
            ENTITIES.iter().find_map(|(name, byte)| Some((vec![*byte], self.end_of(position, name)?)));
        let (bytes, end) =
            named.or_else(|| self.numbered(position)).unwrap_or_else(|| (vec![b'&'], position));
        self.position = end;
        self.pending = bytes.into_iter();
    }

    /// Returns the character of `#38` or `#x26`, with or without a semicolon, and its end.
    fn numbered(&self, position: usize) -> Option<(Vec<u8>, usize)> {
        let position = self.end_of(position, "#")?;
        let (radix, mut position) =
            self.end_of(position, "x").map_or((10, position), |position| (16, position));
        let (mut code, mut has_digits) = (0_u32, false);
        for _ in 0..DIGITS {
            let Some((Some(byte), end)) = self.percent(position) else { break };
            let Some(digit) = char::from(byte).to_digit(radix) else { break };
            code = code.saturating_mul(radix).saturating_add(digit);
            (position, has_digits) = (end, true);
        }
        let escaped = char::from_u32(code).filter(|_| has_digits)?;
        Some((escaped.to_string().into_bytes(), self.end_of(position, ";").unwrap_or(position)))
    }

    /// Returns the end of a word at a position, ignoring case.
    fn end_of(&self, mut position: usize, word: &str) -> Option<usize> {
        for letter in word.bytes() {
            let (byte, end) = self.percent(position)?;
            byte.filter(|byte| byte.eq_ignore_ascii_case(&letter))?;
            position = end;
        }
        Some(position)
    }

    /// Returns the value of four hexadecimal digits, and their end.
    fn code_unit(&self, position: usize) -> Option<(u32, usize)> {
        self.hexadecimal(position, 4)
    }

    fn hexadecimal(&self, mut position: usize, digits: usize) -> Option<(u32, usize)> {
        let mut code = 0;
        for _ in 0..digits {
            let (byte, end) = self.percent(position)?;
            code = code * 16 + char::from(byte?).to_digit(16)?;
            position = end;
        }
        Some((code, position))
    }
}

impl Iterator for Encodings<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        loop {
            let byte = match self.pending.next() {
                Some(byte) => Some(byte),
                None => {
                    let start = self.position;
                    self.reached_end.set(false);
                    let (byte, end) = self.percent(start)?;
                    self.position = end;
                    match byte {
                        Some(b'\\') => self.read_escape(),
                        Some(b'&') => self.read_entity(),
                        _ => {}
                    }
                    self.part = start..self.position;
                    self.cut = self.cut.or(self.reached_end.get().then_some(start));
                    if matches!(byte, Some(b'\\' | b'&')) { self.pending.next() } else { byte }
                }
            };
            if let Some(byte) = byte.and_then(folded) {
                return Some(Unit { byte, part: self.part.clone() });
            }
        }
    }
}
