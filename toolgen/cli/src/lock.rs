//! `lock`: writes the contract lock of tools. Also compares tools with it, for `check`.

use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};
use toolgen::contract::{load, surface};
use toolgen::write::write_if_changed;
use toolgen::{Problems, Program};
use toolgen_runtime::spec::drift::Change;
use toolgen_runtime::spec::drift::report::{counted, json as changes_json, report};
use toolgen_runtime::spec::surface::Surface;

use super::Outcome;
use super::args::{Check, LOCK, Selection, WriteLock};
use super::compile::{Compiled, compile_all};
use super::fetch;
use super::output::Output;

/// Writes the lock, and reports the changes since the previous one. Nothing is written if a document could not be
/// compiled, because its tools would be missing.
pub(super) fn run(task: &WriteLock, output: &mut Output) -> io::Result<Outcome> {
    let (compiled, complete) = compile_all(&task.selection, &[], output);
    if !complete {
        output.error("the lock was not written, because it would lack tools");
        return Ok(Outcome::Problems);
    }
    let to_stdout = task.out == Path::new("-");
    let dir = if to_stdout { Path::new("") } else { dir_of(&task.out) };
    let programs: Vec<&Program> = compiled.iter().filter_map(|compiled| compiled.program.as_ref()).collect();
    let Some(current) = surface_for(&programs, &task.selection, dir, output) else {
        return Ok(Outcome::Problems);
    };
    if to_stdout {
        output.write(&current.text())?;
        return Ok(Outcome::Fine);
    }
    // A lock that cannot be read is replaced without a report of the changes.
    let previous = if task.out.exists() { load(&task.out, &mut Problems::new()) } else { None };
    let changes = previous.map(|previous| previous.drift(&current));
    if !write_lock(&task.out, &current, output) {
        return Ok(Outcome::Problems);
    }
    if task.format.json {
        output.json(&lock_json(&task.out, &current, changes.as_deref()))?;
        output.line("")?;
    } else {
        show(&task.out, "locked", &current, changes.as_deref(), output)?;
    }
    Ok(Outcome::Fine)
}

/// Compares compiled documents with their lock, if they have one, and rewrites it with `--update`.
pub(super) fn compare(task: &Check, compiled: &[Compiled], output: &mut Output) -> io::Result<Outcome> {
    let selection = &task.selection;
    let programs: Vec<&Program> = compiled.iter().filter_map(|compiled| compiled.program.as_ref()).collect();
    let Some(path) = find_lock(selection, &programs, output) else {
        if task.update {
            output.error(
                "there is no lock to update; pass it as `--lock`, or write one with `cargo toolgen lock`",
            );
            return Ok(Outcome::Problems);
        }
        return Ok(Outcome::Fine);
    };
    if programs.len() < compiled.len() {
        output.error(&format!("{} was not compared, because tools are missing", path.display()));
        return Ok(Outcome::Problems);
    }
    let Some(current) = surface_for(&programs, selection, dir_of(&path), output) else {
        return Ok(Outcome::Problems);
    };
    let mut problems = Problems::new();
    let locked = load(&path, &mut problems);
    if locked.is_none() && !task.update {
        output.problems(&problems, |_| true);
        return Ok(Outcome::Problems);
    }
    let changes = locked.map(|locked| locked.drift(&current));
    if task.format.json {
        output.write(",\n\"lock\":")?;
        output.json(&lock_json(&path, &current, changes.as_deref()))?;
    } else {
        show(&path, "compared", &current, changes.as_deref(), output)?;
    }
    if task.update {
        return Ok(if write_lock(&path, &current, output) { Outcome::Fine } else { Outcome::Problems });
    }
    let denied = changes.iter().flatten().any(|change| change.class >= selection.options.deny_changes);
    if denied && !task.format.json {
        output.note("if the changes are intended, `--update` rewrites the lock; review and commit it");
    }
    Ok(if denied { Outcome::Problems } else { Outcome::Fine })
}

/// Returns the lock of `--lock`, the lock that the only manifest names, or a lock next to the first document for the
/// same documents and options.
fn find_lock(selection: &Selection, programs: &[&Program], output: &mut Output) -> Option<PathBuf> {
    if let Some(path) = &selection.options.lock {
        return Some(path.clone());
    }
    if let [program] = programs
        && let Some(path) = &program.lock
    {
        return Some(path.clone());
    }
    let lock_path = dir_of(selection.documents().first()?).join(LOCK);
    if !lock_path.exists() {
        return None;
    }
    let locked = load(&lock_path, &mut Problems::new());
    let Some(locked) = locked else {
        output.note(&format!("{} cannot be read; `--lock` shows the reason", lock_path.display()));
        return None;
    };
    if locked.documents != documents(selection, dir_of(&lock_path)) || locked.options != options(selection) {
        let (path, documents, options) = (lock_path.display(), locked.documents.join(" "), &locked.options);
        output.note(&format!(
            "{path} is the lock of `{documents}{options}`, and was not compared; `--lock {path}` compares it"
        ));
        return None;
    }
    Some(lock_path)
}

fn surface_for(
    programs: &[&Program],
    selection: &Selection,
    dir: &Path,
    output: &mut Output,
) -> Option<Surface> {
    match surface(programs) {
        Ok(mut surface) => {
            surface.documents = documents(selection, dir);
            surface.options = options(selection);
            Some(surface)
        }
        Err(error) => {
            output.error(&format!("{error} by `--rename OLD=NEW`"));
            None
        }
    }
}

fn options(selection: &Selection) -> String {
    selection.options.command_line()
}

/// Returns the documents as paths relative to a directory, and the arguments that select programs.
fn documents(selection: &Selection, dir: &Path) -> Vec<String> {
    let files = selection.documents().iter().map(|path| relative_to(path, dir));
    files.chain(selection.exported.iter().map(|program| program.join(" "))).collect()
}

fn dir_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Returns a path relative to a directory, with `/` on every system. A URL is unchanged.
fn relative_to(path: &Path, dir: &Path) -> String {
    if let Some(url) = fetch::url(path) {
        return url.to_owned();
    }
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let base = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let (path, dir) = (absolute(path), absolute(base));
    let parts = |path: &Path| -> Vec<String> {
        let components = path.components().filter(|part| *part != Component::CurDir);
        components.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let (path, dir) = (parts(&path), parts(&dir));
    let common = path.iter().zip(&dir).take_while(|(left, right)| left == right).count();
    let up = dir.iter().skip(common).map(|_| "..".to_owned());
    up.chain(path.into_iter().skip(common)).collect::<Vec<_>>().join("/")
}

/// Writes a lock. Reports an error, and returns whether it succeeded.
fn write_lock(path: &Path, surface: &Surface, output: &mut Output) -> bool {
    let result = write_if_changed(path, &surface.text());
    result.map_err(|error| output.error(&error.to_string())).is_ok()
}

fn lock_json(path: &Path, current: &Surface, changes: Option<&[Change]>) -> Value {
    let changes = changes.map(changes_json);
    json!({"path": path.display().to_string(), "tools": current.names().count(), "changes": changes})
}

fn show(
    path: &Path,
    verb: &str,
    current: &Surface,
    changes: Option<&[Change]>,
    output: &mut Output,
) -> io::Result<()> {
    let count = current.names().count();
    let plural = if count == 1 { "" } else { "s" };
    let changed = match changes {
        None => String::new(),
        Some([]) => ", as locked".to_owned(),
        Some(changes) => format!(", {}", counted(changes)),
    };
    output.line(&format!("{}: {verb} {count} tool{plural}{changed}", path.display()))?;
    output.write(&report(changes.unwrap_or_default()))
}
