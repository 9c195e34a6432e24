//! Checks the syntax of regular expressions (ECMA-262).

/// Returns why a string is not a valid pattern, or why vendors would reject it.
pub(crate) fn problem(pattern: &str) -> Option<String> {
    Reader { rest: pattern.chars().collect(), at: 0 }.alternatives(0).err()
}

struct Reader {
    rest: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    fn follows(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(index, c)| self.rest.get(self.at + index) == Some(&c))
    }

    /// Terms up to the end, or to the `)` of the group.
    fn alternatives(&mut self, depth: usize) -> Result<(), String> {
        let mut repeatable = false;
        while let Some(c) = self.next() {
            match c {
                ')' if depth > 0 => return Ok(()),
                ')' => return Err("`)` closes nothing".to_owned()),
                '(' => {
                    self.group(depth)?;
                    repeatable = true;
                }
                '[' => {
                    self.class()?;
                    repeatable = true;
                }
                '\\' => repeatable = self.escape()?,
                '*' | '+' | '?' if !repeatable => return Err(format!("`{c}` repeats nothing")),
                '*' | '+' | '?' => repeatable = self.lazy(),
                '{' if self.counts() => {
                    if !repeatable {
                        return Err("`{` repeats nothing".to_owned());
                    }
                    self.count()?;
                    repeatable = self.lazy();
                }
                '{' | '}' | ']' => {
                    return Err(format!("`{c}` stands alone; write `\\{c}` for the character"));
                }
                '|' | '^' | '$' => repeatable = false,
                _ => repeatable = true,
            }
        }
        if depth == 0 { Ok(()) } else { Err("a group is not closed: `)` is missing".to_owned()) }
    }

    /// After a repetition: reads `?`; no other repetition may follow.
    fn lazy(&mut self) -> bool {
        self.at += usize::from(self.peek() == Some('?'));
        false
    }

    fn group(&mut self, depth: usize) -> Result<(), String> {
        if depth > 200 {
            return Err("it is nested too deeply".to_owned());
        }
        for look in ["?=", "?!", "?<=", "?<!"] {
            if self.follows(look) {
                return Err(format!(
                    "look-around (`({look}`) is rejected by OpenAI and others; rewrite the pattern without it"
                ));
            }
        }
        if self.follows("?:") {
            self.at += 2;
        } else if self.follows("?<") {
            match (self.at..self.rest.len()).find(|&index| self.rest[index] == '>') {
                Some(end) => self.at = end + 1,
                None => return Err("the name of a group has no end: `>` is missing".to_owned()),
            }
        } else if self.peek() == Some('?') {
            return Err("`(?` starts a group that is not in ECMA-262".to_owned());
        }
        self.alternatives(depth + 1)
    }

    fn class(&mut self) -> Result<(), String> {
        self.at += usize::from(self.peek() == Some('^'));
        while let Some(c) = self.next() {
            let single = match c {
                ']' => return Ok(()),
                '\\' => {
                    self.escape()?;
                    None
                }
                other => Some(other),
            };
            let Some(low) = single.filter(|_| self.peek() == Some('-')) else { continue };
            self.at += 1;
            if let Some(high) = self.peek().filter(|high| !matches!(high, ']' | '\\')) {
                if low > high {
                    return Err(format!("`{low}-{high}` is not a range: it runs backwards"));
                }
                self.at += 1;
            }
        }
        Err("a class is not closed: `]` is missing".to_owned())
    }

    /// Whether the escape is that of a character.
    fn escape(&mut self) -> Result<bool, String> {
        match self.next() {
            None => Err("it ends in `\\`".to_owned()),
            Some('b' | 'B') => Ok(false),
            Some('p' | 'P') if self.peek() != Some('{') => {
                Err("`\\p` needs a property in braces, such as `\\p{L}`".to_owned())
            }
            Some('u') if self.peek() == Some('{') => self.braces(),
            Some('p' | 'P') => self.braces(),
            Some(c @ ('A' | 'z' | 'Z' | 'a' | 'h' | 'K' | 'Q' | 'E' | 'R')) => {
                Err(format!("`\\{c}` is not known to ECMA-262; `^` and `$` mark the ends"))
            }
            Some(_) => Ok(true),
        }
    }

    fn braces(&mut self) -> Result<bool, String> {
        match (self.at..self.rest.len()).find(|&index| self.rest[index] == '}') {
            Some(end) => {
                self.at = end + 1;
                Ok(true)
            }
            None => Err("`}` is missing".to_owned()),
        }
    }

    /// Whether a count follows `{`.
    fn counts(&self) -> bool {
        self.peek().is_some_and(|c| c.is_ascii_digit())
    }

    fn count(&mut self) -> Result<(), String> {
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
        for good in [
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
            assert_eq!(problem(good), None, "{good}");
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
        for (bad, reason) in cases {
            assert!(problem(bad).is_some_and(|text| text.contains(reason)), "{bad}: {:?}", problem(bad));
        }
    }
}
