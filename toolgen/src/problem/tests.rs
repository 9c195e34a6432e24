use std::path::PathBuf;

use serde_json::json as value;

use super::*;
use crate::frontend::openapi;

fn problems(text: &str) -> Problems {
    let mut problems = Problems::new();
    let source = Source { path: PathBuf::from("a.json"), text: text.to_owned(), ..Source::default() };
    problems.set_source(Arc::new(source));
    problems
}

fn pointer(text: &str) -> Pointer {
    Pointer::parse(text).unwrap()
}

#[test]
fn duplicate_problem_is_kept_once() {
    let mut problems = problems("{}");
    for message in ["one", "one", "two"] {
        problems.report(codes::DUPLICATE_KEY, &pointer("/a"), message, "help");
    }
    assert_eq!(problems.as_slice().len(), 2);
    assert_eq!((problems.count(Severity::Error), problems.has_errors()), (2, true));
}

#[test]
fn problems_are_sorted_by_location() {
    let mut problems = problems("{\n\"a\": 1,\n\"b\": 2}");
    problems.report(codes::UNKNOWN_TAG, &pointer("/b"), "third", "");
    problems.report(codes::UNKNOWN_TAG, &pointer("/a"), "first", "");
    problems.report_at(codes::UNKNOWN_TAG, pointer("/a"), Position { line: 2, column: 9 }, "second", "");
    let order: Vec<_> = problems.placed().into_iter().map(|(at, p)| (at.line, p.message.clone())).collect();
    assert_eq!(order, [(2, "first".into()), (2, "second".into()), (3, "third".into())]);
}

#[test]
fn json_output_has_all_fields() {
    let mut problems = problems("{\n\"a\": 1}");
    problems.report(codes::DUPLICATE_KEY, &pointer("/a"), "twice", "once");
    let (at, problem) = problems.placed()[0];
    let want = value!({"code": "E0106", "severity": "error", "file": "a.json", "line": 2, "column": 1, "pointer": "/a",
        "message": "twice", "help": "once"});
    assert_eq!(json(at, problem), want);
}

#[test]
fn text_output_shows_the_line_with_a_marker() {
    let mut problems = problems("{\n  \"ä\": {\"bad\": 1}}");
    problems.report(codes::UNKNOWN_TAG, &pointer("/ä/bad"), "this is \u{1b}[31mbad", "make it good");
    let (at, problem) = problems.placed()[0];
    let want = "warning[W0115]: this is  [31mbad\n --> a.json:2:9\n  |\n2 |   \"ä\": {\"bad\": 1}}\n  |         ^\n  \
                = at /ä/bad\n  = help: make it good\n";
    assert_eq!(HumanRenderer::new(false).show(at, problem), want);
    assert!(HumanRenderer::new(true).show(at, problem).contains("\u{1b}[1;33mwarning[W0115]\u{1b}[0m"));
}

/// A character that changes the text direction would hide the error.
#[test]
fn control_characters_of_a_document_are_escaped() {
    let mut problems = problems("{\n\"a\u{202e}b\": \"\u{2066}\u{200b}c\"}");
    problems.report(
        codes::UNKNOWN_TAG,
        &pointer("/a\u{202e}b"),
        "this is \u{202e}bad\u{2028}",
        "make\u{feff} it good",
    );
    let (at, problem) = problems.placed()[0];
    let displayed = HumanRenderer::new(false).show(at, problem);
    assert!(displayed.contains("this is  bad ") && displayed.contains("\"a b\": \"  c\""), "{displayed}");
    assert!(displayed.chars().all(|char| char.is_ascii_graphic() || char.is_whitespace()), "{displayed}");
    assert!(!displayed.contains('\u{2028}'));
}

#[test]
fn long_lines_are_truncated_around_the_location() {
    let text = format!("{{\"a\": \"{}\", \"b\": 1, \"c\": \"{}\"}}", "x".repeat(5000), "y".repeat(5000));
    let mut problems = problems(&text);
    problems.report(codes::UNKNOWN_TAG, &pointer("/b"), "m", "");
    let (at, problem) = problems.placed()[0];
    let displayed = HumanRenderer::new(false).show(at, problem);
    let lines: Vec<&str> = displayed.lines().collect();
    let column = lines[4].chars().position(|c| c == '^').unwrap();
    assert!(lines[3].chars().skip(column).collect::<String>().starts_with("\"b\": 1"), "{displayed}");
    assert!(lines[3].chars().count() < 130);
}

#[test]
fn deep_indentation_is_truncated() {
    let text = format!("{{\n{}\"b\": 1}}", " ".repeat(60));
    let mut problems = problems(&text);
    problems.report(codes::UNKNOWN_TAG, &pointer("/b"), "m", "");
    let (at, problem) = problems.placed()[0];
    assert!(HumanRenderer::new(false).show(at, problem).contains("2 |         \"b\": 1}\n  |         ^\n"));
}

#[test]
fn problem_with_many_locations_is_shown_once() {
    let mut problems = problems("{\n\"a\": 1,\n\"b\": 2,\n\"c\": 3}");
    for location in ["/b", "/a", "/c"] {
        problems.report(openapi::codes::MISSING_REF, &pointer(location), "`x` does not resolve", "add it");
    }
    problems.report(openapi::codes::MISSING_REF, &pointer("/b"), "`y` does not resolve", "");
    let displayed: Vec<String> =
        grouped(&problems).iter().map(|one| HumanRenderer::new(false).show_all(one)).collect();
    let [x, y] = displayed.as_slice() else { panic!("{displayed:?}") };
    assert!(x.contains("--> a.json:2:1") && x.contains("= also at 3:1, 4:1\n"), "{x}");
    assert!(!y.contains("also"), "{y}");
    assert_eq!(
        problems.to_string(),
        "a.json:2:1: `x` does not resolve [W0305]; add it (and at 2 other places)\n\
         a.json:3:1: `y` does not resolve [W0305]"
    );
    let many: Vec<Position> = (1..=20).map(|line| Position { line, column: 1 }).collect();
    let message = HumanRenderer::new(false).show_all(&GroupedProblem {
        position: many[0],
        problem: &problems.as_slice()[0],
        others: many,
    });
    assert!(message.contains("7:1, 8:1 and 12 more places\n"), "{message}");
}

#[test]
fn debug_output_omits_the_document() {
    let mut problems = problems(&format!("{{\"a\": \"{}\"}}", "x".repeat(100_000)));
    problems.report(codes::DUPLICATE_KEY, &pointer("/a"), "twice", "once");
    let text = format!("{problems:?}");
    assert!(text.contains("E0106") && text.contains("twice") && text.len() < 500, "{text}");
}

#[test]
fn selection_matching_one_of_several_documents_is_accepted() {
    let of = |chosen: &[&str]| {
        let mut problems = problems("{}");
        problems.report(codes::UNKNOWN_TAG, &Pointer::ROOT, "of the document", "");
        for message in chosen {
            problems.report(codes::SELECTOR, &Pointer::ROOT, *message, "");
        }
        problems
    };
    let (mut left, mut right) = (of(&["a", "b"]), of(&["b"]));
    keep_common([&mut left, &mut right]);
    for problems in [left, right] {
        let messages: Vec<&str> = problems.as_slice().iter().map(|one| one.message.as_str()).collect();
        assert_eq!(messages, ["of the document", "b"]);
    }
}
