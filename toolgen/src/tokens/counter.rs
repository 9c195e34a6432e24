//! Counts the tokens of many strings that have much in common.

use std::cell::RefCell;
use std::collections::HashMap;

use super::Tokenizer;

/// A tokenizer that caches parts of strings: the tools of a document, and one tool with different levers, consist of
/// the same names and sentences.
pub(super) struct Counter {
    tokenizer: Tokenizer,
    counts: RefCell<HashMap<Box<str>, usize>>,
}

impl Counter {
    pub(super) fn new(tokenizer: Tokenizer) -> Counter {
        Counter { tokenizer, counts: RefCell::default() }
    }

    /// Counts the tokens of a string, as [`Tokenizer::count`] does.
    pub(super) fn count(&self, text: &str) -> usize {
        let mut counts = self.counts.borrow_mut();
        let mut count = |part: &str| match counts.get(part) {
            Some(count) => *count,
            None => {
                let count = self.tokenizer.count(part);
                counts.insert(part.into(), count);
                count
            }
        };
        let (mut tokens, mut start) = (0, 0);
        for (index, pair) in text.as_bytes().windows(2).enumerate() {
            // Both tokenizers end a word, and so a token, between a letter or a digit and a quotation mark.
            if pair[1] == b'"' && pair[0].is_ascii_alphanumeric() {
                tokens += count(&text[start..=index]);
                start = index + 1;
            }
        }
        tokens + if start < text.len() { count(&text[start..]) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn sum_of_part_counts_equals_the_whole(text in r#"([a-zA-Z0-9é一]{0,4}["'s{}:, \\\n.\t]{0,3}){0,12}"#) {
            for tokenizer in [Tokenizer::O200k, Tokenizer::Cl100k] {
                prop_assert_eq!(Counter::new(tokenizer).count(&text), tokenizer.count(&text), "{:?}", tokenizer);
            }
        }
    }
}
