//! The serialization styles of OpenAPI: how a value is written into a path, a query, a header, a cookie or a form.
//!
//! The rules are the tables "Style Values" and "Style Examples" of OpenAPI 3.1.1 (the same in 3.0.4), which are based
//! on RFC 6570. Where they are silent, these rules apply:
//!
//! - `null` is RFC 6570's undefined value: a parameter, an array item or a field that is `null` is omitted, and so is
//!   an array or an object without members.
//! - An array or an object inside another is written as JSON, except with `deepObject`.
//! - `deepObject` uses one pair of brackets per level (`a[b][c]=x`). An array of plain values repeats its key
//!   (`a[b]=x&a[b]=y`). Objects in an array have an index (`a[b][0][c]=x`); without it, their members would be mixed.
//!   A parameter that is an array is written as `a[]=x&a[]=y`.
//! - Swagger 2.0 also has delimiters, including the tab, in paths, headers and parts of forms.
//! - `spaceDelimited` and `pipeDelimited` with `explode`, or of a plain value, are written as `form`.

use serde_json::{Number, Value};
use toolgen_kernel::spec::plan::Style;

use super::encode::{Escape, escape};

/// A value, split as the styles require, before encoding.
enum Parts {
    Scalar(String),
    List(Vec<String>),
    Object(Vec<(String, String)>),
}

/// Returns a value as plain text: strings unchanged, numbers in digits, everything else as JSON.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => digits(number),
        other => other.to_string(),
    }
}

/// Writes a number without an exponent, which JSON allows but few parsers of paths and queries understand. `1e20` is
/// also an integer.
fn digits(number: &Number) -> String {
    let text = number.to_string();
    match number.as_f64() {
        Some(float) if text.contains('e') => float.to_string(),
        _ => text,
    }
}

fn split(value: &Value) -> Option<Parts> {
    match value {
        Value::Null => None,
        Value::Array(items) => {
            let items: Vec<String> = items.iter().filter(|item| !item.is_null()).map(text).collect();
            (!items.is_empty()).then_some(Parts::List(items))
        }
        Value::Object(fields) => {
            let fields: Vec<(String, String)> = fields
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key.clone(), text(value)))
                .collect();
            (!fields.is_empty()).then_some(Parts::Object(fields))
        }
        scalar => Some(Parts::Scalar(text(scalar))),
    }
}

/// Writes a value for a path. Returns `None` if there is nothing to write.
pub(super) fn in_path(
    name: &str,
    value: &Value,
    style: Style,
    explode: bool,
    escaping: Escape,
) -> Option<String> {
    let parts = split(value)?;
    Some(match style {
        Style::Matrix => matrix(&escape(name, Escape::Uri), &parts, explode, escaping),
        Style::Label => format!(".{}", join(&parts, explode, if explode { "." } else { "," }, escaping)),
        style => join(&parts, explode, delimiter(style, true), escaping),
    })
}

/// Writes a value for a header, without encoding. Returns `None` if there is nothing to write.
pub(super) fn as_text(value: &Value, style: Style, explode: bool) -> Option<String> {
    Some(join(&split(value)?, explode, delimiter(style, false), Escape::None))
}

/// Returns the delimiter of joined values.
fn delimiter(style: Style, escaped: bool) -> &'static str {
    match (style, escaped) {
        (Style::SpaceDelimited, true) => "%20",
        (Style::SpaceDelimited, false) => " ",
        (Style::PipeDelimited, true) => "%7C",
        (Style::PipeDelimited, false) => "|",
        (Style::TabDelimited, true) => "%09",
        (Style::TabDelimited, false) => "\t",
        _ => ",",
    }
}

/// Writes a value as `name=value` pairs of a query, a form or cookies.
pub(super) fn as_pairs(
    name: &str,
    value: &Value,
    style: Style,
    explode: bool,
    escaping: Escape,
) -> Vec<String> {
    match to_pairs(name, value, style, explode) {
        Pairs::Each(pairs) => {
            let pair = |(key, value): &(String, String)| {
                format!("{}={}", encode_name(key, escaping), escape(value, escaping))
            };
            pairs.iter().map(pair).collect()
        }
        Pairs::Joined(parts) => {
            let value = join(&parts, false, delimiter(style, true), escaping);
            vec![format!("{}={value}", encode_name(name, escaping))]
        }
    }
}

/// Returns the names and values of a form's parts, without encoding.
pub(super) fn as_parts(name: &str, value: &Value, style: Style, explode: bool) -> Vec<(String, String)> {
    match to_pairs(name, value, style, explode) {
        Pairs::Each(pairs) => pairs,
        Pairs::Joined(parts) => {
            vec![(name.to_owned(), join(&parts, false, delimiter(style, false), Escape::None))]
        }
    }
}

/// A value as pairs, before encoding.
enum Pairs {
    /// Names and values.
    Each(Vec<(String, String)>),
    /// Several values joined into one.
    Joined(Parts),
}

fn to_pairs(name: &str, value: &Value, style: Style, explode: bool) -> Pairs {
    if style == Style::DeepObject {
        return Pairs::Each(deep_object(name, value));
    }
    let named = |item: String| (name.to_owned(), item);
    Pairs::Each(match split(value) {
        None => Vec::new(),
        Some(Parts::Scalar(value)) => vec![named(value)],
        Some(Parts::List(items)) if explode => items.into_iter().map(named).collect(),
        Some(Parts::Object(fields)) if explode => fields,
        Some(parts) => return Pairs::Joined(parts),
    })
}

/// Encodes a name. Names have no reserved expansion: a `=` or `&` would change the name.
fn encode_name(name: &str, escaping: Escape) -> String {
    let escaping = if matches!(escaping, Escape::Reserved | Escape::Cookie) { Escape::Uri } else { escaping };
    escape(name, escaping).into_owned()
}

fn join(parts: &Parts, explode: bool, delimiter: &str, escaping: Escape) -> String {
    let encode = |text: &str| escape(text, escaping).into_owned();
    match parts {
        Parts::Scalar(value) => encode(value),
        Parts::List(items) => items.iter().map(|item| encode(item)).collect::<Vec<_>>().join(delimiter),
        Parts::Object(fields) => {
            let separator = if explode { "=" } else { delimiter };
            let fields =
                fields.iter().map(|(key, value)| format!("{}{separator}{}", encode(key), encode(value)));
            fields.collect::<Vec<_>>().join(delimiter)
        }
    }
}

/// Writes RFC 6570's path-style parameters. A name without a value has no `=`.
fn matrix(name: &str, parts: &Parts, explode: bool, escaping: Escape) -> String {
    let segment = |name: &str, value: &str| match value {
        "" => format!(";{name}"),
        value => format!(";{name}={value}"),
    };
    let encode = |text: &str| escape(text, escaping).into_owned();
    match parts {
        Parts::List(items) if explode => items.iter().map(|item| segment(name, &encode(item))).collect(),
        Parts::Object(fields) if explode => {
            fields.iter().map(|(key, value)| segment(&encode(key), &encode(value))).collect()
        }
        parts => segment(name, &join(parts, false, ",", escaping)),
    }
}

fn deep_object(name: &str, value: &Value) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    match value {
        Value::Array(items) => deep_list(&format!("{name}[]"), name, items, &mut pairs),
        value => deep_value(name, value, &mut pairs),
    }
    pairs
}

fn deep_value(key: &str, value: &Value, pairs: &mut Vec<(String, String)>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (field, value) in fields {
                deep_value(&format!("{key}[{field}]"), value, pairs);
            }
        }
        Value::Array(items) => deep_list(key, key, items, pairs),
        scalar => pairs.push((key.to_owned(), text(scalar))),
    }
}

fn deep_list(plain_key: &str, key: &str, items: &[Value], pairs: &mut Vec<(String, String)>) {
    for (index, item) in items.iter().enumerate() {
        match item {
            Value::Array(_) | Value::Object(_) => {
                deep_value(&format!("{key}[{index}]"), item, pairs);
            }
            scalar => deep_value(plain_key, scalar, pairs),
        }
    }
}
