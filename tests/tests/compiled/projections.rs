//! How many tokens a projection saves in lists of real documents.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use toolgen::tokens::Tokenizer;
use toolgen_runtime::ToolSpec;
use toolgen_runtime::schema::dialect::JSON_SCHEMA;
use toolgen_runtime::schema::shape::render::render_output;
use toolgen_runtime::spec::Projection;
use toolgen_runtime::spec::projection::{project, projected_output};

use crate::locks::{compile, corpus, examples};

/// The number of items in a list.
const ITEMS: usize = 20;

/// The maximum number of lists of a document, so that large documents do not dominate.
const LISTS: usize = 10;

/// The fields that are selected if an item has them, each under the first of its names.
const USUAL: [&[&str]; 5] = [&["id"], &["name"], &["title"], &["status", "state"], &["html_url", "url"]];

/// The maximum number of fields that are selected.
const SELECTED: usize = 4;

#[test]
#[ignore = "heavy: corpus"]
fn projections_save_tokens_in_lists_of_real_documents() {
    let (mut documents, mut saved, mut skipped) = (BTreeSet::new(), Vec::new(), 0);
    let (mut whole_tokens, mut projected_tokens) = (0, 0);
    for path in corpus(3_000_000) {
        let Some(program) = compile(&path) else { continue };
        let tools = program.all_tools().into_iter().map(|tool| &tool.spec);
        let lists = tools.filter(|spec| Projection::Above(0).applies_to(spec));
        for measured in lists.filter_map(|spec| Some((spec, measure(spec)?))).take(LISTS) {
            let (spec, Measured { whole, projected, is_valid }) = measured;
            assert!(projected <= whole, "{}: {whole} became {projected}", spec.name);
            skipped += usize::from(!is_valid);
            documents.insert(path.clone());
            saved.push(100.0 - 100.0 * projected as f64 / whole as f64);
            (whole_tokens, projected_tokens) = (whole_tokens + whole, projected_tokens + projected);
        }
    }
    saved.sort_by(f64::total_cmp);
    let quantile = |part: usize| saved[(saved.len() - 1) * part / 4];
    println!(
        "{} lists of {} documents, {ITEMS} items each: {whole_tokens} tokens whole, {projected_tokens} projected",
        saved.len(),
        documents.len()
    );
    println!(
        "saved: median {:.1} %, quartiles {:.1} % and {:.1} %; {skipped} samples did not match their own schema",
        quantile(2),
        quantile(1),
        quantile(3)
    );
    assert!(documents.len() >= 30, "{} documents", documents.len());
    assert!(quantile(2) >= 80.0, "{:.1} %", quantile(2));
    // Patterns, limits and contradictory parts are not sampled.
    assert!(skipped * 4 < saved.len(), "{skipped} of {} samples are invalid", saved.len());
}

/// Rendered tools have no argument unless a projection is set.
#[test]
fn projection_is_off_by_default() {
    let mut with_lists = 0;
    for path in examples() {
        let Some(program) = compile(&path) else { continue };
        for tool in program.all_tools() {
            assert_eq!(tool.spec.projection, "", "{}", tool.spec.name);
            let projected = tool.spec.clone().with_projection();
            with_lists += usize::from(projected != tool.spec);
            // Adding the argument and removing it gives the same tool.
            assert_eq!(projected.without_projection().to_json(), tool.spec.to_json());
            assert_eq!(Projection::Off.apply(tool.spec.clone()), tool.spec);
        }
    }
    assert!(with_lists > 10, "{with_lists}");
}

struct Measured {
    /// The number of tokens of the whole result.
    whole: usize,
    /// The number of tokens of the selected fields.
    projected: usize,
    /// Whether the sample matches its schema.
    is_valid: bool,
}

/// Measures a sample of a list. The projected result matches the derived schema if the sample matches its own.
fn measure(spec: &ToolSpec) -> Option<Measured> {
    let output = spec.output.as_ref()?;
    let schema = render_output(output, &spec.defs, &JSON_SCHEMA).ok()?.schema;
    let sample = Sample { root: &schema }.value(&schema, 0);
    let (list, item) = largest_list(&sample)?;
    let fields = usual_fields(item);
    if fields.is_empty() {
        return None;
    }
    let prefix = if list.is_empty() { String::new() } else { format!("{list}.") };
    let paths: Vec<String> = fields.iter().map(|field| format!("{prefix}{field}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let projected = project(&sample, &paths);
    assert_eq!(projected.unmatched, [""; 0], "{}", spec.name);
    let is_valid = jsonschema::is_valid(&schema, &sample);
    if is_valid {
        let derived = projected_output(output, &spec.defs, &paths);
        let derived = render_output(&derived, &spec.defs, &JSON_SCHEMA).ok()?.schema;
        assert!(
            jsonschema::is_valid(&derived, &projected.value),
            "{}: {}\n{derived}",
            spec.name,
            projected.value
        );
    }
    let count = |value: &Value| Tokenizer::O200k.count(&value.to_string());
    Some(Measured { whole: count(&sample), projected: count(&projected.value), is_valid })
}

/// Returns the name of the largest list of objects, empty for the result itself, and its first item.
fn largest_list(sample: &Value) -> Option<(&str, &Map<String, Value>)> {
    let lists: Vec<(&str, &Value)> = match sample {
        Value::Array(_) => vec![("", sample)],
        Value::Object(members) => members.iter().map(|(name, member)| (name.as_str(), member)).collect(),
        _ => return None,
    };
    let lists = lists.into_iter().filter(|(_, list)| list.as_array().is_some_and(|list| list.len() == ITEMS));
    let (name, list) = lists.max_by_key(|(_, list)| list.to_string().len())?;
    Some((name, list.get(0)?.as_object()?))
}

fn usual_fields(item: &Map<String, Value>) -> Vec<&str> {
    let is_scalar = |name: &str| item.get(name).is_some_and(|value| !value.is_object() && !value.is_array());
    let usual = USUAL.iter().filter_map(|names| names.iter().copied().find(|name| is_scalar(name)));
    let usual: Vec<&str> = usual.take(SELECTED).collect();
    if !usual.is_empty() {
        return usual;
    }
    item.keys().map(String::as_str).filter(|name| is_scalar(name)).take(SELECTED).collect()
}

/// A result with all members, with the examples of the document where it has some.
struct Sample<'a> {
    root: &'a Value,
}

impl Sample<'_> {
    fn value(&self, schema: &Value, depth: usize) -> Value {
        for key in ["enum", "examples"] {
            let mut values = schema[key].as_array().into_iter().flatten();
            // Documents have examples of other types.
            if let Some(value) = values.find(|value| has_type(value, &schema["type"])) {
                return value.clone();
            }
        }
        for key in ["const", "default"] {
            if let Some(value) = schema.get(key).filter(|value| !value.is_null()) {
                return value.clone();
            }
        }
        if let Some(target) = schema["$ref"].as_str().and_then(|name| self.root.pointer(&pointer(name))) {
            return self.value(target, depth);
        }
        for key in ["anyOf", "oneOf"] {
            let mut variants = schema[key].as_array().into_iter().flatten();
            if let Some(variant) = variants.find(|variant| variant["type"] != "null") {
                return merged([self.value(variant, depth), self.typed(schema, depth)]);
            }
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let parts = parts.iter().map(|part| self.value(part, depth));
            return merged(parts.chain([self.typed(schema, depth)]));
        }
        self.typed(schema, depth)
    }

    fn typed(&self, schema: &Value, depth: usize) -> Value {
        let kind = schema["type"].as_str().or_else(|| schema["type"].get(0)?.as_str());
        match kind {
            Some("object") => {
                let properties = schema["properties"].as_object().into_iter().flatten();
                let is_required = |name: &String| {
                    schema["required"].as_array().is_some_and(|required| required.contains(&json!(name)))
                };
                // Recursive shapes end with their optional members.
                let members = properties.filter(|(name, _)| depth < 4 || depth < 9 && is_required(name));
                members.map(|(name, member)| (name.clone(), self.value(member, depth + 1))).collect()
            }
            Some("array") => {
                let count = match depth {
                    0 | 1 => ITEMS,
                    2..4 => 1,
                    _ => 0,
                };
                let count = count.max(schema["minItems"].as_u64().unwrap_or(0) as usize);
                let item = self.value(&schema["items"], depth + 1);
                json!(vec![item; count])
            }
            Some("integer") => json!(schema["minimum"].as_i64().unwrap_or(1_482_093)),
            Some("number") => json!(schema["minimum"].as_f64().unwrap_or(12.5)),
            Some("boolean") => json!(true),
            Some("string") => json!(text(schema["format"].as_str().unwrap_or_default())),
            _ => Value::Null,
        }
    }
}

fn has_type(value: &Value, kind: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => true,
    };
    kind.as_array().map_or_else(|| is(kind), |kinds| kinds.iter().any(is))
}

fn pointer(reference: &str) -> String {
    reference.trim_start_matches('#').replace("%20", " ")
}

/// Merges the members of objects; otherwise, returns the first value that is not `null`.
fn merged(parts: impl IntoIterator<Item = Value>) -> Value {
    parts.into_iter().fold(Value::Null, |all, part| match (all, part) {
        (Value::Object(mut all), Value::Object(part)) => {
            all.extend(part);
            Value::Object(all)
        }
        (Value::Null, part) => part,
        (all, _) => all,
    })
}

fn text(format: &str) -> &'static str {
    match format {
        "date-time" => "2026-01-15T09:30:00Z",
        "date" => "2026-01-15",
        "uuid" => "3f2b8c1e-5d4a-4c6b-9e7f-1a2b3c4d5e6f",
        "uri" | "url" => "https://api.example.com/v1/resources/1482093",
        "email" => "ada@example.com",
        _ => "A short text",
    }
}
