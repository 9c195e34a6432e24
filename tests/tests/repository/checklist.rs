//! Checks that the checklist of behaviors is complete, and that every test that it names exists.

use std::fs;
use std::path::Path;

/// Number of behaviors per group.
const GROUPS: [(&str, u32); 4] = [("M", 58), ("P", 18), ("G", 22), ("H", 24)];

struct Row {
    id: String,
    behaviour: String,
    proof: String,
}

fn rows() -> Vec<Row> {
    let lines = include_str!("../../checklist.md").lines().filter(|line| line.starts_with("| "));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [id, behaviour, proof] = cells[..] else { panic!("not three cells: {line}") };
        Row { id: id.to_owned(), behaviour: behaviour.to_owned(), proof: proof.to_owned() }
    };
    lines.map(row).filter(|row| row.id != "id").collect()
}

#[test]
fn checklist_has_every_id_once_and_in_order() {
    let expected: Vec<String> = GROUPS
        .iter()
        .flat_map(|(group, last)| (1..=*last).map(move |number| format!("{group}-{number:02}")))
        .collect();
    let listed: Vec<String> = rows().into_iter().map(|row| row.id).collect();
    let strange: Vec<_> = listed.iter().filter(|id| !expected.contains(id)).collect();
    let missing: Vec<_> = expected.iter().filter(|id| !listed.contains(id)).collect();
    assert!(strange.is_empty() && missing.is_empty(), "unknown: {strange:?}, missing: {missing:?}");
    assert_eq!(listed, expected, "an ID is duplicate or in the wrong place");
    assert!(rows().iter().all(|row| row.behaviour.len() >= 10), "each row says what it is about");
}

/// Returns the errors of a proof.
fn check(proof: &str) -> Vec<String> {
    let (tests, rest): (Vec<&str>, Vec<&str>) = proof
        .split([',', ';'])
        .map(str::trim)
        .partition(|part| part.starts_with('`') && part.ends_with('`') && part.len() > 2);
    let mut problems = Vec::new();
    if tests.is_empty() && rest.is_empty() {
        problems.push("no proof".to_owned());
    }
    problems.extend(tests.iter().filter_map(|test| missing(test.trim_matches('`'))));
    for part in rest {
        let (kind, what) = part.split_once(": ").unwrap_or((part, ""));
        match kind {
            "out" if what.len() > 10 => return problems,
            _ => problems.push(format!("neither a test nor `out: …`: {part}")),
        }
    }
    problems
}

/// Returns why a test does not exist.
fn missing(test: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (file, name) = test.split_once("::").unwrap_or((test, ""));
    let Ok(text) = fs::read_to_string(root.join(file)) else { return Some(format!("no file {file}")) };
    if name.is_empty() {
        // A program that must not compile is a test itself.
        let is_case = file.starts_with("tests/ui/") && root.join(file).with_extension("stderr").exists();
        return (!is_case).then(|| format!("{file} is not a test by itself"));
    }
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let declares = |line: &str| {
        let rest = line.trim_start_matches("async ").strip_prefix("fn ");
        rest.and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with('('))
    };
    let is_test = |end: usize| {
        let above =
            lines[..end].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        above.into_iter().any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
    };
    let found = (0..lines.len()).any(|index| declares(lines[index]) && is_test(index));
    (!found).then(|| format!("no test {name} in {file}"))
}

#[test]
fn every_proof_is_an_existing_test_or_a_reason() {
    let mut wrong = Vec::new();
    for row in rows() {
        wrong.extend(check(&row.proof).into_iter().map(|problem| format!("{}: {problem}", row.id)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn invalid_proofs_are_detected() {
    let own = "tests/tests/repository/checklist.rs";
    assert_eq!(check(&format!("`{own}::invalid_proofs_are_detected`")), [""; 0]);
    assert_eq!(check("out: this is not possible, and not wanted"), [""; 0]);
    for (proof, problem) in [
        ("", "neither"),
        ("later: some day", "neither"),
        ("`nowhere.rs::x`", "no file"),
        ("`tests/ui/nothing.rs`", "no file"),
        // A function that is not a test, a test that is only mentioned, and a file without tests.
        (&format!("`{own}::rows`"), "no test"),
        (&format!("`{own}::what_is_no_proof`"), "no test"),
        (&format!("`{own}`"), "not a test by itself"),
    ] {
        assert!(check(proof).iter().any(|message| message.contains(problem)), "{proof}: {:?}", check(proof));
    }
}

#[test]
fn architecture_decision_table_is_valid() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let table = page.split("## Where something is decided\n").nth(1).unwrap();
    let rows = table.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with("| ")).skip(2);
    let mut checked = 0;
    for row in rows {
        let location = row.split(" | ").nth(1).unwrap();
        // The first is a file, the others are functions in it, up to a remark in parentheses.
        let mut quoted = location.split(" (").next().unwrap().split('`').skip(1).step_by(2);
        let file = quoted.next().unwrap();
        let source = fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        for function in quoted {
            let is_there = ["(", "<"].iter().any(|next| source.contains(&format!("fn {function}{next}")));
            assert!(is_there, "{file} has no function `{function}`: {row}");
            checked += 1;
        }
    }
    assert!(checked > 8, "{checked}");
}
