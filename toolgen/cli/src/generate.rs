//! `gen`: generates Rust code of tools.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use toolgen::Options;
use toolgen::emit::{self, ModuleStyle, RuntimeDependency};
use toolgen::write::{Files, remove};

use super::Outcome;
use super::args::Generate;
use super::compile::{Compiled, compile_all};
use super::init::check_checkout;
use super::output::Output;

/// The note for a crate without a path to the runtime.
pub(super) const NO_REGISTRY: &str = "no registry has toolgen-runtime yet, so cargo will not find it; \
                           `--toolgen-path DIR` sets the directory of a checkout";

/// Writes one module per document, or one crate of all documents.
pub(super) fn run(task: &Generate, output: &mut Output) -> io::Result<Outcome> {
    let (compiled, complete) = compile_all(&task.selection, &[], output);
    if compiled.iter().all(|compiled| compiled.program.is_none()) {
        return Ok(Outcome::Problems);
    }
    let files = match files(task, &compiled, output) {
        Ok(files) => files,
        Err(message) => {
            output.error(&message);
            return Ok(Outcome::Usage);
        }
    };
    let outcome = if task.check {
        compare(task, &files, output)?
    } else {
        write(&task.out, task.force, &files, &compiled, output)?
    };
    if outcome == Outcome::Fine
        && !task.check
        && task.crate_name.is_some()
        && task.checkout.toolgen_path.is_none()
    {
        output.note(NO_REGISTRY);
    }
    Ok(if complete { outcome } else { Outcome::Problems })
}

fn files(task: &Generate, compiled: &[Compiled], output: &mut Output) -> Result<Files, String> {
    let types = task.selection.options.types;
    let modules = modules(compiled, &task.selection.options, output);
    if let Some(name) = &task.crate_name {
        check_crate_name(name)?;
        let typed = types.then_some("typed").into_iter();
        let features: Vec<&str> =
            typed.chain(task.selection.options.text_types.iter().map(|text_type| text_type.name())).collect();
        let runtime = runtime(task.checkout.toolgen_path.as_deref(), &task.out)?;
        return Ok(emit::package(name, &modules, &features, &runtime, task.selection.options.modules));
    }
    let mut files = Files::default();
    for (name, text) in modules {
        files.insert(&format!("{name}.rs"), text);
    }
    Ok(files)
}

/// Returns the names and contents of the modules, one per document.
pub(super) fn modules(
    compiled: &[Compiled],
    options: &Options,
    output: &mut Output,
) -> Vec<(String, String)> {
    let mut modules = Vec::new();
    let mut taken = Vec::new();
    for compiled in compiled {
        let Some(program) = &compiled.program else { continue };
        let file_name = compiled.path.file_name().unwrap_or(OsStr::new("tools")).to_string_lossy();
        output.progress(&format!("writing {file_name}"));
        let Options { types, derives, text_types, modules: layout, .. } = options.clone();
        let style = ModuleStyle {
            types,
            derives,
            text_types,
            modules: layout,
            ..ModuleStyle::new(file_name.as_ref())
        };
        modules.push((emit::module_name(&file_name, &mut taken), emit::module(program, &style)));
    }
    modules
}

/// Checks that a crate name is valid for Cargo.
pub(super) fn check_crate_name(name: &str) -> Result<(), String> {
    let first = name.chars().next();
    let is_valid = first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if is_valid {
        Ok(())
    } else {
        Err(format!("`{name}` is not a valid crate name: use letters, digits, `_` and `-`"))
    }
}

/// Returns the runtime dependency of a crate in a directory: a path to the checkout, or the registry.
pub(super) fn runtime(path: Option<&Path>, out: &Path) -> Result<RuntimeDependency, String> {
    let Some(path) = path else { return Ok(RuntimeDependency::Version) };
    check_checkout(path)?;
    let path = &path.join("runtime");
    let absolute_path = |path: &Path| {
        std::path::absolute(path)
            .map(|absolute_path| normalize(&absolute_path))
            .map_err(|error| format!("{}: {error}", path.display()))
    };
    let absolute = absolute_path(path)?;
    let dependency = relative(&absolute_path(out)?, &absolute, path.is_relative()).unwrap_or(absolute);
    Ok(RuntimeDependency::Path(dependency.display().to_string()))
}

/// Returns an absolute path without `..`.
fn normalize(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normalized.pop()),
            part => normalized.push(part),
        }
    }
    normalized
}

/// Returns the relative path from one absolute directory to another, so that both can be moved together. `None` if they
/// are on different drives, or share only the root and `force` is false.
fn relative(from: &Path, to: &Path, force: bool) -> Option<PathBuf> {
    let (left, right): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let common = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
    let is_dir = |part: &Component<'_>| matches!(part, Component::Normal(_));
    let (shared, target_rest) = (right.get(..common)?, right.get(common..)?);
    if shared.is_empty() || !force && !shared.iter().any(is_dir) {
        return None;
    }
    let up = left.iter().skip(common).map(|_| Component::ParentDir);
    Some(up.chain(target_rest.iter().copied()).collect())
}

/// Writes files unless they would overwrite handwritten ones, and prints their number.
pub(super) fn write(
    out: &Path,
    force: bool,
    files: &Files,
    compiled: &[Compiled],
    output: &mut Output,
) -> io::Result<Outcome> {
    if !force && has_handwritten(out, files, output) {
        return Ok(Outcome::Problems);
    }
    // The module of a document that failed to compile is not stale.
    let complete = compiled.iter().all(|compiled| compiled.program.is_some());
    let stale = if complete { files.stale(out) } else { Vec::new() };
    match files.write(out).and_then(|written| remove(&stale).map(|()| written)) {
        Ok(written) => {
            let tools: usize = compiled.iter().map(|compiled| compiled.tools().len()).sum();
            let unchanged = files.iter().count() - written.len();
            let out = out.display();
            let plural = |count: usize, noun: &str| match count {
                1 => format!("1 {noun}"),
                _ => format!("{count} {noun}s"),
            };
            let (tools, files) = (plural(tools, "tool"), plural(written.len(), "file"));
            let removed = match stale.len() {
                0 => String::new(),
                count => format!(", {count} stale removed"),
            };
            output.line(&format!("{out}: {tools}; {files} written, {unchanged} unchanged{removed}"))?;
            Ok(Outcome::Fine)
        }
        Err(error) => {
            output.error(&error.to_string());
            Ok(Outcome::Problems)
        }
    }
}

/// Whether files would overwrite handwritten ones; reports them.
pub(super) fn has_handwritten(out: &Path, files: &Files, output: &mut Output) -> bool {
    let paths: Vec<String> = files.not_generated(out).iter().map(|path| path.display().to_string()).collect();
    if !paths.is_empty() {
        output.error(&format!(
            "not generated by toolgen, so not replaced: {}; nothing is written. Name another directory, or replace them \
             with `--force`",
            paths.join(", ")
        ));
    }
    !paths.is_empty()
}

fn compare(task: &Generate, files: &Files, output: &mut Output) -> io::Result<Outcome> {
    let differing = files.differing(&task.out);
    for path in &differing {
        output.line(&format!("{} is missing or differs", path.display()))?;
    }
    let stale = files.stale(&task.out);
    for path in &stale {
        output.line(&format!("{} is left over from an earlier run", path.display()))?;
    }
    Ok(if differing.is_empty() && stale.is_empty() { Outcome::Fine } else { Outcome::Problems })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn runtime_path_is_found_from_the_crate() {
        for (out, runtime, force, expected) in [
            ("/ada/app/tools", "/ada/toolgen/runtime", false, Some("../../toolgen/runtime")),
            ("/ada/app/../b/tools", "/ada/b/../runtime", false, Some("../../runtime")),
            ("/ada/tools", "/lib/toolgen/runtime", false, None),
            ("/ada/tools", "/lib/toolgen/runtime", true, Some("../../lib/toolgen/runtime")),
        ] {
            let path = relative(&normalize(Path::new(out)), &normalize(Path::new(runtime)), force);
            assert_eq!(path.as_deref(), expected.map(Path::new), "{out} {runtime}");
        }
    }
}
