//! Lists of tools, byte for byte.

use std::path::Path;

use toolgen_runtime::schema::dialect::OPENAI_STRICT;

use crate::prelude::*;
use crate::wire::golden::assert_golden;
use crate::wire::helpers::spec;

fn specs() -> Vec<ToolSpec> {
    let pet = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let found = json!({"type": "object", "properties": {"pets": {"type": "array", "items": pet}}});
    let filter = json!({"type": "object", "properties": {
        "name": {"type": "string", "description": "A name.", "maxLength": 64},
        "limit": {"type": "integer", "minimum": 1},
    }, "required": ["name"], "additionalProperties": false});
    let mut find = spec("find_pets", "Finds pets.", &filter, Some(&found));
    find.label = Text::Static("Find Pets");
    let mut reset = spec("reset", "", &json!({"type": "object", "additionalProperties": false}), None);
    reset.effects = Effects::UNDECLARED;
    // A value that is not an object is not structured content.
    let names = json!({"type": "array", "items": {"type": "string"}});
    let list = spec("list_names", "Lists names.", &json!({"type": "object", "properties": {}}), Some(&names));
    vec![find, reset, list]
}

/// The list of each format. If a rendering changes, review the change of this file.
#[test]
fn tools_are_rendered_in_each_format() {
    let mut written = String::new();
    for format in WireFormat::ALL {
        let tools = format.tools(&specs()).unwrap();
        written.push_str(&format!("{format}\n{tools}\n"));
    }
    let strict =
        [spec("find", "Finds.", &json!({"type": "object", "properties": {"a": {"type": "integer"}}}), None)];
    for format in [WireFormat::OpenAiChat, WireFormat::OpenAiResponses] {
        let tools = format.tools_in(&OPENAI_STRICT, &strict).unwrap();
        written.push_str(&format!("{format} {}\n{tools}\n", OPENAI_STRICT.name));
    }
    assert_golden(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/wire/tools.golden"), &written);
}

#[test]
fn unrenderable_tools_are_reported_together() {
    let nothing = json!({"type": "object", "properties": {"one": {"not": {}}, "two": {"not": {}}},
        "required": ["one", "two"]});
    let specs = [
        spec("a", "A.", &nothing, None),
        spec("b", "B.", &json!({"type": "object"}), None),
        spec("c", "C.", &nothing, None),
    ];
    let error = WireFormat::OpenAiChat.tools_in(&OPENAI_STRICT, &specs).unwrap_err();
    let names: Vec<&str> = error.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.contains(&"a") && names.contains(&"c"), "{error}");
    let message = error.to_string();
    assert!(message.lines().any(|line| line.starts_with("a/properties/two: ")), "{message}");
    assert!(message.lines().any(|line| line.starts_with("c/properties/one: ")), "{message}");
    assert_eq!(WireFormat::Anthropic.tools(&[]).unwrap(), Value::Array(Vec::new()));
}
