//! The syntax of patterns: ECMA-262, with what its annex B tolerates.
//!
//! Whether a text is a pattern is decided by its engine; here its parts are told apart, to try it on texts and to
//! write it for other engines.

mod read;
mod set;

pub(crate) use set::{Member, Set};

/// The depth to which groups are read.
const DEEPEST: usize = 100;

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
    At(Place),
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
pub(crate) enum Place {
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
