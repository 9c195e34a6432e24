//! Tests of what patterns match, and of the cost.

pub(crate) mod corpus;

use super::*;

#[test]
fn longest_allowed_string_is_checked_against_its_pattern() {
    let cases = [
        (r"^(\w|\.|-){1,255}$", "my-company-logs", true),
        (r"^(\w|\.|-){1,255}$", "my company logs", false),
        (r"^[+]?(\d[- ]?){5,14}\d$", "+49 89 1234-5678", true),
        (
            r"^arn:(aws|aws-cn):iam::\d{12}:(role|user)/([\w+=,.@-]+/)*[\w+=,.@-]{1,64}$",
            "arn:aws:iam::123456789012:role/service-role/a.b",
            true,
        ),
        (r"^([a-z]+[0-9]*)+(\.([a-z]+[0-9]*)+)*$", "queue1.fifo2", true),
        (r"^(?!.*--)([a-z0-9-]{1,63}\.)+[a-z]{2,63}$", "a-b.example", true),
        (r"^(?!.*--)([a-z0-9-]{1,63}\.)+[a-z]{2,63}$", "a--b.example", false),
        ("^((a?){30}(a?){30})+b$", "aaab", true),
    ];
    for (pattern, text, expected) in cases {
        assert_eq!(match_pattern(pattern, text).is_match, Some(expected), "{pattern} on {text}");
    }
    for (pattern, unit) in
        [(r"^(\w|\.|-){1,2048}$", "a"), ("^(a|b|(c|d)e){0,2048}$", "a"), (r"^(\p{L}|\d){1,2048}$", "ß")]
    {
        assert_eq!(match_pattern(pattern, &unit.repeat(2_048)).is_match, Some(true), "{pattern}");
        assert_eq!(match_pattern(pattern, &unit.repeat(2_049)).is_match, Some(false), "{pattern}");
    }
}

#[test]
fn untried_patterns_are_detected() {
    for pattern in ["((((a{1,9}b){99}){99}){99}){99}", r"^(?=(a))\1$"] {
        assert!(is_pattern(pattern) && is_unchecked(pattern), "{pattern}");
        assert_eq!(match_pattern(pattern, "a").is_match, None, "{pattern}");
        assert!(!matches(pattern, "a") && !is_found(pattern, "a"), "{pattern}");
    }
    assert!(!is_unchecked("(") && !is_unchecked("^a$"));
}

#[test]
fn pattern_with_many_branches_does_not_overflow_the_stack() {
    let branches = |count: usize| "a|".repeat(count) + "b";
    let nested = format!("{}c{}", "(a|".repeat(90), ")".repeat(90));
    assert!(is_pattern(&branches(MAX_BRANCHES)) && is_pattern(&nested));
    for pattern in [branches(MAX_BRANCHES + 1), branches(300_000), format!("({})*", branches(20_000))] {
        assert!(!is_pattern(&pattern) && matches(&pattern, "c"));
    }
}

#[test]
fn hostile_strings_are_matched_quickly() {
    let patterns = [
        "^(a+)+$",
        "^(a|aa)*$",
        "a*a*a*a*a*a*b",
        "(.*)*x",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        "^(.*a){20}$",
        "^(a?){30}(a?){30}b$",
        "^((a{1,4}){1,4}){1,4}$",
        r"^(a+)+\1b",
        "^(?=(a+)+$)(?!(a|aa)*c)b",
    ];
    for (pattern, length) in
        patterns.into_iter().flat_map(|pattern| [12, 16, 28, 64, 250, 2_000].map(|length| (pattern, length)))
    {
        for text in ["a".repeat(length), "a".repeat(length - 1) + "!"] {
            let outcome = match_pattern(pattern, &text);
            assert!(
                outcome.steps <= SMALL_STEPS_PER_STEP * (MAX_STEPS + MAX_STEPS / 8),
                "{pattern} on {length}: {outcome:?}"
            );
        }
    }
}

#[test]
fn pattern_cache_is_bounded_and_charged() {
    let large = |index: usize| format!("^(([a-z])([0-9])){{{}}}x{index}$", 5_000 + index);
    let (small, long) = ("^a$".to_owned(), "a".repeat(MAX_CACHED_PATTERN_BYTES + 1));
    let mut usage = CacheUsage::NONE;
    assert!(
        usage.add_pattern(&small) && !usage.add_pattern(&long),
        "a long pattern is not cached with others"
    );
    let mut usage = CacheUsage::NONE;
    let cached = (0..MAX_CACHED_PATTERNS).take_while(|index| usage.add_pattern(&large(*index))).count();
    assert!((10..40).contains(&cached), "{cached}");
    for index in 0..40 {
        assert_eq!(match_pattern(&large(index), "a").is_match, Some(false));
        let steps: usize =
            CACHE.with_borrow(|(_, patterns)| patterns.values().map(|info| info.steps()).sum());
        assert!(steps <= MAX_CACHED_STEPS, "{steps}");
    }
    // A short pattern with a large program costs as much as the program.
    assert!(parse_cost(&large(1)) > 50 * parse_cost(&small));
}
