//! Reads parts of files: lines of files of any size with little memory, and the type of a file.

use std::io::{self, Read, Seek as _};

use toolgen_kernel::base::media_type::of_content;
use toolgen_kernel::base::truncate::trim_partial_char;
use toolgen_kernel::call::context::ToolContext;

use super::work_dir::File;

/// Number of bytes at the start of a file that determine its type.
const SNIFF_BYTES: u64 = 8 << 10;

/// An excerpt of a text.
#[derive(Debug, Default)]
pub(super) struct Excerpt {
    /// The lines, without line breaks. Invalid UTF-8 is replaced by `U+FFFD`.
    pub(super) lines: Vec<String>,
    /// Total number of lines of the text.
    pub(super) total: u64,
    /// Whether requested lines are missing because of the size limit.
    pub(super) is_truncated: bool,
}

/// The lines to read, and size limits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    /// The first line, counted from 1.
    pub(super) first: u64,
    /// Maximum number of lines.
    pub(super) count: u64,
    /// Maximum total size, in bytes.
    pub(super) max_bytes: usize,
    /// Maximum length of a line, in bytes; longer lines end with `... [line truncated]`.
    pub(super) max_line_bytes: usize,
}

/// Reads lines of a text of any length.
///
/// # Errors
///
/// Returns an error if the text cannot be read, or if the call is cancelled.
pub(super) fn read_excerpt(mut text: impl Read, range: Range, ctx: &ToolContext) -> io::Result<Excerpt> {
    let mut reader =
        LineReader { range, excerpt: Excerpt::default(), line: Vec::new(), length: 0, total_bytes: 0 };
    let mut buffer = vec![0; 64 << 10];
    loop {
        if ctx.is_cancelled() {
            return Err(io::Error::other("Cancelled"));
        }
        let count = match text.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut rest = &buffer[..count];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            reader.push(&rest[..end]);
            reader.end_line();
            rest = &rest[end + 1..];
        }
        reader.push(rest);
    }
    if reader.length > 0 {
        reader.end_line();
    }
    Ok(reader.excerpt)
}

/// State of reading a text.
struct LineReader {
    range: Range,
    excerpt: Excerpt,
    /// The stored start of the current line.
    line: Vec<u8>,
    /// The length of the current line so far.
    length: usize,
    /// Total size of the stored lines, in bytes.
    total_bytes: usize,
}

impl LineReader {
    fn is_requested(&self) -> bool {
        let number = self.excerpt.total + 1;
        let end = self.range.first.saturating_add(self.range.count);
        !self.excerpt.is_truncated && number >= self.range.first && number < end
    }

    fn push(&mut self, part: &[u8]) {
        self.length += part.len();
        if self.is_requested() {
            // One additional byte: a carriage return at the end does not count.
            let length = (self.range.max_line_bytes + 1).saturating_sub(self.line.len()).min(part.len());
            self.line.extend_from_slice(&part[..length]);
        }
    }

    fn end_line(&mut self) {
        if self.is_requested() {
            let is_whole_line = self.line.len() == self.length;
            if is_whole_line && self.line.last() == Some(&b'\r') {
                self.line.pop();
            }
            let is_cut = self.line.len() > self.range.max_line_bytes || !is_whole_line;
            let visible = if is_cut {
                trim_partial_char(&self.line[..self.line.len().min(self.range.max_line_bytes)])
            } else {
                &self.line
            };
            self.total_bytes += visible.len() + 1;
            if self.total_bytes > self.range.max_bytes && !self.excerpt.lines.is_empty() {
                self.excerpt.is_truncated = true;
            } else {
                let end = if is_cut { "... [line truncated]" } else { "" };
                self.excerpt.lines.push(format!("{}{end}", String::from_utf8_lossy(visible)));
            }
        }
        self.line.clear();
        self.length = 0;
        self.excerpt.total += 1;
    }
}

/// Reads the start of a file, and seeks back to the start.
pub(super) fn read_head(file: &mut File) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.by_ref().take(SNIFF_BYTES).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(head)
}

/// Whether a file with this start is binary.
pub(super) fn is_binary(head: &[u8]) -> bool {
    memchr::memchr(0, head).is_some()
}

/// Returns the media type of an image with this start and length, regardless of its name.
pub(super) fn image_type(head: &[u8], length: u64) -> Option<&'static str> {
    if let Some(media_type) = of_content(head).filter(|media_type| media_type.starts_with("image/")) {
        return Some(media_type);
    }
    // Text can also start with these two letters, but is not followed by the length of the file.
    let [b'B', b'M', size @ ..] = head else { return None };
    let size = size.first_chunk().map(|size| u64::from(u32::from_le_bytes(*size)));
    (size == Some(length) && head.get(6..10) == Some(&[0; 4])).then_some("image/bmp")
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolgen_kernel::call::Turn;

    fn read(text: &[u8], first: u64, count: u64, max_bytes: usize, max_line_bytes: usize) -> Excerpt {
        let range = Range { first, count, max_bytes, max_line_bytes };
        read_excerpt(text, range, &Turn::default().call_context("1", "test")).unwrap()
    }

    #[test]
    fn read_returns_the_lines_of_the_text() {
        let texts = ["", "a", "a\n", "a\nb", "a\r\nb\r\n", "\n\n", "\r", "a\rb", "ä€😀\n\nz"];
        for text in texts {
            let excerpt = read(text.as_bytes(), 1, u64::MAX, usize::MAX, 1 << 20);
            let expected: Vec<&str> =
                text.split_inclusive('\n').map(|line| line.trim_end_matches('\n')).collect();
            let expected: Vec<&str> =
                expected.into_iter().map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
            assert_eq!(
                (excerpt.lines, excerpt.total as usize),
                (to_strings(&expected), expected.len()),
                "{text:?}"
            );
        }
    }

    fn to_strings(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn limits_cut_lines_between_characters() {
        let text = "aä€😀z\nb\n";
        for line in 0..=11 {
            let excerpt = read(text.as_bytes(), 1, 9, 1000, line);
            let first = &excerpt.lines[0];
            match first.strip_suffix("... [line truncated]") {
                Some(visible) => {
                    assert!("aä€😀z".starts_with(visible) && visible.len() <= line, "{line}: {first}");
                }
                None => assert_eq!((first.as_str(), line), ("aä€😀z", 11)),
            }
        }
        let excerpt = read(b"aaaa\nbbbb\ncccc\n", 1, 9, 10, 100);
        assert_eq!(
            (excerpt.lines, excerpt.total, excerpt.is_truncated),
            (to_strings(&["aaaa", "bbbb"]), 3, true)
        );
        // One line is always returned.
        assert_eq!(read(b"aaaa\nbbbb\n", 2, 9, 1, 100).lines, ["bbbb"]);
        assert_eq!(read(b"a\nb\nc\n", 2, 1, 100, 100).lines, ["b"]);
        assert_eq!(read(b"a\nb\n", 5, 1, 100, 100).total, 2);
        assert_eq!(read(b"a\xffb", 1, 1, 100, 100).lines, ["a\u{fffd}b"]);
    }

    #[test]
    fn images_are_recognized_by_content() {
        let bmp = |size: u32| [b"BM".as_slice(), &size.to_le_bytes(), &[0; 4], b"rest"].concat();
        let cases: [(&[u8], Option<&str>); 8] = [
            (b"\x89PNG\r\n\x1a\nrest", Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"RIFF\0\0\0\0WAVE", None),
            (b"BMW is a car", None),
            (&bmp(14), Some("image/bmp")),
            (b"", None),
        ];
        for (head, expected) in cases {
            assert_eq!(image_type(head, head.len() as u64), expected, "{head:?}");
        }
        assert_eq!(image_type(&bmp(15), 14), None);
    }
}
