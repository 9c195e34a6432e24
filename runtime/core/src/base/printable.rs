//! Texts that are safe to show on a terminal.

use std::borrow::Cow;

use crate::base::invisible::InvisibleChar;

/// Returns a text without what a terminal would obey, and without what hides or turns the text around it: each such
/// character except line breaks and tabs becomes a space. Texts of documents, services and models may contain
/// anything.
///
/// ```
/// assert_eq!(toolgen_runtime::printable("a\u{1b}[31mb\u{202e}c\n"), "a [31mb c\n");
/// ```
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let obeyed = |char: char| match InvisibleChar::of(char) {
        // Scripts such as Persian, and emoji, are written with these.
        None | Some(InvisibleChar::Joiner | InvisibleChar::Selector | InvisibleChar::Private) => false,
        Some(_) => !matches!(char, '\n' | '\t'),
    };
    if text.contains(obeyed) { Cow::Owned(text.replace(obeyed, " ")) } else { Cow::Borrowed(text) }
}

/// Returns a text in which nothing is hidden, for people who decide about it: each character that is not visible as
/// itself, except line breaks and tabs, is written as `\u{…}`. An approver thus reads exactly what a call holds.
///
/// ```
/// assert_eq!(toolgen_runtime::visible("rm a\u{202e}b\u{200b}\n"), "rm a\\u{202e}b\\u{200b}\n");
/// ```
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let hidden = |char: char| InvisibleChar::of(char).is_some() && !matches!(char, '\n' | '\t');
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        if hidden(char) { out.extend(char.escape_unicode()) } else { out.push(char) }
    }
    Cow::Owned(out)
}

/// Whether a text is a token of HTTP, such as the name of a header (RFC 9110, 5.6.2).
#[must_use]
pub fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}
