//! The words of `call`.

use std::path::PathBuf;

use clap::{Arg, Command, value_parser};

use super::requests::with_requests;
use super::{flag, format, path, with_options};

const ARGUMENTS: &str = "Arguments by name, typed by the schema of the tool:
  name=Ada limit=10 dry=true     a text, a number, a boolean; a text stays one, whatever it looks like
  tags=a,b or tags=a tags=b      a list; texts with commas are given as JSON: tags='[\"a,b\"]'
  owner.name=Ada owner.age=36    an object, by its parts; or as JSON: owner='{\"name\": \"Ada\"}'
  text=@notes.md, text=@-        the content of a file, or the standard input; text=@@ada is the text `@ada`
  photo=@cat.png                 a file to send, under its name, and as photo.content_type=image/png if that is given; a
                                 list of files: files=@a.png files=@b.png";

pub(super) fn command() -> Command {
    with_options(with_requests(
        Command::new("call")
            .about("Call a tool of a document, or show the request it would send")
            .arg(
                Arg::new("documents")
                    .value_name("DOCUMENT")
                    .required(true)
                    .value_parser(value_parser!(PathBuf))
                    .help("The document that has the tool: a file, a URL, or `-` for the standard input"),
            )
            .arg(
                Arg::new("tool")
                    .value_name("TOOL")
                    .help("The name of the tool; without one you choose from a list, at a terminal"),
            )
            .arg(Arg::new("arguments").value_name("ARGUMENT").num_args(0..).help(
                "The arguments: NAME=VALUE each, or all as one JSON object; `@FILE` reads one from a file, `-` from \
                 the standard input",
            ))
            .after_help(ARGUMENTS)
            .arg(format())
            .arg(flag("dry-run", "Print the request or the command, and run nothing"))
            .arg(
                path("output", "FILE", "Write the body of the answer to this file, which must not exist, or to the standard output: `-`")
                    .conflicts_with_all(["save", "dry-run"]),
            )
            .arg(flag("show-secrets", "Do not replace secrets with `****` in a dry run")),
    ))
    // Who calls is who names the files.
    .mut_arg("files", |files| files.default_value("."))
}
