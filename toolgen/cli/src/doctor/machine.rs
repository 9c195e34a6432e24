//! Checks of the toolchain, and the features of this program.

use std::process::{Command, Stdio};

use super::Finding;

/// Minimum supported Rust version: `rust-version` of the crates.
const RUST: &str = env!("CARGO_PKG_RUST_VERSION");

/// What every build of this program has.
const ALWAYS: &str = "HTTP requests, commands, MCP clients and servers, audit logs (JSON Lines)";

/// What only some builds have: whether this one has it, the feature, and what it is.
const OPTIONAL: [(bool, &str, &str); 6] = [
    (cfg!(feature = "sqlite"), "sqlite", "SQLite"),
    (cfg!(feature = "postgres"), "postgres", "PostgreSQL"),
    (cfg!(feature = "redis"), "redis", "Redis"),
    (cfg!(feature = "archives"), "archives", "documents in archives"),
    (cfg!(feature = "tokens"), "tokens", "a tokenizer"),
    (cfg!(feature = "man"), "man", "manual pages"),
];

const RUSTUP: &str = "install it from https://rustup.rs";

/// Checks cargo and rustc, which build the output of `gen`, `init` and `bin`.
pub(super) fn toolchain(offline: bool) -> Vec<Finding> {
    if offline {
        return vec![Finding::note("not checked", "run without `--offline`")];
    }
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let cargo = version(super::super::cargo());
    let rustc = version(Command::new(rustc));
    vec![version_finding("cargo", cargo, false), version_finding("rustc", rustc, true)]
}

/// Returns the output of `--version` of a program.
fn version(mut program: Command) -> Result<String, String> {
    let text = program.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output();
    let text = text.map_err(|error| error.to_string())?;
    match String::from_utf8_lossy(&text.stdout).lines().next() {
        Some(line) if text.status.success() => Ok(line.trim().to_owned()),
        _ => Err(format!("`--version` failed ({})", text.status)),
    }
}

fn version_finding(name: &str, version: Result<String, String>, check_msrv: bool) -> Finding {
    match version {
        Ok(version) if check_msrv && is_older(&version) => Finding::problem(
            format!("{version} is older than {RUST}, which generated crates need"),
            "`rustup update stable`",
        ),
        Ok(version) => Finding::fine(version),
        Err(error) => Finding::problem(
            format!("{name} cannot be started: {error}"),
            format!("generated crates cannot be built here; {RUSTUP}"),
        ),
    }
}

/// Whether `rustc 1.70.0 (…)` is older than the minimum supported version.
fn is_older(version: &str) -> bool {
    let numbers = |text: &str| -> Vec<u32> {
        let text = text.split(['-', '+']).next().unwrap_or_default();
        text.split('.').map_while(|part| part.parse().ok()).collect()
    };
    let actual = numbers(version.split_whitespace().nth(1).unwrap_or_default());
    !actual.is_empty() && actual < numbers(RUST)
}

/// Reports the version and the features of this program.
pub(super) fn program() -> Vec<Finding> {
    let build = if cfg!(debug_assertions) { ", built without optimization" } else { "" };
    let sandbox =
        if cfg!(target_os = "linux") { "" } else { "; programs run without a sandbox on this system" };
    let parts = |has: bool| OPTIONAL.iter().filter(move |(included, ..)| *included == has);
    let included: String = parts(true).map(|(_, _, what)| format!(", {what}")).collect();
    let version = env!("CARGO_PKG_VERSION");
    let mut findings =
        vec![Finding::fine(format!("cargo-toolgen {version}{build}: {ALWAYS}{included}{sandbox}"))];
    let lacking: Vec<String> =
        parts(false).map(|(_, feature, what)| format!("{what} (`{feature}`)")).collect();
    if !lacking.is_empty() {
        findings
            .push(Finding::fine(format!("not in this build, but features of it: {}", lacking.join(", "))));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doctor_reports_rustc_below_msrv() {
        assert!(is_older("rustc 1.70.0 (90c541806 2023-05-31)") && is_older("rustc 0.9"));
        assert!(!is_older(&format!("rustc {RUST}")) && !is_older("rustc 1.200.1-nightly") && !is_older("?"));
        let old = version_finding("rustc", Ok("rustc 1.70.0".to_owned()), true);
        assert_eq!(old.help, "`rustup update stable`");
        assert!(version_finding("cargo", Err("not found".to_owned()), false).help.contains("rustup.rs"));
    }
}
