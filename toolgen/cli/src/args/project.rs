//! Arguments of the commands that generate code (`init`, `new`, `gen`, `bin`), and of `doctor`, `completions`, `man`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::Shell;
use toolgen::emit::{Modules, TextType};

use super::{Format, Selection};

/// Prepare a crate for tools: a manifest, a build script, dependencies
#[derive(Debug, Args)]
#[command(after_help = "Existing code is not overwritten: additions that cannot be made are printed.")]
pub(crate) struct Init {
    /// Directory of the crate
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Print instructions for a library, even if the crate has a program
    #[arg(long = "lib")]
    pub(crate) library: bool,
    #[command(flatten)]
    pub(crate) checkout: Checkout,
}

/// Where the toolgen crates are while no registry has them
#[derive(Debug, Args)]
pub(crate) struct Checkout {
    /// Directory of a toolgen checkout (no registry has toolgen yet)
    #[arg(long, value_name = "DIR")]
    pub(crate) toolgen_path: Option<PathBuf>,
}

/// Add a tool template to a manifest
#[derive(Debug, Args)]
#[command(
    after_help = "`--kind rust` writes a function with #[tool] and its test to src/tools/TOOL.rs instead."
)]
pub(crate) struct New {
    /// Name of the tool
    #[arg(required_unless_present = "agent")]
    pub(crate) tool: Option<String>,
    /// Write a crate with an agent into this new directory, instead of a tool
    #[arg(long, value_name = "NAME", conflicts_with_all = ["tool", "kind", "manifest"])]
    pub(crate) agent: Option<String>,
    #[command(flatten)]
    pub(crate) checkout: Checkout,
    /// Kind of tool: command, http, function, compose, complete, effect, agent or rust
    #[arg(long, value_name = "KIND", hide_possible_values = true, default_value = "command",
        value_parser = ["command", "http", "function", "compose", "complete", "effect", "agent", "rust"])]
    pub(crate) kind: String,
    /// Manifest file
    #[arg(long, value_name = "FILE", default_value = "tools.yaml")]
    pub(crate) manifest: PathBuf,
}

/// Generate the tools as a Rust module or a complete crate
#[derive(Debug, Args)]
#[command(
    after_help = "An operation that cannot be compiled is skipped and reported; the others are written. The exit \
    code is 1 only if a document yields no tools; `check` is stricter."
)]
pub(crate) struct Generate {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Output directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Name of a complete crate to write, instead of modules only
    #[arg(long = "crate", value_name = "NAME")]
    pub(crate) crate_name: Option<String>,
    #[command(flatten)]
    pub(crate) checkout: Checkout,
    /// Omit argument and result structs
    #[arg(long)]
    pub(super) no_types: bool,
    /// Additional derive of structs and enums, such as ::schemars::JsonSchema
    #[arg(long, value_name = "PATH", conflicts_with = "no_types")]
    pub(super) derive: Vec<String>,
    /// Crates whose types are used instead of strings: chrono, jiff, url, uuid
    #[arg(long, value_name = "CRATES", conflicts_with = "no_types", value_delimiter = ',',
        value_parser = |text: &str| text.trim().parse::<TextType>())]
    pub(super) text_types: Vec<TextType>,
    #[command(flatten)]
    pub(super) layout: Layout,
    /// Overwrite files that toolgen did not generate
    #[arg(long)]
    pub(crate) force: bool,
    /// Write nothing; exit with 1 if a file is missing or out of date
    #[arg(long)]
    pub(crate) check: bool,
}

/// The layout of the modules
#[derive(Debug, Args)]
pub(crate) struct Layout {
    /// Modules: `one` per document, or one per tag (`by-tag`, in a crate one file each)
    #[arg(long, value_name = "HOW", default_value = Modules::One.name(),
        value_parser = |text: &str| text.parse::<Modules>())]
    pub(super) modules: Modules,
}

/// Generate a program that runs one tool call: JSON in, JSON out
#[derive(Debug, Args)]
#[command(
    after_help = "The program reads the arguments of a call from its standard input: `NAME TOOL < arguments.json`, or \
    `NAME < arguments.json` if it has one tool. It writes one JSON object: {\"result\"}, {\"results\"}, or {\"error\", \
    \"code\"}. See `NAME --help`. Credentials are read from the environment.\n\n\
    Functions, effects and agents cannot run there and are skipped."
)]
pub(crate) struct Bin {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Output directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Name of the program [default: that of the first document]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) checkout: Checkout,
    #[command(flatten)]
    pub(super) layout: Layout,
    /// Build the program
    #[arg(long)]
    pub(crate) build: bool,
    /// Overwrite files that toolgen did not generate
    #[arg(long)]
    pub(crate) force: bool,
}

/// Diagnose this project: toolchain, crates, documents, overlays, locks, credentials, programs
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is changed, sent or called, and no value of a variable is shown. A line that begins with \
    `!` is something to do, with instructions, and makes the exit code 1. A line that begins with `-` is a note. The \
    last line is the verdict: `ready`, or the number of things to do."
)]
pub(crate) struct Doctor {
    /// Directory to examine, with its subdirectories
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) dir: PathBuf,
    /// Run no other programs, not even to query their version
    #[arg(long)]
    pub(crate) offline: bool,
    #[command(flatten)]
    pub(crate) format: Format,
}

/// Print a shell completion script
#[derive(Debug, Args)]
#[command(
    after_help = "The script completes `cargo-toolgen` and, in bash, zsh and fish, `cargo toolgen`. Other subcommands of \
    cargo complete as before.\n\n  \
    bash  source the script after other completions of cargo\n  \
    zsh   write it to a directory of `fpath`, with those of cargo: `rustup completions zsh cargo > ~/.zfunc/_cargo`\n  \
    fish  write it to `conf.d`: fish reads `completions` only for commands of the name of the file"
)]
pub(crate) struct Completions {
    /// Shell to complete in
    pub(crate) shell: Shell,
}

/// Write manual pages, one for each command
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Output directory
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
}
