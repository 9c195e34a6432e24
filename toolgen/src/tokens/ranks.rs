//! Byte pair encoding, with tables that need no parsing: a program that counts one tool does not wait for 200,000
//! tokens.
//!
//! A table holds the tokens of one tokenizer by their length. For each length: the length in one byte, the number of
//! tokens in three, the tokens back to back in the order of their bytes, and their ranks in three bytes each. Numbers
//! are little-endian. The tests generate the tables from the vendor's own list, and compare.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::LazyLock;

use regex::Regex;

/// The tokens of one length.
#[derive(Clone, Copy)]
struct Tokens {
    length: usize,
    bytes: &'static [u8],
    ranks: &'static [u8],
}

/// A tokenizer: where strings may be cut, and which pairs are merged, the lowest rank first.
pub(super) struct Ranks {
    /// The tokens by their length, from 1.
    tokens: Vec<Tokens>,
    words: Option<Regex>,
}

pub(super) static O200K: LazyLock<Ranks> =
    LazyLock::new(|| Ranks::of(include_bytes!("ranks/o200k"), O200K_WORDS));
pub(super) static CL100K: LazyLock<Ranks> =
    LazyLock::new(|| Ranks::of(include_bytes!("ranks/cl100k"), CL100K_WORDS));

// The vendor's expressions, without the alternative `\s+(?!\S)` before the last: see `Ranks::words`.
const O200K_WORDS: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+",
);
const CL100K_WORDS: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+",
);

impl Ranks {
    fn of(mut table: &'static [u8], words: &str) -> Ranks {
        let mut tokens = Vec::new();
        while let Some((&[length, low, mid, high], rest)) = table.split_first_chunk() {
            let (length, count) = (usize::from(length), number([low, mid, high]));
            let Some((bytes, rest)) = rest.split_at_checked(length * count) else { break };
            let Some((ranks, rest)) = rest.split_at_checked(3 * count) else { break };
            tokens.push(Tokens { length, bytes, ranks });
            table = rest;
        }
        Ranks { tokens, words: Regex::new(words).ok() }
    }

    /// Counts the tokens of a string. Special tokens are not recognised.
    pub(super) fn count(&self, text: &str) -> usize {
        self.words(text).map(|word| self.tokens_of(word.as_bytes())).sum()
    }

    /// Splits a string at positions that no token spans. Of several spaces before a word, the last belongs to the
    /// word; this needs a look-ahead that the regex engine does not have.
    fn words<'t>(&self, text: &'t str) -> impl Iterator<Item = &'t str> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let matched = self.words.as_ref()?.find_at(text, start)?;
            let mut word = matched.as_str();
            let last =
                word.chars().next_back().filter(|last| last.is_whitespace() && !matches!(last, '\r' | '\n'));
            if let Some(last) = last
                && matched.end() < text.len()
                && word.len() > last.len_utf8()
            {
                word = &word[..word.len() - last.len_utf8()];
            }
            start = matched.start() + word.len();
            Some(word)
        })
    }

    fn rank(&self, token: &[u8]) -> Option<usize> {
        let same_length = self.tokens.get(token.len().checked_sub(1)?)?;
        let (mut low, mut high) = (0, same_length.ranks.len() / 3);
        while low < high {
            let middle = low.midpoint(high);
            match same_length
                .bytes
                .get(middle * same_length.length..(middle + 1) * same_length.length)?
                .cmp(token)
            {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    return same_length
                        .ranks
                        .get(middle * 3..)
                        .and_then(|rank| rank.first_chunk())
                        .map(|rank| number(*rank));
                }
            }
        }
        None
    }

    /// Joins the pair of the lowest rank, the first among equals, until none is left. A heap of pairs limits this to
    /// `n log n`, even for a word of a million letters.
    fn tokens_of(&self, word: &[u8]) -> usize {
        if self.rank(word).is_some() {
            return 1;
        }
        // Part `n` goes from `n` to `end[n]`; a part that was joined to the previous one ends where it begins.
        let mut end: Vec<usize> = (1..=word.len()).collect();
        let mut previous: Vec<usize> = (0..word.len()).map(|index| index.saturating_sub(1)).collect();
        let pair = |first: usize, end: &[usize]| {
            let second_end = *end.get(end[first])?;
            Some(Reverse((self.rank(&word[first..second_end])?, first, second_end)))
        };
        let mut pairs: BinaryHeap<_> = (0..word.len()).filter_map(|first| pair(first, &end)).collect();
        let mut parts = word.len();
        while let Some(Reverse((_, first, joined))) = pairs.pop() {
            let second = end[first];
            if second == first || end.get(second) != Some(&joined) {
                continue; // One of the two has become part of another pair.
            }
            end[first] = joined;
            end[second] = second;
            parts -= 1;
            if let Some(next) = previous.get_mut(joined) {
                *next = first;
            }
            pairs.extend(pair(first, &end));
            if first > 0 {
                pairs.extend(pair(previous[first], &end));
            }
        }
        parts
    }
}

fn number([low, mid, high]: [u8; 3]) -> usize {
    usize::from(low) | usize::from(mid) << 8 | usize::from(high) << 16
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

    use super::*;

    /// The tokens as the vendor lists them, in the format of our tables.
    fn table(tokenizer: &CoreBPE, count: u32) -> Vec<u8> {
        let mut lengths: BTreeMap<usize, BTreeMap<Vec<u8>, u32>> = BTreeMap::new();
        for rank in 0..count {
            if let Ok(token) = tokenizer.decode_bytes(&[rank]) {
                lengths.entry(token.len()).or_default().insert(token, rank);
            }
        }
        let mut table = Vec::new();
        for length in 1..=*lengths.keys().next_back().unwrap() {
            let tokens = lengths.remove(&length).unwrap_or_default();
            table.push(u8::try_from(length).unwrap());
            table.extend(&u32::try_from(tokens.len()).unwrap().to_le_bytes()[..3]);
            tokens.keys().for_each(|token| table.extend(token));
            tokens.values().for_each(|rank| table.extend(&rank.to_le_bytes()[..3]));
        }
        table
    }

    #[test]
    fn token_tables_equal_those_of_the_vendor() {
        // The special tokens, which follow, are not strings.
        for (name, tokenizer, count) in
            [("o200k", o200k_base_singleton(), 199_998), ("cl100k", cl100k_base_singleton(), 100_256)]
        {
            let (path, table) = (format!("src/tokens/ranks/{name}"), table(tokenizer, count));
            if std::env::var_os("TOOLGEN_UPDATE").is_some() {
                std::fs::write(&path, &table).unwrap();
            }
            assert!(std::fs::read(&path).unwrap() == table, "{path} differs: TOOLGEN_UPDATE=1 writes it");
        }
    }

    fn counts_as_the_vendor_does(text: &str) {
        let expected =
            (o200k_base_singleton().count_ordinary(text), cl100k_base_singleton().count_ordinary(text));
        assert_eq!((O200K.count(text), CL100K.count(text)), expected, "{text:?}");
    }

    #[test]
    fn words_blanks_and_long_runs_count_like_the_vendor() {
        for text in [
            "",
            " ",
            "  ",
            "a  b",
            "a \n b",
            "a\n\n  \n b",
            " \u{2003}x",
            "\u{2003}\u{2003}x",
            "x \t",
            "I'LL it'ſ don't",
            "//\n/\r\n",
            "12345678",
            "ÀÉé\u{301}e",
            "a\u{0}b",
            "\u{85}\u{85}a",
        ] {
            counts_as_the_vendor_does(text);
        }
        for part in ["a", "ab", "-", " ", "\n", "é", "中", "xyzzy"] {
            counts_as_the_vendor_does(&part.repeat(700));
        }
    }

    #[test]
    fn word_of_a_million_letters_is_counted() {
        assert_eq!(O200K.count(&"a".repeat(1 << 20)), (1 << 20) / 8);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn token_counts_equal_those_of_the_vendor(text in r#"(\PC{0,12}|[a-zA-Z' \t\r\n/0-9.,"-]{0,30}|[\s]{0,5}[\pL\pM]{0,9}){0,8}"#) {
            counts_as_the_vendor_does(&text);
        }
    }
}
