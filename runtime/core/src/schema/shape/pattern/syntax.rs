//! The syntax tree of patterns: ECMA-262, with the extensions of its annex B.
//!
//! The engine `regress` decides whether a pattern is valid. This module parses valid patterns, in order to match them
//! and to translate them for other engines.

mod read;

/// Maximum nesting of groups.
const MAX_GROUP_DEPTH: usize = 100;

/// A parsed pattern.
#[derive(Debug)]
pub(crate) struct Syntax {
    /// The root node.
    pub(crate) root: Node,
    /// The number of capturing groups.
    pub(crate) groups: usize,
}

/// A node of a pattern.
#[derive(Debug)]
pub(crate) enum Node {
    /// One character of a set.
    Set(Set),
    /// An assertion, which consumes no character.
    At(Anchor),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        /// `None` if there is no limit.
        max: Option<u32>,
        /// Its source: `*`, `{2,3}?`.
        source: String,
    },
    Group {
        node: Box<Node>,
        /// The capture; `None` for `(?:`.
        capture: Option<Capture>,
    },
    /// Lookaround: the text before or after a position, which is not part of the match.
    Look {
        node: Box<Node>,
        ahead: bool,
        must_match: bool,
    },
    /// A back reference.
    Back {
        group: usize,
        source: String,
    },
}

/// A capturing group.
#[derive(Debug)]
pub(crate) struct Capture {
    /// Its number, from 1.
    pub(crate) index: usize,
    /// Its name, if it has one.
    pub(crate) name: Option<String>,
}

/// A position in a string that a pattern can assert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    End,
    Boundary(bool),
}

impl Syntax {
    /// Parses a valid pattern. `None` for unsupported syntax, such as modifiers.
    pub(crate) fn of(pattern: &str) -> Option<Syntax> {
        read::read(pattern)
    }

    /// Whether a node satisfies a predicate.
    pub(crate) fn any(&self, predicate: &dyn Fn(&Node) -> bool) -> bool {
        self.root.any(predicate)
    }
}

impl Node {
    /// Whether the node or one of its descendants satisfies a predicate.
    pub(crate) fn any(&self, predicate: &dyn Fn(&Node) -> bool) -> bool {
        predicate(self)
            || match self {
                Node::Set(_) | Node::At(_) | Node::Back { .. } => false,
                Node::Sequence(nodes) | Node::Choice(nodes) => nodes.iter().any(|node| node.any(predicate)),
                Node::Repeat { node, .. } | Node::Group { node, .. } | Node::Look { node, .. } => {
                    node.any(predicate)
                }
            }
    }
}

/// A set of characters, as written.
#[derive(Debug)]
pub(crate) struct Set {
    /// Whether it is a class in brackets.
    pub(crate) is_class: bool,
    /// Whether it is negated.
    pub(crate) negated: bool,
    pub(crate) members: Vec<Member>,
}

/// A member of a set. Characters are code points, which may be halves of a surrogate pair.
#[derive(Clone, Debug)]
pub(crate) enum Member {
    /// A character and its source.
    Char(u32, String),
    /// A range of characters, inclusive.
    Range((u32, String), (u32, String)),
    /// A class with a letter, such as `\d`; or `.`, which cannot be in brackets.
    Letter(char),
    /// A Unicode property and its source: `\p{L}`.
    Property(String),
}

impl Set {
    /// A set of one member, without brackets.
    fn of(member: Member) -> Set {
        Set { is_class: false, negated: false, members: vec![member] }
    }
}

/// Digits, word characters, and whitespace.
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
/// Line ends, which `.` does not match.
const LINE_ENDS: &[(u32, u32)] = &[(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)];

impl Member {
    /// Whether the set contains a character. `has_property` returns whether the character has a property.
    pub(crate) fn contains(&self, code: u32, has_property: &dyn Fn(&str) -> bool) -> bool {
        let is_in = |ranges: &[(u32, u32)]| ranges.iter().any(|(from, to)| (*from..=*to).contains(&code));
        match self {
            Member::Char(char, _) => *char == code,
            Member::Range((from, _), (to, _)) => (*from..=*to).contains(&code),
            Member::Letter('d') => is_in(DIGITS),
            Member::Letter('D') => !is_in(DIGITS),
            Member::Letter('w') => is_in(WORD),
            Member::Letter('W') => !is_in(WORD),
            Member::Letter('s') => is_in(SPACE),
            Member::Letter('S') => !is_in(SPACE),
            Member::Letter(_) => !is_in(LINE_ENDS),
            Member::Property(name) => has_property(name),
        }
    }
}
