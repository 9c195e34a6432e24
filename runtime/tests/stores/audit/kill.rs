//! Tests that the intents of a killed program are on disk.

use toolgen_test_support::processes::{Process, say};

use super::{Scratch, record, welcome};
use crate::prelude::*;

/// Number of times that the program is killed; 200 in the full test run before a merge.
const KILLS: &str = "TOOLGEN_KILLS";

/// The database of the child process.
const DATABASE: &str = "TOOLGEN_AUDIT_TEST_DATABASE";

/// Not a test: the code of the process that is killed. It records calls, prints each call before its effect may
/// happen, and ends every other call.
#[tokio::test]
async fn child_process() {
    let Some(path) = std::env::var_os(DATABASE) else { return };
    let auditor = Auditor::builder(SqliteSink::open(path).unwrap()).durable(true).start().unwrap();
    let mut running = Vec::new();
    for number in 0.. {
        let id = format!("{}-{number}", std::process::id());
        let mut record = record(&auditor, &id);
        record.intent().await.unwrap();
        say(&id);
        if number % 2 == 0 {
            record.finish(&welcome()).await;
        } else {
            running.push(record);
        }
    }
}

#[test]
fn kill_9_loses_no_intent() {
    let file = Scratch::new("audit.db");
    let kills = std::env::var(KILLS).map_or(3, |kills| kills.parse().expect("TOOLGEN_KILLS is a number"));
    for kill in 1..=kills {
        // At varying points: after 1 to 150 calls, in an order without a pattern.
        let calls = 1 + kill * 67 % 150;
        let mut child = Process::start("audit::kill::child_process", &[(DATABASE, &file.0)]);
        let mut messages = Vec::new();
        while let Some(id) = child.next() {
            messages.push(id);
            if messages.len() == calls {
                // Its calls are not closed while it is alive.
                assert_eq!(SqliteSink::open(&file.0).unwrap().recover().unwrap(), 0);
                // SIGKILL. The output that it wrote before is still read.
                child.kill();
            }
        }
        drop(child);
        assert!(messages.len() >= calls, "{}", messages.len());

        let database = Connection::open(&file.0).unwrap();
        let mut query =
            database.prepare("SELECT COUNT(*) FROM tool_executions WHERE tool_call_id = ?").unwrap();
        for id in &messages {
            let rows: u32 = query.query_row([id], |row| row.get(0)).unwrap();
            assert_eq!(rows, 1, "{id}");
        }
        // Calls without an outcome are visible, and distinguishable from those with an outcome.
        let mut sink = SqliteSink::open(&file.0).unwrap();
        assert!(sink.recover().unwrap() >= messages.len() / 2);
        assert_eq!(sink.recover().unwrap(), 0);
        let count = "SELECT COUNT(*) FROM tool_executions WHERE status NOT IN ('ok', 'unknown')";
        assert_eq!(database.query_row(count, [], |row| row.get::<_, u32>(0)).unwrap(), 0);
    }
}
