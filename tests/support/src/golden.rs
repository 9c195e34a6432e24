//! Golden files: the reviewed output of tests. `TOOLGEN_UPDATE=1` rewrites them.

use std::path::{Path, PathBuf};

/// Whether golden files are rewritten instead of compared: `TOOLGEN_UPDATE` is set, and not to `0`.
pub fn updating() -> bool {
    std::env::var_os("TOOLGEN_UPDATE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns the entries of a directory, sorted by name.
///
/// # Panics
///
/// Panics if the directory is empty.
#[track_caller]
pub fn cases(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut cases: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(!cases.is_empty(), "{} holds nothing", dir.display());
    cases.sort();
    cases
}

/// Compares the golden file of this name in each of these directories with the output for the directory.
///
/// # Panics
///
/// Panics if any file differs, with the differences of all.
#[track_caller]
pub fn assert_cases(cases: &[PathBuf], file: &str, found: impl Fn(&Path) -> String) {
    let wrong = cases.iter().filter_map(|case| compare(&case.join(file), &found(case)).err());
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Compares a golden file with the output, or rewrites it.
///
/// # Errors
///
/// Returns the first lines that differ, and how to accept them.
pub fn compare(file: &Path, found: &str) -> Result<(), String> {
    let expected = std::fs::read_to_string(file).unwrap_or_default();
    if expected == found {
        return Ok(());
    }
    if updating() {
        return std::fs::write(file, found).map_err(|error| format!("{}: {error}", file.display()));
    }
    let difference = difference(&expected, found);
    Err(format!("{}\n{difference}\nTOOLGEN_UPDATE=1 accepts it; read the difference.", file.display()))
}

/// Like [`compare`], for a test with one golden file.
///
/// # Panics
///
/// Panics if the file differs.
#[track_caller]
pub fn assert_golden(file: &Path, found: &str) {
    if let Err(difference) = compare(file, found) {
        panic!("{difference}");
    }
}

/// Returns the first lines that differ, with two lines before them.
pub(crate) fn difference(expected: &str, found: &str) -> String {
    let (left, right): (Vec<_>, Vec<_>) = (expected.lines().collect(), found.lines().collect());
    let same = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
    let part =
        |lines: &[&str]| lines[same.saturating_sub(2).min(lines.len())..lines.len().min(same + 8)].join("\n");
    format!("line {}, expected\n{}\nfound\n{}", same + 1, part(&left), part(&right))
}
