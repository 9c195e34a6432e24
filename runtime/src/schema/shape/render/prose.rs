//! Describes schema keywords as parts of an English sentence.

use serde_json::Value;

use super::canonical;
use crate::schema::shape::{Kind, Literal, Number, Shape, StringRules};

/// The length at which values are cut in prose, in characters.
const MAX_VALUE: usize = 80;
/// The maximum number of values listed as examples.
const MAX_EXAMPLES: usize = 3;
/// The maximum number of values listed if they are all that is allowed.
const MAX_LISTED: usize = 50;

/// `at least 1`
pub(super) fn bound(keyword: &str, bound: Number) -> String {
    let bound = canonical::number(bound);
    match keyword {
        "minimum" => format!("at least {bound}"),
        "maximum" => format!("at most {bound}"),
        "exclusiveMinimum" => format!("more than {bound}"),
        "exclusiveMaximum" => format!("less than {bound}"),
        _ => format!("a multiple of {bound}"),
    }
}

/// `at least 1 character`
pub(super) fn count(keyword: &str, count: u64) -> String {
    let least = if keyword.starts_with("min") { "at least" } else { "at most" };
    let thing = match keyword {
        "minLength" | "maxLength" => "character",
        "minItems" | "maxItems" => "item",
        _ => "key",
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{least} {count} {thing}{plural}")
}

/// Returns a value as a model may send it, cut if it is long.
pub(crate) fn value(literal: &Literal) -> String {
    cut(&literal.to_json().to_string(), MAX_VALUE)
}

/// `one of 1, 2, 3`
pub(super) fn listed(values: &[Literal]) -> String {
    let told: Vec<String> = values.iter().take(MAX_LISTED).map(value).collect();
    let more = if values.len() > MAX_LISTED { ", …" } else { "" };
    match told.as_slice() {
        [only] => format!("always {only}"),
        _ => format!("one of {}{more}", told.join(", ")),
    }
}

/// `for example "a", "b"`
pub(super) fn examples(values: &[Literal]) -> String {
    let told: Vec<String> = values.iter().take(MAX_EXAMPLES).map(value).collect();
    format!("for example {}", told.join(", "))
}

/// Describes a schema in a few words, for values that have no place of their own in a dialect.
pub(super) fn schema(schema: &Value) -> String {
    match schema.get("type").and_then(Value::as_str) {
        Some(name) => name.to_owned(),
        None => cut(&schema.to_string(), MAX_VALUE),
    }
}

/// Returns a description with what the schema cannot express.
pub(crate) fn describe(description: &str, notes: &[String]) -> String {
    let description = description.trim();
    if notes.is_empty() {
        return description.to_owned();
    }
    let notes = notes.join("; ");
    if description.is_empty() { format!("({notes})") } else { format!("{description} ({notes})") }
}

/// Cuts a text to a number of characters.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// Returns the rules of a shape's own values, each as part of a sentence. Annotations and contents are left out.
pub(crate) fn rules(shape: &Shape) -> Vec<String> {
    let mut told = Vec::new();
    match &shape.kind {
        Kind::Integer(rules) | Kind::Number(rules) => {
            told.extend(
                rules.bounds().into_iter().filter_map(|(keyword, limit)| Some(bound(keyword, limit?))),
            );
        }
        Kind::String(rules) => {
            if !rules.format.is_empty() {
                told.push(format!("format: {}", rules.format));
            }
            told.extend(counts([("minLength", rules.min_length), ("maxLength", rules.max_length)]));
            if !rules.pattern.is_empty() {
                told.push(format!("matching {}", rules.pattern));
            }
            if !rules.deny.is_empty() {
                told.push(denied(rules));
            }
            if !rules.content_encoding.is_empty() {
                told.push(format!("{} text", rules.content_encoding));
            }
        }
        Kind::Enum(values) => told.push(listed(values)),
        Kind::Array(rules) => {
            told.extend(counts([("minItems", rules.min_items), ("maxItems", rules.max_items)]));
            if rules.unique {
                told.push("no item twice".into());
            }
        }
        Kind::Tuple(rules) => {
            told.extend(counts([("minItems", rules.min_items), ("maxItems", rules.max_items)]));
        }
        Kind::Object(rules) => {
            told.extend(counts([
                ("minProperties", rules.min_properties),
                ("maxProperties", rules.max_properties),
            ]));
        }
        _ => {}
    }
    if shape.deprecated {
        told.push("deprecated".into());
    }
    told
}

/// Describes what a text must not match.
pub(super) fn denied(rules: &StringRules) -> String {
    format!("not matching {}", rules.deny)
}

fn counts<const N: usize>(limits: [(&'static str, Option<u64>); N]) -> impl Iterator<Item = String> {
    limits.into_iter().filter_map(|(keyword, limit)| Some(count(keyword, limit?)))
}
