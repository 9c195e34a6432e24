//! The characters that a step of a program takes.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::schema::shape::pattern::syntax::{Member, Set};

/// The most characters that are remembered for a set.
const MOST_KNOWN: usize = 4_096;

/// The characters of sets.
pub(super) struct Chars {
    ascii: u128,
    /// Whether each is negated, and what is in it.
    sets: Vec<(bool, Vec<Member>)>,
    /// The properties of Unicode that they name.
    properties: BTreeMap<String, regress::Regex>,
    /// What is known about other characters.
    known: RefCell<BTreeMap<char, bool>>,
}

impl Chars {
    pub(super) fn of(sets: &[&Set]) -> Chars {
        let named = sets.iter().flat_map(|set| &set.members).filter_map(|member| match member {
            Member::Property(name) => Some((name.clone(), regress::Regex::with_flags(name, "u").ok()?)),
            _ => None,
        });
        let properties = named.collect();
        let sets = sets.iter().map(|set| (set.negated, set.members.clone())).collect();
        let mut chars = Chars { ascii: 0, sets, properties, known: RefCell::default() };
        for code in 0..128_u8 {
            chars.ascii |= u128::from(chars.is_in(char::from(code))) << code;
        }
        chars
    }

    pub(super) fn takes(&self, char: char) -> bool {
        if char.is_ascii() {
            return self.ascii >> u32::from(char) & 1 == 1;
        }
        if let Some(known) = self.known.borrow().get(&char) {
            return *known;
        }
        let is_in = self.is_in(char);
        let mut known = self.known.borrow_mut();
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
