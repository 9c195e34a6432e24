//! The words of the commands that look at documents, and of those that keep contracts.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use toolgen::TokenBudget;
use toolgen::tokens::{Rendering, Tokenizer};
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::spec::docs::Level;
use toolgen_runtime::spec::drift::Class;
use toolgen_runtime::wire::WireFormat;

use super::{Format, Selection, Tools, named};

/// The name of a lock that is looked for next to documents.
pub(crate) const LOCK: &str = "toolgen.lock";

/// Report what is wrong with documents, how many tools they give, and what changed
#[derive(Debug, Args)]
#[command(after_help = format!(
    "Without `--lock`, the tools are compared with the lock that a manifest names, or with `{LOCK}` next to the first \
     document if it is for the same documents and options."
))]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) format: Format,
    /// Show every problem, not just a count where there are many
    #[arg(long, short = 'v', visible_alias = "verbose", alias = "notes")]
    pub(crate) all: bool,
    /// Report as errors what this dialect cannot express of the tools
    #[arg(long, value_name = "DIALECT")]
    pub(super) deny_losses: Vec<String>,
    #[command(flatten)]
    pub(super) budget: Budget,
    /// Compare the tools with this contract lock
    #[arg(long, value_name = "FILE")]
    pub(super) lock: Option<PathBuf>,
    #[command(flatten)]
    pub(super) fail_on: FailOn,
    /// Write the lock again, and report what changed
    #[arg(long)]
    pub(crate) update: bool,
}

/// The budget of tokens
#[derive(Debug, Args)]
pub(crate) struct Budget {
    /// Exit with 1 if all tools together take more tokens
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    /// Exit with 1 if one tool takes more tokens
    #[arg(long, value_name = "TOKENS")]
    tool_budget: Option<usize>,
}

impl Budget {
    /// Returns the budget, if one is given.
    pub(super) fn given(&self, dialect: &str) -> Option<TokenBudget> {
        let (total, tool) = (self.budget, self.tool_budget);
        (total.is_some() || tool.is_some()).then(|| TokenBudget { total, tool, dialect: dialect.to_owned() })
    }
}

/// The least change that is an error
#[derive(Debug, Args)]
pub(crate) struct FailOn {
    /// The least change that is an error: security, breaking, model, added, text, compatible
    #[arg(long, value_name = "CLASS", hide_possible_values = true, default_value = "breaking",
        value_parser = named(Class::ALL.map(Class::name), Class::by_name))]
    pub(super) fail_on: Class,
}

/// List the tools of documents
#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) shown: Discovered,
}

/// Whether the tools of a discovery are shown
#[derive(Debug, Args)]
pub(crate) struct Discovered {
    /// The three tools that find, describe and call the others, instead of all of them
    #[arg(long)]
    pub(crate) discovery: bool,
}

/// Print the documentation of tools for a prompt
#[derive(Debug, Args)]
pub(crate) struct Docs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) only: Tools,
    #[command(flatten)]
    pub(crate) shown: Discovered,
    /// How much to say; without it, the list of tools, then each in full
    #[arg(long, value_name = "LEVEL", conflicts_with = "summary",
        value_parser = named(Level::ALL.map(Level::name), Level::by_name))]
    pub(crate) level: Option<Level>,
    /// Only the tools of this toolset
    #[arg(long = "toolset", value_name = "NAME")]
    pub(crate) toolsets: Vec<String>,
    /// A heading for each category (an operation's first tag) or toolset
    #[arg(long = "group", value_name = "BY")]
    pub(crate) groups: Option<Groups>,
    /// Also say what the schemas in this dialect do not
    #[arg(long, value_name = "DIALECT",
        value_parser = named(Dialect::ALL.iter().map(|dialect| dialect.name), Dialect::by_name))]
    pub(crate) dialect: Option<&'static Dialect>,
    /// Show the types of results in signatures, too
    #[arg(long)]
    pub(crate) results: bool,
    /// Only the list of tools, one line each
    #[arg(long)]
    pub(crate) summary: bool,
    /// Markdown for a prompt, or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "md")]
    pub(crate) format: DocsFormat,
    /// Print nothing; exit with 1 if this file does not hold the documentation, and show the lines
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
}

/// What makes the headings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Groups {
    Category,
    Toolset,
}

/// The forms of documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocsFormat {
    Md,
    Json,
}

/// Print the schemas of tools in the dialect of an LLM vendor (JSON)
#[derive(Debug, Args)]
pub(crate) struct Schema {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Such as openai-strict, anthropic or gemini; an unknown one lists them all; by default that of `--wire`, or
    /// `json-schema`
    #[arg(long, value_name = "DIALECT")]
    pub(crate) dialect: Option<String>,
    /// Print the tools as they go into a request to the vendor; json-schema is MCP's `tools/list`
    #[arg(long, group = "request")]
    pub(crate) envelope: bool,
    /// The format of the request; by default that of the dialect
    #[arg(long, value_name = "FORMAT", requires = "request",
        value_parser = named(WireFormat::ALL.map(WireFormat::name), WireFormat::by_name))]
    pub(crate) wire: Option<WireFormat>,
    /// Print how each tool is shown in one request to the vendor, and why
    #[arg(long, group = "request", conflicts_with = "envelope")]
    pub(crate) plan: bool,
    /// Leave the last tools out of the plan, if there are more than a request takes
    #[arg(long, requires = "plan")]
    pub(crate) cut: bool,
    #[command(flatten)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) only: Tools,
    #[command(flatten)]
    pub(crate) shown: Discovered,
}

/// Count the tokens of tools, and show where they go and what to cut
#[derive(Debug, Args)]
pub(crate) struct Tokens {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// The dialect of the LLM vendor
    #[arg(long, value_name = "DIALECT", default_value = "openai")]
    pub(crate) dialect: String,
    /// o200k is that of GPT-4o and later, cl100k that of GPT-4
    #[arg(long, value_name = "NAME", default_value = "o200k",
        value_parser = named(["o200k", "cl100k"], Tokenizer::by_name))]
    pub(crate) tokenizer: Tokenizer,
    /// A request (full, compact) or a prompt (the others)
    #[arg(long, value_name = "FORM", default_value = "full",
        value_parser = named(Rendering::ALL.map(Rendering::name), Rendering::by_name))]
    pub(crate) rendering: Rendering,
    /// human, json, or html: one page with a map of the tokens
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: TokenFormat,
    /// Write the report to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) only: Tools,
    #[command(flatten)]
    pub(super) budget: Budget,
}

/// The forms of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenFormat {
    Human,
    Json,
    Html,
}

/// Draw which tools require which, and which call which
#[derive(Debug, Args)]
pub(crate) struct Graph {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// For Mermaid or for Graphviz
    #[arg(long, value_name = "FORMAT", default_value = "mermaid")]
    pub(crate) format: GraphFormat,
}

/// The forms of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    Mermaid,
    Dot,
}

/// Explain the code of a problem; without one, list them all
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// The code, as `check` prints it, such as E0106
    pub(crate) code: Option<String>,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Write the contract of tools to a file that is reviewed and committed
#[derive(Debug, Args)]
#[command(
    after_help = "An existing lock is replaced, and each change is reported with its class: security, breaking, \
    model, added, text or compatible. `check` and `diff` compare tools with it."
)]
pub(crate) struct WriteLock {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// The lock; `-` for the standard output
    #[arg(long, value_name = "FILE", default_value = LOCK)]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Compare the tools of two documents, locks, or programs of a crate
#[derive(Debug, Args)]
#[command(after_help = "The older one comes first; programs come after documents. For a version in git: \
    `git show REV:api.yaml | cargo toolgen diff - api.yaml`.\n\nThe exit code is 1 if a change is of the class of \
    `--fail-on` or worse.")]
pub(crate) struct Diff {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(super) fail_on: FailOn,
}
