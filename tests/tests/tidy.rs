//! The rules of the repository that no compiler checks.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// The longest file of code, in lines. A flat table may be longer; it is listed here with the reason.
const LONGEST: usize = 400;
const LONGER: &[(&str, &str)] = &[("runtime/src/schema/dialect.rs", "a table with a row for each provider")];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// All files of the repository with one of these endings, without build output.
fn files(endings: &[&str]) -> Vec<PathBuf> {
    fn walk(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
        let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() {
                if name != "target" && name != ".git" {
                    walk(&path, endings, found);
                }
            } else if endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root(), endings, &mut found);
    assert!(!found.is_empty(), "no file with {endings:?} found");
    found
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_string_lossy().into_owned()
}

fn is_test(path: &Path) -> bool {
    let path = relative(path);
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("tests.rs")
}

#[test]
fn files_are_short() {
    let mut long = Vec::new();
    for path in files(&[".rs"]) {
        let name = relative(&path);
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        let listed = LONGER.iter().any(|(file, _)| *file == name);
        if lines > LONGEST && !listed && !is_test(&path) {
            long.push(format!("{name}: {lines} lines, more than {LONGEST}"));
        }
        assert!(lines > LONGEST || !listed, "{name} is short again: take it off the list");
    }
    assert!(long.is_empty(), "{}", long.join("\n"));
}

#[test]
fn modules_say_why_they_exist() {
    let silent: Vec<_> = files(&[".rs"])
        .into_iter()
        .filter(|path| !is_test(path))
        .filter(|path| !fs::read_to_string(path).unwrap().trim_start().starts_with("//!"))
        .map(|path| relative(&path))
        .collect();
    assert!(silent.is_empty(), "these start without module documentation:\n{}", silent.join("\n"));
}

/// The repository speaks of the product alone.
#[test]
fn no_machine_is_mentioned() {
    // In pieces, so that this file does not find itself.
    let words = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];
    let mut found = Vec::new();
    for path in files(&[".rs", ".md", ".toml", ".py", ".sh", ".yaml", ".yml", ".json"]) {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for (number, line) in text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) {
                found.push(format!("{}:{}: {line}", relative(&path), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Printing belongs to the command line, and to the directives of a build script.
#[test]
fn libraries_do_not_print() {
    let mut found = Vec::new();
    for path in files(&[".rs"]) {
        let name = relative(&path);
        let library = name.starts_with("runtime/src") || name.starts_with("toolgen/src");
        let allowed = ["toolgen/src/cli", "toolgen/src/main.rs", "toolgen/src/build.rs"]
            .iter()
            .any(|allowed| name.starts_with(allowed));
        if !library || allowed || is_test(&path) {
            continue;
        }
        for (number, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            let code = line.trim_start();
            let prints = ["println!(", "print!(", "eprintln!(", "eprint!(", "dbg!("]
                .iter()
                .any(|macro_call| code.starts_with(macro_call));
            if prints && !code.contains("cargo::") {
                found.push(format!("{name}:{}: {code}", number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Every document in `specs/` is compiled by the tests' build script.
#[test]
fn every_example_is_compiled() {
    let script = fs::read_to_string(root().join("tests/build.rs")).unwrap();
    for path in files(&[".yaml", ".json"]) {
        let name = relative(&path);
        if let Some(file) = name.strip_prefix("specs/") {
            let listed = script.contains(file) || script.contains("read_dir");
            assert!(listed, "tests/build.rs does not compile specs/{file}");
        }
    }
}

/// The three published crates move in step.
#[test]
fn sibling_versions_are_exact() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("version = "))
        .expect("the workspace has a version")
        .trim_matches('"');
    for name in ["toolgen", "toolgen-macros", "toolgen-runtime"] {
        let wanted = format!("{name} = {{ version = \"={version}\"");
        assert!(manifest.lines().any(|line| line.starts_with(&wanted)), "{name} is not pinned to ={version}");
    }
}
