//! Arguments of `policy`, which explains and compares the rules of documents on calls.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use toolgen_runtime::spec::drift::ChangeClass;

use super::documents::FailOn;
use super::selection::CompilerArguments;
use super::{Format, Selection};

/// Explain what the rules of a document say about a call, or compare the rules of two documents
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Policy {
    #[command(subcommand)]
    pub(crate) task: PolicyTask,
}

/// The subcommands of `policy`.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyTask {
    /// Explain which rule decides a call, and why; nothing is called
    #[command(after_help = "Without `--principal`, the call is one of the program itself, without scopes.")]
    Explain(Box<PolicyExplain>),
    /// Compare the rules of two documents: whether more calls are allowed than before
    #[command(
        after_help = "The older document comes first. A rule that refuses, asks about or counts fewer calls is a change \
        of the class security, also if that cannot be excluded; a stricter one is of the class model. Calls of tools \
        that only one document has are left out: `diff` reports these tools.\n\nThe exit code is 1 if a change is in \
        the class of `--fail-on` or a more severe one."
    )]
    Diff(Box<PolicyDiff>),
}

/// The arguments of `policy explain`.
#[derive(Debug, Args)]
pub(crate) struct PolicyExplain {
    /// Document with the rules and the tool: a file, a URL, or `-` for standard input
    document: PathBuf,
    /// Name of the tool
    pub(crate) tool: String,
    /// Arguments: NAME=VALUE each, or one JSON object; `@FILE` reads it from a file, `-` from standard input
    #[arg(value_name = "ARGUMENT")]
    pub(crate) arguments: Vec<String>,
    /// ID of the principal that makes the call
    #[arg(long, value_name = "ID")]
    pub(crate) principal: Option<String>,
    /// Scope of the principal; repeatable
    #[arg(long = "scope", value_name = "SCOPE", requires = "principal")]
    pub(crate) scopes: Vec<String>,
    /// ID of the session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// ID of the agent
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,
    #[command(flatten)]
    pub(crate) format: Format,
    #[command(flatten)]
    compiler: CompilerArguments,
    #[arg(skip)]
    pub(crate) selection: Selection,
}

/// The arguments of `policy diff`.
#[derive(Debug, Args)]
pub(crate) struct PolicyDiff {
    /// Document with the older rules
    old: PathBuf,
    /// Document with the newer rules
    new: PathBuf,
    #[command(flatten)]
    pub(crate) format: Format,
    #[command(flatten)]
    fail_on: FailOn,
    #[command(flatten)]
    compiler: CompilerArguments,
    #[arg(skip)]
    pub(crate) selection: Selection,
}

impl PolicyDiff {
    /// Returns the least severe class of change that fails.
    pub(crate) fn fail_on(&self) -> ChangeClass {
        self.fail_on.fail_on
    }
}

impl Policy {
    /// Returns the documents and compiler options of the subcommand.
    pub(super) fn selection(&mut self) -> &mut Selection {
        match &mut self.task {
            PolicyTask::Explain(task) => {
                task.selection = Selection::of_document(&task.document, &task.compiler);
                &mut task.selection
            }
            PolicyTask::Diff(task) => {
                task.selection =
                    Selection::of_documents(&[task.old.clone(), task.new.clone()], &task.compiler);
                &mut task.selection
            }
        }
    }
}
