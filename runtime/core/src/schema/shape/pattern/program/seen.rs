//! What was visited while a pattern is tried.

use std::collections::BTreeSet;

/// The most pairs of places, of a program and a text, that are kept: 32 MiB.
const MOST_PAIRS: usize = 1 << 28;

/// A place in a program, one in the text, and what the groups matched so far, if that is remembered.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct State {
    pub(super) step: usize,
    pub(super) at: usize,
    /// The start and the end of each group.
    pub(super) slots: Vec<Option<usize>>,
}

impl State {
    pub(super) fn new(step: usize, at: usize, slots: usize) -> State {
        State { step, at, slots: vec![None; slots] }
    }

    /// Sets the place at which a group starts or ends.
    pub(super) fn with(mut self, slot: usize, at: Option<usize>) -> State {
        if let Some(known) = self.slots.get_mut(slot) {
            *known = at;
        }
        self
    }

    /// Returns where the text of a group starts and ends, if it matched.
    pub(super) fn matched(&self, group: usize) -> Option<(usize, usize)> {
        let slot = |slot: usize| self.slots.get(slot).copied().flatten();
        slot(2 * group).zip(slot(2 * group + 1))
    }
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

    /// Adds a state. Returns whether it is new.
    pub(super) fn add(&mut self, state: &State) -> bool {
        match self {
            Seen::States(states) => states.insert(state.clone()),
            Seen::Pairs { bits, places } => {
                let index = state.at * *places + state.step;
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
                let index = state.at * *places + state.step;
                if let Some(bits) = bits.get_mut(index / 64) {
                    *bits &= !(1 << (index % 64));
                }
            }
        }
    }
}
