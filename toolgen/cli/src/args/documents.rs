//! Arguments of the commands that inspect documents (`check`, `docs`, `schema`, …), and of `lock` and `diff`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use toolgen::TokenBudget;
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::spec::docs::Level;
use toolgen_runtime::spec::drift::ChangeClass;
use toolgen_runtime::wire::WireFormat;

use super::{Format, Selection, ToolFilter, named_value_parser};

/// File name of the contract lock that `check` looks for next to documents.
pub(crate) const LOCK: &str = "toolgen.lock";

/// Check documents: problems, number of tools, contract changes
#[derive(Debug, Args)]
#[command(after_help = format!(
    "Without `--lock`, the tools are compared with the lock that a manifest names, or with `{LOCK}` next to the first \
     document if its documents and options are the same."
))]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) format: Format,
    /// Print every warning and note, not only their number
    #[arg(long, short = 'v', visible_alias = "verbose", alias = "notes")]
    pub(crate) all: bool,
    /// Dialect that must express all rules of the schemas; losses are errors
    #[arg(long, value_name = "DIALECT")]
    pub(super) deny_losses: Vec<String>,
    #[command(flatten)]
    pub(super) budget: Budget,
    /// Contract lock to compare the tools with
    #[arg(long, value_name = "FILE")]
    pub(super) lock: Option<PathBuf>,
    #[command(flatten)]
    pub(super) fail_on: FailOn,
    /// Rewrite the lock, and report the changes
    #[arg(long)]
    pub(crate) update: bool,
}

/// The token budget
#[derive(Debug, Args)]
pub(crate) struct Budget {
    /// Maximum number of tokens of all tools; exit with 1 if exceeded
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    /// Maximum number of tokens of one tool; exit with 1 if exceeded
    #[arg(long, value_name = "TOKENS")]
    tool_budget: Option<usize>,
}

impl Budget {
    /// Returns the budget, or `None` if no option sets one.
    pub(super) fn parse(&self, dialect: &str) -> Option<TokenBudget> {
        let (total, tool) = (self.budget, self.tool_budget);
        (total.is_some() || tool.is_some()).then(|| TokenBudget { total, tool, dialect: dialect.to_owned() })
    }
}

/// The least severe class of change that is an error
#[derive(Debug, Args)]
pub(crate) struct FailOn {
    /// Least severe class of change that fails: security, breaking, model, added, text, compatible
    #[arg(long, value_name = "CLASS", hide_possible_values = true, default_value = "breaking",
        value_parser = named_value_parser(ChangeClass::ALL.map(ChangeClass::name), ChangeClass::by_name))]
    pub(super) fail_on: ChangeClass,
}

/// List the tools of documents
#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) discovery: DiscoveryArgument,
}

/// Whether the discovery tools are shown
#[derive(Debug, Args)]
pub(crate) struct DiscoveryArgument {
    /// The three discovery tools (find, describe, call) instead of all tools
    #[arg(long)]
    pub(crate) discovery: bool,
}

/// Print tool documentation for a system prompt
#[derive(Debug, Args)]
pub(crate) struct Docs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) filter: ToolFilter,
    #[command(flatten)]
    pub(crate) discovery: DiscoveryArgument,
    /// Level of detail; by default, the list of tools, then each in full
    #[arg(long, value_name = "LEVEL", conflicts_with = "summary",
        value_parser = named_value_parser(Level::ALL.map(Level::name), Level::by_name))]
    pub(crate) level: Option<Level>,
    /// Only the tools of this toolset
    #[arg(long = "toolset", value_name = "NAME")]
    pub(crate) toolsets: Vec<String>,
    /// Group tools by category (an operation's first tag) or by toolset
    #[arg(long = "group", value_name = "BY")]
    pub(crate) groups: Option<Groups>,
    /// Also describe the rules that schemas in this dialect cannot express
    #[arg(long, value_name = "DIALECT",
        value_parser = named_value_parser(Dialect::ALL.iter().map(|dialect| dialect.name), Dialect::by_name))]
    pub(crate) dialect: Option<&'static Dialect>,
    /// Include result types in signatures
    #[arg(long)]
    pub(crate) results: bool,
    /// Only the list of tools, one line each
    #[arg(long)]
    pub(crate) summary: bool,
    /// Output format: Markdown for a prompt, or JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "md")]
    pub(crate) format: DocsFormat,
    /// Print nothing; exit with 1 and show the difference if this file is out of date
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
}

/// The property that tools are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Groups {
    Category,
    Toolset,
}

/// The output formats of `docs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocsFormat {
    Md,
    Json,
}

/// Print tool schemas in the dialect of an LLM vendor (JSON)
#[derive(Debug, Args)]
pub(crate) struct Schema {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Dialect, such as openai-strict, anthropic or gemini; an unknown name lists all [default: that of `--wire`, or
    /// json-schema]
    #[arg(long, value_name = "DIALECT")]
    pub(crate) dialect: Option<String>,
    /// Print the tools as in a request to the vendor; json-schema is MCP's `tools/list`
    #[arg(long, group = "request")]
    pub(crate) envelope: bool,
    /// Request format [default: that of the dialect]
    #[arg(long, value_name = "FORMAT", requires = "request",
        value_parser = named_value_parser(WireFormat::ALL.map(WireFormat::name), WireFormat::by_name))]
    pub(crate) wire: Option<WireFormat>,
    /// Print how one request to the vendor represents each tool, and why
    #[arg(long, group = "request", conflicts_with = "envelope")]
    pub(crate) plan: bool,
    /// Drop the last tools if a request cannot hold all
    #[arg(long, requires = "plan")]
    pub(crate) cut: bool,
    /// Add up to this many examples to each tool, as a property or to its description
    #[arg(long, value_name = "COUNT", default_value_t = 0, hide_default_value = true, requires = "request")]
    pub(crate) examples: usize,
    /// Let programs that the vendor runs call the tools that are offered to programs
    #[arg(long, requires = "request")]
    pub(crate) programs: bool,
    /// Add the schema of results to each tool that declares one
    #[arg(long, requires = "request")]
    pub(crate) output_schemas: bool,
    #[command(flatten)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) filter: ToolFilter,
    #[command(flatten)]
    pub(crate) discovery: DiscoveryArgument,
}

/// Count the tokens of tools by part, and suggest reductions
#[derive(Debug, Args)]
pub(crate) struct Tokens {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Dialect of the LLM vendor
    #[arg(long, value_name = "DIALECT", default_value = "openai")]
    pub(crate) dialect: String,
    /// Tokenizer: o200k (GPT-4o and later) or cl100k (GPT-4)
    #[arg(long, value_name = "NAME", default_value = "o200k",
        value_parser = PossibleValuesParser::new(["o200k", "cl100k"]))]
    pub(crate) tokenizer: String,
    /// Rendering to count: a request (full, compact) or a prompt (the others)
    #[arg(long, value_name = "FORM", default_value = "full",
        value_parser = PossibleValuesParser::new(["full", "compact", "index", "summary", "signature", "docs"]))]
    pub(crate) rendering: String,
    /// Output format: human, json, or html (one page with a map of the tokens)
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: TokenFormat,
    /// Output file of the report
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long, requires = "out")]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) filter: ToolFilter,
    #[command(flatten)]
    pub(super) budget: Budget,
}

/// The output formats of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenFormat {
    Human,
    Json,
    Html,
}

/// Print a graph of which tools require or call which
#[derive(Debug, Args)]
pub(crate) struct Graph {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Graph language: Mermaid or Graphviz (dot)
    #[arg(long, value_name = "FORMAT", default_value = "mermaid")]
    pub(crate) format: GraphFormat,
}

/// The languages of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    Mermaid,
    Dot,
}

/// Explain a diagnostic code, or list all codes
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Code as printed by `check`, such as E0106
    pub(crate) code: Option<String>,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Write the contract of tools to a lock file, for review and commit
#[derive(Debug, Args)]
#[command(
    after_help = "An existing lock is replaced, and each change is reported with its class: security, breaking, \
    model, added, text or compatible. `check` and `diff` compare tools with it."
)]
pub(crate) struct WriteLock {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Lock file, or `-` for standard output
    #[arg(long, value_name = "FILE", default_value = LOCK)]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Compare the tools of two documents, locks, or programs of a crate
#[derive(Debug, Args)]
#[command(
    after_help = "The older version comes first; programs come after documents. For a version in git: \
    `git show REV:api.yaml | cargo toolgen diff - api.yaml`.\n\nThe exit code is 1 if a change is in the class of \
    `--fail-on` or a more severe one."
)]
pub(crate) struct Diff {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(super) fail_on: FailOn,
}
