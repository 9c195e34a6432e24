//! The oracle of the compiler: a tool that rustc compiled equals the value it was made from, for every document.

use std::path::Path;

use toolgen::{Document, Options, Problems, frontend::openapi};
use toolgen_runtime::{Tool, TypedTool};

/// In the way the documentation shows.
pub mod bookshop {
    toolgen_runtime::include_tools!("bookshop");
}

/// Under a name of its own, without the implicit prelude.
#[no_implicit_prelude]
pub mod tasks {
    ::toolgen_runtime::include_tools!("tasks");
}

fn assert_equal(name: &str, compiled: &[&Tool]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs").join(name);
    let mut problems = Problems::new();
    let document = Document::load(&path, &mut problems).unwrap();
    let program = openapi::lower(&document, &Options::default(), &mut problems).unwrap();
    assert_eq!(compiled.len(), program.tools.len());
    assert!(!compiled.is_empty());
    for (compiled, lowered) in compiled.iter().zip(&program.tools) {
        assert_eq!(**compiled, lowered.tool);
    }
}

#[test]
fn compiled_tools_equal_lowered_ones() {
    assert_equal("bookshop.yaml", bookshop::TOOLS);
    assert_equal("tasks.yaml", tasks::TOOLS);
}

#[test]
fn every_example_document_is_compiled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs");
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    names.sort();
    assert_eq!(names, ["bookshop.yaml", "tasks.yaml"], "compile the new one in build.rs and above");
}

#[test]
fn arguments_keep_null_and_absence_apart() {
    let call = bookshop::ChangeBook { isbn: "1".to_owned(), subtitle: Some(None), price: None, type_: None };
    let arguments = call.into_arguments().unwrap();
    assert_eq!(arguments, serde_json::json!({"isbn": "1", "subtitle": null}));
}

#[test]
fn results_are_read_leniently() {
    let book = serde_json::json!({
        "isbn": "1", "title": "A", "unknown": 1, "state": "lost", "pages": "xii",
        "sequel": {"isbn": "2", "title": "B", "pages": 7},
    });
    let book: bookshop::Book = serde_json::from_value(book).unwrap();
    assert_eq!(book.state, Some(bookshop::State::Other("lost".to_owned())));
    assert_eq!(book.sequel.unwrap().title, "B");
    let missing = serde_json::from_value::<bookshop::Book>(serde_json::json!({"isbn": "1"})).unwrap_err();
    assert_eq!(missing.to_string(), "a required field is missing at /title");
}
