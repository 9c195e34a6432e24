//! Rules of arguments that JSON Schema does not have: `deny_pattern`, `deny_message` and `path`, as in `#[arg(…)]`.

use serde_json::Value;
use toolgen_core::internal::below::{OUTSIDE_PATTERN, REFUSED};
use toolgen_core::schema::shape::{ArrayRules, Kind, StringRules, is_pattern};
use toolgen_core::{Shape, Text};

use super::codes;
use super::context::Context;
use super::node::Node;

/// The keys of the rules.
pub(super) const KEYS: [&str; 3] = ["deny_pattern", "deny_message", "path"];

impl<'a> Context<'a> {
    /// Adds the rules of an argument to its shape. Rules of an array apply to its items.
    pub(super) fn apply_value_rules(&mut self, shape: &mut Shape, node: &Node<'a>) {
        let Some(first_key) = KEYS.into_iter().find(|key| node.get(key).is_some()) else { return };
        let [deny, message, path] = KEYS.map(|key| node.get(key).map(|node| node.value));
        let string_or_empty = |value: Option<&'a Value>| value.map(Value::as_str).unwrap_or(Some(""));
        let rules = match (deny, string_or_empty(deny), string_or_empty(message), path) {
            (None, _, Some(""), Some(Value::Bool(false))) => return,
            (None, _, Some(""), Some(Value::Bool(true))) => Ok((OUTSIDE_PATTERN, REFUSED)),
            (_, _, _, Some(Value::Bool(_))) => Err((
                "`path` cannot be combined with another rule for the same string",
                "leave one of the two out",
            )),
            (_, _, _, Some(_)) => {
                Err(("`path` must be `true`: a relative path without `..`", "write `path: true`"))
            }
            (Some(_), Some(pattern), Some(deny_message), None)
                if !pattern.is_empty() && is_pattern(pattern) =>
            {
                Ok((pattern, deny_message))
            }
            (None, ..) => {
                Err(("`deny_message` explains the rejection by `deny_pattern`", "add `deny_pattern`"))
            }
            _ => Err((
                "`deny_pattern` must be a regular expression of ECMAScript, and `deny_message` a string",
                "write `deny_pattern: '^-'`",
            )),
        };
        let guarded = rules.and_then(|(deny, deny_message)| {
            let wrong_type = ("the rule is only for strings and arrays of strings", "add `type: string`");
            with_denied_pattern(shape, deny, deny_message).ok_or(wrong_type)
        });
        match guarded {
            Ok(guarded) => *shape = guarded,
            Err((message, help)) => self.report(codes::SCHEMA, &node.pointer.child(first_key), message, help),
        }
        if path.is_some() && !shape.description.is_empty() {
            shape.description = format!("{} A relative path without `..`.", shape.description).into();
        }
    }
}

/// Returns the shape of strings, or of arrays of strings, that denies a pattern.
fn with_denied_pattern(shape: &Shape, deny: &str, deny_message: &str) -> Option<Shape> {
    let to_text = |text: &str| Text::from(text.to_owned());
    let kind = match &shape.kind {
        Kind::String(rules) => Kind::String(StringRules {
            deny: to_text(deny),
            deny_message: to_text(deny_message),
            ..rules.clone()
        }),
        Kind::Array(rules) if matches!(rules.items.kind, Kind::String(_)) => Kind::Array(ArrayRules {
            items: with_denied_pattern(&rules.items, deny, deny_message)?.into(),
            ..rules.clone()
        }),
        _ => return None,
    };
    Some(Shape { kind, ..shape.clone() })
}
