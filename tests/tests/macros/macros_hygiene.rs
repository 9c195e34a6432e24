//! Tests of the macros under conditions that break unhygienic macros: see `macros/README.md`.

use std::path::Path;
use std::process::Command;

use toolgen_tests::needs::{Need, skip};

/// Every fixture must compile in each of them.
const EDITIONS: [&str; 2] = ["2021", "2024"];

/// Compiles a copy of a fixture in an edition, with clippy if it is installed.
fn check(fixture: &str, edition: &str, arguments: &[&str]) {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let from = tests.join("macros").join(fixture);
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{fixture}-{edition}"));
    std::fs::create_dir_all(dir.join("src")).unwrap();
    let manifest = std::fs::read_to_string(from.join("Cargo.toml")).unwrap();
    let runtime = tests.join("../runtime").canonicalize().unwrap();
    let manifest =
        manifest
            .lines()
            .map(|line| {
                if line.starts_with("edition") { format!("edition = \"{edition}\"") } else { line.to_owned() }
            })
            .collect::<Vec<_>>()
            .join("\n")
            .replace("../../../runtime", runtime.to_str().unwrap());
    std::fs::write(dir.join("Cargo.toml"), manifest).unwrap();
    std::fs::copy(from.join("src/lib.rs"), dir.join("src/lib.rs")).unwrap();
    std::fs::copy(tests.join("../Cargo.lock"), dir.join("Cargo.lock")).unwrap();
    let cargo = |command: &str| {
        let mut cargo = Command::new(env!("CARGO"));
        // Not in the target directory of the workspace, which the build that runs this test may lock.
        cargo
            .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("projects-target"))
            .env("CARGO_PROFILE_DEV_DEBUG", "0");
        cargo.env_remove("RUSTFLAGS").arg(command);
        cargo
    };
    let has_clippy = cargo("clippy").arg("--version").output().is_ok_and(|output| output.status.success());
    if !has_clippy {
        skip(Need::Clippy, "clippy, whose lints hold for what the macros write, is not installed");
    }
    let output = cargo(if has_clippy { "clippy" } else { "check" })
        .args(["--offline", "--quiet", "--manifest-path"])
        .arg(dir.join("Cargo.toml"))
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{fixture}, {edition}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "heavy: cargo"]
fn fixtures_compile_in_every_edition() {
    for edition in EDITIONS {
        check("renamed", edition, &[]);
        check("plain", edition, &[]);
        check("plain", edition, &["--features", "extra"]);
    }
}

/// Link-time optimization must not remove tools that no code names.
#[test]
#[ignore = "heavy: cargo"]
fn self_registering_tools_survive_optimization() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO"))
        .args(["run", "--release", "--offline", "--quiet", "--manifest-path"])
        .arg(tests.join("macros/registered/Cargo.toml"))
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("registered"))
        .env_remove("RUSTFLAGS")
        .output()
        .unwrap();
    let _ = std::fs::remove_file(tests.join("macros/registered/Cargo.lock"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "a\nb\n");
}
