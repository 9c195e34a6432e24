//! Tests of audit logs in JSON Lines.

use std::io::Write as _;

use super::{Scratch, call, record, welcome};
use crate::prelude::*;

fn lines(file: &Scratch) -> Vec<Option<Value>> {
    let text = std::fs::read_to_string(&file.0).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).ok()).collect()
}

#[tokio::test]
async fn records_are_json_lines_with_intent_and_outcome() {
    for durable in [false, true] {
        let file = Scratch::new("audit.jsonl");
        let auditor =
            Auditor::builder(JsonLinesSink::open(&file.0).unwrap()).durable(durable).start().unwrap();
        call(&auditor, "one", welcome()).await;
        record(&auditor, "two").finish(&Err(ToolError::denied("not\nallowed"))).await;
        let mut running = record(&auditor, "three");
        running.intent().await.unwrap();
        auditor.flush().await.unwrap();

        let all = lines(&file).into_iter().map(Option::unwrap).collect::<Vec<_>>();
        let field = |key: &str| all.iter().map(|line| line[key].clone()).collect::<Vec<_>>();
        assert_eq!(field("event"), ["intent", "outcome", "outcome", "intent"]);
        assert_eq!(field("tool_call_id"), ["one", "one", "two", "three"]);
        assert_eq!(field("status"), [json!(null), json!("ok"), json!("refused"), json!(null)]);
        // The arguments are written once.
        let parameters = json!({"user": "me", "pin": "[REDACTED]"});
        assert_eq!(field("parameters"), [parameters.clone(), json!(null), parameters.clone(), parameters]);
        let calls = field("call");
        assert!(calls[0] == calls[1] && calls[1] != calls[2] && calls[2] != calls[3]);
        drop(running);
        drop(auditor);
        assert_eq!(lines(&file)[4].as_ref().unwrap()["status"], "cancelled");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn audit_files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let (file, database) = (Scratch::new("audit.jsonl"), Scratch::new("audit.db"));
    let auditor = Auditor::builder(JsonLinesSink::open(&file.0).unwrap()).start().unwrap();
    call(&auditor, "one", welcome()).await;
    let stored = Auditor::builder(SqliteSink::open(&database.0).unwrap()).start().unwrap();
    call(&stored, "one", welcome()).await;
    stored.flush().await.unwrap();
    let beside = |end: &str| std::path::PathBuf::from(format!("{}{end}", database.0.display()));
    for path in [file.0.clone(), beside(""), beside("-wal"), beside("-shm")] {
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn partial_line_of_an_earlier_run_is_terminated() {
    let file = Scratch::new("audit.jsonl");
    for _ in 0..2 {
        let auditor = Auditor::builder(JsonLinesSink::open(&file.0).unwrap()).start().unwrap();
        call(&auditor, "one", welcome()).await;
        auditor.shutdown().await;
        let mut left = OpenOptions::new().append(true).open(&file.0).unwrap();
        left.write_all(b"{\"event\":\"inte").unwrap();
    }
    drop(JsonLinesSink::open(&file.0).unwrap());
    let all = lines(&file);
    let whole = all.iter().map(Option::is_some).collect::<Vec<_>>();
    assert_eq!(whole, [true, true, false, true, true, false]);
    // Calls of another run have different names.
    assert_ne!(all[0].as_ref().unwrap()["call"], all[3].as_ref().unwrap()["call"]);
}

#[test]
fn unwritable_file_is_an_error_on_open() {
    let dir = std::env::temp_dir();
    assert!(JsonLinesSink::open(dir).is_err());
}
