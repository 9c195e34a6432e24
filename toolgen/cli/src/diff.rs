//! `diff`: compares the tools of two documents, locks or programs.

use std::io;

use serde_json::json;
use toolgen::contract::surface;
use toolgen_runtime::spec::drift::report::{counted, json, report};
use toolgen_runtime::spec::surface::Surface;

use super::Outcome;
use super::args::Diff;
use super::compile::{Compiled, compile, compile_each};
use super::output::Output;

/// Prints the changes, by class. Returns `Problems` if one of them is denied.
pub(super) fn run(task: &Diff, output: &mut Output) -> io::Result<Outcome> {
    let selection = &task.selection;
    if selection.documents().len() + selection.exported.len() != 2 {
        output.error("pass two documents or programs: the older, then the newer");
        return Ok(Outcome::Usage);
    }
    let mut all = compile_each(selection, output);
    unify_aliases(&mut all, task, output);
    let surfaces: Vec<Option<Surface>> = all.iter().map(|compiled| surface_of(compiled, output)).collect();
    let ([old, new], [Some(old_surface), Some(new_surface)]) = (all.as_slice(), surfaces.as_slice()) else {
        return Ok(Outcome::Problems);
    };
    let changes = old_surface.drift(new_surface);
    if task.format.json {
        let (old, new) = (old.path.display().to_string(), new.path.display().to_string());
        output.json(&json!({"old": old, "new": new, "changes": json(&changes)}))?;
        output.line("")?;
    } else {
        output.write(&report(&changes))?;
        output.line(&if changes.is_empty() { "no change".to_owned() } else { counted(&changes) })?;
    }
    let denied = changes.iter().any(|change| change.class >= selection.options.deny_changes);
    Ok(if denied { Outcome::Problems } else { Outcome::Fine })
}

fn surface_of(compiled: &Compiled, output: &mut Output) -> Option<Surface> {
    let Some(program) = &compiled.program else {
        output.problems(&compiled.problems, |_| true);
        output.error(&format!("{} cannot be compiled", compiled.path.display()));
        return None;
    };
    let surface = surface(&[program]);
    surface.map_err(|error| output.error(&format!("{}: {error}", compiled.path.display()))).ok()
}

/// Compiles the tool lists of MCP servers again under one alias: lists do not contain the name of their server, and
/// aliases from the file names would make all tools differ.
fn unify_aliases(all: &mut [Compiled], task: &Diff, output: &mut Output) {
    let is_mcp = |compiled: &Compiled| compiled.program.as_ref().is_some_and(|program| program.kind == "mcp");
    if task.selection.options.namespace.is_some() || !all.iter().all(is_mcp) {
        return;
    }
    let alias = |compiled: &Compiled| {
        let program = compiled.program.as_ref()?;
        program.servers.first().map(|source| source.server.alias.to_string())
    };
    let shared = all.iter().find_map(alias).unwrap_or_else(|| "mcp".to_owned());
    let mut selection = task.selection.clone();
    selection.options.namespace = Some(shared);
    let is_stdin = |compiled: &Compiled| compiled.path.as_os_str() == "-";
    for compiled in all.iter_mut().filter(|compiled| alias(compiled).is_none() && !is_stdin(compiled)) {
        *compiled = compile(&compiled.path.clone(), &selection, output);
    }
}
