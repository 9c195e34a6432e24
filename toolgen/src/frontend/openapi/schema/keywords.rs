//! The keywords of a schema that stand for themselves: values, texts, numbers, lists, remarks.

use serde_json::{Map, Number, Value, json};
use toolgen_runtime::schema::shape::is_pattern;

use super::super::context::Context;
use super::super::node::Place;
use super::types::Types;
use crate::problem::codes;

/// The longest example kept, as JSON text. Longer ones cost a model more than they tell it.
const MAX_EXAMPLE: usize = 512;

/// How many examples of one schema are kept.
const MAX_EXAMPLES: usize = 3;

impl<'a> Context<'a> {
    /// Everything but references and unions.
    pub(super) fn keywords(
        &mut self,
        object: &'a Map<String, Value>,
        place: &Place<'_>,
        out: &mut Map<String, Value>,
    ) {
        let types = self.types(object, place, out);
        insert_types(&types, out);
        if let Some(format) = object.get("format").and_then(Value::as_str).filter(|text| !text.is_empty()) {
            out.insert("format".to_owned(), Value::from(format));
        }
        self.values(object, place, &types, out);
        let of = |name: &str| types.is_empty() || types.contains(&name);
        if of("string") {
            self.counts(object, place, &["minLength", "maxLength"], out);
            self.pattern(object, place, out);
            for key in ["contentEncoding", "contentMediaType"] {
                if let Some(text) = object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()) {
                    out.insert(key.to_owned(), Value::from(text));
                }
            }
        }
        if of("number") || of("integer") {
            self.limits(object, place, out);
        }
        if of("array") {
            self.counts(object, place, &["minItems", "maxItems"], out);
            self.items(object, place, &types, out);
        }
        if of("object") {
            self.counts(object, place, &["minProperties", "maxProperties"], out);
            self.properties(object, place, out);
        }
        self.others(object, place, out);
        self.annotations(object, place, out);
    }

    /// `pattern`, if it is one.
    fn pattern(&mut self, object: &'a Map<String, Value>, place: &Place<'_>, out: &mut Map<String, Value>) {
        let Some(pattern) = object.get("pattern").and_then(Value::as_str).filter(|text| !text.is_empty())
        else {
            return;
        };
        if self.is_pattern(pattern, &Place::Key(place, "pattern")) {
            out.insert("pattern".to_owned(), Value::from(pattern));
        }
    }

    /// Whether a text is a regular expression; reports it if not.
    pub(super) fn is_pattern(&mut self, pattern: &str, place: &Place<'_>) -> bool {
        let good = is_pattern(pattern);
        if !good {
            self.report(
                codes::PATTERN,
                &place.pointer(),
                format!("`{pattern}` is no regular expression; it is left out"),
                "write it as ECMA-262 has it, without delimiters",
            );
        }
        good
    }

    /// `enum` and `const`.
    fn values(
        &mut self,
        object: &'a Map<String, Value>,
        place: &Place<'_>,
        types: &Types,
        out: &mut Map<String, Value>,
    ) {
        if let Some(value) = object.get("const") {
            out.insert("const".to_owned(), fitting(value, types).unwrap_or_else(|| value.clone()));
        }
        match object.get("enum") {
            None | Some(Value::Null) => {}
            Some(Value::Array(values)) if !values.is_empty() => {
                let mut kept: Vec<Value> = Vec::with_capacity(values.len());
                let mut seen = std::collections::BTreeSet::new();
                for value in values {
                    let value = fitting(value, types).unwrap_or_else(|| value.clone());
                    if seen.insert(value.to_string()) {
                        kept.push(value);
                    }
                }
                let listed_null = kept.contains(&Value::Null);
                out.insert("enum".to_owned(), Value::Array(kept));
                // OpenAPI 3.0 documents list `null` and mean `nullable`.
                if listed_null && !types.is_empty() && !types.contains(&"null") {
                    let mut types = types.clone();
                    types.push("null");
                    insert_types(&types, out);
                }
            }
            Some(_) => self.schema_problem(place, "`enum` must be a list with values; it is ignored"),
        }
    }

    /// Keywords that hold a count.
    fn counts(
        &mut self,
        object: &'a Map<String, Value>,
        place: &Place<'_>,
        keys: &[&str],
        out: &mut Map<String, Value>,
    ) {
        for key in keys {
            let Some(value) = object.get(*key).filter(|value| !value.is_null()) else { continue };
            match count(value) {
                Some(count) => {
                    out.insert((*key).to_owned(), json!(count));
                }
                None => {
                    self.schema_problem(
                        place,
                        format!("`{key}` must be a count, not {value}; it is ignored"),
                    );
                }
            }
        }
    }

    /// The limits of numbers. In OpenAPI 3.0 `exclusiveMinimum: true` makes `minimum` exclusive.
    fn limits(&mut self, object: &'a Map<String, Value>, place: &Place<'_>, out: &mut Map<String, Value>) {
        for (plain, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            let limit = self.number(object, place, plain);
            match object.get(exclusive) {
                Some(Value::Bool(true)) => {
                    out.extend(limit.map(|limit| (exclusive.to_owned(), Value::Number(limit))));
                }
                None | Some(Value::Null | Value::Bool(false)) => {
                    out.extend(limit.map(|limit| (plain.to_owned(), Value::Number(limit))));
                }
                Some(_) => {
                    out.extend(limit.map(|limit| (plain.to_owned(), Value::Number(limit))));
                    let limit = self.number(object, place, exclusive);
                    out.extend(limit.map(|limit| (exclusive.to_owned(), Value::Number(limit))));
                }
            }
        }
        if let Some(step) = self.number(object, place, "multipleOf") {
            if step.as_f64().is_some_and(|step| step > 0.0) {
                out.insert("multipleOf".to_owned(), Value::Number(step));
            } else {
                self.schema_problem(place, "`multipleOf` must be greater than zero; it is ignored");
            }
        }
    }

    fn number(&mut self, object: &Map<String, Value>, place: &Place<'_>, key: &str) -> Option<Number> {
        match object.get(key)? {
            Value::Null => None,
            Value::Number(number) => Some(number.clone()),
            Value::String(text) if text.parse::<f64>().is_ok_and(f64::is_finite) => {
                serde_json::from_str(text.trim()).ok()
            }
            other => {
                self.schema_problem(place, format!("`{key}` must be a number, not {other}; it is ignored"));
                None
            }
        }
    }

    fn items(
        &mut self,
        object: &'a Map<String, Value>,
        place: &Place<'_>,
        types: &Types,
        out: &mut Map<String, Value>,
    ) {
        if object.get("uniqueItems") == Some(&Value::Bool(true)) {
            out.insert("uniqueItems".to_owned(), Value::Bool(true));
        }
        // A list of schemas in `items` is a tuple (JSON Schema before 2020-12).
        let tuple = object.get("prefixItems").and_then(Value::as_array).map(|items| ("prefixItems", items));
        let tuple = tuple.or(object.get("items").and_then(Value::as_array).map(|items| ("items", items)));
        if let Some((key, items)) = tuple.filter(|(_, items)| !items.is_empty()) {
            let items = items.iter().enumerate();
            let items: Vec<Value> =
                items.map(|(at, item)| self.schema(item, &Place::Item(place, key, at))).collect();
            out.insert("prefixItems".to_owned(), Value::Array(items));
            let rest = if key == "items" { "additionalItems" } else { "items" };
            if let Some(rest_schema) =
                object.get(rest).filter(|value| value.is_object() || value.is_boolean())
            {
                let schema = self.schema(rest_schema, &Place::Key(place, rest));
                out.insert("items".to_owned(), schema);
            }
            return;
        }
        match object.get("items") {
            Some(items) if !items.is_null() && !items.is_array() => {
                let schema = self.schema(items, &Place::Key(place, "items"));
                out.insert("items".to_owned(), schema);
            }
            _ if types.contains(&"array") => {
                out.insert("items".to_owned(), json!({}));
            }
            _ => {}
        }
    }

    /// Keywords of JSON Schema that shapes keep as they are.
    fn others(&mut self, object: &'a Map<String, Value>, place: &Place<'_>, out: &mut Map<String, Value>) {
        for key in ["not", "if", "then", "else", "contains", "propertyNames"] {
            if let Some(schema) = object.get(key).filter(|value| value.is_object() || value.is_boolean()) {
                let schema = self.schema(schema, &Place::Key(place, key));
                // Every key is a text.
                if key == "propertyNames" && schema == json!({"type": "string"}) {
                    continue;
                }
                out.insert(key.to_owned(), schema);
            }
        }
        if let Some(Value::Object(rules)) = object.get("dependentRequired") {
            out.insert("dependentRequired".to_owned(), Value::Object(rules.clone()));
        }
        self.counts(object, place, &["minContains", "maxContains"], out);
    }

    /// Remarks: they restrict nothing.
    pub(super) fn annotations(
        &mut self,
        object: &'a Map<String, Value>,
        place: &Place<'_>,
        out: &mut Map<String, Value>,
    ) {
        match object.get("description") {
            Some(Value::String(text)) if !text.trim().is_empty() => {
                out.insert("description".to_owned(), Value::from(text.trim()));
            }
            None | Some(Value::String(_) | Value::Null) => {}
            Some(_) => self.schema_problem(place, "`description` must be a text; it is left out"),
        }
        for key in ["deprecated", "readOnly", "writeOnly"] {
            if object.get(key) == Some(&Value::Bool(true)) {
                out.insert(key.to_owned(), Value::Bool(true));
            }
        }
        self.default_value(object, place, out);
        let examples: Vec<Value> = examples(object)
            .into_iter()
            .filter(|value| !value.is_null() && value.to_string().len() <= MAX_EXAMPLE)
            .take(MAX_EXAMPLES)
            .cloned()
            .collect();
        if !examples.is_empty() {
            out.insert("examples".to_owned(), Value::Array(examples));
        }
    }

    fn default_value(
        &mut self,
        object: &'a Map<String, Value>,
        place: &Place<'_>,
        out: &mut Map<String, Value>,
    ) {
        let Some(value) = object.get("default") else { return };
        let types: Types = TYPES.into_iter().filter(|name| has_type(out, name)).collect();
        let nullable = types.contains(&"null") || object.get("nullable") == Some(&Value::Bool(true));
        if value.is_null() {
            // `default: null` where null is not allowed says that there is no default.
            if nullable {
                out.insert("default".to_owned(), Value::Null);
            }
            return;
        }
        let fits = fitting(value, &types).filter(|value| match out.get("enum") {
            Some(Value::Array(values)) => values.contains(value),
            _ => true,
        });
        match fits {
            Some(value) => {
                out.insert("default".to_owned(), value);
            }
            None => {
                let pointer = place.pointer().child("default");
                self.report(
                    codes::DEFAULT,
                    &pointer,
                    "the default is not a value the schema allows; it is left out",
                    "correct the default or the schema",
                );
            }
        }
    }
}

const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "object", "array", "null"];

fn has_type(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(text)) => text == name,
        Some(Value::Array(items)) => items.iter().any(|item| item == name),
        _ => false,
    }
}

pub(super) fn insert_types(types: &Types, out: &mut Map<String, Value>) {
    match types.as_slice() {
        [] => {}
        [one] => {
            out.insert("type".to_owned(), Value::from(*one));
        }
        many => {
            out.insert("type".to_owned(), json!(many));
        }
    }
}

/// The value, if it is of one of the types, or what it plainly stands for: `"10"` for an integer, YAML's `true` for
/// a text. Any value fits no types.
fn fitting(value: &Value, types: &Types) -> Option<Value> {
    let of = |name: &str| types.contains(&name);
    let fits = types.is_empty()
        || match value {
            Value::Null => of("null"),
            Value::Bool(_) => of("boolean"),
            Value::Number(number) => {
                of("number") || (of("integer") && number.as_f64().is_some_and(|number| number.fract() == 0.0))
            }
            Value::String(_) => of("string"),
            Value::Array(_) => of("array"),
            Value::Object(_) => of("object"),
        };
    if fits {
        return Some(value.clone());
    }
    match value {
        Value::Bool(_) | Value::Number(_) if of("string") => Some(Value::String(value.to_string())),
        Value::String(text) => {
            let read: Value = serde_json::from_str(text.trim()).ok()?;
            let scalar = read.is_number() || read.is_boolean();
            if scalar { fitting(&read, types) } else { None }
        }
        _ => None,
    }
}

/// A count, also where it is written as a text or as `5.0`.
fn count(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let float = number.as_f64()?;
            // Every count that a document can mean is far below 2^53.
            (float >= 0.0 && float.fract() == 0.0 && float <= 9_007_199_254_740_992.0).then_some(float as u64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The examples of a schema or a parameter: `example`, `examples` as JSON Schema's list or as OpenAPI's map.
pub(in super::super) fn examples(object: &Map<String, Value>) -> Vec<&Value> {
    let mut found: Vec<&Value> = object.get("example").into_iter().collect();
    match object.get("examples") {
        Some(Value::Array(values)) => found.extend(values),
        Some(Value::Object(named)) => found.extend(named.values().filter_map(|example| example.get("value"))),
        _ => {}
    }
    found
}
