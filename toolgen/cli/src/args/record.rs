//! The words of `record`.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};

use super::{Task, flag, option, path};

/// `record`
#[derive(Debug)]
pub(in super::super) struct Record {
    pub(in super::super) audit: PathBuf,
    pub(in super::super) run: Option<String>,
    pub(in super::super) session: Option<String>,
    pub(in super::super) agent: Option<String>,
    pub(in super::super) principal: Option<String>,
    /// Where the run is written; it is printed if there is none.
    pub(in super::super) out: Option<PathBuf>,
    pub(in super::super) force: bool,
}

pub(super) fn command() -> Command {
    Command::new("record")
        .about("Extract the calls of a run from an audit log, as the file that a test replays")
        .arg(
            Arg::new("audit")
                .value_name("AUDIT")
                .value_parser(value_parser!(PathBuf))
                .help("The log: lines of JSON, an SQLite database, the URL of a PostgreSQL database, or env:NAME for the variable that holds it")
                .required(true),
        )
        .arg(option("run", "RUN", "Only the calls of this run of the program; `last` is the one that began last"))
        .arg(option("session", "ID", "Only the calls of this session"))
        .arg(option("agent", "ID", "Only the calls of this agent"))
        .arg(option("principal", "ID", "Only the calls for this principal"))
        .arg(path("out", "FILE", "Write to this file, instead of the standard output (`-`)"))
        .arg(flag("force", "Replace the file if it exists").requires("out"))
        .after_help(
            "Matching calls are taken with all calls that they made. Secrets are masked in the log, and so in the file.",
        )
}

pub(super) fn task(matches: &ArgMatches) -> Task {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    Task::Record(Record {
        audit: matches.get_one::<PathBuf>("audit").cloned().unwrap_or_default(),
        run: text("run"),
        session: text("session"),
        agent: text("agent"),
        principal: text("principal"),
        out: matches.get_one::<PathBuf>("out").cloned(),
        force: matches.get_flag("force"),
    })
}
