//! Splits a stream into lines, each a message of JSON-RPC, and identifies lines that cannot be parsed.

use memchr::memchr;
use serde_json::Value;

/// A line of a stream.
#[derive(Debug, PartialEq)]
pub enum Line<'l> {
    /// A complete line, without its end.
    Whole(&'l [u8]),
    /// The line is too long.
    TooLong(MessageKind),
}

/// The apparent kind of a message that cannot be parsed.
#[derive(Debug, PartialEq)]
pub enum MessageKind {
    /// A request with this ID, or a notification without an ID.
    Request(Option<Value>),
    /// A response to the request with this ID.
    Answer(Value),
    /// A request whose ID is neither a string nor an integer.
    Odd,
    /// An unknown kind of message, with its ID, if any.
    Unknown(Option<Value>),
}

impl MessageKind {
    /// Identifies a line that is not a message.
    pub fn at(line: &[u8]) -> MessageKind {
        let mut scanner = MessageScanner::default();
        scanner.read(line);
        scanner.into_glance()
    }
}

/// The maximum length of an ID that is detected, in bytes.
const MAX_ID_BYTES: usize = 256;

/// Splits a stream into lines, and buffers one line at a time.
pub struct Lines {
    line: Vec<u8>,
    max_length: usize,
    /// The state of the search for the ID in a line that is too long.
    scanner: Option<MessageScanner>,
}

impl Lines {
    pub fn new(max_length: usize) -> Lines {
        Lines { line: Vec::new(), max_length, scanner: None }
    }

    /// Returns the number of skipped bytes of the current line, if it is too long.
    pub fn passed_over(&self) -> usize {
        self.scanner.as_ref().map_or(0, |scanner| scanner.length)
    }

    /// Returns the start of a line whose end was not read yet.
    pub fn rest(&self) -> &[u8] {
        &self.line
    }

    /// Reads the next bytes, and calls `on_line` for each line that ends in them.
    pub fn push(&mut self, mut bytes: &[u8], mut on_line: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr(b'\n', bytes) {
            let remaining = &bytes[end + 1..];
            bytes = &bytes[..end];
            if self.line.is_empty() && self.scanner.is_none() && bytes.len() <= self.max_length {
                on_line(Line::Whole(bytes));
            } else {
                self.add(bytes);
                match self.scanner.take() {
                    Some(scanner) => on_line(Line::TooLong(scanner.into_glance())),
                    None => on_line(Line::Whole(&self.line)),
                }
                // Long lines are rare; release their memory.
                if self.line.capacity() > 1 << 20 { self.line = Vec::new() } else { self.line.clear() }
            }
            bytes = remaining;
        }
        self.add(bytes);
    }

    /// Calls `on_line` for the last line if the stream ends without a line end.
    pub fn finish(&mut self, on_line: impl FnMut(Line<'_>)) {
        if !self.line.is_empty() || self.scanner.is_some() {
            self.push(b"\n", on_line);
        }
    }

    /// Adds to the current line. If the line gets too long, only searches it for its ID.
    fn add(&mut self, bytes: &[u8]) {
        if self.scanner.is_none() && self.line.len() + bytes.len() > self.max_length {
            let mut scanner = MessageScanner::default();
            scanner.read(&self.line);
            self.line = Vec::new();
            self.scanner = Some(scanner);
        }
        match &mut self.scanner {
            Some(scanner) => scanner.read(bytes),
            None => self.line.extend_from_slice(bytes),
        }
    }
}

/// Finds the ID in a message that is not buffered.
#[derive(Default)]
struct MessageScanner {
    length: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The last string of the outermost object, if it is short.
    last_string: Vec<u8>,
    in_id: bool,
    /// The raw text of the ID, if it is short.
    raw_id: Vec<u8>,
    id: Option<Value>,
    /// Whether there is an ID that is neither a string nor an integer.
    has_invalid_id: bool,
    has_method: bool,
    has_result: bool,
}

impl MessageScanner {
    fn read(&mut self, bytes: &[u8]) {
        self.length += bytes.len();
        for byte in bytes {
            if self.in_id
                && (self.in_string || !matches!(byte, b',' | b'}'))
                && self.raw_id.len() <= MAX_ID_BYTES
            {
                self.raw_id.push(*byte);
            }
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.in_string = false,
                    byte if self.depth == 1 && self.last_string.len() < 16 => self.last_string.push(*byte),
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    if self.depth == 1 {
                        self.last_string.clear();
                    }
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.end_value();
                    self.depth = self.depth.saturating_sub(1);
                }
                b':' if self.depth == 1 => {
                    self.in_id = self.last_string == b"id";
                    self.raw_id.clear();
                    self.has_method |= self.last_string == b"method";
                    self.has_result |= self.last_string == b"result" || self.last_string == b"error";
                }
                b',' => self.end_value(),
                _ => {}
            }
        }
    }

    fn end_value(&mut self) {
        if self.depth == 1 && self.in_id {
            self.in_id = false;
            let id = serde_json::from_slice(&self.raw_id).ok();
            self.id = id.filter(|id: &Value| id.is_string() || id.is_i64() || id.is_u64());
            self.has_invalid_id = self.id.is_none() && self.raw_id.len() <= MAX_ID_BYTES;
        }
    }

    fn into_glance(self) -> MessageKind {
        match (self.has_method, self.has_result, self.id) {
            (true, _, None) if self.has_invalid_id => MessageKind::Odd,
            (true, _, id) => MessageKind::Request(id),
            (false, true, Some(id)) => MessageKind::Answer(id),
            (_, _, id) => MessageKind::Unknown(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str, max_length: usize, chunk_size: usize) -> Vec<String> {
        let (mut lines, mut received) = (Lines::new(max_length), Vec::new());
        for bytes in text.as_bytes().chunks(chunk_size) {
            lines.push(bytes, |line| {
                received.push(match line {
                    Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                    other => format!("{other:?}"),
                });
            });
            assert!(lines.line.len() <= max_length);
        }
        received
    }

    #[test]
    fn lines_do_not_depend_on_chunks() {
        let text = "{\"id\":1}\n\nsecond\r\nthird";
        for chunk_size in 1..=text.len() {
            assert_eq!(split(text, 20, chunk_size), ["{\"id\":1}", "", "second\r"], "{chunk_size}");
        }
    }

    #[test]
    fn id_of_a_too_long_line_is_found_anywhere() {
        let long = "x".repeat(50);
        for (line, expected) in [
            (
                format!(r#"{{"jsonrpc":"2.0","id":17,"result":{{"id":3,"text":"{long}"}}}}"#),
                "TooLong(Answer(Number(17)))",
            ),
            (
                format!(r#"{{"result":{{"a":["\"id\":4",{{"id":5}}],"b":"{long}\\"}},"id" : 18 }}"#),
                "TooLong(Answer(Number(18)))",
            ),
            (format!(r#"{{"error":{{"message":"{long}"}},"id":19}}"#), "TooLong(Answer(Number(19)))"),
            (
                format!(r#"{{"id":20,"method":"ping","params":"{long}"}}"#),
                "TooLong(Request(Some(Number(20))))",
            ),
            (format!(r#"{{"method":"ping","params":"{long}"}}"#), "TooLong(Request(None))"),
            (format!(r#"{{"id":"2\",}}1","result":"{long}"}}"#), r#"TooLong(Answer(String("2\",}1")))"#),
            (format!(r#"{{"id":-4,"params":"{long}"}}"#), "TooLong(Unknown(Some(Number(-4))))"),
            (format!(r#"{{"id":[5],"params":"{long}"}}"#), "TooLong(Unknown(None))"),
            (format!(r#"{{"id":"{long}{long}{long}{long}{long}{long}"}}"#), "TooLong(Unknown(None))"),
            (format!(r#"[{{"id":22,"result":"{long}"}}]"#), "TooLong(Unknown(None))"),
            (long, "TooLong(Unknown(None))"),
        ] {
            for chunk_size in [1, 7, line.len()] {
                assert_eq!(split(&format!("{line}\nnext\n"), 30, chunk_size), [expected, "next"], "{line}");
            }
        }
    }
}
