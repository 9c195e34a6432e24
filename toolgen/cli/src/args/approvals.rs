//! The words of `approvals`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::{Task, flag, format, is_json, option};

/// `approvals`
#[derive(Debug)]
pub(in super::super) struct Approvals {
    /// The database with the queue.
    pub(in super::super) database: PathBuf,
    pub(in super::super) task: ApprovalTask,
    pub(in super::super) json: bool,
}

/// What is to be done with the calls of a queue.
#[derive(Debug)]
pub(in super::super) enum ApprovalTask {
    /// Those in these states; if there are none, all that are not over.
    List {
        states: Vec<String>,
        all: bool,
    },
    Show {
        id: String,
    },
    Decide {
        id: String,
        granted: bool,
        by: String,
        note: String,
    },
}

pub(super) fn command() -> Command {
    let states = ["waiting", "granted", "denied", "claimed", "started", "finished", "expired"];
    Command::new("approvals")
        .about("Show the calls that wait for an approval, and grant or deny them")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("list")
                .about("List the calls that wait, and those that were decided but are not over")
                .arg(database())
                .arg(
                    option("state", "STATE", "Only those in this state; may be given several times")
                        .action(ArgAction::Append)
                        .value_parser(states),
                )
                .arg(flag("all", "Also those that are over").conflicts_with("state"))
                .arg(format())
                .after_help(STATES),
        )
        .subcommand(Command::new("show").about("Show all that is known about a call").args([
            database(),
            id(),
            format(),
        ]))
        .subcommand(deciding(
            "grant",
            "Let a call run: a worker of the program carries it out",
            "Why, for the record",
        ))
        .subcommand(deciding(
            "deny",
            "Refuse a call: a worker of the program tells the model",
            "Why, for the model",
        ))
}

const STATES: &str = "States: waiting (nobody has decided), granted and denied (no worker has it yet), claimed (a worker \
    is about to start it), started (it runs; or its worker is gone, and it may have had its effect), finished, expired.";

fn deciding(name: &'static str, about: &'static str, note: &'static str) -> Command {
    Command::new(name)
        .about(about)
        .args([database(), id()])
        .arg(option("by", "WHO", "Who decides, for the record").required(true))
        .arg(option("note", "TEXT", note).default_value(""))
        .arg(format())
        .after_help("The first decision counts; a second one is refused and says who decided.")
}

fn database() -> Arg {
    Arg::new("database")
        .value_name("DB")
        .required(true)
        .value_parser(value_parser!(PathBuf))
        .help("Where the program keeps them: an SQLite database, the URL of a PostgreSQL database, that of a Redis server with the namespace after `#`, or env:NAME for the variable that holds it")
}

fn id() -> Arg {
    Arg::new("id").value_name("ID").required(true).help("The ID of the call, or its beginning")
}

/// Returns the task of the command.
pub(super) fn task(matches: &ArgMatches) -> Result<Task, String> {
    let Some((name, matches)) = matches.subcommand() else { return Err("name a command".to_owned()) };
    let text = |name: &str| matches.get_one::<String>(name).cloned().unwrap_or_default();
    let task = match name {
        "list" => ApprovalTask::List {
            states: matches.get_many::<String>("state").unwrap_or_default().cloned().collect(),
            all: matches.get_flag("all"),
        },
        "show" => ApprovalTask::Show { id: text("id") },
        _ => {
            let by = text("by");
            if by.trim().is_empty() {
                return Err("`--by` is empty: say who decides".to_owned());
            }
            ApprovalTask::Decide { id: text("id"), granted: name == "grant", by, note: text("note") }
        }
    };
    let database = matches.get_one::<PathBuf>("database").cloned().unwrap_or_default();
    Ok(Task::Approvals(Approvals { database, task, json: is_json(matches) }))
}
