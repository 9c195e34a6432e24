//! The tokens of JSON.

use std::borrow::Cow;

/// The position at which a text is not valid JSON.
#[derive(Debug)]
pub(super) struct SyntaxError {
    pub(super) offset: usize,
    pub(super) message: String,
}

/// A lexer for a text. It begins and ends between two tokens.
#[derive(Debug)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    pub(super) offset: usize,
    /// Positions where a string contains something that JSON forbids but that can be read.
    pub(super) oddities: Vec<(usize, &'static str)>,
}

/// Maximum number of such positions that are recorded.
const MAX_ODDITIES: usize = 1_000;

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Lexer { text, bytes: text.as_bytes(), offset: 0, oddities: Vec::new() }
    }

    /// Parses again the string whose opening quote is at `offset`.
    pub(super) fn string_at(&self, offset: usize) -> Cow<'t, str> {
        Lexer { text: self.text, bytes: self.bytes, offset, oddities: Vec::new() }
            .string()
            .unwrap_or_default()
    }

    /// Skips white space and looks at the next byte.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.offset) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(byte);
            }
            self.offset += 1;
        }
        None
    }

    /// Takes the next byte if it is `wanted`.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.offset += usize::from(is_next);
        is_next
    }

    /// Returns the error for unexpected input at the position.
    pub(super) fn expected(&mut self, expectation: &str) -> SyntaxError {
        let character = match self.peek() {
            None => {
                return self.error(self.offset, format!("the document ends where {expectation} is expected"));
            }
            Some(_) => self.text[self.offset..].chars().next().unwrap_or_default(),
        };
        self.error(self.offset, format!("expected {expectation}, found `{}`", character.escape_debug()))
    }

    fn error(&self, offset: usize, message: String) -> SyntaxError {
        SyntaxError { offset, message }
    }

    /// Parses a string; the lexer is at its opening quote.
    pub(super) fn string(&mut self) -> Result<Cow<'t, str>, SyntaxError> {
        let start = self.offset + 1;
        let end = self.plain_run(start);
        if self.bytes.get(end) == Some(&b'"') {
            self.offset = end + 1;
            return Ok(Cow::Borrowed(&self.text[start..end]));
        }
        self.long_string(start, end).map(Cow::Owned)
    }

    /// Skips a string; the lexer is at its opening quote. Only for text that was parsed before.
    pub(super) fn skip_string(&mut self) {
        let mut offset = self.offset + 1;
        loop {
            offset = self.plain_run(offset);
            match self.bytes.get(offset) {
                Some(b'\\') => offset += 2,
                Some(b'"') | None => break,
                Some(_) => offset += 1,
            }
        }
        self.offset = offset + 1;
    }

    /// Returns the end of the literal characters.
    #[inline]
    fn plain_run(&self, from: usize) -> usize {
        let mut offset = from;
        while let Some(&byte) = self.bytes.get(offset) {
            if byte == b'"' || byte == b'\\' || byte < 0x20 {
                break;
            }
            offset += 1;
        }
        offset
    }

    /// Parses the rest of a string that has other than plain characters.
    fn long_string(&mut self, start: usize, mut end: usize) -> Result<String, SyntaxError> {
        let mut value = String::from(&self.text[start..end]);
        loop {
            match self.bytes.get(end) {
                None => return Err(self.error(start - 1, String::from("this string is not closed"))),
                Some(b'"') => {
                    self.offset = end + 1;
                    return Ok(value);
                }
                Some(b'\\') => end = self.escape(end, &mut value)?,
                Some(&control) => {
                    self.oddity(end, "a control character in a string is not escaped");
                    value.push(char::from(control));
                    end += 1;
                }
            }
            let run = self.plain_run(end);
            value.push_str(&self.text[end..run]);
            end = run;
        }
    }

    fn oddity(&mut self, offset: usize, message: &'static str) {
        if self.oddities.len() < MAX_ODDITIES {
            self.oddities.push((offset, message));
        }
    }

    /// Parses the escape that begins at `offset` and returns its end.
    fn escape(&mut self, offset: usize, value: &mut String) -> Result<usize, SyntaxError> {
        let character = match self.bytes.get(offset + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(offset, value),
            _ => return Err(self.error(offset, String::from("there is no such escape in JSON"))),
        };
        value.push(character);
        Ok(offset + 2)
    }

    fn unicode(&mut self, offset: usize, value: &mut String) -> Result<usize, SyntaxError> {
        let Some(first) = self.unit(offset) else {
            return Err(self.error(offset, String::from("`\\u` is followed by four hexadecimal digits")));
        };
        let second = if (0xd800..0xdc00).contains(&first) { self.unit(offset + 6) } else { None };
        let (units, end) = match second {
            Some(second) if (0xdc00..0xe000).contains(&second) => ([first, second], offset + 12),
            _ => ([first, 0], offset + 6),
        };
        let used = if end == offset + 12 { &units[..] } else { &units[..1] };
        for character in char::decode_utf16(used.iter().copied()) {
            if character.is_err() {
                self.oddity(offset, "half of a surrogate pair is unpaired; it is read as U+FFFD");
            }
            value.push(character.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        Ok(end)
    }

    /// Returns the UTF-16 unit of `\uXXXX` at `offset`.
    fn unit(&self, offset: usize) -> Option<u16> {
        let digits = self.bytes.get(offset..offset + 6)?.strip_prefix(b"\\u")?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }

    /// Takes `true`, `false` or `null`.
    pub(super) fn word(&mut self, word: &str) -> bool {
        let is_next = self.bytes[self.offset..].starts_with(word.as_bytes());
        self.offset += if is_next { word.len() } else { 0 };
        is_next
    }

    /// Takes a number.
    pub(super) fn number(&mut self) -> Result<&'t str, SyntaxError> {
        let start = self.offset;
        let mut offset = start + usize::from(self.bytes.get(start) == Some(&b'-'));
        let integer_start = offset;
        offset = self.digits(offset);
        let leading_zero = offset > integer_start + 1 && self.bytes[integer_start] == b'0';
        let mut is_valid = offset > integer_start && !leading_zero;
        if self.bytes.get(offset) == Some(&b'.') {
            let end = self.digits(offset + 1);
            is_valid &= end > offset + 1;
            offset = end;
        }
        if matches!(self.bytes.get(offset), Some(b'e' | b'E')) {
            let digits = offset + 1 + usize::from(matches!(self.bytes.get(offset + 1), Some(b'+' | b'-')));
            let end = self.digits(digits);
            is_valid &= end > digits;
            offset = end;
        }
        if !is_valid {
            return Err(self.error(start, String::from("this is not a number in JSON syntax")));
        }
        self.offset = offset;
        Ok(&self.text[start..offset])
    }

    fn digits(&self, from: usize) -> usize {
        let mut offset = from;
        while self.bytes.get(offset).is_some_and(u8::is_ascii_digit) {
            offset += 1;
        }
        offset
    }

    /// Skips a number or a word. Only for text that was parsed before.
    pub(super) fn skip_word(&mut self) {
        while self.bytes.get(self.offset).is_some_and(|byte| !matches!(byte, b',' | b']' | b'}' | 0..=b' ')) {
            self.offset += 1;
        }
    }
}
