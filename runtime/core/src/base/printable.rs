//! Strings that are safe to print on a terminal.

use std::borrow::Cow;

use crate::base::invisible::InvisibleChar;

/// Returns a string without terminal escape sequences and without characters that hide or reorder the text around
/// them. Each such character, except for line breaks and tabs, becomes a space. Strings of documents, services and
/// models can contain anything.
///
/// ```
/// assert_eq!(toolgen_runtime::printable("a\u{1b}[31mb\u{202e}c\n"), "a [31mb c\n");
/// ```
#[doc(hidden)]
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_unsafe = |char: char| match InvisibleChar::of(char) {
        // Emoji and scripts such as Persian need these.
        None | Some(InvisibleChar::Joiner | InvisibleChar::Selector | InvisibleChar::Private) => false,
        Some(_) => !matches!(char, '\n' | '\t'),
    };
    if text.contains(is_unsafe) { Cow::Owned(text.replace(is_unsafe, " ")) } else { Cow::Borrowed(text) }
}

/// Returns a string with all invisible characters, except for line breaks and tabs, written as `\u{…}`. An approver
/// thus reads exactly what a call contains.
///
/// ```
/// assert_eq!(toolgen_runtime::visible("rm a\u{202e}b\u{200b}\n"), "rm a\\u{202e}b\\u{200b}\n");
/// ```
#[doc(hidden)]
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_hidden = |char: char| InvisibleChar::of(char).is_some() && !matches!(char, '\n' | '\t');
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if is_hidden(char) { out.extend(char.escape_unicode()) } else { out.push(char) }
    }
    Cow::Owned(out)
}

/// Whether a string is an HTTP token, such as the name of a header (RFC 9110, section 5.6.2).
#[must_use]
pub fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}
