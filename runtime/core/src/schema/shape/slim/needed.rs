//! The parts of a text that say how a value is written: whether it is needed, its default, its values, its format,
//! its unit.

use std::borrow::Cow;

use super::sheet::written;
use crate::base::truncate::{cut_at_sentence, sentences};

/// A sentence with one of these words says what a value may be.
const WORDS: &[&str] = &[
    "allowed",
    "base64",
    "between",
    "cannot",
    "default",
    "defaults",
    "format",
    "formatted",
    "iso",
    "iso8601",
    "limit",
    "mandatory",
    "max",
    "maximum",
    "min",
    "minimum",
    "must",
    "pattern",
    "permitted",
    "required",
    "rfc",
    "rfc3339",
    "timezone",
    "unix",
    "utc",
];

/// A sentence with two of these words, one after the other, says so.
const PAIRS: &[(&str, &str)] = &[
    ("at", "least"),
    ("at", "most"),
    ("comma", "delimited"),
    ("comma", "separated"),
    ("one", "of"),
    ("possible", "values"),
    ("supported", "values"),
    ("valid", "values"),
    ("up", "to"),
];

/// Units, which a number or a word such as `in` comes before.
const UNITS: &[&str] = &[
    "bytes",
    "cents",
    "characters",
    "days",
    "hours",
    "kb",
    "mb",
    "meters",
    "metres",
    "milliseconds",
    "minutes",
    "ms",
    "percent",
    "pixels",
    "seconds",
];

/// By the first letter of a word: its lengths, as bits, if it may be one that says something. Few words are.
const LENGTHS: [u16; 26] = {
    let mut lengths = [0; 26];
    let mut at = 0;
    while at < WORDS.len() + PAIRS.len() + UNITS.len() {
        let word = if at < WORDS.len() {
            WORDS[at]
        } else if at < WORDS.len() + PAIRS.len() {
            PAIRS[at - WORDS.len()].1
        } else {
            UNITS[at - WORDS.len() - PAIRS.len()]
        };
        lengths[(word.as_bytes()[0] - b'a') as usize] |= 1 << word.len();
        at += 1;
    }
    lengths
};

/// Whether a sentence says how a value is written.
fn is_needed(sentence: &str) -> bool {
    if sentence.is_ascii() {
        any_tells(sentence.as_bytes().split(|byte| !byte.is_ascii_alphanumeric()))
    } else {
        any_tells(sentence.split(|c: char| !c.is_alphanumeric()).map(str::as_bytes))
    }
}

/// Whether a word tells how a value is written, with the one before it.
fn any_tells<'t>(mut words: impl Iterator<Item = &'t [u8]>) -> bool {
    let mut before: &[u8] = &[];
    words.any(|word| {
        let Some(first) = word.first() else { return false };
        let letter = usize::from(first.to_ascii_lowercase().wrapping_sub(b'a'));
        let lengths = LENGTHS.get(letter).copied().unwrap_or_default();
        let may_tell = word.len() < 16 && lengths & (1 << word.len()) != 0;
        let tells = may_tell && tells(before, word);
        before = word;
        tells
    })
}

fn tells(before: &[u8], word: &[u8]) -> bool {
    let is = |word: &[u8], known: &str| word.eq_ignore_ascii_case(known.as_bytes());
    let measures = || is(before, "in") || is(before, "of") || before.last().is_some_and(u8::is_ascii_digit);
    WORDS.iter().any(|known| is(word, known))
        || PAIRS.iter().any(|(first, second)| is(word, second) && is(before, first))
        || UNITS.iter().any(|known| is(word, known)) && measures()
}

/// Whether a line belongs to the one before it, such as one of a list.
fn is_item(line: &str) -> bool {
    line.trim_start().starts_with(['-', '*', '+', '|', '•']) || line.trim().is_empty()
}

/// A piece of a text, and whether it is needed.
fn pieces(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut lists = false;
    sentences(text).into_iter().map(move |piece| {
        let is_item = lists && is_item(piece);
        let needed = is_item || is_needed(piece);
        // The values come below the words that announce them.
        lists = is_item || needed && piece.trim_end().ends_with([':', '|']);
        (piece, needed)
    })
}

/// A part of a sentence that is shorter tells nothing.
const LEAST: usize = 20;

/// Returns the sentences that are needed, and of the others this many characters from the beginning. `…` stands for
/// what is left out after other text.
pub(super) fn needed(text: &str, others: usize) -> Cow<'_, str> {
    let (mut kept, mut room, mut gap, mut is_new_line) = (String::new(), others, false, false);
    for (piece, needed) in pieces(text) {
        let length = piece.chars().count();
        if piece.trim().is_empty() {
            kept.push_str(if gap { "" } else { piece });
            is_new_line |= piece.contains('\n');
        } else if needed || length <= room {
            if gap && !kept.is_empty() {
                kept.truncate(kept.trim_end().len());
                kept.push_str(if is_new_line { " …\n" } else { " … " });
            }
            kept.push_str(if gap { piece.trim_start() } else { piece });
            gap = false;
            room -= if needed { 0 } else { length };
        } else {
            // The first sentence may be a long one.
            if kept.is_empty() && !gap && room >= LEAST {
                let cut = cut_at_sentence(piece.trim_end(), room);
                kept.push_str(cut.trim_end_matches('…').trim_end());
            }
            is_new_line = gap && is_new_line || piece.contains('\n');
            (gap, room) = (true, 0);
        }
    }
    if gap && !kept.is_empty() {
        kept.truncate(kept.trim_end().len());
        kept.push_str(" …");
    }
    if kept.len() < text.len() { Cow::Owned(kept) } else { Cow::Borrowed(text) }
}

/// The sizes of the pieces of a text: what is kept of it is known without making it.
#[derive(Debug)]
pub(super) struct Pieces {
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    /// Its bytes in JSON.
    bytes: usize,
    characters: usize,
    needed: bool,
    blank: bool,
}

/// What stands for what is left out, with the spaces around it, in bytes.
const GAP: usize = 6;

impl Pieces {
    pub(super) fn of(text: &str) -> Pieces {
        let piece = |(piece, needed): (&str, bool)| Piece {
            bytes: written(piece),
            characters: piece.chars().count(),
            needed,
            blank: piece.trim().is_empty(),
        };
        Pieces { pieces: pieces(text).map(piece).collect() }
    }

    /// Returns the bytes of what [`needed`] keeps, or few more.
    pub(super) fn kept(&self, others: usize) -> usize {
        let (mut kept, mut room, mut gap) = (0, others, false);
        for Piece { bytes, characters, needed, blank } in &self.pieces {
            if *blank {
                kept += if gap { 0 } else { *bytes };
            } else if *needed || *characters <= room {
                kept += bytes + if gap && kept > 0 { GAP } else { 0 };
                gap = false;
                room -= if *needed { 0 } else { *characters };
            } else {
                // The first sentence may be a long one.
                kept += if kept == 0 && !gap && room >= LEAST { room * bytes / characters } else { 0 };
                (gap, room) = (true, 0);
            }
        }
        kept + if gap && kept > 0 { GAP } else { 0 }
    }
}

/// Returns the sentences of a text that are needed and missing in what is kept of it.
pub(super) fn missing<'a>(text: &'a str, kept: &str) -> Vec<&'a str> {
    let told = pieces(text).filter(|(_, needed)| *needed).map(|(piece, _)| piece.trim());
    told.filter(|piece| !piece.is_empty() && !kept.contains(*piece)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_value_may_be_is_kept_longest() {
        let text = "How long to wait. Others wait, too. In seconds, at most 60. A wait is free.\nDefaults to `5`. Bye.";
        let kept = [
            (0, "In seconds, at most 60. …\nDefaults to `5`. …"),
            (10, "In seconds, at most 60. …\nDefaults to `5`. …"),
            (20, "How long to wait. … In seconds, at most 60. …\nDefaults to `5`. …"),
            (40, "How long to wait. Others wait, too. In seconds, at most 60. …\nDefaults to `5`. …"),
        ];
        for (others, kept) in kept {
            assert_eq!(needed(text, others), kept);
        }
        assert_eq!(needed(text, 400), text);
        assert_eq!(needed("The name of the pet.", 0), "");
        assert_eq!(missing(text, "How long to wait. …"), ["In seconds, at most 60.", "Defaults to `5`."]);
    }

    #[test]
    fn values_stand_below_the_words_that_announce_them() {
        let text =
            "The order. As you like.\n\nPossible values:\n- `asc`: up\n- `desc`: down\n\nSee the guide.";
        assert_eq!(needed(text, 12), "The order. …\nPossible values:\n- `asc`: up\n- `desc`: down …");
    }

    #[test]
    fn the_more_room_the_more_is_kept() {
        let text = "One and two. Three must be four. Five or six, e.g. seven. Eight is 9 seconds.\n\n- Ten\n- Eleven";
        let kept: Vec<usize> = (0..120).map(|others| needed(text, others).len()).collect();
        assert!(kept.is_sorted(), "{kept:?}");
    }

    #[test]
    fn the_size_of_what_is_kept_is_known_without_making_it() {
        let text = "One and two.\tThree \"must\" be four. Five or six, e.g. seven. Eight is 9 seconds.\n\n- Ten\n- Eleven";
        let pieces = Pieces::of(text);
        for others in 0..120 {
            let (kept, known) = (written(&needed(text, others)), pieces.kept(others));
            assert!((kept..=kept + 24).contains(&known), "{others}: {kept}, {known}");
        }
    }

    #[test]
    fn units_need_a_word_before_them() {
        for told in
            ["In milliseconds.", "A part of 10 bytes", "Up to five", "Must be new", "Comma-separated ids"]
        {
            assert!(is_needed(told), "{told}");
        }
        for told in ["The bytes of a file.", "Days of the week.", "All of it.", "Formally a name"] {
            assert!(!is_needed(told), "{told}");
        }
    }
}
