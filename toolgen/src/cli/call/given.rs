//! The arguments of a call, as they are given.

use std::io::{self, Read};

use serde_json::Value;
use toolgen::Tool;
use toolgen_runtime::schema::shape::{Kind, find_def};

/// The arguments as they are given.
#[derive(Debug)]
pub(super) enum Given {
    /// All of them as one JSON text.
    Json(String),
    /// Names and values.
    Pairs(Vec<(String, String)>),
}

/// Reads the words of the command line.
///
/// # Errors
///
/// A word that is neither JSON nor `NAME=VALUE`, a name that is given twice, or a file that cannot be read.
pub(super) fn read(words: &[String]) -> Result<Given, String> {
    if let [one] = words {
        if one == "-" {
            let mut text = String::new();
            let read = io::stdin().read_to_string(&mut text);
            let failed = |error| format!("the standard input cannot be read: {error}");
            return read.map(|_| Given::Json(text)).map_err(failed);
        }
        if let Some(path) = one.strip_prefix('@') {
            return std::fs::read_to_string(path)
                .map(Given::Json)
                .map_err(|error| format!("{path}: {error}"));
        }
        if pair(one).is_none() {
            return Ok(Given::Json(one.clone()));
        }
    }
    let mut pairs: Vec<(String, String)> = Vec::new();
    for word in words {
        let (name, value) = pair(word)
            .ok_or_else(|| format!("`{word}` is neither a JSON object nor of the form NAME=VALUE"))?;
        if pairs.iter().any(|(known, _)| known == name) {
            return Err(format!("`{name}` is given twice; a list is NAME='[\"a\", \"b\"]'"));
        }
        pairs.push((name.to_owned(), value.to_owned()));
    }
    Ok(Given::Pairs(pairs))
}

/// Takes `NAME=VALUE` apart.
fn pair(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name =
        !name.is_empty() && !name.starts_with(['{', '[', '"']) && !name.contains(char::is_whitespace);
    is_name.then_some((name, value))
}

impl Given {
    /// Returns the arguments for a tool as JSON text, in which numbers stand as they were given. The value of an argument
    /// that is a text is that text; any other is JSON, if it can be read as such.
    pub(super) fn for_tool(self, tool: &Tool) -> Value {
        let pairs = match self {
            Given::Json(text) => return Value::String(text),
            Given::Pairs(pairs) => pairs,
        };
        let is_text = |name: &str| {
            let Kind::Object(rules) = &tool.spec.input.shape().kind else { return false };
            let field = rules.fields.iter().find(|field| *field.name == *name);
            let shape = field.and_then(|field| match &field.shape.kind {
                Kind::Ref(name) => find_def(&tool.spec.defs, name),
                _ => Some(&field.shape),
            });
            matches!(shape.map(|shape| &shape.kind), Some(Kind::String(_)))
        };
        let member = |(name, value): (String, String)| {
            let is_json = !is_text(&name) && serde_json::from_str::<Value>(&value).is_ok();
            let value = if is_json { value } else { Value::String(value).to_string() };
            format!("{}:{value}", Value::String(name))
        };
        Value::String(format!("{{{}}}", pairs.into_iter().map(member).collect::<Vec<_>>().join(",")))
    }
}
