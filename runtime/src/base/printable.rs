//! Texts as a terminal may show them.

use std::borrow::Cow;

/// Returns a text without what a terminal would obey, and without what hides or turns the text around it: each such
/// character but line breaks and tabs becomes a space. Documents, services and models put anything into texts.
///
/// ```
/// assert_eq!(toolgen_runtime::printable("a\u{1b}[31mb\u{202e}c\n"), "a [31mb c\n");
/// ```
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let obeyed = |char: char| match char {
        '\n' | '\t' => false,
        '\u{2028}' | '\u{2029}' => true,
        // Scripts such as Persian, and emoji, are written with these.
        '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => false,
        char => is_hidden(char),
    };
    if text.contains(obeyed) { Cow::Owned(text.replace(obeyed, " ")) } else { Cow::Borrowed(text) }
}

/// Whether a character is not seen, or changes how the text around it is shown.
pub(crate) fn is_hidden(char: char) -> bool {
    char.is_control()
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}
