//! Splits a stream into lines as it arrives.

use toolgen_kernel::base::truncate::trim_partial_char;

use crate::{LineListener, MAX_LINE_BYTES};

/// Splits the chunks of a stream into lines.
pub(super) struct Lines<'l> {
    listener: &'l LineListener,
    /// The start of a line, shorter than [`MAX_LINE_BYTES`].
    start: Vec<u8>,
}

impl Lines<'_> {
    pub(super) fn new(listener: &LineListener) -> Lines<'_> {
        Lines { listener, start: Vec::new() }
    }

    /// Adds the next bytes of the stream, and passes on the lines that end in them.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut remaining = bytes;
        while !remaining.is_empty() {
            let (piece, after_piece) =
                remaining.split_at(remaining.len().min(MAX_LINE_BYTES - self.start.len()));
            let Some(end) = memchr::memchr(b'\n', piece) else {
                self.start.extend_from_slice(piece);
                if self.start.len() == MAX_LINE_BYTES {
                    let end = trim_partial_char(&self.start).len();
                    self.notify(&self.start[..end]);
                    self.start.drain(..end);
                }
                remaining = after_piece;
                continue;
            };
            // Most lines arrive complete, and need no copy.
            if self.start.is_empty() {
                self.notify(&piece[..end]);
            } else {
                self.start.extend_from_slice(&piece[..end]);
                self.notify(&self.start);
                self.start.clear();
            }
            remaining = &remaining[end + 1..];
        }
    }

    /// Passes on the last line, which has no line break.
    pub(super) fn finish(self) {
        if !self.start.is_empty() {
            self.notify(&self.start);
        }
    }

    fn notify(&self, line: &[u8]) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        self.listener.notify(&String::from_utf8_lossy(line));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Returns the lines of these chunks of a stream.
    fn lines(chunks: &[&[u8]]) -> Vec<String> {
        let messages = Arc::new(Mutex::new(Vec::new()));
        let listener = LineListener::new({
            let messages = Arc::clone(&messages);
            move |line: &str| messages.lock().unwrap().push(line.to_owned())
        });
        let mut lines = Lines::new(&listener);
        chunks.iter().for_each(|chunk| lines.push(chunk));
        lines.finish();
        std::mem::take(&mut *messages.lock().unwrap())
    }

    #[test]
    fn lines_do_not_depend_on_chunk_boundaries() {
        let text = "a€\r\n\n😀b\rc\nlast";
        let expected = ["a€", "", "😀b\rc", "last"];
        for cut in 0..=text.len() {
            let (left, right) = text.as_bytes().split_at(cut);
            assert_eq!(lines(&[left, right]), expected, "{cut}");
        }
        let bytes: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
        assert_eq!(lines(&bytes), expected);
        assert_eq!(lines(&[]), [""; 0]);
        assert_eq!(lines(&[b"a\n"]), ["a"]);
        assert_eq!(lines(&[b"\xFF\xE2\x82\nb"]), ["\u{FFFD}\u{FFFD}", "b"]);
    }

    #[test]
    fn long_lines_are_split_between_characters() {
        for before in 0..4 {
            let text = format!("{}{}\nend", "x".repeat(before), "€".repeat(MAX_LINE_BYTES));
            let messages = lines(&[text.as_bytes()]);
            assert!(
                messages.iter().all(|line| line.len() <= MAX_LINE_BYTES && !line.contains('\u{FFFD}')),
                "{before}"
            );
            assert_eq!(format!("{}\nend", messages[..messages.len() - 1].concat()), text);
        }
        assert_eq!(
            lines(&["x".repeat(MAX_LINE_BYTES).as_bytes(), b"\ny"]),
            ["x".repeat(MAX_LINE_BYTES), "".into(), "y".into()]
        );
        let invalid = vec![0x80; 3 * MAX_LINE_BYTES + 1];
        assert_eq!(lines(&[&invalid]).len(), 4);
    }
}
