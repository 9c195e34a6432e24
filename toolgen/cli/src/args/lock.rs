//! The words of the commands about contracts: `check`, `lock` and `diff`.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command};
use toolgen_runtime::spec::drift::Class;

use super::{Selection, Task, compiling, flag, format, option, path};

/// `check`
#[derive(Debug)]
pub(in super::super) struct Check {
    pub(in super::super) selection: Selection,
    /// Whether the lock is written again.
    pub(in super::super) update: bool,
}

/// `lock`
#[derive(Debug)]
pub(in super::super) struct WriteLock {
    pub(in super::super) selection: Selection,
    /// The file, or `-` for the standard output.
    pub(in super::super) out: PathBuf,
}

/// `diff`
#[derive(Debug)]
pub(in super::super) struct Diff {
    /// Two documents or programs.
    pub(in super::super) selection: Selection,
}

/// The name of a lock that is looked for next to documents.
pub(in super::super) const LOCK: &str = "toolgen.lock";

/// Returns the command `check`.
pub(super) fn check() -> Command {
    compiling("check", "Report what is wrong with documents, how many tools they give, and what changed")
        .args(super::check::arguments())
        .args(super::tokens::budget())
        .arg(path("lock", "FILE", "Compare the tools with this contract lock"))
        .arg(fail_on())
        .arg(flag("update", "Write the lock again, and report what changed"))
        .after_help(format!(
            "Without `--lock`, the tools are compared with the lock that a manifest names, or with `{LOCK}` next to \
             the first document if it is for the same documents and options."
        ))
}

/// Returns the command `lock`.
pub(super) fn lock() -> Command {
    compiling("lock", "Write the contract of tools to a file that is reviewed and committed")
        .arg(path("out", "FILE", "The lock; `-` for the standard output").default_value(LOCK))
        .arg(format())
        .after_help(
            "An existing lock is replaced, and each change is reported with its class: security, breaking, model, \
             added, text or compatible. `check` and `diff` compare tools with it.",
        )
}

/// Returns the command `diff`.
pub(super) fn diff() -> Command {
    compiling("diff", "Compare the tools of two documents, locks, or programs of a crate").arg(format()).arg(fail_on()).after_help(
        "The older one comes first; programs come after documents. For a version in git: \
         `git show REV:api.yaml | cargo toolgen diff - api.yaml`.\n\nThe exit code is 1 if a change is of the \
         class of `--fail-on` or worse.",
    )
}

fn fail_on() -> Arg {
    option(
        "fail-on",
        "CLASS",
        "The least change that is an error: security, breaking, model, added, text, compatible",
    )
    .value_parser(Class::ALL.map(Class::name))
    .hide_possible_values(true)
    .default_value("breaking")
}

/// Returns the task of one of the commands.
pub(super) fn task(name: &str, matches: &ArgMatches, mut selection: Selection) -> Task {
    let text = |name: &str| matches.try_get_one::<String>(name).ok().flatten();
    let file = |name: &str| matches.try_get_one::<PathBuf>(name).ok().flatten().cloned();
    if let Some(class) = text("fail-on").and_then(|name| Class::by_name(name)) {
        selection.options.deny_changes = class;
    }
    selection.options.lock = file("lock");
    match name {
        "check" => Task::Check(Check { selection, update: matches.get_flag("update") }),
        "lock" => Task::Lock(WriteLock { selection, out: file("out").unwrap_or_default() }),
        _ => Task::Diff(Diff { selection }),
    }
}
