//! `cargo toolgen record`: a run of an audit log, as a file that a test replays.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&path);
    path
}

fn record(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-toolgen")).arg("record").args(words).output().unwrap()
}

/// The lines that a sink writes of a call of an agent.
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
    let said = json!({"status": "ok", "result": result, "error": null, "error_code": null, "is_error": false, "duration_ms": 12});
    for (name, value) in said.as_object().unwrap() {
        intent[name] = value.clone();
    }
    lines.push_str(&format!("{intent}\n"));
    lines
}

fn log(name: &str) -> PathBuf {
    let path = scratch(name);
    let result = json!({"content": [{"type": "text", "text": "7, 9"}], "details": null});
    let all =
        [lines("a", "clerk", 1, &result), lines("b", "clerk", 2, &result), lines("b", "boss", 3, &result)];
    fs::write(&path, all.concat()).unwrap();
    path
}

#[test]
fn the_folder_of_a_file_is_made() {
    let log = log("record-folder.jsonl");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record-folder");
    let _ = fs::remove_dir_all(&folder);
    let file = folder.join("tests/runs/refund.json");
    let done = record(&[log.to_str().unwrap(), "--run", "last", "--out", file.to_str().unwrap()]);
    assert!(done.status.success() && file.is_file(), "{done:?}");
}

#[test]
fn a_run_becomes_a_file() {
    let (log, file) = (log("record.jsonl"), scratch("record.json"));
    let (log, out) = (log.to_str().unwrap(), file.to_str().unwrap());
    let done = record(&[log, "--run", "last", "--agent", "boss", "--out", out]);
    assert!(done.status.success(), "{done:?}");
    assert!(String::from_utf8_lossy(&done.stderr).contains("record.json has 1 calls"), "{done:?}");
    let run: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(
        run,
        json!({"toolgen_run": 1, "calls": [{
            "call": 1, "group": 1, "agent": "boss", "tool": "find_orders",
            "arguments": {"customer": "ada", "token": "[REDACTED]"},
            "result": {"content": [{"type": "text", "text": "7, 9"}], "details": null},
        }]})
    );
    // It is not replaced by accident, and printed without a file.
    let again = record(&[log, "--run", "last", "--out", out]);
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("`--force` replaces it"), "{again:?}");
    let printed = record(&[log, "--run", "b", "--session", "s-1", "--principal", "alice"]);
    let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(printed["calls"].as_array().unwrap().len(), 2);
}

#[test]
fn what_is_ambiguous_or_missing_is_told() {
    let log = log("record-runs.jsonl");
    let done = record(&[log.to_str().unwrap()]);
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(1));
    assert!(
        told.contains("calls of 2 runs of the program")
            && told.contains("b: 2 calls since 2026-11-22T22:00:02.250Z"),
        "{told}"
    );
    let done = record(&["nothing.jsonl"]);
    assert!(String::from_utf8_lossy(&done.stderr).contains("nothing.jsonl"), "{done:?}");
}
