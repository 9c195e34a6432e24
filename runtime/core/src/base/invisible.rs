//! The table of invisible characters.
//!
//! Readers of documents remove these characters, code printers escape them, lints report them, and terminal output
//! replaces the ones that a terminal would interpret.

/// The function of an invisible character.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvisibleChar {
    /// Starts a terminal escape sequence.
    Escape,
    /// Any other control character, such as a line end, a tab or a bell.
    Control,
    /// Changes the direction of the text around it.
    Direction,
    /// Joins or separates adjacent letters. Emoji and scripts such as Devanagari and Persian need it.
    Joiner,
    /// Selects a variant of the character before it, as in emoji.
    Selector,
    /// Has no width: soft hyphens, zero-width characters, fillers, tags.
    Invisible,
    /// A private-use character, without a public meaning.
    Private,
}

impl InvisibleChar {
    /// Returns the function of an invisible character; `None` for visible characters and spaces.
    #[must_use]
    pub const fn of(char: char) -> Option<InvisibleChar> {
        Some(match char {
            '\u{1b}' | '\u{9b}' => InvisibleChar::Escape,
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => InvisibleChar::Control,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                InvisibleChar::Direction
            }
            '\u{200c}' | '\u{200d}' => InvisibleChar::Joiner,
            '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => InvisibleChar::Selector,
            '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{3164}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}' => InvisibleChar::Invisible,
            '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' => InvisibleChar::Private,
            _ => return None,
        })
    }

    /// Whether the character is invisible to a reader. Line ends and tabs are invisible; private-use characters are
    /// not, since a font may draw them.
    #[must_use]
    pub const fn is_invisible(char: char) -> bool {
        !matches!(InvisibleChar::of(char), None | Some(InvisibleChar::Private))
    }

    /// Describes the first hidden character in a string that harmless text does not need. The description is the end
    /// of a sentence that starts with “the text”. Line ends and tabs are ignored, and so are joiners and selectors
    /// where scripts and emoji use them.
    #[must_use]
    pub fn describe_first(text: &str) -> Option<String> {
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r')) {
            return None;
        }
        let mut before = ' ';
        let mut chars = text.chars().peekable();
        while let Some(char) = chars.next() {
            let after = chars.peek().copied().unwrap_or(' ');
            let description = match InvisibleChar::of(char) {
                None => None,
                Some(InvisibleChar::Escape) => Some("a terminal escape sequence"),
                Some(InvisibleChar::Control) if matches!(char, '\t' | '\n' | '\r') => None,
                Some(InvisibleChar::Control) => Some("a control character"),
                Some(InvisibleChar::Direction) => Some("a character that changes the text direction"),
                Some(InvisibleChar::Joiner) => {
                    (before.is_ascii() || after.is_ascii()).then_some("a hidden character")
                }
                Some(InvisibleChar::Selector) => {
                    let is_misplaced = InvisibleChar::of(before) == Some(InvisibleChar::Selector)
                        || before.is_ascii_alphabetic();
                    is_misplaced.then_some("a hidden character")
                }
                Some(InvisibleChar::Invisible) => Some("a hidden character"),
                Some(InvisibleChar::Private) => Some("a private-use character"),
            };
            if let Some(description) = description {
                return Some(format!("has {description}, U+{:04X}", u32::from(char)));
            }
            before = char;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_control_character_is_in_the_table() {
        for char in '\0'..=char::MAX {
            assert_eq!(
                char.is_control(),
                matches!(InvisibleChar::of(char), Some(InvisibleChar::Control | InvisibleChar::Escape)),
                "U+{:04X}",
                u32::from(char)
            );
            assert!(
                !(char.is_alphanumeric() && InvisibleChar::is_invisible(char)) || is_filler(char),
                "{char:?}"
            );
        }
    }

    /// Whether the character is a Hangul filler, which counts as a letter but is not drawn.
    fn is_filler(char: char) -> bool {
        matches!(char, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
    }

    #[test]
    fn visible_characters_and_emoji_joiners_are_not_hidden() {
        for text in ["größe 価格 😀", "👨\u{200d}👩", "❤\u{fe0f}", "क्\u{200d}ष", "a\tb\r\nc", "a\u{a0}b"]
        {
            assert_eq!(InvisibleChar::describe_first(text), None, "{text}");
        }
        for (text, part) in [
            ("a\u{200d}b", "U+200D"),
            ("a\u{fe01}", "U+FE01"),
            ("x\u{e000}", "private-use"),
            ("\u{9b}m", "escape"),
        ] {
            assert!(
                InvisibleChar::describe_first(text).is_some_and(|description| description.contains(part)),
                "{text:?}"
            );
        }
    }
}
