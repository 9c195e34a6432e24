//! Reads the schemas of a manifest: JSON Schema 2020-12, with short forms in any position of a schema.
//!
//! A schema is first expanded: short forms become schemas, and references name shapes under `$defs`. The reader of
//! JSON Schema does the rest. Expansion keeps the position of members, so the locations of problems stay valid.

mod defs;
pub(super) mod keywords;
mod references;

use std::sync::Arc;

use serde_json::{Map, Value};
use toolgen_core::Shape;
use toolgen_core::schema::shape::read::{ReadProblemKind, read};

use self::keywords::Form;
use super::codes;
use super::context::{Context, SchemaPlace, nearest};
use super::short_schema::{self, Type};
use crate::problem::Code;
use crate::source::{Document, Pointer};

/// Maximum depth to which schemas are expanded; the reader's own limit is lower.
const MAX_DEPTH: usize = 64;

impl Context<'_> {
    /// Returns the shape of a schema.
    pub(super) fn shape(&mut self, schema: &Value, place: &SchemaPlace) -> Shape {
        let written = match schema {
            Value::String(text) => self.short(text, place).map(|(schema, _)| schema),
            schema => Some(self.written_out(schema, place, 0)),
        };
        written.map_or(Shape::ANY, |written| self.read_shape(&written, place))
    }

    /// Reads an expanded schema.
    pub(super) fn read_shape(&mut self, schema: &Value, place: &SchemaPlace) -> Shape {
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
                // Already reported when the schema was expanded.
                ReadProblemKind::Draft => continue,
                _ => (codes::SCHEMA, "correct the schema"),
            };
            let full = format!("{}{}", place.pointer, problem.pointer);
            let at = SchemaPlace { pointer: Pointer::parse(&full).unwrap_or_default(), ..place.clone() };
            // The reader ignores invalid parts, but here they are errors of the tool.
            let message = problem.message.split("; ").next().unwrap_or_default().to_owned();
            self.report_at(code, &at, message, help);
        }
        shape
    }

    /// Reports a problem in any file, at the nearest location that exists.
    pub(super) fn report_at(&mut self, code: Code, at: &SchemaPlace, message: String, help: &str) {
        let Some(document) = self.files.document(at.file) else { return };
        let mut pointer = at.pointer.clone();
        while pointer.resolve(&document.root).is_none() {
            let Some(parent) = pointer.parent() else { break };
            pointer = parent;
        }
        let source = Arc::clone(&document.source);
        self.report_in(&source, code, &pointer, message, help);
    }

    /// Returns the schema of a short form, and whether it makes the value optional.
    pub(super) fn short(&mut self, text: &str, place: &SchemaPlace) -> Option<(Value, bool)> {
        const FORM: &str = "write `TYPE`, `TYPE?`, `TYPE = default` or `TYPE - description`, such as `integer? = 10 \
            - Maximum number of rows.`";
        let short = match short_schema::read(text) {
            Ok(short) => short,
            Err(error) => {
                let message = format!("`{text}` is not a type: {error}");
                self.report_at(codes::SHORT_FORM, place, message, FORM);
                return None;
            }
        };
        let reference = match &short.of {
            Type::Named(name) => format!("#/$defs/{}", self.named_type(name, place)?),
            _ => String::new(),
        };
        Some((short.to_schema(&reference), short.optional))
    }

    /// Returns the name of the shape that a word of a short form refers to.
    fn named_type(&mut self, word: &str, place: &SchemaPlace) -> Option<String> {
        let pointer = Pointer::ROOT.child("schemas").child(word);
        let at = SchemaPlace { file: place.file, pointer: pointer.clone(), whole: pointer };
        let root = &self.files.document(place.file)?.root;
        if at.pointer.resolve(root).is_some() {
            return Some(self.def_of(at));
        }
        let schemas = root.get("schemas").and_then(Value::as_object);
        let mut known: Vec<&str> = short_schema::TYPES.to_vec();
        known.extend(schemas.into_iter().flat_map(Map::keys).map(String::as_str));
        let help = match OTHER_NAMES.iter().find(|(other, _)| *other == word.to_lowercase()) {
            Some((_, name)) => format!("write `{name}`"),
            None => nearest(word, &known),
        };
        let message = format!("`{word}` is neither a type nor a schema of this file");
        self.report_at(codes::SHORT_FORM, place, message, &help);
        None
    }

    /// Returns a schema with its short forms and references expanded.
    fn written_out(&mut self, schema: &Value, place: &SchemaPlace, depth: usize) -> Value {
        let members = match schema {
            Value::String(text) => {
                let short = self.short(text, place);
                if let Some((_, true)) = short {
                    let message = "`?` makes an argument or a property optional, but this is neither";
                    self.report_at(codes::SHORT_FORM, place, message.to_owned(), "remove the `?`");
                }
                return short.map_or(Value::Bool(true), |(schema, _)| schema);
            }
            Value::Object(members) if depth < MAX_DEPTH => members,
            Value::Null => {
                let message = "there is no schema".to_owned();
                self.report_at(codes::SCHEMA, place, message, "write a type, or `any`");
                return Value::Bool(true);
            }
            other => return other.clone(),
        };
        self.check_required(members, place);
        self.check_numbers(members, place);
        let mut written = Map::new();
        let mut required: Vec<Value> = Vec::new();
        for (key, value) in members {
            let at = place.child(key);
            if value.is_null() && !matches!(key.as_str(), "default" | "const") {
                let help = match key.as_str() {
                    "type" => "write `'null'` in quotes for the type of null",
                    _ => "set a value, or remove it",
                };
                self.report_at(codes::SCHEMA, &at, format!("`{key}` has no value"), help);
                continue;
            }
            let value = match keywords::form(key) {
                Some(Form::Schema) => self.inner(value, &at, depth),
                Some(Form::Schemas) => self.schemas_of(value, &at, depth),
                Some(Form::Named) => self.members(key, value, &at, depth, &mut required),
                Some(Form::Reference) => match self.schema_reference(value, &at) {
                    Some(reference) => reference.into(),
                    None => continue,
                },
                Some(Form::Value) => value.clone(),
                None => {
                    self.unknown_keyword(key, &at);
                    continue;
                }
            };
            written.insert(key.clone(), value);
        }
        if !required.is_empty() {
            if let Some(Value::Array(listed)) = written.get("required") {
                required.retain(|name| !listed.contains(name));
                required.splice(0..0, listed.iter().cloned());
            }
            written.insert("required".to_owned(), required.into());
        }
        Value::Object(written)
    }

    /// Reports names in `required` that the schema does not have. In a schema that is composed of others, they may be
    /// in the others.
    fn check_required(&mut self, schema: &Map<String, Value>, place: &SchemaPlace) {
        const PARTS: [&str; 6] = ["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"];
        let Some(required) = schema.get("required").filter(|required| !required.is_null()) else { return };
        let at = place.child("required");
        let Some(names) = required.as_array().filter(|names| names.iter().all(Value::is_string)) else {
            let message = "`required` must be an array of names".to_owned();
            let help = "list the required properties; for an argument, use `optional: true` instead";
            return self.report_at(codes::SCHEMA, &at, message, help);
        };
        let properties = schema.get("properties").and_then(Value::as_object);
        let Some(properties) = properties.filter(|_| !PARTS.iter().any(|part| schema.contains_key(*part)))
        else {
            return;
        };
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        for name in names.iter().filter_map(Value::as_str).filter(|name| !properties.contains_key(*name)) {
            let message = format!("`required` names `{name}`, which is not a property");
            self.report_at(codes::SCHEMA, &at, message, &nearest(name, &known));
        }
    }

    /// Reports enumerated numbers in a schema without a type that print differently from their source: `010` was
    /// probably meant as a string.
    fn check_numbers(&mut self, schema: &Map<String, Value>, place: &SchemaPlace) {
        if schema.contains_key("type") {
            return;
        }
        let mut numbers: Vec<(SchemaPlace, &Value)> = Vec::new();
        for key in ["const", "default", "enum", "examples"] {
            let at = place.child(key);
            match schema.get(key) {
                Some(Value::Array(items)) => {
                    let items = items.iter().enumerate();
                    numbers.extend(items.map(|(index, item)| (at.child(&index.to_string()), item)));
                }
                Some(value) => numbers.push((at, value)),
                None => {}
            }
        }
        for (at, value) in numbers.into_iter().filter(|(_, value)| value.is_number()) {
            let document = self.files.document(at.file);
            let written = document.and_then(|document| Some(document.text_at(&at.pointer)?.into_owned()));
            let printed = value.to_string();
            if let Some(written) = written.filter(|written| *written != printed) {
                let message = format!("`{written}` is read as the number {value}");
                let help = format!("put it in quotes if you mean the string, or write `{value}`");
                self.report_at(codes::SCHEMA, &at, message, &help);
            }
        }
    }

    /// Expands a schema under a keyword, which may be an array of schemas for `items` of earlier drafts.
    fn inner(&mut self, value: &Value, at: &SchemaPlace, depth: usize) -> Value {
        match value {
            Value::Array(_) => self.schemas_of(value, at, depth),
            value => self.written_out(value, at, depth + 1),
        }
    }

    fn schemas_of(&mut self, value: &Value, at: &SchemaPlace, depth: usize) -> Value {
        let Value::Array(items) = value else { return value.clone() };
        let item =
            |(index, item): (usize, &Value)| self.written_out(item, &at.child(&index.to_string()), depth + 1);
        items.iter().enumerate().map(item).collect()
    }

    /// Expands schemas by names. Properties in short form are required by default.
    fn members(
        &mut self,
        keyword: &str,
        value: &Value,
        at: &SchemaPlace,
        depth: usize,
        required: &mut Vec<Value>,
    ) -> Value {
        let Value::Object(members) = value else { return value.clone() };
        let mut written = Map::new();
        for (name, schema) in members {
            let at = at.child(name);
            let schema = match schema {
                Value::String(text) if keyword == "properties" => {
                    let Some((schema, optional)) = self.short(text, &at) else { continue };
                    if !optional && schema.get("default").is_none() {
                        required.push(name.clone().into());
                    }
                    schema
                }
                // `dependencies` may list keys instead.
                Value::Array(_) => schema.clone(),
                schema => self.written_out(schema, &at, depth + 1),
            };
            written.insert(name.clone(), schema);
        }
        Value::Object(written)
    }

    /// Reports an unknown keyword of JSON Schema, in manifests. Other files may have keywords for other readers.
    fn unknown_keyword(&mut self, key: &str, at: &SchemaPlace) {
        let is_manifest = |document: &Arc<Document>| document.root.get("toolgen").is_some();
        if self.files.document(at.file).is_some_and(is_manifest) {
            let message = format!("a schema has no keyword `{key}`");
            self.report_at(codes::UNKNOWN_KEY, at, message, &nearest(key, &keywords::names()));
        }
    }
}

/// Names of types in other languages.
const OTHER_NAMES: [(&str, &str); 17] = [
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
