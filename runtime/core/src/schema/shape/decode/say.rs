//! Describes values and expectations in words, for a model that must correct its call.

use serde_json::Value;

use crate::base::truncate;
use crate::schema::shape::prose;
use crate::schema::shape::{Kind, Literal, Shape, UnionRules};

/// The length at which given texts are cut, in characters.
const MAX_GIVEN: usize = 60;
/// The maximum number of names or values listed.
const MAX_LISTED: usize = 30;

/// Describes what was given: `the text "abc"`.
pub(in crate::schema::shape) fn given(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        // As JSON, so that quotes and line breaks are distinct from the message.
        Value::String(text) => {
            let cut = truncate::cut(text, MAX_GIVEN);
            format!("the text {}", Value::from(cut))
        }
        Value::Array(items) if items.is_empty() => "an empty list".into(),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(fields) if fields.is_empty() => "an empty object".into(),
        Value::Object(_) => "an object".into(),
    }
}

/// Describes what was expected: `an integer or null`.
pub(super) fn expected(shape: &Shape) -> String {
    let what = match &shape.kind {
        Kind::Any | Kind::Raw(_) => "a value".into(),
        Kind::Never => "nothing".into(),
        Kind::Null => "null".into(),
        Kind::Boolean => "true or false".into(),
        Kind::Integer(_) => "an integer".into(),
        Kind::Number(_) => "a number".into(),
        Kind::String(_) => "a text".into(),
        Kind::Enum(values) => listed(values),
        Kind::Array(_) | Kind::Tuple(_) => "a list".into(),
        Kind::Object(_) => "an object".into(),
        Kind::Union(rules) => either(rules),
        Kind::All(parts) => parts.first().map_or_else(|| "a value".into(), expected),
        Kind::Ref(name) => format!("{} {name}", article(name)),
    };
    if shape.nullable { format!("{what} or null") } else { what }
}

/// Returns the article of a name, by its first letter.
fn article(name: &str) -> &'static str {
    if name.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" }
}

fn either(rules: &UnionRules) -> String {
    let mut told: Vec<String> = Vec::new();
    for variant in &rules.variants {
        let what = expected(variant);
        if !told.contains(&what) {
            told.push(what);
        }
    }
    told.join(" or ")
}

/// Lists values: `one of "a", "b"`.
pub(super) fn listed(values: &[Literal]) -> String {
    let told: Vec<String> = values.iter().take(MAX_LISTED).map(prose::value).collect();
    let more = if values.len() > MAX_LISTED { ", …" } else { "" };
    match told.as_slice() {
        [only] => only.clone(),
        _ => format!("one of {}{more}", told.join(", ")),
    }
}

/// Lists names in backquotes.
pub(super) fn names(names: &[&str]) -> String {
    let told: Vec<String> =
        names.iter().take(MAX_LISTED).map(|name| format!("`{}`", truncate::cut(name, MAX_GIVEN))).collect();
    let more = if names.len() > MAX_LISTED { ", …" } else { "" };
    format!("{}{more}", told.join(", "))
}

/// The longest texts that are compared, in bytes: distances of long texts cost their product.
pub(super) const MAX_COMPARED: usize = 100;

/// Returns the candidate that was probably meant, if one is near.
pub fn meant<'c>(given: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if given.len() > MAX_COMPARED {
        return None;
    }
    let plain = |text: &str| -> String {
        text.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.')).flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(given);
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        if candidate.len() > MAX_COMPARED {
            continue;
        }
        let likeness = match plain(candidate) {
            same if same == wanted => 1.0,
            other => strsim::normalized_damerau_levenshtein(&wanted, &other),
        };
        if likeness >= 0.6 && best.is_none_or(|(known, _)| likeness > known) {
            best = Some((likeness, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}
