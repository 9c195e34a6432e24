//! A program that is killed has its intents on disk.

use toolgen_test_support::processes::{Process, say};

use super::{Scratch, record, welcome};
use crate::prelude::*;

/// How often a program is killed; 200 where everything is checked before a change lands.
const KILLS: &str = "TOOLGEN_KILLS";

/// Where the child process finds its database.
const DATABASE: &str = "TOOLGEN_AUDIT_TEST_DATABASE";

/// Not a test of its own: what the process does that is killed. It records calls, says of each when it may have an
/// effect, and ends every other one.
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
        // Not always at the same point: 1 to 150 calls, in an order without a pattern.
        let calls = 1 + kill * 67 % 150;
        let mut child = Process::start("audit::kill::child_process", &[(DATABASE, &file.0)]);
        let mut messages = Vec::new();
        while let Some(id) = child.next() {
            messages.push(id);
            if messages.len() == calls {
                // Its calls are not over as long as it is there.
                assert_eq!(SqliteSink::open(&file.0).unwrap().recover().unwrap(), 0);
                // SIGKILL. What it said until it was dead comes, too.
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
        // What had no end is seen, and told from what had one.
        let mut sink = SqliteSink::open(&file.0).unwrap();
        assert!(sink.recover().unwrap() >= messages.len() / 2);
        assert_eq!(sink.recover().unwrap(), 0);
        let count = "SELECT COUNT(*) FROM tool_executions WHERE status NOT IN ('ok', 'unknown')";
        assert_eq!(database.query_row(count, [], |row| row.get::<_, u32>(0)).unwrap(), 0);
    }
}
