//! Compiles patterns to programs.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::{Chars, Step};
use crate::schema::shape::pattern::syntax::{Node, Set};

/// Maximum number of steps of a program; larger patterns are not matched.
const MAX_PROGRAM_STEPS: usize = 1 << 15;

/// Compiles a program.
pub(super) struct Writer {
    steps: Vec<Step>,
    sets: Vec<Chars>,
    /// The compiled sets, by their addresses: all rounds of a repetition share them.
    known: BTreeMap<Vec<usize>, usize>,
    /// Whether group matches are stored.
    remembers: bool,
    /// Whether the string is consumed forwards.
    ahead: bool,
}

impl Writer {
    /// Creates a writer. `remembers`: whether group matches are stored.
    pub(super) fn new(remembers: bool) -> Writer {
        Writer { steps: Vec::new(), sets: Vec::new(), known: BTreeMap::new(), remembers, ahead: true }
    }

    /// Returns the steps of a pattern and their sets. `None` if there are too many.
    pub(super) fn write(mut self, root: &Node) -> Option<(Vec<Step>, Vec<Chars>)> {
        self.node(root)?;
        self.push(Step::Done)?;
        Some((self.steps, self.sets))
    }

    fn push(&mut self, step: Step) -> Option<usize> {
        if self.steps.len() >= MAX_PROGRAM_STEPS {
            return None;
        }
        self.steps.push(step);
        Some(self.steps.len() - 1)
    }

    fn node(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Set(set) => self.take(&[set], 1, 1)?,
            Node::At(place) => drop(self.push(Step::At(*place))?),
            Node::Sequence(nodes) if self.ahead => nodes.iter().try_for_each(|node| self.node(node))?,
            Node::Sequence(nodes) => nodes.iter().rev().try_for_each(|node| self.node(node))?,
            Node::Choice(nodes) => match sets(node).filter(|_| !self.remembers) {
                Some(sets) => self.take(&sets, 1, 1)?,
                None => self.choice(nodes)?,
            },
            Node::Repeat { node, least, most: max, .. } => self.repeat(node, *least, *max)?,
            Node::Group { node, capture: Some(capture) } if self.remembers => {
                let slot = 2 * (capture.index - 1);
                self.push(Step::Save(slot))?;
                self.node(node)?;
                self.push(Step::Save(slot + 1))?;
            }
            Node::Group { node, .. } => self.node(node)?,
            Node::Look { node, ahead, wanted } => {
                let look = self.push(Step::Look { wanted: *wanted, next: 0 })?;
                let outer = std::mem::replace(&mut self.ahead, *ahead);
                self.node(node)?;
                self.ahead = outer;
                self.push(Step::Done)?;
                self.steps[look] = Step::Look { wanted: *wanted, next: self.steps.len() };
            }
            Node::Back { group, .. } => drop(self.push(Step::Back(*group - 1))?),
        }
        Some(())
    }

    fn take(&mut self, sets: &[&Set], least: u32, max: u32) -> Option<()> {
        let addresses = sets.iter().map(|set| std::ptr::from_ref(*set).addr()).collect();
        let set = *self.known.entry(addresses).or_insert_with(|| {
            self.sets.push(Chars::of(sets));
            self.sets.len() - 1
        });
        self.push(Step::Take { set, least, most: max, ahead: self.ahead }).map(drop)
    }

    fn choice(&mut self, nodes: &[Node]) -> Option<()> {
        let mut ends = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.node(node)?;
            } else {
                let split = self.push(Step::Split(0, 0))?;
                self.node(node)?;
                ends.push(self.push(Step::Jump(0))?);
                self.steps[split] = Step::Split(split + 1, self.steps.len());
            }
        }
        ends.into_iter().for_each(|end| self.steps[end] = Step::Jump(self.steps.len()));
        Some(())
    }

    fn repeat(&mut self, node: &Node, least: u32, max: Option<u32>) -> Option<()> {
        let single = if self.remembers { None } else { sets(node) };
        if let (Some(sets), Some(max)) = (&single, max) {
            return self.take(sets, least, max);
        }
        if let (Some(sets), true) = (&single, least > 1) {
            self.take(sets, least, least)?;
        } else {
            for _ in 0..least {
                let before = self.steps.len();
                self.round(node)?;
                // A repetition of nothing would never end.
                if self.steps.len() == before {
                    break;
                }
            }
        }
        let Some(max) = max else {
            let split = self.push(Step::Split(0, 0))?;
            self.round(node)?;
            self.push(Step::Jump(split))?;
            self.steps[split] = Step::Split(split + 1, self.steps.len());
            return Some(());
        };
        let mut splits = Vec::new();
        for _ in least..max {
            splits.push(self.push(Step::Split(0, 0))?);
            self.round(node)?;
        }
        splits.into_iter().for_each(|split| self.steps[split] = Step::Split(split + 1, self.steps.len()));
        Some(())
    }

    /// Writes one round of a repetition. It first clears what the groups inside matched.
    fn round(&mut self, node: &Node) -> Option<()> {
        if self.remembers {
            let groups = RefCell::new(None::<(usize, usize)>);
            node.has(&|part| {
                if let Node::Group { capture: Some(capture), .. } = part {
                    let mut known = groups.borrow_mut();
                    let (from, to) = known.unwrap_or((capture.index - 1, capture.index));
                    *known = Some((from.min(capture.index - 1), to.max(capture.index)));
                }
                false
            });
            if let Some((from, to)) = groups.into_inner() {
                self.push(Step::Forget(from, to))?;
            }
        }
        self.node(node)
    }
}

/// Returns the sets of a node that consumes exactly one character.
fn sets(node: &Node) -> Option<Vec<&Set>> {
    match node {
        Node::Set(set) => Some(vec![set]),
        Node::Choice(nodes) => Some(nodes.iter().map(sets).collect::<Option<Vec<_>>>()?.concat()),
        Node::Sequence(nodes) => match nodes.as_slice() {
            [node] => sets(node),
            _ => None,
        },
        Node::Group { node, .. } => sets(node),
        Node::At(_) | Node::Repeat { .. } | Node::Look { .. } | Node::Back { .. } => None,
    }
}
