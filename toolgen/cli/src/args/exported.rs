//! The words that name the tools of a crate: its programs that print them.

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::option;

/// A program of the crate that prints its tools.
#[derive(Clone, Debug)]
pub(in super::super) struct Exported {
    /// The words of cargo that name it: `--bin NAME`, with the package and the features.
    pub(in super::super) words: Vec<String>,
}

/// The options that name programs.
pub(super) const WORDS: [&str; 2] = ["bin", "example"];

/// Adds the options to a command that compiles documents.
pub(super) fn with_words(command: Command) -> Command {
    let several = |name, help| option(name, "NAME", help).action(ArgAction::Append);
    let of_crate = |arg: Arg| arg.help_heading("Tools of a crate");
    command
        .arg(of_crate(several(
            "bin",
            "The tools that this program of the crate exports, with `export!`: the program is run",
        )))
        .arg(of_crate(several("example", "The tools that this example of the crate exports: it is run")))
        .arg(of_crate(option("package", "NAME", "The package of the program")))
        .arg(of_crate(option("features", "NAMES", "The features that the program is built with")))
}

/// Returns the programs that are named.
pub(super) fn given(matches: &ArgMatches) -> Vec<Exported> {
    let texts = |name: &str| {
        let texts = matches.try_get_many::<String>(name).ok().flatten().unwrap_or_default();
        texts.cloned().collect::<Vec<String>>()
    };
    let named = |kind: &'static str| {
        texts(kind).into_iter().map(move |name| vec![format!("--{kind}"), name]).collect::<Vec<_>>()
    };
    let shared: Vec<String> = ["package", "features"]
        .into_iter()
        .flat_map(|name| texts(name).into_iter().flat_map(move |value| [format!("--{name}"), value]))
        .collect();
    let programs = WORDS.into_iter().flat_map(named);
    programs.map(|words| Exported { words: [words, shared.clone()].concat() }).collect()
}
