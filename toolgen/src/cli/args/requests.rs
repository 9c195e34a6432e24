//! The words of how calls are made.

use clap::{ArgAction, ArgMatches, Command, value_parser};

use super::{option, pairs, private_host};

/// How calls are made.
#[derive(Debug)]
pub(in super::super) struct Requests {
    pub(in super::super) base_url: Option<String>,
    pub(in super::super) private_hosts: Vec<String>,
    pub(in super::super) server_variables: Vec<(String, String)>,
    /// How long a call may take, in seconds.
    pub(in super::super) timeout: u64,
}

/// Adds the options of how calls are made.
pub(super) fn with_requests(command: Command) -> Command {
    command
        .arg(option("base-url", "URL", "Send requests here, whatever servers the document names"))
        .arg(private_host())
        .arg(
            option("server-variable", "NAME=VALUE", "The value of a variable of the server's URL")
                .action(ArgAction::Append),
        )
        .arg(
            option("timeout", "SECONDS", "How long a call may take")
                .default_value("30")
                .value_parser(value_parser!(u64).range(1..=86_400)),
        )
}

/// Returns how calls are made.
pub(super) fn requests(matches: &ArgMatches) -> Result<Requests, String> {
    Ok(Requests {
        base_url: matches.get_one("base-url").cloned(),
        private_hosts: matches.get_many("private-host").unwrap_or_default().cloned().collect(),
        server_variables: pairs(matches, "server-variable")?,
        timeout: matches.get_one("timeout").copied().unwrap_or(30),
    })
}
