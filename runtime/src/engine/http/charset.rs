//! Decodes the text of responses.

use crate::base::truncate::{floor, whole};

/// The bytes 0x80 to 0x9f of windows-1252, which is what `iso-8859-1` means on the web (WHATWG Encoding).
const WINDOWS_1252: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}',
    '\u{2030}', '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}',
    '\u{2019}', '\u{201c}', '\u{201d}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}',
    '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

/// Decodes the text of a body. Bytes that do not fit the charset become U+FFFD, except that a character cut in two at
/// the end is dropped.
pub(super) fn decode(bytes: &[u8], content_type: &str, truncated: bool) -> String {
    match charset(content_type).as_str() {
        "iso-8859-1" | "latin1" | "latin-1" | "iso_8859-1" | "l1" | "windows-1252" | "cp1252" => {
            bytes.iter().map(|byte| single(*byte)).collect()
        }
        "utf-16le" => utf16(bytes, u16::from_le_bytes),
        "utf-16" | "utf-16be" => match bytes.strip_prefix(&[0xff, 0xfe]) {
            Some(rest) => utf16(rest, u16::from_le_bytes),
            None => utf16(bytes.strip_prefix(&[0xfe, 0xff]).unwrap_or(bytes), u16::from_be_bytes),
        },
        _ => utf8(bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(bytes), truncated),
    }
}

fn charset(content_type: &str) -> String {
    let parameters = content_type.split(';').skip(1);
    let charset = parameters.filter_map(|parameter| parameter.split_once('='));
    let charset = charset.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charset.map(|(_, value)| value.trim().trim_matches('"').to_ascii_lowercase()).next().unwrap_or_default()
}

fn single(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        byte => char::from(byte),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn utf8(bytes: &[u8], truncated: bool) -> String {
    String::from_utf8_lossy(if truncated { whole(bytes) } else { bytes }).into_owned()
}

/// Whether the bytes are UTF-8 text without `NUL`, apart from a character cut off at the end.
pub(super) fn is_utf8(bytes: &[u8], truncated: bool) -> bool {
    let bytes = if truncated { whole(bytes) } else { bytes };
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

/// Cuts a text to at most this many bytes, between characters. Returns whether it cut anything.
pub(super) fn cut(text: &mut String, limit: usize) -> bool {
    if text.len() <= limit {
        return false;
    }
    text.truncate(floor(text, limit));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charsets_are_honoured() {
        assert_eq!(decode(b"\xe9\x80", "text/plain; charset=ISO-8859-1", false), "é€");
        assert_eq!(decode(b"\xff\xfea\0", "text/plain; charset=\"utf-16\"", false), "a");
        assert_eq!(decode("\u{feff}é".as_bytes(), "application/json", false), "é");
        assert_eq!(decode(b"a\xffb", "text/plain", false), "a\u{fffd}b");
    }

    #[test]
    fn a_cut_falls_between_characters() {
        let text = "aé€😀";
        for end in 0..=text.len() {
            let decoded = decode(&text.as_bytes()[..end], "", true);
            assert!(text.starts_with(&decoded), "{decoded}");
            assert!(decoded.len() + 3 >= end);
            let mut cut_text = text.to_owned();
            assert_eq!(cut(&mut cut_text, end), end < text.len());
            assert_eq!(cut_text, decoded);
        }
    }
}
