//! One folder a case: `prose/CASE/input.yaml` is documented and linted as `expected.md` says, level by level.
//!
//! `TOOLGEN_UPDATE=1` writes the files anew; read the difference before you keep it. The first line of an input may set
//! `# options: results=true dialect=NAME group=category`.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use toolgen::{Code, Document, Options, Problems, Program, catalogue};
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::spec::docs::{self, Group, Level, Style};
use toolgen_runtime::spec::lint::Lint;

use toolgen_test_support::golden;

use crate::support::set;

fn compiled(text: &str, options: &Options) -> (Program, Problems) {
    let mut problems = Problems::new();
    let document = Document::parse(Path::new("input.yaml"), text, &mut problems).unwrap();
    let program = toolgen::compile(&document, options, &mut problems).unwrap();
    toolgen::lint(&document, &program, options, &mut problems);
    (program, problems)
}

/// Returns everything that is said of the tools of a document.
fn told(text: &str) -> String {
    let (program, problems) = compiled(text, &Options::default());
    let tools = program.all_tools();
    let specs = tools.iter().map(|tool| &tool.spec);
    let mut style = Style::new(Level::Index);
    let mut groups = vec![Group { name: "", description: "", specs: specs.clone().collect() }];
    for option in set(text, "options").split_whitespace() {
        match option.split_once('=').unwrap() {
            ("results", "true") => style.results = true,
            ("dialect", name) => style.dialect = Some(Dialect::by_name(name).unwrap()),
            ("group", "category") => groups = docs::by_category(specs.clone()),
            ("group", "toolset") => groups = docs::by_toolset(specs.clone(), &program.toolsets),
            other => panic!("{other:?}"),
        }
    }
    let mut out = String::new();
    for level in Level::ALL {
        style.level = level;
        let markdown = docs::grouped(&groups, &style);
        writeln!(out, "# {}\n\n{markdown}\n```json\n{}\n```\n", level.name(), docs::json(&groups, &style))
            .unwrap();
    }
    writeln!(out, "# Lints\n").unwrap();
    for (at, problem) in problems.placed() {
        writeln!(out, "- {}:{} {} {}", at.line, at.column, problem.code, problem.message).unwrap();
    }
    out
}

#[test]
fn descriptions_and_lints_snapshot() {
    let all = RefCell::new(String::new());
    let cases = golden::cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/prose"));
    golden::assert_cases(&cases, "expected.md", |case| {
        let text = fs::read_to_string(case.join("input.yaml")).unwrap();
        let found = told(&text);
        assert_eq!(found, told(&text), "{} is told differently each time", case.display());
        all.borrow_mut().push_str(&found);
        found
    });
    let all = all.into_inner();
    for lint in Lint::ALL {
        assert!(all.contains(&format!(" {} ", lint.code())), "no case has {}", lint.code());
    }
}

#[test]
fn every_lint_has_a_page() {
    for lint in Lint::ALL {
        let code = catalogue::find(lint.code()).unwrap();
        assert_eq!(code.id(), lint.code());
    }
}

const TEXT: &str = "openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths:\n  \
    /a: {get: {operationId: getA, parameters: [{name: timeout, in: query, description: Long, \
    schema: {type: integer}}], responses: {}}}";

/// The codes and severities of the lints with some levels.
fn found(options: &Options) -> Vec<String> {
    let problems = compiled(TEXT, options).1;
    let message = |code: Code, severity| format!("{code} {severity}");
    let mut found: Vec<String> =
        problems.as_slice().iter().map(|one| message(one.code, one.severity())).collect();
    found.sort();
    found
}

#[test]
fn lint_levels_are_configurable() {
    let options = Options::default;
    assert_eq!(found(&options()), ["N0706 note", "W0701 warning"]);
    assert_eq!(found(&options().allow("w0701")), ["N0706 note"]);
    assert_eq!(found(&options().deny("N0706")), ["N0706 error", "W0701 warning"]);
    assert_eq!(found(&options().deny("warnings")), ["N0706 note", "W0701 error"]);
    assert_eq!(found(&options().allow("warnings").warn("N0706")), ["N0706 warning"]);
    assert_eq!(found(&options().deny("warnings").warn("N0706")), ["N0706 error", "W0701 error"]);
    assert_eq!(found(&options().deny("warnings").allow("W0701")), ["N0706 note"]);
    assert_eq!(found(&options().allow("N9999")), ["E0338 error", "N0706 note", "W0701 warning"]);
    assert_eq!(found(&options().deny("warnngs")), ["E0338 error", "N0706 note", "W0701 warning"]);
    assert_eq!(found(&options().allow("E0104")), ["N0706 note", "W0336 warning", "W0701 warning"]);
    assert_eq!(found(&options().deny("E0104")), ["N0706 note", "W0701 warning"]);
}

#[test]
fn options_override_lint_levels_of_a_manifest() {
    let text = "toolgen: 1\nlints: {deny: [N0706, warnings], allow: N0703}\ntools:\n  \
        wait: {description: Waits., function: {}, parameters: {timeout: integer - How long.}}";
    let severities = |options: &Options| -> Vec<String> {
        let problems = compiled(text, options).1;
        problems.as_slice().iter().map(|one| format!("{} {}", one.code, one.severity())).collect()
    };
    assert_eq!(severities(&Options::default()), ["N0706 error"]);
    assert_eq!(severities(&Options::default().allow("N0706").warn("N0703")), ["N0703 error"]);
    let (program, problems) = compiled(text, &Options::default());
    assert!(problems.has_denied() && problems.has_errors() && program.tools.len() == 1);
}
