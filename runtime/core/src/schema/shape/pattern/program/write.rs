//! Compiles patterns to programs.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::{Chars, Step};
use crate::schema::shape::pattern::syntax::{Node, Set};

/// Maximum number of steps of a program; larger patterns are not matched.
const MAX_PROGRAM_STEPS: usize = 1 << 15;

/// Compiles a program.
pub(super) struct Compiler {
    steps: Vec<Step>,
    sets: Vec<Chars>,
    /// The compiled sets, by their addresses: all rounds of a repetition share them.
    set_indices: BTreeMap<Vec<usize>, usize>,
    /// Whether group matches are stored.
    stores_groups: bool,
    /// Whether the string is consumed forwards.
    forwards: bool,
}

impl Compiler {
    /// Creates a writer. `stores_groups`: whether group matches are stored.
    pub(super) fn new(stores_groups: bool) -> Compiler {
        Compiler {
            steps: Vec::new(),
            sets: Vec::new(),
            set_indices: BTreeMap::new(),
            stores_groups,
            forwards: true,
        }
    }

    /// Returns the steps of a pattern and their sets. `None` if there are too many.
    pub(super) fn write(mut self, root: &Node) -> Option<(Vec<Step>, Vec<Chars>)> {
        self.write_node(root)?;
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

    fn write_node(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Set(set) => self.write_take(&[set], 1, 1)?,
            Node::At(anchor) => drop(self.push(Step::At(*anchor))?),
            Node::Sequence(nodes) if self.forwards => {
                nodes.iter().try_for_each(|node| self.write_node(node))?;
            }
            Node::Sequence(nodes) => nodes.iter().rev().try_for_each(|node| self.write_node(node))?,
            Node::Choice(nodes) => match single_char_sets(node).filter(|_| !self.stores_groups) {
                Some(sets) => self.write_take(&sets, 1, 1)?,
                None => self.write_choice(nodes)?,
            },
            Node::Repeat { node, min, max, .. } => self.write_repeat(node, *min, *max)?,
            Node::Group { node, capture: Some(capture) } if self.stores_groups => {
                let slot = 2 * (capture.index - 1);
                self.push(Step::Save(slot))?;
                self.write_node(node)?;
                self.push(Step::Save(slot + 1))?;
            }
            Node::Group { node, .. } => self.write_node(node)?,
            Node::Look { node, ahead, must_match } => {
                let look = self.push(Step::Look { must_match: *must_match, next: 0 })?;
                let previous = std::mem::replace(&mut self.forwards, *ahead);
                self.write_node(node)?;
                self.forwards = previous;
                self.push(Step::Done)?;
                self.steps[look] = Step::Look { must_match: *must_match, next: self.steps.len() };
            }
            Node::Back { group, .. } => drop(self.push(Step::Back(*group - 1))?),
        }
        Some(())
    }

    fn write_take(&mut self, sets: &[&Set], min: u32, max: u32) -> Option<()> {
        let addresses = sets.iter().map(|set| std::ptr::from_ref(*set).addr()).collect();
        let set = *self.set_indices.entry(addresses).or_insert_with(|| {
            self.sets.push(Chars::of(sets));
            self.sets.len() - 1
        });
        self.push(Step::Take { set, min, max, forwards: self.forwards }).map(drop)
    }

    fn write_choice(&mut self, nodes: &[Node]) -> Option<()> {
        let mut ends = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            if index + 1 == nodes.len() {
                self.write_node(node)?;
            } else {
                let split = self.push(Step::Split(0, 0))?;
                self.write_node(node)?;
                ends.push(self.push(Step::Jump(0))?);
                self.steps[split] = Step::Split(split + 1, self.steps.len());
            }
        }
        ends.into_iter().for_each(|end| self.steps[end] = Step::Jump(self.steps.len()));
        Some(())
    }

    fn write_repeat(&mut self, node: &Node, min: u32, max: Option<u32>) -> Option<()> {
        let char_sets = if self.stores_groups { None } else { single_char_sets(node) };
        if let (Some(sets), Some(max)) = (&char_sets, max) {
            return self.write_take(sets, min, max);
        }
        if let (Some(sets), true) = (&char_sets, min > 1) {
            self.write_take(sets, min, min)?;
        } else {
            for _ in 0..min {
                let before = self.steps.len();
                self.write_round(node)?;
                // A repetition of nothing would never end.
                if self.steps.len() == before {
                    break;
                }
            }
        }
        let Some(max) = max else {
            let split = self.push(Step::Split(0, 0))?;
            self.write_round(node)?;
            self.push(Step::Jump(split))?;
            self.steps[split] = Step::Split(split + 1, self.steps.len());
            return Some(());
        };
        let mut splits = Vec::new();
        for _ in min..max {
            splits.push(self.push(Step::Split(0, 0))?);
            self.write_round(node)?;
        }
        splits.into_iter().for_each(|split| self.steps[split] = Step::Split(split + 1, self.steps.len()));
        Some(())
    }

    /// Writes one round of a repetition, which first clears the matches of the groups inside.
    fn write_round(&mut self, node: &Node) -> Option<()> {
        if self.stores_groups {
            let groups = RefCell::new(None::<(usize, usize)>);
            node.any(&|part| {
                if let Node::Group { capture: Some(capture), .. } = part {
                    let mut range = groups.borrow_mut();
                    let (from, to) = range.unwrap_or((capture.index - 1, capture.index));
                    *range = Some((from.min(capture.index - 1), to.max(capture.index)));
                }
                false
            });
            if let Some((from, to)) = groups.into_inner() {
                self.push(Step::Forget(from, to))?;
            }
        }
        self.write_node(node)
    }
}

/// Returns the sets of a node that consumes exactly one character.
fn single_char_sets(node: &Node) -> Option<Vec<&Set>> {
    match node {
        Node::Set(set) => Some(vec![set]),
        Node::Choice(nodes) => Some(nodes.iter().map(single_char_sets).collect::<Option<Vec<_>>>()?.concat()),
        Node::Sequence(nodes) => match nodes.as_slice() {
            [node] => single_char_sets(node),
            _ => None,
        },
        Node::Group { node, .. } => single_char_sets(node),
        Node::At(_) | Node::Repeat { .. } | Node::Look { .. } | Node::Back { .. } => None,
    }
}
