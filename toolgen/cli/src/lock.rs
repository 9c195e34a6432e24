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
        output.complain("the lock was not written, because it would lack tools");
        return Ok(Outcome::Problems);
    }
    let to_stdout = task.out == Path::new("-");
    let dir = if to_stdout { Path::new("") } else { folder_of(&task.out) };
    let programs: Vec<&Program> = compiled.iter().filter_map(|one| one.program.as_ref()).collect();
    let Some(now) = surface_for(&programs, &task.selection, dir, output) else {
        return Ok(Outcome::Problems);
    };
    if to_stdout {
        output.write(&now.text())?;
        return Ok(Outcome::Fine);
    }
    // A lock that cannot be read is replaced without a report of the changes.
    let before = if task.out.exists() { load(&task.out, &mut Problems::new()) } else { None };
    let changes = before.map(|before| before.drift(&now));
    if !written(&task.out, &now, output) {
        return Ok(Outcome::Problems);
    }
    if task.format.json {
        output.json(&lock_json(&task.out, &now, changes.as_deref()))?;
        output.line("")?;
    } else {
        show(&task.out, "locked", &now, changes.as_deref(), output)?;
    }
    Ok(Outcome::Fine)
}

/// Compares compiled documents with their lock, if they have one, and rewrites it with `--update`.
pub(super) fn compare(task: &Check, compiled: &[Compiled], output: &mut Output) -> io::Result<Outcome> {
    let selection = &task.selection;
    let programs: Vec<&Program> = compiled.iter().filter_map(|one| one.program.as_ref()).collect();
    let Some(path) = lock_of(selection, &programs, output) else {
        if task.update {
            output.complain(
                "there is no lock to update; pass it as `--lock`, or write one with `cargo toolgen lock`",
            );
            return Ok(Outcome::Problems);
        }
        return Ok(Outcome::Fine);
    };
    if programs.len() < compiled.len() {
        output.complain(&format!("{} was not compared, because tools are missing", path.display()));
        return Ok(Outcome::Problems);
    }
    let Some(now) = surface_for(&programs, selection, folder_of(&path), output) else {
        return Ok(Outcome::Problems);
    };
    let mut problems = Problems::new();
    let locked = load(&path, &mut problems);
    if locked.is_none() && !task.update {
        output.problems(&problems, |_| true);
        return Ok(Outcome::Problems);
    }
    let changes = locked.map(|locked| locked.drift(&now));
    if task.format.json {
        output.write(",\n\"lock\":")?;
        output.json(&lock_json(&path, &now, changes.as_deref()))?;
    } else {
        show(&path, "compared", &now, changes.as_deref(), output)?;
    }
    if task.update {
        return Ok(if written(&path, &now, output) { Outcome::Fine } else { Outcome::Problems });
    }
    let denied = changes.iter().flatten().any(|change| change.class >= selection.options.deny_changes);
    if denied && !task.format.json {
        output.note("if the changes are intended, `--update` rewrites the lock; review and commit it");
    }
    Ok(if denied { Outcome::Problems } else { Outcome::Fine })
}

/// Returns the lock of `--lock`, the lock that the only manifest names, or a lock next to the first document for the
/// same documents and options.
fn lock_of(selection: &Selection, programs: &[&Program], output: &mut Output) -> Option<PathBuf> {
    if let Some(path) = &selection.options.lock {
        return Some(path.clone());
    }
    if let [program] = programs
        && let Some(path) = &program.lock
    {
        return Some(path.clone());
    }
    let beside = folder_of(selection.documents().first()?).join(LOCK);
    if !beside.exists() {
        return None;
    }
    let locked = load(&beside, &mut Problems::new());
    let Some(locked) = locked else {
        output.note(&format!("{} cannot be read; `--lock` shows the reason", beside.display()));
        return None;
    };
    if locked.documents != documents(selection, folder_of(&beside)) || locked.options != options(selection) {
        let (path, of, with) = (beside.display(), locked.documents.join(" "), &locked.options);
        output.note(&format!(
            "{path} is the lock of `{of}{with}`, and was not compared; `--lock {path}` compares it"
        ));
        return None;
    }
    Some(beside)
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
            output.complain(&format!("{error} by `--rename OLD=NEW`"));
            None
        }
    }
}

fn options(selection: &Selection) -> String {
    selection.options.command_line()
}

/// Returns the documents as paths relative to a directory, and the arguments that select programs.
fn documents(selection: &Selection, dir: &Path) -> Vec<String> {
    let files = selection.documents().iter().map(|path| from_folder(path, dir));
    files.chain(selection.exported.iter().map(|program| program.join(" "))).collect()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Returns a path relative to a directory, with `/` on every system. A URL is unchanged.
fn from_folder(path: &Path, dir: &Path) -> String {
    if let Some(url) = fetch::url(path) {
        return url.to_owned();
    }
    let full = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let here = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let (path, dir) = (full(path), full(here));
    let parts = |path: &Path| -> Vec<String> {
        let is_named = path.components().filter(|part| *part != Component::CurDir);
        is_named.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let (path, dir) = (parts(&path), parts(&dir));
    let same = path.iter().zip(&dir).take_while(|(left, right)| left == right).count();
    let up = dir.iter().skip(same).map(|_| "..".to_owned());
    up.chain(path.into_iter().skip(same)).collect::<Vec<_>>().join("/")
}

/// Writes a lock. Reports an error, and returns whether it succeeded.
fn written(path: &Path, surface: &Surface, output: &mut Output) -> bool {
    let result = write_if_changed(path, &surface.text());
    result.map_err(|error| output.complain(&error.to_string())).is_ok()
}

fn lock_json(path: &Path, now: &Surface, changes: Option<&[Change]>) -> Value {
    let changes = changes.map(changes_json);
    json!({"path": path.display().to_string(), "tools": now.names().count(), "changes": changes})
}

fn show(
    path: &Path,
    verb: &str,
    now: &Surface,
    changes: Option<&[Change]>,
    output: &mut Output,
) -> io::Result<()> {
    let count = now.names().count();
    let plural = if count == 1 { "" } else { "s" };
    let changed = match changes {
        None => String::new(),
        Some([]) => ", as locked".to_owned(),
        Some(changes) => format!(", {}", counted(changes)),
    };
    output.line(&format!("{}: {verb} {count} tool{plural}{changed}", path.display()))?;
    output.write(&report(changes.unwrap_or_default()))
}
