//! The manifests of the documentation and of four systems: they compile without a word, and their tools run.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use toolgen::Program;
use toolgen::dynamic::Loader;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn compiled(loader: &Loader, name: &str) -> Program {
    let (program, problems) = loader.compile().unwrap_or_else(|why| panic!("{name}:\n{why}"));
    assert!(problems.as_slice().is_empty(), "{name}:\n{problems}");
    program
}

/// The blocks of YAML in a page, each with the number of its first line.
fn blocks(page: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in page.lines().enumerate() {
        match (&mut open, line) {
            (None, "```yaml") => open = Some((number + 2, String::new())),
            (Some(_), "```") => blocks.extend(open.take()),
            (Some((_, text)), line) => text.push_str(&format!("{line}\n")),
            (None, _) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

#[test]
fn the_manifests_of_the_documentation_compile() {
    let mut seen = 0;
    let pages = fs::read_dir(root().join("docs/manifests")).unwrap().map(|entry| entry.unwrap().path());
    for path in pages.chain([root().join("README.md")]) {
        for (line, text) in blocks(&fs::read_to_string(&path).unwrap()) {
            let name = format!("{}:{line}", path.display());
            let loader = Loader::from_str(&text).unwrap_or_else(|why| panic!("{name}:\n{why}"));
            assert!(!compiled(&loader, &name).all_tools().is_empty(), "{name} has no tools");
            seen += 1;
        }
    }
    assert!(seen > 10, "{seen} manifests");
}

fn system(name: &str) -> Program {
    let path = root().join("specs/systems").join(name);
    compiled(&Loader::from_file(path).unwrap(), name)
}

#[test]
fn the_systems_compile() {
    let tools = |name| system(name).all_tools().len();
    assert_eq!(tools("coding-team.yaml"), 24);
    assert_eq!(tools("work-dir.yaml"), 7);
    assert_eq!(tools("programs.yaml"), 10);
    assert_eq!(tools("orchestration.yaml"), 30);
}
