//! Arguments of the tools of manifests: what a tool takes, the schema it shows takes, as another implementation of JSON
//! Schema judges it.

use serde_json::{Map, Value, json};
use toolgen_runtime::ToolSpec;
use toolgen_runtime::schema::dialect::{Dialect, JSON_SCHEMA};
use toolgen_runtime::schema::shape::decode::decode;
use toolgen_runtime::schema::shape::render::{render_input, render_output};
use toolgen_tests::compiled;

const MANIFESTS: [&str; 8] = [
    "manifest-agents",
    "manifest-commands",
    "manifest-program",
    "manifest-requests",
    "systems/coding-team",
    "systems/orchestration",
    "systems/programs",
    "systems/work-dir",
];

fn specs() -> Vec<ToolSpec> {
    let programs = MANIFESTS.iter().map(|name| compiled(&format!("specs/{name}.yaml")));
    programs.flat_map(toolgen::Program::into_tools).map(|tool| tool.spec).collect()
}

/// Values from a seed, most of which fit a schema.
struct Values<'s> {
    root: &'s Value,
    state: u64,
}

impl Values<'_> {
    fn below(&mut self, end: usize) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) as usize % end
    }

    fn any(&mut self) -> Value {
        let values = json!([
            null, true, 0, -1, 1, 7, 2.0, 0.5, 1e15, "", "a", "notes.txt", "x".repeat(300), "ä€😀", "-1", "a b", [], ["a"],
            ["a", "a"], [1, "1"], {}, {"path": "a"},
        ]);
        let values = values.as_array().unwrap();
        values[self.below(values.len())].clone()
    }

    fn of(&mut self, schema: &Value, depth: usize) -> Value {
        if self.below(8) == 0 || depth > 6 {
            return self.any();
        }
        if let Some(pointer) = schema["$ref"].as_str() {
            return self.of(self.root.pointer(pointer.trim_start_matches('#')).unwrap(), depth + 1);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        let listed = ["enum", "examples"].iter().find_map(|key| schema[*key].as_array());
        if let Some(values) = listed.filter(|values| !values.is_empty()) {
            return values[self.below(values.len())].clone();
        }
        if let Some(choices) = ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema[*key].as_array()) {
            let chosen = self.below(choices.len());
            return self.of(&choices[chosen], depth + 1);
        }
        let kind = schema["type"].as_array().map_or(&schema["type"], |kinds| &kinds[self.below(kinds.len())]);
        match kind.as_str() {
            Some("object") => self.object(schema, depth),
            Some("array") => {
                let items = (0..self.below(4)).map(|_| self.of(&schema["items"], depth + 1));
                Value::Array(items.collect())
            }
            Some("integer" | "number") => {
                let bounds = ["minimum", "maximum"].map(|key| schema[key].as_i64().unwrap_or(3));
                json!(bounds[self.below(2)] + self.below(3) as i64 - 1)
            }
            Some("string") => {
                let bounds =
                    ["minLength", "maxLength"].map(|key| schema[key].as_u64().unwrap_or(2).min(1000));
                let length = (bounds[self.below(2)] as usize + self.below(3)).saturating_sub(1);
                json!(["a", "7", "ä", "/"][self.below(4)].repeat(length))
            }
            Some("boolean") => json!(self.below(2) == 0),
            Some("null") => Value::Null,
            _ => self.any(),
        }
    }

    fn object(&mut self, schema: &Value, depth: usize) -> Value {
        let mut object = Map::new();
        let fields = schema["properties"].as_object().into_iter().flatten();
        let required =
            |name: &str| schema["required"].as_array().is_some_and(|names| names.contains(&json!(name)));
        for (name, field) in fields {
            let left_out = if required(name) { self.below(12) == 0 } else { self.below(2) == 0 };
            if !left_out {
                object.insert(name.clone(), self.of(field, depth + 1));
            }
        }
        if self.below(12) == 0 {
            object.insert("other".to_owned(), self.any());
        }
        Value::Object(object)
    }
}

#[test]
fn tools_take_what_their_schemas_take() {
    let (mut taken, mut refused, specs) = (0, 0, specs());
    assert!(specs.len() >= 90, "{}", specs.len());
    for spec in &specs {
        let schema = render_input(spec.input.shape(), &spec.defs, &JSON_SCHEMA).unwrap().schema;
        jsonschema::draft202012::meta::validate(&schema).unwrap();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        for seed in 0..500 {
            let mut values = Values { root: &schema, state: seed };
            let arguments = values.object(&schema, 0);
            let decoded = decode(&arguments, spec.input.shape(), &spec.defs, &JSON_SCHEMA);
            let valid = validator.is_valid(&arguments);
            assert_eq!(decoded.is_ok(), valid, "{}: {arguments} {decoded:?} {schema}", spec.name);
            if valid { taken += 1 } else { refused += 1 }
        }
    }
    assert!(taken > 5_000 && refused > 5_000, "{taken} taken, {refused} refused");
}

#[test]
fn schemas_of_every_provider_are_schemas() {
    for spec in specs() {
        let input = spec.input.shape();
        for dialect in Dialect::ALL {
            let inputs = render_input(input, &spec.defs, dialect).ok();
            let output = spec
                .output
                .as_ref()
                .and_then(|schema| render_output(schema.shape(), &spec.defs, dialect).ok());
            for rendered in inputs.into_iter().chain(output) {
                let result = jsonschema::draft202012::new(&rendered.schema);
                assert!(result.is_ok(), "{} {}: {:?}", spec.name, dialect.name, result.err());
            }
        }
    }
}
