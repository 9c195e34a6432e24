//! The short form of a schema: `TYPE[?] [= default] [- description]`.
//!
//! A type is `string`, `integer`, `number`, `boolean`, `object`, `any`, `enum(a, b)` or the name of a schema of the
//! file; a suffix `[]` makes it an array.

use serde_json::{Map, Value, json};

/// A parsed short form.
#[derive(Debug, PartialEq)]
pub(super) struct Short<'t> {
    /// The innermost type.
    pub(super) of: Type<'t>,
    /// The number of enclosing arrays.
    pub(super) lists: usize,
    /// Whether it is optional: there is a `?`.
    pub(super) optional: bool,
    pub(super) default: Option<Value>,
    /// Empty if there is none.
    pub(super) description: &'t str,
}

/// A type of the short form.
#[derive(Debug, PartialEq)]
pub(super) enum Type<'t> {
    /// One of [`TYPES`].
    Simple(&'t str),
    /// One of these values.
    Enum(Vec<Value>),
    /// Any other word: the name of a schema.
    Named(&'t str),
}

/// The types of the short form that are words.
pub(super) const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "object", "any"];

/// Maximum number of arrays around a type; schemas that are nested much deeper cannot be read.
const MAX_LISTS: usize = 16;

/// Parses a short form.
///
/// # Errors
///
/// Returns the part that cannot be parsed.
pub(super) fn read(text: &str) -> Result<Short<'_>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    let (of, rest) = type_of(text)?;
    let mut rest = rest;
    let mut lists = 0;
    while let Some(after) = rest.strip_prefix("[]") {
        lists += 1;
        rest = after;
    }
    if lists > MAX_LISTS {
        return Err(format!("it is nested in {lists} lists, more than the limit of {MAX_LISTS}"));
    }
    let (optional, rest) = rest.strip_prefix('?').map_or((false, rest), |after| (true, after));
    let rest = rest.trim_start();
    let (default, rest) = match rest.strip_prefix('=') {
        Some(after) => {
            let (value, rest) = default_of(after.trim_start(), &of, lists)?;
            (Some(value), rest)
        }
        None => (None, rest),
    };
    let rest = rest.trim();
    let description = match rest.strip_prefix('-').filter(|after| after.is_empty() || after.starts_with(' '))
    {
        Some(after) => after.trim(),
        None if rest.is_empty() => "",
        None => return Err(format!("`{rest}` is unexpected after the type")),
    };
    Ok(Short { of, lists, optional, default, description })
}

fn type_of(text: &str) -> Result<(Type<'_>, &str), String> {
    let end =
        text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    if word.is_empty() || word == "-" {
        return Err("it does not start with a type".to_owned());
    }
    if word != "enum" {
        let of = TYPES.iter().find(|known| **known == word).map_or(Type::Named(word), |_| Type::Simple(word));
        return Ok((of, rest));
    }
    let inside = rest.strip_prefix('(').and_then(|inside| inside.split_once(')'));
    let (inside, rest) = inside.ok_or("`enum` lists its values in parentheses")?;
    let values: Vec<&str> = inside.split(',').map(str::trim).collect();
    if values.iter().any(|value| value.is_empty()) {
        return Err("a value of `enum` is empty".to_owned());
    }
    Ok((Type::Enum(values.into_iter().map(word_or_json).collect()), rest))
}

/// Parses a number or a quoted string as JSON, and anything else as a string.
fn word_or_json(word: &str) -> Value {
    match serde_json::from_str(word) {
        Ok(value @ (Value::Number(_) | Value::String(_))) => value,
        _ => word.into(),
    }
}

/// Parses a default, which ends before a description.
fn default_of<'t>(text: &'t str, of: &Type<'_>, lists: usize) -> Result<(Value, &'t str), String> {
    if text.starts_with(['"', '[', '{']) {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        return match values.next() {
            Some(Ok(value)) => Ok((value, text.get(values.byte_offset()..).unwrap_or_default())),
            _ => Err("the default is not JSON".to_owned()),
        };
    }
    let (word, rest) = text.find(" - ").map_or((text, ""), |end| text.split_at(end));
    let word = word.trim();
    if word.is_empty() || word.starts_with("- ") {
        return Err("there is no default after `=`".to_owned());
    }
    let is_text = lists == 0 && matches!(of, Type::Simple("string"));
    let value = match of {
        _ if is_text => word.into(),
        Type::Enum(_) if lists == 0 => word_or_json(word),
        _ => serde_json::from_str(word).unwrap_or_else(|_| word.into()),
    };
    Ok((value, rest))
}

impl Short<'_> {
    /// Returns the JSON Schema; `reference` refers to the schema of [`Type::Named`].
    pub(super) fn to_schema(&self, reference: &str) -> Value {
        let mut schema = match &self.of {
            Type::Simple("any") => json!({}),
            Type::Simple(name) => json!({ "type": name }),
            Type::Enum(values) => json!({ "enum": values }),
            Type::Named(_) => json!({ "$ref": reference }),
        };
        for _ in 0..self.lists {
            schema = json!({ "type": "array", "items": schema });
        }
        let mut members = Map::new();
        if !self.description.is_empty() {
            members.insert("description".to_owned(), self.description.into());
        }
        if let Some(default) = &self.default {
            members.insert("default".to_owned(), default.clone());
        }
        if let Value::Object(schema) = &mut schema {
            schema.extend(members);
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use toolgen_test_support::script;

    use super::*;
    use crate::frontend::manifest::placeholder::pieces;

    #[test]
    fn short_forms_and_placeholders_match_the_script() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/frontend/manifest/tests/forms.txt");
        script::replay(&file, || {
            |word, rest| {
                let text: String = serde_json::from_str(rest).unwrap();
                let message = match word {
                    "short" => read(&text).map(|short| {
                        let optional = if short.optional { ", optional" } else { "" };
                        format!("{}{optional}", short.to_schema("#/$defs/Point"))
                    }),
                    "pieces" => {
                        pieces(&text).map(|pieces| format!("{pieces:?}")).map_err(|(reason, _)| reason)
                    }
                    other => panic!("there is no word `{other}`"),
                };
                vec![message.unwrap_or_else(|reason| format!("refused: {reason}"))]
            }
        });
        let deep = format!("string{}", "[]".repeat(200_000));
        assert_eq!(read(&deep), Err("it is nested in 200000 lists, more than the limit of 16".to_owned()));
    }
}
