//! The words of `call`.

use std::path::PathBuf;

use clap::{Arg, Command, value_parser};

use super::requests::with_requests;
use super::{flag, format, with_options};

pub(super) fn command() -> Command {
    with_options(with_requests(
        Command::new("call")
            .about("Call a tool of a document")
            .arg(
                Arg::new("documents")
                    .value_name("DOCUMENT")
                    .required(true)
                    .value_parser(value_parser!(PathBuf))
                    .help("The document that has the tool"),
            )
            .arg(Arg::new("tool").value_name("TOOL").required(true).help("The name of the tool"))
            .arg(Arg::new("arguments").value_name("ARGUMENT").num_args(0..).help(
                "The arguments: NAME=VALUE each, or all as one JSON object; `@FILE` reads one from a file, `-` from \
                 the standard input",
            ))
            .arg(format())
            .arg(flag("dry-run", "Print the request or the command as JSON, run nothing"))
            .arg(flag("show-secrets", "Do not replace secrets by `****` in a dry run")),
    ))
}
