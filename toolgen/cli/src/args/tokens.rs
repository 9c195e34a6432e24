//! The words of `tokens`, and those about the size of tools.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command, value_parser};
use toolgen::TokenBudget;
use toolgen::tokens::{Rendering, Tokenizer};

use super::{Selection, Task, compiling, flag, option, path, tools};

/// `tokens`
#[derive(Debug)]
pub(in super::super) struct Tokens {
    pub(in super::super) selection: Selection,
    pub(in super::super) tools: Vec<String>,
    pub(in super::super) dialect: String,
    pub(in super::super) tokenizer: Tokenizer,
    pub(in super::super) rendering: Rendering,
    pub(in super::super) format: TokenFormat,
    pub(in super::super) out: Option<PathBuf>,
    /// Whether an existing file is replaced.
    pub(in super::super) force: bool,
}

/// The forms of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum TokenFormat {
    /// Text for people.
    Human,
    /// One JSON object.
    Json,
    /// One HTML page.
    Html,
}

pub(super) fn command() -> Command {
    let names = Rendering::ALL.map(Rendering::name);
    compiling("tokens", "Count the tokens of tools, and show where they go and what to cut")
        .arg(option("dialect", "DIALECT", "The dialect of the LLM provider").default_value("openai"))
        .arg(
            option("tokenizer", "NAME", "o200k is that of GPT-4o and later, cl100k that of GPT-4")
                .value_parser(["o200k", "cl100k"])
                .default_value("o200k"),
        )
        .arg(
            option("rendering", "FORM", "A request (full, compact) or a prompt (the others)")
                .value_parser(names)
                .default_value("full"),
        )
        .arg(
            option("format", "FORMAT", "human, json, or html: one page with a map of the tokens")
                .value_parser(["human", "json", "html"])
                .default_value("human"),
        )
        .arg(path("out", "FILE", "Write the report to this file"))
        .arg(flag("force", "Replace the file if it exists").requires("out"))
        .arg(tools())
        .args(budget())
}

/// The options of a budget.
pub(super) fn budget() -> [Arg; 2] {
    let limit = |name, help| option(name, "TOKENS", help).value_parser(value_parser!(usize));
    [
        limit("budget", "Exit with 1 if all tools together take more tokens"),
        limit("tool-budget", "Exit with 1 if one tool takes more tokens"),
    ]
}

/// Returns the budget of a command that has one.
pub(super) fn given_budget(matches: &ArgMatches, dialect: &str) -> Option<TokenBudget> {
    let limit = |name| matches.try_get_one::<usize>(name).ok().flatten().copied();
    let (total, tool) = (limit("budget"), limit("tool-budget"));
    (total.is_some() || tool.is_some()).then(|| TokenBudget { total, tool, dialect: dialect.to_owned() })
}

pub(super) fn task(matches: &ArgMatches, selection: Selection) -> Task {
    let text = |name: &str| matches.get_one::<String>(name).map_or("", String::as_str);
    let dialect = text("dialect").to_owned();
    Task::Tokens(Tokens {
        selection,
        tools: matches.get_many::<String>("tool").unwrap_or_default().cloned().collect(),
        tokenizer: Tokenizer::by_name(text("tokenizer")).unwrap_or(Tokenizer::O200k),
        rendering: Rendering::by_name(text("rendering")).unwrap_or(Rendering::Full),
        format: match text("format") {
            "json" => TokenFormat::Json,
            "html" => TokenFormat::Html,
            _ => TokenFormat::Human,
        },
        out: matches.get_one::<PathBuf>("out").cloned(),
        force: matches.get_flag("force"),
        dialect,
    })
}
