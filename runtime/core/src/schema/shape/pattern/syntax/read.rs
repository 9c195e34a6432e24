//! The parser of patterns.

use super::{Anchor, Capture, MAX_GROUP_DEPTH, Member, Node, Set, Syntax};

/// Parses a pattern.
pub(super) fn read(pattern: &str) -> Option<Syntax> {
    let names = group_names(pattern);
    let mut reader = Reader { remaining: pattern, opened_groups: 0, groups: names.len(), names };
    let root = reader.parse_choice(0)?;
    reader.remaining.is_empty().then_some(Syntax { root, groups: reader.groups })
}

struct Reader<'p> {
    remaining: &'p str,
    /// The number of capturing groups that have started.
    opened_groups: usize,
    groups: usize,
    /// The names of all capturing groups, in order; empty for unnamed ones.
    names: Vec<&'p str>,
}

impl<'p> Reader<'p> {
    fn parse_choice(&mut self, depth: usize) -> Option<Node> {
        if depth > MAX_GROUP_DEPTH {
            return None;
        }
        let first = self.parse_sequence(depth)?;
        if !self.remaining.starts_with('|') {
            return Some(first);
        }
        let mut branches = vec![first];
        while self.skip("|") {
            branches.push(self.parse_sequence(depth)?);
        }
        Some(Node::Choice(branches))
    }

    fn parse_sequence(&mut self, depth: usize) -> Option<Node> {
        let mut nodes = Vec::new();
        while !self.remaining.is_empty() && !self.remaining.starts_with(['|', ')']) {
            let node = self.parse_atom(depth)?;
            nodes.push(self.parse_quantifier(node)?);
        }
        Some(Node::Sequence(nodes))
    }

    fn parse_atom(&mut self, depth: usize) -> Option<Node> {
        let start = self.remaining;
        Some(match self.next()? {
            '^' => Node::At(Anchor::Start),
            '$' => Node::At(Anchor::End),
            '.' => Node::Set(Set::of(Member::Letter('.'))),
            '(' => return self.parse_group(depth),
            '[' => Node::Set(self.parse_class()?),
            '*' | '+' | '?' => return None,
            '\\' if self.skip("b") => Node::At(Anchor::Boundary(true)),
            '\\' if self.skip("B") => Node::At(Anchor::Boundary(false)),
            '\\' => match self.parse_back_reference(start)? {
                Some(back) => back,
                None => Node::Set(Set::of(self.parse_escape(start)?)),
            },
            other => Node::Set(Set::of(Member::Char(other.into(), other.to_string()))),
        })
    }

    /// Parses the rest of a group, after `(`.
    fn parse_group(&mut self, depth: usize) -> Option<Node> {
        let lookarounds =
            [("?=", true, true), ("?!", true, false), ("?<=", false, true), ("?<!", false, false)];
        let look = lookarounds.into_iter().find(|(start, ..)| self.skip(start));
        let capture = if look.is_some() || self.skip("?:") {
            None
        } else {
            let name = if self.skip("?<") {
                let (name, remaining) = self.remaining.split_once('>')?;
                self.remaining = remaining;
                (!name.contains('\\')).then(|| Some(name.to_owned()))?
            } else if self.remaining.starts_with('?') {
                return None;
            } else {
                None
            };
            self.opened_groups += 1;
            Some(Capture { index: self.opened_groups, name })
        };
        let node = Box::new(self.parse_choice(depth + 1)?);
        if !self.skip(")") {
            return None;
        }
        Some(match look {
            Some((_, ahead, must_match)) => Node::Look { node, ahead, must_match },
            None => Node::Group { node, capture },
        })
    }

    fn parse_quantifier(&mut self, node: Node) -> Option<Node> {
        let start = self.remaining;
        let (min, max, length) = match self.remaining.as_bytes().first() {
            Some(b'*') => (0, None, 1),
            Some(b'+') => (1, None, 1),
            Some(b'?') => (0, Some(1), 1),
            Some(b'{') => match repeat_counts(self.remaining) {
                Some(counts) => counts,
                // Without Unicode mode, it is an ordinary character.
                None => return Some(node),
            },
            _ => return Some(node),
        };
        self.remaining = self.remaining.get(length..)?;
        // Greedy or lazy makes no difference to whether a match exists.
        self.skip("?");
        let source = self.source_since(start);
        Some(Node::Repeat { node: Box::new(node), min, max, source })
    }

    /// Parses the rest of `\1` or `\k<name>`, after the backslash, if it is a back reference.
    fn parse_back_reference(&mut self, start: &'p str) -> Option<Option<Node>> {
        let (group, remaining) = if let Some(remaining) = self.remaining.strip_prefix("k<") {
            let (name, remaining) = remaining.split_once('>')?;
            let mut matching = self.names.iter().enumerate().filter(|(_, group_name)| **group_name == name);
            match (matching.next(), matching.next()) {
                (Some((index, _)), None) => (index + 1, remaining),
                (None, _) => return Some(None),
                // If several groups have the name, the branch decides which of them it refers to.
                (Some(_), Some(_)) => return None,
            }
        } else {
            let digits =
                self.remaining.len() - self.remaining.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, remaining) = self.remaining.split_at_checked(digits)?;
            match number.parse() {
                Ok(group) if (1..=self.groups).contains(&group) && !number.starts_with('0') => {
                    (group, remaining)
                }
                _ => return Some(None),
            }
        };
        self.remaining = remaining;
        Some(Some(Node::Back { group, source: self.source_since(start) }))
    }

    /// Parses the rest of a class, after `[`.
    fn parse_class(&mut self) -> Option<Set> {
        let negated = self.skip("^");
        let mut members = Vec::new();
        while !self.skip("]") {
            let first = self.parse_member()?;
            let mut lookahead = self.remaining.chars();
            if lookahead.next() != Some('-') || matches!(lookahead.next(), Some(']') | None) {
                members.push(first);
                continue;
            }
            self.skip("-");
            match (first, self.parse_member()?) {
                (Member::Char(from, start), Member::Char(to, end)) => {
                    members.push(Member::Range((from, start), (to, end)));
                }
                // A range cannot end with a class: the dash is a member.
                (first, last) => {
                    members.extend([first, Member::Char('-'.into(), "-".to_owned()), last]);
                }
            }
        }
        Some(Set { is_class: true, negated, members })
    }

    fn parse_member(&mut self) -> Option<Member> {
        let start = self.remaining;
        Some(match self.next()? {
            '\\' if self.skip("b") => Member::Char(8, r"\b".to_owned()),
            '\\' => self.parse_escape(start)?,
            other => Member::Char(other.into(), other.to_string()),
        })
    }

    /// Parses the rest of an escape, after the backslash.
    fn parse_escape(&mut self, start: &'p str) -> Option<Member> {
        let letter = self.next()?;
        let code = match letter {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => return Some(Member::Letter(letter)),
            'p' | 'P' => match self.parse_property(start) {
                Some(property) => return Some(property),
                None => letter.into(),
            },
            'f' => 0x0C,
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'v' => 0x0B,
            'c' => match self.remaining.bytes().next().filter(u8::is_ascii_alphabetic) {
                Some(control) => {
                    self.next();
                    u32::from(control % 32)
                }
                None => {
                    // The backslash is an ordinary character, and so is the next character.
                    self.remaining = start.get(1..)?;
                    u32::from('\\')
                }
            },
            'x' => self.parse_hex(2).unwrap_or(letter.into()),
            'u' => self.parse_unicode_escape().unwrap_or(letter.into()),
            '0'..='7' => self.parse_octal(letter),
            other => other.into(),
        };
        Some(Member::Char(code, self.source_since(start)))
    }

    fn parse_property(&mut self, start: &'p str) -> Option<Member> {
        let end = self.remaining.strip_prefix('{')?.find('}')? + 2;
        let (_, remaining) = self.remaining.split_at_checked(end)?;
        let source = start.get(..start.len() - remaining.len())?;
        regress::Regex::with_flags(source, "u").ok()?;
        self.remaining = remaining;
        Some(Member::Property(source.to_owned()))
    }

    /// Parses this many hexadecimal digits, if they follow.
    fn parse_hex(&mut self, digits: usize) -> Option<u32> {
        let (number, remaining) = self.remaining.split_at_checked(digits)?;
        let code = number.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(number)?;
        self.remaining = remaining;
        u32::from_str_radix(code, 16).ok()
    }

    /// Parses the rest of `\u`: four digits, optionally with the other half of a surrogate pair, or digits in braces.
    fn parse_unicode_escape(&mut self) -> Option<u32> {
        if let Some((digits, remaining)) =
            self.remaining.strip_prefix('{').and_then(|remaining| remaining.split_once('}'))
        {
            let code = u32::from_str_radix(digits, 16).ok().filter(|code| *code <= 0x10_FFFF)?;
            self.remaining = remaining;
            return Some(code);
        }
        let high = self.parse_hex(4)?;
        let after = self.remaining;
        if (0xD800..0xDC00).contains(&high) && self.skip(r"\u") {
            match self.parse_hex(4) {
                Some(low) if (0xDC00..0xE000).contains(&low) => {
                    return Some(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
                }
                _ => self.remaining = after,
            }
        }
        Some(high)
    }

    /// Parses a legacy octal escape: up to three digits, at most 255.
    fn parse_octal(&mut self, first: char) -> u32 {
        let mut code = first.to_digit(8).unwrap_or_default();
        for _ in 0..2 {
            let next = self.remaining.chars().next().and_then(|next| next.to_digit(8));
            let Some(longer) = next.map(|digit| code * 8 + digit).filter(|code| *code < 256) else { break };
            code = longer;
            self.next();
        }
        code
    }

    fn next(&mut self) -> Option<char> {
        let mut remaining = self.remaining.chars();
        let next = remaining.next()?;
        self.remaining = remaining.as_str();
        Some(next)
    }

    fn skip(&mut self, start: &str) -> bool {
        let remaining = self.remaining.strip_prefix(start);
        self.remaining = remaining.unwrap_or(self.remaining);
        remaining.is_some()
    }

    /// Returns the source between an earlier position and the current one.
    fn source_since(&self, start: &str) -> String {
        start.get(..start.len() - self.remaining.len()).unwrap_or_default().to_owned()
    }
}

/// Returns the names of the capturing groups, in order; empty for unnamed ones.
fn group_names(pattern: &str) -> Vec<&str> {
    let (mut names, mut in_class, mut escaped) = (Vec::new(), false, false);
    for (at, byte) in pattern.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'(' if !in_class => {
                let remaining = pattern.get(at + 1..).unwrap_or_default();
                match remaining.strip_prefix("?<").filter(|remaining| !remaining.starts_with(['=', '!'])) {
                    Some(remaining) => names.extend(remaining.split('>').next()),
                    None if remaining.starts_with('?') => {}
                    None => names.push(""),
                }
            }
            _ => {}
        }
    }
    names
}

/// Returns the numbers in `{1}`, `{1,}` or `{1,2}`, and the length.
fn repeat_counts(text: &str) -> Option<(u32, Option<u32>, usize)> {
    let (inner, _) = text.strip_prefix('{')?.split_once('}')?;
    let (min, max) = match inner.split_once(',') {
        None => (inner, Some(inner)),
        Some((min, "")) => (min, None),
        Some((min, max)) => (min, Some(max)),
    };
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().unwrap_or(u32::MAX))
    };
    let max = match max {
        Some(max) => Some(number(max)?),
        None => None,
    };
    Some((number(min)?, max, inner.len() + 2))
}
