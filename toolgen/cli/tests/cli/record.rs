//! Tests of `cargo toolgen record`: a run of an audit log, as a file that a test replays.

use serde_json::{Value, json};

use crate::support::Folder;

/// Returns the lines that a sink writes for a call of an agent.
fn lines(run: &str, agent: &str, number: u32, result: &Value) -> String {
    let mut intent = json!({
        "event": "intent", "call": format!("{run}-{number}"), "timestamp": format!("2026-11-22T22:00:0{number}.250Z"),
        "session_id": "s-1", "agent_id": agent, "principal": "alice", "tool_name": "find_orders", "tool_call_id": "c",
        "parameters": {"customer": "ada", "token": "[REDACTED]"}, "spec_hash": "ab", "attempt": 1, "approved": false,
        "approved_by": "",
    });
    let mut lines = format!("{intent}\n");
    intent["event"] = "outcome".into();
    intent.as_object_mut().unwrap().shift_remove("parameters");
    let text = json!({"status": "ok", "result": result, "error": null, "error_code": null, "is_error": false, "duration_ms": 12});
    for (name, value) in text.as_object().unwrap() {
        intent[name] = value.clone();
    }
    lines.push_str(&format!("{intent}\n"));
    lines
}

/// A directory with the log of two runs.
fn folder(name: &str) -> Folder {
    let result = json!({"content": [{"type": "text", "text": "7, 9"}], "details": null});
    let all =
        [lines("a", "clerk", 1, &result), lines("b", "clerk", 2, &result), lines("b", "boss", 3, &result)];
    Folder::new(&format!("record/{name}")).with("log.jsonl", all.concat())
}

#[test]
fn parent_directory_is_created() {
    let dir = folder("folder");
    dir.run("record log.jsonl --run last --out tests/runs/refund.json").exits(0);
    assert!(dir.join("tests/runs/refund.json").is_file());
}

#[test]
fn run_is_recorded_to_a_file() {
    let dir = folder("file");
    let ran = dir.run("record log.jsonl --run last --agent boss --out record.json");
    ran.exits(0).tells("record.json has 1 calls");
    let run: Value = serde_json::from_str(&dir.read("record.json")).unwrap();
    assert_eq!(
        run,
        json!({"toolgen_run": 1, "calls": [{
            "call": 1, "group": 1, "agent": "boss", "tool": "find_orders",
            "arguments": {"customer": "ada", "token": "[REDACTED]"},
            "result": {"content": [{"type": "text", "text": "7, 9"}], "details": null},
        }]})
    );
    // It is not overwritten by accident, and is printed without `--out`.
    dir.run("record log.jsonl --run last --out record.json").exits(1).tells("`--force` overwrites it");
    let printed = dir.run("record log.jsonl --run b --session s-1 --principal alice").json();
    assert_eq!(printed["calls"].as_array().unwrap().len(), 2);
}

#[test]
fn ambiguous_or_missing_run_is_reported() {
    let dir = folder("runs");
    dir.run("record log.jsonl")
        .exits(1)
        .tells("calls of 2 runs of the program")
        .tells("b: 2 calls since 2026-11-22T22:00:02.250Z");
    dir.run("record nothing.jsonl").tells("nothing.jsonl");
}

#[test]
fn dash_writes_to_standard_output() {
    let dir = folder("dash");
    let printed = dir.run("record log.jsonl --run last").exits(0).stdout;
    dir.run("record log.jsonl --run last --out -").exits(0).printed(&printed);
    dir.run("timeline log.jsonl --out -").exits(0).starts("<!");
    assert!(!dir.join("-").exists());
}
