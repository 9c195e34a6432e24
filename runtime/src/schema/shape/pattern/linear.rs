//! Tries patterns on long texts, in time that grows with the text alone.
//!
//! The engine of ECMA-262 backtracks. Most patterns need none of what makes that necessary: without references and
//! look-around, all ways to match can be followed at once (Thompson's construction). Only the structure is read here; which
//! characters a class or an escape means is still asked of that engine, one character at a time.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// The largest program; patterns that need a larger one are not tried like this.
const MOST: usize = 2_000;
/// The depth to which groups are read.
const DEEPEST: usize = 100;

/// A pattern as a program, without references and look-around.
pub(super) struct Linear {
    program: Vec<Step>,
    atoms: Vec<Atom>,
}

#[derive(Clone, Copy)]
enum Step {
    /// Takes a character that fits an atom.
    Take(usize),
    /// Goes on at both places.
    Split(usize, usize),
    Jump(usize),
    At(Place),
    Done,
}

/// A place in a text that a pattern can name.
#[derive(Clone, Copy)]
enum Place {
    Start,
    End,
    Boundary(bool),
}

/// What one character can be, and which ones are known to be it.
struct Atom {
    regex: regress::Regex,
    known: RefCell<BTreeMap<char, bool>>,
    ascii: [bool; 128],
}

/// A part of a pattern.
enum Node {
    Atom(usize),
    At(Place),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat(Box<Node>, usize, Option<usize>),
}

impl Linear {
    /// Reads a pattern that the engine takes, in Unicode mode or not. `None` if it needs that engine.
    pub(super) fn of(pattern: &str, flags: &str) -> Option<Linear> {
        let mut reader = Reader { rest: pattern, flags, atoms: Vec::new(), sources: Vec::new() };
        let node = reader.choice(0)?;
        if !reader.rest.is_empty() {
            return None;
        }
        let mut linear = Linear { program: Vec::new(), atoms: reader.atoms };
        linear.emit(&node)?;
        linear.program.push(Step::Done);
        Some(linear)
    }

    /// Returns the steps that a text of so many bytes may take.
    pub(super) fn steps(&self, length: usize) -> u64 {
        (length as u64 + 1).saturating_mul(self.program.len() as u64)
    }

    /// Whether a text matches anywhere.
    pub(super) fn is_match(&self, text: &str) -> bool {
        let mut now = Threads::new(self.program.len());
        let mut next = Threads::new(self.program.len());
        let mut before = None;
        let mut rest = text.chars();
        loop {
            let after = rest.clone().next();
            // A match may begin anywhere.
            if self.follow(0, &mut now, before, after) {
                return true;
            }
            let Some(character) = rest.next() else { return false };
            next.clear();
            for at in 0..now.list.len() {
                if let Step::Take(atom) = self.program[now.list[at]]
                    && self.atoms[atom].takes(character)
                    && self.follow(now.list[at] + 1, &mut next, Some(character), rest.clone().next())
                {
                    return true;
                }
            }
            std::mem::swap(&mut now, &mut next);
            before = Some(character);
        }
    }

    /// Adds a place of the program and all that are reached from it without a character. Returns whether the end is.
    fn follow(&self, from: usize, threads: &mut Threads, before: Option<char>, after: Option<char>) -> bool {
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if !threads.add(at) {
                continue;
            }
            match self.program[at] {
                Step::Done => return true,
                Step::Jump(to) => open.push(to),
                Step::Split(one, other) => open.extend([one, other]),
                Step::At(place) if place.is_at(before, after) => open.push(at + 1),
                Step::At(_) | Step::Take(_) => {}
            }
        }
        false
    }

    fn push(&mut self, step: Step) -> Option<usize> {
        if self.program.len() >= MOST {
            return None;
        }
        self.program.push(step);
        Some(self.program.len() - 1)
    }

    fn emit(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Atom(atom) => drop(self.push(Step::Take(*atom))?),
            Node::At(place) => drop(self.push(Step::At(*place))?),
            Node::Sequence(nodes) => nodes.iter().try_for_each(|node| self.emit(node))?,
            Node::Choice(nodes) => {
                let mut ends = Vec::new();
                for (index, node) in nodes.iter().enumerate() {
                    if index + 1 == nodes.len() {
                        self.emit(node)?;
                    } else {
                        let split = self.push(Step::Split(0, 0))?;
                        self.emit(node)?;
                        ends.push(self.push(Step::Jump(0))?);
                        self.program[split] = Step::Split(split + 1, self.program.len());
                    }
                }
                for end in ends {
                    self.program[end] = Step::Jump(self.program.len());
                }
            }
            Node::Repeat(node, least, most) => self.repeat(node, *least, *most)?,
        }
        Some(())
    }

    fn repeat(&mut self, node: &Node, least: usize, most: Option<usize>) -> Option<()> {
        for _ in 0..least {
            self.emit(node)?;
            // What is empty may be repeated without an end to the program.
            if self.program.len() >= MOST {
                return None;
            }
        }
        let Some(most) = most else {
            let split = self.push(Step::Split(0, 0))?;
            self.emit(node)?;
            self.push(Step::Jump(split))?;
            self.program[split] = Step::Split(split + 1, self.program.len());
            return Some(());
        };
        let mut splits = Vec::new();
        for _ in least..most {
            splits.push(self.push(Step::Split(0, 0))?);
            self.emit(node)?;
        }
        for split in splits {
            self.program[split] = Step::Split(split + 1, self.program.len());
        }
        Some(())
    }
}

impl Place {
    fn is_at(self, before: Option<char>, after: Option<char>) -> bool {
        let is_word = |of: Option<char>| of.is_some_and(|of| of.is_ascii_alphanumeric() || of == '_');
        match self {
            Place::Start => before.is_none(),
            Place::End => after.is_none(),
            Place::Boundary(wanted) => (is_word(before) != is_word(after)) == wanted,
        }
    }
}

impl Atom {
    /// `None` if the engine does not take it alone.
    fn of(source: &str, flags: &str) -> Option<Atom> {
        let regex = regress::Regex::with_flags(&format!("^(?:{source})$"), flags).ok()?;
        let is_it = |code: usize| {
            let code = u8::try_from(code).unwrap_or_default();
            regex.find(char::from(code).encode_utf8(&mut [0; 4])).is_some()
        };
        let ascii = std::array::from_fn(is_it);
        Some(Atom { regex, known: RefCell::default(), ascii })
    }

    fn takes(&self, character: char) -> bool {
        if let Some(known) = self.ascii.get(character as usize) {
            return *known;
        }
        let mut known = self.known.borrow_mut();
        *known
            .entry(character)
            .or_insert_with(|| self.regex.find(character.encode_utf8(&mut [0; 4])).is_some())
    }
}

/// The places of a program that are reached, each once.
struct Threads {
    list: Vec<usize>,
    is_in: Vec<bool>,
}

impl Threads {
    fn new(size: usize) -> Threads {
        Threads { list: Vec::with_capacity(size), is_in: vec![false; size] }
    }

    fn add(&mut self, at: usize) -> bool {
        let is_new = !std::mem::replace(&mut self.is_in[at], true);
        if is_new {
            self.list.push(at);
        }
        is_new
    }

    fn clear(&mut self) {
        for at in self.list.drain(..) {
            self.is_in[at] = false;
        }
    }
}

struct Reader<'p> {
    rest: &'p str,
    flags: &'p str,
    atoms: Vec<Atom>,
    /// The texts of the atoms.
    sources: Vec<&'p str>,
}

impl<'p> Reader<'p> {
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

/// Returns the length of an escape. `None`: it refers to a group.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What the engine says of a pattern in the mode in which it takes it.
    fn both(pattern: &str, text: &str) -> Option<(bool, bool)> {
        for flags in ["u", ""] {
            if let Ok(regex) = regress::Regex::with_flags(pattern, flags) {
                let linear = Linear::of(pattern, flags)?;
                return Some((linear.is_match(text), regex.find(text).is_some()));
            }
        }
        None
    }

    #[test]
    fn patterns_in_use_are_followed_as_the_engine_does() {
        let patterns = [
            "^[a-z0-9_-]+$",
            r"^https://([a-z]+\.)*corp\.example/",
            "^(a+)+$",
            r".*\S.*",
            r"[\s\S]*",
            r"^[\p{L}\p{N} ]{1,20}$",
            r"\bfoo\b",
            r"^(?:0|[1-9]\d{0,3})(\.\d+)?$",
            r"^\u0041\x42\/[^/\]]*$",
            "^(?<year>[0-9]{4})-(0[1-9]|1[0-2])$",
            "a{2}b{1,}c{0,2}?$",
            "x{,2}",
            "^$",
            "(|a)b",
            r"^.\d\D\w\W$",
            "[^]",
            "日本+",
        ];
        let texts = [
            "",
            "a",
            "aaab",
            "foo bar",
            "foobar",
            "https://corp.example/x",
            "https://a.b.corp.example/",
            "https://evil/",
            "0.5",
            "1999.25",
            "0123",
            "AB/x]",
            "AB/x",
            "2024-12",
            "2024-13",
            "aabcc",
            "x{,2}",
            "日本本",
            "Größe 7",
            "b",
            "\u{2028}",
            " \n",
            "é1x_-",
        ];
        for pattern in patterns {
            for text in texts {
                let Some((linear, engine)) = both(pattern, text) else {
                    assert!(["[^]"].contains(&pattern), "{pattern} is read");
                    continue;
                };
                assert_eq!(linear, engine, "{pattern} on {text:?}");
            }
        }
        for needs_the_engine in [r"(a)\1", "a(?=b)", "(?<!a)b", r"(?<n>a)\k<n>"] {
            assert!(Linear::of(needs_the_engine, "u").is_none(), "{needs_the_engine}");
        }
    }

    #[test]
    fn hostile_texts_take_time_by_their_length() {
        for pattern in ["^(a+)+$", "^(a|aa)*$", "(.*)*x", "^(a?){30}(a?){30}b$", "a*a*a*a*a*a*a*b"] {
            let linear = Linear::of(pattern, "u").unwrap();
            let text = "a".repeat(20_000) + "!";
            assert!(!linear.is_match(&text), "{pattern}");
        }
        assert!(Linear::of("(((a{9}){9}){9}){9}", "u").is_none(), "it is too large");
    }

    /// Patterns of all that is read here.
    fn pattern() -> impl Strategy<Value = String> {
        let atom = prop::sample::select(vec![
            "a", "b", ".", "[ab]", "[^a]", r"\w", r"\s", r"\b", r"\B", "^", "$", "é", r"\u0061", r"[\d-]", "",
        ]);
        atom.prop_map(str::to_owned).prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
                prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("({})", parts.join("|"))),
                (inner, prop::sample::select(vec!["*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"]))
                    .prop_map(|(part, times)| format!("(?:{part}){times}")),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_says_what_the_engine_says(pattern in pattern(), text in "[ab é\\n1-]{0,6}") {
            if let Some((linear, engine)) = both(&pattern, &text) {
                prop_assert_eq!(linear, engine, "{} on {:?}", pattern, text);
            }
        }
    }
}
