//! Derives safe file names from responses.

use percent_encoding::percent_decode_str;
use toolgen_core::InvisibleChar;
use toolgen_kernel::base::media_type::{essence, extension_of};

use super::charset;

/// Maximum length of a name, in bytes. File systems allow 255, and a number may be added.
const MAX_NAME_BYTES: usize = 160;

/// The name of a file if the response suggests no name.
const DEFAULT_NAME: &str = "answer";

/// Names of devices on Windows, with any extension.
const DEVICES: [&str; 8] = ["con", "conin$", "conout$", "prn", "aux", "nul", "com", "lpt"];

/// Returns the file name in `Content-Disposition` (RFC 6266, section 4.3): `filename*` takes precedence over
/// `filename`.
pub(super) fn of_disposition(header: &str) -> Option<String> {
    let mut basic = None;
    for (name, value) in parameters(header) {
        match name.to_ascii_lowercase().as_str() {
            "filename*" => match extended(&value) {
                Some(name) if !name.is_empty() => return Some(name),
                _ => {}
            },
            "filename" if basic.is_none() => basic = Some(value),
            _ => {}
        }
    }
    basic.filter(|name| !name.is_empty())
}

/// Returns the last segment of the path of a URL.
pub(super) fn of_url(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, after_scheme)| after_scheme);
    let (_, last) = path.rsplit_once('/')?;
    let last = percent_decode_str(last).decode_utf8().ok()?;
    (!last.is_empty()).then(|| last.into_owned())
}

/// Returns a name that is valid on every system: not a path, not hidden, and without special meaning.
pub(super) fn sanitized(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_illegal = |char: char| {
        char.is_control()
            || InvisibleChar::of(char).is_some()
            || matches!(char, '<' | '>' | ':' | '"' | '|' | '?' | '*' | '`' | '[' | ']')
    };
    let name: String = last.chars().map(|char| if is_illegal(char) { '_' } else { char }).collect();
    // A leading dot hides a file, and a trailing dot may be dropped.
    let name = name.trim_matches(|char: char| char == '.' || char.is_whitespace());
    let (stem, extension) = split(name);
    let extension = if extension.len() > 16 { "" } else { extension };
    let stem = &stem[..toolgen_kernel::base::truncate::floor(stem, MAX_NAME_BYTES)];
    let base = stem.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let is_device = DEVICES.iter().any(|reserved| {
        base.strip_prefix(reserved).is_some_and(|suffix| match *reserved {
            "com" | "lpt" => {
                ["¹", "²", "³"].contains(&suffix)
                    || (suffix.len() == 1 && suffix.as_bytes()[0].is_ascii_digit())
            }
            _ => suffix.is_empty(),
        })
    });
    match stem {
        "" => format!("{DEFAULT_NAME}{extension}"),
        stem if is_device => format!("_{stem}{extension}"),
        stem => format!("{stem}{extension}"),
    }
}

/// Adds the extension of a media type to a name without an extension.
pub(super) fn with_extension(name: &str, media_type: &str) -> String {
    let extension = match split(name).1 {
        "" => extension_of(&essence(media_type)),
        _ => None,
    };
    extension.map_or_else(|| name.to_owned(), |extension| format!("{name}.{extension}"))
}

/// Inserts a number before the extension of a name: `a-1.txt`.
pub(super) fn numbered(name: &str, number: &str) -> String {
    let (stem, extension) = split(name);
    format!("{stem}-{number}{extension}")
}

/// Splits a name before its extension, which begins with a dot.
fn split(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(dot) if dot > 0 && dot + 1 < name.len() => name.split_at(dot),
        _ => (name, ""),
    }
}

/// Returns the parameters of a header, whose values may be quoted.
fn parameters(header: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut remaining = header.split_once(';').map_or("", |(_, remaining)| remaining);
    while let Some((name, value_start)) = remaining.split_once('=') {
        let name = name.trim_start_matches([';', ' ', '\t']).trim();
        let value_start = value_start.trim_start();
        let (value, after_value) = match value_start.strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => {
                let end = value_start.find(';').unwrap_or(value_start.len());
                (value_start[..end].trim().to_owned(), &value_start[end..])
            }
        };
        out.push((name.to_owned(), value));
        remaining = after_value;
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
            // A backslash that escapes nothing is a path separator; `sanitized` removes the path.
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
        for (raw, name) in [
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
            assert_eq!(sanitized(raw), name, "{raw:?}");
        }
        let long = sanitized(&format!("{}.pdf", "é".repeat(400)));
        assert!(long.len() <= MAX_NAME_BYTES + 4 && long.ends_with("é.pdf"), "{long}");
        assert_eq!(numbered("a.tar.gz", "2"), "a.tar-2.gz");
        assert_eq!(with_extension("7", "application/pdf"), "7.pdf");
        assert_eq!(with_extension("a.txt", "application/pdf"), "a.txt");
        assert_eq!(of_url("https://h/a/b%20c.png?x=/y").as_deref(), Some("b c.png"));
        assert_eq!(of_url("https://h"), None);
    }
}
