//! `init`: prepares a crate for tools.

mod cargo_toml;

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use toolgen::write::write_if_changed;

use super::Outcome;
use super::args::Init;
use super::output::Output;
pub(super) use cargo_toml::has_dependency;
use cargo_toml::{Dependency, Edit, build_script, with_dependency};

const MANIFEST: &str = include_str!("init/tools.yaml");
const BUILD: &str = include_str!("init/build.rs.txt");
const MAIN: &str = include_str!("init/main.rs.txt");
const LIB: &str = include_str!("init/lib.rs.txt");

/// The program that cargo writes into a new crate.
const CARGO_MAIN: &str = "fn main() { println!(\"Hello, world!\"); }";

/// The library that cargo writes into a new crate. The type of the numbers depends on the version of cargo.
const CARGO_LIB: &str = "pub fn add(left: NUMBER, right: NUMBER) -> NUMBER { left + right } #[cfg(test)] mod tests { \
    use super::*; #[test] fn it_works() { let result = add(2, 2); assert_eq!(result, 4); } }";

/// The call in `main` of an existing program.
const CALL: &str = "let result = toolbox()?.call(\"count_lines\", serde_json::json!({\"path\": \"Cargo.toml\"})).await;\n\
    println!(\"{}\", result.text());\n";

/// The URL of the manifest schema, for editors on every machine.
const SCHEMA: &str = "https://raw.githubusercontent.com/toolgen/toolgen/main/specs/manifest.schema.json";

/// The statement that a build script needs.
const STATEMENT: &str = "toolgen::Build::new(\"tools\").document(\"tools.yaml\").emit();";

/// Where the next page is.
const PAGE: &str = "https://github.com/toolgen/toolgen/blob/main/docs/conversation.md";

/// What `init` did, and what remains to be done.
#[derive(Default)]
struct Report {
    done: Vec<String>,
    notes: Vec<String>,
    /// The remaining steps: a description each, and the code or commands.
    steps: Vec<(String, String)>,
    explanation: String,
}

/// Writes missing files, adds dependencies, and prints the remaining steps. Returns `Problems` if the directory is not
/// a crate, or a file cannot be written.
pub(super) fn run(task: &Init, output: &mut Output) -> io::Result<Outcome> {
    let mut report = Report::default();
    let result = prepare(task, &mut report);
    report.notes.iter().for_each(|note| output.note(note));
    report.done.iter().try_for_each(|line| output.line(line))?;
    if let Err(message) = result {
        output.error(&message);
        return Ok(Outcome::Problems);
    }
    for (number, (title, text)) in report.steps.iter().enumerate() {
        output.line(&format!("\n{}. {title}\n", number + 1))?;
        for line in text.lines() {
            output.line(format!("    {line}").trim_end())?;
        }
    }
    output.line(&format!("\n{}", report.explanation))?;
    Ok(Outcome::Fine)
}

/// Changes the crate. `Err` is the message for the user.
fn prepare(task: &Init, report: &mut Report) -> Result<(), String> {
    let (cargo, dir) = (task.dir.join("Cargo.toml"), task.dir.display());
    let manifest = fs::read_to_string(&cargo).map_err(|_| {
        format!(
            "{dir} is not the directory of a crate; `cargo new NAME` makes one, and `cargo toolgen init NAME` prepares it"
        )
    })?;
    if !manifest.lines().any(|line| line.trim() == "[package]") {
        return Err(format!(
            "{dir} is a workspace without a package; pass the directory of one of its crates"
        ));
    }
    if let Some(path) = &task.checkout.toolgen_path {
        check_checkout(path)?;
    }
    let is_program = !task.library && task.dir.join("src/main.rs").is_file();
    let source = if is_program { Source::Program } else { Source::Library };
    write_file(&task.dir.join("tools.yaml"), &MANIFEST.replace("SCHEMA", SCHEMA), report)?;
    write_file(&task.dir.join(build_script(&manifest)), BUILD, report)?;
    add_dependencies(task, &manifest, source, report)?;
    write_source(task, source, report)?;
    add_last_steps(source, report);
    Ok(())
}

/// What the tools are added to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Program,
    Library,
}

impl Source {
    fn file(self) -> &'static str {
        match self {
            Source::Program => "src/main.rs",
            Source::Library => "src/lib.rs",
        }
    }

    /// Whether a file is as cargo writes it into a new crate, so that nothing is lost.
    fn is_new(self, text: &str) -> bool {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        match self {
            Source::Program => words(text) == words(CARGO_MAIN),
            Source::Library => {
                text.trim().is_empty()
                    || ["u64", "usize", "i32"]
                        .iter()
                        .any(|number| words(text) == words(&CARGO_LIB.replace("NUMBER", number)))
            }
        }
    }
}

/// Writes the manifest or the build script, unless it exists.
fn write_file(path: &Path, text: &str, report: &mut Report) -> Result<(), String> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return write(path, text, report),
        Ok(existing) if text == BUILD && !existing.contains("toolgen::Build") => {
            report.steps.push((format!("Add to `main` in {}:", path.display()), STATEMENT.to_owned()));
        }
        _ => report.notes.push(format!("{} exists and is unchanged", path.display())),
    }
    Ok(())
}

fn write(path: &Path, text: &str, report: &mut Report) -> Result<(), String> {
    write_if_changed(path, text).map_err(|error| error.to_string())?;
    report.done.push(format!("wrote {}", path.display()));
    Ok(())
}

/// Writes the program or the library if it is still cargo's. Otherwise, the code becomes a step.
fn write_source(task: &Init, source: Source, report: &mut Report) -> Result<(), String> {
    let (path, file) = (task.dir.join(source.file()), source.file());
    let existing = fs::read_to_string(&path);
    if existing.as_ref().is_ok_and(|text| source.is_new(text)) {
        return write(&path, if source == Source::Program { MAIN } else { LIB }, report);
    }
    if !existing.unwrap_or_default().contains("include_tools!(\"tools\")") {
        report.steps.push((format!("Add to {file}:"), LIB.to_owned()));
        if source == Source::Program {
            let title = "Call a tool in `main`, which must be async, such as below `#[tokio::main]`:";
            report.steps.push((title.to_owned(), CALL.to_owned()));
        }
    }
    Ok(())
}

/// Explains the result, and how to continue.
fn add_last_steps(source: Source, report: &mut Report) {
    let mut next = String::from(
        "cargo toolgen check tools.yaml\ncargo toolgen call tools.yaml count_lines path=Cargo.toml\n",
    );
    if source == Source::Program {
        next.push_str("cargo run\n");
    }
    next.push_str("cargo toolgen new --help\n");
    report.steps.push(("Check the tool, call it, and add the next one:".to_owned(), next));
    let calls = match source {
        Source::Program => {
            "`main` calls one tool, as a model would, and prints the result. To let a model call them"
        }
        Source::Library => {
            "A program of yours calls one with `toolbox()?.call(name, arguments).await`. To let a model call them"
        }
    };
    report.explanation = format!(
        "tools.yaml describes tools, the build script compiles them to Rust, and `toolbox()` runs them.\n{calls},\n\
        pass `toolbox()` to the loop of an agent: {PAGE}"
    );
}

/// Checks that a directory is a checkout of toolgen.
pub(super) fn check_checkout(path: &Path) -> Result<(), String> {
    if !path.exists() {
        return Err(format!("`--toolgen-path {}`: no such directory", path.display()));
    }
    if path.join("runtime/Cargo.toml").is_file() && path.join("toolgen/Cargo.toml").is_file() {
        Ok(())
    } else {
        Err(format!("`--toolgen-path {}` is not a checkout of toolgen", path.display()))
    }
}

/// Returns where a crate of toolgen is, as a dependency says it: its directory in a checkout, or the version of this
/// program.
pub(super) fn dependency(dir: &str, checkout: Option<&Path>) -> String {
    match checkout {
        Some(path) => format!("path = {}", serde_json::Value::from(path.join(dir).display().to_string())),
        None => format!("version = \"={}\"", env!("CARGO_PKG_VERSION")),
    }
}

/// Adds missing dependencies and features. Those that cannot be added become a step.
fn add_dependencies(task: &Init, manifest: &str, source: Source, report: &mut Report) -> Result<(), String> {
    let cargo = task.dir.join("Cargo.toml");
    let checkout = task.checkout.toolgen_path.as_ref().map(|path| from_crate(&task.dir, path));
    let location = |name: &str| dependency(name, checkout.as_deref());
    let newest = || "version = \"1\"".to_owned();
    let mut dependencies = vec![
        Dependency::new("dependencies", "toolgen-runtime", location("runtime"), &["process", "typed"]),
        Dependency::new("build-dependencies", "toolgen", location("toolgen"), &[]),
    ];
    if source == Source::Program {
        dependencies.insert(0, Dependency::new("dependencies", "serde_json", newest(), &[]));
        dependencies
            .insert(1, Dependency::new("dependencies", "tokio", newest(), &["macros", "rt-multi-thread"]));
    }
    let (mut text, mut lines, mut table) = (manifest.to_owned(), String::new(), "");
    for dependency in &dependencies {
        let name = dependency.name;
        // No registry has the crates yet, so a version in Cargo.toml would break the crate.
        let edit = match with_dependency(&text, dependency) {
            Edit::Added(_) if task.checkout.toolgen_path.is_none() => Edit::Impossible,
            edit => edit,
        };
        match edit {
            Edit::Unchanged => {}
            Edit::Added(changed) => {
                report.done.push(format!("added {name} to {}", cargo.display()));
                text = changed;
            }
            Edit::FeaturesAdded(changed) => {
                let features = dependency.features.join("`, `");
                report
                    .done
                    .push(format!("added features of {name} to {}: it has `{features}`", cargo.display()));
                text = changed;
            }
            Edit::Impossible => {
                if table != dependency.table {
                    table = dependency.table;
                    lines.push_str(&format!("[{table}]\n"));
                }
                lines.push_str(&format!("{}\n", dependency.line()));
            }
        }
    }
    if text != manifest {
        write_if_changed(&cargo, &text).map_err(|error| error.to_string())?;
    }
    if !lines.is_empty() {
        let hint = if task.checkout.toolgen_path.is_some() {
            ""
        } else {
            " (no registry has the crates of toolgen yet: `--toolgen-path DIR` adds them from a checkout)"
        };
        report
            .steps
            .push((format!("Make sure that Cargo.toml has these dependencies and features{hint}:"), lines));
    }
    Ok(())
}

/// Returns the path of a checkout as seen from a crate. Links are not resolved: their targets are specific to this
/// machine.
pub(super) fn from_crate(dir: &Path, path: &Path) -> PathBuf {
    let parts: Vec<Component<'_>> = dir.components().filter(|part| *part != Component::CurDir).collect();
    if path.is_absolute() || parts.is_empty() {
        return path.to_path_buf();
    }
    if parts.iter().all(|part| matches!(part, Component::Normal(_))) {
        return parts.iter().map(|_| "..").collect::<PathBuf>().join(path);
    }
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}
