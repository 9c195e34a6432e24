//! Compares matches with those of the ECMA-262 engine.

use proptest::prelude::*;

use super::*;

/// Returns the results of this module and of the engine, in the mode in which the engine accepts the pattern.
fn match_with_both(pattern: &str, text: &str) -> (Option<bool>, bool) {
    let regex = regress::Regex::with_flags(pattern, "u").or_else(|_| regress::Regex::with_flags(pattern, ""));
    let is_match = Program::of(&Syntax::of(pattern).unwrap()).unwrap().match_text(text, 1 << 20).is_match;
    (is_match, regex.unwrap().find(text).is_some())
}

#[test]
fn common_patterns_match_like_the_engine() {
    // None of these contains a space.
    let patterns = r"^[a-z0-9_-]+$ ^https://([a-z]+\.)*corp\.example/ ^(a+)+$ .*\S.* [\s\S]* \bfoo\b
        ^(?:0|[1-9]\d{0,3})(\.\d+)?$ ^\u0041\x42\/[^/\]]*$ ^(?<year>[0-9]{4})-(0[1-9]|1[0-2])$ [^] [] a[^]
        a{2}b{1,}c{0,2}?$ x{,2} ^$ (|a)b ^.\d\D\w\W$ 日本+ (a)\1 a(?=b) (?<!a)b (?<n>a)\k<n> (?<=^a{1,2})b
        ^(?!.*--)(?=.*b)[a-z-]*$ ^(?:(?!aa).)*$ (?<=(?:foo|o)\s)bar ^(a|ab)(c|bcd)?\2$ ^(?:(a)|b)*\1$ (?=(a))b
        [\b] \cA [\d-x] [\w-] [--a] \0 [^\W\d]b (?:a|[bc]|\d){3} ^(a*)*$ (a{0}b)+ \u{1F600} \uD83D\uDE00 (?!)";
    let patterns = patterns.split_whitespace().chain([r"^[\p{L}\p{N} ]{1,20}$", r"\P{L}"]);
    let texts = "|a|aa|ab|aaab|foo bar|foobar|https://corp.example/x|https://a.b.corp.example/|https://evil/|0.5|1999.25|0123|AB/x]|AB/x|2024-12|2024-13|aabcc|x{,2}|日本本|Größe 7|b|\u{2028}| \n|é1x_-|\u{1}|\u{8}|a-b|a--b|bb1|\0|abcdbcd|😀";
    for pattern in patterns {
        for text in texts.split('|') {
            // UTF-16 code units, which the engine matches separately here.
            if (pattern, text) == (r"\uD83D\uDE00", "😀") {
                continue;
            }
            let (found, engine) = match_with_both(pattern, text);
            assert_eq!(found, Some(engine), "{pattern} on {text:?}");
        }
    }
}

#[test]
fn hostile_strings_take_linear_steps() {
    for pattern in [
        "^(a+)+$",
        "^(a|aa)*$",
        "(.*)*x",
        "^(a?){30}(a?){30}b$",
        "a*a*a*a*a*a*a*b",
        "^(?=(a+)+$)",
        "(?<!(a*)*b)x",
        "^((a{1,4}){1,4}){1,4}$",
        r"^(\w|\.|-){1,255}$",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
    ] {
        let program = Program::of(&Syntax::of(pattern).unwrap()).unwrap();
        for (length, max) in [(500, 500_000), (4_000, 4_000_000)] {
            let text = "a".repeat(length) + "!";
            let outcome = program.match_text(&text, max);
            assert_eq!(outcome.is_match, Some(false), "{pattern}: {}", outcome.steps);
        }
    }
}

#[test]
fn steps_are_counted_and_limited() {
    let compile = |pattern: &str| Program::of(&Syntax::of(pattern).unwrap());
    assert!(compile("(((a{1,9}b){9}){9}){9}").is_some() && compile("(((a{1,9}b){99}){99}){9}").is_none());
    let text = "a".repeat(3_000);
    // The combinations of matched groups are unlimited.
    let outcome = compile(r"^(a+)(a+)(a+)\1\2\3b").unwrap().match_text(&text, 1 << 20);
    assert!(outcome.is_match.is_none() && outcome.steps < 2 << 20, "{outcome:?}");
    assert_eq!(compile(r"^(.+)\1$").unwrap().match_text(&text, 12 << 20).is_match, Some(true));
}

#[test]
fn hostile_patterns_take_bounded_steps_and_memory() {
    let looks =
        |count: usize| format!("{}b{}", "(?=a{0,60000}(?<=a{0,60000}".repeat(count), "))".repeat(count));
    let a = |count: usize| "a".repeat(count);
    for (pattern, text) in [
        ("^(a+)+$".to_owned(), a(1 << 20) + "!"),
        ("(.*)*x".to_owned(), a(4 << 20)),
        ("^[a-z]+$".to_owned(), a(4 << 20)),
        (".".to_owned(), a(32 << 20)),
        ("^(a{0,60000}){9}b".to_owned(), a(60_000)),
        (r"^(a+)(a+)(a+)\1\2\3b".to_owned(), a(5_000)),
        // Each state contains thousands of groups.
        ("()".repeat(4_000) + r"^(a|aa)*\1b", a(3_000)),
        ("(a?)".repeat(2_000) + r"\1b", a(3_000)),
        // Each lookaround waits for the nested one.
        (looks(45), a(60_000)),
        (format!("{}{}", "(?=a{0,60000}".repeat(90), ")".repeat(90)), a(60_000)),
        (r"^(\p{L}x){9000}$".to_owned(), "ßx".repeat(1_000)),
    ] {
        let program = Program::of(&Syntax::of(&pattern).unwrap()).unwrap();
        let outcome = program.match_text(&text, 12 << 20);
        let displayed: String = pattern.chars().take(40).collect();
        assert!(
            outcome.steps <= (12 << 20) + (64 << 20) && outcome.bytes <= MAX_BYTES + (1 << 20),
            "{displayed}: {outcome:?}"
        );
        println!("{displayed}: {outcome:?}, {} steps, {} sets", program.len(), program.sets.len());
    }
    // A repetition does not copy its sets for each round.
    let program = Program::of(&Syntax::of(r"^(\p{L}[0-9]){9000}$").unwrap()).unwrap();
    assert!(program.len() > 18_000 && program.sets.len() == 2);
}

/// Patterns with all supported syntax.
fn pattern() -> impl Strategy<Value = String> {
    let atom = prop::sample::select(vec![
        "a", "b", ".", "[ab]", "[^a]", r"\w", r"\s", r"\b", r"\B", "^", "$", "é", r"\u0061", r"[\d-]", "",
    ]);
    atom.prop_map(str::to_owned).prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            4 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            4 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("({})", parts.join("|"))),
            4 => (inner.clone(), prop::sample::select(vec!["*", "+", "?", "{2}", "{1,}", "{0,2}", "*?"]))
                .prop_map(|(part, times)| format!("(?:{part}){times}")),
            1 => (inner, prop::sample::select(vec!["?=", "?!", "?<=", "?<!"]))
                .prop_map(|(part, look)| format!("({look}{part})")),
        ]
    })
}

proptest! {
    #[test]
    fn program_agrees_with_the_engine(pattern in pattern(), text in "[ab é\\n1-]{0,6}") {
        let (found, engine) = match_with_both(&pattern, &text);
        prop_assert_eq!(found, Some(engine), "{} on {:?}", pattern, text);
    }

    #[test]
    fn back_references_agree_with_the_engine(
        parts in prop::collection::vec(prop::sample::select(vec![
            "(a)", "(b|)", "(a|b)*", "(a(b)?)*", r"\1", r"\2", "a", "b*", "(?:a|(b))+",
        ]), 1..5),
        text in "[ab]{0,6}",
    ) {
        let pattern = format!("^{}$", parts.concat());
        let (found, engine) = match_with_both(&pattern, &text);
        prop_assert_eq!(found, Some(engine), "{} on {:?}", pattern, text);
    }
}
