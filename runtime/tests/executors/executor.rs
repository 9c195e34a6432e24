//! Tests of executors, with real processes.
#![cfg(unix)]

mod container;
mod guard;
mod lent;
#[cfg(target_os = "linux")]
mod limits;
mod local;
use toolgen_test_support::needs;
#[cfg(target_os = "linux")]
mod podman;
#[cfg(target_os = "linux")]
mod sandbox;

use std::time::Instant;

use crate::prelude::*;

fn argv(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn shell(script: &str) -> Vec<String> {
    argv(&["sh", "-c", script])
}

async fn run(
    executor: &dyn Executor,
    argv: &[String],
    options: &ExecOptions,
) -> Result<ExecOutput, ExecError> {
    executor.run(argv, options, &CancellationToken::new()).await
}

/// An empty directory for the test of this name.
fn directory(name: &str) -> PathBuf {
    let own = || PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("executor");
    let path = std::env::var_os("TOOLGEN_TEST_PLACE").map_or_else(own, PathBuf::from).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Waits up to ten seconds for a condition.
async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(10), "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether the process with this ID runs. Zombie processes do not count.
fn runs(pid: &str) -> bool {
    let output = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let stat = String::from_utf8(output.stdout).unwrap();
    !stat.trim().is_empty() && !stat.trim_start().starts_with('Z')
}

/// Returns the processes whose command line contains a mark.
#[cfg(target_os = "linux")]
fn left(mark: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let commands = processes.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    let commands = commands.map(|command| String::from_utf8_lossy(&command).replace('\0', " "));
    commands.filter(|command| command.contains(mark)).collect()
}
