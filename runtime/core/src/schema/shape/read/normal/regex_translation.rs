//! Translates regular expressions of other dialects to ECMA-262.
//!
//! Documents contain patterns for the engine of their service. Features that Perl, Python, Java, .NET, PHP and Ruby
//! share and ECMA-262 lacks are translated: flags at the start, delimiters, `\A`, `\z`, `\h`, `\Q…\E`, POSIX classes,
//! named groups of Python, comments. Atomic groups and possessive quantifiers become ordinary groups and quantifiers,
//! which match slightly more.

use std::iter::Peekable;
use std::str::Chars;

/// The POSIX classes, and the characters that they represent inside a class.
const CLASSES: [(&str, &str); 12] = [
    ("alnum", "a-zA-Z0-9"),
    ("alpha", "a-zA-Z"),
    ("ascii", r"\x00-\x7F"),
    ("blank", r" \t"),
    ("cntrl", r"\x00-\x1F\x7F"),
    ("digit", "0-9"),
    ("graph", r"\x21-\x7E"),
    ("lower", "a-z"),
    ("punct", r"!-\/:-@\[-`\{-~"),
    ("space", r"\s"),
    ("upper", "A-Z"),
    ("xdigit", "0-9A-Fa-f"),
];

/// A translated pattern.
pub(super) struct Translation {
    /// The pattern in ECMA-262, without the flags.
    pub(super) pattern: String,
    /// Whether flags change its meaning in a way that ECMA-262 cannot express.
    pub(super) has_unsupported_flags: bool,
}

/// Whether a pattern is valid in ECMA-262 but has another meaning there: `/^a$/`, which matches no string,
/// `[[:alpha:]]`, and `\Aa\z`, where these are letters.
pub(super) fn is_foreign(pattern: &str) -> bool {
    split_delimited(pattern).is_some()
        || has_foreign_escape(pattern)
        || pattern.contains("[:") && CLASSES.iter().any(|(name, _)| pattern.contains(&format!("[:{name}:]")))
}

/// Translates a pattern.
pub(super) fn translate(pattern: &str) -> Translation {
    let (pattern, delimiter_flags) = split_delimited(pattern).unwrap_or((pattern, ""));
    let leading_flags = pattern.strip_prefix("(?").and_then(|remaining| remaining.split_once(')'));
    let leading_flags = leading_flags
        .filter(|(flags, _)| flags.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-'));
    let (flags, pattern) = leading_flags.unwrap_or(("", pattern));
    let has_flag = |flag| delimiter_flags.contains(flag) || flags.contains(flag);
    // `u` and `U` concern characters outside ASCII, and `g` and `y` concern where a search starts.
    let is_supported = |flag: char| "isuUgy".contains(flag);
    let writer = Writer {
        remaining: pattern.chars().peekable(),
        out: String::new(),
        ignores_case: has_flag('i'),
        dot_matches_all: has_flag('s'),
    };
    Translation {
        pattern: writer.write(),
        has_unsupported_flags: !delimiter_flags.chars().chain(flags.chars()).all(is_supported),
    }
}

/// Whether an escaped letter has a meaning only in other dialects.
fn has_foreign_escape(pattern: &str) -> bool {
    let (mut escaped, mut in_class) = (false, false);
    pattern.bytes().any(|byte| {
        let is_foreign_escape = escaped && !in_class && matches!(byte, b'A' | b'Z' | b'z' | b'h' | b'Q');
        match byte {
            b'[' | b']' if !escaped => in_class = byte == b'[',
            _ => {}
        }
        escaped = byte == b'\\' && !escaped;
        is_foreign_escape
    })
}

/// Splits `/…/flags`, if `/` cannot be part of the pattern: nothing can precede `^` or follow `$`.
fn split_delimited(pattern: &str) -> Option<(&str, &str)> {
    let (inner, flags) = pattern.strip_prefix('/')?.rsplit_once('/')?;
    let is_anchored = inner.starts_with('^') || inner.ends_with('$') && !inner.ends_with("\\$");
    (is_anchored && flags.bytes().all(|flag| b"gimsuy".contains(&flag))).then_some((inner, flags))
}

struct Writer<'p> {
    remaining: Peekable<Chars<'p>>,
    out: String,
    ignores_case: bool,
    dot_matches_all: bool,
}

impl Writer<'_> {
    fn write(mut self) -> String {
        while let Some(char) = self.remaining.next() {
            match char {
                '\\' => self.write_escape(false),
                '[' => self.write_class(),
                '(' => self.write_group(),
                '.' if self.dot_matches_all => self.out.push_str(r"[\s\S]"),
                '*' | '+' | '?' | '}' => {
                    self.out.push(char);
                    // A possessive quantifier.
                    self.remaining.next_if_eq(&'+');
                }
                letter => match other_case(letter).filter(|_| self.ignores_case) {
                    Some(other) => self.out.extend(['[', letter, other, ']']),
                    None => self.out.push(letter),
                },
            }
        }
        self.out
    }

    fn write_escape(&mut self, in_class: bool) {
        let Some(char) = self.remaining.next() else { return self.out.push('\\') };
        match char {
            'A' if !in_class => self.out.push('^'),
            'z' | 'Z' if !in_class => self.out.push('$'),
            'h' => self.out.push_str(if in_class { r" \t" } else { r"[ \t]" }),
            'e' => self.out.push_str(r"\x1B"),
            'a' => self.out.push_str(r"\x07"),
            'Q' => self.write_literal(),
            'x' | 'u' | 'p' | 'P' | 'k' => {
                self.out.extend(['\\', char]);
                self.copy_escape_argument(char);
            }
            other => self.out.extend(['\\', other]),
        }
    }

    /// Copies the rest of an escape: digits, or a name in brackets.
    fn copy_escape_argument(&mut self, escape: char) {
        let close = match self.remaining.peek() {
            Some('{') => '}',
            Some('<') => '>',
            _ => {
                let digits = if escape == 'u' { 4 } else { 2 };
                for _ in 0..digits {
                    self.out.extend(self.remaining.next_if(char::is_ascii_hexdigit));
                }
                return;
            }
        };
        self.copy_through(close);
    }

    fn copy_through(&mut self, close: char) {
        for char in self.remaining.by_ref() {
            self.out.push(char);
            if char == close {
                break;
            }
        }
    }

    /// Writes the text between `\Q` and `\E`.
    fn write_literal(&mut self) {
        while let Some(char) = self.remaining.next() {
            if char == '\\' && self.remaining.next_if_eq(&'E').is_some() {
                break;
            }
            if r"\^$.*+?()[]{}|/".contains(char) {
                self.out.push('\\');
            }
            self.out.push(char);
        }
    }

    fn write_group(&mut self) {
        self.out.push('(');
        if self.remaining.next_if_eq(&'?').is_none() {
            return;
        }
        match self.remaining.peek() {
            Some('>') => {
                self.remaining.next();
                self.out.push_str("?:");
            }
            Some('#') => {
                self.out.pop();
                self.remaining.by_ref().find(|char| *char == ')');
            }
            Some('P' | '<') => {
                self.remaining.next_if_eq(&'P');
                self.out.push('?');
                self.out.extend(self.remaining.next_if_eq(&'<'));
                // A name, not a lookbehind.
                if self.out.ends_with('<') && !matches!(self.remaining.peek(), Some('=' | '!')) {
                    self.copy_through('>');
                }
            }
            _ => self.out.push('?'),
        }
    }

    fn write_class(&mut self) {
        self.out.push('[');
        self.out.extend(self.remaining.next_if_eq(&'^'));
        // In other dialects, a bracket at the start is a member.
        if self.remaining.next_if_eq(&']').is_some() {
            self.out.push_str(r"\]");
        }
        let mut members: Vec<char> = Vec::new();
        while let Some(char) = self.remaining.next() {
            match char {
                ']' => return self.out.push(']'),
                '\\' => {
                    members.clear();
                    self.write_escape(true);
                }
                '[' if self.remaining.peek() == Some(&':') => self.write_posix_class(),
                '[' => self.out.push_str(r"\["),
                member => {
                    self.out.push(member);
                    members.push(member);
                    if self.ignores_case {
                        self.write_other_case(&mut members);
                    }
                }
            }
        }
        // An unclosed class stays unclosed, and the pattern is invalid.
    }

    /// Adds the other case of a class's last member, or of the range that it ends.
    fn write_other_case(&mut self, members: &mut Vec<char>) {
        let next_is_dash = self.remaining.peek() == Some(&'-');
        match members.as_slice() {
            [.., from, '-', to] => {
                let other = other_case(*from).zip(other_case(*to));
                let range = other.filter(|(from, to)| from <= to);
                self.out.extend(range.into_iter().flat_map(|(from, to)| [from, '-', to]));
                members.clear();
            }
            [.., last] if !next_is_dash && *last != '-' => {
                self.out.extend(other_case(*last));
                members.clear();
            }
            _ => {}
        }
    }

    /// Writes a POSIX class inside a class, after `[`.
    fn write_posix_class(&mut self) {
        let class_name: String =
            self.remaining.clone().skip(1).take_while(|char| char.is_ascii_lowercase()).collect();
        let class = CLASSES.iter().find(|(name, _)| *name == class_name);
        let is_closed = self.remaining.clone().skip(1 + class_name.len()).take(2).eq([':', ']']);
        match class.filter(|_| is_closed) {
            Some((name, members)) => {
                self.remaining.nth(name.len() + 2);
                self.out.push_str(members);
            }
            None => self.out.push_str(r"\["),
        }
    }
}

/// Returns the letter in the other case, if there is one.
fn other_case(letter: char) -> Option<char> {
    let mut lower = letter.to_lowercase();
    let mut upper = letter.to_uppercase();
    let (lower, upper) =
        (lower.next().filter(|_| lower.next().is_none())?, upper.next().filter(|_| upper.next().is_none())?);
    [lower, upper].into_iter().find(|other| *other != letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::shape::is_pattern;
    use crate::schema::shape::pattern::matches;

    #[test]
    fn common_foreign_patterns_are_rewritten() {
        for (foreign, expected) in [
            ("(?i)^(all|none)$", "^([aA][lL][lL]|[nN][oO][nN][eE])$"),
            ("(?i)[a-f_x9-]", "[a-fA-F_xX9-]"),
            (r"(?i)\p{Lu}\x4a\u004a\d(?<name>a)\k<name>", r"\p{Lu}\x4a\u004a\d(?<name>[aA])\k<name>"),
            ("(?s)a.[.]", r"a[\s\S][.]"),
            (r"\A[a-z]++\z", "^[a-z]+$"),
            ("^(?P<year>[0-9]{4}+)-(?<=-)(?>a|b)*+$", "^(?<year>[0-9]{4})-(?<=-)(?:a|b)*$"),
            ("^[[:alpha:]_[:digit:]]+$", "^[a-zA-Z_0-9]+$"),
            ("[[:nope:]]", r"[\[:nope:]]"),
            ("[]a[]", r"[\]a\[]"),
            ("/^abc$/i", "^[aA][bB][cC]$"),
            (r"\Qa.b\E+", r"a\.b+"),
            ("a(?#says so)b", "ab"),
            (r"^\h+$", r"^[ \t]+$"),
        ] {
            assert_eq!(translate(foreign).pattern, expected, "{foreign}");
        }
    }

    #[test]
    fn patterns_misread_by_ecma_262_are_detected() {
        for pattern in ["/^abc$/", "/abc$/i", "^[[:alpha:]]+$", r"\A[a-z]+\z", r"\\\Ab", r"^\h$"] {
            assert!(is_foreign(pattern), "{pattern}");
        }
        for pattern in ["/abc/", "^/abc/$", "/", "//", "[:alpha:", "/v1/[a-z]+/cost\\$/", r"\\A", r"[\A]"] {
            assert!(!is_foreign(pattern), "{pattern}");
        }
    }

    #[test]
    fn rewritten_patterns_keep_their_meaning() {
        for (foreign, text, expected) in [
            ("(?i)^(all|none)$", "ALL", true),
            ("(?i)^(all|none)$", "some", false),
            ("(?i)^[^a-c]$", "B", false),
            ("(?i)^ä$", "Ä", true),
            ("^[[:punct:]]+$", "!/:@[`{~-]", true),
            ("^[[:punct:]]+$", "a", false),
            (r"\A[[:upper:]\d]+\Z", "A1", true),
        ] {
            let Translation { pattern, has_unsupported_flags } = translate(foreign);
            assert!(is_pattern(&pattern) && !has_unsupported_flags, "{foreign}: {pattern}");
            assert_eq!(matches(&pattern, text), expected, "{foreign}: {pattern}");
        }
        assert!(translate("(?x)a b").has_unsupported_flags && translate("/^a$/m").has_unsupported_flags);
    }
}
