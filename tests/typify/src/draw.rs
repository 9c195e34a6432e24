//! Generates valid values of a schema.

use serde_json::{Map, Value, json};

/// Generates values of one schema of a document.
pub struct Values<'r> {
    root: &'r Value,
    schema: Value,
    validator: Option<jsonschema::Validator>,
    state: u64,
}

impl<'r> Values<'r> {
    /// Creates a generator for a schema in `components/schemas` of `root`.
    pub fn new(root: &'r Value, name: &str) -> Values<'r> {
        let schema = json!({"$ref": format!("#/components/schemas/{name}")});
        let mut whole = root.clone();
        whole["allOf"] = json!([schema]);
        let validator = jsonschema::options().with_draft(jsonschema::Draft::Draft7).build(&whole).ok();
        Values { root, schema, validator, state: 0 }
    }

    /// Returns the value of a seed; `None` if the generated value is invalid, because patterns and similar rules are
    /// ignored.
    pub fn valid(&mut self, seed: u64) -> Option<Value> {
        self.state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
        let schema = self.schema.clone();
        let value = self.draw(&schema, 0)?;
        self.validator.as_ref()?.is_valid(&value).then_some(value)
    }

    /// Returns a number below a bound (SplitMix64).
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }

    fn draw(&mut self, schema: &Value, depth: usize) -> Option<Value> {
        let Value::Object(rules) = schema else {
            return (schema != &Value::Bool(false)).then(|| json!("any"));
        };
        if depth > 12 {
            return None;
        }
        if let Some(Value::String(reference)) = rules.get("$ref") {
            let target = self.root.pointer(reference.strip_prefix('#')?)?.clone();
            return self.draw(&target, depth + 1);
        }
        if let Some(only) = rules.get("const") {
            return Some(only.clone());
        }
        if let Some(Value::Array(values)) = rules.get("enum") {
            let at = self.below(values.len());
            return values.get(at).cloned();
        }
        let mut parts: Vec<Value> = rules.get("allOf").and_then(Value::as_array).cloned().unwrap_or_default();
        for keyword in ["oneOf", "anyOf"] {
            if let Some(Value::Array(variants)) = rules.get(keyword) {
                let at = self.below(variants.len());
                parts.push(variants.get(at)?.clone());
            }
        }
        let own = rules.contains_key("type") || rules.contains_key("properties");
        let mut value = if own || parts.is_empty() { Some(self.own(rules, depth)?) } else { None };
        for part in parts {
            let drawn = self.draw(&part, depth + 1)?;
            match (&mut value, drawn) {
                (Some(Value::Object(all)), Value::Object(more)) => all.extend(more),
                (_, drawn) => value = Some(drawn),
            }
        }
        value
    }

    fn own(&mut self, rules: &Map<String, Value>, depth: usize) -> Option<Value> {
        let kind = match rules.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => {
                let at = self.below(kinds.len());
                kinds.get(at)?.as_str()?.to_owned()
            }
            _ if rules.contains_key("properties") => "object".to_owned(),
            _ => "string".to_owned(),
        };
        let number = |keyword: &str| rules.get(keyword).and_then(Value::as_f64);
        Some(match kind.as_str() {
            "null" => Value::Null,
            "boolean" => Value::Bool(self.below(2) == 0),
            "integer" => {
                let least = number("minimum")
                    .or_else(|| number("maximum").map(|most| most.min(9.0) - 9.0))
                    .unwrap_or(0.0);
                json!(least as i64 + i64::try_from(self.below(10)).ok()?)
            }
            "number" => json!(number("minimum").unwrap_or(0.0) + 0.25 * self.below(20) as f64),
            "string" => self.text(rules),
            "array" => {
                let least = rules.get("minItems").and_then(Value::as_u64).unwrap_or(0);
                let items = rules.get("items").cloned().unwrap_or(Value::Bool(true));
                let count = least as usize + if depth > 6 { 0 } else { self.below(3) };
                (0..count).map(|_| self.draw(&items, depth + 1)).collect::<Option<Vec<_>>>()?.into()
            }
            _ => self.object(rules, depth)?,
        })
    }

    fn object(&mut self, rules: &Map<String, Value>, depth: usize) -> Option<Value> {
        let required = rules.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let mut object = Map::new();
        for (key, schema) in rules.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let needed = required.contains(&key.as_str());
            if needed || (depth < 8 && self.below(2) == 0) {
                match self.draw(schema, depth + 1) {
                    Some(value) => drop(object.insert(key.clone(), value)),
                    None if needed => return None,
                    None => {}
                }
            }
        }
        for key in required {
            if !object.contains_key(key) {
                object.insert(key.to_owned(), json!("any"));
            }
        }
        if let Some(extra @ Value::Object(_)) = rules.get("additionalProperties")
            && self.below(2) == 0
        {
            object.insert("one more".to_owned(), self.draw(extra, depth + 1)?);
        }
        Some(Value::Object(object))
    }

    fn text(&mut self, rules: &Map<String, Value>) -> Value {
        let digit = self.below(9);
        let text = match rules.get("format").and_then(Value::as_str) {
            Some("date-time") => format!("2024-02-0{}T03:04:05Z", digit + 1),
            Some("date") => format!("2024-02-0{}", digit + 1),
            Some("uuid") => format!("0f8fad5b-d9cb-469f-a165-7086772{digit}950e"),
            Some("ipv4" | "ip") => format!("192.0.2.{digit}"),
            Some("uri" | "url") => format!("https://example.com/{digit}"),
            Some("email") => format!("a{digit}@example.com"),
            _ => format!("text {digit}"),
        };
        let (least, most) = (rules.get("minLength"), rules.get("maxLength"));
        let length =
            |limit: Option<&Value>, other: u64| limit.and_then(Value::as_u64).unwrap_or(other) as usize;
        let mut text: String = text.chars().take(length(most, 64)).collect();
        while text.chars().count() < length(least, 0) {
            text.push('x');
        }
        Value::String(text)
    }
}
