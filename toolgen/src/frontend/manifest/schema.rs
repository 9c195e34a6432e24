//! Reads the schemas of a manifest: JSON Schema 2020-12, with short forms in any position of a schema.
//!
//! A schema is first expanded: short forms become schemas, and references refer to shapes under `$defs`. The reader of
//! JSON Schema does the rest. Expansion keeps the position of members, so the locations of problems stay valid.

mod defs;
pub(super) mod keywords;
mod references;

use std::sync::Arc;

use serde_json::{Map, Value};
use toolgen_core::Shape;
use toolgen_core::schema::shape::read::{ReadProblemKind, read};

use self::keywords::ValueKind;
use super::codes;
use super::context::{Context, SchemaLocation, suggest_name};
use super::short_schema::{self, Type};
use crate::problem::Code;
use crate::source::{Document, Pointer};

/// Maximum depth to which schemas are expanded; the limit of the reader is lower.
const MAX_DEPTH: usize = 64;

impl Context<'_> {
    /// Returns the shape of a schema.
    pub(super) fn shape(&mut self, schema: &Value, schema_location: &SchemaLocation) -> Shape {
        let expanded = match schema {
            Value::String(text) => self.short_form(text, schema_location).map(|(schema, _)| schema),
            schema => Some(self.expand(schema, schema_location, 0)),
        };
        expanded.map_or(Shape::ANY, |expanded| self.read_shape(&expanded, schema_location))
    }

    /// Reads an expanded schema.
    pub(super) fn read_shape(&mut self, schema: &Value, schema_location: &SchemaLocation) -> Shape {
        let mut problems = Vec::new();
        let shape = read(schema, &mut problems);
        for problem in problems {
            let (code, help) = match problem.kind {
                ReadProblemKind::Default => (
                    codes::DEFAULT,
                    "correct the default or the schema; put a string that looks like a number in quotes",
                ),
                ReadProblemKind::Values => (
                    codes::SCHEMA,
                    "write them in the type that `type` names: put a string that looks like a number in quotes",
                ),
                // This problem was reported when the schema was expanded.
                ReadProblemKind::Draft => continue,
                _ => (codes::SCHEMA, "correct the schema"),
            };
            let full_pointer = format!("{}{}", schema_location.pointer, problem.pointer);
            let location = SchemaLocation {
                pointer: Pointer::parse(&full_pointer).unwrap_or_default(),
                ..schema_location.clone()
            };
            // The reader ignores invalid parts, but in a manifest they are errors, so the consequence is removed.
            let message = problem.message.split("; ").next().unwrap_or_default().to_owned();
            self.report_at(code, &location, message, help);
        }
        shape
    }

    /// Reports a problem in any file, at the nearest existing location.
    pub(super) fn report_at(&mut self, code: Code, location: &SchemaLocation, message: String, help: &str) {
        let Some(document) = self.files.document(location.file) else { return };
        let mut pointer = location.pointer.clone();
        while pointer.resolve(&document.root).is_none() {
            let Some(parent) = pointer.parent() else { break };
            pointer = parent;
        }
        let source = Arc::clone(&document.source);
        self.report_in(&source, code, &pointer, message, help);
    }

    /// Returns the schema of a short form, and whether it makes the value optional.
    pub(super) fn short_form(
        &mut self,
        text: &str,
        schema_location: &SchemaLocation,
    ) -> Option<(Value, bool)> {
        const HELP: &str = "write `TYPE`, `TYPE?`, `TYPE = default` or `TYPE - description`, such as `integer? = 10 \
            - Maximum number of rows.`";
        let parsed = match short_schema::read(text) {
            Ok(parsed) => parsed,
            Err(error) => {
                let message = format!("`{text}` is not a type: {error}");
                self.report_at(codes::SHORT_FORM, schema_location, message, HELP);
                return None;
            }
        };
        let reference = match &parsed.base_type {
            Type::Named(name) => format!("#/$defs/{}", self.named_type(name, schema_location)?),
            _ => String::new(),
        };
        Some((parsed.to_schema(&reference), parsed.optional))
    }

    /// Returns the name of the shape that a type name in a short form refers to.
    fn named_type(&mut self, name: &str, schema_location: &SchemaLocation) -> Option<String> {
        let pointer = Pointer::ROOT.child("schemas").child(name);
        let location = SchemaLocation { file: schema_location.file, pointer: pointer.clone(), root: pointer };
        let root = &self.files.document(schema_location.file)?.root;
        if location.pointer.resolve(root).is_some() {
            return Some(self.def_of(location));
        }
        let schemas = root.get("schemas").and_then(Value::as_object);
        let mut known: Vec<&str> = short_schema::TYPES.to_vec();
        known.extend(schemas.into_iter().flat_map(Map::keys).map(String::as_str));
        let help = match FOREIGN_TYPE_NAMES.iter().find(|(alias, _)| *alias == name.to_lowercase()) {
            Some((_, replacement)) => format!("write `{replacement}`"),
            None => suggest_name(name, &known),
        };
        let message = format!("`{name}` is neither a type nor a schema of this file");
        self.report_at(codes::SHORT_FORM, schema_location, message, &help);
        None
    }

    /// Returns a schema with its short forms and references expanded.
    fn expand(&mut self, schema: &Value, schema_location: &SchemaLocation, depth: usize) -> Value {
        let members = match schema {
            Value::String(text) => {
                let parsed_short = self.short_form(text, schema_location);
                if let Some((_, true)) = parsed_short {
                    let message = "`?` makes an argument or a property optional, but this is neither";
                    self.report_at(codes::SHORT_FORM, schema_location, message.to_owned(), "remove the `?`");
                }
                return parsed_short.map_or(Value::Bool(true), |(schema, _)| schema);
            }
            Value::Object(members) if depth < MAX_DEPTH => members,
            Value::Null => {
                let message = "there is no schema".to_owned();
                self.report_at(codes::SCHEMA, schema_location, message, "write a type, or `any`");
                return Value::Bool(true);
            }
            other => return other.clone(),
        };
        self.check_required(members, schema_location);
        self.check_numbers(members, schema_location);
        let mut expanded = Map::new();
        let mut required: Vec<Value> = Vec::new();
        for (key, value) in members {
            let location = schema_location.child(key);
            if value.is_null() && !matches!(key.as_str(), "default" | "const") {
                let help = match key.as_str() {
                    "type" => "write `'null'` in quotes for the type of null",
                    _ => "set a value, or remove it",
                };
                self.report_at(codes::SCHEMA, &location, format!("`{key}` has no value"), help);
                continue;
            }
            let value = match keywords::value_kind(key) {
                Some(ValueKind::Schema) => self.expand_nested(value, &location, depth),
                Some(ValueKind::Schemas) => self.expand_array(value, &location, depth),
                Some(ValueKind::Named) => self.expand_members(key, value, &location, depth, &mut required),
                Some(ValueKind::Reference) => match self.schema_reference(value, &location) {
                    Some(reference) => reference.into(),
                    None => continue,
                },
                Some(ValueKind::Value) => value.clone(),
                None => {
                    self.unknown_keyword(key, &location);
                    continue;
                }
            };
            expanded.insert(key.clone(), value);
        }
        if !required.is_empty() {
            if let Some(Value::Array(declared)) = expanded.get("required") {
                required.retain(|name| !declared.contains(name));
                required.splice(0..0, declared.iter().cloned());
            }
            expanded.insert("required".to_owned(), required.into());
        }
        Value::Object(expanded)
    }

    /// Reports names in `required` that are not properties of the schema. In a composed schema, they may be properties
    /// of its parts.
    fn check_required(&mut self, schema: &Map<String, Value>, schema_location: &SchemaLocation) {
        const COMPOSITION_KEYWORDS: [&str; 6] =
            ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"];
        let Some(required) = schema.get("required").filter(|required| !required.is_null()) else { return };
        let location = schema_location.child("required");
        let Some(names) = required.as_array().filter(|names| names.iter().all(Value::is_string)) else {
            let message = "`required` must be an array of names".to_owned();
            let help = "list the required properties; for an argument, use `optional: true` instead";
            return self.report_at(codes::SCHEMA, &location, message, help);
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let Some(properties) =
            properties.filter(|_| !COMPOSITION_KEYWORDS.iter().any(|part| schema.contains_key(*part)))
        else {
            return;
        };
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        for name in names.iter().filter_map(Value::as_str).filter(|name| !properties.contains_key(*name)) {
            let message = format!("`required` names `{name}`, which is not a property");
            self.report_at(codes::SCHEMA, &location, message, &suggest_name(name, &known));
        }
    }

    /// Reports numbers in a schema without a type whose source text differs from the printed number: `010` was
    /// probably meant as a string.
    fn check_numbers(&mut self, schema: &Map<String, Value>, schema_location: &SchemaLocation) {
        if schema.contains_key("type") {
            return;
        }
        let mut numbers: Vec<(SchemaLocation, &Value)> = Vec::new();
        for key in ["const", "default", "enum", "examples"] {
            let location = schema_location.child(key);
            match schema.get(key) {
                Some(Value::Array(items)) => {
                    let items = items.iter().enumerate();
                    numbers.extend(items.map(|(index, item)| (location.child(&index.to_string()), item)));
                }
                Some(value) => numbers.push((location, value)),
                None => {}
            }
        }
        for (location, value) in numbers.into_iter().filter(|(_, value)| value.is_number()) {
            let document = self.files.document(location.file);
            let source_text =
                document.and_then(|document| Some(document.text_at(&location.pointer)?.into_owned()));
            let printed = value.to_string();
            if let Some(source_text) = source_text.filter(|source_text| *source_text != printed) {
                let message = format!("`{source_text}` is read as the number {value}");
                let help = format!("put it in quotes if you mean the string, or write `{value}`");
                self.report_at(codes::SCHEMA, &location, message, &help);
            }
        }
    }

    /// Expands the schema of a keyword. It may be an array of schemas, as for `items` in earlier drafts.
    fn expand_nested(&mut self, value: &Value, location: &SchemaLocation, depth: usize) -> Value {
        match value {
            Value::Array(_) => self.expand_array(value, location, depth),
            value => self.expand(value, location, depth + 1),
        }
    }

    fn expand_array(&mut self, value: &Value, location: &SchemaLocation, depth: usize) -> Value {
        let Value::Array(items) = value else { return value.clone() };
        let item = |(index, item): (usize, &Value)| {
            self.expand(item, &location.child(&index.to_string()), depth + 1)
        };
        items.iter().enumerate().map(item).collect()
    }

    /// Expands an object of schemas. Properties in short form are required by default.
    fn expand_members(
        &mut self,
        keyword: &str,
        value: &Value,
        location: &SchemaLocation,
        depth: usize,
        required: &mut Vec<Value>,
    ) -> Value {
        let Value::Object(members) = value else { return value.clone() };
        let mut expanded = Map::new();
        for (name, schema) in members {
            let location = location.child(name);
            let schema = match schema {
                Value::String(text) if keyword == "properties" => {
                    let Some((schema, optional)) = self.short_form(text, &location) else { continue };
                    if !optional && schema.get("default").is_none() {
                        required.push(name.clone().into());
                    }
                    schema
                }
                // `dependencies` may list keys instead.
                Value::Array(_) => schema.clone(),
                schema => self.expand(schema, &location, depth + 1),
            };
            expanded.insert(name.clone(), schema);
        }
        Value::Object(expanded)
    }

    /// Reports an unknown keyword of JSON Schema in a manifest. Other files may have keywords for other tools.
    fn unknown_keyword(&mut self, key: &str, location: &SchemaLocation) {
        let is_manifest = |document: &Arc<Document>| document.root.get("toolgen").is_some();
        if self.files.document(location.file).is_some_and(is_manifest) {
            let message = format!("a schema has no keyword `{key}`");
            self.report_at(codes::UNKNOWN_KEY, location, message, &suggest_name(key, &keywords::names()));
        }
    }
}

/// Names of types in other languages.
const FOREIGN_TYPE_NAMES: [(&str, &str); 17] = [
    ("str", "string"),
    ("text", "string"),
    ("int", "integer"),
    ("i32", "integer"),
    ("i64", "integer"),
    ("u32", "integer"),
    ("u64", "integer"),
    ("float", "number"),
    ("f64", "number"),
    ("double", "number"),
    ("bool", "boolean"),
    ("dict", "object"),
    ("map", "object"),
    ("array", "string[]"),
    ("list", "string[]"),
    ("vec", "string[]"),
    ("set", "string[]"),
];
