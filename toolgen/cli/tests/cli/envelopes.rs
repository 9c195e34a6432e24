//! Tests of `schema --envelope`: the tools as in a request, in the format of every vendor.

use serde_json::{Value, json};
use toolgen_runtime::wire::WireFormat;

use crate::support::{Folder, documents};

/// Returns the first tool of a list in this format, and the key of its schema.
fn first(format: WireFormat, list: &Value) -> (&Value, &'static str) {
    // Exhaustive: a new format fails until it has a row here.
    match format.name() {
        "openai-chat" => (&list[0]["function"], "parameters"),
        "openai-responses" => (&list[0], "parameters"),
        "anthropic" => (&list[0], "input_schema"),
        "gemini" => (&list[0]["functionDeclarations"][0], "parameters"),
        "bedrock" => (&list["tools"][0]["toolSpec"], "inputSchema"),
        "mcp" => (&list["tools"][0], "inputSchema"),
        other => panic!("{other} has no row"),
    }
}

#[test]
fn tools_are_printed_in_every_wire_format() {
    let dir = documents();
    let print = |words: &str| dir.run(format!("schema pets.yaml --tool listPets --envelope {words}"));
    for format in WireFormat::ALL {
        let list: Value =
            serde_json::from_str(&print(&format!("--wire {}", format.name())).exits(0).stdout).unwrap();
        let (tool, schema) = first(format, &list);
        assert_eq!(tool["name"], "listPets", "{}: {list}", format.name());
        assert!(tool[schema].is_object(), "{}: {list}", format.name());
    }
    let strict = print("--wire openai-responses --dialect openai-strict").exits(0).stdout;
    let strict: Value = serde_json::from_str(&strict).unwrap();
    assert_eq!((&strict[0]["type"], &strict[0]["strict"]), (&json!("function"), &json!(true)));
    let plan = dir
        .run("schema pets.yaml --tool listPets --plan --format json --wire openai-responses")
        .exits(0)
        .stdout;
    let plan: Value = serde_json::from_str(&plan).unwrap();
    assert_eq!((&plan["dialect"], &plan["tools"][0]["name"]), (&json!("openai"), &json!("listPets")));
    dir.run("schema pets.yaml --wire openai-responses").exits(2);
    dir.run("schema pets.yaml --envelope --wire openai").exits(2).tells("openai-responses");
}

#[test]
fn properties_are_written_on_request() {
    let manifest = "toolgen: 1
tools:
  find:
    description: Finds it.
    parameters: {name: string - What.}
    function: {}
    examples: [{summary: One., arguments: {name: a}}]
    hints: {callers: programs}
";
    let dir = Folder::new("hinted").with("hinted.yaml", manifest);
    let words = "schema hinted.yaml --wire anthropic --examples 2 --programs --output-schemas";
    let list: Value = serde_json::from_str(&dir.run(format!("{words} --envelope")).exits(0).stdout).unwrap();
    assert_eq!(list[0]["name"], "code_execution");
    assert_eq!(list[1]["input_examples"], json!([{"name": "a"}]));
    let plan =
        dir.run("schema hinted.yaml --wire gemini --dialect gemini --plan --examples 1").exits(0).stdout;
    assert_eq!(plan, "find: gemini; the format has no examples\n");
    dir.run("schema hinted.yaml --examples 2").exits(2).tells("--envelope");
}

/// The definition of a shell tool, as another agent framework writes it into a request.
const SHELL: &str = r#"{
  "name": "shell",
  "description": "Execute a shell command and return the output",
  "input_schema": {
    "type": "object",
    "properties": {
      "cmd": {
        "type": "string",
        "description": "The shell command to execute"
      },
      "cwd": {
        "type": "string",
        "description": "Optional working directory for the command"
      }
    },
    "required": ["cmd"]
  }
}"#;

#[test]
fn open_schema_is_printed_verbatim() {
    let manifest = "toolgen: 1
tools:
  shell:
    description: Execute a shell command and return the output
    input:
      type: object
      properties:
        cmd: {type: string, description: The shell command to execute}
        cwd: {type: string, description: Optional working directory for the command}
      required: [cmd]
    function: {}
";
    let mut in_text = false;
    let expected = SHELL.chars().filter(|c| {
        in_text ^= *c == '"';
        in_text || !c.is_whitespace()
    });
    let expected: String = expected.collect();
    let dir = Folder::new("definition").with("shell.yaml", manifest);
    let printed = dir.run("schema shell.yaml --envelope --wire anthropic").exits(0).stdout;
    assert_eq!(printed, format!("[{expected}]\n"));
}
