//! The words of the commands about MCP servers.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::selection::{no_variable, private_hosts, variables};
use super::{Task, format, is_json, option, path, private_host};

/// `mcp`
#[derive(Debug)]
pub(in super::super) enum Mcp {
    Lock(Lock),
    Verify(Verify),
}

/// `mcp lock`
#[derive(Debug)]
pub(in super::super) struct Lock {
    /// Manifests and locks whose servers are locked.
    pub(in super::super) documents: Vec<PathBuf>,
    /// A server that no file names.
    pub(in super::super) server: Option<Given>,
    /// Which requests the servers are told they may make, if that is to change.
    pub(in super::super) capabilities: Vec<String>,
    /// On whose behalf the list is requested.
    pub(in super::super) scope: Option<String>,
    pub(in super::super) asking: Asking,
    pub(in super::super) json: bool,
}

/// A server as it is given on the command line.
#[derive(Debug)]
pub(in super::super) struct Given {
    pub(in super::super) alias: String,
    pub(in super::super) out: PathBuf,
    pub(in super::super) reached: Reached,
}

/// How a server is reached.
#[derive(Debug)]
pub(in super::super) enum Reached {
    Program { argv: Vec<String>, inherit: Vec<String>, work_dir: String },
    Url { url: String, headers: Vec<(String, String)>, bearer: String },
}

/// `mcp verify`
#[derive(Debug)]
pub(in super::super) struct Verify {
    pub(in super::super) documents: Vec<PathBuf>,
    pub(in super::super) asking: Asking,
    pub(in super::super) json: bool,
}

/// How servers are asked.
#[derive(Debug)]
pub(in super::super) struct Asking {
    pub(in super::super) private_hosts: Vec<String>,
    /// How long a server may take to start, and then to list its tools, in seconds.
    pub(in super::super) timeout: u64,
}

/// Returns the command.
pub(super) fn command() -> Command {
    Command::new("mcp")
        .about("Lock the tools of MCP servers, and compare servers with their locks")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(lock())
        .subcommand(verify())
}

fn lock() -> Command {
    let several = |name, value, help| option(name, value, help).action(ArgAction::Append);
    Command::new("lock")
        .about("Ask servers for their tools, and write locks to be read and committed")
        .arg(documents("Manifests that import MCP servers, and locks to be written again"))
        .arg(option("alias", "NAME", "The name of a server that no file names: its tools are `NAME__…`"))
        .arg(path("out", "FILE", "The lock of that server; NAME.lock.json by default").requires("alias"))
        .arg(several("env", "VARIABLE", "A variable of this environment that its program gets").requires("alias"))
        .arg(option("cwd", "DIR", "The folder that its program starts in").requires("alias"))
        .arg(option("url", "URL", "Where it is, if it is not a program").requires("alias"))
        .arg(several("header", "NAME=VARIABLE", "A header, by the variable that holds it").requires("url"))
        .arg(option("bearer", "VARIABLE", "The variable that holds the bearer token").requires("url"))
        .arg(
            several("capability", "NAME", "Tell servers that they may ask for this, or answer with tasks")
                .value_parser(["elicitation", "roots", "sampling", "tasks"]),
        )
        .arg(option("auth-scope", "TEXT", "Who is asking, if the list depends on it: kept in the lock"))
        .arg(timeout())
        .arg(private_host())
        .arg(format())
        .arg(
            Arg::new("command")
                .value_name("COMMAND")
                .num_args(0..)
                .last(true)
                .requires("alias")
                .conflicts_with("url")
                .help("The program that is started, and its arguments"),
        )
        .after_help(
            "An existing lock is replaced, and each change is reported with its class: compatible, text, added, \
             breaking or security.",
        )
}

fn verify() -> Command {
    Command::new("verify")
        .about("Compare what servers offer with their locks; exit with 1 if anything differs")
        .arg(documents("Manifests that import MCP servers, and locks").required(true))
        .arg(timeout())
        .arg(private_host())
        .arg(format())
}

fn timeout() -> Arg {
    // A package may have to be installed first.
    option("timeout", "SECONDS", "How long a server may take to start, and then to list its tools")
        .value_parser(value_parser!(u64).range(1..))
        .default_value("120")
}

fn documents(help: &'static str) -> Arg {
    Arg::new("documents").value_name("FILE").num_args(0..).value_parser(value_parser!(PathBuf)).help(help)
}

/// Returns the task of the command.
pub(super) fn task(matches: &ArgMatches) -> Result<Task, String> {
    let Some((name, matches)) = matches.subcommand() else { return Err("name a command".to_owned()) };
    let documents: Vec<PathBuf> =
        matches.get_many::<PathBuf>("documents").unwrap_or_default().cloned().collect();
    let json = is_json(matches);
    let timeout = matches.get_one("timeout").copied().unwrap_or_default();
    let asking = Asking { private_hosts: private_hosts(matches)?, timeout };
    if name == "verify" {
        return Ok(Task::Mcp(Mcp::Verify(Verify { documents, asking, json })));
    }
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let texts =
        |name: &str| matches.get_many::<String>(name).unwrap_or_default().cloned().collect::<Vec<_>>();
    for (option, name) in [("env", "`--env VARIABLE`"), ("bearer", "`--bearer VARIABLE`")] {
        if let Some(why) = texts(option).iter().find_map(|given| no_variable(name, given)) {
            return Err(why);
        }
    }
    let server = match text("alias") {
        None if documents.is_empty() => {
            return Err("name a manifest or a lock, or a server by `--alias NAME -- COMMAND`".to_owned());
        }
        None => None,
        Some(alias) => {
            let argv = texts("command");
            let reached = match text("url") {
                Some(url) => Reached::Url {
                    url,
                    headers: variables(matches, "header", "NAME")?,
                    bearer: text("bearer").unwrap_or_default(),
                },
                None if argv.is_empty() => {
                    return Err("say how the server is reached: `-- COMMAND` or `--url URL`".to_owned());
                }
                None => Reached::Program {
                    argv,
                    inherit: texts("env"),
                    work_dir: text("cwd").unwrap_or_default(),
                },
            };
            let out = matches.get_one::<PathBuf>("out").cloned();
            let out = out.unwrap_or_else(|| PathBuf::from(format!("{alias}.lock.json")));
            Some(Given { alias, out, reached })
        }
    };
    let (capabilities, scope) = (texts("capability"), text("auth-scope"));
    Ok(Task::Mcp(Mcp::Lock(Lock { documents, server, capabilities, scope, asking, json })))
}
