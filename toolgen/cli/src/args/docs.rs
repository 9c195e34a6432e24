//! The words of `docs`.

use std::path::PathBuf;

use clap::{Arg, ArgMatches};
use toolgen_runtime::schema::dialect::Dialect;
use toolgen_runtime::spec::docs::Level;

use super::{Selection, flag, option, path};

/// `docs`
#[derive(Debug)]
pub(crate) struct Docs {
    pub(crate) selection: Selection,
    pub(crate) tools: Vec<String>,
    pub(crate) toolsets: Vec<String>,
    pub(crate) groups: Groups,
    /// `None` for the list of tools and then each of them in full.
    pub(crate) level: Option<Level>,
    pub(crate) dialect: Option<&'static Dialect>,
    pub(crate) results: bool,
    /// Only the list of tools.
    pub(crate) summary: bool,
    pub(crate) json: bool,
    /// The file that should hold what would be printed.
    pub(crate) check: Option<PathBuf>,
}

/// What makes the headings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Groups {
    None,
    Category,
    Toolset,
}

/// Returns the options of `docs` in addition to those of all commands.
pub(super) fn arguments() -> Vec<Arg> {
    vec![
        option("level", "LEVEL", "How much to say; without it, the list of tools, then each in full")
            .value_parser(Level::ALL.map(Level::name))
            .conflicts_with("summary"),
        option("toolset", "NAME", "Only the tools of this toolset").action(clap::ArgAction::Append),
        option("group", "BY", "A heading for each category (an operation's first tag) or toolset")
            .value_parser(["category", "toolset"]),
        option("dialect", "DIALECT", "Also say what the schemas in this dialect do not")
            .value_parser(Dialect::ALL.iter().map(|dialect| dialect.name).collect::<Vec<_>>()),
        flag("results", "Show the types of results in signatures, too"),
        flag("summary", "Only the list of tools, one line each"),
        option("format", "FORMAT", "Markdown for a prompt, or JSON for programs")
            .value_parser(["md", "json"])
            .default_value("md"),
        path(
            "check",
            "FILE",
            "Print nothing; exit with 1 if this file does not hold the documentation, and show the lines",
        ),
    ]
}

/// Reads the words of `docs`.
pub(super) fn task(matches: &ArgMatches, selection: Selection) -> Result<Docs, String> {
    let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
    let texts = |name: &str| matches.get_many::<String>(name).unwrap_or_default().cloned().collect();
    let json = text("format") == Some("json");
    if json && matches.get_flag("summary") {
        return Err("`--summary` is text; with `--format json` write `--level summary`".to_owned());
    }
    Ok(Docs {
        selection,
        tools: texts("tool"),
        toolsets: texts("toolset"),
        groups: match text("group") {
            Some("category") => Groups::Category,
            Some(_) => Groups::Toolset,
            None => Groups::None,
        },
        level: text("level").and_then(Level::by_name),
        dialect: text("dialect").and_then(Dialect::by_name),
        results: matches.get_flag("results"),
        summary: matches.get_flag("summary"),
        json,
        check: matches.get_one("check").cloned(),
    })
}
