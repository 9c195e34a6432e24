//! `completions` and `man`: shell completion scripts and manual pages.

use std::fs;
use std::io;
use std::path::Path;

use clap_complete::Shell;

use super::Outcome;
use super::args;
use super::output::Output;

/// The name of the program, which cargo runs as `cargo toolgen`.
const PROGRAM: &str = "cargo-toolgen";

/// Prints the completion script of a shell: of `cargo-toolgen`, and of `cargo toolgen` next to cargo's completions.
pub(super) fn completions(shell: Shell, output: &mut Output) -> io::Result<Outcome> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut args::command(), PROGRAM, &mut text);
    // For bash, the generator uses two spellings of subcommands if the program name has a hyphen.
    let text = String::from_utf8_lossy(&text).replace("cargo__subcmd__toolgen", "cargo__toolgen");
    // The result of the last statement of the script is that of a completion by zsh, so it stays the last.
    let end = if shell == Shell::Zsh { text.rfind("\nif [ \"$funcstack[1]\"") } else { None };
    let (text, last) = text.split_at(end.unwrap_or(text.len()));
    [text, cargo_completions(shell), last].iter().try_for_each(|part| output.write(part))?;
    Ok(Outcome::Fine)
}

/// Returns the script that completes `cargo toolgen` like `cargo-toolgen`, and keeps cargo's other completions.
fn cargo_completions(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("shell/cargo.bash"),
        Shell::Fish => include_str!("shell/cargo.fish"),
        Shell::Zsh => include_str!("shell/cargo.zsh"),
        _ => "",
    }
}

/// Writes the manual pages: one for the program, and one for each command.
pub(super) fn man(dir: &Path, output: &mut Output) -> io::Result<Outcome> {
    match fs::create_dir_all(dir).and_then(|()| man_pages(dir)) {
        Ok(()) => {
            let dir = dir.display();
            output.line(&format!(
                "{dir}: written; `man -l {dir}/{PROGRAM}.1` shows the first page (also `cargo help toolgen`, in MANPATH)"
            ))?;
            Ok(Outcome::Fine)
        }
        Err(error) => {
            output.error(&format!("{}: {error}", dir.display()));
            Ok(Outcome::Problems)
        }
    }
}

#[cfg(feature = "man")]
fn man_pages(dir: &Path) -> io::Result<()> {
    clap_mangen::generate_to(args::command().bin_name(PROGRAM), dir)
}

#[cfg(not(feature = "man"))]
fn man_pages(_: &Path) -> io::Result<()> {
    Err(io::Error::other(super::lacks_feature("man", "manual pages")))
}
