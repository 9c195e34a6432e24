//! Captures the start of a stream.

use tokio::io::{AsyncRead, AsyncReadExt};
use toolgen_kernel::base::truncate::trim_partial_char;

use super::lines::Lines;
use crate::LineListener;

/// The start of a stream, and the number of omitted bytes.
pub(super) struct Capture<'l> {
    buffer: Vec<u8>,
    limit: usize,
    dropped: u64,
    lines: Option<Lines<'l>>,
}

impl<'l> Capture<'l> {
    pub(super) fn new(limit: usize, listener: Option<&'l LineListener>) -> Capture<'l> {
        Capture { buffer: Vec::new(), limit, dropped: 0, lines: listener.map(Lines::new) }
    }

    /// Reads to the end, even beyond the limit, because a program blocks if its stream is not read.
    pub(super) async fn drain(&mut self, stream: Option<impl AsyncRead + Unpin>) {
        let Some(mut stream) = stream else { return };
        let mut buffer = vec![0; 16 * 1024];
        // A read error ends the stream; it cannot be reported.
        while let Ok(count @ 1..) = stream.read(&mut buffer).await {
            let kept = self.limit.saturating_sub(self.buffer.len()).min(count);
            self.buffer.extend_from_slice(&buffer[..kept]);
            self.dropped += (count - kept) as u64;
            if let Some(lines) = &mut self.lines {
                lines.push(&buffer[..count]);
            }
        }
    }

    /// Returns the text, without an incomplete character at its end, and the number of omitted bytes.
    pub(super) fn finish(mut self) -> (String, u64) {
        if let Some(lines) = self.lines.take() {
            lines.finish();
        }
        if self.dropped > 0 {
            let end = trim_partial_char(&self.buffer).len();
            self.dropped += (self.buffer.len() - end) as u64;
            self.buffer.truncate(end);
        }
        let text = String::from_utf8(self.buffer)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        (text, self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn truncation_never_splits_a_character() {
        let text = "aä€😀z";
        for limit in 0..=text.len() {
            let mut capture = Capture::new(limit, None);
            capture.drain(Some(text.as_bytes())).await;
            let (kept, dropped) = capture.finish();
            assert!(text.starts_with(&kept), "{limit}: {kept:?}");
            assert_eq!(kept.len() as u64 + dropped, text.len() as u64);
            assert!(limit - kept.len() < 4, "{limit}: {kept:?}");
        }
    }

    #[tokio::test]
    async fn invalid_utf8_is_replaced() {
        let mut capture = Capture::new(100, None);
        capture.drain(Some(&b"a\xFFb\xE2\x82"[..])).await;
        assert_eq!(capture.finish(), ("a\u{FFFD}b\u{FFFD}".to_owned(), 0));
        let mut capture = Capture::new(2, None);
        capture.drain(Some(&b"\x80\x80\x80\x80\x80"[..])).await;
        assert_eq!(capture.finish(), ("\u{FFFD}\u{FFFD}".to_owned(), 3));
    }
}
