//! Checks the syntax of regular expressions (ECMA-262).

/// Returns why a string is not a valid pattern, or why vendors would reject it.
pub(crate) fn problem(pattern: &str) -> Option<String> {
    Parser { chars: pattern.chars().collect(), position: 0 }.parse_alternatives(0).err()
}

struct Parser {
    chars: Vec<char>,
    position: usize,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.position).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.position += usize::from(next.is_some());
        next
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(index, c)| self.chars.get(self.position + index) == Some(&c))
    }

    /// Parses terms up to the end, or to the `)` of the group.
    fn parse_alternatives(&mut self, depth: usize) -> Result<(), String> {
        let mut is_repeatable = false;
        while let Some(c) = self.next() {
            match c {
                ')' if depth > 0 => return Ok(()),
                ')' => return Err("`)` closes nothing".to_owned()),
                '(' => {
                    self.parse_group(depth)?;
                    is_repeatable = true;
                }
                '[' => {
                    self.parse_class()?;
                    is_repeatable = true;
                }
                '\\' => is_repeatable = self.parse_escape()?,
                '*' | '+' | '?' if !is_repeatable => return Err(format!("`{c}` repeats nothing")),
                '*' | '+' | '?' => is_repeatable = self.skip_lazy_mark(),
                '{' if self.is_at_count() => {
                    if !is_repeatable {
                        return Err("`{` repeats nothing".to_owned());
                    }
                    self.parse_count()?;
                    is_repeatable = self.skip_lazy_mark();
                }
                '{' | '}' | ']' => {
                    return Err(format!("`{c}` stands alone; write `\\{c}` for the character"));
                }
                '|' | '^' | '$' => is_repeatable = false,
                _ => is_repeatable = true,
            }
        }
        if depth == 0 { Ok(()) } else { Err("a group is not closed: `)` is missing".to_owned()) }
    }

    /// Skips the `?` after a repetition. Returns false: no other repetition may follow.
    fn skip_lazy_mark(&mut self) -> bool {
        self.position += usize::from(self.peek() == Some('?'));
        false
    }

    fn parse_group(&mut self, depth: usize) -> Result<(), String> {
        if depth > 200 {
            return Err("it is nested too deeply".to_owned());
        }
        for prefix in ["?=", "?!", "?<=", "?<!"] {
            if self.starts_with(prefix) {
                return Err(format!(
                    "look-around (`({prefix}`) is rejected by OpenAI and others; rewrite the pattern without it"
                ));
            }
        }
        if self.starts_with("?:") {
            self.position += 2;
        } else if self.starts_with("?<") {
            match (self.position..self.chars.len()).find(|&index| self.chars[index] == '>') {
                Some(end) => self.position = end + 1,
                None => return Err("the name of a group has no end: `>` is missing".to_owned()),
            }
        } else if self.peek() == Some('?') {
            return Err("`(?` starts a group that is not in ECMA-262".to_owned());
        }
        self.parse_alternatives(depth + 1)
    }

    fn parse_class(&mut self) -> Result<(), String> {
        self.position += usize::from(self.peek() == Some('^'));
        while let Some(c) = self.next() {
            let single = match c {
                ']' => return Ok(()),
                '\\' => {
                    self.parse_escape()?;
                    None
                }
                other => Some(other),
            };
            let Some(low) = single.filter(|_| self.peek() == Some('-')) else { continue };
            self.position += 1;
            if let Some(high) = self.peek().filter(|high| !matches!(high, ']' | '\\')) {
                if low > high {
                    return Err(format!("`{low}-{high}` is not a range: it runs backwards"));
                }
                self.position += 1;
            }
        }
        Err("a class is not closed: `]` is missing".to_owned())
    }

    /// Parses an escape. Returns whether it stands for a character.
    fn parse_escape(&mut self) -> Result<bool, String> {
        match self.next() {
            None => Err("it ends in `\\`".to_owned()),
            Some('b' | 'B') => Ok(false),
            Some('p' | 'P') if self.peek() != Some('{') => {
                Err("`\\p` needs a property in braces, such as `\\p{L}`".to_owned())
            }
            Some('u') if self.peek() == Some('{') => self.skip_braces(),
            Some('p' | 'P') => self.skip_braces(),
            Some(c @ ('A' | 'z' | 'Z' | 'a' | 'h' | 'K' | 'Q' | 'E' | 'R')) => {
                Err(format!("`\\{c}` is not known to ECMA-262; `^` and `$` mark the ends"))
            }
            Some(_) => Ok(true),
        }
    }

    fn skip_braces(&mut self) -> Result<bool, String> {
        match (self.position..self.chars.len()).find(|&index| self.chars[index] == '}') {
            Some(end) => {
                self.position = end + 1;
                Ok(true)
            }
            None => Err("`}` is missing".to_owned()),
        }
    }

    /// Whether a count follows `{`.
    fn is_at_count(&self) -> bool {
        self.peek().is_some_and(|c| c.is_ascii_digit())
    }

    fn parse_count(&mut self) -> Result<(), String> {
        let mut text = String::new();
        while let Some(c) = self.next() {
            if c == '}' {
                let mut bounds = text.split(',').map(|bound| bound.parse::<u64>().ok());
                let (low, high) = (bounds.next().flatten(), bounds.next().flatten());
                return match (low, high) {
                    (Some(low), Some(high)) if low > high => Err(format!("`{{{text}}}` runs backwards")),
                    _ => Ok(()),
                };
            }
            if !(c.is_ascii_digit() || c == ',') {
                break;
            }
            text.push(c);
        }
        Err("a count is not closed: `}` is missing".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn common_patterns_are_accepted() {
        for pattern in [
            "^[a-z0-9_-]+$",
            r"^\d{4}-\d{2}$",
            "(a|b)*?",
            r"\p{L}+",
            "(?:x)?",
            "(?<year>[0-9])",
            r"[\w.]+@x",
            "a{2,}",
            "",
        ] {
            assert_eq!(problem(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn pattern_errors_are_described() {
        let cases = [
            ("(a", "not closed"),
            ("a)", "closes nothing"),
            ("[a", "`]` is missing"),
            ("*a", "repeats nothing"),
            ("a**", "repeats nothing"),
            ("[z-a]", "backwards"),
            ("a{3,1}", "backwards"),
            ("(?=a)", "look-around"),
            ("(?i)a", "ECMA-262"),
            (r"\Aa", "`^` and `$`"),
            ("a\\", "ends in"),
            ("{a", "stands alone"),
        ];
        for (pattern, reason) in cases {
            assert!(
                problem(pattern).is_some_and(|text| text.contains(reason)),
                "{pattern}: {:?}",
                problem(pattern)
            );
        }
    }
}
