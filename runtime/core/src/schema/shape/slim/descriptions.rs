//! Truncates descriptions.

use std::borrow::Cow;

use super::DescriptionLimit;
use crate::base::truncate::{cut_at_sentence, first_sentence};

impl DescriptionLimit {
    /// Returns the part of a text that is kept.
    #[must_use]
    pub fn of(self, text: &str) -> Cow<'_, str> {
        match self {
            DescriptionLimit::All => Cow::Borrowed(text),
            DescriptionLimit::Characters(limit) => cut_at_sentence(text, limit),
            DescriptionLimit::Sentence(limit) => {
                let text = one_line(text);
                Cow::Owned(cut_at_sentence(first_sentence(&text), limit).into_owned())
            }
            DescriptionLimit::None => Cow::Borrowed(""),
        }
    }

    /// Returns the limit, reduced to this number of characters.
    pub(crate) fn at_most(self, limit: usize) -> DescriptionLimit {
        match self {
            _ if limit == 0 => DescriptionLimit::None,
            DescriptionLimit::All if limit == usize::MAX => DescriptionLimit::All,
            DescriptionLimit::All => DescriptionLimit::Characters(limit),
            DescriptionLimit::Characters(current) => DescriptionLimit::Characters(current.min(limit)),
            DescriptionLimit::Sentence(current) => DescriptionLimit::Sentence(current.min(limit)),
            DescriptionLimit::None => DescriptionLimit::None,
        }
    }
}

/// Returns the start of a text as one line: up to an empty line, a list, a table or a heading.
fn one_line(text: &str) -> String {
    let ends_paragraph = |line: &&str| line.is_empty() || line.starts_with(['-', '*', '#', '|', '>', '`']);
    let mut lines = text.trim().lines().map(str::trim);
    let mut joined = lines.next().unwrap_or_default().to_owned();
    for line in lines.take_while(|line| !ends_paragraph(line)) {
        joined.push(' ');
        joined.push_str(line);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_is_truncated_to_its_beginning() {
        let text = "Gets a run. Needs the scope `repo`.";
        assert_eq!(DescriptionLimit::All.of(text), text);
        assert_eq!(DescriptionLimit::Sentence(80).of(text), "Gets a run.");
        assert_eq!(DescriptionLimit::Sentence(9).of(text), "Gets a …");
        assert_eq!(DescriptionLimit::Sentence(80).of("Gets a\nrun of it.\nMore."), "Gets a run of it.");
        assert_eq!(DescriptionLimit::Sentence(80).of("Takes one of:\n- a\n- b."), "Takes one of:");
        assert_eq!(DescriptionLimit::Sentence(80).of("Get a run\n\nGets it."), "Get a run");
        assert_eq!(DescriptionLimit::Characters(20).of(text), "Gets a run. …");
        assert_eq!(DescriptionLimit::None.of(text), "");
    }
}
