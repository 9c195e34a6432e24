//! Converts descriptions in API documents for models: Markdown without HTML, entities and hidden characters.
//!
//! Markdown is unchanged, except for what only a rendered page can show: targets of relative links, images, spaces
//! that align tables. HTML is recognized by the names of its elements, so that `<id>` and `Vec<String>` stay, and
//! never inside Markdown code.

mod html;
mod marks;

use std::borrow::Cow;

use crate::base::invisible::InvisibleChar;

/// Returns a text without hidden characters and surrounding whitespace, with HTML converted to Markdown: lists, code,
/// links and paragraphs are kept, and presentation is dropped.
///
/// ```
/// use toolgen_runtime::schema::shape::read::plain_markdown;
///
/// assert_eq!(plain_markdown("<p>Returns <code>null</code> if a &lt; b.</p><ul><li>one<li>two</ul>"),
///     "Returns `null` if a < b.\n\n- one\n- two");
/// assert_eq!(plain_markdown("The **id**, as `<kind>:<id>`."), "The **id**, as `<kind>:<id>`.");
/// ```
#[must_use]
pub fn plain_markdown(text: &str) -> Cow<'_, str> {
    let visible = visible(text.trim());
    if !visible.contains(['<', '&']) {
        return marks::tidy(visible);
    }
    marks::tidy(Cow::Owned(html::to_markdown(&visible)))
}

/// Returns a text without characters that are invisible but visible to a model: controls, direction marks, zero-width
/// characters, tags and selectors. Line ends become `\n`, other whitespace becomes a space.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            '\n' | '\t' => out.push(char),
            // Persian and Indic scripts and emoji need these to join and separate letters.
            '\u{200c}' | '\u{200d}' => {
                let joins_letters = |char: Option<&char>| {
                    char.is_some_and(|char| !char.is_ascii() && !InvisibleChar::is_invisible(*char))
                };
                if joins_letters(out.chars().next_back().as_ref()) && joins_letters(chars.peek()) {
                    out.push(char);
                }
            }
            _ if InvisibleChar::is_invisible(char) => {}
            _ if char.is_whitespace() => out.push(' '),
            _ => out.push(char),
        }
    }
    let trimmed = out.trim();
    Cow::Owned(if trimmed.len() == out.len() { out } else { trimmed.to_owned() })
}

#[cfg(test)]
mod tests;
