//! Matches patterns against strings.
//!
//! A pattern is compiled to a program. A match explores which program positions are reachable at which positions of
//! the string. Each pair is visited once (lookaround explores from its own position), so the work is at most the size
//! of the program times the length of the string, regardless of repetitions. With back references, a state also
//! contains what the groups matched, and the number of states is unlimited. Steps are therefore counted: a match that
//! takes too many is abandoned, and its result is unknown.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use self::write::Compiler;
use super::syntax::{Anchor, Member, Node, Set, Syntax};

/// Maximum number of characters that a set caches.
const MAX_CACHED_CHARS: usize = 4_096;

/// A compiled set of characters.
struct Chars {
    ascii: u128,
    /// For each set: whether it is negated, and its members.
    sets: Vec<(bool, Vec<Member>)>,
    /// The Unicode properties in the sets.
    properties: BTreeMap<String, regress::Regex>,
    /// Cached results for characters.
    cache: RefCell<BTreeMap<char, bool>>,
}

impl Chars {
    fn of(sets: &[&Set]) -> Chars {
        let by_name = sets.iter().flat_map(|set| &set.members).filter_map(|member| match member {
            Member::Property(name) => Some((name.clone(), regress::Regex::with_flags(name, "u").ok()?)),
            _ => None,
        });
        let properties = by_name.collect();
        let sets = sets.iter().map(|set| (set.negated, set.members.clone())).collect();
        let mut chars = Chars { ascii: 0, sets, properties, cache: RefCell::default() };
        for code in 0..128_u8 {
            chars.ascii |= u128::from(chars.is_in(char::from(code))) << code;
        }
        chars
    }

    fn contains(&self, char: char) -> bool {
        if char.is_ascii() {
            return self.ascii >> u32::from(char) & 1 == 1;
        }
        if let Some(cached) = self.cache.borrow().get(&char) {
            return *cached;
        }
        let is_in = self.is_in(char);
        let mut cache = self.cache.borrow_mut();
        if cache.len() < MAX_CACHED_CHARS {
            cache.insert(char, is_in);
        }
        is_in
    }

    fn is_in(&self, char: char) -> bool {
        let has_property = |property: &str| {
            let regex = self.properties.get(property);
            regex.is_some_and(|regex| regex.find(char.encode_utf8(&mut [0; 4])).is_some())
        };
        let in_set = |(negated, members): &(bool, Vec<Member>)| {
            members.iter().any(|member| member.contains(char.into(), &has_property)) != *negated
        };
        self.sets.iter().any(in_set)
    }
}

/// Maximum number of pairs of positions in the program and the string: 32 MiB.
const MAX_PAIRS: usize = 1 << 28;

/// A position in the program, a position in the string, and what the groups matched so far, if the program needs it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    step: u32,
    position: u32,
    /// The start and the end of each group. States share them until one changes.
    slots: Rc<[Option<u32>]>,
}

impl State {
    fn new(step: usize, position: usize, slots: usize) -> State {
        State { step: to_u32(step), position: to_u32(position), slots: vec![None; slots].into() }
    }

    /// Returns the position in the program.
    fn step(&self) -> usize {
        self.step as usize
    }

    /// Returns the position in the string.
    fn position(&self) -> usize {
        self.position as usize
    }

    /// Returns the state at other positions.
    fn moved(&self, step: usize, position: usize) -> State {
        State { step: to_u32(step), position: to_u32(position), slots: Rc::clone(&self.slots) }
    }

    /// Sets the positions at which groups start and end.
    fn with(mut self, slots: Range<usize>, position: Option<usize>) -> State {
        if let Some(slots) = Rc::make_mut(&mut self.slots).get_mut(slots) {
            slots.fill(position.map(to_u32));
        }
        self
    }

    /// Returns where the match of a group starts and ends, if it matched.
    fn matched(&self, group: usize) -> Option<(usize, usize)> {
        let slot = |slot: usize| self.slots.get(slot).copied().flatten().map(|position| position as usize);
        slot(2 * group).zip(slot(2 * group + 1))
    }

    /// Returns the maximum size of a state with this many slots, in bytes.
    const fn bytes(slots: usize) -> usize {
        size_of::<State>() + slots * size_of::<Option<u32>>()
    }
}

/// Converts a position to its compact form. Programs and strings are far shorter than its maximum.
fn to_u32(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

/// The visited states.
enum Visited {
    /// One bit for each pair of positions.
    Pairs {
        bits: Vec<u64>,
        row_length: usize,
    },
    States(BTreeSet<State>),
}

impl Visited {
    /// Creates an empty set. `None` if there are too many pairs.
    fn new(stores_groups: bool, steps: usize, positions: usize) -> Option<Visited> {
        if stores_groups {
            return Some(Visited::States(BTreeSet::new()));
        }
        let pairs = steps.checked_mul(positions).filter(|pairs| *pairs <= MAX_PAIRS)?;
        Some(Visited::Pairs { bits: vec![0; pairs.div_ceil(64)], row_length: steps })
    }

    /// Returns the size of the bits of all pairs, in bytes.
    fn bytes(&self) -> usize {
        match self {
            Visited::Pairs { bits, .. } => size_of_val(bits.as_slice()),
            Visited::States(_) => 0,
        }
    }

    /// Whether each added state allocates memory.
    fn allocates(&self) -> bool {
        matches!(self, Visited::States(_))
    }

    /// Adds a state. Returns whether it is new.
    fn add(&mut self, state: &State) -> bool {
        match self {
            Visited::States(states) => states.insert(state.clone()),
            Visited::Pairs { bits, row_length } => {
                let index = state.position() * *row_length + state.step();
                let Some(bits) = bits.get_mut(index / 64) else { return false };
                let is_new = *bits >> (index % 64) & 1 == 0;
                *bits |= 1 << (index % 64);
                is_new
            }
        }
    }

    /// Forgets a state.
    fn remove(&mut self, state: &State) {
        match self {
            Visited::States(states) => drop(states.remove(state)),
            Visited::Pairs { bits, row_length } => {
                let index = state.position() * *row_length + state.step();
                if let Some(bits) = bits.get_mut(index / 64) {
                    *bits &= !(1 << (index % 64));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
mod write;

/// The cost of a step that stores groups, in steps, and the number of groups that cost one step more.
const GROUP_STEP_COST: u64 = 64;
const GROUPS_PER_STEP: u64 = 4;

/// Maximum memory of a match, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// A compiled pattern.
pub(super) struct Program {
    steps: Vec<Step>,
    sets: Vec<Chars>,
    /// The number of groups in each state: all groups if the pattern has a back reference, otherwise 0.
    groups: usize,
}

#[derive(Clone, Copy)]
enum Step {
    /// Consumes between `min` and `max` characters of a set, forwards or backwards.
    Take {
        set: usize,
        min: u32,
        max: u32,
        forwards: bool,
    },
    /// Continues at both positions.
    Split(usize, usize),
    Jump(usize),
    At(Anchor),
    /// Lookaround: continues at `next` if the following steps match, or do not match.
    Look {
        must_match: bool,
        next: usize,
    },
    /// Stores a position in the string: the start or the end of a group.
    Save(usize),
    /// Clears the matches of these groups.
    Forget(usize, usize),
    /// Consumes the same text that a group matched.
    Back(usize),
    Done,
}

/// The outcome of matching a string against a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchOutcome {
    /// Whether the string matches anywhere; `None` if the match took too many steps or too much memory.
    pub(super) is_match: Option<bool>,
    /// The number of steps.
    pub(super) steps: u64,
    /// The maximum memory in use, in bytes.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests measure it"))]
    pub(super) bytes: usize,
}

impl Program {
    /// Compiles a pattern. `None` if the program would be too large, or if this algorithm cannot match it.
    pub(super) fn of(syntax: &Syntax) -> Option<Program> {
        let has_back_references = syntax.any(&|node| matches!(node, Node::Back { .. }));
        let has_lookaround_groups = syntax.any(&|node| {
            matches!(node, Node::Look { node, .. }
                if node.any(&|part| matches!(part, Node::Back { .. } | Node::Group { capture: Some(_), .. })))
        });
        if has_back_references && has_lookaround_groups {
            // Groups inside lookaround would have to be stored in the order of the matches.
            return None;
        }
        let (steps, sets) = Compiler::new(has_back_references).write(&syntax.root)?;
        Some(Program { steps, sets, groups: if has_back_references { syntax.groups } else { 0 } })
    }

    /// Returns the number of steps.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Matches the program against a string, in at most this many steps.
    pub(super) fn match_text(&self, text: &str, max: u64) -> MatchOutcome {
        let steps = text.chars().count() as u64;
        let unknown = MatchOutcome { is_match: None, steps, bytes: 0 };
        if steps > max {
            return unknown;
        }
        let text: Vec<char> = text.chars().collect();
        let Some(visited) = Visited::new(self.groups > 0, self.steps.len(), text.len() + 1) else {
            return unknown;
        };
        let used_bytes = visited.bytes() + size_of_val(text.as_slice());
        let mut run = Run {
            program: self,
            text: &text,
            visited,
            steps,
            max_steps: max,
            used_bytes,
            peak_bytes: used_bytes,
        };
        // A match may start anywhere.
        let only_first = matches!(self.steps.first(), Some(Step::At(Anchor::Start)));
        let start_count = if only_first { 1 } else { text.len() + 1 };
        let is_reached = (0..start_count).try_fold(false, |is_reached, position| {
            if is_reached {
                Ok(true)
            } else {
                run.reaches_end(State::new(0, position, 2 * self.groups), None)
            }
        });
        MatchOutcome { is_match: is_reached.ok(), steps: run.steps, bytes: run.peak_bytes }
    }
}

/// A running match.
struct Run<'a> {
    program: &'a Program,
    text: &'a [char],
    visited: Visited,
    steps: u64,
    max_steps: u64,
    /// The memory in use and its maximum, in bytes.
    used_bytes: usize,
    peak_bytes: usize,
}

/// The limit of steps or of memory is reached.
struct LimitReached;

impl Run<'_> {
    /// Whether the end is reachable from a state. The visited states are added to `trail`, so that the caller can
    /// forget them before it searches from another state: only states that failed need no second visit.
    fn reaches_end(&mut self, from: State, mut trail: Option<&mut Vec<State>>) -> Result<bool, LimitReached> {
        let mut pending = vec![from];
        self.reserve(1)?;
        while let Some(state) = pending.pop() {
            self.release(1);
            self.steps += 1;
            if self.steps > self.max_steps {
                return Err(LimitReached);
            }
            if !self.visited.add(&state) {
                continue;
            }
            self.reserve(usize::from(self.visited.allocates()))?;
            if let Some(trail) = trail.as_deref_mut() {
                self.reserve(1)?;
                trail.push(state.clone());
            }
            if self.program.groups > 0 {
                self.steps += GROUP_STEP_COST + self.program.groups as u64 / GROUPS_PER_STEP;
            }
            let before = pending.len();
            let is_end = self.follow(&state, &mut pending)?;
            self.reserve(pending.len() - before)?;
            if is_end {
                self.release(pending.len());
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Counts the memory of states as used.
    fn reserve(&mut self, states: usize) -> Result<(), LimitReached> {
        self.used_bytes += states * State::bytes(2 * self.program.groups);
        self.peak_bytes = self.peak_bytes.max(self.used_bytes);
        if self.used_bytes > MAX_BYTES { Err(LimitReached) } else { Ok(()) }
    }

    /// Counts the memory of states as free.
    fn release(&mut self, states: usize) {
        self.used_bytes = self.used_bytes.saturating_sub(states * State::bytes(2 * self.program.groups));
    }

    /// Executes a step and adds the states that follow. Returns whether the step is the end.
    fn follow(&mut self, state: &State, pending: &mut Vec<State>) -> Result<bool, LimitReached> {
        let (step, position) = (state.step(), state.position());
        let next = |position: usize| state.moved(step + 1, position);
        match self.program.steps.get(step) {
            None | Some(Step::Done) => return Ok(true),
            Some(&Step::Take { set, min, max, forwards }) => {
                let count = self.count_matching(set, position, max, forwards);
                self.steps += count as u64;
                pending.extend(
                    (min as usize..=count)
                        .map(|count| next(if forwards { position + count } else { position - count })),
                );
            }
            Some(&Step::Split(first, second)) => {
                pending.extend([state.moved(second, position), state.moved(first, position)]);
            }
            Some(&Step::Jump(target)) => pending.push(state.moved(target, position)),
            Some(&Step::At(anchor)) => {
                if self.anchor_matches(anchor, position) {
                    pending.push(next(position));
                }
            }
            Some(&Step::Look { must_match, next: target }) => {
                let mut trail = Vec::new();
                let is_match = self.reaches_end(next(position), Some(&mut trail))?;
                if is_match {
                    trail.iter().for_each(|state| self.visited.remove(state));
                    self.release(trail.len() * usize::from(self.visited.allocates()));
                }
                self.release(trail.len());
                if is_match == must_match {
                    pending.push(state.moved(target, position));
                }
            }
            Some(&Step::Save(slot)) => pending.push(next(position).with(slot..slot + 1, Some(position))),
            Some(&Step::Forget(from, to)) => pending.push(next(position).with(2 * from..2 * to, None)),
            Some(&Step::Back(group)) => {
                let matched =
                    state.matched(group).and_then(|(from, to)| self.text.get(from..to)).unwrap_or_default();
                self.steps += matched.len() as u64;
                if self.text.get(position..).is_some_and(|remaining| remaining.starts_with(matched)) {
                    pending.push(next(position + matched.len()));
                }
            }
        }
        Ok(false)
    }

    /// Counts the characters of a set that follow (or precede) a position, up to a limit.
    fn count_matching(&self, set: usize, position: usize, max: u32, forwards: bool) -> usize {
        let Some(set) = self.program.sets.get(set) else { return 0 };
        let (before, after) = self.text.split_at(position);
        let contains = |char: &&char| set.contains(**char);
        let max = max as usize;
        if forwards {
            after.iter().take(max).take_while(contains).count()
        } else {
            before.iter().rev().take(max).take_while(contains).count()
        }
    }

    fn anchor_matches(&self, anchor: Anchor, position: usize) -> bool {
        let is_word = |position: Option<usize>| {
            position
                .and_then(|position| self.text.get(position))
                .is_some_and(|char| char.is_ascii_alphanumeric() || *char == '_')
        };
        match anchor {
            Anchor::Start => position == 0,
            Anchor::End => position == self.text.len(),
            Anchor::Boundary(expected) => {
                (is_word(position.checked_sub(1)) != is_word(Some(position))) == expected
            }
        }
    }
}
