//! What was visited while a pattern is tried.

use std::collections::BTreeSet;
use std::ops::Range;
use std::rc::Rc;

/// The most pairs of places, of a program and a text, that are kept: 32 MiB.
const MOST_PAIRS: usize = 1 << 28;

/// A place in a program, one in the text, and what the groups matched so far, if that is remembered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct State {
    step: u32,
    at: u32,
    /// The start and the end of each group. States share them until one changes.
    slots: Rc<[Option<u32>]>,
}

impl State {
    pub(super) fn new(step: usize, at: usize, slots: usize) -> State {
        State { step: place(step), at: place(at), slots: vec![None; slots].into() }
    }

    /// Returns its place in the program.
    pub(super) fn step(&self) -> usize {
        self.step as usize
    }

    /// Returns its place in the text.
    pub(super) fn at(&self) -> usize {
        self.at as usize
    }

    /// Returns the state at other places.
    pub(super) fn moved(&self, step: usize, at: usize) -> State {
        State { step: place(step), at: place(at), slots: Rc::clone(&self.slots) }
    }

    /// Sets the places at which groups start and end.
    pub(super) fn with(mut self, slots: Range<usize>, at: Option<usize>) -> State {
        if let Some(known) = Rc::make_mut(&mut self.slots).get_mut(slots) {
            known.fill(at.map(place));
        }
        self
    }

    /// Returns where the text of a group starts and ends, if it matched.
    pub(super) fn matched(&self, group: usize) -> Option<(usize, usize)> {
        let slot = |slot: usize| self.slots.get(slot).copied().flatten().map(|at| at as usize);
        slot(2 * group).zip(slot(2 * group + 1))
    }

    /// Returns the most bytes that a state of so many slots takes.
    pub(super) const fn bytes(slots: usize) -> usize {
        size_of::<State>() + slots * size_of::<Option<u32>>()
    }
}

/// A place as it is kept. Programs and the texts that are tried are far shorter.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// What was visited.
pub(super) enum Seen {
    /// A bit for each pair of places.
    Pairs {
        bits: Vec<u64>,
        places: usize,
    },
    States(BTreeSet<State>),
}

impl Seen {
    /// `None` if there are too many pairs.
    pub(super) fn new(remembers: bool, steps: usize, places: usize) -> Option<Seen> {
        if remembers {
            return Some(Seen::States(BTreeSet::new()));
        }
        let pairs = steps.checked_mul(places).filter(|pairs| *pairs <= MOST_PAIRS)?;
        Some(Seen::Pairs { bits: vec![0; pairs.div_ceil(64)], places: steps })
    }

    /// Returns the bytes of all pairs.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Seen::Pairs { bits, .. } => size_of_val(bits.as_slice()),
            Seen::States(_) => 0,
        }
    }

    /// Whether each state that is added takes bytes.
    pub(super) fn grows(&self) -> bool {
        matches!(self, Seen::States(_))
    }

    /// Adds a state. Returns whether it is new.
    pub(super) fn add(&mut self, state: &State) -> bool {
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
    pub(super) fn remove(&mut self, state: &State) {
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
