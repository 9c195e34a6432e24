//! What the engine finds, found in another way.

use proptest::prelude::*;

use super::*;

/// What the engine finds for a pattern in the mode in which it accepts it.
fn both(pattern: &str, text: &str) -> Option<(bool, bool)> {
    for flags in ["u", ""] {
        if let Ok(regex) = regress::Regex::with_flags(pattern, flags) {
            let linear = Linear::of(pattern, flags)?;
            return Some((linear.is_match(text), regex.find(text).is_some()));
        }
    }
    None
}

#[test]
fn patterns_in_use_are_followed_as_the_engine_does() {
    // None of these has a space.
    let patterns = r"^[a-z0-9_-]+$ ^https://([a-z]+\.)*corp\.example/ ^(a+)+$ .*\S.* [\s\S]* \bfoo\b
        ^(?:0|[1-9]\d{0,3})(\.\d+)?$ ^\u0041\x42\/[^/\]]*$ ^(?<year>[0-9]{4})-(0[1-9]|1[0-2])$
        a{2}b{1,}c{0,2}?$ x{,2} ^$ (|a)b ^.\d\D\w\W$ [^] 日本+";
    let patterns = patterns.split_whitespace().chain([r"^[\p{L}\p{N} ]{1,20}$"]);
    let texts = "|a|aaab|foo bar|foobar|https://corp.example/x|https://a.b.corp.example/|https://evil/|0.5|1999.25|0123|AB/x]|AB/x|2024-12|2024-13|aabcc|x{,2}|日本本|Größe 7|b|\u{2028}| \n|é1x_-";
    for pattern in patterns {
        for text in texts.split('|') {
            let Some((linear, engine)) = both(pattern, text) else {
                assert_eq!(pattern, "[^]", "{pattern} is read");
                continue;
            };
            assert_eq!(linear, engine, "{pattern} on {text:?}");
        }
    }
    for needs_the_engine in [r"(a)\1", "a(?=b)", "(?<!a)b", r"(?<n>a)\k<n>"] {
        assert!(Linear::of(needs_the_engine, "u").is_none(), "{needs_the_engine}");
    }
}

#[test]
fn hostile_texts_take_time_by_their_length() {
    for pattern in ["^(a+)+$", "^(a|aa)*$", "(.*)*x", "^(a?){30}(a?){30}b$", "a*a*a*a*a*a*a*b"] {
        let linear = Linear::of(pattern, "u").unwrap();
        let text = "a".repeat(20_000) + "!";
        assert!(!linear.is_match(&text), "{pattern}");
    }
    assert!(Linear::of("(((a{9}){9}){9}){9}", "u").is_none(), "it is too large");
}

/// Patterns of everything that is read here.
fn pattern() -> impl Strategy<Value = String> {
    let atom = prop::sample::select(vec![
        "a", "b", ".", "[ab]", "[^a]", r"\w", r"\s", r"\b", r"\B", "^", "$", "é", r"\u0061", r"[\d-]", "",
    ]);
    atom.prop_map(str::to_owned).prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("({})", parts.join("|"))),
            (inner, prop::sample::select(vec!["*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"]))
                .prop_map(|(part, times)| format!("(?:{part}){times}")),
        ]
    })
}

proptest! {
    #[test]
    fn it_says_what_the_engine_says(pattern in pattern(), text in "[ab é\\n1-]{0,6}") {
        if let Some((linear, engine)) = both(&pattern, &text) {
            prop_assert_eq!(linear, engine, "{} on {:?}", pattern, text);
        }
    }
}
