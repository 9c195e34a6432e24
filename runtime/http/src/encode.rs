//! Percent-encoding: one function, and six sets of characters that are not encoded.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};

/// The location in a request for which a string is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    /// A path, a query or a cookie: only the unreserved characters of RFC 3986 are not encoded.
    Uri,
    /// Several segments of a path: slashes are not encoded either.
    Segments,
    /// A query parameter that allows reserved characters.
    Reserved,
    /// A cookie whose value is sent verbatim, such as a credential: only characters that a cookie cannot contain are
    /// encoded.
    Cookie,
    /// A form (WHATWG URL, "application/x-www-form-urlencoded serializing").
    Form,
    /// A header: nothing is encoded.
    None,
}

const URI: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

const SEGMENTS: &AsciiSet = &URI.remove(b'/');

/// RFC 6570's reserved expansion, except for characters that a query cannot contain (`[`, `]`, `#`) and those that
/// would end or change a value (`&`, `+`). OpenAPI 3.1 leaves the encoding of these to the client.
const RESERVED: &AsciiSet = &URI
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';')
    .remove(b'=');

/// All characters except the `cookie-octet` of RFC 6265, section 4.1.1.
const COOKIE: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b',').add(b';').add(b'\\');

const FORM: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_').remove(b' ');

/// The characters allowed in the fixed part of a path besides the unreserved characters (`pchar` of RFC 3986).
const PATH_TEMPLATE: &AsciiSet = &RESERVED.remove(b'%').remove(b'&').remove(b'+').add(b'?');

/// Encodes a string for its location.
pub(super) fn escape(text: &str, escape: Escape) -> Cow<'_, str> {
    match escape {
        Escape::Uri => utf8_percent_encode(text, URI).into(),
        Escape::Segments => utf8_percent_encode(text, SEGMENTS).into(),
        Escape::Reserved => reserved(text).into(),
        Escape::Cookie => utf8_percent_encode(text, COOKIE).into(),
        Escape::Form => Cow::Owned(utf8_percent_encode(text, FORM).to_string().replace(' ', "+")),
        Escape::None => Cow::Borrowed(text),
    }
}

/// Encodes the fixed part of a path template for a URL.
pub(super) fn path_template(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, PATH_TEMPLATE).into()
}

/// Returns the bytes of the percent-encoded octets at the start of a string.
pub(super) fn leading_octets(text: &str) -> impl Iterator<Item = u8> {
    let hex_value = |digit: u8| char::from(digit).to_digit(16);
    text.as_bytes().chunks(3).map_while(move |triple| match triple {
        [b'%', high, low] => u8::try_from(hex_value(*high)? * 16 + hex_value(*low)?).ok(),
        _ => None,
    })
}

/// Encodes a string, except for percent-encoded triples (RFC 6570, section 3.2.3).
fn reserved(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut remaining = text;
    while let Some(percent) = remaining.find('%') {
        let (before, after) = remaining.split_at(percent);
        out.extend(utf8_percent_encode(before, RESERVED));
        match after.get(1..3) {
            Some(hex) if hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                out.push('%');
                out.push_str(hex);
                remaining = &after[3..];
            }
            _ => {
                out.push_str("%25");
                remaining = &after[1..];
            }
        }
    }
    out.extend(utf8_percent_encode(remaining, RESERVED));
    out
}

/// Encodes a string as one segment of a path.
#[must_use]
pub fn escape_uri(text: &str) -> Cow<'_, str> {
    escape(text, Escape::Uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sets_keep_their_allowed_characters() {
        let text = "aZ0-._~ :/?#[]@!$&'()*+,;=%41%é|";
        assert_eq!(
            escape(text, Escape::Uri),
            "aZ0-._~%20%3A%2F%3F%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D%2541%25%C3%A9%7C"
        );
        assert_eq!(escape("a/b ?#%2F", Escape::Segments), "a/b%20%3F%23%252F");
        assert_eq!(escape(text, Escape::Reserved), "aZ0-._~%20:/?%23%5B%5D@!$%26'()*%2B,;=%41%25%C3%A9%7C");
        assert_eq!(
            escape(text, Escape::Form),
            "aZ0-._%7E+%3A%2F%3F%23%5B%5D%40%21%24%26%27%28%29*%2B%2C%3B%3D%2541%25%C3%A9%7C"
        );
        assert_eq!(escape(text, Escape::Cookie), "aZ0-._~%20:/?#[]@!$&'()*+%2C%3B=%41%%C3%A9|");
        assert_eq!(escape(text, Escape::None), text);
    }
}
