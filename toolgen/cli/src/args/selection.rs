//! The words of all commands that compile documents: which documents, and how.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::Value;
use toolgen::select::Selector;
use toolgen::{ArgumentRule, Options, frontend};

use super::{Exported, check, exported, flag, generated, is_json, option, tokens};

/// The documents, and the options for compiling them.
#[derive(Clone, Debug)]
pub(in super::super) struct Selection {
    pub(in super::super) documents: Vec<PathBuf>,
    /// The hosts that documents and requests may reach at private addresses.
    pub(in super::super) private_hosts: Vec<String>,
    /// The programs of the crate whose own tools are used, too.
    pub(in super::super) exported: Vec<Exported>,
    pub(in super::super) options: Options,
    pub(in super::super) json: bool,
    pub(in super::super) quiet: bool,
    pub(in super::super) all: bool,
    /// Whether texts are checked, too.
    pub(in super::super) lints: bool,
    /// Whether the tools of a discovery are shown instead of all tools.
    pub(in super::super) discovery: bool,
}

/// Creates a command that compiles documents.
pub(super) fn compiling(name: &'static str, about: &'static str) -> Command {
    let kinds: Vec<&str> = frontend::all().iter().map(|front_end| front_end.title()).collect();
    let documents = Arg::new("documents")
        .value_name("DOCUMENT")
        .required_unless_present_any(exported::WORDS)
        .num_args(1..)
        .value_parser(value_parser!(PathBuf))
        .help(format!("Files, URLs, or `-` for the standard input, JSON or YAML: {}", kinds.join(", ")));
    let command = with_options(exported::with_words(Command::new(name).about(about).arg(documents)));
    // What `serve` allows and denies are calls.
    if name == "serve" { command } else { check::with_levels(command) }
}

/// Adds the options of all commands that compile documents.
pub(super) fn with_options(command: Command) -> Command {
    let several = |name, value, help| option(name, value, help).action(ArgAction::Append);
    let quiet = "Show no notes, and do not count the warnings that `check` shows";
    command
        .arg(flag("quiet", quiet).short('q'))
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
        .next_help_heading("Arguments")
        .arg(several(
            "fix",
            "ARGUMENT=VALUE",
            "Send this value in each request; no model sees the argument. 'GET /pets/** limit=9' is for some operations",
        ))
        .arg(several("omit", "ARGUMENT", "Leave this optional argument out; `*` stands for any characters"))
        .next_help_heading("Lists in pages")
        .arg(several(
            "pagination",
            "SELECTOR=WAY",
            "How the lists of these operations come in pages; see `explain W0337`",
        ))
        .arg(flag(
            "max-items",
            "Let a model ask for several pages at once, by an argument of tools that return lists",
        ))
        .next_help_heading("Files and hosts")
        .arg(several("root", "FOLDER", "Documents may refer to files below this folder, too"))
        .arg(several("overlay", "FILE", "Change the documents by this overlay first; several apply in order"))
        .arg(private_host())
        .next_help_heading("Size")
        .arg(option(
            "slim",
            "LEVERS",
            "Trim what a model reads, such as 'compact' or 'nested=sentence, depth=3'",
        ))
        .arg(several(
            "exact",
            "SELECTOR",
            "Refuse dialects that cannot express all rules of these operations",
        ))
        .next_help_heading(None)
}

pub(super) fn private_host() -> Arg {
    option(
        "private-host",
        "HOST",
        "Let documents and requests reach this host, even at a private address; `*.` stands for subdomains",
    )
    .action(ArgAction::Append)
}

/// Returns the hosts of `--private-host`. An error names a URL given in place of one: it would open nothing.
pub(super) fn private_hosts(matches: &ArgMatches) -> Result<Vec<String>, String> {
    let hosts = matches.try_get_many::<String>("private-host").ok().flatten().unwrap_or_default();
    let hosts = hosts.map(|given| {
        let rest = given.split_once("://").map_or(given.as_str(), |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
        // An address of version 6 has colons of its own.
        let host = match place.split_once(':') {
            Some((host, port)) if !port.contains(':') => host,
            _ => place.rsplit_once("]:").map_or(place, |(host, _)| host).trim_matches(['[', ']']),
        };
        if given == host || given.trim_matches(['[', ']']) == host {
            return Ok(given.clone());
        }
        Err(format!(
            "`--private-host` takes a host, not a URL, and without a port; write `--private-host {host}`"
        ))
    });
    hosts.collect()
}

pub(super) fn selection(name: &str, matches: &ArgMatches) -> Result<Selection, String> {
    let documents = matches.get_many::<PathBuf>("documents").unwrap_or_default().cloned().collect();
    let mut options = options(matches)?;
    options.types = false;
    if name == "gen" {
        generated::set(matches, &mut options);
    } else if name == "bin" {
        generated::set_modules(matches, &mut options);
    }
    if name != "serve" {
        check::levels(matches, &mut options.levels)?;
    }
    if name == "check" {
        options.deny_losses = matches.get_many("deny-losses").unwrap_or_default().cloned().collect();
    }
    let has = |name: &str| matches.try_contains_id(name).unwrap_or(false);
    Ok(Selection {
        documents,
        private_hosts: private_hosts(matches)?,
        exported: exported::given(matches),
        options,
        json: has("format") && is_json(matches),
        quiet: matches.get_flag("quiet"),
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
    options = texts("overlay").fold(options, Options::overlay);
    options.renames.extend(pairs(matches, "rename", ("OLD", "NEW"))?);
    options.credentials.extend(variables(matches, "auth", "SCHEME")?);
    for (argument, value) in pairs(matches, "fix", ("ARGUMENT", "VALUE"))? {
        options = options.argument(argument_rule(&argument, Some(value.into())));
    }
    options = texts("omit").fold(options, |options, given| options.argument(argument_rule(&given, None)));
    let pages = pairs(matches, "pagination", ("SELECTOR", "WAY"))?.into_iter();
    options = pages.fold(options, |options, (operations, pages)| options.pagination(operations, pages));
    options.max_items = matches.get_flag("max-items");
    if let Some(levers) = matches.get_one::<String>("slim") {
        options.slim = Some(levers.parse().map_err(|why| format!("`--slim`: {why}"))?);
    }
    let dialect = matches.try_get_one::<String>("dialect").ok().flatten();
    options.token_budget = tokens::given_budget(matches, dialect.map_or("openai", String::as_str));
    Ok(options)
}

/// Returns what is said of an argument, which may have a selector of operations before it.
fn argument_rule(given: &str, value: Option<Value>) -> ArgumentRule {
    let given = given.trim();
    let (operations, argument) = match given.rsplit_once(char::is_whitespace) {
        Some((operations, argument)) => (Some(Selector::from(operations)), argument),
        None => (None, given),
    };
    ArgumentRule { operations, argument: argument.to_owned(), value }
}

/// Returns options of the form `LEFT=RIGHT`, as the option calls the two sides.
pub(super) fn pairs(
    matches: &ArgMatches,
    name: &str,
    form: (&str, &str),
) -> Result<Vec<(String, String)>, String> {
    let values = matches.get_many::<String>(name).unwrap_or_default();
    values
        .map(|value| match value.split_once('=') {
            Some((left, right)) if !left.is_empty() && !right.is_empty() => {
                Ok((left.to_owned(), right.to_owned()))
            }
            _ => {
                // A credential may stand there by mistake.
                let given = if form.1 == VARIABLE { String::new() } else { format!(" {value}") };
                Err(format!("`--{name}{given}` is not of the form {}={}", form.0, form.1))
            }
        })
        .collect()
}

/// What options call the name of an environment variable.
const VARIABLE: &str = "VARIABLE";

/// Returns options of the form `NAME=VARIABLE`, `left` being what the option calls the name.
pub(super) fn variables(
    matches: &ArgMatches,
    name: &str,
    left: &str,
) -> Result<Vec<(String, String)>, String> {
    let pairs = pairs(matches, name, (left, VARIABLE))?;
    let wrong = pairs
        .iter()
        .find_map(|(_, variable)| no_variable(&format!("`--{name} {left}={VARIABLE}`"), variable));
    wrong.map_or(Ok(pairs), Err)
}

/// Returns what is wrong with the name of an environment variable that is given to an option: it is not written like
/// one, and no variable has it, so it may be a secret. The error does not repeat it.
pub(super) fn no_variable(option: &str, name: &str) -> Option<String> {
    let is_like_one = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if name.chars().all(is_like_one) || std::env::var_os(name).is_some() {
        return None;
    }
    Some(format!(
        "{option} takes the name of an environment variable, not a secret, and no variable is set that is called what is \
         given here: set one, and give its name"
    ))
}
