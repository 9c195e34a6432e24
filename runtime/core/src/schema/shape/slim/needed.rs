//! The parts of a text that say how a value is written: whether it is needed, its default, its values, its format,
//! its unit.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::base::truncate::{cut_at_sentence, sentences};

/// Words of sentences that say what a value may be, sorted.
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

/// Pairs of words that say so, too, sorted.
const PAIRS: &[(&str, &str)] = &[
    ("at", "least"),
    ("at", "most"),
    ("comma", "delimited"),
    ("comma", "separated"),
    ("one", "of"),
    ("possible", "values"),
    ("supported", "values"),
    ("up", "to"),
    ("valid", "values"),
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

/// Whether a sentence says how a value is written.
fn is_needed(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut before = "";
    words.any(|word| {
        let measures = matches!(before, "in" | "of") || before.ends_with(|c: char| c.is_ascii_digit());
        let needed = WORDS.binary_search(&word).is_ok()
            || PAIRS.binary_search(&(before, word)).is_ok()
            || measures && UNITS.contains(&word);
        before = word;
        needed
    })
}

/// Whether a line belongs to the one before it, such as one of a list.
fn is_item(line: &str) -> bool {
    line.trim_start().starts_with(['-', '*', '+', '|', '•']) || line.trim().is_empty()
}

/// Where each piece of a text ends, and whether it is needed.
type Ends = Rc<[(usize, bool)]>;

/// The most bytes of texts that are remembered.
const REMEMBERED: usize = 8 << 20;

/// Texts that were split, and how many bytes they have.
#[derive(Default)]
struct Split {
    known: HashMap<Box<str>, Ends>,
    bytes: usize,
}

thread_local! {
    /// The same few texts are split again for each length that is tried of each tool.
    static SPLIT: RefCell<Split> = RefCell::default();
}

fn ends(text: &str) -> Ends {
    SPLIT.with_borrow_mut(|split| {
        if let Some(known) = split.known.get(text) {
            return Rc::clone(known);
        }
        if split.bytes + text.len() > REMEMBERED {
            *split = Split::default();
        }
        split.bytes += text.len();
        let (mut lists, mut end) = (false, 0);
        let ends = sentences(text).into_iter().map(|piece| {
            let is_item = lists && is_item(piece);
            let needed = is_item || is_needed(piece);
            // The values come below the words that announce them.
            lists = is_item || needed && piece.trim_end().ends_with([':', '|']);
            end += piece.len();
            (end, needed)
        });
        let ends: Ends = ends.collect();
        split.known.insert(text.into(), Rc::clone(&ends));
        ends
    })
}

/// The pieces of a text, and whether each is needed.
fn pieces(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let (ends, mut start) = (ends(text), 0);
    (0..ends.len()).map(move |index| {
        let (end, needed) = ends[index];
        let piece = text.get(start..end).unwrap_or_default();
        start = end;
        (piece, needed)
    })
}

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
            if kept.is_empty() && !gap && room > 0 {
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
            (10, "How … In seconds, at most 60. …\nDefaults to `5`. …"),
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
    fn words_are_searched_in_their_order() {
        assert!(WORDS.is_sorted() && PAIRS.is_sorted());
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
