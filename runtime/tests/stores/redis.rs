//! State that processes share, on a server that the tests start.

mod approvals;
mod breaker;
mod failures;
mod guide;
mod outage;
mod pages;
mod rate;
use toolgen_test_support::redis as server;
mod sessions;
mod tls;

use toolgen_runtime::layers::redis::RedisBuilder;
use toolgen_runtime::{ToolName, ToolSpec};
use toolgen_test_support::processes::Process;

use crate::prelude::*;

/// Where a further process finds the server.
const URL: &str = "TOOLGEN_REDIS_TEST_URL";

/// What a further process is given besides.
const GIVEN: &str = "TOOLGEN_REDIS_TEST_GIVEN";

fn builder(url: &str) -> RedisBuilder {
    // Where the machine is busy a server may be slow; tests of slow servers set their own time.
    RedisState::builder(url, "tests").timeout(Duration::from_secs(20))
}

fn state(url: &str) -> RedisState {
    builder(url).build().unwrap()
}

fn spec(name: &'static str) -> ToolSpec {
    ToolSpec { name: ToolName::new(name), ..ToolSpec::EMPTY }
}

/// Starts further processes, which run another test of this name.
fn others(count: usize, test: &str, url: &str, given: &str) -> Vec<Process> {
    (0..count).map(|_| Process::start(test, &[(URL, &url), (GIVEN, &given)])).collect()
}

/// Lets all of them begin at once, and returns what they said.
fn said(mut others: Vec<Process>) -> Vec<String> {
    others.iter_mut().for_each(Process::begin);
    let said = others.iter_mut().flat_map(|other| other.collect::<Vec<_>>()).collect();
    assert!(others.iter_mut().all(Process::succeeded));
    said
}
