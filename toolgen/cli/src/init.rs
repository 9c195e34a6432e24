//! `init`: prepares a crate for tools.

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use toolgen::write::write_if_changed;

use super::Outcome;
use super::args::Init;
use super::output::Output;

const MANIFEST: &str = include_str!("init/tools.yaml");
const BUILD: &str = include_str!("init/build.rs.txt");
const MAIN: &str = include_str!("init/main.rs.txt");
const LIB: &str = include_str!("init/lib.rs.txt");

/// The program that cargo writes into a new crate; it may be overwritten.
const CARGO_MAIN: &str = "fn main() { println!(\"Hello, world!\"); }";

/// The note about agents, which the generated program does not run.
const AGENT: &str = "The program runs one call and exits, so it needs neither tokio nor a model. For an agent, `cargo add tokio \
    --features macros,rt-multi-thread`, make `main` async with `#[tokio::main]`, and pass `toolbox()` to a loop: \
    https://github.com/toolgen/toolgen/blob/main/docs/conversation.md";

/// The URL of the manifest schema, for editors on every machine.
const SCHEMA: &str = "https://raw.githubusercontent.com/toolgen/toolgen/main/specs/manifest.schema.json";

/// The statement that a build script needs.
const STATEMENT: &str = "toolgen::Build::new(\"tools\").document(\"tools.yaml\").emit();";

/// Writes missing files and prints the remaining steps. Returns `Problems` if the directory is not a crate, or a file
/// cannot be written.
pub(super) fn run(task: &Init, output: &mut Output) -> io::Result<Outcome> {
    let dir = &task.dir;
    let Ok(manifest) = fs::read_to_string(dir.join("Cargo.toml")) else {
        output.error(&format!(
            "{} is not the directory of a crate; `cargo new NAME` makes one, and `cargo toolgen init NAME` prepares it",
            dir.display()
        ));
        return Ok(Outcome::Problems);
    };
    let mut steps = Vec::new();
    let written_files = match write_files(task, output, &mut steps) {
        Ok(written_files) => written_files,
        Err(message) => {
            output.error(&message);
            return Ok(Outcome::Problems);
        }
    };
    for file in written_files {
        output.line(&format!("wrote {}", dir.join(file).display()))?;
    }
    add_dependencies(task, &manifest, output, &mut steps)?;
    let is_program = !task.library && dir.join("src/main.rs").is_file();
    let (file, text) = if is_program { ("src/main.rs", MAIN) } else { ("src/lib.rs", LIB) };
    let existing = fs::read_to_string(dir.join(file)).unwrap_or_default();
    if is_program && existing.split_whitespace().eq(CARGO_MAIN.split_whitespace()) {
        if let Err(error) = write_if_changed(&dir.join(file), text) {
            output.error(&error.to_string());
            return Ok(Outcome::Problems);
        }
        output.line(&format!("wrote {}", dir.join(file).display()))?;
    } else if !existing.contains("include_tools!(\"tools\")") {
        steps.push((format!("Write in {file}:"), text.to_owned()));
    }
    let mut next = String::from("cargo toolgen check tools.yaml\n");
    if is_program {
        next.push_str("echo '{\"path\": \"Cargo.toml\"}' | cargo run -q -- count_lines\n");
    }
    next.push_str("cargo toolgen new --help\n");
    steps.push(("Then check, call, and add the next tool:".to_owned(), next));
    if is_program {
        steps.push((AGENT.to_owned(), String::new()));
    }
    for (number, (title, text)) in steps.iter().enumerate() {
        output.line(&format!("\n{}. {title}\n", number + 1))?;
        for line in text.lines() {
            output.line(format!("    {line}").trim_end())?;
        }
    }
    Ok(Outcome::Fine)
}

/// A remaining step: its description, and the code or commands.
type Step = (String, String);

/// Writes the files that do not exist, and returns their names.
fn write_files(task: &Init, output: &mut Output, steps: &mut Vec<Step>) -> Result<Vec<&'static str>, String> {
    if let Some(path) = &task.checkout.toolgen_path {
        check_checkout(path)?;
    }
    let mut written_files = Vec::new();
    for (name, text) in [("tools.yaml", MANIFEST.replace("SCHEMA", SCHEMA)), ("build.rs", BUILD.to_owned())] {
        let path = task.dir.join(name);
        match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                write_if_changed(&path, &text).map_err(|error| error.to_string())?;
                written_files.push(name);
            }
            Ok(existing) if name == "build.rs" && !existing.contains("toolgen::Build") => {
                steps.push((format!("Add to `main` in {}:", path.display()), STATEMENT.to_owned()));
            }
            _ => output.note(&format!("{} exists and is unchanged", path.display())),
        }
    }
    Ok(written_files)
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

/// Adds missing dependencies with `cargo add`. If that fails, their lines become a step.
fn add_dependencies(
    task: &Init,
    manifest: &str,
    output: &mut Output,
    steps: &mut Vec<Step>,
) -> io::Result<()> {
    let location = |name: &str| dependency(name, task.checkout.toolgen_path.as_deref());
    let crates: [(&str, &str, &str, &[&str]); 2] = [
        ("toolgen-runtime", "runtime", "dependencies", &["--features", "one-shot,process,typed"]),
        ("toolgen", "toolgen", "build-dependencies", &["--build"]),
    ];
    let mut lines = String::new();
    for (name, dir, table, arguments) in crates {
        if has_dependency(manifest, name) {
            let features = if name == "toolgen" {
                ""
            } else {
                "; make sure that it has the features one-shot, process and typed"
            };
            output.note(&format!("Cargo.toml already has {name} and is unchanged{features}"));
            continue;
        }
        let added = task.checkout.toolgen_path.as_ref().is_some_and(|path| {
            output.progress(&format!("adding {name}"));
            cargo_add(&task.dir, name, &path.join(dir), arguments)
        });
        if added {
            output.line(&format!("added {name} to {}", task.dir.join("Cargo.toml").display()))?;
            continue;
        }
        let features =
            if table == "dependencies" { ", features = [\"one-shot\", \"process\", \"typed\"]" } else { "" };
        lines.push_str(&format!("[{table}]\n{name} = {{ {}{features} }}\n", location(dir)));
    }
    if !lines.is_empty() {
        let hint = if task.checkout.toolgen_path.is_some() {
            ""
        } else {
            " (no registry has the crates yet: write `path = \"…\"` with a checkout, or use `--toolgen-path DIR`)"
        };
        steps.push((format!("Add to Cargo.toml{hint}:"), lines));
    }
    Ok(())
}

/// Whether a `Cargo.toml` has a dependency.
pub(super) fn has_dependency(manifest: &str, name: &str) -> bool {
    manifest.lines().map(str::trim_start).any(|line| {
        let key = line.split(['=', '.']).next().unwrap_or_default().trim().trim_matches('"');
        key == name
            || line.starts_with('[') && line.trim_end_matches([']', ' ']).ends_with(&format!(".{name}"))
    })
}

/// Adds a dependency with `cargo add`, which keeps the formatting of `Cargo.toml`. Returns whether it succeeded.
fn cargo_add(dir: &Path, name: &str, path: &Path, arguments: &[&str]) -> bool {
    // Links are not resolved: their targets are specific to this machine.
    let (Ok(full), Ok(manifest)) = (std::path::absolute(path), std::path::absolute(dir.join("Cargo.toml")))
    else {
        return false;
    };
    let mut command = super::cargo();
    command.args(["add", "--quiet", "--offline", "--manifest-path"]).arg(&manifest);
    command.arg(name).arg("--path").arg(full).args(arguments);
    run_quietly(&mut command) && (path.is_relative() || keep_path(&manifest, name, path))
}

/// Restores the original path, which cargo rewrote relative to the directory of `Cargo.toml`. Returns whether it
/// succeeded.
fn keep_path(manifest: &Path, name: &str, path: &Path) -> bool {
    let Ok(text) = fs::read_to_string(manifest) else { return false };
    let original = format!("path = {}", serde_json::Value::from(path.display().to_string()));
    let lines = text.split_inclusive('\n').map(|line| {
        let index = line.find("path = \"").filter(|_| line.starts_with(&format!("{name} = ")));
        let Some((head, rest)) = index.and_then(|index| line.split_at_checked(index)) else {
            return line.to_owned();
        };
        let end = rest.match_indices('"').nth(1).map_or(rest.len(), |(index, _)| index + 1);
        format!("{head}{original}{}", rest.get(end..).unwrap_or_default())
    });
    let changed: String = lines.collect();
    write_if_changed(manifest, &changed).is_ok()
}

fn run_quietly(command: &mut Command) -> bool {
    let streams = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    streams.status().is_ok_and(|status| status.success())
}
