//! Generates values from a schema, some of them invalid.

use serde_json::{Map, Value, json};

/// Generates values from a seed, so that failures are reproducible.
#[derive(Debug)]
pub struct Sampler<'a> {
    root: &'a Value,
    seed: u64,
    depth: usize,
    noise: Value,
}

impl Sampler<'_> {
    /// Creates a sampler for the root of a schema, with a seed and additional values that may be invalid.
    #[must_use]
    pub fn new<'a>(root: &'a Value, seed: u64, more: &[Value]) -> Sampler<'a> {
        let noise = json!([
            null, true, 0, 1, -1, 7, 5.0, 2.0, 0.5, 1.5, 255, 256, 1e15, "", "a", "ab", "a b", "-1", "K", "notes.txt", "ßx",
            "ä€😀", "x".repeat(300), [], [1], ["a"], ["ab"], ["a", "a"], [1, "1"], [null, 1], {}, {"a": 1}, {"path": "a"},
            {"name": "n"}, {"type": "empty"},
        ]);
        let noise = noise.as_array().into_iter().flatten().chain(more).cloned().collect();
        Sampler { root, seed, depth: 0, noise }
    }

    fn below(&mut self, limit: usize) -> usize {
        // SplitMix64.
        self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    /// Picks an item of an array.
    fn pick(&mut self, values: &Value) -> Value {
        values.as_array().map_or(Value::Null, |values| values[self.below(values.len())].clone())
    }

    fn noise(&mut self) -> Value {
        let noise = self.noise.clone();
        self.pick(&noise)
    }

    /// Returns a value of the root.
    pub fn value(&mut self) -> Value {
        let root = self.root;
        self.exact(root)
    }

    fn sample(&mut self, schema: &Value) -> Value {
        if self.below(8) == 0 || self.depth > 6 {
            return self.noise();
        }
        self.depth += 1;
        let value = self.exact(schema);
        self.depth -= 1;
        value
    }

    fn exact(&mut self, schema: &Value) -> Value {
        if let Some(target) =
            schema["$ref"].as_str().and_then(|name| self.root.pointer(name.trim_start_matches('#')))
        {
            return self.sample(target);
        }
        if !schema["const"].is_null() {
            return schema["const"].clone();
        }
        let listed = |key: &&str| schema[*key].as_array().is_some_and(|values| !values.is_empty());
        if let Some(key) = ["enum", "examples"].iter().find(|key| listed(key)) {
            return self.pick(&schema[*key]);
        }
        if let Some(key) = ["anyOf", "oneOf", "allOf"].iter().find(|key| listed(key)) {
            let variant = self.pick(&schema[*key]);
            return self.sample(&variant);
        }
        let kind =
            if schema["type"].is_array() { self.pick(&schema["type"]) } else { schema["type"].clone() };
        match kind.as_str() {
            Some("integer") => {
                let bounds = ["minimum", "maximum"].map(|key| schema[key].as_i64().unwrap_or(3));
                let near = bounds[self.below(2)].saturating_add(self.below(3) as i64 - 1);
                self.pick(&json!([
                    schema["minimum"],
                    schema["maximum"],
                    near,
                    near,
                    near,
                    near,
                    near,
                    1,
                    2,
                    300.0
                ]))
            }
            Some("number") => self.pick(&json!([0.5, 1, 2.4, 2.5, -1e300, 3.4e38])),
            Some("string") => {
                let bounds =
                    ["minLength", "maxLength"].map(|key| schema[key].as_u64().unwrap_or(2).min(1000));
                let length = (bounds[self.below(2)] as usize + self.below(3)).saturating_sub(1);
                let long = ["a", "7", "ä", "/"][self.below(4)].repeat(length);
                self.pick(&json!([
                    "", "a", "ab", "abcd", "ä", "toolong", "ca", long, long, long, long, long, long, long
                ]))
            }
            Some("boolean") => json!(self.below(2) == 0),
            Some("array") => {
                let given = schema["prefixItems"].as_array().cloned().unwrap_or_default();
                let items =
                    if given.is_empty() { vec![schema["items"].clone(); self.below(4)] } else { given };
                items.iter().map(|item| self.sample(item)).collect()
            }
            Some("object") => self.object(schema),
            Some("null") => Value::Null,
            _ => self.noise(),
        }
    }

    /// Returns an object with most required and half of the optional properties.
    pub fn object(&mut self, schema: &Value) -> Value {
        let mut object = Map::new();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = required.contains(&json!(name));
            if self.below(if is_required { 12 } else { 2 }) != 0 {
                object.insert(name.clone(), self.sample(field));
            }
        }
        if schema["additionalProperties"] != json!(false) || self.below(10) == 0 {
            for index in 0..self.below(3) {
                object.insert(format!("k{index}"), self.sample(&schema["additionalProperties"]));
            }
        }
        Value::Object(object)
    }
}
