//! Objects: fields, maps, and the keys a model sees.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::super::context::Context;
use super::super::node::Place;
use crate::names::{portable_key, portable_keys};

/// Marks the key of the data beside a field that has another name for the model.
pub(in super::super) const WIRE: &str = "x-wire";

impl<'a> Context<'a> {
    /// `properties`, `required`, `patternProperties` and `additionalProperties`.
    pub(super) fn properties(
        &mut self,
        object: &'a Map<String, Value>,
        place: &Place<'_>,
        out: &mut Map<String, Value>,
    ) {
        let fields = self.map_of_schemas(object, place, "properties");
        let names = portable_keys(fields.iter().flat_map(|fields| fields.keys()).map(String::as_str));
        let mut required = self.required(object, place);
        if let Some(fields) = fields {
            let place = Place::Key(place, "properties");
            let mut read = Map::new();
            for (key, field) in fields {
                let schema = self.field(key, field, &place, &mut required);
                let name = names.get(key.as_str()).unwrap_or(key);
                read.insert(name.clone(), if name == key { schema } else { with_wire(schema, key) });
            }
            out.insert("properties".to_owned(), Value::Object(read));
        }
        if !required.is_empty() {
            let required = required.into_iter();
            let required: Vec<String> =
                required.map(|key| names.get(key).cloned().unwrap_or_else(|| portable_key(key))).collect();
            out.insert("required".to_owned(), json!(required));
        }
        if let Some(patterns) = self.map_of_schemas(object, place, "patternProperties") {
            let place = Place::Key(place, "patternProperties");
            let mut read = Map::new();
            for (pattern, schema) in patterns {
                let place = Place::Key(&place, pattern);
                if self.is_pattern(pattern, &place) {
                    read.insert(pattern.clone(), self.schema(schema, &place));
                }
            }
            out.insert("patternProperties".to_owned(), Value::Object(read));
        }
        self.extra(object, place, out);
    }

    fn map_of_schemas(
        &mut self,
        object: &'a Map<String, Value>,
        place: &Place<'_>,
        key: &str,
    ) -> Option<&'a Map<String, Value>> {
        match object.get(key)? {
            Value::Null => None,
            Value::Object(members) => Some(members),
            Value::Array(members) if members.is_empty() => None,
            _ => {
                self.schema_problem(place, format!("`{key}` must be an object; it is ignored"));
                None
            }
        }
    }

    /// One field. `required: true` inside a field is no JSON Schema, but what is meant is clear.
    fn field(
        &mut self,
        key: &'a str,
        field: &'a Value,
        place: &Place<'_>,
        required: &mut BTreeSet<&'a str>,
    ) -> Value {
        if field.get("required") == Some(&Value::Bool(true)) {
            required.insert(key);
        }
        if field.is_null() {
            return json!({});
        }
        self.schema(field, &Place::Key(place, key))
    }

    fn required(&mut self, object: &'a Map<String, Value>, place: &Place<'_>) -> BTreeSet<&'a str> {
        match object.get("required") {
            // A boolean belongs to the field this schema is of.
            None | Some(Value::Null | Value::Bool(_)) => BTreeSet::new(),
            Some(Value::Array(keys)) => keys.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(key)) => BTreeSet::from([key.as_str()]),
            Some(_) => {
                self.schema_problem(place, "`required` must be a list of keys; it is ignored");
                BTreeSet::new()
            }
        }
    }

    fn extra(&mut self, object: &'a Map<String, Value>, place: &Place<'_>, out: &mut Map<String, Value>) {
        let key = "additionalProperties";
        let has = |key: &str| object.get(key).is_some_and(|value| !value.is_null());
        let elsewhere = ["oneOf", "anyOf", "$ref", "if", "not"].iter().any(|key| has(key));
        let extra = match object.get(key) {
            None | Some(Value::Null) => match object.get("unevaluatedProperties") {
                // Merged with its `allOf` this says the same, but what stands elsewhere is evaluated, too.
                Some(Value::Bool(false)) if !elsewhere => Value::Bool(false),
                _ => return,
            },
            Some(Value::Bool(false)) if elsewhere && !has("properties") && !has("patternProperties") => {
                self.schema_problem(
                    place,
                    "`additionalProperties: false` allows none of the fields that stand in \
                     other parts of the schema; it is ignored",
                );
                return;
            }
            Some(Value::Bool(open)) => Value::Bool(*open),
            Some(Value::String(text)) if text == "true" || text == "false" => Value::Bool(text == "true"),
            Some(schema) => self.schema(schema, &Place::Key(place, key)),
        };
        out.insert(key.to_owned(), extra);
    }
}

/// Remembers the key of the data.
fn with_wire(schema: Value, key: &str) -> Value {
    let mut object = match schema {
        Value::Object(object) => object,
        Value::Bool(false) => Map::from_iter([("not".to_owned(), json!({}))]),
        _ => Map::new(),
    };
    object.insert(WIRE.to_owned(), Value::from(key));
    Value::Object(object)
}
