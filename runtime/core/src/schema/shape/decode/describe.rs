//! Describes values and expectations in messages for a model that must correct its call.

use std::borrow::Cow;

use serde_json::Value;

use crate::base::frozen::List;
use crate::base::truncate;
use crate::schema::shape::prose;
use crate::schema::shape::schema::target;
use crate::schema::shape::{Access, Def, Kind, Literal, ObjectRules, Shape, UnionRules, enum_values};

/// Maximum length of a value in a message, in characters.
const MAX_QUOTED: usize = 60;
/// The maximum number of names or values listed.
const MAX_LISTED: usize = 30;
/// Maximum number of listed variants that are neither enumerated values nor selected by a field.
const MAX_FORMS: usize = 5;

/// Describes a value: `the string "abc"`.
pub(in crate::schema::shape) fn describe_value(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        // As JSON, so that quotes and line breaks are distinct from the message.
        Value::String(text) => {
            let cut = truncate::cut(text, MAX_QUOTED);
            format!("the string {}", Value::from(cut))
        }
        Value::Array(items) if items.is_empty() => "an empty array".into(),
        Value::Array(items) if items.len() == 1 => "an array of 1 item".into(),
        Value::Array(items) => format!("an array of {} items", items.len()),
        Value::Object(fields) if fields.is_empty() => "an empty object".into(),
        Value::Object(_) => "an object".into(),
    }
}

/// The hint for a string that contains the JSON of the expected value.
pub(super) const QUOTED_JSON_HINT: &str = "; send it as JSON, without the quotes";

/// Describes what was expected: `an integer or null`.
pub(in crate::schema::shape) fn expected(shape: &Shape, defs: &List<Def>) -> String {
    let what = match &shape.kind {
        Kind::Any | Kind::Raw(_) => "a value".into(),
        Kind::Never => "nothing".into(),
        Kind::Null => "null".into(),
        Kind::Boolean => "true or false".into(),
        Kind::Integer(_) => "an integer".into(),
        Kind::Number(_) => "a number".into(),
        Kind::String(_) => "a string".into(),
        Kind::Enum(values) => list_values(values),
        Kind::Array(_) | Kind::Tuple(_) => "an array".into(),
        Kind::Object(_) => "an object".into(),
        Kind::Union(rules) => describe_variants(rules, defs),
        Kind::All(parts) => parts.first().map_or_else(|| "a value".into(), |part| expected(part, defs)),
        Kind::Ref(name) => format!("{} {name}", article(name)),
    };
    if shape.nullable { format!("{what} or null") } else { what }
}

/// Returns the indefinite article of a name, by its first letter.
#[must_use]
pub fn article(name: &str) -> &'static str {
    if name.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']) { "an" } else { "a" }
}

/// Describes the variants of a union: first the enumerated values, last the objects with one required field, which
/// selects them.
fn describe_variants(rules: &UnionRules, defs: &List<Def>) -> String {
    let mut values: Vec<Literal> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    let mut keys: Vec<&str> = Vec::new();
    for variant in &rules.variants {
        let target = target(variant, defs);
        let list = enum_values::distinct_values(variant, defs);
        match &target.kind {
            _ if target.nullable || variant.nullable => others.push(expected(variant, defs)),
            _ if list.is_some() => values.extend(list.into_iter().flat_map(Cow::into_owned)),
            Kind::Object(object) if only_key(object).is_some() => keys.extend(only_key(object)),
            _ => others.push(expected(variant, defs)),
        }
    }
    remove_duplicates(&mut values);
    remove_duplicates(&mut others);
    remove_duplicates(&mut keys);
    let mut parts: Vec<String> = Vec::new();
    if !values.is_empty() {
        parts.push(list_values(&values));
    }
    let omitted = others.len().saturating_sub(MAX_FORMS);
    parts.extend(others.into_iter().take(MAX_FORMS));
    match keys.as_slice() {
        [] => {}
        [only] => parts.push(format!("an object with {}", list_names(&[only]))),
        keys => parts.push(format!("an object with one of {}", list_names(keys))),
    }
    match omitted {
        0 => {}
        1 => parts.push("another variant".to_owned()),
        _ => parts.push(format!("one of {omitted} other variants")),
    }
    parts.join(" or ")
}

/// Returns the field of an object that is the only required one.
fn only_key(rules: &ObjectRules) -> Option<&str> {
    let mut required = rules.fields.iter().filter(|field| field.required && field.access != Access::ReadOnly);
    required.next().filter(|_| required.next().is_none()).map(|field| field.name.as_str())
}

/// Removes duplicates; the first occurrence stays.
pub(super) fn remove_duplicates<T: PartialEq>(items: &mut Vec<T>) {
    let mut unique_items: Vec<T> = Vec::new();
    for item in items.drain(..) {
        if !unique_items.contains(&item) {
            unique_items.push(item);
        }
    }
    *items = unique_items;
}

/// Lists values: `one of "a", "b"`.
pub(super) fn list_values(values: &[Literal]) -> String {
    let displayed: Vec<String> = values.iter().take(MAX_LISTED).map(prose::value).collect();
    let more = if values.len() > MAX_LISTED { ", …" } else { "" };
    match displayed.as_slice() {
        [only] => only.clone(),
        _ => format!("one of {}{more}", displayed.join(", ")),
    }
}

/// Lists names in backquotes.
pub(super) fn list_names(names: &[&str]) -> String {
    let displayed: Vec<String> =
        names.iter().take(MAX_LISTED).map(|name| format!("`{}`", truncate::cut(name, MAX_QUOTED))).collect();
    let more = if names.len() > MAX_LISTED { ", …" } else { "" };
    format!("{}{more}", displayed.join(", "))
}

/// Maximum length of strings that are compared, in bytes: the cost of a distance is the product of the lengths.
pub(super) const MAX_COMPARED_BYTES: usize = 100;

/// Returns the pattern that was probably intended instead of a pattern that matches no candidate: a similar
/// candidate, or the same pattern with the first words of a candidate before its first `*`.
pub fn closest_pattern<'c>(pattern: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    if let Some(closest) = closest_match(pattern, candidates.iter().copied()) {
        return Some(closest.to_owned());
    }
    let (prefix, suffix) = pattern.split_at(pattern.find('*')?);
    let is_word = |char: char| char.is_alphanumeric();
    let prefixes = candidates.iter().flat_map(|name| {
        // The starts of all words but the first.
        let word_starts = name
            .char_indices()
            .filter(move |(at, char)| *at > 0 && is_word(*char) && !name[..*at].ends_with(is_word));
        word_starts.map(|(at, _)| &name[..at])
    });
    let closest = closest_match(prefix.trim_end_matches(|char| !is_word(char)), prefixes)
        .filter(|_| prefix.len() > 2)?;
    Some(format!("{closest}{suffix}"))
}

/// Returns the candidate that was probably intended, if one is similar.
pub fn closest_match<'c>(text: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    if text.len() > MAX_COMPARED_BYTES {
        return None;
    }
    let normalize = |text: &str| -> String {
        text.chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '.')).flat_map(char::to_lowercase).collect()
    };
    let normalized = normalize(text);
    let mut best: Option<(f64, &str)> = None;
    for candidate in candidates {
        if candidate.len() > MAX_COMPARED_BYTES {
            continue;
        }
        let similarity = match normalize(candidate) {
            candidate if candidate == normalized => 1.0,
            candidate => strsim::normalized_damerau_levenshtein(&normalized, &candidate),
        };
        if similarity >= 0.6 && best.is_none_or(|(best_similarity, _)| similarity > best_similarity) {
            best = Some((similarity, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}
