//! Arguments of all commands that compile documents: the documents, and the compiler options.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;
use toolgen::problem::{Level, Levels as LevelSet};
use toolgen::selector::Selector;
use toolgen::{ArgumentRule, Options, catalogue, frontend};

/// The documents, and the options for compiling them
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Selection {
    #[command(flatten)]
    pub(super) sources: DocumentArguments,
    #[command(flatten)]
    pub(super) compiler: CompilerArguments,
    #[command(flatten)]
    levels: Levels,
    /// The compiler options that the arguments set.
    #[arg(skip)]
    pub(crate) options: Options,
    /// Programs of the crate whose tools are also used: the cargo arguments that select each.
    #[arg(skip)]
    pub(crate) exported: Vec<Vec<String>>,
    /// Whether descriptions are also linted.
    #[arg(skip)]
    pub(crate) lints: bool,
}

/// The documents and programs
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DocumentArguments {
    #[arg(value_name = "DOCUMENT", required_unless_present_any = ["bin", "example"], num_args = 1.., help = documents_help())]
    pub(super) documents: Vec<PathBuf>,
    /// Program of the crate whose tools are used (`export!`); it is run
    #[arg(long, value_name = "NAME", help_heading = "Tools of a crate")]
    bin: Vec<String>,
    /// Example of the crate whose tools are used (`export!`); it is run
    #[arg(long, value_name = "NAME", help_heading = "Tools of a crate")]
    example: Vec<String>,
    /// Package of the program
    #[arg(long, value_name = "NAME", help_heading = "Tools of a crate")]
    package: Option<String>,
    /// Features to build the program with
    #[arg(long, value_name = "NAMES", help_heading = "Tools of a crate")]
    features: Option<String>,
}

/// How documents are compiled
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct CompilerArguments {
    /// Hide notes, and the number of warnings that `check` would show
    #[arg(long, short)]
    quiet: bool,
    /// Only operations with this tag
    #[arg(long, value_name = "TAG", help_heading = "Operations")]
    tag: Vec<String>,
    /// Only this operation, by its ID or tool name; `*` matches any characters
    #[arg(long, value_name = "ID", help_heading = "Operations")]
    operation: Vec<String>,
    /// Only operations such as 'GET /pets/**'; the method is optional
    #[arg(long, value_name = "PATTERN", help_heading = "Operations")]
    path: Vec<String>,
    /// Operations to exclude: `tag:TAG`, `ID`, or 'METHOD /path'
    #[arg(long, value_name = "SELECTOR", help_heading = "Operations")]
    exclude: Vec<String>,
    /// Exclude deprecated operations
    #[arg(long, help_heading = "Operations")]
    no_deprecated: bool,
    /// Prefix of every tool name: `NAME__`
    #[arg(long, value_name = "NAME", help_heading = "Names and credentials")]
    namespace: Option<String>,
    /// New tool name of an operation (its ID, 'METHOD /path', or tool name)
    #[arg(long, value_name = "OLD=NEW", help_heading = "Names and credentials")]
    rename: Vec<String>,
    /// Environment variable with the credential of a security scheme
    #[arg(long, value_name = "SCHEME=ENV_VAR", help_heading = "Names and credentials")]
    auth: Vec<String>,
    /// Fixed argument, hidden from the model; a selector limits it to some operations: 'GET /pets/** limit=9'
    #[arg(long, value_name = "ARGUMENT=VALUE", help_heading = "Arguments")]
    fix: Vec<String>,
    /// Optional argument to omit; `*` matches any characters
    #[arg(long, value_name = "ARGUMENT", help_heading = "Arguments")]
    omit: Vec<String>,
    /// Pagination of these operations; see `explain W0337`
    #[arg(long, value_name = "SELECTOR=WAY", help_heading = "Pagination")]
    pagination: Vec<String>,
    /// Let a model request several pages per call, by an argument of paginated tools
    #[arg(long, help_heading = "Pagination")]
    max_items: bool,
    /// Also allow references to files in this directory
    #[arg(long, value_name = "DIR", help_heading = "Files and hosts")]
    root: Vec<String>,
    /// Overlay to apply to the documents first; repeatable, applied in order
    #[arg(long, value_name = "FILE", help_heading = "Files and hosts")]
    overlay: Vec<String>,
    #[command(flatten, next_help_heading = "Files and hosts")]
    hosts: PrivateHosts,
    /// Shorten what a model reads, such as 'compact' or 'nested=sentence, depth=3'
    #[arg(long, value_name = "LEVERS", help_heading = "Size")]
    slim: Option<String>,
    /// Let a model choose the fields of results: 'always', or for list results whose schema is larger: '4KiB'
    #[arg(long, value_name = "WHEN", help_heading = "Size")]
    projection: Option<String>,
    /// Reject dialects that cannot express all rules of these operations
    #[arg(long, value_name = "SELECTOR", help_heading = "Size")]
    exact: Vec<String>,
}

/// The levels of diagnostics, the strictest last: it takes precedence if a code has several
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Levels {
    /// Diagnostics to suppress: a code such as N0706, or `warnings`
    #[arg(long, value_name = "CODE", help_heading = "Diagnostics")]
    allow: Vec<String>,
    /// Diagnostics to report as warnings
    #[arg(long, value_name = "CODE", help_heading = "Diagnostics")]
    warn: Vec<String>,
    /// Diagnostics to report as errors: a code, or `warnings`
    #[arg(long, value_name = "CODE", help_heading = "Diagnostics")]
    deny: Vec<String>,
}

/// The hosts that documents and requests may reach at private addresses
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PrivateHosts {
    /// Host that may be reached at a private address; `*.` matches subdomains
    #[arg(long, value_name = "HOST")]
    private_host: Vec<String>,
}

/// Returns the help of the argument for documents.
fn documents_help() -> String {
    let titles: Vec<&str> = frontend::all().iter().map(|front_end| front_end.title()).collect();
    format!("Files, URLs, or `-` for standard input, JSON or YAML: {}", titles.join(", "))
}

impl Selection {
    /// Creates the selection of a command that declares its documents and options separately.
    pub(super) fn of(sources: &DocumentArguments, compiler: &CompilerArguments) -> Selection {
        Selection { sources: sources.clone(), compiler: compiler.clone(), ..Selection::default() }
    }

    /// Creates the selection of a command that takes one document.
    pub(super) fn of_document(document: &Path, compiler: &CompilerArguments) -> Selection {
        Selection::of_documents(&[document.to_path_buf()], compiler)
    }

    /// Creates the selection of a command that takes these documents.
    pub(super) fn of_documents(documents: &[PathBuf], compiler: &CompilerArguments) -> Selection {
        let sources = DocumentArguments { documents: documents.to_vec(), ..DocumentArguments::default() };
        Selection::of(&sources, compiler)
    }

    pub(crate) fn documents(&self) -> &[PathBuf] {
        &self.sources.documents
    }

    pub(crate) fn private_hosts(&self) -> &[String] {
        self.compiler.hosts.all()
    }

    pub(crate) fn quiet(&self) -> bool {
        self.compiler.quiet
    }

    /// Validates the arguments and sets the fields that clap skips. `Err` names the invalid argument.
    pub(super) fn validate(&mut self) -> Result<(), String> {
        self.exported = self.sources.programs();
        self.compiler.hosts.check()?;
        self.options = self.compiler.options()?;
        self.levels.validate(&mut self.options.levels)
    }
}

impl DocumentArguments {
    /// Returns the cargo arguments that select each program: `--bin NAME`, with the package and the features.
    fn programs(&self) -> Vec<Vec<String>> {
        let shared = [("--package", &self.package), ("--features", &self.features)];
        let shared =
            shared.into_iter().filter_map(|(option, value)| Some([option.to_owned(), value.clone()?]));
        let shared: Vec<String> = shared.flatten().collect();
        let select = |option: &str, name: &String| [&[option.to_owned(), name.clone()], &shared[..]].concat();
        let bins = self.bin.iter().map(|name| select("--bin", name));
        bins.chain(self.example.iter().map(|name| select("--example", name))).collect()
    }
}

impl CompilerArguments {
    fn options(&self) -> Result<Options, String> {
        let mut options = Options::default().deprecated(!self.no_deprecated);
        options.types = false;
        options.namespace.clone_from(&self.namespace);
        let tags = self.tag.iter().map(|tag| format!("tag:{tag}"));
        let included = tags.chain(self.operation.iter().chain(&self.path).cloned());
        options = included.fold(options, Options::include);
        options = self.exclude.iter().fold(options, |options, selector| options.exclude(selector.as_str()));
        options = self.exact.iter().fold(options, |options, selector| options.exact(selector.as_str()));
        options = self.root.iter().fold(options, Options::root);
        options = self.overlay.iter().fold(options, Options::overlay);
        options.renames.extend(pairs(&self.rename, "rename", ("OLD", "NEW"))?);
        options.credentials.extend(variables(&self.auth, "auth", "SCHEME")?);
        for (argument, value) in pairs(&self.fix, "fix", ("ARGUMENT", "VALUE"))? {
            options = options.argument(argument_rule(&argument, Some(value.into())));
        }
        options = self
            .omit
            .iter()
            .fold(options, |options, argument| options.argument(argument_rule(argument, None)));
        let pages = pairs(&self.pagination, "pagination", ("SELECTOR", "WAY"))?.into_iter();
        options = pages.fold(options, |options, (operations, pages)| options.pagination(operations, pages));
        options.max_items = self.max_items;
        if let Some(levers) = &self.slim {
            options.slim = Some(levers.parse().map_err(|error| format!("`--slim`: {error}"))?);
        }
        if let Some(projection) = &self.projection {
            options.projection = projection.parse().map_err(|error| format!("`--projection`: {error}"))?;
        }
        Ok(options)
    }
}

impl Levels {
    /// Sets the levels of the codes. `Err` names an unknown code.
    fn validate(&self, levels: &mut LevelSet) -> Result<(), String> {
        for (level, codes) in
            [(Level::Allow, &self.allow), (Level::Warn, &self.warn), (Level::Deny, &self.deny)]
        {
            for code in codes {
                if catalogue::find(code).is_none() && !code.eq_ignore_ascii_case("warnings") {
                    let hint = catalogue::closest_code(code).map(|near| format!("did you mean `{near}`?"));
                    let hint = hint.unwrap_or_else(|| "`cargo toolgen explain` lists the codes".to_owned());
                    return Err(format!("`--{} {code}`: unknown code; {hint}", level.as_str()));
                }
                levels.set(code, level);
            }
        }
        Ok(())
    }
}

impl PrivateHosts {
    pub(crate) fn all(&self) -> &[String] {
        &self.private_host
    }

    /// Rejects a URL instead of a host, because it would never match.
    pub(super) fn check(&self) -> Result<(), String> {
        for host_argument in &self.private_host {
            let rest = host_argument.split_once("://").map_or(host_argument.as_str(), |(_, rest)| rest);
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let location = authority.rsplit_once('@').map_or(authority, |(_, location)| location);
            // An IPv6 address contains colons.
            let host = match location.split_once(':') {
                Some((host, port)) if !port.contains(':') => host,
                _ => location.rsplit_once("]:").map_or(location, |(host, _)| host).trim_matches(['[', ']']),
            };
            if host_argument != host && host_argument.trim_matches(['[', ']']) != host {
                return Err(format!(
                    "`--private-host` takes a host, not a URL, and without a port; write `--private-host {host}`"
                ));
            }
        }
        Ok(())
    }
}

/// Parses the rule of an argument, which may have a selector of operations before its name.
fn argument_rule(text: &str, value: Option<Value>) -> ArgumentRule {
    let text = text.trim();
    let (operations, argument) = match text.rsplit_once(char::is_whitespace) {
        Some((operations, argument)) => (Some(Selector::from(operations)), argument),
        None => (None, text),
    };
    ArgumentRule { operations, argument: argument.to_owned(), value }
}

/// Parses values of the form `LEFT=RIGHT`; `form` holds the names of both sides for errors.
pub(super) fn pairs(
    values: &[String],
    name: &str,
    form: (&str, &str),
) -> Result<Vec<(String, String)>, String> {
    let pair = |value: &String| match value.split_once('=') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() => {
            Ok((left.to_owned(), right.to_owned()))
        }
        _ => {
            // The value could be a credential that was passed instead of the name of its variable.
            let value = if form.1 == VARIABLE { String::new() } else { format!(" {value}") };
            Err(format!("`--{name}{value}` does not have the form {}={}", form.0, form.1))
        }
    };
    values.iter().map(pair).collect()
}

/// The metavariable for the name of an environment variable.
const VARIABLE: &str = "ENV_VAR";

/// Parses values of the form `NAME=ENV_VAR`; `left` is the metavariable of the name.
pub(super) fn variables(values: &[String], name: &str, left: &str) -> Result<Vec<(String, String)>, String> {
    let pairs = pairs(values, name, (left, VARIABLE))?;
    for (_, variable) in &pairs {
        check_variable(&format!("`--{name} {left}={VARIABLE}`"), variable)?;
    }
    Ok(pairs)
}

/// Rejects a value that neither looks like the name of an environment variable nor is the name of one that is set: it
/// could be a secret. The error does not repeat it.
pub(super) fn check_variable(option: &str, name: &str) -> Result<(), String> {
    let is_variable_char = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    if name.chars().all(is_variable_char) || std::env::var_os(name).is_some() {
        return Ok(());
    }
    Err(format!(
        "{option} takes the name of an environment variable, not a secret, and no variable of the given name is set; \
         set one, and pass its name"
    ))
}
