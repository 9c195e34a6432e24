//! Matching names against patterns with wildcards.

use std::str::Chars;

/// Returns whether a string matches the pattern, in which `*` matches any characters and `?` exactly one.
/// Case-sensitive.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // Where to resume if the rest after the last `*` does not match: that `*` takes one more character. An earlier `*`
    // never has to, so the time is at most the product of the lengths.
    let mut retry: Option<(Chars<'_>, Chars<'_>)> = None;
    loop {
        let (mut next_pattern, mut next_text) = (pattern.clone(), text.clone());
        match (next_pattern.next(), next_text.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                pattern = next_pattern;
                retry = Some((pattern.clone(), text.clone()));
            }
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {
                (pattern, text) = (next_pattern, next_text);
            }
            _ => {
                let Some((after, from)) = &mut retry else { return false };
                if from.next().is_none() {
                    return false;
                }
                (pattern, text) = (after.clone(), from.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, implemented literally and slowly.
    fn defined(pattern: &[char], text: &[char]) -> bool {
        match (pattern, text) {
            ([], []) => true,
            (['*', after @ ..], _) => (0..=text.len()).any(|taken| defined(after, &text[taken..])),
            (['?', after @ ..], [_, rest @ ..]) => defined(after, rest),
            ([wanted, after @ ..], [found, rest @ ..]) => wanted == found && defined(after, rest),
            _ => false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn wildcards_match_their_definition(pattern in "[aAß*?]{0,7}", text in "[aAß]{0,7}") {
            let chars = |text: &str| text.chars().collect::<Vec<char>>();
            prop_assert_eq!(matches(&pattern, &text), defined(&chars(&pattern), &chars(&text)));
        }
    }

    #[test]
    fn many_wildcards_match_quickly() {
        assert!(!matches(&"*a".repeat(200), &"a".repeat(199)));
    }
}
