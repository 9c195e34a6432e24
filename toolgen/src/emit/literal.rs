//! Writes Rust string literals for any content.
//!
//! Strings of a document reach generated code only through this module, as string literals, so that no description
//! can become code.

use std::fmt::Write as _;

use toolgen_core::InvisibleChar;

/// Returns a Rust string literal whose value is the string.
///
/// It is raw if that saves more escapes than it costs; invisible characters, and those that would reorder their line,
/// are escaped (rustc rejects the latter in literals).
#[must_use]
pub fn string(text: &str) -> String {
    let escapes = text.chars().filter(|c| matches!(c, '"' | '\\')).count();
    let hashes = hashes(text);
    if escapes > 2 && hashes < 16 && text.chars().all(is_plain) {
        let fence = "#".repeat(hashes);
        return format!("r{fence}\"{text}\"{fence}");
    }
    let mut out = String::with_capacity(text.len() + escapes + 2);
    out.push('"');
    for c in text.chars() {
        escape(c, &mut out);
    }
    out.push('"');
    out
}

fn escape(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0' => out.push_str("\\0"),
        c if is_plain(c) => out.push(c),
        c => {
            // Writing into a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

/// The number of `#` that a raw literal of the string needs.
fn hashes(text: &str) -> usize {
    let mut max = 0;
    for (index, _) in text.match_indices('"') {
        let run = text[index + 1..].bytes().take_while(|byte| *byte == b'#').count();
        max = max.max(run + 1);
    }
    max
}

/// Whether a character may occur unescaped: visible, and without an effect on the characters around it.
pub(super) fn is_plain(c: char) -> bool {
    !InvisibleChar::is_invisible(c) && (c == ' ' || !c.is_whitespace())
}

/// Returns a string for a comment: one line, no invisible characters, and no backtick, which would end the code
/// around it.
#[must_use]
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if is_plain(c) && c != '`' { c } else { ' ' }).collect()
}

#[cfg(test)]
mod tests {
    use super::string;

    #[test]
    fn literal_is_raw_if_it_has_many_escapes() {
        assert_eq!(string(r#"{"a":1}"#), r#""{\"a\":1}""#);
        assert_eq!(string(r#"{"a":"b"}"#), r##"r#"{"a":"b"}"#"##);
        assert_eq!(string(r"\d\d\d"), r#"r"\d\d\d""#);
        assert_eq!(string("\"\"#\"##\"###"), "r####\"\"\"#\"##\"###\"####");
    }

    #[test]
    fn invisible_characters_are_escaped() {
        assert_eq!(string("a\u{202e}b\u{0}\u{7f}\u{feff}\r\n\t"), r#""a\u{202e}b\0\u{7f}\u{feff}\r\n\t""#);
        assert_eq!(string("\"\"\"\u{2066}"), r#""\"\"\"\u{2066}""#);
        assert_eq!(string("größe 価格 😀"), "\"größe 価格 😀\"");
    }

    #[test]
    fn content_never_ends_a_literal() {
        for text in ["\"", "\\", "*/", "//", "{}", "\"#", "r#\"", "\\\"", "', '", "\"); evil(); (\""] {
            let literal = string(text);
            assert_eq!(unescape(&literal), text, "{literal}");
        }
        let fences = "\"################################";
        assert_eq!(unescape(&string(&fences.repeat(3))), fences.repeat(3));
    }

    /// An independent parser of the two forms of literals.
    fn unescape(literal: &str) -> String {
        if let Some(raw) = literal.strip_prefix('r') {
            let fence = raw.bytes().take_while(|byte| *byte == b'#').count();
            let inner = &raw[fence + 1..raw.len() - fence - 1];
            let end = format!("\"{}", "#".repeat(fence));
            assert!(!inner.contains(&end), "{literal}");
            return inner.to_owned();
        }
        let mut out = String::new();
        let mut chars = literal[1..literal.len() - 1].chars();
        while let Some(c) = chars.next() {
            assert_ne!(c, '"', "{literal}");
            if c != '\\' {
                out.push(c);
                continue;
            }
            match chars.next().unwrap() {
                'n' => out.push('\n'),
                'r' => out.push('\r'),
                't' => out.push('\t'),
                '0' => out.push('\0'),
                'u' => {
                    let digits: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    out.push(char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap());
                }
                c => out.push(c),
            }
        }
        out
    }
}
