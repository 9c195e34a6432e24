//! The words of `timeline`.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};

use super::{Task, flag, option, path};

/// `timeline`
#[derive(Debug)]
pub(in super::super) struct Timeline {
    pub(in super::super) audit: PathBuf,
    /// The documents of the tools, for the commands that call them again.
    pub(in super::super) documents: Vec<PathBuf>,
    /// Where the page is written; it is served if there is none.
    pub(in super::super) out: Option<PathBuf>,
    pub(in super::super) force: bool,
    pub(in super::super) listen: String,
    /// The database with the calls that wait for an approval, if it is not the log.
    pub(in super::super) approvals: Option<PathBuf>,
}

pub(super) fn command() -> Command {
    let file =
        |name, value, help| Arg::new(name).value_name(value).value_parser(value_parser!(PathBuf)).help(help);
    Command::new("timeline")
        .about("Show an audit log in a browser: runs, calls, their arguments and their outcomes")
        .arg(
            file(
                "audit",
                "AUDIT",
                "The log: lines of JSON, an SQLite database, the URL of a PostgreSQL database, or env:NAME for the variable that holds it",
            )
            .required(true),
        )
        .arg(
            file(
                "documents",
                "DOCUMENT",
                "The documents of the tools, for the commands that call them again",
            )
            .num_args(0..),
        )
        .arg(path(
            "approvals",
            "DB",
            "The database in which calls wait for an approval; the log itself by default, if it has them",
        ))
        .arg(path("out", "FILE", "Write one HTML page to this file, or to the standard output: `-`, instead of serving it"))
        .arg(flag("force", "Replace the file if it exists").requires("out"))
        .arg(
            option(
                "listen",
                "ADDRESS",
                "Where to serve: an address of this machine only; port 0 picks a free one",
            )
            .default_value("127.0.0.1:0")
            .conflicts_with("out"),
        )
}

pub(super) fn task(matches: &ArgMatches) -> Task {
    Task::Timeline(Timeline {
        audit: matches.get_one::<PathBuf>("audit").cloned().unwrap_or_default(),
        documents: matches.get_many::<PathBuf>("documents").unwrap_or_default().cloned().collect(),
        out: matches.get_one::<PathBuf>("out").cloned(),
        force: matches.get_flag("force"),
        approvals: matches.get_one::<PathBuf>("approvals").cloned(),
        listen: matches.get_one::<String>("listen").cloned().unwrap_or_default(),
    })
}
