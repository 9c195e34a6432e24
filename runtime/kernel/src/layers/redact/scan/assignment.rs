//! Values that are assigned to secret keys, in any notation.

use super::{ScanMatch, is_word, run_end};
use crate::base::secret_names::Keys;

fn is_name_byte(byte: u8) -> bool {
    is_word(byte) || byte == b'.'
}

/// Finds the password of `curl -u user:password`.
fn curl_password(text: &[u8], name: &str, name_end: usize) -> Option<(usize, usize)> {
    // The maximum number of bytes that are read before and after the name, so that the time stays linear.
    const WINDOW: usize = 256;
    if !matches!(name, "-u" | "--user" | "-U" | "--proxy-user") {
        return None;
    }
    let line = text.get(name_end.saturating_sub(WINDOW)..name_end)?.rsplit(|byte| *byte == b'\n').next()?;
    line.windows(5).find(|word| word.eq_ignore_ascii_case(b"curl "))?;
    let separator = name_end + usize::from(matches!(text.get(name_end), Some(b' ' | b'=')));
    let quote = text.get(separator).copied().filter(|byte| matches!(byte, b'"' | b'\''));
    let start = separator + usize::from(quote.is_some());
    let value = text.get(start..text.len().min(start + WINDOW))?;
    let is_end =
        |byte: &u8| *byte == b'\n' || quote.map_or(byte.is_ascii_whitespace(), |quote| *byte == quote);
    let end = start + value.iter().position(is_end).unwrap_or(value.len());
    let colon = text.get(start..end)?.iter().position(|byte| *byte == b':')?;
    (separator > name_end && start + colon + 1 < end).then_some((start + colon + 1, end))
}

pub(super) fn assignment_at(text: &[u8], at: usize, keys: &Keys) -> ScanMatch {
    // `%3Ftoken%3D`: the digits of an escape are not part of a name.
    if percent_decoded(text, at).is_some() {
        return ScanMatch::Skip(at + 3);
    }
    let name_end = run_end(text, at, is_name_byte);
    let name = text.get(at..name_end).and_then(|name| std::str::from_utf8(name).ok()).unwrap_or_default();
    if name.is_empty() {
        return ScanMatch::Skip(at + 1);
    }
    if let Some((start, end)) = curl_password(text, name, name_end) {
        return ScanMatch::Hide(start, end);
    }
    let Some(start) = value_start(text, name, name_end) else { return ScanMatch::Skip(name_end) };
    if !keys.holds(name) {
        return ScanMatch::Skip(name_end);
    }
    let (start, end) = match percent_decoded(text, name_end) {
        Some(_) => (start, encoded_end(text, start)),
        None => value_bounds(text, start, name),
    };
    let value = text.get(start..end).unwrap_or_default();
    if value.is_empty() || matches!(value, b"null" | b"true" | b"false") {
        return ScanMatch::Skip(end);
    }
    ScanMatch::Hide(start, end)
}

/// Returns the byte that is percent-encoded at a position.
fn percent_decoded(text: &[u8], at: usize) -> Option<u8> {
    let digits = text.get(at..at + 3)?.strip_prefix(b"%")?;
    let digit = |index: usize| digits.get(index).and_then(|digit| char::from(*digit).to_digit(16));
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

/// Returns the end of a percent-encoded value, whose delimiter is also encoded.
fn encoded_end(text: &[u8], start: usize) -> usize {
    let is_end = |byte: u8| byte.is_ascii_whitespace() || b"&;,\"'<>)]}#".contains(&byte);
    let is_end_at = |at: &usize| {
        text.get(*at).is_some_and(|byte| is_end(*byte)) || percent_decoded(text, *at).is_some_and(is_end)
    };
    (start..text.len()).find(is_end_at).unwrap_or(text.len())
}

/// Returns where the value of a name starts, if there is a value.
fn value_start(text: &[u8], name: &str, name_end: usize) -> Option<usize> {
    if matches!(percent_decoded(text, name_end), Some(b'=' | b':')) {
        return Some(name_end + 3);
    }
    let is_blank = |byte: u8| matches!(byte, b' ' | b'\t');
    // Skip a closing quote, after a backslash in a string within a string.
    let quote_end = run_end(text, name_end, |byte| matches!(byte, b'\\' | b'"' | b'\'')).min(name_end + 4);
    let separator = run_end(text, quote_end, is_blank);
    match text.get(separator) {
        Some(b'=' | b':') => {
            Some(run_end(text, separator + 1, |byte| is_blank(byte) || matches!(byte, b'=' | b'>')))
        }
        // `--token abc`
        Some(_) if separator > quote_end && quote_end == name_end && name.starts_with("--") => {
            Some(separator)
        }
        _ => None,
    }
}

/// Returns the bounds of the value: a quoted string, an array or an object, or up to the end of a bare value.
fn value_bounds(text: &[u8], start: usize, name: &str) -> (usize, usize) {
    let open = run_end(text, start, |byte| byte == b'\\').min(start + 3);
    match text.get(open) {
        Some(quote @ (b'"' | b'\'')) => (open + 1, closing_quote(text, open + 1, *quote, open > start)),
        Some(b'{' | b'[') => (open, closing_bracket(text, open)),
        _ => {
            // The values of these headers contain blanks.
            let lower = name.to_ascii_lowercase();
            let has_blanks = lower.ends_with("authorization") || lower.ends_with("cookie");
            let is_end = |byte: u8| match byte {
                b'\n' | b'\r' | b'"' => true,
                b' ' | b'\t' | b',' | b';' | b'&' | b'\'' | b')' | b'}' | b']' | b'<' | b'>' => !has_blanks,
                _ => false,
            };
            (start, run_end(text, start, |byte| !is_end(byte)))
        }
    }
}

/// Returns the position of the quote that ends a string, or the end. In a string within a string (`is_escaped`), the
/// quote has a backslash.
fn closing_quote(text: &[u8], start: usize, quote: u8, is_escaped: bool) -> usize {
    let mut at = start;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' if is_escaped && text.get(at + 1) == Some(&quote) => return at,
            // A backslash of the inner string, with the character that it escapes.
            b'\\' if is_escaped && text.get(at + 1) == Some(&b'\\') => {
                at += if text.get(at + 2) == Some(&b'\\') { 4 } else { 3 };
            }
            b'\\' => at += 2,
            byte if *byte == quote => return at,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the end of an array or an object, or of the input if it is cut off.
fn closing_bracket(text: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b'"' => at = (closing_quote(text, at, b'"', false) + 1).min(text.len()),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    text.len()
}
