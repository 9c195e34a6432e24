//! Objects: fields, maps, and the keys a model sees.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::compose::describe_by_title;
use super::{Object, Reader};
use crate::schema::shape::read::build::title_says_something;
use crate::schema::shape::read::{ReadProblemKind, Source};

/// Maximum number of keys of an object that are read. A model could not read more, and each costs kilobytes.
const MOST_KEYS: usize = 20_000;

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Reads `properties` and `required`.
    pub(super) fn fields(&mut self, object: &'a Object, out: &mut Object) {
        let given = object.get("properties").filter(|value| !value.is_null());
        let fields = given.and_then(|value| self.at("properties", |reader| reader.map("properties", value)));
        let mut required = self.required(object);
        let count = fields.map_or(0, Object::len).max(required.len());
        if count > MOST_KEYS {
            let message = format!("names {count} keys, but only the first {MOST_KEYS} are read");
            self.at("properties", |reader| reader.malformed(message));
            required.truncate(MOST_KEYS);
        }
        let listed: HashSet<&str> = required.iter().copied().collect();
        let keys = fields.into_iter().flat_map(Object::keys).take(MOST_KEYS).map(String::as_str);
        let unlisted = |key: &&str| fields.is_none_or(|fields| !fields.contains_key(*key));
        let names = self.source.keys(&mut keys.chain(required.clone().into_iter().filter(unlisted)));
        let name_of = |key: &str| names.get(key).map_or(key, String::as_str).to_owned();
        let mut read = Object::new();
        for (key, field) in fields.into_iter().flatten().take(MOST_KEYS) {
            if let Some((object, flag)) = field.as_object().and_then(|object| Some((object, flag(object)?))) {
                self.flagged = std::ptr::from_ref(object).addr();
                if flag && !listed.contains(key.as_str()) {
                    required.push(key);
                    self.at("properties", |reader| reader.at(key, Self::told_as_flag));
                }
            }
            let mut schema = match field {
                Value::Null => json!({}),
                field => self.at("properties", |reader| reader.at(key, |reader| reader.schema(field))),
            };
            let name = name_of(key);
            let title = field.get("title").and_then(Value::as_str).unwrap_or_default();
            if self.rules.is_openapi() && title_says_something(title, &name) {
                describe_by_title(&mut schema, field);
            }
            read.insert(name.clone(), if name == *key { schema } else { with_wire(schema, key) });
        }
        for key in required.iter().copied().filter(unlisted).filter(|key| name_of(key) != *key) {
            read.insert(name_of(key), with_wire(json!({}), key));
        }
        if fields.is_some() || !read.is_empty() {
            out.insert("properties".to_owned(), Value::Object(read));
        }
        if !required.is_empty() {
            out.insert("required".to_owned(), required.into_iter().map(name_of).collect());
        }
    }

    fn required(&mut self, object: &'a Object) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        let mut seen = HashSet::new();
        let mut message = None;
        if let Some(flag) = flag(object) {
            // The flag of a parameter, or of a property; `false` is harmless.
            let is_known = self.rules.is_openapi() || self.flagged == std::ptr::from_ref(object).addr();
            message = (flag && !is_known).then(|| "must be an array of keys; it is ignored".to_owned());
        }
        match object.get("required").filter(|_| flag(object).is_none()) {
            None | Some(Value::Null) => {}
            Some(Value::String(name)) if self.rules.is_openapi() => {
                message = Some(format!("must be an array of keys; `{name}` is read as the only one"));
                names.push(name);
            }
            Some(Value::Array(listed)) => {
                let other = listed.iter().find(|key| !key.is_string());
                message = other.map(|key| format!("lists {key}, which is not a key; it is left out"));
                names.extend(listed.iter().filter_map(Value::as_str).filter(|name| seen.insert(*name)));
            }
            Some(_) => message = Some("must be an array of keys; it is ignored".to_owned()),
        }
        if let Some(what) = message {
            self.at("required", |reader| reader.malformed(format!("`required` {what}")));
        }
        names
    }

    /// Reports that `required` of a property is read as a flag.
    fn told_as_flag(&mut self) {
        let message = "`required` of a property is a flag only in JSON Schema draft 3; the property is treated as \
                       required";
        self.at("required", |reader| reader.problem(ReadProblemKind::Draft, message));
    }

    pub(super) fn additional(&mut self, value: &'a Value, object: &Object) -> Option<Value> {
        let has = |key: &str| object.get(key).is_some_and(|value| !value.is_null());
        let openapi = self.rules.is_openapi();
        Some(match value {
            Value::Bool(false)
                if openapi && evaluates(object) && !has("properties") && !has("patternProperties") =>
            {
                self.malformed(
                    "`additionalProperties: false` allows none of the fields in other parts \
                     of the schema; it is ignored",
                );
                return None;
            }
            Value::Bool(open) => Value::Bool(*open),
            Value::String(text) if openapi && (text == "true" || text == "false") => {
                Value::Bool(text == "true")
            }
            schema => self.schema(schema),
        })
    }

    /// Reads `unevaluatedProperties` as `additionalProperties` if no other keyword evaluates properties, and
    /// `unevaluatedItems` as `items`. The tree cannot express the other cases.
    pub(super) fn unevaluated(
        &mut self,
        keyword: &mut &str,
        value: &'a Value,
        object: &Object,
    ) -> Option<Value> {
        let known = match (*keyword, object.get("items")) {
            ("unevaluatedProperties", _) => "additionalProperties",
            (_, Some(Value::Array(_))) => "additionalItems",
            _ => "items",
        };
        if *value == Value::Bool(true) || object.get(known).is_some_and(|value| !value.is_null()) {
            return None;
        }
        // `allOf` in OpenAPI is merged.
        let merged = self.rules.is_openapi() || !object.contains_key("allOf");
        let contains = known != "additionalProperties" && object.contains_key("contains");
        if evaluates(object) || contains || !merged {
            self.malformed(format!(
                "`{keyword}` depends on what the rest of the schema leaves open, which is not supported; it is left out"
            ));
            return None;
        }
        *keyword = known;
        Some(if value.is_boolean() { value.clone() } else { self.schema(value) })
    }
}

/// Returns the value of `required` if it is a flag, as in a parameter, or in a property of JSON Schema draft 3,
/// instead of names of keys.
fn flag(schema: &Object) -> Option<bool> {
    match schema.get("required")? {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) if schema.get("properties").is_none_or(|fields| fields.get(text).is_none()) => {
            match text.trim().to_ascii_lowercase().as_str() {
                "true" | "yes" | "y" | "on" => Some(true),
                "false" | "no" | "n" | "off" => Some(false),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether parts of a schema may describe members that the schema itself does not name.
fn evaluates(object: &Object) -> bool {
    ["oneOf", "anyOf", "$ref", "$dynamicRef", "if", "dependentSchemas"]
        .iter()
        .any(|keyword| object.get(*keyword).is_some_and(|value| !value.is_null()))
}

/// Records the key in the data.
fn with_wire(schema: Value, key: &str) -> Value {
    let mut object = match schema {
        Value::Object(object) => object,
        Value::Bool(false) => Object::from_iter([("not".to_owned(), json!({}))]),
        _ => Object::new(),
    };
    object.insert("x-wire".to_owned(), Value::from(key));
    Value::Object(object)
}
