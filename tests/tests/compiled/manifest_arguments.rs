//! Tests that manifest tools accept exactly the arguments that are valid under their schema, by another implementation
//! of JSON Schema.

use toolgen_runtime::ToolSpec;
use toolgen_runtime::schema::dialect::{Dialect, JSON_SCHEMA};
use toolgen_runtime::schema::shape::decode::decode;
use toolgen_runtime::schema::shape::render::{render_input, render_output};
use toolgen_tests::{compiled, sampler::Sampler};

const MANIFESTS: [&str; 9] = [
    "manifest-agents",
    "manifest-commands",
    "manifest-program",
    "manifest-requests",
    "manifest-rules",
    "systems/coding-team",
    "systems/orchestration",
    "systems/programs",
    "systems/work-dir",
];

fn specs() -> Vec<ToolSpec> {
    let programs = MANIFESTS.iter().map(|name| compiled(&format!("specs/{name}.yaml")));
    programs.flat_map(toolgen::Program::into_tools).map(|tool| tool.spec).collect()
}

#[test]
fn manifest_tools_accept_exactly_what_their_schemas_allow() {
    let (mut taken, mut refused, specs) = (0, 0, specs());
    assert!(specs.len() >= 90, "{}", specs.len());
    for spec in &specs {
        let schema = render_input(spec.input.shape(), &spec.defs, &JSON_SCHEMA).unwrap().schema;
        jsonschema::draft202012::meta::validate(&schema).unwrap();
        let validator = jsonschema::draft202012::new(&schema).unwrap();
        for seed in 0..500 {
            let arguments = Sampler::new(&schema, seed, &[]).object(&schema);
            let decoded = decode(&arguments, spec.input.shape(), &spec.defs, &JSON_SCHEMA);
            let valid = validator.is_valid(&arguments);
            assert_eq!(decoded.is_ok(), valid, "{}: {arguments} {decoded:?} {schema}", spec.name);
            if valid { taken += 1 } else { refused += 1 }
        }
    }
    assert!(taken > 5_000 && refused > 5_000, "{taken} taken, {refused} refused");
}

#[test]
fn vendor_schemas_are_valid_json_schemas() {
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
