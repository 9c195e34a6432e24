//! The contract of compiled tools: what callers, models and policies rely on, compared with a committed lock.

use std::path::{Path, PathBuf};

use toolgen_core::spec::drift::report::visible;
use toolgen_core::spec::drift::{Change, ChangeClass};
use toolgen_core::spec::surface::{DuplicateName, Surface, recorded};

use crate::frontend::surface::{codes, read};
use crate::options::Options;
use crate::problem::Problems;
use crate::source::{Document, Pointer};
use crate::tool::{Program, Tool};

/// Returns the surface of all tools of these programs and of the toolsets they are in.
///
/// # Errors
///
/// Returns `DuplicateName` if two tools have the same name.
pub fn surface(programs: &[&Program]) -> Result<Surface, DuplicateName> {
    let tools = programs.iter().flat_map(|program| {
        let declared_call = |name: &str| program.calls.get(name).cloned();
        program.all_tools().into_iter().map(move |tool| {
            let declared = declared_call(tool.spec.name.as_str());
            // A lock has no execution plans: the plans of its tools are placeholders.
            let record = || (program.kind != "lock").then(|| recorded(&tool.call));
            (&tool.spec, declared.or_else(record))
        })
    });
    let toolsets = programs.iter().flat_map(|program| &program.toolsets);
    Ok(Surface::of(tools)?.with_toolsets(toolsets))
}

/// Reads a lock and reports its errors. It becomes the source of `problems`.
pub fn load(path: &Path, problems: &mut Problems) -> Option<Surface> {
    let Some(document) = Document::load(path, problems) else {
        let message = "the contract lock cannot be read";
        let help =
            format!("write it with `cargo toolgen lock DOCUMENT --out {}`, and commit it", path.display());
        problems.report(codes::UNUSABLE, &Pointer::ROOT, message, help);
        return None;
    };
    read(&document, problems)
}

/// Compares programs with the lock that the options name for all of them, and with the locks that each program names
/// for itself. A change of a class that the options deny is an error, any other change a warning.
#[must_use]
pub fn check(programs: &[&Program], options: &Options) -> Problems {
    let mut problems = Problems::new();
    let own_locks = programs.iter().filter_map(|program| Some((program.lock.as_ref()?, vec![*program])));
    let common_lock = options.lock.as_ref().map(|path| (path, programs.to_vec()));
    for (path, programs) in common_lock.into_iter().chain(own_locks) {
        let mut lock_problems = Problems::new();
        compare(path, &programs, options.deny_changes, &mut lock_problems);
        problems.append(lock_problems);
    }
    problems
}

/// Returns the locks that programs are compared with.
pub(crate) fn paths(programs: &[Program], options: &Options) -> Vec<PathBuf> {
    options.lock.iter().chain(programs.iter().filter_map(|program| program.lock.as_ref())).cloned().collect()
}

fn compare(path: &Path, programs: &[&Program], deny: ChangeClass, problems: &mut Problems) {
    let Some(locked) = load(path, problems) else { return };
    let current = match surface(programs) {
        Ok(current) => current,
        Err(error) => {
            let help = "rename one of them; a lock identifies tools by name";
            problems.report(codes::UNUSABLE, &Pointer::ROOT, error.to_string(), help);
            return;
        }
    };
    let tools: Vec<_> = programs.iter().flat_map(|program| program.all_tools()).collect();
    for change in locked.drift(&current) {
        let Change { tool, tools: changed_tools, class, message, .. } = &change;
        let code = if *class >= deny { codes::CHANGED } else { codes::DIFFERS };
        let message = format!("{class}: {}{}", visible(&change.place()), visible(message));
        let help = format!("if that is intended, write {} again, and review the changes", path.display());
        let first = changed_tools.first().unwrap_or(tool);
        match tools.iter().find(|tool| tool.spec.name.as_str() == first) {
            Some(Tool { origin, .. }) => {
                problems.report_in(&origin.source, code, &origin.pointer, message, help);
            }
            // A removed item has a location only in the lock.
            None => problems.report(code, &Pointer::ROOT.child("tools").child(first), message, help),
        }
    }
}
