//! Overlays as options, and as documents that name what they change.

use std::path::{Path, PathBuf};

use toolgen::{Build, Options, Program};

use crate::support::{compiled_file, names};

const FOLDER: &str = "tests/overlays";

fn path(name: &str) -> PathBuf {
    Path::new(FOLDER).join(name)
}

fn compiled(name: &str, options: &Options) -> (Option<Program>, String) {
    let (program, problems) = compiled_file(&path(name), options);
    (program, problems.to_string())
}

#[test]
fn overlays_apply_in_the_order_of_the_options() {
    let options = Options::default().overlay(path("rename.yaml")).overlay(path("remove.yaml"));
    let (program, problems) = compiled("api.yaml", &options);
    assert_eq!(names(&program.unwrap()), ["shelve", "toys"], "{problems}");
    let options = Options::default().overlay(path("remove.yaml")).overlay(path("rename.yaml"));
    let (program, problems) = compiled("api.yaml", &options);
    assert_eq!(names(&program.unwrap()), ["toys"]);
    assert!(problems.contains("rename.yaml") && problems.contains("W0503"), "{problems}");
}

#[test]
fn overlay_extending_a_file_changes_only_that_file() {
    let options = Options::default().overlay(path("extends.yaml"));
    let (program, problems) = compiled("api.yaml", &options);
    assert_eq!((names(&program.unwrap()), problems.as_str()), (vec!["pets", "shelf"], ""));
    let (program, problems) = compiled("other.yaml", &options);
    assert_eq!(names(&program.unwrap()), ["toys"]);
    assert!(problems.contains("N0505") && problems.contains("api.yaml"), "{problems}");
}

#[test]
fn overlay_naming_its_document_compiles_it() {
    let (program, problems) = compiled("extends.yaml", &Options::default());
    let program = program.unwrap();
    assert_eq!((program.sources.as_slice(), problems.as_str()), ([path("api.yaml")].as_slice(), ""));
    assert!(program.tools.iter().all(|tool| tool.origin.source.path == path("api.yaml")));
    assert_eq!(names(&program), ["pets", "shelf"]);
}

#[test]
fn invalid_overlay_gives_no_tools() {
    for (name, message) in [
        ("remove.yaml", "does not name one (`extends`)"),
        ("outside.yaml", "which is outside its directory"),
        ("remote.yaml", "which is not a file next to it"),
        ("missing.yaml", "which does not exist"),
    ] {
        let (program, problems) = compiled(name, &Options::default());
        assert!(program.is_none() && problems.contains("E0501") && problems.contains(message), "{problems}");
    }
    for overlay in ["wrong.yaml", "nowhere.yaml"] {
        let (program, problems) = compiled("api.yaml", &Options::default().overlay(path(overlay)));
        assert!(program.is_none(), "{overlay}: {problems}");
    }
    let options = Options::default().root("tests/files");
    assert!(compiled("outside.yaml", &options).0.is_some());
}

#[test]
fn changed_overlay_triggers_a_rebuild() {
    let options = Options::default().overlay(path("remove.yaml"));
    let built = Build::new("a").options(options).document(path("api.yaml")).compile();
    assert_eq!(built.sources, [path("remove.yaml")]);
}
