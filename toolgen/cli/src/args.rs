//! Parses command-line arguments with clap.
//!
//! The doc comments of arguments are their help texts, which `docs/cli.md` repeats: run the tests with
//! `TOOLGEN_UPDATE=1` after a change.

mod documents;
mod help;
mod mcp;
mod policy;
mod project;
mod requests;
mod run;
mod selection;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::Path;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{ArgAction, ArgMatches, Args, Command, CommandFactory, FromArgMatches, Parser, Subcommand};

#[cfg(feature = "tokens")]
pub(crate) use documents::TokenFormat;
pub(crate) use documents::{
    Check, Diff, Docs, DocsFormat, Explain, Graph, GraphFormat, Groups, LOCK, List, Schema, Tokens, WriteLock,
};
pub(crate) use mcp::{ListingOptions, Lock as LockServers, Mcp, McpTask, Server, ServerTransport, Verify};
pub(crate) use policy::{Policy, PolicyDiff, PolicyExplain, PolicyTask};
pub(crate) use project::{Bin, Checkout, Completions, Doctor, Generate, Init, Man, New};
pub(crate) use requests::Requests;
pub(crate) use run::{ApprovalTask, Approvals, Call, CallFormat, Record, Serve, Test, Timeline};
pub(crate) use selection::Selection;
use selection::check_variable;

/// Compiles documents (OpenAPI, manifests, locks of MCP servers) into tools for LLM agents
#[derive(Debug, Parser)]
#[command(name = "cargo-toolgen", bin_name = "cargo toolgen", version, arg_required_else_help = true)]
pub(crate) struct Invocation {
    #[command(subcommand)]
    pub(crate) task: Task,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    Check(Check),
    List(List),
    Schema(Schema),
    Docs(Docs),
    #[command(name = "gen")]
    Generate(Generate),
    Call(Box<Call>),
    Serve(Box<Serve>),
    Tokens(Tokens),
    Timeline(Timeline),
    Approvals(Approvals),
    Policy(Policy),
    Record(Record),
    Explain(Explain),
    Graph(Graph),
    Bin(Bin),
    Init(Init),
    New(New),
    Test(Test),
    Mcp(Mcp),
    #[command(name = "lock")]
    Lock(WriteLock),
    Diff(Diff),
    Doctor(Doctor),
    Completions(Completions),
    Man(Man),
}

/// The output format
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Format {
    /// Output format, for people or for programs
    #[arg(id = "format", long = "format", value_name = "FORMAT", default_value = "human", action = ArgAction::Set,
        value_parser = PossibleValuesParser::new(["human", "json"]).map(|name| name == "json"))]
    pub(crate) json: bool,
}

/// A selection of tools
#[derive(Debug, Args)]
pub(crate) struct ToolFilter {
    /// Only this tool
    #[arg(long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
}

/// Returns a parser of values that have one of these names.
fn named_value_parser<T: Clone + Send + Sync + 'static>(
    names: impl IntoIterator<Item = &'static str>,
    by_name: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(names).try_map(move |name| by_name(&name).ok_or("unknown name"))
}

/// Parses the arguments of a command line, starting with the program name. Cargo inserts the subcommand name `toolgen`
/// after it, which is removed.
///
/// # Errors
///
/// Returns a usage error; also for `--help` and `--version`, which are errors with exit code 0.
pub(crate) fn parse(mut arguments: Vec<OsString>) -> Result<Invocation, Error> {
    if arguments.get(1).is_some_and(|word| word == "toolgen") {
        arguments.remove(1);
    }
    let mut command = command();
    join_values(&command, &mut arguments);
    let matches = command.try_get_matches_from_mut(arguments).map_err(improve_suggestions)?;
    let mut invocation =
        Invocation::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    match invocation.task.validate() {
        Ok(()) => Ok(invocation),
        Err(message) => Err(subcommand_error(&mut command, &matches, message)),
    }
}

/// Returns the clap command with all subcommands, arguments and help texts.
pub(crate) fn command() -> Command {
    help::with_help(Invocation::command())
}

impl Task {
    /// Validates the arguments that clap cannot check, and sets the fields derived from them. `Err` names the invalid
    /// argument.
    fn validate(&mut self) -> Result<(), String> {
        if let Some(selection) = self.selection() {
            selection.validate()?;
        }
        match self {
            Task::Check(task) => {
                task.selection.lints = true;
                let options = &mut task.selection.options;
                options.deny_losses.clone_from(&task.deny_losses);
                options.token_budget = task.budget.parse("openai");
                options.lock.clone_from(&task.lock);
                options.deny_changes = task.fail_on.fail_on;
            }
            Task::Diff(task) => task.selection.options.deny_changes = task.fail_on.fail_on,
            Task::Tokens(task) => task.selection.options.token_budget = task.budget.parse(&task.dialect),
            Task::Generate(task) => {
                let options = &mut task.selection.options;
                options.types = !task.no_types;
                options.derives.clone_from(&task.derive);
                options.text_types.clone_from(&task.text_types);
                options.modules = task.layout.modules;
            }
            Task::Bin(task) => task.selection.options.modules = task.layout.modules,
            Task::Docs(task) if task.summary && task.format == DocsFormat::Json => {
                return Err(
                    "`--summary` prints Markdown; with `--format json`, write `--level summary`".to_owned()
                );
            }
            Task::Call(task) if task.format == CallFormat::Curl && !task.dry_run => {
                return Err("`--format curl` prints the request of a dry run; add `--dry-run`".to_owned());
            }
            Task::Call(task) => {
                task.requests.output.clone_from(&task.output);
                return task.requests.validate(task.selection.private_hosts());
            }
            Task::Serve(task) => {
                if let Some(name) = &task.token {
                    check_variable("`--token ENV_VAR`", name)?;
                }
                return task.requests.validate(task.selection.private_hosts());
            }
            Task::Mcp(mcp) => return mcp.task.validate(),
            Task::Approvals(Approvals {
                task: ApprovalTask::Grant { decision, .. } | ApprovalTask::Deny { decision, .. },
            }) if decision.by.trim().is_empty() => {
                return Err("`--by` is empty; name the person who decides".to_owned());
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the documents and compiler options of a command.
    fn selection(&mut self) -> Option<&mut Selection> {
        match self {
            Task::Check(task) => Some(&mut task.selection),
            Task::List(task) => Some(&mut task.selection),
            Task::Schema(task) => Some(&mut task.selection),
            Task::Docs(task) => Some(&mut task.selection),
            Task::Generate(task) => Some(&mut task.selection),
            Task::Tokens(task) => Some(&mut task.selection),
            Task::Graph(task) => Some(&mut task.selection),
            Task::Bin(task) => Some(&mut task.selection),
            Task::Test(task) => Some(&mut task.selection),
            Task::Lock(task) => Some(&mut task.selection),
            Task::Diff(task) => Some(&mut task.selection),
            Task::Call(task) => {
                task.selection = Selection::of_document(&task.document, &task.compiler);
                Some(&mut task.selection)
            }
            Task::Policy(task) => Some(task.selection()),
            Task::Serve(task) => {
                task.selection = Selection::of(&task.sources, &task.compiler);
                Some(&mut task.selection)
            }
            _ => None,
        }
    }
}

/// Joins an option that has an optional value with the next argument, if that is one of its values: `--discovery off`
/// becomes `--discovery=off`. Any other argument there is a document.
fn join_values(command: &Command, arguments: &mut Vec<OsString>) {
    let subcommand = arguments.get(1).and_then(|word| command.find_subcommand(word));
    let options =
        subcommand.into_iter().flat_map(Command::get_arguments).filter(|arg| arg.is_require_equals_set());
    for option in options {
        let long = option.get_long().map(|long| format!("--{long}"));
        let is_value =
            |word: &OsString| option.get_possible_values().iter().any(|value| word == value.get_name());
        let index = arguments.windows(2).position(|pair| {
            long.as_deref().is_some_and(|long| pair[0] == *long)
                && is_value(&pair[1])
                && !Path::new(&pair[1]).exists()
        });
        if let (Some(index), Some(long)) = (index, long) {
            let value = arguments.remove(index + 1);
            arguments[index] = OsString::from_iter([long.into(), OsString::from("="), value]);
        }
    }
}

/// Returns the error of the innermost subcommand, so that it shows the usage of that command.
fn subcommand_error(command: &mut Command, matches: &ArgMatches, message: String) -> Error {
    if let Some((name, matches)) = matches.subcommand()
        && let Some(inner) = command.find_subcommand_mut(name)
    {
        return subcommand_error(inner, matches, message);
    }
    command.error(ErrorKind::ValueValidation, message)
}

/// Orders suggestions by likelihood, and explains to a user who starts with a document that a command comes first.
fn improve_suggestions(mut error: Error) -> Error {
    if let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand)
        && (super::fetch::url(Path::new(word)).is_some() || Path::new(word).is_file())
    {
        let tip = format!("a command comes first, such as `cargo toolgen check {word}`");
        // A part of the path may resemble a command.
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    } else if let Some(ContextValue::Strings(similar)) = error.get(ContextKind::SuggestedSubcommand) {
        let nearest_first = similar.iter().rev().cloned().collect();
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(nearest_first));
    }
    error
}
