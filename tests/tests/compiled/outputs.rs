//! Published schemas of results: every structured result matches the schema that clients see.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};
use toolgen_runtime::ToolSpec;
use toolgen_runtime::schema::dialect::JSON_SCHEMA;
use toolgen_runtime::schema::shape::render::render_output;
use toolgen_runtime::schema::shape::slim::DEFAULT_CEILING_BYTES;
use toolgen_tests::sampler::Sampler;

use crate::locks::{compile, corpus, examples, sample};

/// The number of results that are tried for each tool.
const RESULTS: u64 = 24;

#[test]
fn conformed_results_of_examples_match_the_published_schema() {
    let (tools, omissions) = check(examples().into_iter().chain(sample()), RESULTS);
    assert!(tools > 40 && omissions > 500, "{tools} tools, {omissions} omissions");
}

#[test]
#[ignore = "heavy: corpus"]
fn conformed_results_of_real_documents_match_the_published_schema() {
    let (tools, omissions) = check(corpus(1_000_000), 4);
    assert!(tools > 1_000 && omissions > 1_000, "{tools} tools, {omissions} omissions");
}

/// Returns the number of tools and of the parts that were left out.
fn check(documents: impl IntoIterator<Item = PathBuf>, results: u64) -> (usize, usize) {
    let (mut tools, mut omissions) = (0, 0);
    for path in documents {
        let Some(program) = compile(&path) else { continue };
        for tool in program.all_tools().into_iter().filter(|tool| tool.spec.output_may_differ) {
            if let Some(left_out) = check_tool(&tool.spec, results) {
                tools += 1;
                omissions += left_out;
            }
        }
    }
    (tools, omissions)
}

fn check_tool(spec: &ToolSpec, results: u64) -> Option<usize> {
    let output = spec.structured_output()?;
    let published = spec.structured_output().and_then(|output| output.published(DEFAULT_CEILING_BYTES));
    let published = published.unwrap_or_else(|| panic!("{}: even one level does not fit", spec.name));
    assert!(published.to_string().len() <= DEFAULT_CEILING_BYTES);
    let mut keywords = BTreeSet::new();
    collect_keywords(&published, &mut keywords);
    for keyword in ["required", "enum", "const", "format", "pattern", "oneOf", "minimum", "maxItems", "not"] {
        assert!(!keywords.contains(keyword), "{}: {keyword}", spec.name);
    }
    let validator = jsonschema::draft202012::new(&published).unwrap();
    let declared = render_output(&output.schema, &output.defs, &JSON_SCHEMA).unwrap().schema;
    let mut left_out = 0;
    for seed in 0..results {
        let mut sampler = Sampler::new(&declared, seed, &[json!([{}]), json!({"id": {}})]);
        let result = match seed {
            0 => json!({}),
            1 => Value::Null,
            _ => sampler.value(),
        };
        let (content, omitted) = output.conform(result.clone());
        assert!(content.is_object());
        assert!(validator.is_valid(&content), "{}: {content} from {result}\n{published}", spec.name);
        left_out += omitted.len();
    }
    Some(left_out)
}

/// Collects the keywords of a schema, without the names of properties.
fn collect_keywords(schema: &Value, keywords: &mut BTreeSet<String>) {
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        keywords.insert(keyword.clone());
        match keyword.as_str() {
            "properties" | "$defs" => {
                value.as_object().unwrap().values().for_each(|schema| collect_keywords(schema, keywords));
            }
            "anyOf" | "prefixItems" => {
                value.as_array().unwrap().iter().for_each(|schema| collect_keywords(schema, keywords));
            }
            "examples" => {}
            _ => collect_keywords(value, keywords),
        }
    }
}
