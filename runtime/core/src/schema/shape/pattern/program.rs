//! Tries patterns on texts.
//!
//! A pattern becomes a program, and to try it is to ask which of its places are reached at which places of the text.
//! Each pair is visited once (looking around asks the same from there), so that the work is at most the size of the
//! program times that of the text, whatever the pattern repeats. Only where a pattern refers to what a group matched
//! does more than the pair count, and what is visited may grow without end. So steps are counted while they are made:
//! a pattern that takes too many is not tried to its end, and nothing is known about the text.

use std::cell::RefCell;

use super::syntax::{Node, Place, Set, Syntax};
use chars::Chars;
use seen::{Seen, State};

mod chars;
mod seen;
#[cfg(test)]
mod tests;

/// The largest program; patterns that need a larger one are not tried.
const MOST: usize = 1 << 15;

/// How many steps a step takes that remembers what groups matched.
const REMEMBERING: u64 = 64;

/// A pattern as a program.
pub(super) struct Program {
    steps: Vec<Step>,
    sets: Vec<Chars>,
    /// How many groups are remembered: all, if the pattern refers to one.
    groups: usize,
}

#[derive(Clone, Copy)]
enum Step {
    /// Takes a character of a set, as often as this, forwards or backwards.
    Take {
        set: usize,
        least: u32,
        most: u32,
        ahead: bool,
    },
    /// Goes on at both places.
    Split(usize, usize),
    Jump(usize),
    At(Place),
    /// Goes on at a place if what follows here is reached, or not.
    Look {
        wanted: bool,
        next: usize,
    },
    /// Remembers a place of the text: the start of a group, or its end.
    Save(usize),
    /// Forgets what these groups matched.
    Forget(usize, usize),
    /// Takes what a group matched.
    Back(usize),
    Done,
}

/// What became of trying a pattern on a text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    /// Whether the text matches anywhere; `None` if that took too many steps.
    pub(super) found: Option<bool>,
    /// The steps that were made.
    pub(super) steps: u64,
}

impl Program {
    /// `None` if a pattern needs too large a program, or cannot be tried in this way.
    pub(super) fn of(syntax: &Syntax) -> Option<Program> {
        let refers = syntax.has(&|node| matches!(node, Node::Back { .. }));
        let looks = syntax.has(&|node| {
            matches!(node, Node::Look { node, .. }
                if node.has(&|part| matches!(part, Node::Back { .. } | Node::Group { capture: Some(_), .. })))
        });
        if refers && looks {
            // What a group matched while looking would have to be remembered, and in which order.
            return None;
        }
        let mut writer = Writer { steps: Vec::new(), sets: Vec::new(), remembers: refers, ahead: true };
        writer.node(&syntax.root)?;
        writer.push(Step::Done)?;
        let Writer { steps, sets, .. } = writer;
        Some(Program { steps, sets, groups: if refers { syntax.groups } else { 0 } })
    }

    /// Tries the program on a text, in at most this many steps.
    pub(super) fn try_on(&self, text: &str, most: u64) -> Trial {
        let text: Vec<char> = text.chars().collect();
        let steps = text.len() as u64;
        let Some(seen) = Seen::new(self.groups > 0, self.steps.len(), text.len() + 1) else {
            return Trial { found: None, steps };
        };
        let mut run = Run { program: self, text: &text, seen, steps, most };
        // A match may begin anywhere.
        let only_first = matches!(self.steps.first(), Some(Step::At(Place::Start)));
        let starts = if only_first { 1 } else { text.len() + 1 };
        let reached = (0..starts).try_fold(false, |reached, at| {
            if reached { Ok(true) } else { run.reaches(State::new(0, at, 2 * self.groups), None) }
        });
        Trial { found: reached.ok(), steps: run.steps }
    }
}

/// A program that is tried on a text.
struct Run<'a> {
    program: &'a Program,
    text: &'a [char],
    seen: Seen,
    steps: u64,
    most: u64,
}

/// All steps were made.
struct Spent;

impl Run<'_> {
    /// Whether the end is reached from here. What was seen on the way is added to `trail`, to be forgotten by who asks
    /// again from elsewhere: only what is in vain need not be visited twice.
    fn reaches(&mut self, from: State, mut trail: Option<&mut Vec<State>>) -> Result<bool, Spent> {
        let mut open = vec![from];
        while let Some(state) = open.pop() {
            self.steps += 1;
            if self.steps > self.most {
                return Err(Spent);
            }
            if !self.seen.add(&state) {
                continue;
            }
            if let Some(trail) = trail.as_deref_mut() {
                trail.push(state.clone());
            }
            if self.program.groups > 0 {
                self.steps += REMEMBERING;
            }
            if self.follow(state, &mut open)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes a step: adds what it leads to. Returns whether it is the end.
    fn follow(&mut self, state: State, open: &mut Vec<State>) -> Result<bool, Spent> {
        let (step, at) = (state.step, state.at);
        let next = |at: usize| State { step: step + 1, at, ..state.clone() };
        match self.program.steps.get(step) {
            None | Some(Step::Done) => return Ok(true),
            Some(&Step::Take { set, least, most, ahead }) => {
                let taken = self.run_of(set, at, most, ahead);
                self.steps += taken as u64;
                open.extend(
                    (least as usize..=taken).map(|count| next(if ahead { at + count } else { at - count })),
                );
            }
            Some(&Step::Split(one, other)) => {
                open.push(State { step: other, ..state.clone() });
                open.push(State { step: one, ..state });
            }
            Some(&Step::Jump(to)) => open.push(State { step: to, ..state }),
            Some(&Step::At(place)) => {
                if self.is_at(place, at) {
                    open.push(next(at));
                }
            }
            Some(&Step::Look { wanted, next: to }) => {
                let mut trail = Vec::new();
                let found = self.reaches(next(at), Some(&mut trail))?;
                if found {
                    trail.iter().for_each(|state| self.seen.remove(state));
                }
                if found == wanted {
                    open.push(State { step: to, ..state });
                }
            }
            Some(&Step::Save(slot)) => open.push(next(at).with(slot, Some(at))),
            Some(&Step::Forget(from, to)) => {
                open.push((2 * from..2 * to).fold(next(at), |state, slot| state.with(slot, None)));
            }
            Some(&Step::Back(group)) => {
                let matched =
                    state.matched(group).and_then(|(from, to)| self.text.get(from..to)).unwrap_or_default();
                self.steps += matched.len() as u64;
                if self.text.get(at..).is_some_and(|rest| rest.starts_with(matched)) {
                    open.push(next(at + matched.len()));
                }
            }
        }
        Ok(false)
    }

    /// Returns how many characters of a set follow, or precede, up to a limit.
    fn run_of(&self, set: usize, at: usize, most: u32, ahead: bool) -> usize {
        let Some(set) = self.program.sets.get(set) else { return 0 };
        let (before, after) = self.text.split_at(at);
        let takes = |char: &&char| set.takes(**char);
        let most = most as usize;
        if ahead {
            after.iter().take(most).take_while(takes).count()
        } else {
            before.iter().rev().take(most).take_while(takes).count()
        }
    }

    fn is_at(&self, place: Place, at: usize) -> bool {
        let is_word = |at: Option<usize>| {
            at.and_then(|at| self.text.get(at)).is_some_and(|of| of.is_ascii_alphanumeric() || *of == '_')
        };
        match place {
            Place::Start => at == 0,
            Place::End => at == self.text.len(),
            Place::Boundary(wanted) => (is_word(at.checked_sub(1)) != is_word(Some(at))) == wanted,
        }
    }
}

/// Writes a program.
struct Writer {
    steps: Vec<Step>,
    sets: Vec<Chars>,
    /// Whether what groups match is remembered.
    remembers: bool,
    /// Whether the text is taken forwards.
    ahead: bool,
}

impl Writer {
    fn push(&mut self, step: Step) -> Option<usize> {
        if self.steps.len() >= MOST {
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
            Node::Repeat { node, least, most, .. } => self.repeat(node, *least, *most)?,
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

    fn take(&mut self, sets: &[&Set], least: u32, most: u32) -> Option<()> {
        let set = self.sets.len();
        self.sets.push(Chars::of(sets));
        self.push(Step::Take { set, least, most, ahead: self.ahead }).map(drop)
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

    fn repeat(&mut self, node: &Node, least: u32, most: Option<u32>) -> Option<()> {
        let single = if self.remembers { None } else { sets(node) };
        if let (Some(sets), Some(most)) = (&single, most) {
            return self.take(sets, least, most);
        }
        if let (Some(sets), true) = (&single, least > 1) {
            self.take(sets, least, least)?;
        } else {
            for _ in 0..least {
                let before = self.steps.len();
                self.round(node)?;
                // What writes nothing may be repeated without an end to this.
                if self.steps.len() == before {
                    break;
                }
            }
        }
        let Some(most) = most else {
            let split = self.push(Step::Split(0, 0))?;
            self.round(node)?;
            self.push(Step::Jump(split))?;
            self.steps[split] = Step::Split(split + 1, self.steps.len());
            return Some(());
        };
        let mut splits = Vec::new();
        for _ in least..most {
            splits.push(self.push(Step::Split(0, 0))?);
            self.round(node)?;
        }
        splits.into_iter().for_each(|split| self.steps[split] = Step::Split(split + 1, self.steps.len()));
        Some(())
    }

    /// Writes one round of a repetition, which begins by forgetting what its groups matched.
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

/// Returns the sets that a part takes one character of, if it does no more than that.
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
