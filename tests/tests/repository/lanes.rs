//! Checks the table of `.ci/run`, which maps directories to groups of the heavy lane.

use std::collections::BTreeSet;
use std::fs;

use toolgen_test_support::pages::{files, root};

/// Directories that only the quick lane tests.
const QUICK: &[&str] = &[
    "runtime/tests/http",
    "runtime/tests/proptest-regressions",
    "runtime/tests/telemetry",
    "tests/documents",
    "tests/examples",
    "tests/features",
    "tests/left-out",
    "tests/providers",
    "tests/quickstart",
    "tests/src",
    "tests/test-macros",
    "tests/tests",
];

/// Returns the paths of the table.
fn listed() -> BTreeSet<String> {
    let script = fs::read_to_string(root().join(".ci/run")).unwrap();
    let table = script.split("declare -A folders=(").nth(1).unwrap().split("\n)").next().unwrap();
    let words = table.split(['\'', ' ', '\n']).filter(|word| !word.is_empty() && !word.starts_with('['));
    words.map(str::to_owned).collect()
}

#[test]
fn every_directory_of_the_table_exists() {
    let listed = listed();
    assert!(listed.len() > 50, "{listed:?}");
    let gone: Vec<_> = listed.iter().filter(|path| !root().join(path).exists()).collect();
    assert!(gone.is_empty(), "{gone:?}");
}

#[test]
fn every_directory_is_in_the_table_or_the_quick_lane() {
    let listed = listed();
    for above in ["runtime", "runtime/kernel/src", "runtime/tests", "tests"] {
        for entry in fs::read_dir(root().join(above)).unwrap().map(Result::unwrap) {
            let path = format!("{above}/{}", entry.file_name().to_str().unwrap());
            let known = QUICK.contains(&path.as_str())
                || listed.iter().any(|one| *one == path || one.starts_with(&format!("{path}/")));
            let counts = entry.path().is_dir() && !files(&entry.path(), "").is_empty();
            assert!(known || !counts, "{path} is neither in the table of .ci/run nor in QUICK");
        }
    }
}
