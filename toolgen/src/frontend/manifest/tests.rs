//! Compares the keys of the reader with the schema that editors validate manifests against.

use std::collections::BTreeSet;

use serde_json::Value;

use super::keys::{self, Keys};
use super::schema::keywords;
use super::value_rules;

/// The objects of a manifest, by their names in the schema. The name of the manifest itself is empty.
const OBJECTS: &[(&str, &Keys)] = &[
    ("", &keys::TOP),
    ("defaults", &keys::DEFAULTS),
    ("tool", &keys::TOOL),
    ("endpoint", &keys::ENDPOINT),
    ("example", &keys::EXAMPLE),
    ("requirement", &keys::REQUIREMENT),
    ("condition", &keys::CONDITION),
    ("command", &keys::COMMAND),
    ("conditional_arguments", &keys::CONDITIONAL_ARGUMENTS),
    ("argument", &keys::ARGUMENT),
    ("variable", &keys::VARIABLE),
    ("stdin", &keys::STDIN),
    ("exit_code", &keys::EXIT_CODE),
    ("limits", &keys::LIMITS),
    ("http", &keys::HTTP),
    ("auth", &keys::AUTH),
    ("function", &keys::FUNCTION),
    ("complete", &keys::COMPLETE),
    ("completion", &keys::COMPLETION),
    ("effect", &keys::EFFECT),
    ("agent", &keys::AGENT),
    ("compose", &keys::COMPOSE),
    ("step", &keys::STEP),
    ("import_openapi", &keys::IMPORT_OPENAPI),
    ("import_manifest", &keys::IMPORT_MANIFEST),
    ("import_mcp", &keys::IMPORT_MCP),
    ("mcp", &keys::MCP),
    ("override", &keys::OVERRIDE),
    ("lints", &keys::LINTS),
    ("token_budget", &keys::TOKEN_BUDGET),
    ("toolset", &keys::TOOLSET),
    ("member", &keys::MEMBER),
    ("context", &keys::CONTEXT),
    ("rule", &keys::RULE),
];

fn schema() -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/manifest.schema.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns the keys that the schema defines for an object.
fn keys_of(schema: &Value, name: &str) -> BTreeSet<String> {
    let object = if name.is_empty() { schema } else { &schema["$defs"][name] };
    assert_eq!(object["additionalProperties"], false, "{name}");
    object["properties"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn manifest_schema_has_the_keys_of_the_reader() {
    let schema = schema();
    for (name, keys) in OBJECTS {
        let reader_keys: BTreeSet<String> = keys.names().into_iter().map(str::to_owned).collect();
        assert_eq!(keys_of(&schema, name), reader_keys, "{}", keys.what);
    }
    let keywords: BTreeSet<String> = keywords::names().into_iter().map(str::to_owned).collect();
    assert_eq!(keys_of(&schema, "schema"), keywords);
    let parameter: BTreeSet<String> = keywords
        .into_iter()
        .chain(["optional", "aliases"].into_iter().chain(value_rules::KEYS).map(str::to_owned))
        .collect();
    assert_eq!(keys_of(&schema, "parameter"), parameter);
}

#[test]
fn every_schema_object_is_compared() {
    let constants = include_str!("keys.rs").matches(": Keys =").count();
    assert_eq!(constants, OBJECTS.len(), "add the new object to the table above, and to the schema");
}

/// Completion shows the description next to a key.
#[test]
fn every_schema_key_is_described() {
    let schema = schema();
    for (name, _) in OBJECTS {
        let object = if name.is_empty() { &schema } else { &schema["$defs"][name] };
        for (key, member) in object["properties"].as_object().unwrap() {
            let target =
                member["$ref"].as_str().and_then(|path| schema.pointer(path.trim_start_matches('#')));
            let has_description = |schema: &Value| schema["description"].is_string();
            assert!(
                has_description(member) || target.is_some_and(has_description),
                "{name}/{key} has no description"
            );
        }
    }
}
