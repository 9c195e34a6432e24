//! Checks that the manifest schema, `specs/manifest.schema.json`, and the parser accept the same manifests.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolgen::{Document, Options, Problem, Problems, Severity};

/// Errors that a schema can detect: keys, types of values, enumerated values, and formats of strings.
const STRUCTURAL: [&str; 8] = ["E0401", "E0402", "E0403", "E0405", "E0406", "E0409", "E0410", "E0433"];

/// Invalid manifests whose structural error only the parser detects.
const BEYOND_THE_SCHEMA: [&str; 5] = [
    // A JSON value does not contain the notation of a number.
    "fix_of_a_number",
    // The namespace and the name together are too long.
    "name_too_long",
    // An alias is not a key.
    "parameter_names",
    // A keyword in another file.
    "reference_in_another_file",
    // `slim` has its own syntax.
    "slim_unknown",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn validator() -> jsonschema::Validator {
    let text = fs::read_to_string(root().join("specs/manifest.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

fn read(path: &Path) -> (Value, Problems) {
    let mut problems = Problems::new();
    let document = Document::load(path, &mut problems).unwrap();
    toolgen::compile(&document, &Options::default(), &mut problems);
    (document.root.clone(), problems)
}

#[test]
fn valid_manifests_match_the_schema() {
    let validator = validator();
    let mut checked = 0;
    for entry in fs::read_dir(root().join("specs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("manifest-") && name.ends_with(".yaml") {
            let wrong: Vec<String> = validator
                .iter_errors(&read(&path).0)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert!(wrong.is_empty(), "{name}: {wrong:#?}");
            checked += 1;
        }
    }
    assert!(checked >= 3);
}

#[test]
fn malformed_manifests_do_not_match_the_schema() {
    let validator = validator();
    let mut refused = 0;
    for entry in fs::read_dir(root().join("toolgen/tests/manifests/bad")).unwrap() {
        let dir = entry.unwrap().path();
        let name = dir.file_name().unwrap().to_str().unwrap().to_owned();
        let (value, problems) = read(&dir.join("manifest.yaml"));
        let structural = problems.as_slice().iter().any(|problem| STRUCTURAL.contains(&problem.code.id()));
        if structural && !BEYOND_THE_SCHEMA.contains(&name.as_str()) {
            assert!(!validator.is_valid(&value), "the schema accepts {name}");
            refused += 1;
        }
    }
    assert!(refused >= 30, "only {refused}");
}

/// Collects all JSON pointers of a value.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let token = |key: &str| format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(members) => members.iter().for_each(|(key, member)| {
            found.push(token(key));
            places(member, &token(key), found);
        }),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| {
            found.push(token(&index.to_string()));
            places(item, &token(&index.to_string()), found);
        }),
        _ => {}
    }
}

/// For every mutation of a valid manifest, the parser reports what the schema rejects, and does not panic.
#[test]
fn reader_reports_everything_the_schema_rejects() {
    let validator = validator();
    let strange = [json!(null), json!(5), json!("some words"), json!([5]), json!({"x": 5})];
    let (mut refused, mut missed) = (0, Vec::new());
    for name in ["agents", "commands", "program", "requests", "rules"] {
        let (good, _) = read(&root().join(format!("specs/manifest-{name}.yaml")));
        let mut found = Vec::new();
        places(&good, "", &mut found);
        for location in found {
            for value in &strange {
                let mut changed = good.clone();
                *changed.pointer_mut(&location).unwrap() = value.clone();
                if validator.is_valid(&changed) || !changed["toolgen"].is_number() {
                    continue;
                }
                refused += 1;
                let mut problems = Problems::new();
                let text = changed.to_string();
                let document = Document::parse(Path::new("manifest.json"), &text, &mut problems).unwrap();
                toolgen::compile(&document, &Options::default(), &mut problems);
                // The files next to it are not found, which is a separate error.
                let of_format =
                    |problem: &Problem| problem.severity() == Severity::Error && problem.code.id() != "E0417";
                if !problems.as_slice().iter().any(of_format) {
                    missed.push(format!("{name}: {location} = {value}"));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(refused > 800, "only {refused}");
}

/// Keywords of `network` are not hosts, for editors and for the parser.
#[test]
fn schema_and_reader_accept_the_same_hosts() {
    let validator = validator();
    let hosts = [
        (json!("none"), true),
        (json!("any"), true),
        (json!("api.example.com"), true),
        (json!("localhost:8080"), true),
        (json!(["api.example.com", "no.example.com"]), true),
        (json!(["none"]), true),
        (json!([]), true),
        (json!("no"), false),
        (json!("On"), false),
        (json!(["a.b", "FALSE"]), false),
        (json!(["none", "a.b"]), false),
        (json!("https://a.b"), false),
        (json!("user@a.b"), false),
        (json!("{host}"), false),
        (json!("a b"), false),
        (json!(""), false),
        (json!(5), false),
    ];
    let of_context = |value: &Value| json!({"contexts": {"c": {"network": value}}});
    let of_tool =
        |value: &Value| json!({"tools": {"t": {"description": "T.", "network": value, "function": {}}}});
    let of_all = |value: &Value| json!({"defaults": {"network": value}, "tools": {}});
    for (value, fine) in hosts {
        for (location, mut manifest) in
            [("context", of_context(&value)), ("tool", of_tool(&value)), ("defaults", of_all(&value))]
        {
            manifest["toolgen"] = json!(1);
            assert_eq!(validator.is_valid(&manifest), fine, "schema, {location}: {value}");
            // Defaults are parsed with each tool.
            if location != "defaults" {
                let mut problems = Problems::new();
                let document =
                    Document::parse(Path::new("m.json"), &manifest.to_string(), &mut problems).unwrap();
                toolgen::compile(&document, &Options::default(), &mut problems);
                assert_eq!(!problems.has_errors(), fine, "reader, {location}: {value}: {problems}");
            }
        }
    }
}
