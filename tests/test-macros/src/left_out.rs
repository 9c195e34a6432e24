//! Lists the tests that a run skipped, with the reason and the command that runs them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use toolgen_test_support::{needs, pages};

/// The groups of tests that run only on request: `#[ignore = "heavy: NAME"]`.
const GROUPS: [(&str, &str); 4] = [
    ("cargo", "projects that cargo builds, and error messages of the macros"),
    ("corpus", "real documents: in TOOLGEN_CORPUS, or in ../shared/corpus next to the repository"),
    ("servers of others", "MCP servers of npm and PyPI, below TOOLGEN_MCP_SERVERS"),
    ("soak", "many calls, many kills, and tests that need an idle machine"),
];

/// Returns the summary of a run with these arguments. `Err` if a test is in a group that is not listed above.
pub(crate) fn told(words: &[String]) -> Result<String, String> {
    Ok(not_asked_for(words)? + &skipped())
}

fn not_asked_for(words: &[String]) -> Result<String, String> {
    let mut message = String::new();
    if !words.iter().any(|word| word.ends_with("--ignored") || word.ends_with("--include-ignored")) {
        message.push_str("\nNot run, since they take minutes or need more than a toolchain:\n");
        let found = groups();
        let known: Vec<&str> = GROUPS.iter().map(|(name, _)| *name).collect();
        if !found.keys().eq(known.iter()) {
            return Err(format!("tests are in the groups {found:?}, and those with a line are {known:?}"));
        }
        for (name, what) in GROUPS {
            let _ = writeln!(message, "{:5} tests  {name}: {what}", found[name]);
        }
        message.push_str(
            "`cargo test --workspace --tests -- --ignored` runs them, and `.ci/run --all` also those that need other programs.\n",
        );
    }
    Ok(message)
}

/// Returns the number of tests per group.
fn groups() -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for dir in ["examples", "runtime", "tests", "toolgen", "tool-macros"] {
        for path in pages::files(&pages::root().join(dir), ".rs") {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let marks = text.lines().filter_map(|line| line.trim().strip_prefix("#[ignore = \"heavy: "));
            for name in marks.map(|rest| rest.trim_end_matches("\"]")) {
                *found.entry(name.to_owned()).or_default() += 1;
            }
        }
    }
    found
}

/// Returns the tests that this run skipped because of missing requirements, and clears the list.
fn skipped() -> String {
    let Some(file) = needs::notes() else { return String::new() };
    let Ok(text) = fs::read_to_string(&file) else { return String::new() };
    let _ = fs::remove_file(file);
    named(&text)
}

/// Lists the skipped tests by requirement, each test once per requirement.
fn named(notes: &str) -> String {
    let mut by_need: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (need, test) in notes.lines().filter_map(|line| line.split_once('\t')) {
        by_need.entry(need).or_default().insert(test);
    }
    let mut message =
        "\nSkipped, and counted as ok, because this machine does not meet a requirement:\n".to_owned();
    for (need, tests) in by_need {
        let _ = writeln!(message, "{:5} tests  {need}", tests.len());
        for test in tests {
            let _ = writeln!(message, "                {test}");
        }
    }
    message.push_str("Lines above that begin with SKIPPED say what is missing; with TOOLGEN_REQUIRE=all these tests fail.\n");
    message
}

#[cfg(test)]
mod tests {
    use super::{named, not_asked_for};

    #[test]
    fn skipped_tests_are_counted_and_named() {
        let message = named("podman\ta::starts\npython\tb\npodman\ta::ends\npodman\ta::starts\n");
        let wanted = "    2 tests  podman\n                a::ends\n                a::starts\n    1 tests  python\n                b\n";
        assert!(message.contains(wanted), "{message}");
    }

    #[test]
    fn test_groups_are_counted_unless_run() {
        let usual = not_asked_for(&[]).unwrap();
        assert!(usual.contains(" tests  corpus: ") && usual.contains("-- --ignored` runs them"), "{usual}");
        assert!(
            !not_asked_for(&["--test-args".to_owned(), "--ignored".to_owned()]).unwrap().contains("Not run")
        );
    }
}
