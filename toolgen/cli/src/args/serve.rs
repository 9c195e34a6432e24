//! The words of `serve`.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::selection::no_variable;
use super::{Requests, Selection, compiling, flag, option, path, requests, with_requests};

/// `serve`
#[derive(Debug)]
pub(in super::super) struct Serve {
    pub(in super::super) selection: Selection,
    /// The address to listen at. `None`: the standard input and output.
    pub(in super::super) http: Option<String>,
    pub(in super::super) requests: Requests,
    /// The rules of which a tool must match one. Empty: no rule applies.
    pub(in super::super) allow: Vec<String>,
    /// The rules that a tool must not match.
    pub(in super::super) deny: Vec<String>,
    /// The rules of the tools whose calls the person at the client approves.
    pub(in super::super) ask: Vec<String>,
    pub(in super::super) read_only: bool,
    /// `auto`, `on` or `off`.
    pub(in super::super) discovery: String,
    /// The tools that are listed in addition to those of a discovery.
    pub(in super::super) pinned: Vec<String>,
    /// The values of the context that clients may give.
    pub(in super::super) client_values: Vec<String>,
    pub(in super::super) audit: Option<PathBuf>,
    /// The environment variable with the bearer token.
    pub(in super::super) token: Option<String>,
    pub(in super::super) hosts: Vec<String>,
    pub(in super::super) origins: Vec<String>,
    pub(in super::super) calls: Option<usize>,
    pub(in super::super) limits: HttpLimits,
}

/// The limits for clients over HTTP. `None`: the default of the server.
#[derive(Debug)]
pub(in super::super) struct HttpLimits {
    pub(in super::super) connections: Option<usize>,
    pub(in super::super) sessions: Option<usize>,
    pub(in super::super) request: Option<usize>,
}

pub(super) fn command() -> Command {
    let several = |name, value, help| option(name, value, help).action(ArgAction::Append);
    let command = compiling("serve", "Serve the tools of documents to clients of the Model Context Protocol")
        .arg(flag("stdio", "Serve one client on the standard input and output: the default"))
        .arg(
            option(
                "http",
                "ADDRESS",
                "Serve clients over HTTP, at http://ADDRESS/mcp, such as 127.0.0.1:8080",
            )
            .conflicts_with("stdio"),
        )
        .arg(
            option("token", "VARIABLE", "The environment variable with the bearer token that clients need")
                .requires("http"),
        )
        .arg(
            several("host", "NAME", "Answer HTTP requests to this host, too, not only to this machine")
                .requires("http"),
        )
        .arg(several("origin", "URL", "Answer HTTP requests of web pages from this origin, too").requires("http"))
        .args(limits())
        .arg(several(
            "allow",
            "RULE",
            "Only tools that match this rule: a name with `*`, `category:NAME` or `effect:KIND`",
        ))
        .arg(several("deny", "RULE", "No tools that match this rule, even if another one allows them"))
        .arg(several("ask", "RULE", "Ask the person at the client before each call of a tool that matches this rule"))
        .arg(flag("read-only", "Only tools that declare that they change nothing"))
        .arg(
            option(
                "discovery",
                "WHEN",
                "List three tools that find, describe and call the others; auto: with more than 128 tools",
            )
            .value_parser(["auto", "on", "off"])
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("on")
            .default_value("auto"),
        )
        .arg(several("pin", "NAME", "Keep this tool in the list despite `--discovery`"))
        .arg(several(
            "client-value",
            "NAME",
            "Let clients give this value of the context, such as `session_id`, as an earlier call returned it",
        ))
        .arg(path("audit", "FILE", "Append a record of each call to this file: an SQLite database if it ends in .sqlite, .sqlite3 or .db, lines of JSON otherwise; or to the PostgreSQL database at a URL, which env:NAME takes from a variable"));
    with_requests(command).after_help(
        "Nothing but the protocol goes to the standard output. Tools that are functions, effects or agents cannot run \
         here and are left out. Without a token, HTTP is served at a loopback address only.",
    )
}

/// The options that limit clients, most of them those over HTTP.
fn limits() -> [Arg; 4] {
    let any = |name, value, help| option(name, value, help).value_parser(value_parser!(u32).range(1..));
    let limit = |name, value, help| any(name, value, help).requires("http");
    [
        any(
            "max-calls",
            "NUMBER",
            "The most calls that run at the same time; a further one is answered with an error [default: 1024]",
        ),
        limit(
            "max-connections",
            "NUMBER",
            "The most HTTP connections at a time; a further client gets status 503 [default: 1024]",
        ),
        limit(
            "max-sessions",
            "NUMBER",
            "The most HTTP sessions at a time; for a further one, the one idle longest ends [default: 512]",
        ),
        limit(
            "max-request",
            "BYTES",
            "The most bytes in the body of an HTTP request; a longer one gets status 413 [default: 4194304]",
        ),
    ]
}

/// The flag of the commands that show tools.
pub(in super::super) fn discovered() -> Arg {
    flag("discovery", "The three tools that find, describe and call the others, instead of all of them")
}

pub(super) fn task(matches: &ArgMatches, selection: Selection) -> Result<Serve, String> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let texts = |name: &str| matches.get_many(name).unwrap_or_default().cloned().collect();
    let token = text("token");
    if let Some(why) = token.as_deref().and_then(|name| no_variable("`--token VARIABLE`", name)) {
        return Err(why);
    }
    let number = |name: &str| matches.get_one::<u32>(name).and_then(|&number| usize::try_from(number).ok());
    Ok(Serve {
        selection,
        http: text("http"),
        requests: requests(matches)?,
        allow: texts("allow"),
        deny: texts("deny"),
        ask: texts("ask"),
        read_only: matches.get_flag("read-only"),
        discovery: text("discovery").unwrap_or_default(),
        pinned: texts("pin"),
        client_values: texts("client-value"),
        audit: matches.get_one("audit").cloned(),
        token,
        hosts: texts("host"),
        origins: texts("origin"),
        calls: number("max-calls"),
        limits: HttpLimits {
            connections: number("max-connections"),
            sessions: number("max-sessions"),
            request: number("max-request"),
        },
    })
}
