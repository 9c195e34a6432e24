//! Manifests: one folder each for a mistake, with all that a user is told, and the exact tools of the examples.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toolgen::problem::{Human, shown};
use toolgen::{Document, Frontend, Options, Problems, Program};

#[path = "../../tests/src/golden.rs"]
mod golden;

fn folders(name: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/manifests").join(name);
    let mut folders: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    folders
}

fn compile(path: &Path) -> (Option<Program>, Problems) {
    let mut problems = Problems::new();
    let document = Document::load(path, &mut problems);
    let program = document.and_then(|one| toolgen::compile(&one, &Options::default(), &mut problems));
    (program, problems)
}

/// What a user reads: every problem, and the tools that are left.
fn told(folder: &Path) -> String {
    let (program, problems) = compile(&folder.join("manifest.yaml"));
    let mut human = Human::new(false);
    let mut text = String::new();
    for problem in shown(&problems) {
        text.push_str(&human.show_all(&problem));
        text.push('\n');
    }
    let names = program.map(|program| {
        program.tools.iter().map(|tool| tool.spec.name.to_string()).collect::<Vec<_>>().join(", ")
    });
    let left = match names.as_deref() {
        None => "nothing is compiled",
        Some("") => "no tool is left",
        Some(names) => &format!("tools: {names}"),
    };
    // The same on every machine.
    let folder = format!("{}/", folder.display());
    format!("{text}{left}\n").replace(&folder, "")
}

#[test]
fn mistakes_are_told() {
    let mut wrong = Vec::new();
    let folders = folders("bad");
    for folder in &folders {
        wrong.extend(golden::compare(&folder.join("expected.txt"), &told(folder)).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(folders.len() >= 60, "only {} bad manifests", folders.len());
}

/// Every problem that a manifest can have is told in one of the bad ones.
#[test]
fn every_code_has_a_bad_manifest() {
    let told: String = folders("bad")
        .iter()
        .map(|folder| fs::read_to_string(folder.join("expected.txt")).unwrap())
        .collect();
    let manifest: &dyn Frontend =
        *toolgen::frontend::all().iter().find(|front_end| front_end.name() == "manifest").unwrap();
    let untold: BTreeSet<&str> = manifest
        .codes()
        .iter()
        .map(|code| code.id())
        .filter(|id| !told.contains(&format!("[{id}]")))
        .collect();
    assert!(untold.is_empty(), "no bad manifest has {untold:?}");
}

/// The examples are without a fault.
#[test]
fn examples_have_no_problems() {
    let specs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs");
    let mut compiled = 0;
    for entry in fs::read_dir(specs).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("manifest-") && name.ends_with(".yaml") {
            let (program, problems) = compile(&path);
            assert_eq!(problems.to_string(), "");
            let program = program.unwrap();
            assert_eq!(program.tools.len(), program.operations, "{name}");
            compiled += 1;
        }
    }
    assert!(compiled >= 3);
}
