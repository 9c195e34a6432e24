//! The pages about versions and platforms: the numbers on them are those of the code.

use std::fs;

use serde_json::{Value, json};
use toolgen::dynamic::Loader;
use toolgen_runtime::spec::mcp::Lock;
use toolgen_runtime::spec::surface::Surface;
use toolgen_tests::pages::root;

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Returns the value of a JSON file with another version of its format.
fn with_version(path: &str, key: &str, version: u64) -> Value {
    let mut value: Value = serde_json::from_str(&read(path)).unwrap();
    assert_eq!(value[key], json!(1), "{path}");
    value[key] = json!(version);
    value
}

#[test]
fn contract_number_of_generated_code_is_current() {
    let row =
        format!("a runtime of the same contract number: now {} |", toolgen_runtime::__private::CONTRACT);
    assert!(read("docs/stability.md").contains(&row), "docs/stability.md does not say {row}");
}

#[test]
fn oldest_compiler_is_current() {
    let manifest = read("Cargo.toml");
    let oldest = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap();
    let oldest = oldest.trim_matches('"');
    assert!(read("docs/stability.md").contains(&format!("The oldest supported compiler is Rust {oldest}.")));
    for page in ["README.md", "docs/start.md", "docs/platforms.md"] {
        assert!(read(page).contains(&format!("{oldest} or later")), "{page}");
    }
}

#[test]
fn other_format_versions_are_refused() {
    let page = read("docs/stability.md");
    for key in ["`toolgen: 1`", "`\"toolgen_lock\": 1`", "`\"toolgen_mcp_lock\": 1`"] {
        assert!(page.contains(key), "{key}");
    }

    let lock = with_version("tests/toolgen.lock", "toolgen_lock", 2);
    let problems = Surface::read(&lock).unwrap_err();
    assert_eq!(problems[0].message, "expected lock version 1, got 2");
    assert!(problems[0].help.contains("write the lock again"), "{}", problems[0].help);

    let lock = with_version("specs/mcp/shop.lock.json", "toolgen_mcp_lock", 2);
    assert_eq!(Lock::read(&lock).unwrap_err()[0].message, "expected lock version 1, got 2");

    let refused = match Loader::from_str("toolgen: 2\ntools: {}\n").and_then(|loader| loader.compile()) {
        Err(reason) => reason.to_string(),
        Ok((_, problems)) => problems.to_string(),
    };
    assert!(refused.contains("E0401") && refused.contains("write `toolgen: 1`"), "{refused}");
}

/// The crates of the page are those that the public surface may name.
#[test]
fn crates_of_the_public_surface_are_current() {
    let test = read("tests/tests/repository/surface.rs");
    let allowed = test.split("ALLOWED_CRATES: [&str; ").nth(1).unwrap().split(';').next().unwrap().to_owned();
    let page = read("docs/stability.md");
    let list =
        page.split("whose types are in the public surface:").nth(1).unwrap().split("\n\n").next().unwrap();
    // `serde_core` is the part of serde that defines its traits.
    for name in allowed.split('"').skip(1).step_by(2).filter(|name| *name != "serde_core") {
        assert!(list.contains(&format!("`{}`", name.replace("tokio_util", "tokio-util"))), "{name}: {list}");
    }
}
