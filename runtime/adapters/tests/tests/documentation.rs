//! The Rust code on the pages about adapters matches the documentation of their crates, which is compiled.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the code in the documentation of the crates, without hidden lines.
fn compiled(adapters: &Path) -> String {
    let lines = |name: &str| -> String {
        let text = fs::read_to_string(adapters.join(name).join("src/lib.rs")).unwrap();
        let told =
            text.lines().filter_map(|line| line.strip_prefix("//!").or_else(|| line.strip_prefix("///")));
        let told =
            told.map(|line| line.strip_prefix(' ').unwrap_or(line)).filter(|line| !line.starts_with("# "));
        told.map(|line| format!("{line}\n")).collect()
    };
    ["rig", "async-openai", "genai"].map(lines).concat()
}

/// Returns the directory of the adapters.
fn adapters() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Returns the text between two others, in the first line that has the first.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("there is no {start}"));
    rest.split(end).next().unwrap()
}

/// The README of each adapter and the page of the guide name the versions that cargo enforces.
#[test]
fn pages_name_the_supported_versions() {
    let adapters = adapters();
    let read = |path: &str| fs::read_to_string(adapters.join(path)).unwrap();
    let (workspace, page) = (read("Cargo.toml"), read("../../docs/adapters.md"));
    for (name, dependencies) in [
        ("rig", &["rig-core", "rig-agent"] as &[_]),
        ("async-openai", &["async-openai"]),
        ("genai", &["genai"]),
    ] {
        let rust = between(&read(&format!("{name}/Cargo.toml")), "\nrust-version = \"", "\"").to_owned();
        let version = between(&workspace, &format!("\n{} = {{ version = \"", dependencies[0]), "\"");
        for other in dependencies {
            assert_eq!(between(&workspace, &format!("\n{other} = {{ version = \""), "\""), version);
        }
        let readme = read(&format!("{name}/README.md"));
        let line = readme.lines().find(|line| line.starts_with(&format!("For {name} {version}"))).unwrap();
        assert!(line.contains(&format!("Rust {rust} or later")) && readme.contains("\nLimits:\n"), "{line}");

        let row = format!("| `toolgen-{name}` | {} {version}.x | {rust} |", dependencies.join(" and "));
        assert!(page.contains(&row), "docs/adapters.md has no {row}");
        assert!(page.contains(&format!("(https://docs.rs/{name}) {version} |")), "{name} {version}");
    }
}

#[test]
fn code_blocks_of_pages_are_compiled() {
    let adapters = adapters();
    let compiled = compiled(&adapters);
    let mut pages: Vec<PathBuf> =
        ["rig", "async-openai", "genai"].map(|name| adapters.join(name).join("README.md")).into();
    pages.push(adapters.join("../../docs/adapters.md"));
    let mut blocks = 0;
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for block in text.split("```rust,ignore\n").skip(1) {
            let block = block.split("```").next().unwrap();
            assert!(compiled.contains(block), "{} shows what no crate compiles:\n{block}", page.display());
            blocks += 1;
        }
    }
    assert_eq!(blocks, 7);
}
