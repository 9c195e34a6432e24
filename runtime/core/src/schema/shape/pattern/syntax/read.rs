//! The parser of patterns.

use super::{Anchor, Capture, MAX_GROUP_DEPTH, Member, Node, Set, Syntax};

/// Parses a pattern.
pub(super) fn read(pattern: &str) -> Option<Syntax> {
    let names = names(pattern);
    let mut reader = Reader { rest: pattern, seen: 0, groups: names.len(), names };
    let root = reader.choice(0)?;
    reader.rest.is_empty().then_some(Syntax { root, groups: reader.groups })
}

struct Reader<'p> {
    rest: &'p str,
    /// The number of capturing groups that have started.
    seen: usize,
    groups: usize,
    /// The names of all capturing groups, in order; empty for unnamed ones.
    names: Vec<&'p str>,
}

impl<'p> Reader<'p> {
    fn choice(&mut self, depth: usize) -> Option<Node> {
        if depth > MAX_GROUP_DEPTH {
            return None;
        }
        let first = self.sequence(depth)?;
        if !self.rest.starts_with('|') {
            return Some(first);
        }
        let mut branches = vec![first];
        while self.skip("|") {
            branches.push(self.sequence(depth)?);
        }
        Some(Node::Choice(branches))
    }

    fn sequence(&mut self, depth: usize) -> Option<Node> {
        let mut nodes = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with(['|', ')']) {
            let node = self.part(depth)?;
            nodes.push(self.quantified(node)?);
        }
        Some(Node::Sequence(nodes))
    }

    fn part(&mut self, depth: usize) -> Option<Node> {
        let whole = self.rest;
        Some(match self.next()? {
            '^' => Node::At(Anchor::Start),
            '$' => Node::At(Anchor::End),
            '.' => Node::Set(Set::of(Member::Letter('.'))),
            '(' => return self.group(depth),
            '[' => Node::Set(self.class()?),
            '*' | '+' | '?' => return None,
            '\\' if self.skip("b") => Node::At(Anchor::Boundary(true)),
            '\\' if self.skip("B") => Node::At(Anchor::Boundary(false)),
            '\\' => match self.reference(whole)? {
                Some(back) => back,
                None => Node::Set(Set::of(self.escape(whole)?)),
            },
            other => Node::Set(Set::of(Member::Char(other.into(), other.to_string()))),
        })
    }

    /// Parses the rest of a group, after `(`.
    fn group(&mut self, depth: usize) -> Option<Node> {
        let looks = [("?=", true, true), ("?!", true, false), ("?<=", false, true), ("?<!", false, false)];
        let look = looks.into_iter().find(|(start, ..)| self.skip(start));
        let capture = if look.is_some() || self.skip("?:") {
            None
        } else {
            let name = if self.skip("?<") {
                let (name, rest) = self.rest.split_once('>')?;
                self.rest = rest;
                (!name.contains('\\')).then(|| Some(name.to_owned()))?
            } else if self.rest.starts_with('?') {
                return None;
            } else {
                None
            };
            self.seen += 1;
            Some(Capture { index: self.seen, name })
        };
        let node = Box::new(self.choice(depth + 1)?);
        if !self.skip(")") {
            return None;
        }
        Some(match look {
            Some((_, ahead, wanted)) => Node::Look { node, ahead, wanted },
            None => Node::Group { node, capture },
        })
    }

    fn quantified(&mut self, node: Node) -> Option<Node> {
        let whole = self.rest;
        let (least, max, length) = match self.rest.as_bytes().first() {
            Some(b'*') => (0, None, 1),
            Some(b'+') => (1, None, 1),
            Some(b'?') => (0, Some(1), 1),
            Some(b'{') => match counts(self.rest) {
                Some(counts) => counts,
                // Without Unicode mode, it is an ordinary character.
                None => return Some(node),
            },
            _ => return Some(node),
        };
        self.rest = self.rest.get(length..)?;
        // Greedy or lazy makes no difference to whether a match exists.
        self.skip("?");
        let source = self.since(whole);
        Some(Node::Repeat { node: Box::new(node), least, most: max, source })
    }

    /// Parses the rest of `\1` or `\k<name>`, after the backslash, if it is a back reference.
    fn reference(&mut self, whole: &'p str) -> Option<Option<Node>> {
        let (group, rest) = if let Some(rest) = self.rest.strip_prefix("k<") {
            let (name, rest) = rest.split_once('>')?;
            let mut is_named = self.names.iter().enumerate().filter(|(_, known)| **known == name);
            match (is_named.next(), is_named.next()) {
                (Some((at, _)), None) => (at + 1, rest),
                (None, _) => return Some(None),
                // If several groups have the name, the branch decides which one is meant.
                (Some(_), Some(_)) => return None,
            }
        } else {
            let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let (number, rest) = self.rest.split_at_checked(digits)?;
            match number.parse() {
                Ok(group) if (1..=self.groups).contains(&group) && !number.starts_with('0') => (group, rest),
                _ => return Some(None),
            }
        };
        self.rest = rest;
        Some(Some(Node::Back { group, source: self.since(whole) }))
    }

    /// Parses the rest of a class, after `[`.
    fn class(&mut self) -> Option<Set> {
        let negated = self.skip("^");
        let mut members = Vec::new();
        while !self.skip("]") {
            let first = self.member()?;
            let mut ahead = self.rest.chars();
            if ahead.next() != Some('-') || matches!(ahead.next(), Some(']') | None) {
                members.push(first);
                continue;
            }
            self.skip("-");
            match (first, self.member()?) {
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

    fn member(&mut self) -> Option<Member> {
        let whole = self.rest;
        Some(match self.next()? {
            '\\' if self.skip("b") => Member::Char(8, r"\b".to_owned()),
            '\\' => self.escape(whole)?,
            other => Member::Char(other.into(), other.to_string()),
        })
    }

    /// Parses the rest of an escape, after the backslash.
    fn escape(&mut self, whole: &'p str) -> Option<Member> {
        let letter = self.next()?;
        let code = match letter {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => return Some(Member::Letter(letter)),
            'p' | 'P' => match self.property(whole) {
                Some(property) => return Some(property),
                None => letter.into(),
            },
            'f' => 0x0C,
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'v' => 0x0B,
            'c' => match self.rest.bytes().next().filter(u8::is_ascii_alphabetic) {
                Some(control) => {
                    self.next();
                    u32::from(control % 32)
                }
                None => {
                    // The backslash is an ordinary character, and so is the one after it.
                    self.rest = whole.get(1..)?;
                    u32::from('\\')
                }
            },
            'x' => self.hexadecimal(2).unwrap_or(letter.into()),
            'u' => self.unicode().unwrap_or(letter.into()),
            '0'..='7' => self.octal(letter),
            other => other.into(),
        };
        Some(Member::Char(code, self.since(whole)))
    }

    fn property(&mut self, whole: &'p str) -> Option<Member> {
        let end = self.rest.strip_prefix('{')?.find('}')? + 2;
        let (_, rest) = self.rest.split_at_checked(end)?;
        let source = whole.get(..whole.len() - rest.len())?;
        regress::Regex::with_flags(source, "u").ok()?;
        self.rest = rest;
        Some(Member::Property(source.to_owned()))
    }

    /// Parses this many hexadecimal digits, if they follow.
    fn hexadecimal(&mut self, digits: usize) -> Option<u32> {
        let (number, rest) = self.rest.split_at_checked(digits)?;
        let code = number.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(number)?;
        self.rest = rest;
        u32::from_str_radix(code, 16).ok()
    }

    /// Parses the rest of `\u`: four digits, optionally with the other half of a surrogate pair, or digits in braces.
    fn unicode(&mut self) -> Option<u32> {
        if let Some((digits, rest)) = self.rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            let code = u32::from_str_radix(digits, 16).ok().filter(|code| *code <= 0x10_FFFF)?;
            self.rest = rest;
            return Some(code);
        }
        let high = self.hexadecimal(4)?;
        let after = self.rest;
        if (0xD800..0xDC00).contains(&high) && self.skip(r"\u") {
            match self.hexadecimal(4) {
                Some(low) if (0xDC00..0xE000).contains(&low) => {
                    return Some(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
                }
                _ => self.rest = after,
            }
        }
        Some(high)
    }

    /// Parses a legacy octal escape: up to three digits, at most 255.
    fn octal(&mut self, first: char) -> u32 {
        let mut code = first.to_digit(8).unwrap_or_default();
        for _ in 0..2 {
            let next = self.rest.chars().next().and_then(|next| next.to_digit(8));
            let Some(longer) = next.map(|digit| code * 8 + digit).filter(|code| *code < 256) else { break };
            code = longer;
            self.next();
        }
        code
    }

    fn next(&mut self) -> Option<char> {
        let mut rest = self.rest.chars();
        let next = rest.next()?;
        self.rest = rest.as_str();
        Some(next)
    }

    fn skip(&mut self, start: &str) -> bool {
        let rest = self.rest.strip_prefix(start);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Returns the source between an earlier position and the current one.
    fn since(&self, whole: &str) -> String {
        whole.get(..whole.len() - self.rest.len()).unwrap_or_default().to_owned()
    }
}

/// Returns the names of the capturing groups, in order; empty for unnamed ones.
fn names(pattern: &str) -> Vec<&str> {
    let (mut names, mut in_class, mut escaped) = (Vec::new(), false, false);
    for (at, byte) in pattern.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'(' if !in_class => {
                let rest = pattern.get(at + 1..).unwrap_or_default();
                match rest.strip_prefix("?<").filter(|rest| !rest.starts_with(['=', '!'])) {
                    Some(rest) => names.extend(rest.split('>').next()),
                    None if rest.starts_with('?') => {}
                    None => names.push(""),
                }
            }
            _ => {}
        }
    }
    names
}

/// Returns the numbers in `{1}`, `{1,}` or `{1,2}`, and the length.
fn counts(text: &str) -> Option<(u32, Option<u32>, usize)> {
    let (inner, _) = text.strip_prefix('{')?.split_once('}')?;
    let (least, most) = match inner.split_once(',') {
        None => (inner, Some(inner)),
        Some((least, "")) => (least, None),
        Some((least, most)) => (least, Some(most)),
    };
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse().unwrap_or(u32::MAX))
    };
    let max = match most {
        Some(most) => Some(number(most)?),
        None => None,
    };
    Some((number(least)?, max, inner.len() + 2))
}
