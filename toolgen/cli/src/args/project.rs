//! The words of the commands that write programs, and of those about this program and the place it runs in.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use toolgen::emit::{Modules, TextType};

use super::{Format, Selection};

/// Prepare a crate for tools: a manifest, a build script, dependencies
#[derive(Debug, Args)]
#[command(after_help = "Nothing that exists is overwritten: what cannot be added is printed.")]
pub(crate) struct Init {
    /// The folder of the crate
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Explain what to write in a library, even if the crate has a program
    #[arg(long = "lib")]
    pub(crate) library: bool,
    #[command(flatten)]
    pub(crate) checkout: Checkout,
}

/// Where the crates are while no registry has them
#[derive(Debug, Args)]
pub(crate) struct Checkout {
    /// The folder of a checkout of toolgen, which is not on a registry yet
    #[arg(long, value_name = "DIR")]
    pub(crate) toolgen_path: Option<PathBuf>,
}

/// Add a tool to a manifest, to be filled in
#[derive(Debug, Args)]
#[command(
    after_help = "`--kind rust` writes a function with #[tool] and its test to src/tools/TOOL.rs instead."
)]
pub(crate) struct New {
    /// The name of the tool
    pub(crate) tool: String,
    /// command, http, function, compose, complete, effect, agent or rust
    #[arg(long, value_name = "KIND", hide_possible_values = true, default_value = "command",
        value_parser = ["command", "http", "function", "compose", "complete", "effect", "agent", "rust"])]
    pub(crate) kind: String,
    /// The manifest
    #[arg(long, value_name = "FILE", default_value = "tools.yaml")]
    pub(crate) manifest: PathBuf,
}

/// Write the tools as a Rust module or a complete crate
#[derive(Debug, Args)]
#[command(
    after_help = "An operation that cannot be compiled is left out and reported, and the rest is written. The exit \
    code is 1 only if a document yields nothing at all; `check` is stricter."
)]
pub(crate) struct Generate {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// The folder to write to
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Write a complete crate of this name, not modules only
    #[arg(long = "crate", value_name = "NAME")]
    pub(crate) crate_name: Option<String>,
    #[command(flatten)]
    pub(crate) checkout: Checkout,
    /// Write no argument and result structs
    #[arg(long)]
    pub(super) no_types: bool,
    /// Structs and enums also derive this, such as ::schemars::JsonSchema
    #[arg(long, value_name = "PATH", conflicts_with = "no_types")]
    pub(super) derive: Vec<String>,
    /// Use types of chrono, jiff, url and uuid instead of strings
    #[arg(long, value_name = "CRATES", conflicts_with = "no_types", value_delimiter = ',',
        value_parser = |text: &str| text.trim().parse::<TextType>())]
    pub(super) text_types: Vec<TextType>,
    #[command(flatten)]
    pub(super) layout: Layout,
    /// Replace files that were not generated, too
    #[arg(long)]
    pub(crate) force: bool,
    /// Write nothing; exit with 1 if a file is missing or differs
    #[arg(long)]
    pub(crate) check: bool,
}

/// How the tools are divided into modules
#[derive(Debug, Args)]
pub(crate) struct Layout {
    /// `one` per document, or `by-tag`: one per tag, in a crate each in a file
    #[arg(long, value_name = "HOW", default_value = Modules::One.name(),
        value_parser = |text: &str| text.parse::<Modules>())]
    pub(super) modules: Modules,
}

/// Write a program that answers one call of a tool: JSON in, JSON out
#[derive(Debug, Args)]
#[command(
    after_help = "The program reads the arguments of a call from its standard input: `NAME TOOL < arguments.json`, or \
    `NAME < arguments.json` if it has one tool. It writes one JSON object: {\"result\"}, {\"results\"}, or {\"error\", \
    \"code\"}. `NAME --help` says more. Credentials are read from the environment.\n\n\
    Tools that are functions, effects or agents cannot run there and are left out."
)]
pub(crate) struct Bin {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// The folder to write to
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The name of the program; that of the first document by default
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) checkout: Checkout,
    #[command(flatten)]
    pub(super) layout: Layout,
    /// Build the program, too
    #[arg(long)]
    pub(crate) build: bool,
    /// Replace files that were not generated, too
    #[arg(long)]
    pub(crate) force: bool,
}

/// Look at the toolchain, documents, locks, credentials and programs here, and say what is missing
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is changed, sent or called, and no value of a variable is shown. A line that begins with \
    `!` says what does not work and what to do about it; if there is one, the exit code is 1. One with `-` is worth \
    knowing."
)]
pub(crate) struct Doctor {
    /// The folder to look at, with those below it
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Start no program, not even to ask for its version
    #[arg(long)]
    pub(crate) offline: bool,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Print the script that makes a shell complete the words of this program
#[derive(Debug, Args)]
#[command(
    after_help = "The script completes `cargo-toolgen`, and `cargo toolgen` where the shell asks the subcommands of \
    cargo for completions."
)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

/// Write the manual pages, one for each command
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The folder to write to
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}
