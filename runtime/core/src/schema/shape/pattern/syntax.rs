//! The syntax of patterns: ECMA-262, with what its annex B tolerates.
//!
//! Whether a text is a pattern is decided by its engine; here its parts are told apart, to try it on texts and to
//! write it for other engines.

mod read;

/// The depth to which groups are read.
const MAX_GROUP_DEPTH: usize = 100;

/// A pattern, read.
#[derive(Debug)]
pub(crate) struct Syntax {
    /// Its outermost part.
    pub(crate) root: Node,
    /// How many groups capture what they match.
    pub(crate) groups: usize,
}

/// A part of a pattern.
#[derive(Debug)]
pub(crate) enum Node {
    /// One character of a set.
    Set(Set),
    /// A place, which takes no character.
    At(Anchor),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat {
        node: Box<Node>,
        least: u32,
        /// `None` if there is no limit.
        most: Option<u32>,
        /// How it is written: `*`, `{2,3}?`.
        source: String,
    },
    Group {
        node: Box<Node>,
        /// What it captures; `None` for `(?:`.
        capture: Option<Capture>,
    },
    /// What stands before or after the place, and is not part of the match.
    Look {
        node: Box<Node>,
        ahead: bool,
        wanted: bool,
    },
    /// The text that a group matched.
    Back {
        group: usize,
        source: String,
    },
}

/// A group that captures.
#[derive(Debug)]
pub(crate) struct Capture {
    /// Its number, from 1.
    pub(crate) index: usize,
    /// Its name, if it has one.
    pub(crate) name: Option<String>,
}

/// A place in a text that a pattern can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    End,
    Boundary(bool),
}

impl Syntax {
    /// Reads a pattern that its engine takes. `None` for forms that are not known here, such as modes.
    pub(crate) fn of(pattern: &str) -> Option<Syntax> {
        read::read(pattern)
    }

    /// Whether some part is like this.
    pub(crate) fn has(&self, is: &dyn Fn(&Node) -> bool) -> bool {
        self.root.has(is)
    }
}

impl Node {
    /// Whether it or a part of it is like this.
    pub(crate) fn has(&self, is: &dyn Fn(&Node) -> bool) -> bool {
        is(self)
            || match self {
                Node::Set(_) | Node::At(_) | Node::Back { .. } => false,
                Node::Sequence(nodes) | Node::Choice(nodes) => nodes.iter().any(|node| node.has(is)),
                Node::Repeat { node, .. } | Node::Group { node, .. } | Node::Look { node, .. } => {
                    node.has(is)
                }
            }
    }
}

/// A set of characters, as it is written.
#[derive(Debug)]
pub(crate) struct Set {
    /// Whether it stands in brackets.
    pub(crate) is_class: bool,
    /// Whether it is of all characters but these.
    pub(crate) negated: bool,
    pub(crate) members: Vec<Member>,
}

/// A part of a set. Characters are code points, which may be halves of a pair.
#[derive(Clone, Debug)]
pub(crate) enum Member {
    /// A character and how it is written.
    Char(u32, String),
    /// All characters between two.
    Range((u32, String), (u32, String)),
    /// A class with a letter: `\d`, or `.`, which is no member of brackets.
    Letter(char),
    /// A property of Unicode and how it is written: `\p{L}`.
    Property(String),
}

impl Set {
    /// A set of its own, outside of brackets.
    fn of(member: Member) -> Set {
        Set { is_class: false, negated: false, members: vec![member] }
    }
}

/// The digits, the characters of words, and white space.
const DIGITS: &[(u32, u32)] = &[(0x30, 0x39)];
const WORD: &[(u32, u32)] = &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
const SPACE: &[(u32, u32)] = &[
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];
/// The ends of lines, which `.` is not.
const LINE_ENDS: &[(u32, u32)] = &[(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)];

impl Member {
    /// Whether a character is this. `has` says what has a property.
    pub(crate) fn takes(&self, code: u32, has: &dyn Fn(&str) -> bool) -> bool {
        let within = |ranges: &[(u32, u32)]| ranges.iter().any(|(from, to)| (*from..=*to).contains(&code));
        match self {
            Member::Char(own, _) => *own == code,
            Member::Range((from, _), (to, _)) => (*from..=*to).contains(&code),
            Member::Letter('d') => within(DIGITS),
            Member::Letter('D') => !within(DIGITS),
            Member::Letter('w') => within(WORD),
            Member::Letter('W') => !within(WORD),
            Member::Letter('s') => within(SPACE),
            Member::Letter('S') => !within(SPACE),
            Member::Letter(_) => !within(LINE_ENDS),
            Member::Property(name) => has(name),
        }
    }
}
