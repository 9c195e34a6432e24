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

use std::io::Write as _;
use std::process::Child;

use toolgen_runtime::layers::redis::RedisBuilder;
use toolgen_runtime::{ToolName, ToolSpec};

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

/// Further processes of this test, which run another one of this name.
struct Processes(Vec<Child>);

impl Processes {
    fn start(count: usize, test: &str, url: &str, given: &str) -> Processes {
        let start = |_| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", test, "--nocapture"])
                .env(URL, url)
                .env(GIVEN, given)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        };
        Processes((0..count).map(start).collect())
    }

    /// Lets all of them begin at once, and returns what they said.
    fn said(mut self) -> Vec<String> {
        self.begin();
        let mut said = Vec::new();
        for child in &mut self.0 {
            let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
            said.extend(lines.filter_map(|line| line.strip_prefix("said:").map(str::to_owned)));
            assert!(child.wait().unwrap().success());
        }
        said
    }

    fn begin(&mut self) {
        for child in &mut self.0 {
            writeln!(child.stdin.as_mut().unwrap(), "begin").unwrap();
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Of a further process: waits until all may begin.
fn wait_for_others() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    assert_eq!(line, "begin\n");
}

/// Of a further process: says something to the one that started it.
fn say(what: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "\nsaid:{what}").unwrap();
    out.flush().unwrap();
}
