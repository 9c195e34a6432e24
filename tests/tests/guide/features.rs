//! The number of crates that features cost is that of cargo, in the guide and in the documentation of the runtime.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use toolgen_tests::pages::root;

/// Returns the number of crates that cargo compiles on Linux for the runtime with its default features and these.
fn count(features: &str) -> usize {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([
        "tree",
        "--offline",
        "--locked",
        "--prefix",
        "none",
        "--format",
        "{p}",
        "-e",
        "normal,build",
    ]);
    cargo.args(["-p", "toolgen-runtime", "--target", "x86_64-unknown-linux-gnu", "--features", features]);
    let output = cargo.current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{features}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let names = text.lines().map(|line| line.trim_end_matches(" (*)").trim_end_matches(" (proc-macro)"));
    names.filter(|name| !name.is_empty()).collect::<BTreeSet<_>>().len()
}

/// Returns the names between backticks.
fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn crate_counts_are_current() {
    let mut rows: Vec<(String, usize)> = Vec::new();
    let page = fs::read_to_string(root().join("docs/features.md")).unwrap();
    for line in page.lines() {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let [_, _, features, crates, _] = cells[..] else { continue };
        if let Ok(crates) = crates.parse() {
            rows.push((names(features).join(","), crates));
        }
    }
    assert!(rows.len() > 5, "{rows:?}");

    // A row of several features lists the count of each.
    let documentation = fs::read_to_string(root().join("runtime/src/lib.rs")).unwrap();
    for line in documentation.lines().filter_map(|line| line.strip_prefix("//! | ")) {
        let cells: Vec<_> = line.split(" | ").collect();
        let [features, crates, _] = cells[..] else { continue };
        let counts = crates.split(", ").filter_map(|count| count.parse().ok());
        if features.starts_with("default") {
            rows.extend(counts.map(|count| (String::new(), count)));
        } else {
            rows.extend(names(features).into_iter().map(str::to_owned).zip(counts));
        }
    }
    assert!(rows.len() > 30, "{rows:?}");

    let found = rows.iter().map(|(features, crates)| (features, *crates, count(features)));
    let wrong: Vec<_> = found.filter(|(_, crates, actual)| crates != actual).collect();
    assert!(wrong.is_empty(), "features, documented crates, actual crates: {wrong:#?}");
}
