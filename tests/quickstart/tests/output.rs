//! Compares the output of the program with `expected.txt` and `verbose.txt`; `TOOLGEN_UPDATE=1` updates them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use toolgen_test_support::golden;

/// Runs the program, and returns its output with `PORT` as the port of the service.
fn run(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_quickstart")).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let port = printed.split_once("http://127.0.0.1:").unwrap().1.split('/').next().unwrap();
    printed.replace(port, "PORT")
}

fn file(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

#[test]
fn output_fits_on_one_screen() {
    let printed = run(&[]);
    golden::assert_golden(&file("expected.txt"), &printed);
    let widest = printed.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(printed.lines().count() <= 45 && widest <= 100, "{} x {widest}", printed.lines().count());
    assert!(printed.chars().all(|one| one == '\n' || !one.is_control()), "only plain text");
}

#[test]
fn verbose_output_adds_schemas_and_messages() {
    let printed = run(&["--verbose"]);
    golden::assert_golden(&file("verbose.txt"), &printed);
}

/// The last lines name pages of the guide.
#[test]
fn next_pages_exist() {
    let printed = run(&[]);
    let pages: Vec<&str> = printed
        .split_whitespace()
        .filter_map(|word| word.strip_suffix(':'))
        .filter(|word| word.ends_with(".md"))
        .collect();
    assert!(pages.len() == 3, "{pages:?}");
    let root = file("../..");
    assert!(pages.iter().all(|page| root.join(page).is_file()), "{pages:?}");
}
