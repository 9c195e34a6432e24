//! Arguments of the commands that run tools (`call`, `test`, `serve`), and of those that show their calls (`approvals`,
//! `timeline`, `record`).

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, value_parser};

use super::requests::{Requests, WorkDir};
use super::selection::{CompilerArguments, DocumentArguments};
use super::{Format, Selection, ToolFilter};

const ARGUMENTS: &str = "Arguments by name, typed by the schema of the tool:
  name=Ada limit=10 dry=true     a string, a number, a boolean; the schema decides, not the value
  tags=a,b or tags=a tags=b      an array; write items with commas as JSON: tags='[\"a,b\"]'
  owner.name=Ada owner.age=36    an object, by property; or as JSON: owner='{\"name\": \"Ada\"}'
  text=@notes.md, text=@-        the content of a file, or of standard input; text=@@ada is the string `@ada`
  photo=@cat.png                 a file to upload under its name; photo.content_type=image/png sets its media type;
                                 several files: files=@a.png files=@b.png";

/// Call a tool of a document, or print its request
#[derive(Debug, Args)]
// The user of the command line names the files, so they may be anywhere below the current directory.
#[command(after_help = ARGUMENTS, mut_arg("files", |files| files.default_value(".")))]
pub(crate) struct Call {
    /// Document with the tool: a file, a URL, or `-` for standard input
    pub(super) document: PathBuf,
    /// Name of the tool; at a terminal, you can choose from a list instead
    pub(crate) tool: Option<String>,
    /// Arguments: NAME=VALUE each, or one JSON object; `@FILE` reads it from a file, `-` from standard input
    #[arg(value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// Output format, for people or for programs; curl: the request of a dry run as a command, with `$VARIABLE` for
    /// each secret
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: CallFormat,
    /// Print the request, or the command line, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// File for the response body, which must not exist; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["save", "dry_run"])]
    pub(super) output: Option<PathBuf>,
    /// Show secrets in a dry run, instead of `****`
    #[arg(long)]
    pub(crate) show_secrets: bool,
    #[command(flatten)]
    pub(crate) requests: Requests,
    #[command(flatten)]
    pub(super) compiler: CompilerArguments,
    #[arg(skip)]
    pub(crate) selection: Selection,
}

/// The output formats of `call`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CallFormat {
    Human,
    Json,
    Curl,
}

/// Call each tool with valid and invalid arguments, and report failures
#[derive(Debug, Args)]
#[command(
    after_help = "Requests go to a local server that records them; commands are recorded, and run only with `--run`. \
        Checks of each tool:\n  \
        accepts   its examples, or arguments generated from its schema, run\n  \
        refuses   invalid arguments are rejected before anything runs\n  \
        reports   a failure of the service or the command is an error\n  \
        requires  a call with unmet requirements is rejected, and names them\n\n\
        The exit code is 1 if a check fails.",
    mut_arg("work_dir", |work_dir| work_dir.requires("run"))
)]
pub(crate) struct Test {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) filter: ToolFilter,
    /// Run the commands of `read_only` tools, with generated arguments
    #[arg(long)]
    pub(crate) run: bool,
    #[command(flatten)]
    pub(crate) work_dir_argument: WorkDir,
    /// Output file for these tests in Rust; nothing is run
    #[arg(long, value_name = "FILE")]
    pub(crate) emit: Option<PathBuf>,
    /// Overwrite files that toolgen did not generate
    #[arg(long)]
    pub(crate) force: bool,
}

/// Serve the tools of documents over the Model Context Protocol (MCP)
#[derive(Debug, Args)]
#[command(
    after_help = "Standard output carries only the protocol. Functions, effects and agents cannot run here and are \
    skipped. Without a token, HTTP is served at a loopback address only."
)]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(super) sources: DocumentArguments,
    #[command(flatten)]
    pub(super) compiler: CompilerArguments,
    #[arg(skip)]
    pub(crate) selection: Selection,
    /// Serve one client on standard input and output (the default)
    #[arg(long)]
    stdio: bool,
    /// Address to serve over HTTP, such as 127.0.0.1:8080; the URL is http://ADDRESS/mcp
    #[arg(long, value_name = "ADDRESS", conflicts_with = "stdio")]
    pub(crate) http: Option<String>,
    /// Environment variable with the bearer token that clients must send
    #[arg(long, value_name = "ENV_VAR", requires = "http")]
    pub(crate) token: Option<String>,
    /// Additional host name that HTTP requests may use, besides this machine
    #[arg(long = "host", value_name = "NAME", requires = "http")]
    pub(crate) hosts: Vec<String>,
    /// Additional origin of web pages that may send HTTP requests
    #[arg(long = "origin", value_name = "URL", requires = "http")]
    pub(crate) origins: Vec<String>,
    /// Maximum number of concurrent calls; others are rejected [default: 1024]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub(crate) max_calls: Option<u32>,
    /// Maximum number of HTTP connections; others get status 503 [default: 1024]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), requires = "http")]
    pub(crate) max_connections: Option<u32>,
    /// Maximum number of HTTP sessions; a new one ends the longest idle [default: 512]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..), requires = "http")]
    pub(crate) max_sessions: Option<u32>,
    /// Maximum size of an HTTP request body; a larger one gets status 413 [default: 4194304]
    #[arg(long, value_name = "BYTES", value_parser = value_parser!(u32).range(1..), requires = "http")]
    pub(crate) max_request: Option<u32>,
    /// Only tools that match this rule: a name with `*`, `category:NAME` or `effect:KIND`
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Tools to exclude by this rule, even if another rule allows them
    #[arg(long, value_name = "RULE")]
    pub(crate) deny: Vec<String>,
    /// Tools whose calls a person at the client must approve, by this rule
    #[arg(long, value_name = "RULE")]
    pub(crate) ask: Vec<String>,
    /// Only tools that are declared read-only
    #[arg(long)]
    pub(crate) read_only: bool,
    /// List three discovery tools instead of all tools; auto: if there are more than 128
    #[arg(long, value_name = "WHEN", value_parser = ["auto", "on", "off"], num_args = 0..=1, require_equals = true,
        default_missing_value = "on", default_value = "auto")]
    pub(crate) discovery: String,
    /// Tool to list despite `--discovery`
    #[arg(long = "pin", value_name = "NAME")]
    pub(crate) pinned: Vec<String>,
    /// Context value that clients may pass, such as `session_id` from an earlier result
    #[arg(long = "client-value", value_name = "NAME")]
    pub(crate) client_values: Vec<String>,
    /// Audit log to append to: a file (SQLite if it ends in .sqlite, .sqlite3 or .db, otherwise JSON Lines), a
    /// PostgreSQL URL, or env:NAME for a variable with the URL
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) requests: Requests,
}

/// Show, grant or deny calls that wait for an approval
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Approvals {
    #[command(subcommand)]
    pub(crate) task: ApprovalTask,
}

const STATES: &str = "States: waiting (undecided), granted and denied (not claimed by a worker yet), claimed (a worker \
    is about to start it), started (running; or its worker is gone, and it may have taken effect), finished, expired.";
const DECIDED: &str = "The first decision counts; a second one is rejected with the name of who decided.";

/// The subcommands of `approvals`.
#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalTask {
    /// List calls that wait, and decided calls that are not finished
    #[command(after_help = STATES)]
    List {
        #[command(flatten)]
        queue: Queue,
        /// Only calls in this state; repeatable
        #[arg(long = "state", value_name = "STATE",
            value_parser = ["waiting", "granted", "denied", "claimed", "started", "finished", "expired"])]
        states: Vec<String>,
        /// Include finished and expired calls
        #[arg(long, conflicts_with = "states")]
        all: bool,
        #[command(flatten)]
        format: Format,
    },
    /// Show all details of a call
    Show {
        #[command(flatten)]
        queue: Queue,
        /// ID of the call, or the beginning of it
        id: String,
        #[command(flatten)]
        format: Format,
    },
    /// Grant a call; a worker of your program runs it
    #[command(after_help = DECIDED)]
    Grant {
        #[command(flatten)]
        decision: Decision,
        /// Reason, for the record
        #[arg(long, value_name = "TEXT", default_value = "")]
        note: String,
        #[command(flatten)]
        format: Format,
    },
    /// Deny a call; a worker of your program reports it to the model
    #[command(after_help = DECIDED)]
    Deny {
        #[command(flatten)]
        decision: Decision,
        /// Reason, for the model
        #[arg(long, value_name = "TEXT", default_value = "")]
        note: String,
        #[command(flatten)]
        format: Format,
    },
}

/// The approval queue
#[derive(Debug, Args)]
pub(crate) struct Queue {
    /// Approval queue: an SQLite database, a PostgreSQL URL, a Redis URL with the namespace after `#`, or env:NAME for
    /// a variable with the URL
    #[arg(value_name = "DB")]
    pub(crate) database: PathBuf,
}

/// A decision about a call
#[derive(Debug, Args)]
pub(crate) struct Decision {
    #[command(flatten)]
    pub(crate) queue: Queue,
    /// ID of the call, or the beginning of it
    pub(crate) id: String,
    /// Person who decides, for the record
    #[arg(long, value_name = "WHO")]
    pub(crate) by: String,
}

impl ApprovalTask {
    /// Returns the database with the queue, and whether to print JSON.
    pub(crate) fn database_and_format(&self) -> (&PathBuf, bool) {
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

/// Show an audit log in a browser: runs, calls, arguments, outcomes
#[derive(Debug, Args)]
pub(crate) struct Timeline {
    #[command(flatten)]
    pub(crate) log: Log,
    /// Documents of the tools, for commands that repeat calls
    #[arg(value_name = "DOCUMENT")]
    pub(crate) documents: Vec<PathBuf>,
    /// Approval queue to show [default: the log, if it has one]
    #[arg(long, value_name = "DB")]
    pub(crate) approvals: Option<PathBuf>,
    /// Output file of one HTML page, instead of serving it; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    /// Loopback address to serve at; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0", conflicts_with = "out")]
    pub(crate) listen: String,
}

/// An audit log
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// Audit log: JSON Lines, an SQLite database, a PostgreSQL URL, or env:NAME for a variable with the URL
    pub(crate) audit: PathBuf,
}

/// Extract a run from an audit log, as a file that a test replays
#[derive(Debug, Args)]
#[command(
    after_help = "Matching calls are extracted with all nested calls. Secrets are masked in the log, and so in the \
    file."
)]
pub(crate) struct Record {
    #[command(flatten)]
    pub(crate) log: Log,
    /// Only calls of this run of the program; `last` is the latest run
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// Only calls of this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only calls of this agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    /// Only calls for this principal
    #[arg(long, value_name = "ID")]
    pub(crate) principal: Option<String>,
    /// Output file; `-` is standard output, the default
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
}
