//! Parses the words of a command line.
//!
//! Uses `clap` without its default features: four small crates. A custom parser would save a second of building and
//! lose the suggestions, the usage lines and the conventions people know.

mod mcp;
mod project;
mod serve;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{Error, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolgen::{Options, frontend};

pub(super) use mcp::{Given, Lock, Mcp, Reached, Verify};
pub(super) use project::{Bin, Graph, Init, New, Test};
pub(super) use serve::Serve;

/// The requested task.
#[derive(Debug)]
pub(super) struct Invocation {
    pub(super) task: Task,
}

/// The commands.
#[derive(Debug)]
pub(super) enum Task {
    Check(Selection),
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
}

/// The documents, and the options for compiling them.
#[derive(Debug)]
pub(super) struct Selection {
    pub(super) documents: Vec<PathBuf>,
    pub(super) options: Options,
    pub(super) json: bool,
    pub(super) quiet: bool,
    pub(super) notes: bool,
}

/// `schema`
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) selection: Selection,
    pub(super) dialect: String,
    pub(super) envelope: bool,
    pub(super) plan: bool,
    pub(super) cut: bool,
    pub(super) tools: Vec<String>,
}

/// `docs`
#[derive(Debug)]
pub(super) struct Docs {
    pub(super) selection: Selection,
    pub(super) tools: Vec<String>,
    pub(super) summary: bool,
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

/// How calls are made.
#[derive(Debug)]
pub(super) struct Requests {
    pub(super) base_url: Option<String>,
    pub(super) private_hosts: Vec<String>,
    pub(super) server_variables: Vec<(String, String)>,
    /// How long a call may take, in seconds.
    pub(super) timeout: u64,
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
        .subcommand(
            compiling("check", "Report what is wrong with documents, and how many tools they give")
                .arg(format())
                .arg(flag("quiet", "Show errors and warnings only").short('q'))
                .arg(flag("notes", "Show every note, not the first few of each kind").conflicts_with("quiet")),
        )
        .subcommand(compiling("list", "List the tools of documents").arg(format()))
        .subcommand(
            compiling("schema", "Print the schemas of tools in the dialect of an LLM provider (JSON)")
                .arg(option("dialect", "DIALECT", "json-schema, openai, openai-strict, anthropic, gemini or another; a wrong one lists all").default_value("json-schema"))
                .arg(flag("envelope", "Print the tools as they go into a request to the provider; json-schema is MCP's `tools/list`"))
                .arg(flag("plan", "Print how each tool is shown in one request to the provider, and why").conflicts_with("envelope"))
                .arg(flag("cut", "Leave the last tools out of the plan, if there are more than a request takes").requires("plan"))
                .arg(format().requires("plan")).arg(tools()),
        )
        .subcommand(
            compiling("docs", "Print the documentation of tools for a prompt")
                .arg(tools())
                .arg(flag("summary", "Only the list of tools, a line each")),
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
        .subcommand(call())
        .subcommand(serve::command())
        .subcommand(
            Command::new("explain")
                .about("Explain a code of a problem; without one, list them all")
                .arg(Arg::new("code").value_name("CODE"))
                .arg(format()),
        );
    project::with_commands(command).subcommand(mcp::command())
}

fn call() -> Command {
    with_options(with_requests(
        Command::new("call")
            .about("Call a tool of a document")
            .arg(
                Arg::new("documents")
                    .value_name("DOCUMENT")
                    .required(true)
                    .value_parser(value_parser!(PathBuf))
                    .help("The document that has the tool"),
            )
            .arg(Arg::new("tool").value_name("TOOL").required(true).help("The name of the tool"))
            .arg(Arg::new("arguments").value_name("ARGUMENT").num_args(0..).help(
                "The arguments: NAME=VALUE each, or all as one JSON object; `@FILE` reads one from a file, `-` from \
                 the standard input",
            ))
            .arg(format())
            .arg(flag("dry-run", "Print the request or the command as JSON, run nothing"))
            .arg(flag("show-secrets", "Do not replace secrets by `****` in a dry run")),
    ))
}

/// Adds the options of how calls are made.
fn with_requests(command: Command) -> Command {
    command
        .arg(option("base-url", "URL", "Send requests here, whatever servers the document names"))
        .arg(private_host())
        .arg(
            option("server-variable", "NAME=VALUE", "The value of a variable of the server's URL")
                .action(ArgAction::Append),
        )
        .arg(
            option("timeout", "SECONDS", "How long a call may take")
                .default_value("30")
                .value_parser(value_parser!(u64).range(1..=86_400)),
        )
}

fn requests(matches: &ArgMatches) -> Result<Requests, String> {
    Ok(Requests {
        base_url: matches.get_one("base-url").cloned(),
        private_hosts: matches.get_many("private-host").unwrap_or_default().cloned().collect(),
        server_variables: pairs(matches, "server-variable")?,
        timeout: matches.get_one("timeout").copied().unwrap_or(30),
    })
}

/// Creates a command that compiles documents.
fn compiling(name: &'static str, about: &'static str) -> Command {
    let kinds: Vec<&str> = frontend::all().iter().map(|front_end| front_end.title()).collect();
    let documents = Arg::new("documents")
        .value_name("DOCUMENT")
        .required(true)
        .num_args(1..)
        .value_parser(value_parser!(PathBuf))
        .help(format!("Documents, JSON or YAML: {}", kinds.join(", ")));
    with_options(Command::new(name).about(about).arg(documents))
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
        "check" => Task::Check(selection),
        "list" => Task::List(selection),
        "schema" => Task::Schema(Schema {
            selection,
            dialect: text("dialect").unwrap_or_default(),
            envelope: matches.get_flag("envelope"),
            plan: matches.get_flag("plan"),
            cut: matches.get_flag("cut"),
            tools: texts("tool"),
        }),
        "docs" => Task::Docs(Docs { selection, tools: texts("tool"), summary: matches.get_flag("summary") }),
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
    let has = |name: &str| matches.try_contains_id(name).unwrap_or(false);
    Ok(Selection {
        documents,
        options,
        json: has("format") && is_json(matches),
        quiet: name == "check" && matches.get_flag("quiet"),
        notes: name == "check" && matches.get_flag("notes"),
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
    options.renames.extend(pairs(matches, "rename")?);
    options.credentials.extend(pairs(matches, "auth")?);
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
