//! The client of MCP servers against a server that does everything wrong. The test is the server, too: started with the
//! variable `MCP_SERVER`, it serves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is its own harness, and a server")]
#![allow(clippy::zombie_processes, reason = "whether a client ends them is what is tested")]

mod basics;
mod cassette;
mod hostile;
mod inputs;
mod locked;
mod real;
mod server;
mod soak;
mod support;
mod tasks;

use std::process::ExitCode;

fn main() -> ExitCode {
    if let Ok(words) = std::env::var("MCP_SERVER") {
        server::run(&words);
        return ExitCode::SUCCESS;
    }
    let tests = [
        basics::TESTS,
        cassette::TESTS,
        hostile::TESTS,
        inputs::TESTS,
        locked::TESTS,
        real::TESTS,
        tasks::TESTS,
    ]
    .concat();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let ignored = words.iter().any(|word| word == "--ignored" || word == "--include-ignored");
    let wanted: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let is_wanted = |name: &str| {
        wanted.is_empty() || wanted.iter().any(|part| format!("mcp::{name}").contains(part.as_str()))
    };
    let only = words.iter().any(|word| word == "--ignored");
    let usual = tests.into_iter().filter(|_| !only);
    let long = soak::TESTS.iter().copied().filter(|_| ignored);
    let mut failed = Vec::new();
    for (name, test) in usual.chain(long).filter(|(name, _)| is_wanted(name)) {
        println!("test mcp::{name}");
        if std::panic::catch_unwind(test).is_err() {
            failed.push(name);
        }
    }
    for name in &failed {
        println!("failed: mcp::{name}");
    }
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
