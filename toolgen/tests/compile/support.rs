//! What these tests share: how a document is compiled, and what it became.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolgen::{Document, Options, Problems, Program};
use toolgen_runtime::schema::shape::{Shape, render::canonical};

pub(crate) fn specs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("specs")
}

/// Compiles the document of a text, which is one.
#[track_caller]
pub(crate) fn compiled(text: &str, options: &Options) -> (Option<Program>, Problems) {
    let mut problems = Problems::new();
    let document = Document::parse(Path::new("input.yaml"), text, &mut problems).unwrap();
    let program = toolgen::compile(&document, options, &mut problems);
    (program, problems)
}

/// Compiles the document of a file, if it is one.
pub(crate) fn compiled_file(path: &Path, options: &Options) -> (Option<Program>, Problems) {
    let mut problems = Problems::new();
    let document = Document::load(path, &mut problems);
    let program = document.and_then(|document| toolgen::compile(&document, options, &mut problems));
    (program, problems)
}

/// The program of an OpenAPI document with these members.
pub(crate) fn program_of(members: &Value, options: &Options) -> Program {
    let mut whole = json!({"openapi": "3.1.0", "info": {"title": "T", "version": "1"}});
    whole.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    compiled(&whole.to_string(), options).0.unwrap()
}

/// The names of the tools of a program.
pub(crate) fn names(program: &Program) -> Vec<&str> {
    program.tools.iter().map(|tool| tool.spec.name.as_str()).collect()
}

/// What the first line of a document sets for its test: `# KEY: VALUE`.
pub(crate) fn set<'t>(text: &'t str, key: &str) -> &'t str {
    let line = text.lines().next().and_then(|line| line.strip_prefix("# ")?.strip_prefix(key));
    line.and_then(|rest| rest.strip_prefix(':')).unwrap_or_default()
}

/// A shape as the JSON that says everything of it.
pub(crate) fn of_shape(shape: &Shape) -> Value {
    serde_json::from_str(&canonical(shape)).unwrap()
}
