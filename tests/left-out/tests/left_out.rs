//! The last of all test programs: which tests did not run, why, and what runs them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test that prints")]

use std::collections::BTreeMap;
use std::fs;

use toolgen_test_support::{needs, pages};

/// The groups of tests that run only if they are asked for: `#[ignore = "heavy: NAME"]`.
const GROUPS: [(&str, &str); 4] = [
    ("cargo", "projects that cargo builds, and what the macros say of mistakes"),
    ("corpus", "real documents: those below TOOLGEN_CORPUS, or beside the repository in ../shared/corpus"),
    ("servers of others", "MCP servers of npm and PyPI, below TOOLGEN_MCP_SERVERS"),
    ("soak", "many calls, many kills, and what needs a machine for itself"),
];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let some = words.iter().any(|word| !word.starts_with('-') || word == "--list");
    let heavy = words.iter().any(|word| word == "--ignored" || word == "--include-ignored");
    if some {
        return;
    }
    let groups = groups();
    if !heavy {
        println!("\nNot run, since they take minutes or need more than a toolchain:");
        for (name, what) in GROUPS {
            println!("{:5} tests  {name}: {what}", groups[name]);
        }
        println!(
            "`cargo test --workspace -- --ignored` runs them. `.ci/run --all` runs these and whatever needs other programs."
        );
    }
    skipped();
}

/// How many tests are in each group.
fn groups() -> BTreeMap<String, usize> {
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for folder in ["examples", "runtime", "tests", "toolgen", "tool-macros"] {
        for path in pages::files(&pages::root().join(folder), ".rs") {
            let text = fs::read_to_string(&path).unwrap();
            let marks = text.lines().filter_map(|line| line.trim().strip_prefix("#[ignore = \"heavy: "));
            for name in marks.map(|rest| rest.trim_end_matches("\"]")) {
                *found.entry(name.to_owned()).or_default() += 1;
            }
        }
    }
    let known: Vec<&str> = GROUPS.iter().map(|(name, _)| *name).collect();
    assert_eq!(found.keys().map(String::as_str).collect::<Vec<_>>(), known, "each group has its line above");
    found
}

/// Says what programs of this run skipped for want of something.
fn skipped() {
    let Some(file) = needs::notes() else { return };
    let Ok(text) = fs::read_to_string(&file) else { return };
    fs::remove_file(file).unwrap();
    let mut by_need: BTreeMap<&str, usize> = BTreeMap::new();
    for (need, _) in text.lines().filter_map(|line| line.split_once('\t')) {
        *by_need.entry(need).or_default() += 1;
    }
    println!("\nSkipped, for want of something that this machine does not have:");
    for (need, count) in by_need {
        println!("{count:5} tests  {need}");
    }
    println!(
        "The lines above that begin with SKIPPED say what is missing; `TOOLGEN_REQUIRE=all cargo test` fails there."
    );
}
