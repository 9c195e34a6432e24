//! Converts the text of requests and responses between charsets.

use std::borrow::Cow;

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use toolgen_kernel::base::media_type::{essence, is_xml};
use toolgen_kernel::base::truncate::{floor, trim_partial_char};

use super::encode::leading_octets;
use super::xml::DECLARATION;

/// Decodes a body by its declared charset, or else as UTF-8. A byte-order mark takes precedence (WHATWG Encoding,
/// "decode"). Bytes that are invalid in the charset become U+FFFD; a character that is cut off at the end is dropped.
pub(super) fn decode(bytes: &[u8], content_type: &str, truncated: bool) -> String {
    let label = charset(content_type).or_else(|| xml_encoding(bytes, content_type));
    let encoding = label.and_then(|label| Encoding::for_label_no_replacement(label.as_bytes()));
    let mut decoder = encoding.unwrap_or(UTF_8).new_decoder();
    let mut text = String::with_capacity(decoder.max_utf8_buffer_length(bytes.len()).unwrap_or_default());
    // The buffer has the maximum decoded size, so that one step decodes everything.
    let _ = decoder.decode_to_string(bytes, &mut text, !truncated);
    text.shrink_to_fit();
    text
}

/// Decodes a body while it arrives.
pub(super) struct Reader(Decoder);

impl Reader {
    /// Returns a reader for a body of a media type.
    pub(super) fn of(content_type: &str) -> Reader {
        let encoding =
            charset(content_type).and_then(|label| Encoding::for_label_no_replacement(label.as_bytes()));
        Reader(encoding.unwrap_or(UTF_8).new_decoder())
    }

    /// Decodes the next bytes. An incomplete character is kept until its end arrives.
    ///
    /// # Errors
    ///
    /// Returns a message if the bytes are invalid in the charset.
    pub(super) fn push(&mut self, bytes: &[u8], last: bool) -> Result<String, String> {
        let capacity = self.0.max_utf8_buffer_length(bytes.len()).unwrap_or_default();
        let mut text = String::with_capacity(capacity);
        let (.., had_errors) = self.0.decode_to_string(bytes, &mut text, last);
        match had_errors {
            true => Err(format!("it is not in the charset {}", self.0.encoding().name())),
            false => Ok(text),
        }
    }
}

/// Encodes a string in the charset that its media type names. Returns `None` if the bytes are the same as in UTF-8.
///
/// # Errors
///
/// Returns a message if the charset lacks some of the characters.
pub(super) fn encode(text: &str, content_type: &str) -> Option<Result<Vec<u8>, String>> {
    let label = charset(content_type)?.to_ascii_lowercase();
    let Some(encoding) = Encoding::for_label_no_replacement(label.as_bytes()) else {
        // An unknown charset most likely contains ASCII; nothing more is assumed. UTF-7 encodes some characters of
        // ASCII differently.
        return match text.is_ascii() && !NON_ASCII_CHARSETS.iter().any(|start| label.starts_with(start)) {
            true => None,
            false => Some(Err(format!("the service expects the charset {label}, which is not supported"))),
        };
    };
    if encoding == UTF_16LE || encoding == UTF_16BE {
        let bytes = |unit: u16| if encoding == UTF_16BE { unit.to_be_bytes() } else { unit.to_le_bytes() };
        // If the name does not state the byte order, a byte-order mark does.
        let mark = (label == "utf-16").then_some('\u{feff}');
        let mut units = [0; 2];
        let mark = mark.map(|mark| mark.encode_utf16(&mut units)[0]);
        return Some(Ok(mark.into_iter().chain(text.encode_utf16()).flat_map(bytes).collect()));
    }
    // In ISO-2022-JP, an escape switches to other characters.
    if encoding == UTF_8 || (text.is_ascii() && !text.contains('\u{1b}')) {
        return None;
    }
    // WHATWG decodes these charsets as Windows code pages, which have more characters.
    let max_char = match label.as_str() {
        _ if encoding != WINDOWS_1252 || label.contains("1252") => '\u{10ffff}',
        ascii if ascii.contains("ascii") => '\u{7f}',
        _ => '\u{ff}',
    };
    let (bytes, _, unmapped) = encoding.encode(text);
    // Some characters are encoded as similar characters, such as the yen sign as a backslash.
    let is_same = || encoding.decode_without_bom_handling(&bytes).0 == text;
    if unmapped || text.chars().any(|char| char > max_char) || !is_same() {
        return Some(Err(format!(
            "the service expects the charset {label}, which lacks some of the characters"
        )));
    }
    Some(Ok(bytes.into_owned()))
}

/// Prefixes of the names of charsets that encode ASCII characters as other bytes, or use them to begin other
/// characters.
const NON_ASCII_CHARSETS: [&str; 10] =
    ["utf-7", "utf-32", "utf32", "ucs-4", "ebcdic", "ibm037", "cp037", "ibm500", "cp500", "ibm1047"];

/// Replaces the charset in the XML declaration with that of the media type.
pub(super) fn xml<'t>(text: &'t str, content_type: &str) -> Cow<'t, str> {
    let label = charset(content_type).filter(|_| is_xml(&essence(content_type)));
    let is_plain =
        |label: &&str| label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    match (label.filter(is_plain), text.strip_prefix(DECLARATION)) {
        (Some(label), Some(after_declaration)) if !label.is_empty() => {
            Cow::Owned(format!("{}{after_declaration}", DECLARATION.replace("UTF-8", label)))
        }
        _ => Cow::Borrowed(text),
    }
}

/// Converts a form from escaped UTF-8 to the charset that its media type names.
///
/// # Errors
///
/// Returns a message if the charset lacks some of the characters, or is not valid for forms.
pub(super) fn form(form: String, content_type: &str) -> Result<String, String> {
    let Some(label) = charset(content_type).filter(|label| !label.eq_ignore_ascii_case("utf-8")) else {
        return Ok(form);
    };
    // A form contains ASCII letters verbatim, so its charset must include ASCII.
    if encode("a", content_type).is_some() {
        return Err(format!("a form cannot have the charset {label}"));
    }
    let (mut out, mut remaining) = (String::with_capacity(form.len()), form.as_str());
    while let Some(percent) = remaining.find('%') {
        out.push_str(&remaining[..percent]);
        let escaped: Vec<u8> = leading_octets(&remaining[percent..]).collect();
        let (octets, after) = remaining[percent..].split_at(escaped.len() * 3);
        // Bytes that are not UTF-8 were escaped by the caller.
        match String::from_utf8(escaped).ok().and_then(|text| encode(&text, content_type)) {
            Some(bytes) => out.extend(percent_encode(&bytes?, NON_ALPHANUMERIC)),
            None => out.push_str(octets),
        }
        // A literal percent sign.
        let percent_len = usize::from(octets.is_empty());
        out.push_str(&after[..percent_len]);
        remaining = &after[percent_len..];
    }
    out.push_str(remaining);
    Ok(out)
}

/// Returns JSON that has the same meaning in the charset that its media type names.
pub(super) fn json(text: String, content_type: &str) -> String {
    let is_other = charset(content_type).is_some_and(|label| !label.eq_ignore_ascii_case("utf-8"));
    if !is_other || text.is_ascii() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_ascii() {
            out.push(char);
        } else {
            out.extend(char.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

/// Whether a media type has a `charset` parameter that applies to its text.
pub(super) fn has_charset(content_type: &str) -> bool {
    charset(content_type).is_some()
}

fn charset(content_type: &str) -> Option<&str> {
    let parameters = content_type.split(';').skip(1);
    let charset = parameters.filter_map(|parameter| parameter.split_once('='));
    let mut charset = charset.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charset.next().map(|(_, value)| value.trim().trim_matches('"'))
}

/// Returns the charset of an XML declaration, `<?xml version="1.0" encoding="…"?>`.
fn xml_encoding<'b>(bytes: &'b [u8], content_type: &str) -> Option<&'b str> {
    let declaration = bytes.strip_prefix(b"<?xml").filter(|_| is_xml(&essence(content_type)))?;
    let end = declaration.iter().take(256).position(|byte| *byte == b'>')?;
    let (_, rest) = std::str::from_utf8(&declaration[..end]).ok()?.split_once("encoding")?;
    rest.trim_start().strip_prefix('=')?.trim_start().split(['"', '\'']).nth(1)
}

/// Whether the bytes are UTF-8 text without `NUL`, except for a character cut off at the end.
pub(super) fn is_utf8(bytes: &[u8], truncated: bool) -> bool {
    let bytes = if truncated { trim_partial_char(bytes) } else { bytes };
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

/// Truncates a string to at most `limit` bytes, between characters. Returns whether it was truncated.
pub(super) fn truncate(text: &mut String, limit: usize) -> bool {
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
        assert_eq!(decode(b"\x93\xfa\x96\x7b", "text/plain; charset=Shift_JIS", false), "日本");
        assert_eq!(decode(b"\xc4\xe3\xba", "text/csv;charset=gb18030", true), "你");
        assert_eq!(decode(b"\xef\xf0\xe8", "text/html; charset=windows-1251", false), "при");
        assert_eq!(decode("é".as_bytes(), "text/plain; charset=klingon", false), "é");
    }

    #[test]
    fn text_is_encoded_in_the_charset_of_its_media_type() {
        let encoded = |text, charset: &str| encode(text, &format!("text/plain; charset={charset}"));
        for (text, charset, bytes) in [
            ("é", "ISO-8859-1", &b"\xe9"[..]),
            ("é", "\"utf-16\"", b"\xff\xfe\xe9\0"),
            ("é", "utf-16be", b"\0\xe9"),
            ("日本", "Shift_JIS", b"\x93\xfa\x96\x7b"),
            ("€", "windows-1252", b"\x80"),
        ] {
            assert_eq!(encoded(text, charset), Some(Ok(bytes.to_vec())), "{charset}");
        }
        for (text, charset) in [("é", "utf-8"), ("e", "iso-8859-1"), ("e", "klingon")] {
            assert_eq!(encoded(text, charset), None, "{charset}");
        }
        for (text, charset) in [
            ("€", "iso-8859-1"),
            ("é", "us-ascii"),
            ("日", "windows-1252"),
            // A yen sign would become a backslash; an escape, and `+` in UTF-7, would begin other characters.
            ("¥", "shift_jis"),
            ("\u{1b}$B", "iso-2022-jp"),
            ("é", "klingon"),
            ("+ADw-", "utf-7"),
        ] {
            assert!(encoded(text, charset).unwrap().is_err(), "{charset}");
        }
        for (text, charset) in [("a", "utf-32"), ("a", "EBCDIC-US")] {
            assert!(encoded(text, charset).unwrap().is_err(), "{charset}");
        }
        let json_text = json("{\"a\":\"é😀\"}".to_owned(), "application/json; charset=latin1");
        assert_eq!(json_text, "{\"a\":\"\\u00e9\\ud83d\\ude00\"}");
        assert_eq!(json("é".to_owned(), "application/json"), "é");
    }

    #[test]
    fn form_is_escaped_in_the_charset_of_its_media_type() {
        let form = |text: &str, charset: &str| {
            form(text.to_owned(), &format!("application/x-www-form-urlencoded; charset={charset}"))
        };
        for (text, charset, expected) in [
            ("a=%C3%A9%26%C3%A9+b&c=%2B", "iso-8859-1", "a=%E9%26%E9+b&c=%2B"),
            ("a=%C3%A9", "UTF-8", "a=%C3%A9"),
            ("a=%E6%97%A5", "shift_jis", "a=%93%FA"),
            // Bytes that the caller escaped, and literal percent signs.
            ("a=%E9%zz%", "iso-8859-1", "a=%E9%zz%"),
            ("a=b%20c", "klingon", "a=b%20c"),
        ] {
            assert_eq!(form(text, charset).as_deref(), Ok(expected), "{text} {charset}");
        }
        for (text, charset) in [("a=%E2%82%AC", "latin1"), ("a=b", "utf-16"), ("a=%C3%A9", "klingon")] {
            assert!(form(text, charset).is_err(), "{text} {charset}");
        }
    }

    #[test]
    fn body_decodes_the_same_in_any_chunks() {
        for (bytes, charset) in
            [(&b"\xff\xfe\xe9\0=\xd8\0\xde"[..], "utf-8"), (b"\xe9\0=\xd8\0\xde", "utf-16le")]
        {
            for size in 1..bytes.len() {
                let mut reader = Reader::of(&format!("application/x-ndjson; charset={charset}"));
                let mut text: String =
                    bytes.chunks(size).map(|bytes| reader.push(bytes, false).unwrap()).collect();
                text += &reader.push(b"", true).unwrap();
                assert_eq!(text, "é😀");
            }
        }
        assert!(Reader::of("").push(b"a\xff", true).is_err());
        assert!(Reader::of("a/b; charset=utf-16").push(b"a", true).is_err());
    }

    #[test]
    fn xml_charset_is_read_from_its_declaration() {
        let text = b"<?xml version='1.0' encoding='iso-8859-2'?><a>\xb3</a>";
        assert!(decode(text, "application/xml", false).ends_with("<a>ł</a>"));
        assert!(decode(text, "text/plain", false).ends_with("<a>\u{fffd}</a>"));
        assert!(decode(text, "text/xml; charset=latin1", false).ends_with("<a>³</a>"));
    }

    #[test]
    fn truncation_falls_between_characters() {
        let text = "aé€😀";
        for end in 0..=text.len() {
            let decoded = decode(&text.as_bytes()[..end], "", true);
            assert!(text.starts_with(&decoded), "{decoded}");
            assert!(decoded.len() + 3 >= end);
            let mut truncated = text.to_owned();
            assert_eq!(truncate(&mut truncated, end), end < text.len());
            assert_eq!(truncated, decoded);
        }
    }
}
