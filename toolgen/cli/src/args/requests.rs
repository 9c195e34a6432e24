//! The words of how calls are made.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use toolgen_runtime::engine::http::MAX_FILE;

use super::selection::{private_hosts, variables};
use super::{option, pairs, path};

/// How calls are made.
#[derive(Debug)]
pub(in super::super) struct Requests {
    pub(in super::super) base_url: Option<String>,
    pub(in super::super) private_hosts: Vec<String>,
    pub(in super::super) server_variables: Vec<(String, String)>,
    /// Headers of every request, with the variables that hold their values.
    pub(in super::super) headers: Vec<(String, String)>,
    /// The schemes whose tokens come by OAuth, with their token URLs.
    pub(in super::super) oauth: Vec<(String, String)>,
    /// The files of the client's certificate and its key.
    pub(in super::super) identity: Option<(PathBuf, PathBuf)>,
    /// The folder that programs work in, as an absolute path; `None`: that of this process.
    pub(in super::super) work_dir: Option<PathBuf>,
    /// The folder below which files that arguments name are read; `None`: no file is read.
    pub(in super::super) files: Option<PathBuf>,
    /// The folder that answers are written to; `None`: no answer is written.
    pub(in super::super) save: Option<PathBuf>,
    /// The file that the one answer is written to, or `-`; `None`: it is shown.
    pub(in super::super) output: Option<PathBuf>,
    /// The most bytes of a file that is sent or written.
    pub(in super::super) max_file: u64,
    /// How often a request is repeated.
    pub(in super::super) retries: u32,
    /// How long a call may take, in seconds.
    pub(in super::super) timeout: u64,
}

impl Requests {
    /// The folder that programs work in.
    pub(in super::super) fn work_dir(&self) -> PathBuf {
        let here = || std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        self.work_dir.clone().unwrap_or_else(here)
    }
}

/// The option of the folder that programs work in.
pub(super) fn work_dir() -> Arg {
    let help =
        "The folder that programs work in, and that their paths count from; without it, the current one";
    path("work-dir", "FOLDER", help)
}

/// Returns the folder that programs work in, if it is given, as an absolute path.
pub(super) fn given_work_dir(matches: &ArgMatches) -> Result<Option<PathBuf>, String> {
    match matches.get_one::<PathBuf>("work-dir") {
        Some(given) if !given.is_dir() => {
            Err(format!("`--work-dir {}`: there is no such folder", given.display()))
        }
        given => Ok(given.map(|given| std::path::absolute(given).unwrap_or_else(|_| given.clone()))),
    }
}

/// Adds the options of how calls are made.
pub(super) fn with_requests(command: Command) -> Command {
    command
        .arg(option("base-url", "URL", "Send requests here, whatever servers the document names"))
        .arg(
            option("server-variable", "NAME=VALUE", "The value of a variable of the server's URL")
                .action(ArgAction::Append),
        )
        .arg(
            option("header", "NAME=VARIABLE", "A header of every request, by the variable that holds its value")
                .action(ArgAction::Append),
        )
        .arg(
            option(
                "oauth",
                "SCHEME=TOKEN_URL",
                "Get the tokens of a scheme by OAuth, with the client in SCHEME_CLIENT_ID and SCHEME_CLIENT_SECRET, and \
                 the refresh token in SCHEME_REFRESH_TOKEN if there is one",
            )
            .action(ArgAction::Append),
        )
        .arg(path("client-cert", "FILE", "The client's certificate, as PEM").requires("client-key"))
        .arg(path("client-key", "FILE", "The key of the client's certificate, as PEM").requires("client-cert"))
        .arg(work_dir())
        .arg(path("files", "FOLDER", "Read the files that arguments name below this folder, which counts from the current one; without it, none are read"))
        .arg(path(
            "save",
            "FOLDER",
            "Write binary answers, and texts that are too long, to this folder, and show their names, sizes and digests",
        ))
        .arg(
            option("max-file", "BYTES", "The most bytes of a file that is sent or written")
                .default_value("67108864")
                .value_parser(value_parser!(u64).range(1..)),
        )
        .arg(
            option("retries", "NUMBER", "How often to repeat a request that may be repeated")
                .default_value("2")
                .value_parser(value_parser!(u32).range(0..=20)),
        )
        .arg(
            option("timeout", "SECONDS", "How long a call may take")
                .default_value("30")
                .value_parser(value_parser!(u64).range(1..=86_400)),
        )
}

/// Returns how calls are made.
pub(super) fn requests(matches: &ArgMatches) -> Result<Requests, String> {
    let file = |name: &str| matches.get_one::<PathBuf>(name).cloned();
    let base_url = matches.get_one::<String>("base-url").cloned();
    if let Some(given) = base_url.as_deref().filter(|given| !given.contains("://")) {
        // What stands before an `@` may be a password.
        let given = given.rsplit_once('@').map_or(given, |(_, host)| host);
        return Err(format!(
            "`--base-url {given}` is not a URL: it must begin with `http://` or `https://`, as in `--base-url http://{given}`"
        ));
    }
    Ok(Requests {
        base_url,
        work_dir: given_work_dir(matches)?,
        private_hosts: private_hosts(matches)?,
        server_variables: pairs(matches, "server-variable", ("NAME", "VALUE"))?,
        headers: variables(matches, "header", "NAME")?,
        oauth: pairs(matches, "oauth", ("SCHEME", "TOKEN_URL"))?,
        identity: file("client-cert").zip(file("client-key")),
        files: file("files"),
        save: file("save"),
        output: None,
        max_file: matches.get_one("max-file").copied().unwrap_or(MAX_FILE),
        retries: matches.get_one("retries").copied().unwrap_or(2),
        timeout: matches.get_one("timeout").copied().unwrap_or(30),
    })
}
