//! Matching names against patterns with wildcards.

use std::str::Chars;

/// Returns whether a string matches the pattern, in which `*` matches any characters and `?` exactly one.
/// Case-sensitive.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // The position to resume from if the text after the last `*` does not match: that `*` takes one more character. An
    // earlier `*` never has to take more, so the time is at most the product of the lengths.
    let mut retry: Option<(Chars<'_>, Chars<'_>)> = None;
    loop {
        let (mut next_pattern, mut next_text) = (pattern.clone(), text.clone());
        match (next_pattern.next(), next_text.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                pattern = next_pattern;
                retry = Some((pattern.clone(), text.clone()));
            }
            (Some(expected), Some(actual)) if expected == '?' || expected == actual => {
                (pattern, text) = (next_pattern, next_text);
            }
            _ => {
                let Some((pattern_tail, text_tail)) = &mut retry else { return false };
                if text_tail.next().is_none() {
                    return false;
                }
                (pattern, text) = (pattern_tail.clone(), text_tail.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, implemented literally and slowly.
    fn matches_slowly(pattern: &[char], text: &[char]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            (['*', pattern_tail @ ..], _) => {
                (0..=text.len()).any(|skipped| matches_slowly(pattern_tail, &text[skipped..]))
            }
            (['?', pattern_tail @ ..], [_, text_tail @ ..]) => matches_slowly(pattern_tail, text_tail),
            ([expected, pattern_tail @ ..], [actual, text_tail @ ..]) => {
                expected == actual && matches_slowly(pattern_tail, text_tail)
            }
            _ => false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn wildcards_match_their_definition(pattern in "[aAß*?]{0,7}", text in "[aAß]{0,7}") {
            let chars = |text: &str| text.chars().collect::<Vec<char>>();
            prop_assert_eq!(matches(&pattern, &text), matches_slowly(&chars(&pattern), &chars(&text)));
        }
    }

    #[test]
    fn many_wildcards_match_quickly() {
        assert!(!matches(&"*a".repeat(200), &"a".repeat(199)));
    }
}
