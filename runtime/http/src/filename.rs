//! Derives safe file names from responses.

use percent_encoding::percent_decode_str;
use toolgen_core::InvisibleChar;
use toolgen_kernel::base::media_type::{ending_of, essence};

use super::charset;

/// Maximum length of a name, in bytes. File systems allow 255, and a number may be added.
const MAX_NAME_BYTES: usize = 160;

/// The name of a file if the response suggests none.
const DEFAULT_NAME: &str = "answer";

/// Names of devices on Windows, with any extension.
const DEVICES: [&str; 8] = ["con", "conin$", "conout$", "prn", "aux", "nul", "com", "lpt"];

/// Returns the file name in `Content-Disposition` (RFC 6266, section 4.3): `filename*` takes precedence over
/// `filename`.
pub(super) fn of_disposition(header: &str) -> Option<String> {
    let mut usual = None;
    for (name, value) in parameters(header) {
        match name.to_ascii_lowercase().as_str() {
            "filename*" => match extended(&value) {
                Some(name) if !name.is_empty() => return Some(name),
                _ => {}
            },
            "filename" if usual.is_none() => usual = Some(value),
            _ => {}
        }
    }
    usual.filter(|name| !name.is_empty())
}

/// Returns the last segment of the path of a URL.
pub(super) fn of_url(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let (_, last) = path.rsplit_once('/')?;
    let last = percent_decode_str(last).decode_utf8().ok()?;
    (!last.is_empty()).then(|| last.into_owned())
}

/// Returns a name that is valid on every system: not a path, not hidden, and without special meaning.
pub(super) fn plain(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let illegal = |char: char| {
        char.is_control()
            || InvisibleChar::of(char).is_some()
            || matches!(char, '<' | '>' | ':' | '"' | '|' | '?' | '*' | '`' | '[' | ']')
    };
    let name: String = last.chars().map(|char| if illegal(char) { '_' } else { char }).collect();
    // A leading dot hides a file, and a trailing dot may be dropped.
    let name = name.trim_matches(|char: char| char == '.' || char.is_whitespace());
    let (stem, ending) = split(name);
    let ending = if ending.len() > 16 { "" } else { ending };
    let stem = &stem[..toolgen_kernel::base::truncate::floor(stem, MAX_NAME_BYTES)];
    let device = stem.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let device = DEVICES.iter().any(|known| {
        device.strip_prefix(known).is_some_and(|rest| match *known {
            "com" | "lpt" => {
                ["¹", "²", "³"].contains(&rest) || (rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
            }
            _ => rest.is_empty(),
        })
    });
    match stem {
        "" => format!("{DEFAULT_NAME}{ending}"),
        stem if device => format!("_{stem}{ending}"),
        stem => format!("{stem}{ending}"),
    }
}

/// Adds the extension of a media type to a name without an extension.
pub(super) fn with_ending(name: &str, media_type: &str) -> String {
    let ending = match split(name).1 {
        "" => ending_of(&essence(media_type)),
        _ => None,
    };
    ending.map_or_else(|| name.to_owned(), |ending| format!("{name}.{ending}"))
}

/// Inserts a number before the extension of a name: `a-1.txt`.
pub(super) fn numbered(name: &str, number: &str) -> String {
    let (stem, ending) = split(name);
    format!("{stem}-{number}{ending}")
}

/// Splits a name before its extension, which begins with a dot.
fn split(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(at) if at > 0 && at + 1 < name.len() => name.split_at(at),
        _ => (name, ""),
    }
}

/// Returns the parameters of a header, whose values may be quoted.
fn parameters(header: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut rest = header.split_once(';').map_or("", |(_, rest)| rest);
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_start_matches([';', ' ', '\t']).trim();
        let after = after.trim_start();
        let (value, left) = match after.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let end = after.find(';').unwrap_or(after.len());
                (after[..end].trim().to_owned(), &after[end..])
            }
        };
        out.push((name.to_owned(), value));
        rest = left;
    }
    out
}

/// Returns the text before the closing quote, and the text after it.
fn unquoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return (value, &text[at + 1..]),
            // A backslash that escapes nothing is a path separator; the path is cut off later.
            '\\' => value.extend(chars.next().map(|(_, next)| next)),
            char => value.push(char),
        }
    }
    (value, "")
}

/// Reads an extended value (RFC 8187): `UTF-8''na%C3%AFve`.
fn extended(value: &str) -> Option<String> {
    let mut parts = value.splitn(3, '\'');
    let (charset, _, encoded) = (parts.next()?, parts.next()?, parts.next()?);
    let bytes: Vec<u8> = percent_decode_str(encoded).collect();
    Some(charset::decode(&bytes, &format!("text/plain; charset={charset}"), false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_disposition_gives_the_file_name() {
        for (header, name) in [
            ("attachment; filename=\"a b.pdf\"", Some("a b.pdf")),
            ("attachment;filename=plain.txt ; size=3", Some("plain.txt")),
            ("inline; filename=\"a\\\"b.txt\"", Some("a\"b.txt")),
            ("attachment; filename=\"x.txt\"; filename*=UTF-8''%e2%82%ac%20rates.txt", Some("€ rates.txt")),
            ("attachment; FILENAME*=iso-8859-1'en'%A3.txt", Some("£.txt")),
            ("attachment; filename*=nonsense; filename=\"b;c=d.txt\"", Some("b;c=d.txt")),
            ("attachment; filename=\"never closed", Some("never closed")),
            ("attachment", None),
            ("attachment; filename=\"\"", None),
            ("", None),
        ] {
            assert_eq!(of_disposition(header).as_deref(), name, "{header}");
        }
    }

    #[test]
    fn file_name_has_no_path() {
        for (given, name) in [
            ("../../etc/passwd", "passwd"),
            ("C:\\Windows\\system.ini", "system.ini"),
            ("..", "answer"),
            (".bashrc", "bashrc"),
            ("a\0b\r\n.txt", "a_b__.txt"),
            ("\u{202e}gpj.exe", "_gpj.exe"),
            ("a:b?.txt ", "a_b_.txt"),
            ("CON.txt", "_CON.txt"),
            ("lpt1", "_lpt1"),
            ("COM¹.txt", "_COM¹.txt"),
            ("CONIN$", "_CONIN$"),
            ("x`, SHA-256 0] [y", "x_, SHA-256 0_ _y"),
            ("console.log", "console.log"),
            ("report.pdf...", "report.pdf"),
            ("", "answer"),
        ] {
            assert_eq!(plain(given), name, "{given:?}");
        }
        let long = plain(&format!("{}.pdf", "é".repeat(400)));
        assert!(long.len() <= MAX_NAME_BYTES + 4 && long.ends_with("é.pdf"), "{long}");
        assert_eq!(numbered("a.tar.gz", "2"), "a.tar-2.gz");
        assert_eq!(with_ending("7", "application/pdf"), "7.pdf");
        assert_eq!(with_ending("a.txt", "application/pdf"), "a.txt");
        assert_eq!(of_url("https://h/a/b%20c.png?x=/y").as_deref(), Some("b c.png"));
        assert_eq!(of_url("https://h"), None);
    }
}
