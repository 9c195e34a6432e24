//! The names of enumerated values: `x-enum-varnames`, `x-enumNames`, `x-enum-descriptions`, `x-ms-enum` and similar.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Object, Reader};
use crate::schema::shape::read::{CHOICES, ReadProblemKind, SchemaLocation, Source, plain_markdown};

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 64;

/// The keywords for names of values, and for their descriptions. The first usable keyword applies.
const NAMES: [&str; 3] = ["x-enum-varnames", "x-enumNames", "x-enum-names"];
const MEANINGS: [&str; 2] = ["x-enum-descriptions", "x-enumDescriptions"];

/// The strings for enumerated values, in their order; empty if there is none.
type Strings = Vec<String>;

/// Names the values of a schema in normal form with the keywords next to it, such as the `x-ms-enum` of a parameter,
/// unless the schema names them itself. Problems are reported to the source.
pub fn name_values<'a, S: Source<'a>>(
    schema: &mut Value,
    siblings: &'a Value,
    location: SchemaLocation,
    source: &mut S,
) {
    let (Value::Object(schema), Value::Object(siblings)) = (schema, siblings) else { return };
    if schema.contains_key(CHOICES) {
        return;
    }
    let SchemaLocation { pointer: path, nesting } = location;
    let rules = source.rules();
    Reader {
        source,
        rules,
        path,
        enclosing_schemas: nesting.schemas,
        merges: nesting.merges,
        depth: 0,
        reported_flag: 0,
    }
    .name_values(schema, siblings);
}

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Keeps the names that a document gives to enumerated values under a separate key. They may be next to the
    /// schema, in its parent.
    pub(super) fn name_values(&mut self, schema: &mut Object, source: &'a Object) {
        let is_present = |keyword: &&str| source.get(*keyword).is_some_and(|value| !value.is_null());
        if !NAMES.iter().chain(&MEANINGS).chain(&["x-ms-enum"]).any(is_present) {
            return;
        }
        let schema_values = schema.get("enum");
        let Some(Value::Array(source_values)) = source.get("enum").or(schema_values) else { return };
        // A value may have been converted to the type that the schema names.
        let converted = schema_values
            .and_then(Value::as_array)
            .filter(|converted| converted.len() == source_values.len());
        let values = converted.unwrap_or(source_values).clone();
        let mut names = NAMES.iter().find_map(|keyword| self.read_strings(keyword, source, &values, true));
        let mut meanings =
            MEANINGS.iter().find_map(|keyword| self.read_strings(keyword, source, &values, false));
        let mut type_name = "";
        if let Some(Value::Object(extension)) = source.get("x-ms-enum") {
            type_name = extension.get("name").and_then(Value::as_str).map_or("", str::trim);
            if let Some(members) = extension.get("values").filter(|members| !members.is_null()) {
                let mut texts_by_key = self.at("x-ms-enum", |reader| {
                    reader.at("values", |reader| reader.read_members(members, &values))
                });
                names = names.or_else(|| texts_by_key.as_mut().and_then(|(names, _)| names.take()));
                meanings = meanings.or_else(|| texts_by_key.map(|(_, meanings)| meanings));
            }
        }
        let text = |texts: &Option<Strings>, index: usize| {
            texts.as_ref().and_then(|texts| texts.get(index)).cloned()
        };
        let choices: Vec<Value> = values
            .iter()
            .enumerate()
            .map(|(index, value)| {
                json!({
                    "value": value,
                    "name": text(&names, index).unwrap_or_default(),
                    "description": text(&meanings, index).unwrap_or_default(),
                })
            })
            .filter(|entry| entry["name"] != "" || entry["description"] != "")
            .collect();
        if !is_name(type_name) {
            type_name = "";
        }
        if !choices.is_empty() || !type_name.is_empty() {
            schema.insert(CHOICES.to_owned(), json!({"name": type_name, "values": choices}));
        }
    }

    /// Reads strings for values: an array in their order, in which `null` may be missing, or a map by values.
    fn read_strings(
        &mut self,
        keyword: &str,
        source: &Object,
        values: &[Value],
        are_names: bool,
    ) -> Option<Strings> {
        let entry = source.get(keyword).filter(|entry| !entry.is_null())?;
        let strings = match entry {
            Value::Array(entry) => strings_in_order(entry, values),
            Value::Object(entry) => strings_by_value(entry, values),
            _ => Err("must be an array or an object of strings".to_owned()),
        };
        let strings = strings.and_then(|strings| if are_names { check_names(strings) } else { Ok(strings) });
        match strings {
            Ok(strings) => Some(if are_names { strings } else { to_lines(&strings) }),
            Err(error) => {
                self.at(keyword, |reader| reader.report_unusable(&error));
                None
            }
        }
    }

    /// Reads the members of `x-ms-enum`: names, unless they are unusable, and descriptions.
    fn read_members(&mut self, members: &Value, values: &[Value]) -> Option<(Option<Strings>, Strings)> {
        let (mut names, mut meanings) =
            (vec![String::new(); values.len()], vec![String::new(); values.len()]);
        for member in members.as_array().into_iter().flatten() {
            let value = member.get("value").unwrap_or_default();
            let Some(index) =
                values.iter().position(|known_value| as_map_key(known_value) == as_map_key(value))
            else {
                self.report_unusable(&format!("names {value}, which is not one of the values"));
                return None;
            };
            let text =
                |key: &str| member.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
            (names[index], meanings[index]) = (text("name"), text("description"));
        }
        let names = check_names(names).map_err(|error| self.report_unusable(&error)).ok();
        Some((names, to_lines(&meanings)))
    }

    fn report_unusable(&mut self, reason: &str) {
        self.report(ReadProblemKind::Names, format!("{reason}; it is left out"));
    }
}

fn strings_in_order(entries: &[Value], values: &[Value]) -> Result<Strings, String> {
    let without_null = values.iter().filter(|value| !value.is_null()).count();
    if entries.len() != values.len() && entries.len() != without_null {
        return Err(format!("has {} strings for {} values", entries.len(), values.len()));
    }
    let includes_null = entries.len() == values.len();
    let mut entries = entries.iter();
    let text = |value: &Value| match value {
        Value::Null if !includes_null => Ok(String::new()),
        _ => match entries.next() {
            Some(Value::String(text)) => Ok(text.trim().to_owned()),
            Some(Value::Null) | None => Ok(String::new()),
            Some(other) => Err(format!("must be strings, not {other}")),
        },
    };
    values.iter().map(text).collect()
}

fn strings_by_value(entries: &Object, values: &[Value]) -> Result<Strings, String> {
    if let Some(other) = entries.keys().find(|key| !values.iter().any(|value| as_map_key(value) == **key)) {
        return Err(format!("names `{other}`, which is not one of the values"));
    }
    let text = |value: &Value| match entries.get(&as_map_key(value)) {
        Some(Value::String(text)) => Ok(text.trim().to_owned()),
        Some(Value::Null) | None => Ok(String::new()),
        Some(other) => Err(format!("must be strings, not {other}")),
    };
    values.iter().map(text).collect()
}

/// Returns names, if all are usable and no two differ only in case or punctuation.
fn check_names(names: Strings) -> Result<Strings, String> {
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

fn to_lines(texts: &[String]) -> Strings {
    let line = |text: &String| plain_markdown(text).split_whitespace().collect::<Vec<_>>().join(" ");
    texts.iter().map(line).collect()
}

/// Returns a value in the form of a map key.
fn as_map_key(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
