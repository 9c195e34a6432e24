//! Manifests: one folder each for a mistake, with all that a user is told, and for what manifests become, value by
//! value.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use toolgen::problem::{HumanRenderer, grouped};
use toolgen::{Frontend, Options, Problems, Program, contract};
use toolgen_runtime::spec::Projection;

use toolgen_test_support::{golden, scratch::Folder};

use crate::support::{compiled, compiled_file, names, specs};

fn folders(name: &str) -> Vec<PathBuf> {
    golden::cases(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/manifests").join(name))
}

fn compile(path: &Path) -> (Option<Program>, Problems) {
    compiled_file(path, &Options::default())
}

/// What a user reads: every problem, and the tools that are left.
fn told(dir: &Path) -> String {
    let (program, problems) = compile(&dir.join("manifest.yaml"));
    let mut human = HumanRenderer::new(false);
    let mut text = String::new();
    for problem in grouped(&problems) {
        text.push_str(&human.show_all(&problem));
        text.push('\n');
    }
    let names = program.map(|program| names(&program).join(", "));
    let left = match names.as_deref() {
        None => "nothing is compiled",
        Some("") => "no tool is left",
        Some(names) => &format!("tools: {names}"),
    };
    // The same on every machine.
    let dir = format!("{}/", dir.display());
    format!("{text}{left}\n").replace(&dir, "")
}

#[test]
fn manifest_errors_snapshot() {
    let dirs = [folders("bad"), folders("unreadable")].concat();
    golden::assert_cases(&dirs, "expected.txt", told);
    assert!(dirs.len() >= 60, "only {} bad manifests", dirs.len());
}

/// Every problem that a manifest can have is told in one of the bad ones.
#[test]
fn every_code_has_an_invalid_manifest() {
    let message: String =
        folders("bad").iter().map(|dir| fs::read_to_string(dir.join("expected.txt")).unwrap()).collect();
    let manifest: &dyn Frontend =
        *toolgen::frontend::all().iter().find(|front_end| front_end.name() == "manifest").unwrap();
    let untold: BTreeSet<&str> = manifest
        .codes()
        .iter()
        .map(|code| code.id())
        .filter(|id| !message.contains(&format!("[{id}]")))
        .collect();
    assert!(untold.is_empty(), "no bad manifest has {untold:?}");
}

/// The contract of each tool of a manifest without a fault, and all that its call is.
fn became(dir: &Path) -> String {
    let (program, problems) = compile(&dir.join("manifest.yaml"));
    assert_eq!(problems.to_string(), "", "{}", dir.display());
    let program = program.unwrap();
    let mut message = contract::surface(&[&program]).unwrap().text();
    for rule in program.rules.as_slice() {
        message.push_str(&format!("\n{} {rule} {}\n", rule.place(), rule.reason()));
    }
    for tool in &program.tools {
        // The contract leaves out what no caller relies on.
        let left_out = (&tool.spec.string_arguments, tool.spec.output_may_differ);
        message.push_str(&format!("\n{} {left_out:?} {:#?}\n", tool.spec.name, tool.call));
    }
    message
}

#[test]
fn compiled_manifests_snapshot() {
    golden::assert_cases(&folders("good"), "expected.txt", became);
}

#[test]
fn options_select_rename_and_prefix_tools() {
    let text = "toolgen: 1
namespace: own
tools:
  a: {description: A., category: x, function: {}}
  b: {description: B., category: y, deprecated: true, function: {}}
  c: {agent: {tools: [a]}}";
    let options = Options::default;
    for (options, expected) in [
        (options(), "own__a own__b own__c"),
        (options().namespace("n").exclude("b"), "n__a n__c"),
        (options().include("tag:y"), "own__b"),
        (options().deprecated(false).rename("a", "z"), "own__c own__z"),
    ] {
        assert_eq!(names(&compiled(text, &options).0.unwrap()).join(" "), expected);
    }
}

#[test]
fn option_adds_the_argument_for_fields() {
    let text = "toolgen: 1
tools:
  a: {description: A., function: {}, output: {type: array, items: {type: object, properties: {id: integer}}}}
  b: {description: B., function: {}, output: {type: string}}";
    for (projection, expected) in [
        (Projection::Off, ["", ""]),
        (Projection::Always, ["fields", ""]),
        (Projection::Above(10), ["fields", ""]),
        (Projection::Above(1_000), ["", ""]),
    ] {
        let program = compiled(text, &Options::default().projection(projection)).0.unwrap();
        let names: Vec<&str> = program.tools.iter().map(|tool| tool.spec.projection.as_str()).collect();
        assert_eq!(names, expected, "{projection}");
    }
}

/// The examples are without a fault.
#[test]
fn example_manifests_have_no_problems() {
    let mut compiled = 0;
    for entry in fs::read_dir(specs()).unwrap() {
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

/// A manifest with one tool, whose argument has this schema.
fn referring_to(reference: &str) -> String {
    format!(
        "toolgen: 1\ntools:\n  t:\n    description: T.\n    parameters: {{a: {{$ref: '{reference}', description: A.}}}}\n    function: {{}}\n"
    )
}

const POINT: &str = "Point: {type: object, properties: {x: {$ref: 'more/number.yaml'}}}\n";

#[test]
fn referenced_files_are_read_and_listed() {
    let manifest = referring_to("sub/../shapes.yaml#/Point");
    let dir = Folder::new(&[
        ("m.yaml", &manifest),
        ("shapes.yaml", POINT),
        ("more/number.yaml", "type: number"),
        ("sub/x", ""),
    ]);
    let (program, problems) = compile(&dir.join("m.yaml"));
    assert_eq!(problems.to_string(), "");
    let program = program.unwrap();
    assert_eq!(program.sources, [dir.join("more/number.yaml"), dir.join("shapes.yaml")]);
    let names: Vec<&str> = program.defs.iter().map(|def| def.name.as_str()).collect();
    assert_eq!(names, ["Point", "number"]);
}

#[cfg(unix)]
#[test]
fn symlinks_cannot_leave_the_directory() {
    let manifest = referring_to("link.yaml#/Point");
    let dir = Folder::new(&[("in/m.yaml", &manifest), ("shapes.yaml", POINT), ("in/own.yaml", POINT)]);
    std::os::unix::fs::symlink("../shapes.yaml", dir.join("in/link.yaml")).unwrap();
    let (program, problems) = compile(&dir.join("in/m.yaml"));
    assert!(
        problems.to_string().contains("`link.yaml` is outside the manifest's directory [E0417]"),
        "{problems}"
    );
    assert_eq!(program.unwrap().tools.len(), 0);
    // A folder that is a link is not a way out either.
    fs::remove_file(dir.join("in/link.yaml")).unwrap();
    std::os::unix::fs::symlink("..", dir.join("in/up")).unwrap();
    dir.write("in/m.yaml", referring_to("up/shapes.yaml#/Point"));
    assert!(compile(&dir.join("in/m.yaml")).1.to_string().contains("[E0417]"));
    // A link to a file in the folder is that file.
    std::os::unix::fs::symlink("own.yaml", dir.join("in/link.yaml")).unwrap();
    dir.write("in/m.yaml", referring_to("link.yaml#/Point"));
    let message = compile(&dir.join("in/m.yaml")).1.to_string();
    assert!(
        message.contains("`more/number.yaml` does not exist [E0417]")
            && !message.contains("link.yaml` is outside"),
        "{message}"
    );
}

/// A text that came from elsewhere must not read the files of whoever compiles it.
#[test]
fn in_memory_manifest_cannot_read_files() {
    let (_, problems) = compiled(&referring_to("Cargo.toml"), &Options::default());
    assert!(
        problems
            .to_string()
            .contains("`Cargo.toml` cannot be found: this manifest was not read from a directory")
    );
}

/// Files may refer to each other in a circle, as schemas may.
#[test]
fn files_may_refer_to_each_other() {
    let dir = Folder::new(&[
        ("m.yaml", &referring_to("a.yaml#/A")),
        ("a.yaml", "A: {type: object, properties: {b: {$ref: 'b.yaml#/B'}}}"),
        ("b.yaml", "B: {type: object, properties: {a: {$ref: 'a.yaml#/A'}}}"),
    ]);
    let (program, problems) = compile(&dir.join("m.yaml"));
    assert_eq!(problems.to_string(), "");
    assert_eq!(program.unwrap().defs.len(), 2);
}

/// Manifests that each import the next one `times` times.
fn importing(depth: usize, times: usize) -> Folder {
    let files: Vec<(String, String)> = (0..depth)
        .map(|number| {
            let import = |copy| format!("\n  - {{manifest: m{}.yaml, namespace: n{copy}}}", number + 1);
            let imports: String = (0..times).map(import).collect();
            (format!("m{number}.yaml"), format!("toolgen: 1\nimports:{imports}\n"))
        })
        .collect();
    let mut files: Vec<(&str, &str)> =
        files.iter().map(|(file, text)| (file.as_str(), text.as_str())).collect();
    let last = format!("m{depth}.yaml");
    files.push((&last, "toolgen: 1\ntools: {a: {description: Does it., command: {argv: [a]}}}\n"));
    Folder::new(&files)
}

#[test]
fn import_cycles_and_depth_are_limited() {
    for (name, depth, times, message) in [
        ("fine", 15, 1, ""),
        ("deep", 3000, 1, "manifests import each other more than 16 deep"),
        ("laughs", 16, 3, "more than 1000 documents are imported"),
    ] {
        let dir = importing(depth, times);
        let (_, problems) = compile(&dir.join("m0.yaml"));
        let problems = problems.to_string();
        assert!(
            problems.contains(message) && problems.is_empty() == message.is_empty(),
            "{name}: {problems}"
        );
    }
}
