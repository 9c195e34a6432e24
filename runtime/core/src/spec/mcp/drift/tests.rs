//! Tests of changes and their classes, with the cases of `tests/changes.txt`.
//!
//! `tool` is the locked descriptor. `set` sets a value at a location in it, and `remove` removes one.

use std::path::Path;

use serde_json::{Value, json};
use toolgen_test_support::script;

use super::*;

#[test]
fn every_change_has_its_class() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/spec/mcp/drift/tests/changes.txt");
    script::replay(&file, || {
        let mut tool = Value::Null;
        move |word, rest| {
            if word == "tool" {
                tool = script::values(rest).remove(0);
                return Vec::new();
            }
            let new = script::changed(&tool, word, rest);
            let others = ["read_mail".to_owned()];
            drift(std::slice::from_ref(&tool), &[new], &others).iter().map(ToString::to_string).collect()
        }
    });
}

#[test]
fn added_and_removed_tools_are_reported() {
    let tool = json!({"name": "find", "inputSchema": {}, "description": "Finds orders."});
    let other = json!({"name": "other", "inputSchema": {}, "description": "<important>"});
    let messages = |old: &[&Value], new: &[&Value]| {
        let [old, new] = [old, new].map(|tools| tools.iter().map(|tool| (*tool).clone()).collect::<Vec<_>>());
        let changes = drift(&old, &new, &[]);
        changes.iter().map(|change| format!("{} {}", change.tool, change.class)).collect::<Vec<_>>()
    };
    assert_eq!(messages(&[&tool], &[&other, &tool]), ["other added", "other security"]);
    assert_eq!(messages(&[&tool, &other], &[&tool]), ["other breaking"]);
    assert_eq!(messages(&[&tool], &[&tool, &tool]), ["find breaking"]);
    assert_eq!(messages(&[&tool, &other], &[&other, &tool]), Vec::<String>::new());
}

#[test]
fn an_output_schema_may_be_added() {
    let before = json!({"name": "find", "inputSchema": {}});
    let after = json!({"name": "find", "inputSchema": {}, "outputSchema": {"type": "object"}});
    let changes = drift(&[before], &[after], &[]);
    let [change] = changes.as_slice() else { panic!("{changes:?}") };
    let message = "compatible: `find` at /outputSchema: the tool now declares a schema of its results";
    assert_eq!((change.class, change.to_string().as_str()), (ChangeClass::Compatible, message));
}

#[test]
fn long_lists_of_alternatives_are_compared_quickly() {
    let tool_from = |from: i32| -> Value {
        let alternatives: Vec<Value> = (from..from + 5000).map(|value| json!({"const": value})).collect();
        json!({"name": "t", "inputSchema": {"type": "object", "anyOf": alternatives}})
    };
    let (changes, elapsed) = toolgen_test_support::cpu_time(|| drift(&[tool_from(0)], &[tool_from(1)], &[]));
    assert!(elapsed.as_secs() < 5, "{elapsed:?}");
    assert_eq!(changes.len(), 1, "{changes:?}");
}
