//! Tests of contract locks: the file format, detected changes, and a test that compares a program with its lock.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;
use toolgen::contract::surface;
use toolgen::{Document, Options, Problems, Program};
use toolgen_runtime::registry::contract::check;
use toolgen_runtime::spec::drift::ChangeClass;
use toolgen_runtime::spec::surface::Surface;
use toolgen_runtime::{Registry, assert_contract, tool, toolset};

use toolgen_test_support::mutants::{mutants, places};
use toolgen_test_support::needs;
use toolgen_test_support::pages::{files, root};

pub(crate) fn compile(path: &Path) -> Option<Program> {
    let mut problems = Problems::new();
    let document = Document::load(path, &mut problems)?;
    toolgen::compile(&document, &Options::default(), &mut problems)
}

pub(crate) fn examples() -> Vec<PathBuf> {
    let specs = root().join("specs");
    let entries = fs::read_dir(specs).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.is_file() && !path.to_str().unwrap().ends_with(".schema.json")).collect();
    paths.sort();
    assert!(paths.len() > 5);
    paths
}

/// Returns documents of other tests, which use more OpenAPI features than the examples.
pub(crate) fn sample() -> Vec<PathBuf> {
    ["tests/documents", "tests/oracle/documents"]
        .into_iter()
        .flat_map(|dir| files(&root().join(dir), ".yaml"))
        .filter(|path| !path.to_string_lossy().ends_with(".calls.yaml"))
        .collect()
}

/// Returns documents of real services, up to a size limit.
pub(crate) fn corpus(limit: u64) -> Vec<PathBuf> {
    needs::corpus().into_iter().filter(|path| fs::metadata(path).unwrap().len() <= limit).collect()
}

fn validator() -> jsonschema::Validator {
    let schema: Value =
        serde_json::from_str(&fs::read_to_string(root().join("specs/lock.schema.json")).unwrap()).unwrap();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

fn written(program: &Program) -> (Surface, Value) {
    let surface = surface(&[program]).unwrap();
    let root = serde_json::from_str(&surface.text()).unwrap();
    (surface, root)
}

#[test]
fn example_locks_round_trip() {
    are_written_as_they_are_read(examples().into_iter().chain(sample()));
}

#[test]
#[ignore = "heavy: corpus"]
fn corpus_locks_round_trip() {
    are_written_as_they_are_read(corpus(300_000));
}

fn are_written_as_they_are_read(documents: impl IntoIterator<Item = PathBuf>) {
    let validator = validator();
    for path in documents {
        let Some(program) = compile(&path) else { continue };
        let (surface, root) = written(&program);
        let wrong: Vec<String> =
            validator.iter_errors(&root).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", path.display());
        let read = Surface::read(&root).unwrap_or_else(|reason| panic!("{}: {reason:#?}", path.display()));
        assert_eq!(read.text(), surface.text(), "{}", path.display());
        assert_eq!(surface.drift(&read), [], "{}", path.display());
        let specs = program.all_tools().into_iter().map(|tool| tool.spec.name.clone());
        let tools: BTreeMap<_, _> =
            program.all_tools().into_iter().map(|one| (one.spec.name.clone(), one)).collect();
        assert_eq!(specs.count(), tools.len());
        for spec in read.specs() {
            let own = &tools[&spec.name].spec;
            assert_eq!((&spec.input, &spec.output, &spec.effects), (&own.input, &own.output, &own.effects));
            assert_eq!(spec.to_json(), own.to_json(), "{}", path.display());
        }
    }
}

/// The schema of locks and the parser accept the same documents.
#[test]
fn lock_schema_and_reader_agree() {
    let validator = validator();
    let mut refused = 0;
    for path in [root().join("specs/petstore.yaml"), root().join("specs/manifest-agents.yaml")] {
        let (_, lock) = written(&compile(&path).unwrap());
        let mut all = Vec::new();
        places(&lock, "", "/input", &mut all);
        for at in all {
            for mutant in mutants(&lock, &at) {
                let (fits, reads) = (validator.is_valid(&mutant), Surface::read(&mutant).is_ok());
                assert!(fits || !reads, "{} without the schema, {at}: {mutant:#}", path.display());
                assert!(reads || !fits, "{} without the reader, {at}: {mutant:#}", path.display());
                refused += usize::from(!fits);
            }
        }
    }
    assert!(refused > 60, "only {refused}");
}

/// Each mutation of a tool is rejected or detected, with a class.
#[test]
fn every_field_change_is_detected() {
    let (by_class, refused) = changes_are_found(examples().into_iter().chain(sample()));
    assert!(by_class.values().sum::<usize>() > 2_000 && refused > 1_000, "{by_class:?}, {refused} refused");
    assert_eq!(
        by_class.keys().copied().collect::<Vec<_>>(),
        ["breaking", "compatible", "model", "security", "text"]
    );
}

#[test]
#[ignore = "heavy: corpus"]
fn every_field_change_in_the_corpus_is_detected() {
    let documents = corpus(40_000);
    let none = documents.is_empty();
    let (by_class, refused) = changes_are_found(documents);
    let found: usize = by_class.values().sum();
    assert!(none || found > 500 && refused > 100, "{by_class:?}, {refused} refused");
}

/// Returns the number of changes per class, and of rejected ones. Each mutation is one of these.
fn changes_are_found(documents: impl IntoIterator<Item = PathBuf>) -> (BTreeMap<&'static str, usize>, usize) {
    let mut by_class: BTreeMap<&str, usize> = BTreeMap::new();
    let mut refused = 0;
    for path in documents {
        let Some(program) = compile(&path) else { continue };
        for tool in program.all_tools().into_iter().step_by(7).take(3) {
            let call = toolgen_runtime::spec::surface::recorded(&tool.call);
            let surface = Surface::of([(&tool.spec, Some(call))]).unwrap();
            let lock: Value = serde_json::from_str(&surface.text()).unwrap();
            if lock.to_string().len() > 3_000 {
                continue;
            }
            let mut all = Vec::new();
            places(&lock, "", "", &mut all);
            for at in all {
                for mutant in mutants(&lock, &at) {
                    let Ok(new) = Surface::read(&mutant) else {
                        refused += 1;
                        continue;
                    };
                    let changes = surface.drift(&new);
                    // A call that is not recorded is not compared, nor is a schema without references.
                    let silent = at.ends_with("/call") || at == "/$defs";
                    assert!(silent || !changes.is_empty(), "{}{at}: not found: {mutant:#}", path.display());
                    if let Some(worst) = changes.iter().map(|change| change.class).max() {
                        *by_class.entry(worst.name()).or_default() += 1;
                    }
                }
            }
        }
    }
    (by_class, refused)
}

#[test]
fn lock_is_deterministic() {
    let path = root().join("specs/kitchen-sink.json");
    let (first, root) = written(&compile(&path).unwrap());
    for _ in 0..100 {
        let again = surface(&[&compile(&path).unwrap()]).unwrap();
        assert_eq!(again.text(), first.text());
        assert_eq!(Surface::read(&root).unwrap().drift(&again), []);
    }
}

/// The limit is ten times the duration on an idle machine without optimization.
#[test]
#[ignore = "heavy: corpus"]
fn largest_document_is_locked_and_compared_quickly() {
    for path in corpus(u64::MAX).into_iter().filter(|path| fs::metadata(path).unwrap().len() > 10_000_000) {
        let program = compile(&path).unwrap();
        let started = Instant::now();
        let (first, root) = written(&program);
        let read = Surface::read(&root).unwrap();
        assert_eq!(first.drift(&read), []);
        assert!(started.elapsed().as_secs() < 20, "{}: {:?}", path.display(), started.elapsed());
    }
}

/// Adds two numbers.
#[tool(pure)]
fn add(
    /// The first.
    left: i64,
    /// The second.
    #[arg(range = 0..=100)]
    right: i64,
) -> i64 {
    left + right
}

/// Adds two numbers.
#[tool(name = "add", pure)]
fn add_less(
    /// The first.
    left: i64,
    /// The second.
    #[arg(range = 0..=10)]
    right: i64,
) -> i64 {
    left + right
}

#[test]
fn functions_are_compared_with_their_lock() {
    assert_contract!("tests/locks/functions.lock", toolset![add]);
    assert_contract!("tests/locks/functions.lock", Registry::new(toolset![add]));
    assert_contract!("tests/locks/functions.lock", toolset![add], ChangeClass::Security);
    if std::env::var_os("TOOLGEN_UPDATE").is_some() {
        // The code below would write other locks.
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/locks/functions.lock");
    let message = check(&path, toolset![add_less], ChangeClass::Compatible).unwrap_err();
    assert!(message.contains("\nbreaking (1): calls may fail"), "{message}");
    assert!(
        message.contains("`add` at /input/properties/right/maximum: `maximum` was 100 and is 10"),
        "{message}"
    );
    assert!(message.contains("TOOLGEN_UPDATE=1"), "{message}");
    assert_eq!(check(&path, toolset![add_less], ChangeClass::Security), Ok(()));
    let nowhere = check(Path::new("nowhere.lock"), toolset![add], ChangeClass::Compatible).unwrap_err();
    assert!(
        nowhere.starts_with("there is no lock nowhere.lock; run the test with TOOLGEN_UPDATE=1"),
        "{nowhere}"
    );
}
