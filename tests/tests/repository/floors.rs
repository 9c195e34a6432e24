//! Checks the dependency levels of the kernel and of the core crate: a module may use only modules of its own level and
//! of lower ones. Above the kernel, levels are crates.

use std::fs;
use std::path::{Path, PathBuf};

/// The levels, from the lowest up. Modules of one row must not use each other.
const FLOORS: &[&[&str]] =
    &[&["base"], &["schema"], &["spec"], &["call"], &["engine", "registry"], &["layers"], &["toolbox"]];

/// The crates of the levels. The lower one is compiled once for a program and its build script.
const CRATES: [&str; 2] = ["runtime/core/src", "runtime/kernel/src"];

/// Modules outside of the levels: the crate roots, items for generated code, and items shared between the crates.
const BESIDE: &[&str] = &["lib", "private", "internal"];

/// Maximum number of files and directories at the top of a crate. A file and the directory of the same name count once.
const ROOMS: usize = 15;

fn source(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(of)
}

/// Returns all source files of a crate, relative to its source directory.
fn files(of: &str) -> Vec<String> {
    fn walk(source: &Path, dir: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(source, &path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let relative = path.strip_prefix(source).unwrap();
                found.push(relative.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    let mut found = Vec::new();
    walk(&source(of), &source(of), &mut found);
    found.sort();
    assert!(found.len() > 100, "{of} was not found");
    found
}

/// Returns all source files, with their crates.
fn all_files() -> impl Iterator<Item = (&'static str, String)> {
    CRATES.into_iter().flat_map(|of| files(of).into_iter().map(move |file| (of, file)))
}

/// Returns the top-level module of a file.
fn room(file: &str) -> &str {
    file.split('/').next().unwrap().trim_end_matches(".rs")
}

fn height(floor: &str) -> Option<usize> {
    FLOORS.iter().position(|row| row.contains(&floor))
}

/// Returns every `crate::NAME` in the code of a file, with its line. Documentation and tests are exempt.
fn arrows(text: &str) -> Vec<(usize, &str)> {
    let code = text.lines().enumerate().take_while(|(_, line)| !line.starts_with("#[cfg(test)]"));
    let code = code.map(|(index, line)| (index + 1, line.split("//").next().unwrap_or_default()));
    code.flat_map(|(number, line)| {
        line.match_indices("crate::").map(move |(at, start)| {
            let rest = &line[at + start.len()..];
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            (number, &rest[..end])
        })
    })
    .collect()
}

/// Returns the violation of a use from one level to a name at the crate root.
fn problem(from: &str, to: &str) -> Option<String> {
    let here = height(from)?;
    match height(to) {
        None if to == "__private" || to.starts_with("__toolgen") => None,
        None => Some(format!("`crate::{to}` is not in a level: name the module that defines it")),
        Some(there) if there > here => Some(format!("`{from}` is below `{to}`")),
        Some(there) if there == here && from != to => Some(format!("`{from}` has the level of `{to}`")),
        Some(_) => None,
    }
}

#[test]
fn modules_use_only_lower_levels() {
    let mut wrong = Vec::new();
    for (of, file) in all_files() {
        let is_test = file.ends_with("tests.rs") || file.contains("/tests/") || file.ends_with("model.rs");
        if is_test || BESIDE.contains(&room(&file)) {
            continue;
        }
        let text = fs::read_to_string(source(of).join(&file)).unwrap();
        for (line, to) in arrows(&text) {
            if let Some(reason) = problem(room(&file), to) {
                wrong.push(format!("{of}/{file}:{line}: {reason}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_module_has_a_level() {
    for of in CRATES {
        let mut rooms: Vec<String> = files(of).iter().map(|file| room(file).to_owned()).collect();
        rooms.dedup();
        rooms.sort();
        rooms.dedup();
        for room in &rooms {
            let known = height(room).is_some() || BESIDE.contains(&room.as_str());
            assert!(
                known,
                "`{room}` has no level: move it into one, or add it to the table and to ARCHITECTURE.md"
            );
        }
        assert!(
            rooms.len() <= ROOMS,
            "{} modules at the top of {of}, more than {ROOMS}: {rooms:?}",
            rooms.len()
        );
    }
}

/// Functions that the lower crate exposes only to the upper one are in `internal.rs`. The other hidden items are data that
/// generated code contains.
#[test]
fn hidden_items_are_in_known_files() {
    let hides = |file: &String| {
        let text = fs::read_to_string(source(CRATES[0]).join(file)).unwrap();
        text.contains("#[doc(hidden)]")
    };
    let hiding: Vec<String> = files(CRATES[0]).into_iter().filter(hides).collect();
    let known = [
        "base/frozen.rs",
        "base/invisible.rs",
        "base/printable.rs",
        "internal.rs",
        "lib.rs",
        "schema.rs",
        "schema/shape.rs",
        "schema/shape/decode/borrowed.rs",
        "spec.rs",
    ];
    assert_eq!(hiding, known);
}

/// The check detects violations.
#[test]
fn level_violation_is_reported_with_its_line() {
    let text =
        "//! See `crate::agent`.\nuse crate::call::ToolCall;\nlet x = crate::toolbox::Toolbox::of(ctx);\n";
    assert_eq!(arrows(text), [(2, "call"), (3, "toolbox")]);
    assert_eq!(problem("call", "call"), None);
    assert_eq!(problem("layers", "toolbox").as_deref(), Some("`layers` is below `toolbox`"));
    assert_eq!(problem("engine", "registry").as_deref(), Some("`engine` has the level of `registry`"));
    assert!(problem("call", "ToolError").is_some());
    assert_eq!(problem("layers", "base"), None);
}
