//! Reads the structure of patterns.

use super::{Atom, Node, Place};

/// The depth to which groups are read.
const DEEPEST: usize = 100;

/// The rest of a pattern to read, and the atoms so far.
pub(super) struct Reader<'p> {
    rest: &'p str,
    flags: &'p str,
    atoms: Vec<Atom>,
    /// The texts of the atoms.
    sources: Vec<&'p str>,
}

impl<'p> Reader<'p> {
    /// Returns the structure of a pattern and its atoms. `None` if the pattern needs an engine that backtracks.
    pub(super) fn read(pattern: &'p str, flags: &'p str) -> Option<(Node, Vec<Atom>)> {
        let mut reader = Reader { rest: pattern, flags, atoms: Vec::new(), sources: Vec::new() };
        let node = reader.choice(0)?;
        reader.rest.is_empty().then_some((node, reader.atoms))
    }

    fn choice(&mut self, depth: usize) -> Option<Node> {
        if depth > DEEPEST {
            return None;
        }
        let mut branches = vec![self.sequence(depth)?];
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
        if self.skip("^") {
            return Some(Node::At(Place::Start));
        }
        if self.skip("$") {
            return Some(Node::At(Place::End));
        }
        if self.rest.starts_with('(') {
            return self.group(depth);
        }
        if self.skip(r"\b") {
            return Some(Node::At(Place::Boundary(true)));
        }
        if self.skip(r"\B") {
            return Some(Node::At(Place::Boundary(false)));
        }
        let length = match self.rest.as_bytes() {
            [b'[', ..] => class_length(self.rest)?,
            [b'\\', ..] => escape_length(self.rest)?,
            [b'*' | b'+' | b'?', ..] => return None,
            _ => self.rest.chars().next()?.len_utf8(),
        };
        let (source, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        self.atom(source).map(Node::Atom)
    }

    fn group(&mut self, depth: usize) -> Option<Node> {
        self.skip("(");
        if self.skip("?") && !self.skip(":") {
            // A name. Everything else looks around or sets modes.
            if !self.skip("<") || self.rest.starts_with(['=', '!']) {
                return None;
            }
            self.rest = self.rest.split_once('>')?.1;
        }
        let inner = self.choice(depth + 1)?;
        self.skip(")").then_some(inner)
    }

    fn quantified(&mut self, node: Node) -> Option<Node> {
        let (least, most) = match self.rest.as_bytes().first() {
            Some(b'*') => (0, None),
            Some(b'+') => (1, None),
            Some(b'?') => (0, Some(1)),
            Some(b'{') => match counts(self.rest) {
                Some((least, most, length)) => {
                    self.rest = &self.rest[length..];
                    self.skip("?");
                    return Some(Node::Repeat(Box::new(node), least, most));
                }
                // Outside of Unicode mode it is a character like others.
                None => return Some(node),
            },
            _ => return Some(node),
        };
        self.rest = &self.rest[1..];
        // Whether few or many are tried first does not matter where no more is asked than whether there is a match.
        self.skip("?");
        if matches!(node, Node::At(_)) {
            return None;
        }
        Some(Node::Repeat(Box::new(node), least, most))
    }

    fn atom(&mut self, source: &'p str) -> Option<usize> {
        if let Some(known) = self.sources.iter().position(|known| *known == source) {
            return Some(known);
        }
        self.atoms.push(Atom::of(source, self.flags)?);
        self.sources.push(source);
        Some(self.atoms.len() - 1)
    }

    fn skip(&mut self, start: &str) -> bool {
        let rest = self.rest.strip_prefix(start);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

/// Returns the length of a class, with its brackets.
fn class_length(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b']' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Returns the length of an escape. `None` if it refers to a group.
fn escape_length(text: &str) -> Option<usize> {
    let rest = &text[1..];
    let first = rest.chars().next()?;
    let braces = |text: &str| text.starts_with('{').then(|| text.find('}').map(|at| at + 1)).flatten();
    Some(match first {
        '1'..='9' | 'k' => return None,
        'u' => 2 + braces(&rest[1..]).unwrap_or(4),
        'x' => 4,
        'c' => 3,
        'p' | 'P' => 2 + braces(&rest[1..])?,
        // Old octal escapes have more digits.
        '0' if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => return None,
        _ => 1 + first.len_utf8(),
    })
}

/// Returns the numbers in `{1}`, `{1,}` or `{1,2}`, and its length.
fn counts(text: &str) -> Option<(usize, Option<usize>, usize)> {
    let (inner, _) = text.strip_prefix('{')?.split_once('}')?;
    let (least, most) = match inner.split_once(',') {
        None => (inner, Some(inner)),
        Some((least, "")) => (least, None),
        Some((least, most)) => (least, Some(most)),
    };
    let number = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<usize>().ok()).flatten()
    };
    let most = match most {
        Some(most) => Some(number(most)?),
        None => None,
    };
    Some((number(least)?, most, inner.len() + 2))
}
