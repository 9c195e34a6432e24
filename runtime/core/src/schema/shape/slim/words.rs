//! Descriptions: how much of them is kept, and whether they say more than a name.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Words, needed};
use crate::base::truncate::{cut_at_sentence, first_sentence};

/// Words that say nothing about one value rather than another.
const EMPTY: &[&str] = &[
    "a",
    "an",
    "and",
    "are",
    "as",
    "be",
    "by",
    "for",
    "from",
    "given",
    "identifier",
    "in",
    "is",
    "it",
    "of",
    "on",
    "or",
    "specified",
    "that",
    "the",
    "this",
    "to",
    "unique",
    "uniquely",
    "value",
    "with",
];

impl Words {
    /// Returns what is kept of a text.
    #[must_use]
    pub fn of(self, text: &str) -> Cow<'_, str> {
        match self {
            Words::All => Cow::Borrowed(text),
            Words::Characters(limit) => cut_at_sentence(text, limit),
            Words::Sentence(limit) => {
                let text = one_line(text);
                Cow::Owned(cut_at_sentence(first_sentence(&text), limit).into_owned())
            }
            Words::Needed(others) => needed::needed(text, others),
            Words::None => Cow::Borrowed(""),
        }
    }
}

/// Returns the beginning of a text as one line: up to a blank line, a list, a table or a heading.
fn one_line(text: &str) -> String {
    let ends = |line: &&str| line.is_empty() || line.starts_with(['-', '*', '#', '|', '>', '`']);
    let mut lines = text.trim().lines().map(str::trim);
    let mut joined = lines.next().unwrap_or_default().to_owned();
    for line in lines.take_while(|line| !ends(line)) {
        joined.push(' ');
        joined.push_str(line);
    }
    joined
}

/// Returns the words of a name or a text, in lower case and without the ending of the plural.
pub(super) fn of(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    all_words(text, |word| {
        words.insert(word.to_owned());
        true
    });
    words
}

/// Whether a test holds for each word of a text, one after another up to the first for which it does not.
fn all_words(text: &str, mut holds: impl FnMut(&str) -> bool) -> bool {
    let mut word = String::new();
    let mut was_lower = false;
    for char in text.chars() {
        let starts = !char.is_alphanumeric() || (char.is_uppercase() && was_lower);
        if starts && !word.is_empty() {
            if !holds(singular(&word)) {
                return false;
            }
            word.clear();
        }
        if char.is_alphanumeric() {
            word.extend(char.to_lowercase());
        }
        was_lower = char.is_lowercase() || char.is_numeric();
    }
    word.is_empty() || holds(singular(&word))
}

fn singular(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(one) if word.len() > 3 && !one.ends_with('s') => one,
        _ => word,
    }
}

/// Whether a description says nothing but the name of a field and of its tool.
pub(super) fn restates(description: &str, name: &str, tool: &BTreeSet<String>) -> bool {
    // A code in backquotes or a number is more than a word.
    if description.contains('`') {
        return false;
    }
    let name = of(name);
    let known = |word: &str| EMPTY.contains(&word) || name.contains(word) || tool.contains(word);
    !name.is_empty() && all_words(description, known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_that_restates_a_name_says_nothing_more() {
        let tool = of("actions_get-workflow-run");
        for told in ["The unique identifier of the workflow run.", "The run id", "Run ID", ""] {
            assert!(restates(told, "run_id", &tool), "{told}");
        }
        for told in ["The run, newest first.", "ID of the job", "The `id` of the run", "At most 5"] {
            assert!(!restates(told, "run_id", &tool), "{told}");
        }
        assert!(restates("The user names", "userName", &tool));
        assert!(!restates("", "", &tool));
    }

    #[test]
    fn what_is_kept_of_a_text_is_its_beginning() {
        let text = "Gets a run. Needs the scope `repo`.";
        assert_eq!(Words::All.of(text), text);
        assert_eq!(Words::Sentence(80).of(text), "Gets a run.");
        assert_eq!(Words::Sentence(9).of(text), "Gets a …");
        assert_eq!(Words::Sentence(80).of("Gets a\nrun of it.\nMore."), "Gets a run of it.");
        assert_eq!(Words::Sentence(80).of("Takes one of:\n- a\n- b."), "Takes one of:");
        assert_eq!(Words::Sentence(80).of("Get a run\n\nGets it."), "Get a run");
        assert_eq!(Words::Characters(20).of(text), "Gets a run. …");
        assert_eq!(Words::None.of(text), "");
    }
}
