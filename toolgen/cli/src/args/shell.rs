//! The words of the commands about this program and the place it runs in: `doctor`, `completions` and `man`.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;

use super::{Task, flag, format, is_json};

/// `doctor`
#[derive(Debug)]
pub(in super::super) struct Doctor {
    /// The folder to look at.
    pub(in super::super) folder: PathBuf,
    /// Whether only files are looked at, and no program is started.
    pub(in super::super) offline: bool,
    pub(in super::super) json: bool,
}

pub(super) fn doctor() -> Command {
    Command::new("doctor")
        .about("Look at the toolchain, documents, locks, credentials and programs here, and say what is missing")
        .arg(
            Arg::new("folder")
                .value_name("DIR")
                .value_parser(value_parser!(PathBuf))
                .default_value(".")
                .help("The folder to look at, with those below it"),
        )
        .arg(flag("offline", "Start no program, not even to ask for its version"))
        .arg(format())
        .after_help(
            "Nothing is changed, sent or called, and no value of a variable is shown. A line that begins with `!` says what \
             does not work and what to do about it; if there is one, the exit code is 1. One with `-` is worth knowing.",
        )
}

pub(super) fn completions() -> Command {
    Command::new("completions")
        .about("Print the script that makes a shell complete the words of this program")
        .arg(
            Arg::new("shell")
                .value_name("SHELL")
                .required(true)
                .value_parser(value_parser!(Shell))
                .help("The shell"),
        )
        .after_help(
            "The script completes `cargo-toolgen`, and `cargo toolgen` where the shell asks the subcommands of cargo for \
             completions.",
        )
}

pub(super) fn man() -> Command {
    Command::new("man").about("Write the manual pages, one for each command").arg(
        Arg::new("folder")
            .value_name("DIR")
            .required(true)
            .value_parser(value_parser!(PathBuf))
            .help("The folder to write to"),
    )
}

/// Returns the task of one of the commands.
pub(super) fn task(name: &str, matches: &ArgMatches) -> Option<Task> {
    let folder = || matches.get_one::<PathBuf>("folder").cloned().unwrap_or_default();
    match name {
        "doctor" => Some(Task::Doctor(Doctor {
            folder: folder(),
            offline: matches.get_flag("offline"),
            json: is_json(matches),
        })),
        "completions" => matches.get_one::<Shell>("shell").copied().map(Task::Completions),
        "man" => Some(Task::Man(folder())),
        _ => None,
    }
}
