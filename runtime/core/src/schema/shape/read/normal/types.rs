//! Reads the `type` of a schema, and common errors in it.

use serde_json::{Value, json};

use super::{Object, Reader};
use crate::schema::shape::read::{ReadProblemKind, SchemaVersion, Source};
use crate::schema::shape::rules::{self, Keyword};

const TYPE_NAMES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/// The valid types that a schema names, without duplicates; empty for any.
pub(super) type Types = Vec<&'static str>;

/// Returns the types that a schema in normal form names.
pub(super) fn declared_types(schema: &Object) -> Types {
    let type_name = |value: &Value| TYPE_NAMES.into_iter().find(|name| value == name);
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().filter_map(type_name).collect(),
        Some(name) => type_name(name).into_iter().collect(),
        None => Types::new(),
    }
}

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Reads `type`, and the format that a misspelt type implies. Returns the types that other keywords apply to.
    pub(super) fn read_types(&mut self, object: &'a Object, out: &mut Object) -> Types {
        let mut types = Types::new();
        match object.get("type") {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => self.add_type(text, &mut types, out),
            Some(Value::Array(items)) if !items.is_empty() => {
                for item in items {
                    match item {
                        Value::String(text) => self.add_type(text, &mut types, out),
                        // YAML: `type: [string, null]` without quotes.
                        Value::Null => types.push("null"),
                        _ => self.report_type(&item.to_string(), "it is ignored"),
                    }
                }
            }
            Some(other) => self.report_type(&other.to_string(), "it is ignored"),
        }
        let mut seen = Types::new();
        types.retain(|name| {
            let is_new = !seen.contains(name);
            seen.push(name);
            is_new
        });
        write_types(&types, out);
        let compositions = ["allOf", "oneOf", "anyOf", "enum", "const", "$ref", "not"];
        let stands_alone =
            !compositions.iter().any(|keyword| object.get(*keyword).is_some_and(|value| !value.is_null()));
        if types.is_empty() && (stands_alone || object.contains_key("properties")) {
            implied(object)
        } else {
            types
        }
    }

    fn add_type(&mut self, text: &str, types: &mut Types, out: &mut Object) {
        if let Some(name) = TYPE_NAMES.into_iter().find(|name| *name == text) {
            return types.push(name);
        }
        if text == "file" && self.rules == SchemaVersion::Swagger2 {
            out.insert("format".to_owned(), Value::from("binary"));
            return types.push("string");
        }
        let Some((name, format)) = infer_type(text) else { return self.report_type(text, "it is ignored") };
        if name.is_empty() {
            return self.report_type(text, "any value is allowed");
        }
        self.report_type(text, &format!("it is read as `{name}`"));
        types.push(name);
        if !format.is_empty() {
            out.insert("format".to_owned(), Value::from(format));
        }
    }

    fn report_type(&mut self, text: &str, reading: &str) {
        let message = format!("`{text}` is not a type of JSON Schema; {reading}");
        self.at("type", |reader| reader.report(ReadProblemKind::Type, message));
    }
}

/// Writes the types of a schema.
pub(super) fn write_types(types: &[&'static str], out: &mut Object) {
    match types {
        [] => {}
        [name] => drop(out.insert("type".to_owned(), json!(name))),
        names => drop(out.insert("type".to_owned(), json!(names))),
    }
}

/// Whether a type is among the types; an integer is a number.
pub(super) fn includes(types: &[&'static str], kind: &str) -> bool {
    types.iter().any(|name| *name == kind || (kind == "number" && *name == "integer"))
}

/// Returns the types that the keywords of a schema without `type` apply to. Formally, such a schema also allows other
/// values, but that is never intended.
pub(in crate::schema::shape::read) fn implied(schema: &Object) -> Types {
    let has = |keyword: &str| schema.get(keyword).is_some_and(|value| !value.is_null());
    if has("properties") {
        return vec!["object"];
    }
    // `required: true` is an error in a property and does not imply its type.
    let has_required_keys = schema.get("required").is_some_and(Value::is_array);
    let has_members = |name| match name {
        "object" => has_required_keys || has("additionalProperties") || has("patternProperties"),
        "array" => has("items") || has("prefixItems"),
        _ => false,
    };
    let applies = |(name, keywords): &(&'static str, &[Keyword])| {
        has_members(name) || keywords.iter().any(|keyword| has(keyword.name))
    };
    let types: Types = rules::TYPES.iter().filter(|rules| applies(rules)).map(|(name, _)| *name).collect();
    let is_composed = ["$ref", "allOf", "anyOf", "oneOf"].into_iter().any(has);
    match schema.get("format").and_then(Value::as_str) {
        Some(format) if types.is_empty() && !is_composed => vec![match format {
            "int8" | "int16" | "int32" | "int64" | "uint8" | "uint16" | "uint32" | "uint64" => "integer",
            "float" | "double" | "decimal" => "number",
            _ => "string",
        }],
        _ => types,
    }
}

/// Makes a schema also allow `null`.
pub(super) fn allow_null(object: &mut Object) {
    const COMPOSITIONS: [&str; 6] = ["$ref", "allOf", "anyOf", "oneOf", "not", "if"];
    if let Some(value) = object.shift_remove("const") {
        object.insert("enum".to_owned(), json!([value]));
    }
    if let Some(name @ Value::String(_)) = object.get_mut("type") {
        *name = json!([name.take()]);
    }
    let is_composed = COMPOSITIONS.iter().any(|keyword| object.contains_key(*keyword));
    let mut is_listed = false;
    for (keyword, null) in [("type", json!("null")), ("enum", Value::Null)] {
        if let Some(Value::Array(values)) = object.get_mut(keyword).filter(|_| !is_composed) {
            is_listed = true;
            if !values.contains(&null) {
                values.push(null);
            }
        }
    }
    if is_composed || (!is_listed && !implied(object).is_empty()) {
        object.insert("nullable".to_owned(), Value::Bool(true));
    }
}

/// Names the encoding of binary strings as JSON Schema does. OpenAPI before 3.1, and its registry of formats, use
/// formats for it.
pub(super) fn name_encoding(types: &[&str], out: &mut Object) {
    let encoding = match out.get("format").and_then(Value::as_str) {
        Some("byte" | "base64") => "base64",
        Some("base64url") => "base64url",
        _ => return,
    };
    if types.is_empty() || types.contains(&"string") {
        out.remove("format");
        out.entry("contentEncoding").or_insert_with(|| Value::from(encoding));
    }
}

/// Returns the obvious meaning of an invalid type: a type and a format, either of which may be empty.
fn infer_type(text: &str) -> Option<(&'static str, &'static str)> {
    Some(match text.trim().to_ascii_lowercase().as_str() {
        "string" | "str" | "text" | "char" | "varchar" => ("string", ""),
        "number" | "float" | "double" | "decimal" | "numeric" => ("number", ""),
        "integer" | "int" | "long" | "short" | "int32" | "int64" | "bigint" | "timestamp" => ("integer", ""),
        "boolean" | "bool" => ("boolean", ""),
        "object" | "map" | "dict" | "dictionary" | "hash" | "json" | "struct" => ("object", ""),
        "array" | "list" | "set" => ("array", ""),
        "null" | "none" | "nil" | "void" => ("null", ""),
        "file" | "binary" => ("string", "binary"),
        "byte" | "bytes" | "base64" => ("string", "byte"),
        "date" => ("string", "date"),
        "datetime" | "date-time" => ("string", "date-time"),
        "uuid" | "guid" => ("string", "uuid"),
        "email" => ("string", "email"),
        "uri" | "url" => ("string", "uri"),
        "password" => ("string", "password"),
        "any" | "mixed" | "*" | "enum" | "" => ("", ""),
        _ => return None,
    })
}
