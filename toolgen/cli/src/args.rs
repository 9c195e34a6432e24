//! Parses the words of a command line.
//!
//! Uses `clap` without its default features: four small crates, and two for completions and manual pages. A custom
//! parser would save a second of building and lose the suggestions, the usage lines and the conventions people know.

mod approvals;
mod call;
mod check;
mod docs;
mod exported;
mod generated;
mod help;
mod lock;
mod mcp;
mod project;
mod record;
mod requests;
mod selection;
mod serve;
mod shell;
#[cfg(test)]
mod tests;
mod timeline;
mod tokens;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use toolgen_runtime::wire::WireFormat;

use requests::{requests, with_requests};
use selection::{compiling, pairs, private_host, selection, with_options};

pub(super) use approvals::{ApprovalTask, Approvals};
pub(super) use docs::{Docs, Groups};
pub(super) use exported::Exported;
pub(super) use lock::{Check, Diff, LOCK, WriteLock};
pub(super) use mcp::{Asking, Given, Lock, Mcp, Reached, Verify};
pub(super) use project::{Bin, Graph, Init, New, Test};
pub(super) use record::Record;
pub(super) use requests::Requests;
pub(super) use selection::Selection;
pub(super) use serve::{HttpLimits, Serve, discovered};
pub(super) use shell::Doctor;
pub(super) use timeline::Timeline;
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
    Call(Box<Call>),
    Serve(Box<Serve>),
    Explain(Explain),
    Graph(Graph),
    Bin(Bin),
    Mcp(Mcp),
    Init(Init),
    New(New),
    Test(Test),
    Record(Record),
    Timeline(Timeline),
    Approvals(Approvals),
    Tokens(Tokens),
    Doctor(Doctor),
    Completions(Shell),
    /// The folder of the manual pages.
    Man(PathBuf),
}

/// `schema`
#[derive(Debug)]
pub(super) struct Schema {
    pub(super) selection: Selection,
    pub(super) dialect: Option<String>,
    pub(super) envelope: bool,
    /// The format of the request, if it is not that of the dialect.
    pub(super) wire: Option<WireFormat>,
    /// Whether to show how each tool appears in one request.
    pub(super) plan: bool,
    /// Whether the plan leaves out the last tools of too many.
    pub(super) cut: bool,
    pub(super) tools: Vec<String>,
}

/// `gen`
#[derive(Debug)]
pub(super) struct Generate {
    pub(super) selection: Selection,
    pub(super) out: PathBuf,
    pub(super) crate_name: Option<String>,
    pub(super) toolgen_path: Option<PathBuf>,
    pub(super) check: bool,
    pub(super) force: bool,
}

/// `call`
#[derive(Debug)]
pub(super) struct Call {
    pub(super) selection: Selection,
    /// `None`: it is chosen at the terminal.
    pub(super) tool: Option<String>,
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
    join_values(&command, &mut words);
    let matches = command.try_get_matches_from_mut(words).map_err(in_order)?;
    let Some((name, of_it)) = matches.subcommand() else {
        return Err(command.error(ErrorKind::MissingSubcommand, "name a command"));
    };
    match task(name, of_it) {
        Ok(task) => Ok(Invocation { task }),
        Err(message) => Err(error_of(&mut command, &matches, message)),
    }
}

/// Joins an option whose value is optional with a word behind it that is one of its values: `--discovery off` becomes
/// `--discovery=off`. Any other word there is a document.
fn join_values(command: &Command, words: &mut Vec<OsString>) {
    let named = words.get(1).and_then(|word| command.find_subcommand(word));
    let options =
        named.into_iter().flat_map(Command::get_arguments).filter(|arg| arg.is_require_equals_set());
    for option in options {
        let long = option.get_long().map(|long| format!("--{long}"));
        let is_value = |word: &OsString| option.get_possible_values().iter().any(|it| word == it.get_name());
        let at = words.windows(2).position(|pair| {
            long.as_deref().is_some_and(|long| pair[0] == *long)
                && is_value(&pair[1])
                && !Path::new(&pair[1]).exists()
        });
        if let (Some(at), Some(long)) = (at, long) {
            let value = words.remove(at + 1);
            words[at] = OsString::from_iter([long.into(), OsString::from("="), value]);
        }
    }
}

/// Returns the error of the innermost command that was named: it shows that one's usage.
fn error_of(command: &mut Command, matches: &ArgMatches, message: String) -> Error {
    if let Some((name, matches)) = matches.subcommand()
        && let Some(inner) = command.find_subcommand_mut(name)
    {
        return error_of(inner, matches, message);
    }
    command.error(ErrorKind::ValueValidation, message)
}

/// Puts what was probably meant first, and tells a user who named a document that a command comes before it.
fn in_order(mut error: Error) -> Error {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && (super::fetch::url(Path::new(word)).is_some() || Path::new(word).is_file())
    {
        let tip = format!("a command comes first, such as `cargo toolgen check {word}`");
        // A part of a path may be like a command.
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    } else if let Some(ContextValue::Strings(similar)) = error.get(ContextKind::SuggestedSubcommand) {
        let nearest_first = similar.iter().rev().cloned().collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(nearest_first));
    }
    error
}

/// Returns the commands with their words and help.
pub(super) fn command() -> Command {
    let command = Command::new("cargo-toolgen")
        .bin_name("cargo toolgen")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Compiles documents into tools for LLM agents: OpenAPI, manifests, locks of MCP servers")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(lock::check())
        .subcommand(compiling("list", "List the tools of documents").arg(format()).arg(discovered()))
        .subcommand(
            compiling("schema", "Print the schemas of tools in the dialect of an LLM provider (JSON)")
                .arg(option("dialect", "DIALECT", "Such as openai-strict, anthropic or gemini; an unknown one lists them all; by default that of `--wire`, or `json-schema`"))
                .arg(flag("envelope", "Print the tools as they go into a request to the provider; json-schema is MCP's `tools/list`"))
                .arg(
                    option("wire", "FORMAT", "The format of the request; by default that of the dialect")
                        .value_parser(WireFormat::ALL.map(WireFormat::name))
                        .requires("request"),
                )
                .group(ArgGroup::new("request").args(["envelope", "plan"]))
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
                .arg(project::toolgen_path())
                .args(generated::arguments())
                .arg(flag("force", "Replace files that were not generated, too"))
                .arg(flag("check", "Write nothing; exit with 1 if a file is missing or differs"))
                .after_help(
                    "An operation that cannot be compiled is left out and reported, and the rest is written. The \
                     exit code is 1 only if a document yields nothing at all; `check` is stricter.",
                ),
        )
        .subcommand(call::command())
        .subcommand(serve::command())
        .subcommand(tokens::command())
        .subcommand(timeline::command())
        .subcommand(approvals::command())
        .subcommand(record::command())
        .subcommand(
            Command::new("explain")
                .about("Explain the code of a problem; without one, list them all")
                .arg(Arg::new("code").value_name("CODE").help("The code, as `check` prints it, such as E0106"))
                .arg(format()),
        );
    let command = project::with_commands(command)
        .subcommand(mcp::command())
        .subcommand(lock::lock())
        .subcommand(lock::diff())
        .subcommand(shell::doctor())
        .subcommand(shell::completions())
        .subcommand(shell::man());
    help::with_help(command)
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
    match name {
        "timeline" => return Ok(timeline::task(matches)),
        "record" => return Ok(record::task(matches)),
        _ => {}
    }
    if name == "mcp" {
        return mcp::task(matches);
    }
    if name == "approvals" {
        return approvals::task(matches);
    }
    if let Some(task) = project::task(name, matches).or_else(|| shell::task(name, matches)) {
        return Ok(task);
    }
    let selection = selection(name, matches)?;
    Ok(match name {
        "check" | "lock" | "diff" => lock::task(name, matches, selection),
        "list" => Task::List(selection),
        "schema" => Task::Schema(Schema {
            selection,
            dialect: text("dialect"),
            envelope: matches.get_flag("envelope"),
            wire: text("wire").and_then(|name| WireFormat::by_name(&name)),
            plan: matches.get_flag("plan"),
            cut: matches.get_flag("cut"),
            tools: texts("tool"),
        }),
        "docs" => Task::Docs(docs::task(matches, selection)?),
        "gen" => Task::Generate(Generate {
            selection,
            out: matches.get_one::<PathBuf>("out").cloned().unwrap_or_default(),
            crate_name: text("crate"),
            toolgen_path: matches.get_one::<PathBuf>("toolgen-path").cloned(),
            check: matches.get_flag("check"),
            force: matches.get_flag("force"),
        }),
        "call" => Task::Call(Box::new(Call {
            selection,
            tool: text("tool"),
            arguments: texts("arguments"),
            dry_run: matches.get_flag("dry-run"),
            requests: Requests {
                output: matches.get_one::<PathBuf>("output").cloned(),
                ..requests(matches)?
            },
            show_secrets: matches.get_flag("show-secrets"),
        })),
        "serve" => Task::Serve(Box::new(serve::task(matches, selection)?)),
        "tokens" => tokens::task(matches, selection),
        _ => project::compiling_task(name, matches, selection)?,
    })
}

fn is_json(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("format").is_some_and(|format| format == "json")
}
