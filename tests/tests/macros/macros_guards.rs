//! Tests of forbidden argument values, and of handwritten documentation.

use serde_json::json;
use toolgen_runtime::schema::dialect::OPENAI_STRICT;
use toolgen_runtime::schema::shape::render::render_input;
use toolgen_runtime::{AgentTool, ToolInput, tool};

use super::macros::{run, schema};

/// Runs a command.
#[tool(undocumented, doc_override = "- **shell** - Runs a command. Ask before anything is removed.")]
fn shell(
    #[arg(non_empty, deny_pattern = "\\brm {1,8}-rf {1,8}/", deny_message = "dangerous command rejected")]
    cmd: &str,
    #[arg(deny_pattern = "^-")] target: Option<String>,
    #[arg(items(deny_pattern = "\\x00"))] args: Vec<String>,
) -> String {
    format!("{cmd} {target:?} {args:?}")
}

#[tokio::test]
async fn deny_rule_is_advertised_and_has_its_own_message() {
    let tool = shell::tool();
    let properties = &schema(&tool)["properties"];
    assert_eq!(
        properties["cmd"],
        json!({"type": "string", "minLength": 1, "not": {"pattern": "\\brm {1,8}-rf {1,8}/"}})
    );
    assert_eq!(properties["args"]["items"], json!({"type": "string", "not": {"pattern": "\\x00"}}));
    // If a dialect has no keyword for it, the description contains it.
    let strict = render_input(&tool.spec().input, &tool.spec().defs, &OPENAI_STRICT);
    let message = strict.unwrap().schema["properties"]["cmd"]["description"].to_string();
    assert!(message.contains("not matching"), "{message}");

    let fine = json!({"cmd": "rm -rf build", "target": "a-b", "args": ["-x"]});
    assert_eq!(run(tool.clone(), fine).await.unwrap().to_text(), r#"rm -rf build Some("a-b") ["-x"]"#);
    let wrong = json!({"cmd": "cd x && rm  -rf /", "target": "--all", "args": ["a\u{0}b"]});
    let text = run(tool.clone(), wrong.clone()).await.unwrap_err().to_string();
    let expected = "Invalid arguments: /cmd: dangerous command rejected\n\
                    /target: must not match the pattern ^-\n/args/0: must not match the pattern \\x00";
    assert_eq!(text, expected);
    // Also as a string: decoding without an intermediate map enforces the same rules.
    assert_eq!(run(tool.clone(), json!(wrong.to_string())).await.unwrap_err().to_string(), expected);
    // Long values are also rejected.
    let long = json!({"cmd": format!("{}rm -rf /", " ".repeat(100_000)), "args": []});
    let text = run(tool, long).await.unwrap_err().to_string();
    assert_eq!(text, "Invalid arguments: /cmd: dangerous command rejected");
}

#[test]
fn tool_may_provide_its_own_documentation() {
    let own = "- **shell** - Runs a command. Ask before anything is removed.\n";
    assert_eq!(shell::tool().prompt_documentation(), own);
    assert_eq!(shell::tool().description(), "Runs a command.");
}

/// Mixes.
#[tool(undocumented, pure)]
fn mix(
    #[arg(default = ["a", "b"])] names: Vec<String>,
    #[arg(default = [-1, 2])] pair: [i8; 2],
    #[arg(default = 10, range = 0.5..=10.0)] part: f64,
    #[arg(default = [])] none: std::collections::BTreeSet<u8>,
    #[arg(default = 18446744073709551615)] most: u64,
    #[arg(example = 3, examples(1, 2))] many: Option<u8>,
) -> String {
    format!("{names:?} {pair:?} {part:?} {none:?} {most} {many:?}")
}

#[tokio::test]
async fn defaults_may_be_array_and_number_literals() {
    let tool = mix::tool();
    let properties = &schema(&tool)["properties"];
    assert_eq!(properties["names"]["default"], json!(["a", "b"]));
    assert_eq!(properties["part"]["default"], json!(10));
    assert_eq!(properties["many"]["examples"], json!([3, 1, 2]));
    let text = run(tool, json!({})).await.unwrap().to_text();
    assert_eq!(text, r#"["a", "b"] [-1, 2] 10.0 {} 18446744073709551615 None"#);
}

#[derive(ToolInput)]
struct Bounded<T> {
    #[arg(alias = "kind", default = 3, range = 1..=5)]
    level: u8,
    #[serde(alias = "level_", alias = "value")]
    value: T,
}

/// Takes a generic type, whose rules are checked where it is used.
#[tool(undocumented, pure)]
fn bounded(of: Bounded<bool>) -> String {
    format!("{} {}", of.level, of.value)
}

#[tokio::test]
async fn generic_type_keeps_its_rules() {
    assert_eq!(run(bounded::tool(), json!({"of": {"value": true}})).await.unwrap().to_text(), "3 true");
    let refused = run(bounded::tool(), json!({"of": {"kind": 6, "level_": true}})).await.unwrap_err();
    assert!(refused.to_string().contains("must be at most 5"), "{refused}");
}
