//! The rules of numbers.

use std::cmp::Ordering::{self, Greater, Less};

use serde_json::Value;

use super::{
    Combination, Form, Keyword, Object, StatedRule, common_value, first_non_empty, first_set_text, text,
};
use crate::base::const_text::same as same_text;
use crate::base::frozen::Text;
use crate::schema::shape::number::{Number, compare, is_multiple};

/// The rules of a number.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberRules {
    /// Minimum value.
    pub minimum: Option<Number>,
    /// Maximum value.
    pub maximum: Option<Number>,
    /// Exclusive minimum.
    pub exclusive_minimum: Option<Number>,
    /// Exclusive maximum.
    pub exclusive_maximum: Option<Number>,
    /// Every allowed value is an integer multiple of this step.
    pub multiple_of: Option<Number>,
    /// A format such as `int64` or `double`; empty if there is none. The ranges of integer formats are enforced,
    /// although no model sees them. Other formats are annotations.
    pub format: Text,
}

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("minimum", Form::Limit, Combination::Larger),
    Keyword::new("maximum", Form::Limit, Combination::Smaller),
    Keyword::new("exclusiveMinimum", Form::Number, Combination::Larger),
    Keyword::new("exclusiveMaximum", Form::Number, Combination::Smaller),
    Keyword::new("multipleOf", Form::Step, Combination::Same),
];

/// A bound that is set.
struct Bound {
    keyword: &'static str,
    phrase: &'static str,
    bound: Number,
    /// Whether a value satisfies the bound.
    satisfies: fn(Number, Number) -> bool,
}

impl Bound {
    /// Returns the bound as part of a sentence: `at least 1`.
    fn prose(&self) -> String {
        format!("{} {}", self.phrase, self.bound.to_json())
    }

    fn is_satisfied_by(&self, value: Number) -> bool {
        (self.satisfies)(value, self.bound)
    }
}

impl NumberRules {
    /// The rules that allow every number.
    pub const ANY: NumberRules = NumberRules {
        minimum: None,
        maximum: None,
        exclusive_minimum: None,
        exclusive_maximum: None,
        multiple_of: None,
        format: Text::EMPTY,
    };

    /// Reads the rules of a schema in normal form.
    pub(crate) fn read(schema: &Object) -> NumberRules {
        let bound = |keyword: &str| match schema.get(keyword)? {
            Value::Number(number) => Number::of(number).map(Number::integral),
            _ => None,
        };
        NumberRules {
            minimum: bound("minimum"),
            maximum: bound("maximum"),
            exclusive_minimum: bound("exclusiveMinimum"),
            exclusive_maximum: bound("exclusiveMaximum"),
            multiple_of: bound("multipleOf"),
            format: text(schema, "format"),
        }
    }

    /// Whether the bounds exclude every number, or with `integers_only` every integer.
    pub(crate) fn is_contradictory(&self, integers_only: bool) -> bool {
        /// 2^53: beyond it, floats skip integers.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let has_no_integer_between = |low: f64, low_excluded: bool, high: f64, high_excluded: bool| {
            let first = if low_excluded { low.floor() + 1.0 } else { low.ceil() };
            let last = if high_excluded { high.ceil() - 1.0 } else { high.floor() };
            low.abs() < EXACT && high.abs() < EXACT && first > last
        };
        let lows = [(self.minimum, false), (self.exclusive_minimum, true)];
        let highs = [(self.maximum, false), (self.exclusive_maximum, true)];
        lows.iter().filter_map(|(low, low_excluded)| Some(((*low)?, *low_excluded))).any(
            |(low, low_excluded)| {
                highs.iter().filter_map(|(high, high_excluded)| Some(((*high)?, *high_excluded))).any(
                    |(high, high_excluded)| match compare(low, high) {
                        Greater => true,
                        Ordering::Equal => low_excluded || high_excluded,
                        Less => {
                            integers_only
                                && has_no_integer_between(
                                    low.float(),
                                    low_excluded,
                                    high.float(),
                                    high_excluded,
                                )
                        }
                    },
                )
            },
        )
    }

    /// Returns the rules that are set.
    pub(crate) fn stated_rules(&self) -> Vec<StatedRule> {
        // Formats of numbers (`int32`, `double`) are types of programming languages and do not help a model.
        let format = StatedRule::text("format", &self.format, |_| String::new());
        let prose = |rule: &Bound| {
            if is_described(&self.format, Some(rule.bound)) { rule.prose() } else { String::new() }
        };
        let bounds =
            self.bounds().map(|rule| StatedRule::new(rule.keyword, rule.bound.to_json(), prose(&rule)));
        format.into_iter().chain(bounds).collect()
    }

    /// Returns the bounds that are set, in the order in which they are written and described.
    fn bounds(&self) -> impl Iterator<Item = Bound> {
        type Satisfies = fn(Number, Number) -> bool;
        // Destructured, so that a new rule cannot be missing in the table.
        let NumberRules { minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of, format: _ } =
            self;
        let table: [(_, _, _, Satisfies); 5] = [
            (minimum, "minimum", "at least", |value, bound| compare(value, bound) != Less),
            (exclusive_minimum, "exclusiveMinimum", "more than", |value, bound| {
                compare(value, bound) == Greater
            }),
            (maximum, "maximum", "at most", |value, bound| compare(value, bound) != Greater),
            (exclusive_maximum, "exclusiveMaximum", "less than", |value, bound| {
                compare(value, bound) == Less
            }),
            (multiple_of, "multipleOf", "a multiple of", is_multiple),
        ];
        let to_bound = |(bound, keyword, phrase, satisfies): (&Option<Number>, _, _, _)| {
            Some(Bound { keyword, phrase, bound: (*bound)?, satisfies })
        };
        table.into_iter().filter_map(to_bound)
    }

    /// Returns the problem of a number.
    pub(crate) fn problem(&self, value: Number) -> Option<String> {
        let range = integers_of(&self.format).filter(|(least, max)| {
            compare(value, Number::Int(*least)) == Less || compare(value, Number::Int(*max)) == Greater
        });
        // The fast path: most numbers are valid.
        if range.is_none() && self.bounds().all(|rule| rule.is_satisfied_by(value)) {
            return None;
        }
        let violated = self.bounds().filter(|rule| !rule.is_satisfied_by(value)).map(|rule| rule.prose());
        let violated = match range {
            None => violated.collect::<Vec<_>>(),
            Some((least, max)) => vec![format!("from {least} to {max}")],
        };
        Some(format!("must be {}, got {}", violated.join(" and "), value.to_json()))
    }

    /// Returns the intersection of two sets of rules, if it is not empty.
    pub(crate) fn and(&self, other: &NumberRules) -> Option<NumberRules> {
        Some(NumberRules {
            minimum: tightest(self.minimum, other.minimum, Greater),
            maximum: tightest(self.maximum, other.maximum, Less),
            exclusive_minimum: tightest(self.exclusive_minimum, other.exclusive_minimum, Greater),
            exclusive_maximum: tightest(self.exclusive_maximum, other.exclusive_maximum, Less),
            multiple_of: common_value(&self.multiple_of, &other.multiple_of, &None)?,
            format: first_non_empty(&self.format, &other.format),
        })
    }
}

/// Copies the rules in a constant, overridden by the rules that `other` sets.
#[must_use]
pub const fn number_with(base: &NumberRules, other: &NumberRules) -> NumberRules {
    const fn either(first: Option<Number>, second: Option<Number>) -> Option<Number> {
        if first.is_some() { first } else { second }
    }
    NumberRules {
        minimum: either(other.minimum, base.minimum),
        maximum: either(other.maximum, base.maximum),
        exclusive_minimum: either(other.exclusive_minimum, base.exclusive_minimum),
        exclusive_maximum: either(other.exclusive_maximum, base.exclusive_maximum),
        multiple_of: either(other.multiple_of, base.multiple_of),
        format: first_set_text(&other.format, &base.format),
    }
}

/// Returns the range of a format. It is enforced, but no model sees it: it describes how a program stores the number,
/// not its meaning. Ranges of 8 bits are shown, since a model could easily exceed them.
const fn range_of(format: &str) -> [Option<Number>; 2] {
    // The formats with their bits: signed, unsigned.
    let mut index = 0;
    while index < INTEGER_FORMATS.len() {
        let (signed, unsigned, bits) = INTEGER_FORMATS[index];
        if same_text(format, signed) {
            let limit = 1 << (bits - 1);
            return [Some(Number::Int(-limit)), Some(Number::Int(limit - 1))];
        }
        // The zero of an unsigned format has a meaning for the model: the number is not negative.
        if same_text(format, unsigned) {
            return [None, Some(Number::Int((1 << bits) - 1))];
        }
        index += 1;
    }
    if same_text(format, "float") {
        return [Some(Number::Float(f32::MIN as f64)), Some(Number::Float(f32::MAX as f64))];
    }
    [None, None]
}

/// Whether a model sees a bound: it is set and is not that of the format.
pub const fn is_described(format: &str, bound: Option<Number>) -> bool {
    let Some(bound) = bound else { return false };
    let [min, max] = range_of(format);
    !(is_bound(min, bound) || is_bound(max, bound))
}

/// Whether a limit of a format is this number.
const fn is_bound(limit: Option<Number>, bound: Number) -> bool {
    match (limit, bound) {
        (Some(Number::Int(limit)), Number::Int(bound)) => limit == bound,
        (Some(Number::Float(limit)), Number::Float(bound)) => limit.to_bits() == bound.to_bits(),
        _ => false,
    }
}

/// Returns the minimum and the maximum of an integer format: `int` or `uint`, with a number of bits (default 64).
fn integers_of(format: &str) -> Option<(i128, i128)> {
    let unsigned = format.strip_prefix('u');
    let bits = match unsigned.unwrap_or(format).strip_prefix("int")? {
        "8" => 8,
        "16" => 16,
        "32" => 32,
        "64" | "" => 64,
        _ => return None,
    };
    let half = 1_i128 << (bits - 1);
    Some(if unsigned.is_none() { (-half, half - 1) } else { (0, 2 * half - 1) })
}

const INTEGER_FORMATS: [(&str, &str, u32); 4] =
    [("int16", "uint16", 16), ("int32", "uint32", 32), ("int64", "uint64", 64), ("int", "uint", 64)];

fn tightest(a: Option<Number>, b: Option<Number>, order: Ordering) -> Option<Number> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if compare(a, b) == order { a } else { b }),
        (bound, None) | (None, bound) => bound,
    }
}
