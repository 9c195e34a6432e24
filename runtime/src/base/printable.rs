//! Texts as a terminal may show them.

use std::borrow::Cow;

use crate::base::hidden::Hidden;

/// Returns a text without what a terminal would obey, and without what hides or turns the text around it: each such
/// character but line breaks and tabs becomes a space. Documents, services and models put anything into texts.
///
/// ```
/// assert_eq!(toolgen_runtime::printable("a\u{1b}[31mb\u{202e}c\n"), "a [31mb c\n");
/// ```
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let obeyed = |char: char| match Hidden::of(char) {
        // Scripts such as Persian, and emoji, are written with these.
        None | Some(Hidden::Joiner | Hidden::Selector | Hidden::Private) => false,
        Some(_) => !matches!(char, '\n' | '\t'),
    };
    if text.contains(obeyed) { Cow::Owned(text.replace(obeyed, " ")) } else { Cow::Borrowed(text) }
}
