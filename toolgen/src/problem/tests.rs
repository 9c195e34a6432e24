use std::path::PathBuf;

use serde_json::json as value;

use super::*;
use crate::source::Format;

fn problems(text: &str) -> Problems {
    let mut problems = Problems::new();
    let source = Source { path: PathBuf::from("a.json"), text: text.to_owned(), format: Format::Json };
    problems.enter(Arc::new(source));
    problems
}

fn pointer(text: &str) -> Pointer {
    Pointer::parse(text).unwrap()
}

#[test]
fn the_same_problem_is_kept_once() {
    let mut problems = problems("{}");
    for message in ["one", "one", "two"] {
        problems.report(codes::DUPLICATE_KEY, &pointer("/a"), message, "help");
    }
    assert_eq!(problems.as_slice().len(), 2);
    assert_eq!((problems.count(Severity::Error), problems.has_errors()), (2, true));
}

#[test]
fn problems_are_sorted_by_place() {
    let mut problems = problems("{\n\"a\": 1,\n\"b\": 2}");
    problems.report(codes::UNKNOWN_TAG, &pointer("/b"), "third", "");
    problems.report(codes::UNKNOWN_TAG, &pointer("/a"), "first", "");
    problems.report_at(codes::UNKNOWN_TAG, pointer("/a"), Position { line: 2, column: 9 }, "second", "");
    let order: Vec<_> = problems.placed().into_iter().map(|(at, p)| (at.line, p.message.clone())).collect();
    assert_eq!(order, [(2, "first".into()), (2, "second".into()), (3, "third".into())]);
}

#[test]
fn machines_get_all_fields() {
    let mut problems = problems("{\n\"a\": 1}");
    problems.report(codes::DUPLICATE_KEY, &pointer("/a"), "twice", "once");
    let (at, problem) = problems.placed()[0];
    let want = value!({"code": "E0106", "severity": "error", "file": "a.json", "line": 2, "column": 1, "pointer": "/a",
        "message": "twice", "help": "once"});
    assert_eq!(json(at, problem), want);
}

#[test]
fn people_get_the_line_with_a_mark() {
    let mut problems = problems("{\n  \"ä\": {\"bad\": 1}}");
    problems.report(codes::UNKNOWN_TAG, &pointer("/ä/bad"), "this is \u{1b}[31mbad", "make it good");
    let (at, problem) = problems.placed()[0];
    let want = "warning[W0115]: this is  [31mbad\n --> a.json:2:9\n  |\n2 |   \"ä\": {\"bad\": 1}}\n  |         ^\n  \
                = at /ä/bad\n  = help: make it good\n";
    assert_eq!(Human::new(false).show(at, problem), want);
    assert!(Human::new(true).show(at, problem).contains("\u{1b}[1;33mwarning[W0115]\u{1b}[0m"));
}

#[test]
fn long_lines_are_cut_around_the_place() {
    let text = format!("{{\"a\": \"{}\", \"b\": 1, \"c\": \"{}\"}}", "x".repeat(5000), "y".repeat(5000));
    let mut problems = problems(&text);
    problems.report(codes::UNKNOWN_TAG, &pointer("/b"), "m", "");
    let (at, problem) = problems.placed()[0];
    let shown = Human::new(false).show(at, problem);
    let lines: Vec<&str> = shown.lines().collect();
    let column = lines[4].chars().position(|c| c == '^').unwrap();
    assert!(lines[3].chars().skip(column).collect::<String>().starts_with("\"b\": 1"), "{shown}");
    assert!(lines[3].chars().count() < 130);
}

#[test]
fn deep_indentation_is_cut() {
    let text = format!("{{\n{}\"b\": 1}}", " ".repeat(60));
    let mut problems = problems(&text);
    problems.report(codes::UNKNOWN_TAG, &pointer("/b"), "m", "");
    let (at, problem) = problems.placed()[0];
    assert!(Human::new(false).show(at, problem).contains("2 |         \"b\": 1}\n  |         ^\n"));
}

#[test]
fn every_code_is_unique_documented_and_used() {
    let pages: Vec<&Page> = codes::pages().collect();
    let mut ids: Vec<&str> = pages.iter().map(|page| page.code.id()).collect();
    assert!(ids.is_sorted_by_key(|id| &id[1..]), "the catalogue is sorted by number");
    ids.sort_by_key(|id| &id[1..]);
    ids.dedup_by_key(|id| &id[1..]);
    assert_eq!(ids.len(), pages.len(), "two codes have the same number");
    let sources = rust_sources(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src"));
    for page in pages {
        assert!(!page.title.ends_with('.') && page.text.trim().len() > 60, "{} says too little", page.code);
        let used = sources.iter().any(|text| text.contains(&format!("codes::{}", page.name)));
        assert!(used, "{} ({}) is never reported", page.code, page.name);
        assert_eq!(Code::parse(&page.code.id().to_lowercase()), Some(page.code));
        assert!(page.code.page().is_some());
    }
}

/// The texts of all files but those of the catalogue and of tests.
fn rust_sources(folder: &std::path::Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts.extend(rust_sources(&path));
        } else if !path.ends_with("tests.rs") && !folder.ends_with("codes") {
            texts.push(std::fs::read_to_string(path).unwrap());
        }
    }
    texts
}
