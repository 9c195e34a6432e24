//! The rules of numbers and texts, applied to values.

use std::cmp::Ordering;

use super::{Number, NumberRules, StringRules};

/// Patterns are tried on texts up to this length, in bytes. Longer ones count as matching: the engine backtracks,
/// and a hostile text must not cost more than it is worth.
pub(crate) const MAX_PATTERN_TEXT: usize = 2_000;

/// The order of two numbers, exact for integers.
pub(crate) fn compare(a: Number, b: Number) -> Ordering {
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => a.cmp(&b),
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
        (Number::Int(a), Number::Float(b)) => compare_mixed(a, b),
        (Number::Float(a), Number::Int(b)) => compare_mixed(b, a).reverse(),
    }
}

/// An integer against a float, without rounding the integer.
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
/// only come near, within the error of the division.
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

/// Whether a number keeps all of the rules.
pub(crate) fn number_fits(value: Number, rules: &NumberRules) -> bool {
    rules.minimum.is_none_or(|limit| compare(value, limit) != Ordering::Less)
        && rules.maximum.is_none_or(|limit| compare(value, limit) != Ordering::Greater)
        && rules.exclusive_minimum.is_none_or(|limit| compare(value, limit) == Ordering::Greater)
        && rules.exclusive_maximum.is_none_or(|limit| compare(value, limit) == Ordering::Less)
        && rules.multiple_of.is_none_or(|step| is_multiple(value, step))
}

/// The length of a text in characters.
pub(crate) fn length(text: &str) -> u64 {
    u64::try_from(text.chars().count()).unwrap_or(u64::MAX)
}

/// Whether a text keeps all of the rules.
pub(crate) fn text_fits(text: &str, rules: &StringRules) -> bool {
    rules.min_length.is_none_or(|limit| length(text) >= limit)
        && rules.max_length.is_none_or(|limit| length(text) <= limit)
        && matches(&rules.pattern, text)
}

/// Whether a text is a regular expression that can be tried on a value: one of ECMA-262, as JSON Schema asks for, in
/// Unicode mode or without. Values are not held against a `pattern` that is none.
#[must_use]
pub fn is_pattern(pattern: &str) -> bool {
    compile(pattern).is_some()
}

/// Whether a text matches a pattern somewhere. An empty pattern, one that does not parse, and texts longer than
/// [`MAX_PATTERN_TEXT`] match.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    if pattern.is_empty() || text.len() > MAX_PATTERN_TEXT {
        return true;
    }
    compile(pattern).is_none_or(|regex| regex.find(text).is_some())
}

/// JSON Schema asks for Unicode mode; many patterns in use only parse without it (`\-` outside a class).
fn compile(pattern: &str) -> Option<regress::Regex> {
    regress::Regex::with_flags(pattern, "u").or_else(|_| regress::Regex::new(pattern)).ok()
}
