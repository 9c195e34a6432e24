//! The names of enumerated values: `x-enum-varnames`, `x-enumNames`, `x-enum-descriptions`, `x-ms-enum` and similar.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Object, Reader};
use crate::schema::shape::read::{CHOICES, ReadProblemKind, SchemaLocation, Source, plain_markdown};

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 64;

/// The keywords for names of values, and those for their descriptions. The first usable one applies.
const NAMES: [&str; 3] = ["x-enum-varnames", "x-enumNames", "x-enum-names"];
const MEANINGS: [&str; 2] = ["x-enum-descriptions", "x-enumDescriptions"];

/// The strings for enumerated values, in their order; empty if there is none.
type Texts = Vec<String>;

/// Names the values of a schema in normal form with the keywords next to it, such as the `x-ms-enum` of a parameter,
/// unless the schema names them itself. Problems are reported to the source.
pub fn name_values<'a, S: Source<'a>>(
    schema: &mut Value,
    beside: &'a Value,
    location: SchemaLocation,
    source: &mut S,
) {
    let (Value::Object(schema), Value::Object(beside)) = (schema, beside) else { return };
    if schema.contains_key(CHOICES) {
        return;
    }
    let SchemaLocation { pointer: path, nesting } = location;
    let rules = source.rules();
    Reader { source, rules, path, outer: nesting.schemas, merges: nesting.merges, depth: 0, flagged: 0 }
        .name_values(schema, beside);
}

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Keeps the names that a document gives to enumerated values under a separate key. They may be next to the
    /// schema, in its parent.
    pub(super) fn name_values(&mut self, schema: &mut Object, source: &'a Object) {
        let given = |keyword: &&str| source.get(*keyword).is_some_and(|value| !value.is_null());
        if !NAMES.iter().chain(&MEANINGS).chain(&["x-ms-enum"]).any(given) {
            return;
        }
        let own = schema.get("enum");
        let Some(Value::Array(listed)) = source.get("enum").or(own) else { return };
        // A value may have been converted to the type that the schema names.
        let read = own.and_then(Value::as_array).filter(|read| read.len() == listed.len());
        let values = read.unwrap_or(listed).clone();
        let mut names = NAMES.iter().find_map(|keyword| self.texts(keyword, source, &values, true));
        let mut meanings = MEANINGS.iter().find_map(|keyword| self.texts(keyword, source, &values, false));
        let mut type_name = "";
        if let Some(Value::Object(extension)) = source.get("x-ms-enum") {
            type_name = extension.get("name").and_then(Value::as_str).map_or("", str::trim);
            if let Some(members) = extension.get("values").filter(|members| !members.is_null()) {
                let mut texts_by_key = self
                    .at("x-ms-enum", |reader| reader.at("values", |reader| reader.members(members, &values)));
                names = names.or_else(|| texts_by_key.as_mut().and_then(|(names, _)| names.take()));
                meanings = meanings.or_else(|| texts_by_key.map(|(_, meanings)| meanings));
            }
        }
        let text = |texts: &Option<Texts>, at: usize| texts.as_ref().and_then(|texts| texts.get(at)).cloned();
        let named: Vec<Value> = values
            .iter()
            .enumerate()
            .map(|(at, value)| {
                json!({
                    "value": value,
                    "name": text(&names, at).unwrap_or_default(),
                    "description": text(&meanings, at).unwrap_or_default(),
                })
            })
            .filter(|entry| entry["name"] != "" || entry["description"] != "")
            .collect();
        if !is_name(type_name) {
            type_name = "";
        }
        if !named.is_empty() || !type_name.is_empty() {
            schema.insert(CHOICES.to_owned(), json!({"name": type_name, "values": named}));
        }
    }

    /// Reads strings for values: an array in their order, in which `null` may be missing, or a map by values.
    fn texts(&mut self, keyword: &str, source: &Object, values: &[Value], names: bool) -> Option<Texts> {
        let given = source.get(keyword).filter(|given| !given.is_null())?;
        let texts = match given {
            Value::Array(given) => in_order(given, values),
            Value::Object(given) => by_value(given, values),
            _ => Err("must be an array or an object of strings".to_owned()),
        };
        let texts = texts.and_then(|texts| if names { distinct(texts) } else { Ok(texts) });
        match texts {
            Ok(texts) => Some(if names { texts } else { described(&texts) }),
            Err(error) => {
                self.at(keyword, |reader| reader.unusable(&error));
                None
            }
        }
    }

    /// Reads the members of `x-ms-enum`: names, unless they are unusable, and descriptions.
    fn members(&mut self, members: &Value, values: &[Value]) -> Option<(Option<Texts>, Texts)> {
        let (mut names, mut meanings) =
            (vec![String::new(); values.len()], vec![String::new(); values.len()]);
        for member in members.as_array().into_iter().flatten() {
            let value = member.get("value").unwrap_or_default();
            let Some(at) = values.iter().position(|own| as_map_key(own) == as_map_key(value)) else {
                self.unusable(&format!("names {value}, which is not one of the values"));
                return None;
            };
            let text =
                |key: &str| member.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
            (names[at], meanings[at]) = (text("name"), text("description"));
        }
        let names = distinct(names).map_err(|error| self.unusable(&error)).ok();
        Some((names, described(&meanings)))
    }

    fn unusable(&mut self, reason: &str) {
        self.problem(ReadProblemKind::Names, format!("{reason}; it is left out"));
    }
}

fn in_order(given: &[Value], values: &[Value]) -> Result<Texts, String> {
    let without_null = values.iter().filter(|value| !value.is_null()).count();
    if given.len() != values.len() && given.len() != without_null {
        return Err(format!("has {} strings for {} values", given.len(), values.len()));
    }
    let all = given.len() == values.len();
    let mut given = given.iter();
    let text = |value: &Value| match value {
        Value::Null if !all => Ok(String::new()),
        _ => match given.next() {
            Some(Value::String(text)) => Ok(text.trim().to_owned()),
            Some(Value::Null) | None => Ok(String::new()),
            Some(other) => Err(format!("must be strings, not {other}")),
        },
    };
    values.iter().map(text).collect()
}

fn by_value(given: &Object, values: &[Value]) -> Result<Texts, String> {
    if let Some(other) = given.keys().find(|key| !values.iter().any(|value| as_map_key(value) == **key)) {
        return Err(format!("names `{other}`, which is not one of the values"));
    }
    let text = |value: &Value| match given.get(&as_map_key(value)) {
        Some(Value::String(text)) => Ok(text.trim().to_owned()),
        Some(Value::Null) | None => Ok(String::new()),
        Some(other) => Err(format!("must be strings, not {other}")),
    };
    values.iter().map(text).collect()
}

/// Returns names, if all are usable and no two differ only in case or punctuation.
fn distinct(names: Texts) -> Result<Texts, String> {
    let mut seen = BTreeSet::new();
    for name in names.iter().filter(|name| !name.is_empty()) {
        if !is_name(name) {
            return Err(format!("has `{name}`, which is not a name"));
        }
        let letters: String =
            name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
        if !seen.insert(letters) {
            return Err(format!("has the name `{name}` twice"));
        }
    }
    Ok(names)
}

/// Whether a string can name a variant or a type.
fn is_name(text: &str) -> bool {
    text.len() <= MAX_NAME && text.is_ascii() && text.contains(|c: char| c.is_ascii_alphabetic())
}

fn described(texts: &[String]) -> Texts {
    let line = |text: &String| plain_markdown(text).split_whitespace().collect::<Vec<_>>().join(" ");
    texts.iter().map(line).collect()
}

/// Returns a value in the form of a map key.
fn as_map_key(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
