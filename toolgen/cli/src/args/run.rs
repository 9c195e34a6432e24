//! The words of the commands that run tools, and of those that show what became of calls.

use std::path::PathBuf;

use clap::{Args, Subcommand, value_parser};

use super::requests::{Requests, WorkDir};
use super::selection::{ServerArgument, Words};
use super::{Format, Selection, Tools};

const ARGUMENTS: &str = "Arguments by name, typed by the schema of the tool:
  name=Ada limit=10 dry=true     a text, a number, a boolean; a text stays one, whatever it looks like
  tags=a,b or tags=a tags=b      a list; texts with commas are given as JSON: tags='[\"a,b\"]'
  owner.name=Ada owner.age=36    an object, by its parts; or as JSON: owner='{\"name\": \"Ada\"}'
  text=@notes.md, text=@-        the content of a file, or the standard input; text=@@ada is the text `@ada`
  photo=@cat.png                 a file to send, under its name, and as photo.content_type=image/png if that is given; a
                                 list of files: files=@a.png files=@b.png";

/// Call a tool of a document, or show the request it would send
#[derive(Debug, Args)]
// Who calls is who names the files.
#[command(after_help = ARGUMENTS, mut_arg("files", |files| files.default_value(".")))]
pub(crate) struct Call {
    /// The document that has the tool: a file, a URL, or `-` for the standard input
    pub(super) document: PathBuf,
    /// The name of the tool; without one you choose from a list, at a terminal
    pub(crate) tool: Option<String>,
    /// The arguments: NAME=VALUE each, or all as one JSON object; `@FILE` reads one from a file, `-` from the standard
    /// input
    #[arg(value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    #[command(flatten)]
    pub(crate) format: Format,
    /// Print the request or the command, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the body of the answer to this file, which must not exist, or to the standard output: `-`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["save", "dry_run"])]
    pub(super) output: Option<PathBuf>,
    /// Do not replace secrets with `****` in a dry run
    #[arg(long)]
    pub(crate) show_secrets: bool,
    #[command(flatten)]
    pub(crate) requests: Requests,
    #[command(flatten)]
    pub(super) words: Words,
    #[arg(skip)]
    pub(crate) selection: Selection,
}

/// Call each tool as its description says, and as it forbids, and show what happens
#[derive(Debug, Args)]
#[command(
    after_help = "Requests go to a server of this command, which records them; commands are recorded, not run, without \
        `--run`. For each tool:\n  \
        accepts   its examples, or arguments made from its schema, run\n  \
        refuses   arguments that break the schema are refused before anything runs\n  \
        reports   a failure of the service or the program is an error\n  \
        requires  a call whose requirements are not met is refused, and says which\n\n\
        The exit code is 1 if any of these does not hold.",
    mut_arg("work_dir", |work_dir| work_dir.requires("run"))
)]
pub(crate) struct Test {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) only: Tools,
    /// Really run the commands of tools that are `read_only`, with made-up arguments
    #[arg(long)]
    pub(crate) run: bool,
    #[command(flatten)]
    pub(crate) place: WorkDir,
    /// Write these tests as Rust to this file, and run nothing
    #[arg(long, value_name = "FILE")]
    pub(crate) emit: Option<PathBuf>,
    /// Replace a file that was not generated, too
    #[arg(long)]
    pub(crate) force: bool,
}

/// Serve the tools of documents to clients of the Model Context Protocol
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing but the protocol goes to the standard output. Tools that are functions, effects or agents \
    cannot run here and are left out. Without a token, HTTP is served at a loopback address only."
)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(super) given: ServerArgument,
    #[command(flatten)]
    pub(super) words: Words,
    #[arg(skip)]
    pub(crate) selection: Selection,
    /// Serve one client on the standard input and output: the default
    #[arg(long)]
    stdio: bool,
    /// Serve clients over HTTP, at http://ADDRESS/mcp, such as 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS", conflicts_with = "stdio")]
    pub(crate) http: Option<String>,
    /// The environment variable with the bearer token that clients need
    #[arg(long, value_name = "VARIABLE", requires = "http")]
    pub(crate) token: Option<String>,
    /// Answer HTTP requests to this host, too, not only to this machine
    #[arg(long = "host", value_name = "NAME", requires = "http")]
    pub(crate) hosts: Vec<String>,
    /// Answer HTTP requests of web pages from this origin, too
    #[arg(long = "origin", value_name = "URL", requires = "http")]
    pub(crate) origins: Vec<String>,
    /// The most calls that run at the same time; a further one is answered with an error [default: 1024]
    #[arg(long, value_name = "NUMBER", value_parser = value_parser!(u32).range(1..))]
    pub(crate) max_calls: Option<u32>,
    /// The most HTTP connections at a time; a further client gets status 503 [default: 1024]
    #[arg(long, value_name = "NUMBER", value_parser = value_parser!(u32).range(1..), requires = "http")]
    pub(crate) max_connections: Option<u32>,
    /// The most HTTP sessions at a time; for a further one, the one idle longest ends [default: 512]
    #[arg(long, value_name = "NUMBER", value_parser = value_parser!(u32).range(1..), requires = "http")]
    pub(crate) max_sessions: Option<u32>,
    /// The most bytes in the body of an HTTP request; a longer one gets status 413 [default: 4194304]
    #[arg(long, value_name = "BYTES", value_parser = value_parser!(u32).range(1..), requires = "http")]
    pub(crate) max_request: Option<u32>,
    /// Only tools that match this rule: a name with `*`, `category:NAME` or `effect:KIND`
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// No tools that match this rule, even if another one allows them
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// Ask the person at the client before each call of a tool that matches this rule
    #[arg(long, value_name = "RULE")]
    pub(crate) ask: Vec<String>,
    /// Only tools that declare that they change nothing
    #[arg(long)]
    pub(crate) read_only: bool,
    /// List three tools that find, describe and call the others; auto: with more than 128 tools
    #[arg(long, value_name = "WHEN", value_parser = ["auto", "on", "off"], num_args = 0..=1, require_equals = true,
        default_missing_value = "on", default_value = "auto")]
    pub(crate) discovery: String,
    /// Keep this tool in the list despite `--discovery`
    #[arg(long = "pin", value_name = "NAME")]
    pub(crate) pinned: Vec<String>,
    /// Let clients give this value of the context, such as `session_id`, as an earlier call returned it
    #[arg(long = "client-value", value_name = "NAME")]
    pub(crate) client_values: Vec<String>,
    /// Append a record of each call to this file: an SQLite database if it ends in .sqlite, .sqlite3 or .db, lines of
    /// JSON otherwise; or to the PostgreSQL database at a URL, which env:NAME takes from a variable
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) requests: Requests,
}

/// Show the calls that wait for an approval, and grant or deny them
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Approvals {
    #[command(subcommand)]
    pub(crate) task: ApprovalTask,
}

const STATES: &str = "States: waiting (nobody has decided), granted and denied (no worker has it yet), claimed (a worker \
    is about to start it), started (it runs; or its worker is gone, and it may have had its effect), finished, expired.";
const DECIDED: &str = "The first decision counts; a second one is refused and says who decided.";

/// What is to be done with the calls of a queue.
#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalTask {
    /// List the calls that wait, and those that were decided but are not over
    #[command(after_help = STATES)]
    List {
        #[command(flatten)]
        queue: Queue,
        /// Only those in this state; may be given several times
        #[arg(long = "state", value_name = "STATE",
            value_parser = ["waiting", "granted", "denied", "claimed", "started", "finished", "expired"])]
        states: Vec<String>,
        /// Also those that are over
        #[arg(long, conflicts_with = "states")]
        all: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Show all that is known about a call
    Show {
        #[command(flatten)]
        queue: Queue,
        /// The ID of the call, or its beginning
        id: String,
        #[command(flatten)]
        format: Format,
    },
    /// Let a call run: a worker of the program carries it out
    #[command(after_help = DECIDED)]
    Grant {
        #[command(flatten)]
        decision: Decision,
        /// Why, for the record
        #[arg(long, value_name = "TEXT", default_value = "")]
        note: String,
        #[command(flatten)]
        format: Format,
    },
    /// Refuse a call: a worker of the program tells the model
    #[command(after_help = DECIDED)]
    Deny {
        #[command(flatten)]
        decision: Decision,
        /// Why, for the model
        #[arg(long, value_name = "TEXT", default_value = "")]
        note: String,
        #[command(flatten)]
        format: Format,
    },
}

/// Where the calls wait
#[derive(Debug, Args)]
pub(crate) struct Queue {
    /// Where the program keeps them: an SQLite database, the URL of a PostgreSQL database, that of a Redis server with the
    /// namespace after `#`, or env:NAME for the variable that holds it
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
}

/// A decision about a call
#[derive(Debug, Args)]
pub(crate) struct Decision {
    #[command(flatten)]
    pub(crate) queue: Queue,
    /// The ID of the call, or its beginning
    pub(crate) id: String,
    /// Who decides, for the record
    #[arg(long, value_name = "WHO")]
    pub(crate) by: String,
}

impl ApprovalTask {
    /// The database with the queue, and whether the answer is JSON.
    pub(crate) fn place(&self) -> (&PathBuf, bool) {
        match self {
            ApprovalTask::List { queue, format, .. } | ApprovalTask::Show { queue, format, .. } => {
                (&queue.database, format.json)
            }
            ApprovalTask::Grant { decision, format, .. } | ApprovalTask::Deny { decision, format, .. } => {
                (&decision.queue.database, format.json)
            }
        }
    }
}

/// Show an audit log in a browser: runs, calls, their arguments and their outcomes
#[derive(Debug, Args)]
pub(crate) struct Timeline {
    #[command(flatten)]
    pub(crate) log: Log,
    /// The documents of the tools, for the commands that call them again
    #[arg(value_name = "DOCUMENT")]
    pub(crate) documents: Vec<PathBuf>,
    /// The database in which calls wait for an approval; the log itself by default, if it has them
    #[arg(long, value_name = "DB")]
    pub(crate) approvals: Option<PathBuf>,
    /// Write one HTML page to this file, or to the standard output: `-`, instead of serving it
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Where to serve: an address of this machine only; port 0 picks a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", conflicts_with = "out")]
    pub(crate) listen: String,
}

/// An audit log
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// The log: lines of JSON, an SQLite database, the URL of a PostgreSQL database, or env:NAME for the variable that
    /// holds it
    pub(crate) audit: PathBuf,
}

/// Extract the calls of a run from an audit log, as the file that a test replays
#[derive(Debug, Args)]
#[command(
    after_help = "Matching calls are taken with all calls that they made. Secrets are masked in the log, and so in \
    the file."
)]
pub(crate) struct Record {
    #[command(flatten)]
    pub(crate) log: Log,
    /// Only the calls of this run of the program; `last` is the one that began last
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Only the calls of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only the calls of this agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Only the calls for this principal
    #[arg(long, value_name = "ID")]
    pub(crate) principal: Option<String>,
    /// Write to this file, instead of the standard output (`-`)
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}
