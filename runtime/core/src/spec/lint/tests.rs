//! Tests of the lints, with the cases of `tests/texts.txt`.

use std::path::Path;

use serde_json::{Value, json};
use toolgen_test_support::script;

use super::*;
use crate::schema::shape::read::read;
use crate::spec::Example;

fn spec(name: &str, description: &str, properties: &Value) -> ToolSpec {
    let schema = json!({"type": "object", "properties": properties});
    ToolSpec {
        name: ToolName::parse(name.to_owned()).unwrap(),
        description: description.to_owned().into(),
        input: read(&schema, &mut Vec::new()).into(),
        ..ToolSpec::EMPTY
    }
}

#[test]
fn description_lints_match_the_script() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/spec/lint/tests/texts.txt");
    script::replay(&file, || {
        let mut specs: Vec<ToolSpec> = Vec::new();
        move |word, rest| {
            match word {
                "tool" => {
                    let (name, rest) = rest.split_once(' ').unwrap();
                    let values = script::values(rest);
                    specs.push(spec(name, values[0].as_str().unwrap(), &values[1]));
                }
                "example" => {
                    let example = Example { summary: "".into(), arguments: rest.to_owned().into() };
                    let last = specs.last_mut().unwrap();
                    last.examples = last.examples.iter().cloned().chain([example]).collect();
                }
                "lint" => {
                    let findings = lint(&specs);
                    return findings
                        .iter()
                        .map(|finding| format!("{} {}", finding.lint.code(), finding.message))
                        .collect();
                }
                other => panic!("unknown command `{other}`"),
            }
            Vec::new()
        }
    });
}

#[test]
fn lint_codes_are_unique_and_findings_deterministic() {
    let mut codes: Vec<&str> = Lint::ALL.iter().map(|lint| &lint.code()[1..]).collect();
    assert!(codes.is_sorted());
    codes.dedup();
    assert_eq!(codes.len(), Lint::ALL.len());
    let specs = [spec("one", "", &json!({})), spec("one_", "", &json!({"a": {}}))];
    assert_eq!(lint(&specs), lint(&specs));
    assert!(lint(&specs)[0].to_string().starts_with("W0701: the tool `one`"));
}
