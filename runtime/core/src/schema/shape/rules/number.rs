//! The rules of numbers.

use std::cmp::Ordering::{self, Greater, Less};

use serde_json::Value;

use super::{Form, Keyword, Object, Stated, Together, either_text, first, same, text};
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
    Keyword::new("minimum", Form::Limit, Together::Larger),
    Keyword::new("maximum", Form::Limit, Together::Smaller),
    Keyword::new("exclusiveMinimum", Form::Number, Together::Larger),
    Keyword::new("exclusiveMaximum", Form::Number, Together::Smaller),
    Keyword::new("multipleOf", Form::Step, Together::Same),
];

/// A bound that is set.
struct Bound {
    keyword: &'static str,
    words: &'static str,
    bound: Number,
    /// Whether a value satisfies the bound.
    met: fn(Number, Number) -> bool,
}

impl Bound {
    /// Returns the bound as part of a sentence: `at least 1`.
    fn prose(&self) -> String {
        format!("{} {}", self.words, self.bound.to_json())
    }

    fn is_met(&self, value: Number) -> bool {
        (self.met)(value, self.bound)
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

    /// Whether the bounds exclude every number; `whole`: every integer.
    pub(crate) fn is_contradictory(&self, whole: bool) -> bool {
        /// 2^53: beyond it, floats skip integers.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        let none_between = |low: f64, above: bool, high: f64, below: bool| {
            let first = if above { low.floor() + 1.0 } else { low.ceil() };
            let last = if below { high.ceil() - 1.0 } else { high.floor() };
            low.abs() < EXACT && high.abs() < EXACT && first > last
        };
        let lows = [(self.minimum, false), (self.exclusive_minimum, true)];
        let highs = [(self.maximum, false), (self.exclusive_maximum, true)];
        lows.iter().filter_map(|(low, above)| Some(((*low)?, *above))).any(|(low, above)| {
            highs.iter().filter_map(|(high, below)| Some(((*high)?, *below))).any(|(high, below)| {
                match compare(low, high) {
                    Greater => true,
                    Ordering::Equal => above || below,
                    Less => whole && none_between(low.float(), above, high.float(), below),
                }
            })
        })
    }

    /// Returns the rules that are set.
    pub(crate) fn stated(&self) -> Vec<Stated> {
        // Formats of numbers (`int32`, `double`) are types of programming languages and do not help a model.
        let format = Stated::text("format", &self.format, |_| String::new());
        let prose = |rule: &Bound| {
            if is_described(&self.format, Some(rule.bound)) { rule.prose() } else { String::new() }
        };
        let bounds = self.bounds().map(|rule| Stated::new(rule.keyword, rule.bound.to_json(), prose(&rule)));
        format.into_iter().chain(bounds).collect()
    }

    /// Returns the bounds that are set, in the order in which they are written and described.
    fn bounds(&self) -> impl Iterator<Item = Bound> {
        type Met = fn(Number, Number) -> bool;
        // Destructured, so that a new rule cannot be missing in the table.
        let NumberRules { minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of, format: _ } =
            self;
        let within: [(_, _, _, Met); 5] = [
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
        let set = |(bound, keyword, words, met): (&Option<Number>, _, _, _)| {
            Some(Bound { keyword, words, bound: (*bound)?, met })
        };
        within.into_iter().filter_map(set)
    }

    /// Returns the problem of a number.
    pub(crate) fn problem(&self, value: Number) -> Option<String> {
        let range = integers_of(&self.format).filter(|(least, max)| {
            compare(value, Number::Int(*least)) == Less || compare(value, Number::Int(*max)) == Greater
        });
        // The fast path: most numbers are valid.
        if range.is_none() && self.bounds().all(|rule| rule.is_met(value)) {
            return None;
        }
        let missed = self.bounds().filter(|rule| !rule.is_met(value)).map(|rule| rule.prose());
        let missed = match range {
            None => missed.collect::<Vec<_>>(),
            Some((least, max)) => vec![format!("from {least} to {max}")],
        };
        Some(format!("must be {}, got {}", missed.join(" and "), value.to_json()))
    }

    /// Returns the intersection of two sets of rules, if it is not empty.
    pub(crate) fn and(&self, other: &NumberRules) -> Option<NumberRules> {
        Some(NumberRules {
            minimum: tightest(self.minimum, other.minimum, Greater),
            maximum: tightest(self.maximum, other.maximum, Less),
            exclusive_minimum: tightest(self.exclusive_minimum, other.exclusive_minimum, Greater),
            exclusive_maximum: tightest(self.exclusive_maximum, other.exclusive_maximum, Less),
            multiple_of: same(&self.multiple_of, &other.multiple_of, &None)?,
            format: first(&self.format, &other.format),
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
        format: either_text(&other.format, &base.format),
    }
}

/// Returns the range of a format. It is enforced, but no model sees it: it describes how a program stores the number,
/// not its meaning. Ranges of 8 bits are shown, since a model could easily exceed them.
const fn range_of(format: &str) -> [Option<Number>; 2] {
    // The formats with their bits: signed, unsigned.
    let mut index = 0;
    while index < WHOLE.len() {
        let (signed, unsigned, bits) = WHOLE[index];
        if same_text(format, signed) {
            let half = 1 << (bits - 1);
            return [Some(Number::Int(-half)), Some(Number::Int(half - 1))];
        }
        // An unsigned format does say something about the number: it is not negative.
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
    let [least, most] = range_of(format);
    !(is_bound(least, bound) || is_bound(most, bound))
}

/// Whether a bound is set to this number.
const fn is_bound(set: Option<Number>, bound: Number) -> bool {
    match (set, bound) {
        (Some(Number::Int(set)), Number::Int(bound)) => set == bound,
        (Some(Number::Float(set)), Number::Float(bound)) => set.to_bits() == bound.to_bits(),
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

const WHOLE: [(&str, &str, u32); 4] =
    [("int16", "uint16", 16), ("int32", "uint32", 32), ("int64", "uint64", 64), ("int", "uint", 64)];

fn tightest(a: Option<Number>, b: Option<Number>, wanted: Ordering) -> Option<Number> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if compare(a, b) == wanted { a } else { b }),
        (bound, None) | (None, bound) => bound,
    }
}
