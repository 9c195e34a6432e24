//! `cargo toolgen`: tools for LLM agents from the command line.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(std::env::args_os().collect())
}
