//! The rules of numbers, strings, arrays and objects, one file per type.
//!
//! Each file contains everything about a rule: its field, its keyword and how the keywords of two schemas are merged,
//! how it is rendered and described, how two sets of rules are merged, how it is copied in a constant, and how a
//! value is checked against it. All other modules call these files. Each function destructures the struct or builds
//! it field by field, so that a new field does not compile until every function handles it.

pub(crate) mod array;
pub(crate) mod number;
pub(crate) mod object;
pub(crate) mod text;

use serde_json::{Map, Value};

use crate::base::frozen::Text;
use crate::schema::dialect::Dialect;

type Object = Map<String, Value>;

/// A JSON Schema keyword for values of one type.
pub(crate) struct Keyword {
    /// Its name.
    pub(crate) name: &'static str,
    /// The required form of its value.
    pub(crate) form: Form,
    /// How the values of two schemas are combined.
    pub(crate) combination: Combination,
}

/// The form of a keyword's value.
#[derive(Clone, Copy)]
pub(crate) enum Form {
    /// A whole number from zero.
    Count,
    /// A boolean.
    Flag,
    /// A string.
    Text,
    /// A regular expression.
    Pattern,
    /// A number.
    Number,
    /// A number that earlier drafts make exclusive with a flag next to it.
    Limit,
    /// A number greater than zero.
    Step,
}

/// How the values of two schemas are combined.
#[derive(Clone, Copy)]
pub(crate) enum Combination {
    /// The larger number.
    Larger,
    /// The smaller number.
    Smaller,
    /// The later value: an annotation rather than a rule.
    Later,
    /// No value, unless both are equal.
    Same,
}

impl Keyword {
    const fn new(name: &'static str, form: Form, combination: Combination) -> Keyword {
        Keyword { name, form, combination }
    }
}

/// The types whose values have rules, with their keywords.
pub(crate) const TYPES: [(&str, &[Keyword]); 4] = [
    ("object", object::KEYWORDS),
    ("array", array::KEYWORDS),
    ("string", text::KEYWORDS),
    ("number", number::KEYWORDS),
];

/// Returns the keyword with a name, and the type that it applies to.
pub(crate) fn keyword(name: &str) -> Option<(&'static str, &'static Keyword)> {
    TYPES.iter().find_map(|(type_name, keywords)| {
        Some((*type_name, keywords.iter().find(|keyword| keyword.name == name)?))
    })
}

/// A rule that is set, in each of its forms.
#[derive(Debug)]
pub(crate) struct StatedRule {
    /// Its keyword in canonical text.
    pub(crate) keyword: &'static str,
    /// Its value in canonical text.
    pub(crate) value: Value,
    /// The keyword and the value for providers, if they differ from canonical text.
    pub(crate) dialect_form: Option<(&'static str, Value)>,
    /// Returns the value for a dialect that has the keyword; `None` if the dialect cannot express the value.
    pub(crate) to_dialect: fn(&Dialect, &Value) -> Option<Value>,
    /// Part of a sentence that states the rule; empty if it is for neither providers nor models.
    pub(crate) prose: String,
}

impl StatedRule {
    fn new(keyword: &'static str, value: impl Into<Value>, prose: String) -> StatedRule {
        StatedRule {
            keyword,
            value: value.into(),
            dialect_form: None,
            to_dialect: |_, value| Some(value.clone()),
            prose,
        }
    }

    /// A string, unless it is empty.
    fn text(keyword: &'static str, text: &Text, prose: impl FnOnce(&Text) -> String) -> Option<StatedRule> {
        (!text.is_empty()).then(|| StatedRule::new(keyword, text.as_str(), prose(text)))
    }

    /// A limit on a count: `at least 1 character`.
    fn count(keyword: &'static str, limit: Option<u64>, thing: &str) -> Option<StatedRule> {
        let limit = limit?;
        let bound = if keyword.starts_with("min") { "at least" } else { "at most" };
        let plural = if limit == 1 { "" } else { "s" };
        Some(StatedRule::new(keyword, limit, format!("{bound} {limit} {thing}{plural}")))
    }

    /// A flag, if it is set.
    fn flag(keyword: &'static str, flag: bool, prose: &str) -> Option<StatedRule> {
        flag.then(|| StatedRule::new(keyword, true, prose.to_owned()))
    }
}

/// Returns the problems of a count.
fn check_count(count: usize, least: Option<u64>, max: Option<u64>, thing: &str) -> Vec<String> {
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let message = |bound: &str, limit: u64| {
        let plural = if limit == 1 { "" } else { "s" };
        format!("must have {bound} {limit} {thing}{plural}, got {count}")
    };
    let too_few = least.filter(|limit| count < *limit).map(|limit| message("at least", limit));
    let too_many = max.filter(|limit| count > *limit).map(|limit| message("at most", limit));
    too_few.into_iter().chain(too_many).collect()
}

/// Reads a count from a schema in normal form.
fn count(schema: &Object, keyword: &str) -> Option<u64> {
    schema.get(keyword).and_then(Value::as_u64)
}

/// Reads a string from a schema in normal form; empty if it is absent.
pub(super) fn text(schema: &Object, keyword: &str) -> Text {
    schema.get(keyword).and_then(Value::as_str).map_or(Text::EMPTY, |text| text.to_owned().into())
}

/// Reads a flag from a schema in normal form.
pub(super) fn flag(schema: &Object, keyword: &str) -> bool {
    schema.get(keyword) == Some(&Value::Bool(true))
}

/// Returns the smaller of two limits.
fn smaller_limit(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (limit, None) | (None, limit) => limit,
    }
}

/// Returns the value that is set, or the value of both if they are equal. Different values cannot be combined.
fn common_value<T: Clone + PartialEq>(a: &T, b: &T, none: &T) -> Option<T> {
    match (a, b) {
        (a, b) if b == none || a == b => Some(a.clone()),
        (a, b) if a == none => Some(b.clone()),
        _ => None,
    }
}

/// Returns the first string, or the second if the first is empty.
fn first_non_empty(a: &Text, b: &Text) -> Text {
    if a.is_empty() { b.clone() } else { a.clone() }
}

/// Returns the first limit, or the second if the first is not set.
const fn first_set(first: Option<u64>, second: Option<u64>) -> Option<u64> {
    if first.is_some() { first } else { second }
}

/// Returns the first string, or the second if the first is empty. Both are static.
const fn first_set_text(first: &Text, second: &Text) -> Text {
    let text = first.program();
    Text::Static(if text.is_empty() { second.program() } else { text })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::schema::shape::{Kind, arbitrary};

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn stated_rules_round_trip_through_schemas(shape in arbitrary::shape()) {
            let (type_name, stated) = match &shape.kind {
                Kind::Integer(rules) | Kind::Number(rules) => ("number", rules.stated_rules()),
                Kind::String(rules) => ("string", rules.stated_rules()),
                Kind::Array(rules) => ("array", rules.stated_rules()),
                Kind::Tuple(rules) => ("array", rules.stated_rules()),
                Kind::Object(rules) => ("object", rules.stated_rules()),
                _ => return Ok(()),
            };
            for name in stated.iter().map(|rule| rule.keyword) {
                // `format` applies to several types; keywords that start with `x-` occur only in canonical text.
                let is_exempt = name == "format" || name.starts_with("x-");
                prop_assert!(is_exempt || keyword(name).is_some_and(|(owner, _)| owner == type_name), "{} {}", type_name, name);
            }
        }
    }
}
