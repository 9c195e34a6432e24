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
use super::super::generate::foreign;
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
        output.complain("`--emit` takes one document: a test file covers the tools of one module");
        return Ok(Outcome::Usage);
    };
    let (Some(dir), Some(name)) = (file.parent(), file.file_name()) else {
        output.complain(&format!("`--emit {}` names no file", file.display()));
        return Ok(Outcome::Usage);
    };
    let mut files = Files::default();
    let document = document.file_name().unwrap_or_default().to_string_lossy();
    files.insert(&name.to_string_lossy(), text(&document, tools, all));
    if !task.force && foreign(dir, &files, output) {
        return Ok(Outcome::Problems);
    }
    if let Err(error) = files.write(dir) {
        output.complain(&error.to_string());
        return Ok(Outcome::Problems);
    }
    output.line(&format!("{}: tests of {} tools", file.display(), tools.len()))?;
    output.note("the tests need `cargo add --dev serde_json` and `cargo add --dev tokio --features rt`");
    Ok(Outcome::Fine)
}

fn text(document: &str, tools: &[&Tool], all: &[Tool]) -> String {
    let module = emit::module_name(document, &mut Vec::new());
    let out = HEAD.replace("MODULE", &module).replace("MARK", &emit::mark());
    // Replaced last, because a file name may contain any text.
    let mut out = out.replace("DOCUMENT", &emit::visible(document));
    let mut taken = vec!["check".to_owned()];
    for tool in tools {
        let subject = Subject::new(tool, all, &CancellationToken::new());
        let name = tool.spec.name.as_str();
        let function = emit::module_name(name, &mut taken);
        let _ = writeln!(out, "\n#[test]\nfn {function}() {{\n    check(\n        {name:?},\n        &[");
        for (arguments, _) in &subject.accepted {
            let _ = writeln!(out, "            {},", emit::string_literal(&arguments.to_string()));
        }
        let _ = writeln!(out, "        ],\n        &[");
        for (what, arguments) in &subject.refused {
            let _ = writeln!(
                out,
                "            ({}, {}),",
                emit::string_literal(what),
                emit::string_literal(&arguments.to_string())
            );
        }
        let _ = writeln!(out, "        ],\n    );\n}}");
    }
    for (name, text) in MODULES {
        module_of(name, text, &mut out);
    }
    let has = |wanted: fn(&ExecutionPlan) -> bool| all.iter().any(|tool| wanted(&tool.call));
    // Without such tools, the project may lack the runtime features for them.
    let none = |name, result, value| {
        format!(
            "//! A placeholder: no test needs this.\n\nuse std::sync::Arc;\n\nuse toolgen_runtime::engine::Engines;\n\n\
             use super::simulation::Simulation;\n\npub(super) fn {name}(engines: Engines, _: &Arc<Simulation>) -> {result} {{\n    \
             {value}\n}}\n"
        )
    };
    let fake_executor = match has(|call| matches!(call, ExecutionPlan::Command(_))) {
        true => include_str!("fake_executor.rs").to_owned(),
        false => none("with_commands", "Engines", "engines"),
    };
    let server = match has(|call| matches!(call, ExecutionPlan::Http(_))) {
        true => include_str!("server.rs").to_owned(),
        false => none("with_http", "Result<Engines, String>", "Ok(engines)"),
    };
    module_of("fake_executor", &fake_executor, &mut out);
    module_of("server", &server, &mut out);
    out
}

/// Adds a module without its `#[cfg(test)]` part.
fn module_of(name: &str, text: &str, out: &mut String) {
    let text = text.split("\n#[cfg(test)]").next().unwrap_or_default().trim_end();
    let _ = writeln!(out, "\nmod {name} {{\n{text}\n}}");
}

#[cfg(test)]
mod tests {
    use toolgen_runtime::spec::plan::{ExecutionPlan, Tool};
    use toolgen_runtime::{Text, ToolName, ToolSpec};

    use super::{HEAD, MODULES, text};

    #[test]
    fn document_text_never_becomes_code() {
        let schema = serde_json::json!({"type": "object", "properties": {
            "evil\r\nfn evil() {}\u{202e}": {"type": "string", "default": "\u{202e}\"#"}}});
        let input = toolgen_runtime::schema::shape::read::read(&schema, &mut Vec::new());
        let name = ToolName::new("a");
        let spec =
            ToolSpec { name, description: Text::from("Does it."), input: input.into(), ..ToolSpec::EMPTY };
        let tool = Tool { spec, call: ExecutionPlan::Function };
        let written = text("MARK`\nfn evil() {}.yaml", &[&tool], std::slice::from_ref(&tool));
        assert!(!written.lines().any(|line| line.starts_with("fn evil")), "{written}");
        assert!(written.contains("with a wrong `evil\\r\\nfn evil() {}\\u{202e}`"), "{written}");
        assert!(!written.contains(['\r', '\u{202e}']), "{written}");
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
