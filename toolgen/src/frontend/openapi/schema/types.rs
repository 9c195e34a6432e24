//! The `type` of a schema, and what people write there instead.

use serde_json::{Map, Value};

use super::super::context::Context;
use super::super::node::Place;
use crate::problem::codes;

/// The types a schema names, legal ones only, none twice. Empty: any.
pub(super) type Types = Vec<&'static str>;

/// What a text in `type` means.
enum Meaning {
    /// A type of JSON Schema.
    Legal(&'static str),
    /// No type, but what is meant is clear: a type and a format, either of which may be empty.
    Meant(&'static str, &'static str),
    /// Nobody knows.
    Unknown,
}

impl<'a> Context<'a> {
    /// Reads `type`; a format that the type stands for goes into the schema.
    pub(super) fn types(
        &mut self,
        object: &'a Map<String, Value>,
        place: &Place<'_>,
        out: &mut Map<String, Value>,
    ) -> Types {
        let mut types = Types::new();
        match object.get("type") {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => self.add_type(text, place, &mut types, out),
            Some(Value::Array(items)) => {
                for item in items {
                    match item {
                        Value::String(text) => self.add_type(text, place, &mut types, out),
                        // YAML: `type: [string, null]` without quotes.
                        Value::Null => types.push("null"),
                        _ => self.type_problem(place, &item.to_string(), "it is ignored"),
                    }
                }
            }
            Some(other) => self.type_problem(place, &other.to_string(), "it is ignored"),
        }
        if types.is_empty() {
            types.extend(implied_type(object));
        }
        let mut seen = Types::new();
        types.retain(|name| {
            let new = !seen.contains(name);
            seen.push(name);
            new
        });
        types
    }

    fn add_type(&mut self, text: &str, place: &Place<'_>, types: &mut Types, out: &mut Map<String, Value>) {
        match meaning(text) {
            Meaning::Legal(name) => types.push(name),
            Meaning::Meant(name, format) => {
                let taken = if name.is_empty() {
                    "any value is allowed".to_owned()
                } else {
                    format!("`{name}` is meant")
                };
                self.type_problem(place, text, &taken);
                if !name.is_empty() {
                    types.push(name);
                }
                if !format.is_empty() {
                    out.insert("format".to_owned(), Value::from(format));
                }
            }
            Meaning::Unknown => self.type_problem(place, text, "it is ignored"),
        }
    }

    fn type_problem(&mut self, place: &Place<'_>, text: &str, taken: &str) {
        let pointer = place.pointer().child("type");
        self.report(
            codes::SCHEMA_TYPE,
            &pointer,
            format!("`{text}` is no type of JSON Schema; {taken}"),
            "use one of string, number, integer, boolean, object, array, null",
        );
    }
}

/// The type that goes without saying. A schema without a type allows other values too, but nobody means that.
fn implied_type(object: &Map<String, Value>) -> Option<&'static str> {
    let has = |key: &str| object.get(key).is_some_and(|value| !value.is_null());
    let composed = ["allOf", "oneOf", "anyOf", "enum", "const", "$ref", "not"].iter().any(|key| has(key));
    if has("properties") {
        return Some("object");
    }
    if composed {
        return None;
    }
    if has("additionalProperties") || has("patternProperties") {
        return Some("object");
    }
    if has("items") || has("prefixItems") {
        return Some("array");
    }
    (has("pattern") || has("minLength") || has("maxLength")).then_some("string")
}

fn meaning(text: &str) -> Meaning {
    const LEGAL: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];
    if let Some(name) = LEGAL.into_iter().find(|name| *name == text) {
        return Meaning::Legal(name);
    }
    let (name, format) = match text.trim().to_ascii_lowercase().as_str() {
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
        _ => return Meaning::Unknown,
    };
    Meaning::Meant(name, format)
}
