//! Tests of the patterns that engines receive.

mod real;

use super::super::{ANTHROPIC, BEDROCK_STRICT, GEMINI, LLAMA_CPP, OPENAI, OPENAI_STRICT};
use super::*;

/// The pattern that each engine receives, and which engines receive it unchanged.
const CASES: &[(&str, Option<&str>, Option<&str>)] = &[
    ("^[a-z]{2,3}(?:x|y)*?$", Some("^[a-z]{2,3}(?:x|y)*?$"), Some("^[a-z]{2,3}(?:x|y)*?$")),
    (r"^[^\p{Cc}]{1,200}$", None, Some(r"^[^\p{Cc}]{1,200}$")),
    (r"^\p{Script=Greek}$", None, None),
    ("(?<year>[0-9]{4})", Some("(?P<year>[0-9]{4})"), Some("(?P<year>[0-9]{4})")),
    ("(?<$y>a)(?<b>b)", Some("(a)(?P<b>b)"), Some("(a)(?P<b>b)")),
    (r"(?<y>a)\k<y>", Some("(?P<y>a)(?P=y)"), None),
    (r"(?<$y>a)\k<$y>0", Some(r"(a)(?:\1)0"), None),
    (r"(a)\1", Some(r"(a)\1"), None),
    (r"\1(a)", None, None),
    (r"\u{1F600}\u0041\cA", Some("😀\\u0041\\x01"), Some(r"😀A\x01")),
    (r"[\uD83D\uDE00-\u{1F64F}]", Some("[😀-🙏]"), Some("[😀-🙏]")),
    (r"[\uD800-\uDBFF]", Some(r"[\uD800-\uDBFF]"), None),
    (r"[^]", Some(r"[\s\S]"), Some(r"[\s\S]")),
    (r"[]", Some(r"[^\s\S]"), Some(r"[^\s\S]")),
    (r"[\b\-_]", Some(r"[\b\-_]"), Some(r"[\x08\-_]")),
    (r"[\d-x]", Some(r"[\d\-x]"), Some(r"[\d\-x]")),
    (r"[a-z-9]", Some(r"[a-z-9]"), Some(r"[a-z\-9]")),
    (r"^\/[\w.\/-]+\/$", Some(r"^\/[\w.\/-]+\/$"), Some(r"^\/[\w.\/-]+\/$")),
    ("^[[:]$", Some(r"^[\[:]$"), Some(r"^[\[:]$")),
    (r"\e\-\é", Some(r"e\-é"), Some(r"e\-é")),
    ("x{,2}", Some(r"x\{,2}"), Some("x{,2}")),
    ("a{1,2000}", Some("a{1,2000}"), None),
    ("(?:a{100}){100}", Some("(?:a{100}){100}"), None),
    ("(?=a)a(?!b)", Some("(?=a)a(?!b)"), None),
    ("(?<=ab|cd)e", Some("(?<=ab|cd)e"), None),
    ("(?<=a|bc)e", None, None),
    ("(?<!a*)e", None, None),
];

#[test]
fn each_engine_gets_supported_patterns_only() {
    for (pattern, python, re2) in CASES {
        assert_eq!(OPENAI.pattern(pattern).as_deref(), *python, "{pattern}");
        assert_eq!(GEMINI.pattern(pattern).as_deref(), *re2, "{pattern}");
        assert_eq!(ANTHROPIC.pattern(pattern).as_deref(), Some(*pattern));
    }
}

#[test]
fn grammar_compilers_get_simpler_patterns() {
    for pattern in [r"^(a)\1$", "^(?=a)a$", r"^\bx$", r"^\p{L}$"] {
        for dialect in [OPENAI_STRICT, BEDROCK_STRICT, LLAMA_CPP] {
            assert_eq!(dialect.pattern(pattern), None, "{pattern} in {}", dialect.name);
        }
    }
    let message = |dialect: Dialect| dialect.pattern("^(?<y>a)$").map(Cow::into_owned);
    assert_eq!(message(OPENAI_STRICT).as_deref(), Some("^(?P<y>a)$"));
    assert_eq!(message(BEDROCK_STRICT).as_deref(), Some("^(a)$"));
    assert_eq!(message(LLAMA_CPP).as_deref(), Some("^(a)$"));
    assert_eq!(LLAMA_CPP.pattern("a"), None);
}
