//! The rules of strings.

use serde_json::{Value, json};

use super::{
    Combination, Form, Keyword, Object, StatedRule, check_count, common_value, count, first_non_empty,
    first_set, first_set_text, smaller_limit, text,
};
use crate::base::frozen::Text;
use crate::base::truncate;
use crate::schema::shape::pattern::{MatchOutcome, is_pattern, match_pattern};
use crate::schema::shape::relative_path;

/// Maximum length of a string in a message, in characters.
const MAX_QUOTED: usize = 60;

/// The rules of a string. Lengths count characters (Unicode scalar values).
#[derive(Clone, Debug, PartialEq)]
pub struct StringRules {
    /// Minimum length.
    pub min_length: Option<u64>,
    /// Maximum length.
    pub max_length: Option<u64>,
    /// An ECMA-262 regular expression that must match somewhere in the string; empty if there is none.
    pub pattern: Text,
    /// An ECMA-262 regular expression that must not match anywhere in the string; empty if there is none. A string
    /// that takes too long to check is rejected.
    pub deny: Text,
    /// The message for a string that `deny` rejects; if empty, the expression is shown.
    pub deny_message: Text,
    /// A format such as `date-time`, `uuid` or `byte`; empty if there is none. It is an annotation and not enforced.
    pub format: Text,
    /// The encoding of the content, such as `base64`; empty if there is none.
    pub content_encoding: Text,
    /// The media type of the content; empty if there is none.
    pub content_media_type: Text,
}

pub(super) const KEYWORDS: &[Keyword] = &[
    Keyword::new("minLength", Form::Count, Combination::Larger),
    Keyword::new("maxLength", Form::Count, Combination::Smaller),
    Keyword::new("pattern", Form::Pattern, Combination::Same),
    Keyword::new("contentEncoding", Form::Text, Combination::Later),
    Keyword::new("contentMediaType", Form::Text, Combination::Later),
];

impl StringRules {
    /// The rules that allow every string.
    pub const ANY: StringRules = StringRules {
        min_length: None,
        max_length: None,
        pattern: Text::EMPTY,
        deny: Text::EMPTY,
        deny_message: Text::EMPTY,
        format: Text::EMPTY,
        content_encoding: Text::EMPTY,
        content_media_type: Text::EMPTY,
    };

    /// Reads the rules of a schema in normal form.
    pub(crate) fn read(schema: &Object) -> StringRules {
        StringRules {
            min_length: count(schema, "minLength"),
            max_length: count(schema, "maxLength"),
            pattern: text(schema, "pattern"),
            deny: text(schema, "x-deny"),
            deny_message: text(schema, "x-deny-message"),
            format: text(schema, "format"),
            content_encoding: text(schema, "contentEncoding"),
            content_media_type: text(schema, "contentMediaType"),
        }
    }

    /// Returns the rules that are set, in the order in which they are written and described.
    pub(crate) fn stated_rules(&self) -> Vec<StatedRule> {
        let StringRules {
            min_length,
            max_length,
            pattern,
            deny,
            deny_message,
            format,
            content_encoding,
            content_media_type,
        } = self;
        let format =
            StatedRule::text("format", format, |format| format!("format: {format}")).map(|rule| StatedRule {
                to_dialect: |dialect, format| {
                    format.as_str().filter(|format| dialect.accepts_format(format)).map(Value::from)
                },
                ..rule
            });
        let pattern =
            StatedRule::text("pattern", pattern, |pattern| format!("matching {pattern}")).map(|rule| {
                StatedRule {
                    // Providers support only ECMA-262.
                    to_dialect: |dialect, pattern| {
                        let pattern = pattern.as_str().filter(|pattern| is_pattern(pattern))?;
                        dialect.pattern(pattern).map(Value::from)
                    },
                    ..rule
                }
            });
        let deny =
            StatedRule::text("x-deny", deny, |deny| format!("not matching {deny}")).map(|rule| StatedRule {
                dialect_form: Some(("not", json!({ "pattern": rule.value }))),
                to_dialect: |dialect, not| {
                    let pattern = dialect.pattern(not.get("pattern")?.as_str()?)?;
                    Some(json!({ "pattern": pattern }))
                },
                ..rule
            });
        let rules = [
            format,
            StatedRule::count("minLength", *min_length, "character"),
            StatedRule::count("maxLength", *max_length, "character"),
            pattern,
            deny,
            StatedRule::text("x-deny-message", deny_message, |_| String::new()),
            StatedRule::text("contentEncoding", content_encoding, |encoding| format!("{encoding} text")),
            StatedRule::text("contentMediaType", content_media_type, |media_type| {
                format!("content of type {media_type}")
            }),
        ];
        rules.into_iter().flatten().collect()
    }

    /// Whether the rules allow every string.
    pub(crate) fn allow_all(&self) -> bool {
        self.min_length.is_none()
            && self.max_length.is_none()
            && self.pattern.is_empty()
            && self.deny.is_empty()
    }

    /// Checks a string against the rules.
    pub(crate) fn check(&self, text: &str) -> StringCheck {
        let StringRules {
            min_length,
            max_length,
            pattern,
            deny: _,
            deny_message: _,
            // Annotations, which are not enforced.
            format: _,
            content_encoding: _,
            content_media_type: _,
        } = self;
        let mut problems = Vec::new();
        if min_length.is_some() || max_length.is_some() {
            problems = check_count(text.chars().count(), *min_length, *max_length, "character");
        }
        let pattern_outcome = match_pattern(pattern, text);
        if pattern_outcome.is_match == Some(false) {
            let text = Value::from(truncate::cut(text, MAX_QUOTED));
            problems.push(format!("must match the pattern {pattern}, got the string {text}"));
        }
        let (deny_outcome, refusal) = check_deny(self, text);
        problems.extend(refusal);
        StringCheck {
            problems,
            steps: pattern_outcome.steps + deny_outcome.steps,
            is_conclusive: pattern_outcome.is_match.is_some(),
        }
    }

    /// Returns the intersection of two sets of rules, if it is not empty.
    pub(crate) fn and(&self, other: &StringRules) -> Option<StringRules> {
        Some(StringRules {
            min_length: self.min_length.max(other.min_length),
            max_length: smaller_limit(self.max_length, other.max_length),
            pattern: common_value(&self.pattern, &other.pattern, &Text::EMPTY)?,
            deny: common_value(&self.deny, &other.deny, &Text::EMPTY)?,
            deny_message: first_non_empty(&self.deny_message, &other.deny_message),
            format: first_non_empty(&self.format, &other.format),
            content_encoding: first_non_empty(&self.content_encoding, &other.content_encoding),
            content_media_type: first_non_empty(&self.content_media_type, &other.content_media_type),
        })
    }
}

/// Copies the rules in a constant, overridden by the rules that `other` sets.
#[must_use]
pub const fn text_with(base: &StringRules, other: &StringRules) -> StringRules {
    StringRules {
        min_length: first_set(other.min_length, base.min_length),
        max_length: first_set(other.max_length, base.max_length),
        pattern: first_set_text(&other.pattern, &base.pattern),
        deny: first_set_text(&other.deny, &base.deny),
        deny_message: first_set_text(&other.deny_message, &base.deny_message),
        format: first_set_text(&other.format, &base.format),
        content_encoding: first_set_text(&other.content_encoding, &base.content_encoding),
        content_media_type: first_set_text(&other.content_media_type, &base.content_media_type),
    }
}

/// The result of a check.
#[derive(Debug)]
pub(crate) struct StringCheck {
    /// The problems.
    pub(crate) problems: Vec<String>,
    /// The steps that matching the patterns took.
    pub(crate) steps: u64,
    /// Whether the pattern was matched to the end. If not, the string is accepted.
    pub(crate) is_conclusive: bool,
}

/// Matches `deny` against a string. Returns the outcome, and the reason for rejecting the string, without the string.
fn check_deny(rules: &StringRules, text: &str) -> (MatchOutcome, Option<String>) {
    let StringRules { deny, deny_message, .. } = rules;
    let outcome = match_pattern(deny, text);
    let message = match outcome.is_match {
        _ if deny.is_empty() => None,
        // A string that cannot be checked counts as a match.
        _ if !is_pattern(deny) => {
            Some(format!("cannot be checked against {deny}, which is not a valid pattern"))
        }
        None => {
            Some(format!("takes too many steps to check against the pattern {deny}; send a shorter string"))
        }
        Some(false) => None,
        Some(true) if deny_message.is_empty() => Some(format!("must not match the pattern {deny}")),
        Some(true) => {
            Some(match relative_path::fault(text).filter(|_| *deny == *relative_path::OUTSIDE_PATTERN) {
                Some(reason) => format!("{deny_message}: {reason}"),
                None => deny_message.to_string(),
            })
        }
    };
    (outcome, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uncheckable_deny_pattern_rejects_the_string() {
        let refused = |deny: &str, text: &str| {
            let rules = StringRules { deny: deny.to_owned().into(), ..StringRules::ANY };
            check_deny(&rules, text).1
        };
        for (deny, text) in [("rm -rf /", "a"), ("", "a"), ("^(a+)+$", "ab"), ("rm +-rf", "r")] {
            assert_eq!(refused(deny, &text.repeat(1 << 20)), None, "{deny}");
        }
        let cases = [
            ("rm -rf /", "cd x;rm -rf /".to_owned(), "must not match the pattern rm -rf /"),
            ("rm -rf /", "a".repeat(16 << 20), "takes too many steps"),
            (r"^(a+)(a+)(a+)\1\2\3b", "a".repeat(3_000), "takes too many steps"),
            ("(", "a".to_owned(), "which is not a valid pattern"),
        ];
        for (deny, text, message) in cases {
            assert!(refused(deny, &text).is_some_and(|reason| reason.contains(message)), "{deny}");
        }
    }

    #[test]
    fn uncheckable_pattern_accepts_the_string() {
        let rules = StringRules { pattern: "((((a{1,9}b){99}){99}){99}){99}".into(), ..StringRules::ANY };
        let checked = rules.check("ab");
        assert!(checked.problems.is_empty() && !checked.is_conclusive, "{checked:?}");
    }
}
