//! Cuts texts.

/// Returns the last character boundary at or before a position, in bytes.
#[cfg(feature = "runtime")]
pub(crate) fn floor(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Returns the bytes of a text without a character at their end that was cut inside.
#[cfg(any(feature = "http", feature = "process", feature = "builtin"))]
pub(crate) fn whole(bytes: &[u8]) -> &[u8] {
    // A character has at most four bytes, so at most three of them can be left.
    let tail = bytes.len().saturating_sub(3);
    let start = bytes[tail..].iter().rposition(|byte| *byte >= 0xc0).map(|at| tail + at);
    match start {
        Some(start) => match std::str::from_utf8(&bytes[start..]) {
            Err(error) if error.error_len().is_none() => &bytes[..start],
            _ => bytes,
        },
        None => bytes,
    }
}

/// Cuts a text to a number of characters, with `…` in place of the rest.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
