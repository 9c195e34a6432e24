//! Descriptions: how much of them is kept.

use std::borrow::Cow;

use super::Words;
use crate::base::truncate::{cut_at_sentence, first_sentence};

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
            Words::None => Cow::Borrowed(""),
        }
    }

    /// Returns the words that leave at most so many characters.
    pub(crate) fn at_most(self, limit: usize) -> Words {
        match self {
            _ if limit == 0 => Words::None,
            Words::All if limit == usize::MAX => Words::All,
            Words::All => Words::Characters(limit),
            Words::Characters(own) => Words::Characters(own.min(limit)),
            Words::Sentence(own) => Words::Sentence(own.min(limit)),
            Words::None => Words::None,
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

#[cfg(test)]
mod tests {
    use super::*;

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
