//! Tests of the conversion of descriptions.

use proptest::prelude::*;

use super::plain_markdown;

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_can_be_converted_to_plain_text(text in "([<>/&;`\\- \n\ta-c\u{200b}é]|</?(p|b|ul|ol|li|pre|a|code|td|br|note|table)>|&#[0-9]{1,3};){0,40}") {
        let displayed = plain_markdown(&text);
        prop_assert!(!displayed.chars().any(|char| char == '\u{200b}'), "{displayed:?}");
        prop_assert_eq!(displayed.trim(), displayed.as_ref());
    }

    #[test]
    fn plain_text_is_unchanged(text in "[a-zA-Z0-9 .,:;()*_#|\n-]{0,80}") {
        prop_assert_eq!(plain_markdown(&text), text.trim());
    }
}
