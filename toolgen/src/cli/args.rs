//! Parses the words of a command line.
//!
//! Uses `clap` without its default features: four small crates. A custom parser would save a second of building and
//! lose the suggestions, the usage lines and the conventions people know.

mod call;
mod check;
mod docs;
mod exported;
mod lock;
mod mcp;
mod project;
mod requests;
mod serve;
mod tokens;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolgen::{Options, frontend};

use requests::{requests, with_requests};

pub(super) use docs::{Docs, Groups};
pub(super) use exported::Exported;
pub(super) use lock::{Check, Diff, LOCK, WriteLock};
pub(super) use mcp::{Given, Lock, Mcp, Reached, Verify};
pub(super) use project::{Bin, Graph, Init, New, Test};
pub(super) use requests::Requests;
pub(super) use serve::{Serve, discovered};
pub(super) use tokens::{TokenFormat, Tokens};

/// The requested task.
#[derive(Debug)]
pub(super) struct Invocation {
    pub(super) task: Task,
}

/// The commands.
#[derive(Debug)]
pub(super) enum Task {
    Check(Check),
    Lock(WriteLock),
    Diff(Diff),
    List(Selection),
    Schema(Schema),
    Docs(Docs),
    Generate(Generate),
    Call(Call),
    Serve(Serve),
    Explain(Explain),
    Graph(Graph),
    Bin(Bin),
    Mcp(Mcp),
    Init(Init),
    New(New),
    Test(Test),
    Tokens(Tokens),
}

/// The documents, and the options for compiling them.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    pub(super) documents: Vec<PathBuf>,
    /// The programs of the crate whose own tools are taken, too.
    pub(super) exported: Vec<Exported>,
    pub(super) options: Options,
    pub(super) json: bool,
    pub(super) quiet: bool,
    pub(super) all: bool,
    /// Whether texts are checked, too.
    pub(super) lints: bool,
    /// Whether the tools of a discovery are shown in place of all.
    pub(super) discovery: bool,
}

/// `schema`
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) selection: Selection,
    pub(super) dialect: String,
    pub(super) envelope: bool,
    pub(super) tools: Vec<String>,
}

/// `gen`
#[derive(Debug)]
pub(super) struct Generate {
    pub(super) selection: Selection,
    pub(super) out: PathBuf,
    pub(super) crate_name: Option<String>,
    pub(super) runtime_path: Option<PathBuf>,
    pub(super) check: bool,
    pub(super) force: bool,
}

/// `call`
#[derive(Debug)]
pub(super) struct Call {
    pub(super) selection: Selection,
    pub(super) tool: String,
    pub(super) arguments: Vec<String>,
    pub(super) dry_run: bool,
    pub(super) requests: Requests,
    pub(super) show_secrets: bool,
}

/// `explain`
#[derive(Debug)]
pub(super) struct Explain {
    pub(super) code: Option<String>,
    pub(super) json: bool,
}

const EXIT_CODES: &str = "Exit codes:
  0  fine
  1  problems were found: an operation or a document cannot be compiled, a call failed
  2  wrong usage";

const EXAMPLES: &str = "Examples:
  cargo toolgen check api.yaml
  cargo toolgen list api.yaml --tag pets --format json
  cargo toolgen call api.yaml get_pet '{\"id\": 7}' --dry-run
  cargo toolgen serve api.yaml --operation 'get*' --read-only
  cargo toolgen gen api.yaml --out api-tools --crate api-tools --runtime-path ../toolgen/runtime
  cargo toolgen init, then cargo toolgen new count_lines, then cargo toolgen test tools.yaml
  cargo toolgen explain E0106";

/// Parses the words of a command line, starting with the name of the program. Cargo inserts the name of the subcommand
/// after it, which is removed.
///
/// # Errors
///
/// If the usage is wrong; also for help and version, which are errors of code 0.
pub(super) fn parse(mut words: Vec<OsString>) -> Result<Invocation, Error> {
    if words.get(1).is_some_and(|word| word == "toolgen") {
        words.remove(1);
    }
    let mut command = command();
    let matches = command.try_get_matches_from_mut(words)?;
    let Some((name, matches)) = matches.subcommand() else {
        return Err(command.error(ErrorKind::MissingSubcommand, "name a command"));
    };
    let task = task(name, matches).map_err(|message| command.error(ErrorKind::ValueValidation, message))?;
    Ok(Invocation { task })
}

fn command() -> Command {
    let command = Command::new("cargo-toolgen")
        .bin_name("cargo toolgen")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Compiles documents into tools for LLM agents")
        .after_help(format!("{EXAMPLES}\n\n{EXIT_CODES}"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(lock::check())
        .subcommand(compiling("list", "List the tools of documents").arg(format()).arg(discovered()))
        .subcommand(
            compiling("schema", "Print the schemas of tools in the dialect of an LLM provider (JSON)")
                .arg(
                    option("dialect", "DIALECT", "Such as openai-strict, anthropic or gemini; an unknown one names all")
                        .default_value("json-schema"),
                )
                .arg(flag("envelope", "Print the tools as they go into a request to the provider; json-schema is MCP's `tools/list`"))
                .arg(flag("plan", "Print how each tool is shown in one request to the provider, and why").conflicts_with("envelope"))
                .arg(flag("cut", "Leave the last tools out of the plan, if there are more than a request takes").requires("plan"))
                .arg(format().requires("plan"))
                .args([tools(), discovered()]),
        )
        .subcommand(
            compiling("docs", "Print the documentation of tools for a prompt")
                .args([tools(), discovered()])
                .args(docs::arguments()),
        )
        .subcommand(
            compiling("gen", "Write the tools as a Rust module or a complete crate")
                .arg(path("out", "DIR", "The folder to write to").required(true))
                .arg(option("crate", "NAME", "Write a complete crate of this name, not modules only"))
                .arg(path("runtime-path", "DIR", "The folder of toolgen-runtime, which no registry has yet"))
                .arg(flag("no-types", "Write no argument and result structs"))
                .arg(flag("force", "Replace files that were not generated, too"))
                .arg(flag("check", "Write nothing; exit with 1 if a file is missing or differs"))
                .after_help(
                    "An operation that cannot be compiled is left out with a problem, and the rest is written. The \
                     exit code is 1 only if a document gives nothing at all; `check` is stricter.",
                ),
        )
        .subcommand(call::command())
        .subcommand(serve::command())
        .subcommand(tokens::command())
        .subcommand(
            Command::new("explain")
                .about("Explain a code of a problem; without one, list them all")
                .arg(Arg::new("code").value_name("CODE"))
                .arg(format()),
        );
    project::with_commands(command)
        .subcommand(mcp::command())
        .subcommand(lock::lock())
        .subcommand(lock::diff())
}

/// Creates a command that compiles documents.
fn compiling(name: &'static str, about: &'static str) -> Command {
    let kinds: Vec<&str> = frontend::all().iter().map(|front_end| front_end.title()).collect();
    let documents = Arg::new("documents")
        .value_name("DOCUMENT")
        .required_unless_present_any(exported::WORDS)
        .num_args(1..)
        .value_parser(value_parser!(PathBuf))
        .help(format!("Documents, JSON or YAML, `-` for the standard input: {}", kinds.join(", ")));
    with_options(exported::with_words(Command::new(name).about(about).arg(documents)))
}

/// Adds the options of all commands that compile documents.
fn with_options(command: Command) -> Command {
    let several = |name, value, help| option(name, value, help).action(ArgAction::Append);
    command
        .next_help_heading("Which operations")
        .arg(several("tag", "TAG", "Only operations with this tag"))
        .arg(several(
            "operation",
            "ID",
            "Only this operation, by its id or its tool; `*` stands for any characters",
        ))
        .arg(several("path", "PATTERN", "Only operations such as 'GET /pets/**'; the method may be left out"))
        .arg(several("exclude", "SELECTOR", "Not these operations: `tag:TAG`, `ID`, or 'METHOD /path'"))
        .arg(flag("no-deprecated", "No deprecated operations"))
        .next_help_heading("Names and credentials")
        .arg(option("namespace", "NAME", "Put `NAME__` before every tool name"))
        .arg(several("rename", "OLD=NEW", "Name the tool of an operation (its id, 'METHOD /path', or tool)"))
        .arg(several("auth", "SCHEME=VARIABLE", "The environment variable with the credential of a scheme"))
        .next_help_heading("Files")
        .arg(several("root", "FOLDER", "Documents may refer to files below this folder, too"))
        .next_help_heading("Size")
        .arg(option(
            "slim",
            "LEVERS",
            "Trim what a model reads, such as 'compact' or 'nested=sentence, depth=3'",
        ))
        .arg(several("exact", "SELECTOR", "Refuse dialects that cannot say all rules of these operations"))
        .next_help_heading(None)
        .after_help(EXIT_CODES)
}

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

fn path(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    option(name, value, help).value_parser(value_parser!(PathBuf))
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

fn format() -> Arg {
    option("format", "FORMAT", "For people or for machines")
        .value_parser(["human", "json"])
        .default_value("human")
}

fn private_host() -> Arg {
    option(
        "private-host",
        "HOST",
        "Let requests reach this host, also at a private address; `*.` stands for subdomains",
    )
    .action(ArgAction::Append)
}

fn tools() -> Arg {
    option("tool", "NAME", "Only this tool").action(ArgAction::Append)
}

fn task(name: &str, matches: &ArgMatches) -> Result<Task, String> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let texts =
        |name: &str| matches.get_many::<String>(name).unwrap_or_default().cloned().collect::<Vec<_>>();
    if name == "explain" {
        return Ok(Task::Explain(Explain { code: text("code"), json: is_json(matches) }));
    }
    if name == "mcp" {
        return mcp::task(matches);
    }
    if let Some(task) = project::task(name, matches) {
        return Ok(task);
    }
    let selection = selection(name, matches)?;
    Ok(match name {
        "check" | "lock" | "diff" => lock::task(name, matches, selection),
        "list" => Task::List(selection),
        "schema" => Task::Schema(Schema {
            selection,
            dialect: text("dialect").unwrap_or_default(),
            envelope: matches.get_flag("envelope"),
            tools: texts("tool"),
        }),
        "docs" => Task::Docs(docs::task(matches, selection)?),
        "gen" => Task::Generate(Generate {
            selection,
            out: matches.get_one::<PathBuf>("out").cloned().unwrap_or_default(),
            crate_name: text("crate"),
            runtime_path: matches.get_one::<PathBuf>("runtime-path").cloned(),
            check: matches.get_flag("check"),
            force: matches.get_flag("force"),
        }),
        "call" => Task::Call(Call {
            selection,
            tool: text("tool").unwrap_or_default(),
            arguments: texts("arguments"),
            dry_run: matches.get_flag("dry-run"),
            requests: requests(matches)?,
            show_secrets: matches.get_flag("show-secrets"),
        }),
        "serve" => Task::Serve(serve::task(matches, selection)?),
        "tokens" => tokens::task(matches, selection),
        _ => project::compiling_task(name, matches, selection),
    })
}

fn is_json(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("format").is_some_and(|format| format == "json")
}

fn selection(name: &str, matches: &ArgMatches) -> Result<Selection, String> {
    let documents = matches.get_many::<PathBuf>("documents").unwrap_or_default().cloned().collect();
    let mut options = options(matches)?;
    options.types = name == "gen" && !matches.get_flag("no-types");
    if name == "check" {
        check::levels(matches, &mut options.levels);
        options.deny_losses = matches.get_many("deny-losses").unwrap_or_default().cloned().collect();
    }
    let has = |name: &str| matches.try_contains_id(name).unwrap_or(false);
    Ok(Selection {
        documents,
        exported: exported::given(matches),
        options,
        json: has("format") && is_json(matches),
        quiet: name == "check" && matches.get_flag("quiet"),
        all: name == "check" && matches.get_flag("all"),
        lints: name == "check",
        discovery: ["list", "schema", "docs"].contains(&name) && matches.get_flag("discovery"),
    })
}

fn options(matches: &ArgMatches) -> Result<Options, String> {
    let texts = |name: &str| matches.get_many::<String>(name).unwrap_or_default().cloned();
    let mut options = Options::default().deprecated(!matches.get_flag("no-deprecated"));
    options.namespace = matches.get_one::<String>("namespace").cloned();
    let included =
        texts("tag").map(|tag| format!("tag:{tag}")).chain(texts("operation")).chain(texts("path"));
    options = included.fold(options, Options::include);
    options = texts("exclude").fold(options, Options::exclude);
    options = texts("exact").fold(options, Options::exact);
    options = texts("root").fold(options, Options::root);
    options.renames.extend(pairs(matches, "rename")?);
    options.credentials.extend(pairs(matches, "auth")?);
    if let Some(levers) = matches.get_one::<String>("slim") {
        options.slim = Some(levers.parse().map_err(|why| format!("`--slim {levers}`: {why}"))?);
    }
    let dialect = matches.try_get_one::<String>("dialect").ok().flatten();
    options.token_budget = tokens::given_budget(matches, dialect.map_or("openai", String::as_str));
    Ok(options)
}

/// Returns options of the form `LEFT=RIGHT`.
fn pairs(matches: &ArgMatches, name: &str) -> Result<Vec<(String, String)>, String> {
    let values = matches.get_many::<String>(name).unwrap_or_default();
    values
        .map(|value| match value.split_once('=') {
            Some((left, right)) if !left.is_empty() && !right.is_empty() => {
                Ok((left.to_owned(), right.to_owned()))
            }
            _ => Err(format!("`--{name} {value}` is not of the form LEFT=RIGHT")),
        })
        .collect()
}
