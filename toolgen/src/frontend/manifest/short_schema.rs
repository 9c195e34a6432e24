//! The short form of a schema: `TYPE[?] [= default] [- description]`.
//!
//! A type is `string`, `integer`, `number`, `boolean`, `object`, `any`, `enum(a, b)` or the name of a schema of the
//! file; a suffix `[]` makes it an array.

use serde_json::{Map, Value, json};

/// A parsed short form.
#[derive(Debug, PartialEq)]
pub(super) struct ShortSchema<'t> {
    /// The innermost type.
    pub(super) base_type: Type<'t>,
    /// The number of enclosing arrays.
    pub(super) array_depth: usize,
    /// Whether the type has a `?`, so that the value is optional.
    pub(super) optional: bool,
    pub(super) default: Option<Value>,
    /// The description; empty if there is none.
    pub(super) description: &'t str,
}

/// A type of the short form.
#[derive(Debug, PartialEq)]
pub(super) enum Type<'t> {
    /// One of [`TYPES`].
    Simple(&'t str),
    /// One of these values.
    Enum(Vec<Value>),
    /// Any other name: a schema.
    Named(&'t str),
}

/// The simple types of the short form.
pub(super) const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "object", "any"];

/// Maximum nesting of arrays in a short form; schemas that are nested much deeper cannot be read.
const MAX_ARRAY_DEPTH: usize = 16;

/// Parses a short form.
///
/// # Errors
///
/// Returns the part that cannot be parsed.
pub(super) fn read(text: &str) -> Result<ShortSchema<'_>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    let (base_type, remaining) = type_of(text)?;
    let mut remaining = remaining;
    let mut array_depth = 0;
    while let Some(after) = remaining.strip_prefix("[]") {
        array_depth += 1;
        remaining = after;
    }
    if array_depth > MAX_ARRAY_DEPTH {
        return Err(format!(
            "it is nested in {array_depth} arrays, more than the limit of {MAX_ARRAY_DEPTH}"
        ));
    }
    let (optional, remaining) = remaining.strip_prefix('?').map_or((false, remaining), |after| (true, after));
    let remaining = remaining.trim_start();
    let (default, remaining) = match remaining.strip_prefix('=') {
        Some(after) => {
            let (value, remaining) = default_of(after.trim_start(), &base_type, array_depth)?;
            (Some(value), remaining)
        }
        None => (None, remaining),
    };
    let remaining = remaining.trim();
    let description =
        match remaining.strip_prefix('-').filter(|after| after.is_empty() || after.starts_with(' ')) {
            Some(after) => after.trim(),
            None if remaining.is_empty() => "",
            None => return Err(format!("`{remaining}` is unexpected after the type")),
        };
    Ok(ShortSchema { base_type, array_depth, optional, default, description })
}

fn type_of(text: &str) -> Result<(Type<'_>, &str), String> {
    let end =
        text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-'))).unwrap_or(text.len());
    let (word, remaining) = text.split_at(end);
    if word.is_empty() || word == "-" {
        return Err("it does not start with a type".to_owned());
    }
    if word != "enum" {
        let base_type = TYPES
            .iter()
            .find(|type_name| **type_name == word)
            .map_or(Type::Named(word), |_| Type::Simple(word));
        return Ok((base_type, remaining));
    }
    let values_text = remaining.strip_prefix('(').and_then(|values_text| values_text.split_once(')'));
    let (values_text, remaining) = values_text.ok_or("`enum` lists its values in parentheses")?;
    let values: Vec<&str> = values_text.split(',').map(str::trim).collect();
    if values.iter().any(|value| value.is_empty()) {
        return Err("a value of `enum` is empty".to_owned());
    }
    Ok((Type::Enum(values.into_iter().map(word_or_json).collect()), remaining))
}

/// Parses a number or a quoted string as JSON, and anything else as a string.
fn word_or_json(token: &str) -> Value {
    match serde_json::from_str(token) {
        Ok(value @ (Value::Number(_) | Value::String(_))) => value,
        _ => token.into(),
    }
}

/// Parses a default and returns it with the remaining text. The default ends before a description.
fn default_of<'t>(
    text: &'t str,
    base_type: &Type<'_>,
    array_depth: usize,
) -> Result<(Value, &'t str), String> {
    if text.starts_with(['"', '[', '{']) {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        return match values.next() {
            Some(Ok(value)) => Ok((value, text.get(values.byte_offset()..).unwrap_or_default())),
            _ => Err("the default is not JSON".to_owned()),
        };
    }
    let (token, remaining) = text.find(" - ").map_or((text, ""), |end| text.split_at(end));
    let token = token.trim();
    if token.is_empty() || token.starts_with("- ") {
        return Err("there is no default after `=`".to_owned());
    }
    let is_string = array_depth == 0 && matches!(base_type, Type::Simple("string"));
    let value = match base_type {
        _ if is_string => token.into(),
        Type::Enum(_) if array_depth == 0 => word_or_json(token),
        _ => serde_json::from_str(token).unwrap_or_else(|_| token.into()),
    };
    Ok((value, remaining))
}

impl ShortSchema<'_> {
    /// Returns the JSON Schema. `reference` is the `$ref` for [`Type::Named`].
    pub(super) fn to_schema(&self, reference: &str) -> Value {
        let mut schema = match &self.base_type {
            Type::Simple("any") => json!({}),
            Type::Simple(name) => json!({ "type": name }),
            Type::Enum(values) => json!({ "enum": values }),
            Type::Named(_) => json!({ "$ref": reference }),
        };
        for _ in 0..self.array_depth {
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
            |command, remaining| {
                let text: String = serde_json::from_str(remaining).unwrap();
                let message = match command {
                    "short" => read(&text).map(|short| {
                        let optional = if short.optional { ", optional" } else { "" };
                        format!("{}{optional}", short.to_schema("#/$defs/Point"))
                    }),
                    "pieces" => {
                        pieces(&text).map(|pieces| format!("{pieces:?}")).map_err(|(reason, _)| reason)
                    }
                    other => panic!("unknown command `{other}`"),
                };
                vec![message.unwrap_or_else(|reason| format!("refused: {reason}"))]
            }
        });
        let deeply_nested = format!("string{}", "[]".repeat(200_000));
        assert_eq!(
            read(&deeply_nested),
            Err("it is nested in 200000 arrays, more than the limit of 16".to_owned())
        );
    }
}
