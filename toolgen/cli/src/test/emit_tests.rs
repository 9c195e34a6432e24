//! Writes the tests of tools as a Rust file.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use toolgen::emit;
use toolgen::write::Files;
use toolgen_runtime::CancellationToken;
use toolgen_runtime::spec::plan::{ExecutionPlan, Tool};

use super::super::Outcome;
use super::super::args::Test;
use super::super::generate::has_handwritten;
use super::super::output::Output;
use super::checks::Subject;

/// The start of the file, after the line with its name.
const HEAD: &str = include_str!("emit_tests/head.rs.txt");

/// The modules of this command that run the tests; each becomes a module of the file.
const MODULES: [(&str, &str); 3] = [
    ("simulation", include_str!("simulation.rs")),
    ("checks", include_str!("checks.rs")),
    ("sample", include_str!("sample.rs")),
];

/// Writes the file. Returns `Problems` if it cannot be written, or if toolgen did not generate the existing one.
pub(super) fn run(
    task: &Test,
    file: &Path,
    tools: &[&Tool],
    all: &[Tool],
    output: &mut Output,
) -> io::Result<Outcome> {
    let [document] = task.selection.documents() else {
        output.error("`--emit` takes one document: a test file covers the tools of one module");
        return Ok(Outcome::Usage);
    };
    let (Some(dir), Some(name)) = (file.parent(), file.file_name()) else {
        output.error(&format!("`--emit {}` names no file", file.display()));
        return Ok(Outcome::Usage);
    };
    let mut files = Files::default();
    let document = document.file_name().unwrap_or_default().to_string_lossy();
    files.insert(&name.to_string_lossy(), test_file(&document, tools, all));
    if !task.force && has_handwritten(dir, &files, output) {
        return Ok(Outcome::Problems);
    }
    if let Err(error) = files.write(dir) {
        output.error(&error.to_string());
        return Ok(Outcome::Problems);
    }
    output.line(&format!("{}: tests of {} tools", file.display(), tools.len()))?;
    output.note("the tests need `cargo add --dev serde_json` and `cargo add --dev tokio --features rt`");
    Ok(Outcome::Fine)
}

fn test_file(document: &str, tools: &[&Tool], all: &[Tool]) -> String {
    let module = emit::module_name(document, &mut Vec::new());
    let out = HEAD.replace("MODULE", &module).replace("MARK", &emit::mark());
    // Replaced last, because a file name may contain any text.
    let mut out = out.replace("DOCUMENT", &emit::visible(document));
    let mut used_names = vec!["check".to_owned()];
    for tool in tools {
        let subject = Subject::new(tool, all, &CancellationToken::new());
        let name = tool.spec.name.as_str();
        let function = emit::module_name(name, &mut used_names);
        let _ = writeln!(out, "\n#[test]\nfn {function}() {{\n    check(\n        {name:?},\n        &[");
        for (arguments, _) in &subject.accepted {
            let _ = writeln!(out, "            {},", emit::string_literal(&arguments.to_string()));
        }
        let _ = writeln!(out, "        ],\n        &[");
        for (defect, arguments) in &subject.refused {
            let _ = writeln!(
                out,
                "            ({}, {}),",
                emit::string_literal(defect),
                emit::string_literal(&arguments.to_string())
            );
        }
        let _ = writeln!(out, "        ],\n    );\n}}");
    }
    for (name, text) in MODULES {
        write_module(name, text, &mut out);
    }
    let has_call = |is_kind: fn(&ExecutionPlan) -> bool| all.iter().any(|tool| is_kind(&tool.call));
    // Without such tools, the project may lack the runtime features for them.
    let placeholder = |name, result, value| {
        format!(
            "//! A placeholder: no test needs this.\n\nuse std::sync::Arc;\n\nuse toolgen_runtime::engine::Engines;\n\n\
             use super::simulation::Simulation;\n\npub(super) fn {name}(engines: Engines, _: &Arc<Simulation>) -> {result} {{\n    \
             {value}\n}}\n"
        )
    };
    let fake_executor = match has_call(|call| matches!(call, ExecutionPlan::Command(_))) {
        true => include_str!("fake_executor.rs").to_owned(),
        false => placeholder("with_commands", "Engines", "engines"),
    };
    let server = match has_call(|call| matches!(call, ExecutionPlan::Http(_))) {
        true => include_str!("server.rs").to_owned(),
        false => placeholder("with_http", "Result<Engines, String>", "Ok(engines)"),
    };
    write_module("fake_executor", &fake_executor, &mut out);
    write_module("server", &server, &mut out);
    out
}

/// Adds a module without its `#[cfg(test)]` part.
fn write_module(name: &str, text: &str, out: &mut String) {
    let text = text.split("\n#[cfg(test)]").next().unwrap_or_default().trim_end();
    let _ = writeln!(out, "\nmod {name} {{\n{text}\n}}");
}

#[cfg(test)]
mod tests {
    use toolgen_runtime::spec::plan::{ExecutionPlan, Tool};
    use toolgen_runtime::{Text, ToolName, ToolSpec};

    use super::{HEAD, MODULES, test_file};

    #[test]
    fn document_text_never_becomes_code() {
        let schema = serde_json::json!({"type": "object", "properties": {
            "evil\r\nfn evil() {}\u{202e}": {"type": "string", "default": "\u{202e}\"#"}}});
        let input = toolgen_runtime::schema::shape::read::read(&schema, &mut Vec::new());
        let name = ToolName::new("a");
        let spec =
            ToolSpec { name, description: Text::from("Does it."), input: input.into(), ..ToolSpec::EMPTY };
        let tool = Tool { spec, call: ExecutionPlan::Function };
        let file_text = test_file("MARK`\nfn evil() {}.yaml", &[&tool], std::slice::from_ref(&tool));
        assert!(!file_text.lines().any(|line| line.starts_with("fn evil")), "{file_text}");
        assert!(file_text.contains("with a wrong `evil\\r\\nfn evil() {}\\u{202e}`"), "{file_text}");
        assert!(!file_text.contains(['\r', '\u{202e}']), "{file_text}");
    }

    /// The written tests depend only on the runtime and on the crates that `run` reports.
    #[test]
    fn written_test_file_uses_available_crates_only() {
        let others = [include_str!("fake_executor.rs"), include_str!("server.rs"), HEAD];
        for text in MODULES.map(|(_, text)| text).into_iter().chain(others) {
            let text = text.split("\n#[cfg(test)]").next().unwrap();
            for line in text.lines().filter_map(|line| line.trim().strip_prefix("use ")) {
                let root = line.split([':', ';', ' ']).next().unwrap();
                let known = ["std", "super", "checks", "serde_json", "tokio", "toolgen_runtime"];
                assert!(known.contains(&root), "{line}");
            }
        }
    }
}
