//! Tests of daily partitions, which are created ahead of time and dropped as a whole.

use super::{call, durable, record, server, started, welcome};
use crate::prelude::*;

const DAYS: &str = "SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'tool_executions'::regclass ORDER BY inhrelid::regclass::text";

const MONTH: Duration = Duration::from_secs(30 * 24 * 60 * 60);

#[tokio::test]
async fn daily_partitions_are_created_ahead_and_dropped_whole() {
    let Some(server) = server::shared() else { return };
    let url = server.database("days");
    let ask = |query: &str| server.query("days", query);
    let auditor = started(PostgresSink::open(&url).unwrap());
    call(&auditor, "today", welcome()).await;
    auditor.shutdown().await;
    let ahead = "SELECT 'tool_executions_' || to_char(now() AT TIME ZONE 'UTC' + n * interval '1 day', 'YYYYMMDD') \
                 FROM generate_series(0, 3) AS n ORDER BY 1";
    assert_eq!(ask(DAYS), ask(ahead));
    // Today's rows are in today's partition, with all indexes of the table.
    let location = "SELECT tableoid::regclass = \
                 ('tool_executions_' || to_char(timestamp AT TIME ZONE 'UTC', 'YYYYMMDD'))::regclass FROM tool_executions";
    assert_eq!(ask(location), "t");
    let indexes = "SELECT count(*) FROM pg_indexes WHERE tablename = 'tool_executions";
    let of_today = format!("{indexes}_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')");
    assert_eq!(ask(&of_today), ask(&format!("{indexes}'")));

    // Past days: one that is kept, one that is not, and a table that only looks like a partition.
    for (days, name) in [(5, "kept"), (40, "old")] {
        ask(&format!(
            "DO $$ DECLARE day date := (now() AT TIME ZONE 'UTC')::date - {days}; BEGIN
             EXECUTE format('CREATE TABLE tool_executions_%s PARTITION OF tool_executions FOR VALUES FROM (%L) TO (%L)',
                 to_char(day, 'YYYYMMDD'), day || ' 00:00+00', (day + 1) || ' 00:00+00');
             INSERT INTO tool_executions (id, session_id, agent_id, tool_name, timestamp, tool_call_id, spec_hash, attempt,
                 status, approved, approved_by, principal, owner)
             VALUES ({days}, '', '', '{name}', (day || ' 12:00+00')::timestamptz, '', '', 1, 'ok', false, '', '', 'x');
             END $$"
        ));
    }
    ask("CREATE TABLE tool_executions_20200101 (id INTEGER)");
    drop(PostgresSink::builder(&url).retention(MONTH).open().unwrap());
    assert_eq!(ask("SELECT tool_name FROM tool_executions ORDER BY timestamp"), "kept\nlogin");
    assert_eq!(ask(DAYS).lines().count(), 5);
    assert_eq!(ask("SELECT count(*) FROM tool_executions_20200101"), "0");
}

#[tokio::test]
async fn dropped_partition_is_recreated() {
    let Some(server) = server::shared() else { return };
    let url = server.database("dropped");
    let ask = |query: &str| server.query("dropped", query);
    let auditor = durable(PostgresSink::open(&url).unwrap());
    let mut running = record(&auditor, "running");
    running.intent().await.unwrap();
    for day in ask(DAYS).lines() {
        ask(&format!("DROP TABLE {day}"));
    }
    call(&auditor, "after", welcome()).await;
    // The outcome of a call whose intent was dropped contains everything that the intent did.
    running.finish(&welcome()).await;
    auditor.flush().await.unwrap();
    let rows = "SELECT tool_call_id, status, parameters ->> 'user' FROM tool_executions ORDER BY id";
    assert_eq!(ask(rows), "running|ok|me\nafter|ok|me");
    assert_eq!(auditor.errors(), 0);
}

#[tokio::test]
async fn reader_of_a_dropped_partition_blocks_no_writer() {
    let Some(server) = server::shared() else { return };
    let url = server.database("readers");
    let ask = |query: &str| server.query("readers", query);
    drop(PostgresSink::open(&url).unwrap());
    ask("CREATE TABLE tool_executions_20200101 PARTITION OF tool_executions \
         FOR VALUES FROM ('2020-01-01 00:00+00') TO ('2020-01-02 00:00+00')");
    let reading = std::thread::spawn({
        let server = Arc::clone(&server);
        move || server.query("readers", "BEGIN; SELECT count(*) FROM tool_executions; SELECT pg_sleep(4)")
    });
    let reads =
        "SELECT count(*) FROM pg_locks WHERE relation = 'tool_executions_20200101'::regclass AND granted";
    while ask(reads) == "0" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let sink = PostgresSink::builder(&url).retention(MONTH).lease(Duration::from_secs(2)).open().unwrap();
    let auditor = durable(sink);
    call(&auditor, "one", welcome()).await;
    assert!(ask(DAYS).contains("tool_executions_20200101"), "the reader stopped reading");
    reading.join().unwrap();
    // The removal is retried.
    while ask(DAYS).contains("tool_executions_20200101") {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(ask("SELECT status FROM tool_executions"), "ok");
}
