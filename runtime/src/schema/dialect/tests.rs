//! What the rows have in common, and the rules of keys.

use super::*;

#[test]
fn dialects_are_found_by_their_names() {
    for dialect in Dialect::ALL {
        assert_eq!(Dialect::by_name(dialect.name), Some(dialect));
        assert!(dialect.keywords.is_sorted(), "{}", dialect.name);
        assert!(dialect.keywords.iter().all(|keyword| ALL_KEYWORDS.contains(keyword)), "{}", dialect.name);
        assert!(!dialect.sources.is_empty());
    }
    assert_eq!(Dialect::by_name("other"), None);
}

#[test]
fn keys_follow_the_rules() {
    let cases = [
        ("limit", true, true),
        ("page-size", true, false),
        ("a.b", true, false),
        ("1st", true, false),
        ("_id", true, true),
        ("filter[x]", false, false),
        ("$top", false, false),
        ("größe", false, false),
        ("", false, false),
    ];
    for (key, anthropic, gemini) in cases {
        assert!(JSON_SCHEMA.keys.takes(key));
        assert_eq!((ANTHROPIC.keys.takes(key), GEMINI.keys.takes(key)), (anthropic, gemini), "{key}");
    }
    assert!(!ANTHROPIC.keys.takes(&"x".repeat(65)));
}
