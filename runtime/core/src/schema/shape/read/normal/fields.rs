//! Objects: fields, maps, and the keys a model sees.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::compose::describe_by_title;
use super::{Object, Reader};
use crate::schema::shape::read::build::title_is_informative;
use crate::schema::shape::read::{ReadProblemKind, Source};

/// Maximum number of keys of an object that are read. A model could not read more, and each costs kilobytes.
const MAX_KEYS: usize = 20_000;

impl<'a, S: Source<'a>> Reader<'_, S> {
    /// Reads `properties` and `required`.
    pub(super) fn read_fields(&mut self, object: &'a Object, out: &mut Object) {
        let properties = object.get("properties").filter(|value| !value.is_null());
        let fields = properties
            .and_then(|value| self.at("properties", |reader| reader.expect_object("properties", value)));
        let mut required = self.read_required(object);
        let count = fields.map_or(0, Object::len).max(required.len());
        if count > MAX_KEYS {
            let message = format!("names {count} keys, but only the first {MAX_KEYS} are read");
            self.at("properties", |reader| reader.report_malformed(message));
            required.truncate(MAX_KEYS);
        }
        let required_names: HashSet<&str> = required.iter().copied().collect();
        let keys = fields.into_iter().flat_map(Object::keys).take(MAX_KEYS).map(String::as_str);
        let is_undeclared = |key: &&str| fields.is_none_or(|fields| !fields.contains_key(*key));
        let names = self.source.keys(&mut keys.chain(required.clone().into_iter().filter(is_undeclared)));
        let name_of = |key: &str| names.get(key).map_or(key, String::as_str).to_owned();
        let mut out_properties = Object::new();
        for (key, field) in fields.into_iter().flatten().take(MAX_KEYS) {
            if let Some((object, flag)) =
                field.as_object().and_then(|object| Some((object, required_flag(object)?)))
            {
                self.reported_flag = std::ptr::from_ref(object).addr();
                if flag && !required_names.contains(key.as_str()) {
                    required.push(key);
                    self.at("properties", |reader| reader.at(key, Self::report_flag));
                }
            }
            let mut schema = match field {
                Value::Null => json!({}),
                field => self.at("properties", |reader| reader.at(key, |reader| reader.read_schema(field))),
            };
            let name = name_of(key);
            let title = field.get("title").and_then(Value::as_str).unwrap_or_default();
            if self.rules.is_openapi() && title_is_informative(title, &name) {
                describe_by_title(&mut schema, field);
            }
            out_properties
                .insert(name.clone(), if name == *key { schema } else { with_wire_name(schema, key) });
        }
        for key in required.iter().copied().filter(is_undeclared).filter(|key| name_of(key) != *key) {
            out_properties.insert(name_of(key), with_wire_name(json!({}), key));
        }
        if fields.is_some() || !out_properties.is_empty() {
            out.insert("properties".to_owned(), Value::Object(out_properties));
        }
        if !required.is_empty() {
            out.insert("required".to_owned(), required.into_iter().map(name_of).collect());
        }
    }

    fn read_required(&mut self, object: &'a Object) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        let mut seen = HashSet::new();
        let mut message = None;
        if let Some(flag) = required_flag(object) {
            // The flag of a parameter, or of a property; `false` is harmless.
            let is_known = self.rules.is_openapi() || self.reported_flag == std::ptr::from_ref(object).addr();
            message = (flag && !is_known).then(|| "must be an array of keys; it is ignored".to_owned());
        }
        match object.get("required").filter(|_| required_flag(object).is_none()) {
            None | Some(Value::Null) => {}
            Some(Value::String(name)) if self.rules.is_openapi() => {
                message = Some(format!("must be an array of keys; `{name}` is read as the only one"));
                names.push(name);
            }
            Some(Value::Array(keys)) => {
                let other = keys.iter().find(|key| !key.is_string());
                message = other.map(|key| format!("lists {key}, which is not a key; it is left out"));
                names.extend(keys.iter().filter_map(Value::as_str).filter(|name| seen.insert(*name)));
            }
            Some(_) => message = Some("must be an array of keys; it is ignored".to_owned()),
        }
        if let Some(what) = message {
            self.at("required", |reader| reader.report_malformed(format!("`required` {what}")));
        }
        names
    }

    /// Reports that `required` of a property is read as a flag.
    fn report_flag(&mut self) {
        let message = "`required` of a property is a flag only in JSON Schema draft 3; the property is treated as \
                       required";
        self.at("required", |reader| reader.report(ReadProblemKind::Draft, message));
    }

    pub(super) fn read_additional(&mut self, value: &'a Value, object: &Object) -> Option<Value> {
        let has = |key: &str| object.get(key).is_some_and(|value| !value.is_null());
        let is_openapi = self.rules.is_openapi();
        Some(match value {
            Value::Bool(false)
                if is_openapi
                    && may_describe_others(object)
                    && !has("properties")
                    && !has("patternProperties") =>
            {
                self.report_malformed(
                    "`additionalProperties: false` allows none of the fields in other parts \
                     of the schema; it is ignored",
                );
                return None;
            }
            Value::Bool(flag) => Value::Bool(*flag),
            Value::String(text) if is_openapi && (text == "true" || text == "false") => {
                Value::Bool(text == "true")
            }
            schema => self.read_schema(schema),
        })
    }

    /// Reads `unevaluatedProperties` as `additionalProperties` if no other keyword evaluates properties, and
    /// `unevaluatedItems` as `items`. The tree cannot express the other cases.
    pub(super) fn read_unevaluated(
        &mut self,
        keyword: &mut &str,
        value: &'a Value,
        object: &Object,
    ) -> Option<Value> {
        let equivalent = match (*keyword, object.get("items")) {
            ("unevaluatedProperties", _) => "additionalProperties",
            (_, Some(Value::Array(_))) => "additionalItems",
            _ => "items",
        };
        if *value == Value::Bool(true) || object.get(equivalent).is_some_and(|value| !value.is_null()) {
            return None;
        }
        // `allOf` in OpenAPI is merged.
        let all_of_is_merged = self.rules.is_openapi() || !object.contains_key("allOf");
        let has_contains = equivalent != "additionalProperties" && object.contains_key("contains");
        if may_describe_others(object) || has_contains || !all_of_is_merged {
            self.report_malformed(format!(
                "`{keyword}` depends on what the rest of the schema leaves open, which is not supported; it is left out"
            ));
            return None;
        }
        *keyword = equivalent;
        Some(if value.is_boolean() { value.clone() } else { self.read_schema(value) })
    }
}

/// Returns the value of `required` if it is a flag, as in a parameter, or in a property of JSON Schema draft 3,
/// instead of names of keys.
fn required_flag(schema: &Object) -> Option<bool> {
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
fn may_describe_others(object: &Object) -> bool {
    ["oneOf", "anyOf", "$ref", "$dynamicRef", "if", "dependentSchemas"]
        .iter()
        .any(|keyword| object.get(*keyword).is_some_and(|value| !value.is_null()))
}

/// Records the key in the data.
fn with_wire_name(schema: Value, key: &str) -> Value {
    let mut object = match schema {
        Value::Object(object) => object,
        Value::Bool(false) => Object::from_iter([("not".to_owned(), json!({}))]),
        _ => Object::new(),
    };
    object.insert("x-wire".to_owned(), Value::from(key));
    Value::Object(object)
}
