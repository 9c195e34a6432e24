//! Checks that every error code is in the list of codes, and that the page of the guide matches it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use toolgen_runtime::call::codes;
use toolgen_test_support::golden::assert_golden;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Collects the sources of the runtime, without tests and doc examples.
fn sources(dir: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().unwrap() != "tests" {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && path.file_name().unwrap() != "tests.rs"
        {
            let text = fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
            found.push((path.display().to_string(), code.join("\n")));
        }
    }
}

#[test]
fn every_error_code_is_listed() {
    let mut all = Vec::new();
    sources(&root().join("runtime/src"), &mut all);
    for of in fs::read_dir(root().join("runtime")).unwrap() {
        let source = of.unwrap().path().join("src");
        if source.is_dir() && !source.ends_with("core/src") {
            sources(&source, &mut all);
        }
    }
    let mut unknown = Vec::new();
    let mut seen = 0;
    for (path, text) in &all {
        for (at, _) in text.match_indices("failed_with(") {
            let rest = text[at + "failed_with(".len()..].trim_start();
            let Some(code) = rest.strip_prefix('"').and_then(|rest| rest.split('"').next()) else { continue };
            seen += 1;
            if !codes::ALL.iter().any(|(known, _)| *known == code) {
                unknown.push(format!("{path}: {code}"));
            }
        }
    }
    assert!(seen > 40, "{seen}");
    assert!(unknown.is_empty(), "not in `call::codes::ALL`: {unknown:#?}");
}

#[test]
fn error_code_page_is_up_to_date() {
    let mut page = "# Error codes

Look up the code of a failed call: `ToolError::code`, `error_code` of an audit record, `error.type` of spans and
metrics. `cargo toolgen explain CODE` shows how to fix the failure. The table lists the codes of this library. A tool
may define additional codes (`ToolError::failed_with`).

| code | meaning |
|---|---|
"
    .to_owned();
    for (code, meaning) in codes::ALL {
        writeln!(page, "| `{code}` | {} |", meaning.trim_end_matches('.')).unwrap();
    }
    page.push_str(
        "
Earlier versions wrote some codes in lower case (`missing_credential`, `http_error`). Logs, recordings and cassettes
with these codes are supported until the next minor version. `call::codes::current` returns the current form of a code.
",
    );
    assert_golden(&root().join("docs/codes.md"), &page);
}
