//! Help for invalid YAML.
//!
//! The parser reports what it expected where it stopped, which is not the actual error: a string with a colon, a tab,
//! a missing closing quote.

use super::super::Position;

/// A part of the parser's message, and the help for the likely error.
const HINTS: [(&str, &str); 14] = [
    (
        "mapping values are not allowed",
        "put a string that contains `: ` in quotes; the keys of one object start in the same column",
    ),
    (
        "did not find expected key",
        "the keys of one object start in the same column, and so do the items of one array",
    ),
    ("expected '-' indicator", "the items of one array start in the same column, each with `- `"),
    ("expected ',' or ']'", "close the array with `]`, and separate its items by `,`"),
    ("expected ',' or '}'", "close the object with `}`, and separate its members by `,`"),
    ("unexpected end of stream", "close the string with its opening quote"),
    ("indentation in quoted scalar", "close the string with its opening quote"),
    ("unexpected character", "put a string that begins with this character in quotes"),
    ("unknown anchor", "put a string that begins with `*` in quotes"),
    ("expected comment or line break", "put a string that begins with `|` or `>` in quotes"),
    (
        "block sequence entries are not allowed",
        "an array begins on a separate line; put a string that begins with `- ` in quotes",
    ),
    ("mapping keys are not allowed", "put a string that begins with `? ` in quotes"),
    ("invalid trailing content", "a quote at the start encloses the whole string: put the rest into it"),
    ("unknown escape character", "double each `\\` in the string, or put it in single quotes"),
];

/// Returns the position of an error, its description and its help, from the position and the message of the parser.
pub(super) fn diagnose(text: &str, at: Position, info: &str) -> (Position, String, &'static str) {
    // The parser stops at the end of the text before the tab.
    let near = text.lines().enumerate().skip(at.line.saturating_sub(2)).take(3);
    for (index, line) in near {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        if let Some(column) = line.get(..indent).and_then(|indent| indent.find('\t')) {
            let at = Position { line: index + 1, column: column + 1 };
            return (
                at,
                "a tab indents this line".to_owned(),
                "indent with spaces: YAML does not allow tabs here",
            );
        }
    }
    // The parser treats a string in braces as an object, and the rest as the next key.
    let is_error = |part: &str| info.contains(part);
    let line = text.lines().nth(at.line.saturating_sub(1)).unwrap_or_default();
    let value = line.split_once(": ").map_or(line, |(_, value)| value).trim_start_matches(['-', ' ']);
    if (is_error("did not find expected key") || is_error("expected '-' indicator"))
        && value.starts_with(['{', '['])
    {
        return (at, info.to_owned(), "put a string that begins with `{` or `[` in quotes");
    }
    let hint = HINTS.iter().find(|(part, _)| info.contains(part));
    let help = hint.map_or("correct the document here or just before", |(_, help)| help);
    (at, info.to_owned(), help)
}
