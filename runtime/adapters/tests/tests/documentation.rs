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

#[test]
fn code_blocks_of_pages_are_compiled() {
    let adapters = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf();
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
