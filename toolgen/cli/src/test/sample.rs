//! Generates valid and invalid values of a schema.

use std::cell::Cell;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// Maximum depth of a generated value; deeper members are omitted if they are optional.
const MAX_DEPTH: usize = 12;
/// Maximum number of generated values; a schema of a few lines may require millions.
const MAX_VALUES: usize = 10_000;

/// Returns a minimal value of a JSON Schema. Some rules, such as patterns, are ignored, so the caller must validate the
/// value.
pub(super) fn generate(schema: &Value) -> Value {
    Generator { root: schema, remaining_values: Cell::new(MAX_VALUES) }.value(schema, 0)
}

struct Generator<'a> {
    root: &'a Value,
    /// Number of values that may still be generated.
    remaining_values: Cell<usize>,
}

impl Generator<'_> {
    fn value(&self, schema: &Value, depth: usize) -> Value {
        let Some(remaining) = self.remaining_values.get().checked_sub(1).filter(|_| depth <= MAX_DEPTH)
        else {
            return Value::Null;
        };
        self.remaining_values.set(remaining);
        for key in ["const", "default"] {
            if let Some(value) = schema.get(key) {
                return value.clone();
            }
        }
        for key in ["examples", "enum"] {
            if let Some(value) = schema[key].as_array().and_then(|values| values.first()) {
                return value.clone();
            }
        }
        if let Some(target_schema) =
            schema["$ref"].as_str().and_then(|reference| self.root.pointer(reference.strip_prefix('#')?))
        {
            return self.value(&with(without(schema, "$ref"), target_schema), depth + 1);
        }
        for key in ["anyOf", "oneOf"] {
            let is_not_null = |choice: &&Value| choice["type"] != "null";
            if let Some(choice) = schema[key].as_array().and_then(|choices| choices.iter().find(is_not_null))
            {
                return self.value(&with(without(schema, key), choice), depth + 1);
            }
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let merged = parts.iter().fold(without(schema, "allOf"), with);
            return self.value(&merged, depth + 1);
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "integer" | "number" => number(schema),
            "boolean" => json!(true),
            "null" => Value::Null,
            _ => json!(text(schema)),
        }
    }

    /// Returns an object with the required members.
    fn object(&self, schema: &Value, depth: usize) -> Value {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut members: Map<String, Value> = required
            .map(|name| (name.to_owned(), self.value(&schema["properties"][name], depth + 1)))
            .collect();
        let missing_count = to_usize(&schema["minProperties"]).unwrap_or(0).saturating_sub(members.len());
        let optional = schema["properties"].as_object().into_iter().flatten();
        let optional = optional.filter(|(name, _)| !members.contains_key(*name)).take(missing_count);
        let optional: Vec<_> =
            optional.map(|(name, shape)| (name.clone(), self.value(shape, depth + 1))).collect();
        members.extend(optional);
        let file = &schema["properties"]["base64"];
        if members.is_empty() && file.is_object() && schema["properties"]["path"].is_object() {
            // A file argument needs one of the two.
            members.insert("base64".to_owned(), json!("YQ=="));
        }
        Value::Object(members)
    }

    fn array(&self, schema: &Value, depth: usize) -> Value {
        let min = to_usize(&schema["minItems"]).unwrap_or(usize::from(depth < 4)).min(16);
        let first = schema["prefixItems"]
            .as_array()
            .map(|items| items.iter().map(|item| self.value(item, depth + 1)));
        let mut items: Vec<Value> = first.into_iter().flatten().collect();
        if schema["maxItems"] == 0 {
            return json!([]);
        }
        while items.len() < min {
            let item = self.value(&schema["items"], depth + 1);
            items.push(if schema["uniqueItems"] == true { distinct(item, items.len()) } else { item });
        }
        Value::Array(items)
    }
}

fn without(schema: &Value, key: &str) -> Value {
    let mut remaining = schema.clone();
    remaining.as_object_mut().and_then(|members| members.shift_remove(key));
    remaining
}

/// Merges two schemas: the members of both; for other keywords, `more` takes precedence.
fn with(mut schema: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().into_iter().flatten() {
        match (&mut schema[key], value) {
            (Value::Array(old), Value::Array(new)) if key == "required" => old.extend(new.iter().cloned()),
            (Value::Object(old), Value::Object(new)) => {
                old.extend(new.iter().map(|(name, value)| (name.clone(), value.clone())));
            }
            (old, new) => *old = new.clone(),
        }
    }
    schema
}

fn distinct(item: Value, number: usize) -> Value {
    match item {
        Value::String(text) if number > 0 => json!(format!("{text}{number}")),
        Value::Number(value) => json!(value.as_f64().unwrap_or_default() + number as f64),
        item => item,
    }
}

/// Returns the first type of a schema that is not `null`.
fn kind(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(name) => name,
        Value::Array(names) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ if schema.get("items").is_some() => "array",
        _ => "string",
    }
}

fn to_usize(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|value| usize::try_from(value).ok())
}

fn number(schema: &Value) -> Value {
    let bound = |key: &str| schema[key].as_f64();
    let step = bound("multipleOf").unwrap_or(1.0);
    let min = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|min| min + step.min(1.0)));
    let max = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|max| max - step.min(1.0)));
    let value = match (min, max) {
        (Some(min), _) => (min / step).ceil() * step,
        (None, Some(max)) if max < 1.0 => (max / step).floor() * step,
        _ => step,
    };
    if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) }
}

fn text(schema: &Value) -> String {
    let example = match schema["format"].as_str().unwrap_or_default() {
        "date" => "2024-01-31",
        "date-time" => "2024-01-31T12:00:00Z",
        "time" => "12:00:00Z",
        "duration" => "PT1S",
        "email" => "a@example.com",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        "uri" | "url" | "iri" => "https://example.com/",
        "uri-reference" => "/a",
        "hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "byte" | "base64" => "YQ==",
        _ => "text",
    };
    let example = if schema["contentEncoding"] == "base64" { "YQ==" } else { example };
    let mut text = example.to_owned();
    while text.chars().count() < to_usize(&schema["minLength"]).unwrap_or(0).min(10_000) {
        text.push('x');
    }
    text.chars().take(to_usize(&schema["maxLength"]).unwrap_or(usize::MAX)).collect()
}

/// Returns arguments with one defect each, and a description of the defect. `valid` is valid.
pub(super) fn invalid_variants(schema: &Value, valid: &Value) -> Vec<(String, Value)> {
    let Some(valid) = valid.as_object() else { return Vec::new() };
    let mut all = Vec::new();
    let mut add = |defect: String, change: &dyn Fn(&mut Map<String, Value>)| {
        let mut arguments = valid.clone();
        change(&mut arguments);
        all.push((defect, Value::Object(arguments)));
    };
    let required: BTreeSet<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for name in &required {
        add(format!("without `{name}`"), &|arguments| {
            arguments.shift_remove(*name);
        });
    }
    for (name, shape) in schema["properties"].as_object().into_iter().flatten() {
        let wrong_value = match shape["type"].as_str() {
            Some("string" | "integer" | "number" | "boolean") => json!({"not": "this"}),
            Some("array") => json!({"not": "a list"}),
            Some("object") => json!(["not", "an object"]),
            _ => continue,
        };
        add(format!("with a wrong `{name}`"), &|arguments| {
            arguments.insert(name.clone(), wrong_value.clone());
        });
    }
    if schema["additionalProperties"] == false {
        add("with an unknown argument".to_owned(), &|arguments| {
            arguments.insert("no_such_argument".to_owned(), json!(1));
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_satisfy_common_schemas() {
        for (schema, expected) in [
            (json!({"type": "integer"}), json!(1)),
            (json!({"type": "integer", "minimum": 5, "maximum": 9}), json!(5)),
            (json!({"type": "integer", "exclusiveMinimum": 5}), json!(6)),
            (json!({"type": "number", "maximum": -2}), json!(-2)),
            (json!({"type": "integer", "minimum": 5, "multipleOf": 4}), json!(8)),
            (json!({"type": ["null", "boolean"]}), json!(true)),
            (json!({"enum": ["a", "b"]}), json!("a")),
            (json!({"type": "string", "minLength": 6}), json!("textxx")),
            (json!({"type": "string", "maxLength": 2}), json!("te")),
            (
                json!({"type": "array", "items": {"type": "string"}, "minItems": 2, "uniqueItems": true}),
                json!(["text", "text1"]),
            ),
            (
                json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/A"}, "b": {}},
                "$defs": {"A": {"anyOf": [{"type": "null"}, {"const": 3}]}}}),
                json!({"a": 3}),
            ),
            (
                json!({"type": "object", "properties": {"a": {"type": "integer"}}, "minProperties": 1}),
                json!({"a": 1}),
            ),
            (
                json!({"type": "object", "properties": {"a": {"const": 1}, "b": {}},
                "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}),
                json!({"a": 1}),
            ),
            (
                json!({"allOf": [{"type": "object", "required": ["a"], "properties": {"a": {"const": 1}}},
                {"type": "object", "required": ["b"], "properties": {"b": {"const": 2}}}]}),
                json!({"a": 1, "b": 2}),
            ),
        ] {
            assert_eq!(generate(&schema), expected, "{schema}");
        }
        let endless = json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "required": ["a"],
            "properties": {"a": {"$ref": "#/$defs/A"}}}}});
        assert!(generate(&endless).is_object());
    }

    #[test]
    fn sample_of_a_small_schema_is_small() {
        let level = |next: usize| {
            let names: Vec<String> = (0..30).map(|n| format!("p{n}")).collect();
            let members: Map<String, Value> =
                names.iter().map(|name| (name.clone(), json!({"$ref": format!("#/$defs/{next}")}))).collect();
            json!({"type": "object", "required": names, "properties": members})
        };
        let defs: Map<String, Value> = (0..6).map(|n| (n.to_string(), level(n + 1))).collect();
        let sample = generate(&json!({"$ref": "#/$defs/0", "$defs": defs})).to_string();
        assert!(sample.len() < 1 << 20, "{}", sample.len());
    }

    #[test]
    fn each_invalid_sample_breaks_one_rule() {
        let schema = json!({"type": "object", "required": ["a"], "additionalProperties": false,
            "properties": {"a": {"type": "string"}, "b": {"type": "array"}, "c": {}}});
        let invalid_variants: Vec<String> = invalid_variants(&schema, &json!({"a": "x"}))
            .into_iter()
            .map(|(defect, value)| format!("{defect}: {value}"))
            .collect();
        assert_eq!(
            invalid_variants,
            [
                "without `a`: {}",
                "with a wrong `a`: {\"a\":{\"not\":\"this\"}}",
                "with a wrong `b`: {\"a\":\"x\",\"b\":{\"not\":\"a list\"}}",
                "with an unknown argument: {\"a\":\"x\",\"no_such_argument\":1}",
            ]
        );
    }
}
