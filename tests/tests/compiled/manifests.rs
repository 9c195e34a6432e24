//! The manifests of four systems compile without diagnostics, and their tools run.

use toolgen::Program;
use toolgen::dynamic::Loader;
use toolgen_test_support::pages::root;

fn compiled(loader: &Loader, name: &str) -> Program {
    let (program, problems) = loader.compile().unwrap_or_else(|error| panic!("{name}:\n{error}"));
    assert!(problems.as_slice().is_empty(), "{name}:\n{problems}");
    program
}

fn system(name: &str) -> Program {
    let path = root().join("specs/systems").join(name);
    compiled(&Loader::from_file(path).unwrap(), name)
}

#[test]
fn example_systems_compile() {
    let tools = |name| system(name).all_tools().len();
    assert_eq!(tools("coding-team.yaml"), 24);
    assert_eq!(tools("work-dir.yaml"), 7);
    assert_eq!(tools("programs.yaml"), 10);
    assert_eq!(tools("orchestration.yaml"), 30);
}
