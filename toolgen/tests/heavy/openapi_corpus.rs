//! Compiles every OpenAPI document of the corpus, if it is there.
//!
//! The corpus is not part of the repository: `TOOLGEN_CORPUS` names it, `../shared/corpus` beside the repository is
//! the default.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolgen::{ArgumentRule, Document, Options, Problems, Program, Severity, Tool};
use toolgen_runtime::engine::http::{BuildOptions, build};
use toolgen_runtime::schema::shape::read::read_canonical;
use toolgen_runtime::schema::shape::render::canonical;
use toolgen_runtime::schema::shape::{Extra, Kind, Shape};
use toolgen_runtime::spec::MAX_NAME;
use toolgen_runtime::spec::plan::BodySource;

use toolgen_test_support::needs;

struct Run {
    program: Program,
    problems: Problems,
    time: Duration,
}

fn run(path: &Path, options: &Options) -> Run {
    let mut problems = Problems::new();
    let document = Document::load(path, &mut problems).unwrap_or_else(|| panic!("{}", path.display()));
    let start = Instant::now();
    let program = toolgen::compile(&document, options, &mut problems);
    let time = start.elapsed();
    Run { program: program.unwrap_or_else(|| panic!("{}", path.display())), problems, time }
}

/// A shape whose canonical text, which generated code holds, does not read back as the same shape.
fn unfaithful(name: &str, shape: &Shape, faults: &mut Vec<String>) {
    let text = canonical(shape);
    let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
    let back = read_canonical(&value);
    if back != *shape {
        faults.push(format!("{name}: reads back as {}", canonical(&back)));
    }
}

/// What is wrong with a program that compiled.
fn faults(program: &Program, faults: &mut Vec<String>) {
    let mut names = BTreeSet::new();
    for def in &program.defs {
        unfaithful(&def.name, &def.schema, faults);
    }
    for tool in &program.tools {
        let spec = &tool.spec;
        let name = spec.name.as_str();
        unfaithful(name, &spec.input, faults);
        if let Some(output) = &spec.output {
            unfaithful(name, output, faults);
        }
        if !names.insert(name.to_ascii_lowercase()) || name.len() > MAX_NAME {
            faults.push(format!("{name}: not unique, or too long"));
        }
        if spec.description.is_empty() {
            faults.push(format!("{name}: no description"));
        }
        let Kind::Object(rules) = &spec.input.shape().kind else {
            faults.push(format!("{name}: the input is {:?}", spec.input));
            continue;
        };
        let arguments: BTreeSet<&str> = rules.fields.iter().map(|field| field.name.as_str()).collect();
        if arguments.len() != rules.fields.len() {
            faults.push(format!("{name}: two arguments of one name"));
        }
        let Some(plan) = tool.call.http() else { panic!("{name}") };
        let mut used: Vec<&str> =
            plan.parameters.iter().map(|parameter| parameter.argument.as_str()).collect();
        match plan.body.as_ref().map(|body| &body.source) {
            Some(BodySource::Argument(argument)) => used.push(argument),
            Some(BodySource::Fields(fields)) => {
                used.extend(fields.iter().map(|field| field.argument.as_str()));
            }
            None => {}
        }
        let used: BTreeSet<&str> = used.into_iter().collect();
        if used != arguments {
            faults.push(format!("{name}: arguments {arguments:?}, used {used:?}"));
        }
        check_keys(name, spec.input.shape(), faults);
    }
    for def in &program.defs {
        check_keys(&def.name, def.schema.shape(), faults);
    }
    check_defs(program, faults);
}

/// The named shapes are those that are referred to, sorted.
fn check_defs(program: &Program, faults: &mut Vec<String>) {
    let defs: Vec<&str> = program.defs.iter().map(|def| def.name.as_str()).collect();
    if !defs.is_sorted() {
        faults.push("named shapes are not sorted".to_owned());
    }
    let mut refs = BTreeSet::new();
    for tool in &program.tools {
        collect(tool.spec.input.shape(), &mut refs);
        tool.spec.output.iter().for_each(|output| collect(output.shape(), &mut refs));
        tool.failure.iter().for_each(|failure| collect(failure, &mut refs));
    }
    program.defs.iter().for_each(|def| collect(def.schema.shape(), &mut refs));
    let defs: BTreeSet<&str> = defs.into_iter().collect();
    if refs != defs {
        let odd: Vec<_> = refs.symmetric_difference(&defs).collect();
        faults.push(format!("named shapes that are missing or not reached: {odd:?}"));
    }
}

fn check_keys(owner: &str, shape: &Shape, faults: &mut Vec<String>) {
    walk(shape, &mut |shape| {
        let Kind::Object(rules) = &shape.kind else { return };
        for field in &rules.fields {
            let portable = field.name.len() <= 64
                && field.name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && field.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if !portable {
                faults.push(format!("{owner}: the key `{}`", field.name));
            }
        }
    });
}

fn collect<'s>(shape: &'s Shape, refs: &mut BTreeSet<&'s str>) {
    walk(shape, &mut |shape| {
        if let Kind::Ref(name) = &shape.kind {
            refs.insert(name.as_str());
        }
    });
}

fn walk<'s>(shape: &'s Shape, visit: &mut dyn FnMut(&'s Shape)) {
    visit(shape);
    match &shape.kind {
        Kind::Array(rules) => walk(&rules.items, visit),
        Kind::Tuple(rules) => {
            walk_extra(&rules.rest, visit);
            rules.items.iter().for_each(|shape| walk(shape, visit));
        }
        Kind::Object(rules) => {
            walk_extra(&rules.extra, visit);
            rules.fields.iter().for_each(|field| walk(&field.shape, visit));
            rules.patterns.iter().for_each(|field| walk(&field.shape, visit));
        }
        Kind::Union(rules) => rules.variants.iter().for_each(|shape| walk(shape, visit)),
        Kind::All(parts) => parts.iter().for_each(|shape| walk(shape, visit)),
        _ => {}
    }
}

fn walk_extra<'s>(extra: &'s Extra, visit: &mut dyn FnMut(&'s Shape)) {
    if let Extra::Of(shape) = extra {
        walk(shape, visit);
    }
}

fn summary(name: &str, Run { program, problems, time }: &Run) {
    println!(
        "{name:55} {:7} ops {:5} tools {:5} defs {:5} E {:3} W {:4} N {:4} {time:?}",
        program.version,
        program.operations,
        program.tools.len(),
        program.defs.len(),
        problems.count(Severity::Error),
        problems.count(Severity::Warning),
        problems.count(Severity::Note),
    );
    if std::env::var_os("TOOLGEN_PROBLEMS").is_some() {
        for problem in problems.as_slice() {
            println!("    {} {} {}", problem.code, problem.pointer.as_str(), problem.message);
        }
    }
}

#[test]
#[ignore = "heavy: corpus"]
fn every_document_compiles() {
    all_compile(&needs::corpus(), 990, |_| Options::default());
}

#[test]
#[ignore = "heavy: corpus"]
fn every_swagger_document_compiles() {
    // The bodies of four operations are of definitions that are not there.
    all_compile(&needs::corpus_entries("swagger2"), 997, |_| Options::default());
}

#[test]
#[ignore = "heavy: corpus"]
fn every_multi_file_document_compiles() {
    // A project's documents share files that stand beside their folders.
    let project = |path: &Path| {
        let parts: Vec<_> = path.components().collect();
        let end = parts.iter().rposition(|part| part.as_os_str() == "multifile").map_or(0, |at| at + 2);
        Options::default().root(parts[..end].iter().collect::<PathBuf>())
    };
    all_compile(&needs::corpus_entries("multifile"), 999, project);
}

/// Compiles documents, of whose operations so many in a thousand become tools.
fn all_compile(paths: &[PathBuf], least: usize, options: impl Fn(&Path) -> Options) {
    let (mut operations, mut tools) = (0, 0);
    let mut all_faults = Vec::new();
    for path in paths {
        let first = run(path, &options(path));
        let second = run(path, &options(path));
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        summary(&name, &first);
        operations += first.program.operations;
        tools += first.program.tools.len();
        let mut found = Vec::new();
        faults(&first.program, &mut found);
        if first.program != second.program || first.problems.as_slice() != second.problems.as_slice() {
            found.push("two runs differ".to_owned());
        }
        all_faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    println!("{tools} tools of {operations} operations");
    assert!(all_faults.is_empty(), "{} faults\n{}", all_faults.len(), all_faults.join("\n"));
    assert!(tools * 1_000 >= operations * least, "{tools} tools of {operations} operations");
}

/// The requests of the example calls of a program; with `given`, those of the same tools for a call without arguments.
fn requests(program: &Program, given: bool) -> BTreeMap<String, String> {
    let options = BuildOptions { base_url: Some("http://127.0.0.1"), ..BuildOptions::default() };
    let request = |tool: &Tool| {
        let arguments = if given { arguments(tool)? } else { json!({}) };
        Some(format!("{:?}", build(tool.call.http()?, &arguments, &options)))
    };
    let tools = program.tools.iter();
    tools.filter_map(|tool| Some((tool.spec.name.to_string(), request(tool)?))).collect()
}

/// The arguments of the example call of a tool.
fn arguments(tool: &Tool) -> Option<Value> {
    let example = tool.spec.examples.first()?;
    Some(serde_json::from_str(&example.arguments).unwrap())
}

#[test]
#[ignore = "heavy: corpus"]
fn fixed_arguments_give_the_same_requests() {
    let documents = needs::corpus();
    let (mut tools, mut fixed) = (0, 0);
    for path in documents.iter().filter(|path| std::fs::metadata(path).unwrap().len() < 400_000) {
        let Run { program, .. } = run(path, &Options::default());
        let expected = requests(&program, true);
        let mut options = Options::default();
        for tool in program.tools.iter().filter(|tool| expected.contains_key(tool.spec.name.as_str())) {
            let Kind::Object(rules) = &tool.spec.input.shape().kind else {
                unreachable!("checked elsewhere")
            };
            let example = arguments(tool).unwrap();
            for field in &rules.fields {
                let (operations, argument) = (Some(tool.origin.title.clone().into()), field.name.to_string());
                let value = example.get(&argument).cloned();
                fixed += usize::from(value.is_some());
                options = options.argument(ArgumentRule { operations, argument, value });
            }
        }
        let Run { program, problems, .. } = run(path, &options);
        let message = |code: &str| problems.as_slice().iter().find(|one| one.code.to_string() == code);
        assert_eq!((message("E0350"), message("E0351")), (None, None), "{}", path.display());
        let mut made = requests(&program, false);
        made.retain(|name, _| expected.contains_key(name));
        assert_eq!(made, expected, "{}", path.display());
        tools += made.len();
    }
    println!("{tools} tools, {fixed} arguments");
    assert!(documents.is_empty() || tools > 150 && fixed > tools, "{tools} tools, {fixed} arguments");
}
