//! The macros under conditions that break careless ones: see `macros/README.md`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

fn check(fixture: &str, arguments: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("macros").join(fixture);
    // Beside the target of the workspace, which may be locked by the build that runs this test.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hygiene");
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    let own_lock = folder.join("Cargo.lock");
    std::fs::copy(lock, &own_lock).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--quiet", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .args(arguments)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    std::fs::remove_file(own_lock).unwrap();
    assert!(output.status.success(), "{fixture}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn fixtures_compile() {
    check("renamed", &[]);
    check("plain", &[]);
    check("plain", &["--features", "extra"]);
}
