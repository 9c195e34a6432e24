//! Tests of the records of several programs while the server is killed and restarted.

use std::ffi::OsStr;
use std::sync::atomic::AtomicUsize;

use toolgen_test_support::processes::{Process, say};

use super::server::{End, Server};
use super::{record, welcome};
use crate::prelude::*;

/// Number of records, and of server kills; more in the full test run before a merge.
const RECORDS: &str = "TOOLGEN_POSTGRES_RECORDS";
const KILLS: &str = "TOOLGEN_POSTGRES_KILLS";

/// The database of the child process, its number of calls, and whether each call waits for its intent.
const DATABASE: &str = "TOOLGEN_AUDIT_TEST_DATABASE";
const CALLS: &str = "TOOLGEN_AUDIT_TEST_CALLS";
const DURABLE: &str = "TOOLGEN_AUDIT_TEST_DURABLE";

const PROGRAMS: usize = 4;

fn number(name: &str, default: usize) -> usize {
    std::env::var(name)
        .map_or(default, |number| number.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// Number of concurrent calls, and of calls between two progress lines of a child process.
const WIDTH: usize = 500;

/// Not a test: a program that records calls, and prints its progress.
#[tokio::test]
async fn child_process() {
    let Ok(url) = std::env::var(DATABASE) else { return };
    let (calls, is_durable) = (number(CALLS, 0), std::env::var(DURABLE).is_ok_and(|set| !set.is_empty()));
    let sink = PostgresSink::builder(&url).wait_timeout(Duration::from_secs(60)).open().unwrap();
    let auditor = Auditor::builder(sink).durable(is_durable).start().unwrap();
    let one = |id: usize| {
        let auditor = auditor.clone();
        async move {
            let mut record = record(&auditor, &format!("{}-{id}", std::process::id()));
            record.intent().await.unwrap();
            record.finish(&welcome()).await;
        }
    };
    for first in (0..calls).step_by(WIDTH) {
        let some: Vec<_> = (first..calls.min(first + WIDTH)).map(|id| tokio::spawn(one(id))).collect();
        let width = some.len();
        for call in some {
            call.await.unwrap();
        }
        if !is_durable {
            // No call waits, so the program waits for the records so far.
            auditor.flush().await.unwrap();
        }
        say(width);
    }
    auditor.flush().await.unwrap();
    assert_eq!((auditor.errors(), auditor.dropped()), (0, 0));
}

#[test]
fn killed_server_loses_and_duplicates_no_record() {
    let (records, kills) = (number(RECORDS, 8_000), number(KILLS, 2));
    let Some(server) = Server::start(&["max_connections=20"]) else { return };
    let url = server.database("killed");
    // A call has two records.
    let calls = records / 2 / PROGRAMS;
    let start = Instant::now();
    let mut programs: Vec<_> = (0..PROGRAMS)
        .map(|program| {
            let (calls, durable) = (calls.to_string(), if program % 2 == 0 { "yes" } else { "" });
            let variables: [(&str, &dyn AsRef<OsStr>); 3] =
                [(DATABASE, &url), (CALLS, &calls), (DURABLE, &durable)];
            Process::start("postgres::kill::child_process", &variables)
        })
        .collect();
    let recorded = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for program in &mut programs {
            let recorded = &recorded;
            scope.spawn(move || {
                for some in program {
                    recorded.fetch_add(some.parse::<usize>().unwrap(), Ordering::SeqCst);
                }
            });
        }
        for kill in 1..=kills {
            // At equal distances, but not at the end.
            let mark = calls * PROGRAMS * kill / (kills + 1);
            let mut before = (0, Instant::now());
            loop {
                let now = recorded.load(Ordering::SeqCst);
                if now >= mark {
                    break;
                }
                if now > before.0 {
                    before = (now, Instant::now());
                }
                let stands = before.1.elapsed() > Duration::from_secs(90);
                assert!(!stands, "{now} of {mark} calls, and no more: {}", server.log());
                std::thread::sleep(Duration::from_millis(2));
            }
            server.stop([End::Killed, End::Immediate, End::Fast][kill % 3]);
            server.run();
        }
    });
    for mut program in programs {
        assert!(program.succeeded());
    }
    let took = start.elapsed();
    let all = "SELECT count(*), count(DISTINCT tool_call_id), count(DISTINCT id), \
               count(*) FILTER (WHERE status = 'ok' AND result IS NOT NULL AND parameters IS NOT NULL), \
               count(DISTINCT owner) FROM tool_executions";
    let whole = calls * PROGRAMS;
    assert_eq!(server.query("killed", all), format!("{whole}|{whole}|{whole}|{whole}|{PROGRAMS}"));
    eprintln!("{} records, {kills} kills, {took:.1?}", whole * 2);
}
