//! Tries patterns on long texts, in time that grows only with the text.
//!
//! The engine of ECMA-262 backtracks. Most patterns need nothing that requires that: without references and
//! look-around, all ways to match can be followed at once (Thompson's construction). Only the structure is read here;
//! which characters a class or an escape means is still asked of that engine, one character at a time.

mod read;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::BTreeMap;

use read::Reader;

/// The largest program; patterns that need a larger one are not tried like this.
const MOST: usize = 2_000;

/// A pattern as a program, without references and look-around.
pub(super) struct Linear {
    program: Vec<Step>,
    atoms: Vec<Atom>,
}

#[derive(Clone, Copy)]
enum Step {
    /// Takes a character that fits an atom.
    Take(usize),
    /// Goes on at both places.
    Split(usize, usize),
    Jump(usize),
    At(Place),
    Done,
}

/// A place in a text that a pattern can name.
#[derive(Clone, Copy)]
enum Place {
    Start,
    End,
    Boundary(bool),
}

/// A class of characters, and which ones are known to be in it.
struct Atom {
    regex: regress::Regex,
    known: RefCell<BTreeMap<char, bool>>,
    ascii: [bool; 128],
}

/// A part of a pattern.
enum Node {
    Atom(usize),
    At(Place),
    Sequence(Vec<Node>),
    Choice(Vec<Node>),
    Repeat(Box<Node>, usize, Option<usize>),
}

impl Linear {
    /// Reads a pattern that the engine takes, in Unicode mode or not. `None` if it needs that engine.
    pub(super) fn of(pattern: &str, flags: &str) -> Option<Linear> {
        let (node, atoms) = Reader::read(pattern, flags)?;
        let mut linear = Linear { program: Vec::new(), atoms };
        linear.emit(&node)?;
        linear.program.push(Step::Done);
        Some(linear)
    }

    /// Returns the steps that a text of this many bytes may take.
    pub(super) fn steps(&self, length: usize) -> u64 {
        (length as u64 + 1).saturating_mul(self.program.len() as u64)
    }

    /// Whether a text matches anywhere.
    pub(super) fn is_match(&self, text: &str) -> bool {
        let mut now = Threads::new(self.program.len());
        let mut next = Threads::new(self.program.len());
        let mut before = None;
        let mut rest = text.chars();
        loop {
            let after = rest.clone().next();
            // A match may begin anywhere.
            if self.follow(0, &mut now, before, after) {
                return true;
            }
            let Some(character) = rest.next() else { return false };
            next.clear();
            for at in 0..now.list.len() {
                if let Step::Take(atom) = self.program[now.list[at]]
                    && self.atoms[atom].takes(character)
                    && self.follow(now.list[at] + 1, &mut next, Some(character), rest.clone().next())
                {
                    return true;
                }
            }
            std::mem::swap(&mut now, &mut next);
            before = Some(character);
        }
    }

    /// Adds a place of the program and all that are reached from it without a character. Returns whether the end is.
    fn follow(&self, from: usize, threads: &mut Threads, before: Option<char>, after: Option<char>) -> bool {
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            if !threads.add(at) {
                continue;
            }
            match self.program[at] {
                Step::Done => return true,
                Step::Jump(to) => open.push(to),
                Step::Split(one, other) => open.extend([one, other]),
                Step::At(place) if place.is_at(before, after) => open.push(at + 1),
                Step::At(_) | Step::Take(_) => {}
            }
        }
        false
    }

    fn push(&mut self, step: Step) -> Option<usize> {
        if self.program.len() >= MOST {
            return None;
        }
        self.program.push(step);
        Some(self.program.len() - 1)
    }

    fn emit(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Atom(atom) => drop(self.push(Step::Take(*atom))?),
            Node::At(place) => drop(self.push(Step::At(*place))?),
            Node::Sequence(nodes) => nodes.iter().try_for_each(|node| self.emit(node))?,
            Node::Choice(nodes) => {
                let mut ends = Vec::new();
                for (index, node) in nodes.iter().enumerate() {
                    if index + 1 == nodes.len() {
                        self.emit(node)?;
                    } else {
                        let split = self.push(Step::Split(0, 0))?;
                        self.emit(node)?;
                        ends.push(self.push(Step::Jump(0))?);
                        self.program[split] = Step::Split(split + 1, self.program.len());
                    }
                }
                for end in ends {
                    self.program[end] = Step::Jump(self.program.len());
                }
            }
            Node::Repeat(node, least, most) => self.repeat(node, *least, *most)?,
        }
        Some(())
    }

    fn repeat(&mut self, node: &Node, least: usize, most: Option<usize>) -> Option<()> {
        for _ in 0..least {
            self.emit(node)?;
            // What is empty may be repeated without an end to the program.
            if self.program.len() >= MOST {
                return None;
            }
        }
        let Some(most) = most else {
            let split = self.push(Step::Split(0, 0))?;
            self.emit(node)?;
            self.push(Step::Jump(split))?;
            self.program[split] = Step::Split(split + 1, self.program.len());
            return Some(());
        };
        let mut splits = Vec::new();
        for _ in least..most {
            splits.push(self.push(Step::Split(0, 0))?);
            self.emit(node)?;
        }
        for split in splits {
            self.program[split] = Step::Split(split + 1, self.program.len());
        }
        Some(())
    }
}

impl Place {
    fn is_at(self, before: Option<char>, after: Option<char>) -> bool {
        let is_word = |of: Option<char>| of.is_some_and(|of| of.is_ascii_alphanumeric() || of == '_');
        match self {
            Place::Start => before.is_none(),
            Place::End => after.is_none(),
            Place::Boundary(wanted) => (is_word(before) != is_word(after)) == wanted,
        }
    }
}

impl Atom {
    /// `None` if the engine does not take it alone.
    fn of(source: &str, flags: &str) -> Option<Atom> {
        let regex = regress::Regex::with_flags(&format!("^(?:{source})$"), flags).ok()?;
        let is_it = |code: usize| {
            let code = u8::try_from(code).unwrap_or_default();
            regex.find(char::from(code).encode_utf8(&mut [0; 4])).is_some()
        };
        let ascii = std::array::from_fn(is_it);
        Some(Atom { regex, known: RefCell::default(), ascii })
    }

    fn takes(&self, character: char) -> bool {
        if let Some(known) = self.ascii.get(character as usize) {
            return *known;
        }
        let mut known = self.known.borrow_mut();
        *known
            .entry(character)
            .or_insert_with(|| self.regex.find(character.encode_utf8(&mut [0; 4])).is_some())
    }
}

/// The places of a program that are reached, each once.
struct Threads {
    list: Vec<usize>,
    is_in: Vec<bool>,
}

impl Threads {
    fn new(size: usize) -> Threads {
        Threads { list: Vec::with_capacity(size), is_in: vec![false; size] }
    }

    fn add(&mut self, at: usize) -> bool {
        let is_new = !std::mem::replace(&mut self.is_in[at], true);
        if is_new {
            self.list.push(at);
        }
        is_new
    }

    fn clear(&mut self) {
        for at in self.list.drain(..) {
            self.is_in[at] = false;
        }
    }
}
