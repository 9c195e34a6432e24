//! Tests of the invariants of all rows, and of the rules for keys.

use super::*;

#[test]
fn dialects_are_found_by_name() {
    for dialect in Dialect::ALL {
        assert_eq!(Dialect::by_name(dialect.name), Some(dialect));
        assert!(dialect.keywords.is_sorted(), "{}", dialect.name);
        assert!(dialect.keywords.iter().all(|keyword| ALL_KEYWORDS.contains(keyword)), "{}", dialect.name);
        assert!(!dialect.sources.is_empty());
    }
    assert_eq!(Dialect::by_name("other"), None);
}

#[test]
fn key_rules_are_enforced() {
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
        assert!(JSON_SCHEMA.keys.accepts(key));
        assert_eq!((ANTHROPIC.keys.accepts(key), GEMINI.keys.accepts(key)), (anthropic, gemini), "{key}");
    }
    assert!(!ANTHROPIC.keys.accepts(&"x".repeat(65)));
}

#[test]
fn pattern_rules_are_enforced() {
    let cases = [
        ("^[a-z]+$", true, true),
        ("[a-z]+", true, false),
        (r"^a\$", true, false),
        (r"^\\b$", true, true),
        (r"^a\b$", false, false),
        (r"^(a)\1$", false, false),
        ("^(?=a)a$", false, false),
        ("^(?:a)$", true, true),
        (r"^\d+$", true, true),
    ];
    for (pattern, regular, anchored) in cases {
        let accepted = (Patterns::Regular.accepts(pattern), Patterns::Anchored.accepts(pattern));
        assert_eq!(accepted, (regular, anchored), "{pattern}");
        assert!(Patterns::All.accepts(pattern));
    }
}
