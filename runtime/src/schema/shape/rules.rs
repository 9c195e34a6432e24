//! Applies the rules of numbers and texts to values.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use super::{Number, NumberRules, StringRules};

mod effort;

/// Compares two numbers, exactly for integers.
pub(crate) fn compare(a: Number, b: Number) -> Ordering {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (Number::Int(a), Number::Float(b)) => compare_mixed(a, b),
        (Number::Float(a), Number::Int(b)) => compare_mixed(b, a).reverse(),
    }
}

/// Compares an integer with a float, without rounding the integer.
fn compare_mixed(int: i128, float: f64) -> Ordering {
    if float.is_nan() {
        return Ordering::Equal;
    }
    if float >= 2f64.powi(127) {
        return Ordering::Less;
    }
    if float < -(2f64.powi(127)) {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "in range; the fraction is compared apart")]
    let whole = float.trunc() as i128;
    int.cmp(&whole).then_with(|| 0.0_f64.partial_cmp(&float.fract()).unwrap_or(Ordering::Equal))
}

/// Whether two numbers are the same value.
pub(crate) fn same_number(a: Number, b: Number) -> bool {
    compare(a, b) == Ordering::Equal
}

/// Whether a number is an integer multiple of a step. Exact for integers; for decimals such as `0.1`, which floats
/// only approximate, within the error of the division.
pub(crate) fn is_multiple(value: Number, step: Number) -> bool {
    match (value, step) {
        (Number::Int(value), Number::Int(step)) => step == 0 || value % step == 0,
        (value, step) => {
            let (value, step) = (float(value), float(step));
            if step == 0.0 || !step.is_finite() || !value.is_finite() {
                return true;
            }
            let quotient = value / step;
            if !quotient.is_finite() {
                return value % step == 0.0;
            }
            (quotient - quotient.round()).abs() <= quotient.abs().max(1.0) * f64::EPSILON * 4.0
        }
    }
}

fn float(number: Number) -> f64 {
    match number {
        #[expect(clippy::cast_precision_loss, reason = "only reached where the other number is a float")]
        Number::Int(int) => int as f64,
        Number::Float(float) => float,
    }
}

/// Whether a number meets all rules.
pub(crate) fn number_fits(value: Number, rules: &NumberRules) -> bool {
    rules.minimum.is_none_or(|limit| compare(value, limit) != Ordering::Less)
        && rules.maximum.is_none_or(|limit| compare(value, limit) != Ordering::Greater)
        && rules.exclusive_minimum.is_none_or(|limit| compare(value, limit) == Ordering::Greater)
        && rules.exclusive_maximum.is_none_or(|limit| compare(value, limit) == Ordering::Less)
        && rules.multiple_of.is_none_or(|step| is_multiple(value, step))
}

/// Returns the length of a text in characters.
pub(crate) fn length(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
}

/// Whether a text meets all rules.
pub(crate) fn text_fits(text: &str, rules: &StringRules) -> bool {
    rules.min_length.is_none_or(|limit| length(text) >= limit)
        && rules.max_length.is_none_or(|limit| length(text) <= limit)
        && matches(&rules.pattern, text)
        && refusal(rules, text).is_none()
}

/// Returns why `deny` refuses a text, without the text itself.
pub(crate) fn refusal(rules: &StringRules, text: &str) -> Option<String> {
    let StringRules { deny, deny_message, .. } = rules;
    if deny.is_empty() {
        return None;
    }
    // A text that cannot be matched counts as a match.
    let Some(regex) = compile(deny) else {
        return Some(format!("cannot be held against {deny}, which is no pattern"));
    };
    let most = longest_denied(deny);
    if text.len() > most {
        return Some(format!("must have at most {most} bytes to be held against the pattern {deny}"));
    }
    regex.find(text)?;
    let told = if deny_message.is_empty() {
        format!("must not match the pattern {deny}")
    } else {
        deny_message.to_string()
    };
    Some(told)
}

/// Returns the longest text that is searched for a denied pattern, in bytes. The author of the tool writes the
/// pattern, and a longer text is refused, so a pattern whose work grows only with the text may take longer texts than
/// [`longest_text`] allows.
fn longest_denied(pattern: &str) -> usize {
    match effort::repetitions(pattern) {
        Some((repetitions, false)) if repetitions + usize::from(!pattern.starts_with('^')) <= 1 => 16_384,
        _ => longest_text(pattern),
    }
}

/// Whether a text is a regular expression that can be applied to values: one of ECMA-262, as JSON Schema requires,
/// with or without Unicode mode. Values are not checked against any other `pattern`.
#[must_use]
pub fn is_pattern(pattern: &str) -> bool {
    compile(pattern).is_some()
}

/// Whether a text matches a pattern anywhere. A text that the pattern [is not tried on](is_tried) matches.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    pattern.is_empty()
        || text.len() > longest_text(pattern)
        || compile(pattern).is_none_or(|regex| regex.find(text).is_some())
}

/// Whether a pattern is tried on a text: it parses, and the text is not too long for it.
pub(crate) fn is_tried(pattern: &str, text: &str) -> bool {
    text.len() <= longest_text(pattern) && is_pattern(pattern)
}

/// Returns the longest text a pattern is tried on, in bytes. The engine backtracks, so each unbounded repetition
/// multiplies the work by the length of the text, and a nested repetition doubles it with each character: `^(a+)+$`
/// takes hours for forty letters. A hostile text must not cost more than some ten million steps.
fn longest_text(pattern: &str) -> usize {
    let Some((repetitions, nested)) = effort::repetitions(pattern) else { return 0 };
    if nested {
        return 16;
    }
    let anchored = pattern.starts_with('^');
    match repetitions + usize::from(!anchored) {
        0..=2 => 2_000,
        3 => 250,
        4 => 64,
        5 => 28,
        _ => 12,
    }
}

thread_local! {
    /// The pattern tried last: lists and objects try one pattern on many texts.
    static LAST: RefCell<Option<(String, Option<Rc<regress::Regex>>)>> = const { RefCell::new(None) };
}

/// JSON Schema requires Unicode mode; many patterns in use only parse without it (`\-` outside a class).
fn compile(pattern: &str) -> Option<Rc<regress::Regex>> {
    LAST.with_borrow_mut(|last| {
        if let Some((known, regex)) = last
            && known == pattern
        {
            return regex.clone();
        }
        let parsed = regress::Regex::with_flags(pattern, "u").or_else(|_| regress::Regex::new(pattern));
        let regex = parsed.ok().map(Rc::new);
        *last = Some((pattern.to_owned(), regex.clone()));
        regex
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_only_tried_where_they_stay_fast() {
        let cases = [
            ("^[a-z]{2,3}$", 2_000),
            ("^[a-z0-9_-]+$", 2_000),
            ("^[^@]+@[^@]+$", 2_000),
            ("^[^@]+@[^@]+\\.[a-z]{2,}$", 250),
            (".*.*", 250),
            ("^(a+)+$", 16),
            ("^(a|aa)*$", 16),
            ("^(\\d{3}-)*$", 2_000),
            ("^[(+*]\\+\\*$", 2_000),
        ];
        for (pattern, expected) in cases {
            assert_eq!(longest_text(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn hostile_texts_end_soon() {
        let started = std::time::Instant::now();
        let patterns = [
            "^(a+)+$",
            "^(a|aa)*$",
            "a*a*a*a*a*a*b",
            "(.*)*x",
            "^(([a-z])+.)+[A-Z]([a-z])+$",
            "^(.*a){20}$",
            "^(a?){30}(a?){30}b$",
            "^((a{1,4}){1,4}){1,4}$",
        ];
        for pattern in patterns {
            for length in [12, 16, 28, 64, 250, 2_000] {
                let _ = matches(pattern, &"a".repeat(length));
                let _ = matches(pattern, &("a".repeat(length - 1) + "!"));
            }
        }
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }

    #[test]
    fn what_cannot_be_looked_through_is_refused() {
        let refused = |deny: &str, text: &str| {
            let rules = StringRules { deny: deny.to_owned().into(), ..StringRules::ANY };
            refusal(&rules, text)
        };
        assert_eq!(refused("rm -rf /", &"a".repeat(16_384)), None);
        assert_eq!(refused("", &"a".repeat(1 << 20)), None);
        let cases = [
            ("rm -rf /", "cd x;rm -rf /".to_owned(), "must not match the pattern rm -rf /"),
            ("rm -rf /", "a".repeat(16_385), "must have at most 16384 bytes"),
            ("rm {1,8}-rf", "a".repeat(16_385), "must have at most 16384 bytes"),
            ("rm +-rf", "a".repeat(2_001), "must have at most 2000 bytes"),
            ("^(a+)+$", "b".repeat(17), "must have at most 16 bytes"),
            ("(", "a".to_owned(), "which is no pattern"),
        ];
        for (deny, text, told) in cases {
            assert!(refused(deny, &text).is_some_and(|why| why.contains(told)), "{deny}");
        }
    }

    #[test]
    fn numbers_are_compared_exactly() {
        let big = i128::from(u64::MAX);
        assert_eq!(compare(Number::Int(big), Number::Float(18_446_744_073_709_551_616.0)), Ordering::Less);
        assert_eq!(compare(Number::Float(0.5), Number::Int(0)), Ordering::Greater);
        assert_eq!(compare(Number::Float(-0.5), Number::Int(0)), Ordering::Less);
        assert_eq!(compare(Number::Int(-1), Number::Float(-1.5)), Ordering::Greater);
        assert_eq!(compare(Number::Int(i128::MAX), Number::Float(f64::MAX)), Ordering::Less);
        assert!(same_number(Number::Int(5), Number::Float(5.0)));
        assert!(is_multiple(Number::Float(0.3), Number::Float(0.1)));
        assert!(is_multiple(Number::Float(1e300), Number::Int(5)));
        assert!(!is_multiple(Number::Float(0.35), Number::Float(0.1)));
        assert!(!is_multiple(Number::Int(i128::from(u64::MAX)), Number::Int(2)));
    }
}
