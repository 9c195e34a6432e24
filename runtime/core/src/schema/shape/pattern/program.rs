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

use self::write::Writer;
use super::syntax::{Anchor, Member, Node, Set, Syntax};

/// Maximum number of characters that a set caches.
const MOST_KNOWN: usize = 4_096;

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

    fn takes(&self, char: char) -> bool {
        if char.is_ascii() {
            return self.ascii >> u32::from(char) & 1 == 1;
        }
        if let Some(known) = self.cache.borrow().get(&char) {
            return *known;
        }
        let is_in = self.is_in(char);
        let mut known = self.cache.borrow_mut();
        if known.len() < MOST_KNOWN {
            known.insert(char, is_in);
        }
        is_in
    }

    fn is_in(&self, char: char) -> bool {
        let has = |property: &str| {
            let regex = self.properties.get(property);
            regex.is_some_and(|regex| regex.find(char.encode_utf8(&mut [0; 4])).is_some())
        };
        let in_set = |(negated, members): &(bool, Vec<Member>)| {
            members.iter().any(|member| member.takes(char.into(), &has)) != *negated
        };
        self.sets.iter().any(in_set)
    }
}

/// Maximum number of pairs of positions in the program and the string: 32 MiB.
const MOST_PAIRS: usize = 1 << 28;

/// A position in the program, a position in the string, and what the groups matched so far, if the program needs it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    step: u32,
    at: u32,
    /// The start and the end of each group. States share them until one changes.
    slots: Rc<[Option<u32>]>,
}

impl State {
    fn new(step: usize, at: usize, slots: usize) -> State {
        State { step: place(step), at: place(at), slots: vec![None; slots].into() }
    }

    /// Returns the position in the program.
    fn step(&self) -> usize {
        self.step as usize
    }

    /// Returns the position in the string.
    fn at(&self) -> usize {
        self.at as usize
    }

    /// Returns the state at other positions.
    fn moved(&self, step: usize, at: usize) -> State {
        State { step: place(step), at: place(at), slots: Rc::clone(&self.slots) }
    }

    /// Sets the positions at which groups start and end.
    fn with(mut self, slots: Range<usize>, at: Option<usize>) -> State {
        if let Some(known) = Rc::make_mut(&mut self.slots).get_mut(slots) {
            known.fill(at.map(place));
        }
        self
    }

    /// Returns where the match of a group starts and ends, if it matched.
    fn matched(&self, group: usize) -> Option<(usize, usize)> {
        let slot = |slot: usize| self.slots.get(slot).copied().flatten().map(|at| at as usize);
        slot(2 * group).zip(slot(2 * group + 1))
    }

    /// Returns the maximum size of a state with this many slots, in bytes.
    const fn bytes(slots: usize) -> usize {
        size_of::<State>() + slots * size_of::<Option<u32>>()
    }
}

/// Converts a position to its compact form. Programs and strings are far shorter than its maximum.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// The visited states.
enum Seen {
    /// One bit for each pair of positions.
    Pairs {
        bits: Vec<u64>,
        places: usize,
    },
    States(BTreeSet<State>),
}

impl Seen {
    /// `None` if there are too many pairs.
    fn new(remembers: bool, steps: usize, places: usize) -> Option<Seen> {
        if remembers {
            return Some(Seen::States(BTreeSet::new()));
        }
        let pairs = steps.checked_mul(places).filter(|pairs| *pairs <= MOST_PAIRS)?;
        Some(Seen::Pairs { bits: vec![0; pairs.div_ceil(64)], places: steps })
    }

    /// Returns the size of the bits of all pairs, in bytes.
    fn bytes(&self) -> usize {
        match self {
            Seen::Pairs { bits, .. } => size_of_val(bits.as_slice()),
            Seen::States(_) => 0,
        }
    }

    /// Whether each added state takes memory.
    fn grows(&self) -> bool {
        matches!(self, Seen::States(_))
    }

    /// Adds a state. Returns whether it is new.
    fn add(&mut self, state: &State) -> bool {
        match self {
            Seen::States(states) => states.insert(state.clone()),
            Seen::Pairs { bits, places } => {
                let index = state.at() * *places + state.step();
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
            Seen::States(states) => drop(states.remove(state)),
            Seen::Pairs { bits, places } => {
                let index = state.at() * *places + state.step();
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

/// How many steps a step with groups counts as, and for how many groups it counts as one more.
const REMEMBERING: u64 = 64;
const GROUPS_A_STEP: u64 = 4;

/// Maximum memory of a match, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// A compiled pattern.
pub(super) struct Program {
    steps: Vec<Step>,
    sets: Vec<Chars>,
    /// The number of groups in each state: all groups if the pattern has a back reference, otherwise 0.
    groups: usize,
}

#[derive(Clone, Copy)]
enum Step {
    /// Consumes characters of a set, between `least` and `most`, forwards or backwards.
    Take {
        set: usize,
        least: u32,
        most: u32,
        ahead: bool,
    },
    /// Continues at both positions.
    Split(usize, usize),
    Jump(usize),
    At(Anchor),
    /// Lookaround: continues at `next` if the following steps match, or do not match.
    Look {
        wanted: bool,
        next: usize,
    },
    /// Stores a position in the string: the start or the end of a group.
    Save(usize),
    /// Clears what these groups matched.
    Forget(usize, usize),
    /// Consumes the same text that a group matched.
    Back(usize),
    Done,
}

/// The outcome of matching a string against a pattern.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    /// Whether the string matches anywhere; `None` if the match took too many steps or too much memory.
    pub(super) found: Option<bool>,
    /// The number of steps.
    pub(super) steps: u64,
    /// The maximum memory in use, in bytes.
    #[cfg_attr(not(test), expect(dead_code, reason = "tests measure it"))]
    pub(super) bytes: usize,
}

impl Program {
    /// Compiles a pattern. `None` if the program would be too large, or if this algorithm cannot match it.
    pub(super) fn of(syntax: &Syntax) -> Option<Program> {
        let refers = syntax.has(&|node| matches!(node, Node::Back { .. }));
        let looks = syntax.has(&|node| {
            matches!(node, Node::Look { node, .. }
                if node.has(&|part| matches!(part, Node::Back { .. } | Node::Group { capture: Some(_), .. })))
        });
        if refers && looks {
            // Groups inside lookaround would have to be stored in the order of the matches.
            return None;
        }
        let (steps, sets) = Writer::new(refers).write(&syntax.root)?;
        Some(Program { steps, sets, groups: if refers { syntax.groups } else { 0 } })
    }

    /// Returns the number of steps.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Matches the program against a string, in at most this many steps.
    pub(super) fn try_on(&self, text: &str, max: u64) -> Trial {
        let steps = text.chars().count() as u64;
        let unknown = Trial { found: None, steps, bytes: 0 };
        if steps > max {
            return unknown;
        }
        let text: Vec<char> = text.chars().collect();
        let Some(seen) = Seen::new(self.groups > 0, self.steps.len(), text.len() + 1) else { return unknown };
        let held = seen.bytes() + size_of_val(text.as_slice());
        let mut run = Run { program: self, text: &text, seen, steps, most: max, held, peak: held };
        // A match may start anywhere.
        let only_first = matches!(self.steps.first(), Some(Step::At(Anchor::Start)));
        let starts = if only_first { 1 } else { text.len() + 1 };
        let reached = (0..starts).try_fold(false, |reached, at| {
            if reached { Ok(true) } else { run.reaches(State::new(0, at, 2 * self.groups), None) }
        });
        Trial { found: reached.ok(), steps: run.steps, bytes: run.peak }
    }
}

/// A running match.
struct Run<'a> {
    program: &'a Program,
    text: &'a [char],
    seen: Seen,
    steps: u64,
    most: u64,
    /// The memory in use and its maximum, in bytes.
    held: usize,
    peak: usize,
}

/// The limit of steps or of memory is reached.
struct Spent;

impl Run<'_> {
    /// Whether the end is reachable from a state. The visited states are added to `trail`, so that the caller can
    /// forget them before it searches again from elsewhere: only states that failed need no second visit.
    fn reaches(&mut self, from: State, mut trail: Option<&mut Vec<State>>) -> Result<bool, Spent> {
        let mut open = vec![from];
        self.hold(1)?;
        while let Some(state) = open.pop() {
            self.release(1);
            self.steps += 1;
            if self.steps > self.most {
                return Err(Spent);
            }
            if !self.seen.add(&state) {
                continue;
            }
            self.hold(usize::from(self.seen.grows()))?;
            if let Some(trail) = trail.as_deref_mut() {
                self.hold(1)?;
                trail.push(state.clone());
            }
            if self.program.groups > 0 {
                self.steps += REMEMBERING + self.program.groups as u64 / GROUPS_A_STEP;
            }
            let before = open.len();
            let is_end = self.follow(&state, &mut open)?;
            self.hold(open.len() - before)?;
            if is_end {
                self.release(open.len());
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Counts the memory of states as used.
    fn hold(&mut self, states: usize) -> Result<(), Spent> {
        self.held += states * State::bytes(2 * self.program.groups);
        self.peak = self.peak.max(self.held);
        if self.held > MOST_BYTES { Err(Spent) } else { Ok(()) }
    }

    /// Counts the memory of states as free.
    fn release(&mut self, states: usize) {
        self.held = self.held.saturating_sub(states * State::bytes(2 * self.program.groups));
    }

    /// Executes a step and adds the states that follow. Returns whether it is the end.
    fn follow(&mut self, state: &State, open: &mut Vec<State>) -> Result<bool, Spent> {
        let (step, at) = (state.step(), state.at());
        let next = |at: usize| state.moved(step + 1, at);
        match self.program.steps.get(step) {
            None | Some(Step::Done) => return Ok(true),
            Some(&Step::Take { set, least, most: max, ahead }) => {
                let taken = self.run_of(set, at, max, ahead);
                self.steps += taken as u64;
                open.extend(
                    (least as usize..=taken).map(|count| next(if ahead { at + count } else { at - count })),
                );
            }
            Some(&Step::Split(one, other)) => open.extend([state.moved(other, at), state.moved(one, at)]),
            Some(&Step::Jump(to)) => open.push(state.moved(to, at)),
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
                    self.release(trail.len() * usize::from(self.seen.grows()));
                }
                self.release(trail.len());
                if found == wanted {
                    open.push(state.moved(to, at));
                }
            }
            Some(&Step::Save(slot)) => open.push(next(at).with(slot..slot + 1, Some(at))),
            Some(&Step::Forget(from, to)) => open.push(next(at).with(2 * from..2 * to, None)),
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

    /// Returns how many characters of a set follow (or precede), up to a limit.
    fn run_of(&self, set: usize, at: usize, max: u32, ahead: bool) -> usize {
        let Some(set) = self.program.sets.get(set) else { return 0 };
        let (before, after) = self.text.split_at(at);
        let takes = |char: &&char| set.takes(**char);
        let max = max as usize;
        if ahead {
            after.iter().take(max).take_while(takes).count()
        } else {
            before.iter().rev().take(max).take_while(takes).count()
        }
    }

    fn is_at(&self, place: Anchor, at: usize) -> bool {
        let is_word = |at: Option<usize>| {
            at.and_then(|at| self.text.get(at)).is_some_and(|of| of.is_ascii_alphanumeric() || *of == '_')
        };
        match place {
            Anchor::Start => at == 0,
            Anchor::End => at == self.text.len(),
            Anchor::Boundary(wanted) => (is_word(at.checked_sub(1)) != is_word(Some(at))) == wanted,
        }
    }
}
